"""A foreign judge: Prism stands between our client and our endpoint and refuses what breaks `openapi.yaml`.

    python tests/interop/prism/check.py            # installs Prism into a temporary folder (npm, network)
    python tests/interop/prism/check.py --prism P  # uses an installed one: the path of its `prism` script

Every feature is used once: schema, cache, effort, streams, re-asks with all their blocks, pictures, examples,
search, kimi-k3 over chat completions, and each error. Exit status 0 when Prism found nothing, 1 otherwise.
First it must find what is planted: a judge that says yes to everything proves nothing.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import httpx
from pydantic import BaseModel

from extract import Client, Pipeline, Run
from extract.protocol.blocks import image_block, image_url_block, text_block, web_search
from extract.testing import LocalEndpoint, record

HERE = Path(__file__).resolve().parent
PACKAGE = "@stoplight/prism-cli@5.16.0"
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
ROWS = [{"id": n, "text": f"Number: {n}\nTotal: {n},50 €"} for n in range(3)]


class Note(BaseModel):
    """A note."""

    number: str
    total: float | None
    kind: Literal["bill", "letter"] | None


def pictures(row: Any) -> list[dict[str, Any]]:
    """A row with both kinds of picture."""
    return [image_block(PIXEL), image_url_block("https://example.org/a.png"), text_block(row["text"])]


@dataclass
class Case:
    """One run. knobs: of the endpoint. pipeline, client: what is set. statuses: that must have come."""

    name: str
    knobs: str = ""
    pipeline: dict[str, Any] = field(default_factory=dict)
    client: dict[str, Any] = field(default_factory=dict)
    statuses: frozenset[int] = frozenset({200})


K3: dict[str, Any] = {"model": "kimi-k3", "effort": "max", "cache": None}
SYSTEM = "You read notes. " * 80
CASES = [
    Case("schema, 1h cache, low effort", pipeline={"system": SYSTEM}),
    Case("5m cache, high effort", pipeline={"system": SYSTEM, "cache": "5m", "effort": "high"}),
    Case("no cache, no system, max effort, stream", pipeline={"cache": None, "effort": "max"}),
    Case("the other model", pipeline={"model": "kimi-k3.1-pro-highspeed"}),
    Case("always a stream", client={"stream": "always"}),
    Case("re-asks", knobs="prose=0.6"),
    Case("re-asks by stream", knobs="extra=0.6", client={"stream": "always"}),
    Case("pictures", pipeline={"prompt": pictures}),
    Case("examples", pipeline={"examples": [("Number: 9", Note(number="9", total=None, kind=None))]}),
    Case("search and re-asks", knobs="malformed=0.6", pipeline={"tools": [web_search(max_uses=2)]}),
    Case("search without results", knobs="search=error,fenced=0.1", pipeline={"tools": [web_search()]}),
    Case("truncated, then doubled", pipeline={"max_tokens": 30}),
    Case("refused", knobs="refused=1"),
    Case("kimi-k3 over chat completions", pipeline={**K3, "system": SYSTEM}),
    Case("kimi-k3, a stream", pipeline=K3, client={"stream": "always"}),
    Case("kimi-k3, re-asks", knobs="prose=0.6", pipeline=K3, client={"stream": "never"}),
    Case("kimi-k3, pictures", pipeline={**K3, "prompt": pictures}),
    Case("400", knobs="err400=1", statuses=frozenset({400})),
    Case("401", client={"api_key": "wrong"}, statuses=frozenset({401})),
    Case("429", knobs="err429=0.5,seed=3", statuses=frozenset({200, 429})),
    Case("500", knobs="err500=0.5,seed=3", statuses=frozenset({200, 500})),
    Case("529", knobs="err529=0.5,seed=3", statuses=frozenset({200, 529})),
    Case("kimi-k3, 400", knobs="err400=1", pipeline=K3, statuses=frozenset({400})),
]


def free_port() -> int:
    """A port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def install(folder: Path) -> Path:
    """Prism, installed by npm into a folder."""
    npm = shutil.which("npm")
    if npm is None:
        raise SystemExit("npm is needed to install Prism: install Node.js, or give --prism")
    subprocess.run([npm, "install", "--no-audit", "--no-fund", "--silent", PACKAGE], cwd=folder, check=True)
    return folder / "node_modules" / ".bin" / "prism"


