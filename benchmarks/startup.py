"""Start-up: processor time until a command answers, a model is compiled, a single row has run.

python -m benchmarks.startup [--rounds 5]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence

from benchmarks.contest import ROOT, pinned, stub
from benchmarks.work import KEY, table

_COMPILE = """
import importlib, pathlib, time
from pydantic import BaseModel
from extract import compile_schema
models = {}
for path in pathlib.Path("schemas").glob("[a-z]*.py"):
    for value in vars(importlib.import_module("schemas." + path.stem)).values():
        if isinstance(value, type) and issubclass(value, BaseModel) and value is not BaseModel:
            models[value.__name__] = value
largest = max(models.values(), key=lambda model: len(compile_schema(model).text))
times = []
for _ in range(9):
    began = time.process_time()
    compile_schema(largest)
    times.append(time.process_time() - began)
print(largest.__name__, sorted(times)[4] * 1e3)
"""

_ONE_ROW = """
import sys, tempfile, time
from pydantic import BaseModel
from extract import Client, Pipeline
class Short(BaseModel):
    customer: str
    priority: int
with tempfile.TemporaryDirectory() as folder:
    pipeline = Pipeline(Short, model="stub-1", client=Client(sys.argv[1], api_key=sys.argv[2]))
    began, worked = time.perf_counter(), time.process_time()
    rows = [{"id": 1, "text": "ROW-0000001 was charged twice"}]
    run = pipeline.run(rows, key="id", store=folder + "/s.duckdb")
    assert run.report.accepted == 1
    print(time.perf_counter() - began, time.process_time() - worked)
"""


def cpu(command: Sequence[str]) -> float:
    """Seconds of processor time of a command."""
    before = os.times()
    subprocess.run([*pinned(0), *command], cwd=ROOT, check=True, capture_output=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def printed(code: str, *more: str) -> list[str]:
    """The words that a piece of Python prints."""
    command = [*pinned(0), sys.executable, "-c", code, *more]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.split()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    python = sys.executable
    commands = {
        "an empty Python": [python, "-c", "pass"],
        "`import extract`": [python, "-c", "import extract"],
        "`python -m extract --help`": [python, "-m", "extract", "--help"],
    }
    lines = [
        [name, f"{statistics.median(cpu(command) for _ in range(rounds)):.2f} s CPU"]
        for name, command in commands.items()
    ]
    name, milliseconds = printed(_COMPILE)
    lines.append([f"compiling the largest schema ({name})", f"{float(milliseconds):.1f} ms CPU"])
    with stub() as server:
        waits, works = [], []
        for _ in range(rounds):
            server.turn(latency=0.5, short=1)
            wall, worked = map(float, printed(_ONE_ROW, server.base, KEY))
            waits.append(wall - 0.5)
            works.append(worked)
    cold = f"{statistics.median(waits):.2f} s, {statistics.median(works):.2f} s CPU"
    lines.append(["a cold `run` of one row, over its reply", cold])
    print(table(["what", "median"], lines))


if __name__ == "__main__":
    main()
