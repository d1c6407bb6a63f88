"""What a row costs, counted and not timed: calls of functions, requests, commits.

The numbers are those of the day that they were written with a fourth on top. A change that needs more
says why here.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from benchmarks.stub import SERVICE, Connection
from benchmarks.work import Ticket, texts
from extract import Client, Pace, Pipeline
from extract.host import Host
from extract.store.writer import Writer

CALLS: dict[str, int] = {"httpx": 2_690, "fast": 590}  # a row, the event loop's and the library's included
FEW, MANY = 100, 400


@pytest.fixture(scope="module")
def stub() -> Iterator[str]:
    """The stub of the benchmarks in a thread."""
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(loop.create_server(Connection, "127.0.0.1", 0))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    loop.call_soon_threadsafe(server.close)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Calls of functions in the engine's thread, and commits."""
    seen = {"calls": 0, "commits": 0}
    run, commit = Host._run, Writer._commit

    def profile(frame: Any, event: str, argument: Any) -> None:
        seen["calls"] += event in ("call", "c_call")

    def profiled(host: Host[Any]) -> None:
        sys.setprofile(profile)
        try:
            run(host)
        finally:
            sys.setprofile(None)

    def committed(writer: Writer, group: Any) -> None:
        seen["commits"] += 1
        commit(writer, group)

    monkeypatch.setattr(Host, "_run", profiled)
    monkeypatch.setattr(Writer, "_commit", committed)
    return seen


def run(base: str, rows: int, store: Path, transport: Literal["httpx", "fast"] = "httpx") -> Any:
    SERVICE.turn({"reset": "1"})
    client = Client(base, api_key="stub-key-0000", transport=transport)
    pipeline = Pipeline(Ticket, model="stub-1", client=client, pace=Pace(concurrency=32))
    frame = [{"id": n, "text": text} for n, text in enumerate(texts(rows, 200))]
    return pipeline.run(frame, key="id", store=store)


@pytest.mark.parametrize("transport", ["httpx", "fast"])
def test_calls_of_functions_a_row(
    stub: str, counted: dict[str, int], tmp_path: Path, transport: Literal["httpx", "fast"]
) -> None:
    if transport == "fast":
        pytest.importorskip("httptools")
    run(stub, FEW, tmp_path / "warm.duckdb", transport)  # imports and what is built once
    calls = []
    for rows in (FEW, MANY):
        counted["calls"] = 0
        assert run(stub, rows, tmp_path / f"{rows}.duckdb", transport).report.accepted == rows
        calls.append(counted["calls"])
    assert (calls[1] - calls[0]) / (MANY - FEW) < CALLS[transport]


def test_a_row_is_one_request_and_a_fraction_of_a_commit(stub: str, tmp_path: Path, counted: Any) -> None:
    report = run(stub, MANY, tmp_path / "store.duckdb").report
    assert (report.requests, SERVICE.asked, len(SERVICE.right)) == (MANY, MANY, MANY)
    assert counted["commits"] < MANY / 10  # by time, so a slow machine makes more of them


def test_what_is_known_costs_no_request_and_one_commit_a_batch(
    stub: str, tmp_path: Path, counted: dict[str, int]
) -> None:
    run(stub, MANY, tmp_path / "store.duckdb")
    counted["commits"] = counted["calls"] = 0
    report = run(stub, MANY, tmp_path / "store.duckdb").report
    assert (report.requests, SERVICE.asked, report.reused) == (0, 0, MANY)
    assert counted["commits"] == 1
    assert counted["calls"] / MANY < 105