@contextlib.contextmanager
def proxy(prism: Path, upstream: str) -> Iterator[str]:
    """Prism in front of an address; its own address."""
    port = free_port()
    command = [str(prism), "proxy", str(HERE / "openapi.yaml"), upstream, "--errors", "-p", str(port)]
    # a group of its own: the script starts node, and both have to end
    process = subprocess.Popen([*command, "-v", "fatal"], start_new_session=True)
    try:
        _wait_for(port, process)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(10)


def _wait_for(port: int, process: subprocess.Popen[bytes], patience: float = 60.0) -> None:
    for _ in range(int(patience / 0.2)):
        if process.poll() is not None:
            raise SystemExit("prism ended before it listened")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.2)
    raise SystemExit("prism did not listen in time")


def run_case(case: Case, endpoint: LocalEndpoint, address: str, tape: Path) -> Run:
    """One run through Prism; what passed is on the tape."""
    endpoint.reset()
    endpoint.turn(dict.fromkeys(endpoint.knobs.shares(), 0.0) | {"search": "found"})
    endpoint.turn(case.knobs)
    settings = {"api_key": endpoint.api_key, **case.client}
    with record(tape) as recorder:
        pipeline = Pipeline(
            Note,
            **{"system": "You read notes.", "prompt": "{text}", **case.pipeline},
            client=Client(address, transport=recorder, **settings),
        )
        return pipeline.run(ROWS, key="id", store=":memory:")


def complaints(case: Case, tape: Path) -> list[str]:
    """What Prism found wrong, and what did not happen that should have."""
    exchanges = [json.loads(line) for line in tape.read_text("utf-8").splitlines()[1:]]
    found = [
        f"{case.name}: {exchange['status']} {''.join(map(str, exchange['chunks']))[:600]}"
        for exchange in exchanges
        if exchange["headers"].get("content-type", "").startswith("application/problem+json")
    ]
    missing = case.statuses - {exchange["status"] for exchange in exchanges}
    return found + [f"{case.name}: no reply had the status {status}" for status in sorted(missing)]


GOOD: dict[str, Any] = {
    "model": "kimi-k3.1-pro",
    "max_tokens": 999,
    "messages": [{"role": "user", "content": "x"}],
}
BAD: dict[str, dict[str, Any]] = {
    "a ttl of 2h": {"cache_control": {"type": "ephemeral", "ttl": "2h"}},
    "an unknown field": {"top_k": 5},
    "kimi-k3 with a cache": {"model": "kimi-k3", "cache_control": {"type": "ephemeral"}},
    "an unknown block": {"messages": [{"role": "user", "content": [{"type": "document"}]}]},
    "no max_tokens": {"max_tokens": None},
}


def planted(endpoint: LocalEndpoint, address: str) -> list[str]:
    """Requests and a reply that Prism must refuse; what it let through."""

    def is_refused(asked: dict[str, Any]) -> bool:
        headers = {"authorization": f"Bearer {endpoint.api_key}"}
        reply = httpx.post(f"{address}/v1/messages", json=asked, headers=headers)
        return reply.headers["content-type"].startswith("application/problem+json")

    passed = [name for name, change in BAD.items() if not is_refused(GOOD | change)]
    if is_refused(GOOD):
        passed.append("that a good request is good")
    endpoint.turn("error200=1")
    if not is_refused(GOOD):
        passed.append("an error in place of a message")
    return passed


def check(prism: Path) -> int:
    """All cases; what was found is printed."""
    failures: list[str] = []
    with (
        LocalEndpoint() as endpoint,
        proxy(prism, endpoint.base_url) as address,
        tempfile.TemporaryDirectory() as folder,
    ):
        failures += [f"prism did not see: {name}" for name in planted(endpoint, address)]
        for case in CASES:
            tape = Path(folder) / "tape.jsonl"
            run = run_case(case, endpoint, address, tape)
            found = complaints(case, tape)
            failures += found
            say(f"{'!!' if found else 'ok'}  {case.name}: {run.report.requests} requests")
    for failure in failures:
        say(failure)
    say(f"{len(CASES)} cases, {len(failures)} complaints")
    return 1 if failures else 0


def say(text: str) -> None:
    """One line on standard output."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--prism", type=Path, help="an installed `prism` script")
    given = parser.parse_args().prism
    if given is not None:
        return check(given.resolve())
    with tempfile.TemporaryDirectory(prefix="prism-") as folder:
        return check(install(Path(folder)))


if __name__ == "__main__":
    raise SystemExit(main())
