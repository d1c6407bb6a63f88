"""Runs contenders one after the other on the same stub, and makes tables of what they did.

The stub has a processor of its own, the contender another one (`taskset`, where there is one): the
figure that travels is processor time a row, as a ratio to another contender of the same run.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ENVS = Path(os.environ.get("BENCH_ENVS", ROOT / "benchmarks" / ".envs"))
PEERS = ("anthropic_sdk", "instructor", "pydantic_ai", "curator", "langextract", "daft", "litellm")
LIMITS = ("httpx", "httpx-many", "aiohttp", "pyreqwest", "httptools", "protocol")
OURS = ("default", "fast")
PATIENCE = 600.0  # seconds for one contender


def pinned(processor: int) -> list[str]:
    """In front of a command, to keep it on one processor; nothing where that is not possible."""
    if shutil.which("taskset") is None or (os.cpu_count() or 1) < 2:
        return []
    return ["taskset", "-c", str(processor)]


@dataclass
class Stub:
    """A running stub."""

    base: str

    def turn(self, **knobs: float) -> None:
        """Sets knobs and forgets the counts."""
        said = "&".join(f"{name}={value}" for name, value in knobs.items())
        self._get(f"/_knobs?reset=1&{said}")

    def counts(self) -> dict[str, Any]:
        return self._get("/_counts")

    def _get(self, path: str) -> dict[str, Any]:
        with urllib.request.urlopen(self.base + path, timeout=60) as reply:
            return dict(json.load(reply))


@contextlib.contextmanager
def stub() -> Iterator[Stub]:
    """The stub in a process of its own, on a free port."""
    command = [*pinned(1), sys.executable, "-m", "benchmarks.stub"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield Stub(f"http://127.0.0.1:{int(process.stdout.readline())}")
    finally:
        process.terminate()
        process.wait()


def command_of(name: str) -> list[str] | None:
    """How a contender is started; None where its environment is not there."""
    group, _, kind = name.partition(":")
    if group in ("ours", "limit"):
        return [sys.executable, "-m", f"benchmarks.{'ours' if group == 'ours' else 'limits'}", "--kind", kind]
    python = ENVS / kind / "bin" / "python"
    return [str(python), "-m", f"benchmarks.peers.{kind}.peer"] if python.exists() else None


def race(server: Stub, name: str, rows: int, concurrency: int = 64) -> dict[str, Any]:
    """One run of one contender: its own line and what the stub saw of it."""
    command = command_of(name)
    if command is None:
        return {"contender": name, "missing": "no environment: python -m benchmarks.envs"}
    told = ["--base", server.base, "--rows", str(rows), "--concurrency", str(concurrency)]
    settings = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "STUB": server.base}
    try:
        done = subprocess.run(
            [*pinned(0), *command, *told],
            cwd=ROOT,
            env=settings,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return {"contender": name, "missing": f"not done in {PATIENCE:.0f} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"name"')]
    if not lines:
        said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        return {"contender": name, "missing": said[:120]}
    seen = server.counts()
    return {"contender": name, "concurrency": concurrency, **json.loads(lines[-1]), "stub": seen}


def contest(
    server: Stub, contenders: Sequence[tuple[str, int]], *, rounds: int, concurrency: int = 64, **knobs: float
) -> dict[str, list[dict[str, Any]]]:
    """Several rounds over all contenders, so that a busy minute hits them alike. contenders: name, rows."""
    results: dict[str, list[dict[str, Any]]] = {name: [] for name, _ in contenders}
    for number in range(rounds):
        for name, rows in contenders:
            if results[name] and "missing" in results[name][-1]:
                continue
            server.turn(**knobs)
            result = race(server, name, rows, concurrency)
            results[name].append(result)
            print(f"  round {number + 1}  {name:<22} {told(result)}", file=sys.stderr, flush=True)
    return results


def told(result: dict[str, Any]) -> str:
    """One result in short."""
    if "missing" in result:
        return str(result["missing"])
    return (
        f"{result['rows'] / result['seconds']:8,.0f} rows/s {result['cpu'] / result['rows'] * 1e6:8,.0f} µs"
    )


def median(results: Sequence[dict[str, Any]], what: str) -> float:
    """The median over rounds of `rate` (rows/s), `cpu` (µs a row) or a figure by its name."""
    good = [result for result in results if "missing" not in result]
    if not good:
        return float("nan")
    if what == "rate":
        return statistics.median(result["rows"] / result["seconds"] for result in good)
    if what == "cpu":
        return statistics.median(result["cpu"] / result["rows"] * 1e6 for result in good)
    return float(statistics.median(result[what] for result in good))


def saved(name: str, results: Any) -> None:
    """Keeps the raw lines beside the table, for whoever wants to look."""
    folder = Path(os.environ.get("BENCH_OUT", ROOT / "benchmarks" / ".results"))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(results, indent=1))
