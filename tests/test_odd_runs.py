"""What a run does when what surrounds it misbehaves: the caller, the input, the disk; and the odd cases."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import time
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from pydantic import BaseModel, Field

from extract import Client, Pace, Pipeline, errors
from extract.session import Session
from extract.testing import LocalEndpoint, Reply, ScriptedReplies


class Echo(BaseModel):
    """Says which row it answers."""

    row: int = Field(description="Row")


def pipeline(server: Any, *, concurrency: int = 8, **settings: Any) -> Pipeline:
    client = settings.pop("client", None) or Client(server.base_url, api_key=server.api_key)
    settings.setdefault("cache", None)
    return Pipeline(Echo, client=client, pace=Pace(concurrency=concurrency), **settings)


def rows(count: int) -> pl.DataFrame:
    return pl.DataFrame({"id": range(count), "text": [f"Row: {n}" for n in range(count)]})


def echo(seen: Any) -> dict[str, int]:
    """The right answer to a request."""
    return {"row": int(seen.prompt.removeprefix("Row: "))}


def test_more_equal_rows_than_one_commit_takes_are_still_one_request(tmp_path: Path) -> None:
    def serve(seen: Any) -> Any:
        time.sleep(0.05)
        return echo(seen)

    frame = pl.DataFrame({"id": range(5000), "text": ["Row: 7"] * 5000})
    with ScriptedReplies(serve) as server:
        report = pipeline(server).run(frame, key="id", store=tmp_path / "s.duckdb").report
    assert (report.accepted, report.requests) == (5000, 1)
    assert report.stopped is None


def test_a_progress_function_that_raises_ends_the_run_and_lets_the_store_go(tmp_path: Path) -> None:
    def broken(progress: Any) -> None:
        raise RuntimeError("no screen")

    with LocalEndpoint("latency=20ms") as endpoint:
        work, store = pipeline(endpoint), tmp_path / "s.duckdb"
        with pytest.raises(RuntimeError, match="no screen"):
            work.run(rows(100), key="id", store=store, on_progress=broken)
        with pytest.raises(RuntimeError, match="no screen"):
            asyncio.run(work.arun(rows(100), key="id", store=store, on_progress=broken))
        assert work.run(rows(100), key="id", store=store).report.accepted == 100
        assert endpoint.counts()["requests"] == 100


def test_a_stream_that_nobody_reads_holds_no_store(tmp_path: Path) -> None:
    with LocalEndpoint() as endpoint:
        work, store = pipeline(endpoint), tmp_path / "s.duckdb"
        unread = work.stream(rows(5), key="id", store=store)
        awaited = work.astream(rows(5), key="id", store=store)
        assert work.run(rows(3), key="id", store=store).report.accepted == 3
        assert len(list(unread)) == 5
    asyncio.run(awaited.aclose())  # type: ignore[attr-defined]


def test_a_second_interrupt_ends_at_once_and_lets_the_store_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one waits for replies that take a minute; the second does not."""
    told: list[str] = []

    def interrupted(self: Session, state: str) -> None:
        if state == "running" and len(told) < 2:
            told.append(state)
            raise KeyboardInterrupt

    monkeypatch.setattr(Session, "tell_status", interrupted)
    with LocalEndpoint("latency=60s") as endpoint:
        with pytest.raises(KeyboardInterrupt):
            pipeline(endpoint).run(rows(20), key="id", store=tmp_path / "s.duckdb")
        endpoint.turn("latency=0s")
        assert pipeline(endpoint).run(rows(20), key="id", store=tmp_path / "s.duckdb").report.accepted == 20


def test_what_broke_a_run_is_told_though_the_store_cannot_note_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Session, failure: BaseException | None) -> None:
        self._store.close()
        raise errors.StoreError("no room")

    def broken() -> Any:
        yield {"id": 1, "text": "Row: 1"}
        raise OSError("the share is gone")

    monkeypatch.setattr(Session, "close", full)
    with LocalEndpoint() as endpoint, pytest.raises(OSError, match="the share is gone"):
        pipeline(endpoint).run(broken(), key="id", store=tmp_path / "s.duckdb")


SECRET = "zanzibar-4711"


def secrets(count: int) -> pl.DataFrame:
    return pl.DataFrame({"id": range(count), "text": [f"{SECRET} {n}" for n in range(count)]})


def leaks(store: Path) -> list[str]:
    """Files beside the store, and it, that hold the private word."""
    return [file.name for file in store.parent.iterdir() if SECRET.encode() in file.read_bytes()]


def test_a_server_that_repeats_a_private_input_does_not_bring_it_into_the_store(tmp_path: Path) -> None:
    def refuse(seen: Any) -> Reply:
        error = {"type": "invalid_request_error", "message": f"cannot read {seen.prompt!r}"}
        return Reply(status=400, body=json.dumps({"type": "error", "error": error}).encode())

    with ScriptedReplies(refuse) as server:
        run = pipeline(server).run(secrets(5), key="id", store=tmp_path / "s.duckdb", private=["text"])
    assert run.report.stopped is not None and run.report.stopped.reason == "request"
    assert SECRET in str(run.report.stopped)  # who called is told; the store is not
    assert leaks(tmp_path / "s.duckdb") == []


def test_what_is_private_stays_private_when_dead_letters_run_again(tmp_path: Path) -> None:
    store, frame = tmp_path / "s.duckdb", secrets(3)
    with ScriptedReplies(lambda seen: f"I see {seen.prompt}") as server:
        work = pipeline(server, reasks=0)
        work.run(frame, key="id", store=store, private=["text"])
        again = work.redrive(store, frame=frame)
        planned = work.plan(frame.with_columns(pl.col("text") + "!"), key="id", store=store, private=["text"])
    assert again.report.dead_letters == 3 and planned.pilot.dead_letters == 3
    assert leaks(store) == []


@pytest.mark.parametrize(("private", "says"), [("id", "is the key"), ("txet", "did you mean 'text'")])
def test_a_private_column_that_would_protect_nothing_is_refused(
    tmp_path: Path, private: str, says: str
) -> None:
    with LocalEndpoint() as endpoint:
        with pytest.raises(errors.ConfigError, match=says):
            pipeline(endpoint).run(rows(2), key="id", store=tmp_path / "s.duckdb", private=[private])
        assert endpoint.counts()["requests"] == 0


class Bill(BaseModel):
    lines: list[Echo]


def test_a_redriven_row_goes_where_the_other_rows_went(tmp_path: Path) -> None:
    """Into the table of its list's items too, and with its provenance."""
    good: list[bool] = []

    def serve(seen: Any) -> Any:
        return {"lines": [{"row": 1}, {"row": 2}]} if good or "0" in seen.prompt else "no"

    store = tmp_path / "s.duckdb"
    with ScriptedReplies(serve) as server:
        client = Client(server.base_url, api_key=server.api_key)
        work = Pipeline(Bill, client=client, cache=None, reasks=0)
        work.run(
            rows(2),
            key="id",
            store=store,
            into="bills",
            explode="lines",
            provenance="columns",
            overlap="allow",
        )
        good.append(True)
        assert work.redrive(store).report.accepted == 1
    with duckdb.connect(str(store)) as con:
        lines = con.sql('SELECT id, "index", row FROM bills_lines ORDER BY ALL').fetchall()
        assert lines == [(0, 0, 1), (0, 1, 2), (1, 0, 1), (1, 1, 2)]
        assert con.sql("SELECT count(_run_id) FROM bills").fetchall() == [(2,)]


def test_a_server_that_tells_no_usage_is_not_asked_one_by_one(tmp_path: Path) -> None:
    """The first reply opens the cache's gate, whatever it tells: the others fly together."""
    sent, together = [], threading.Barrier(2)

    def serve(seen: Any) -> Reply:
        sent.append(seen.prompt)
        if len(sent) > 1:
            together.wait(timeout=20)
        content = [{"type": "text", "text": json.dumps(echo(seen))}]
        body = {"id": "m", "type": "message", "role": "assistant", "model": "x", "content": content}
        return Reply(status=200, body=json.dumps({**body, "stop_reason": "end_turn"}).encode())

    with ScriptedReplies(serve) as server:
        client = Client(server.base_url, api_key=server.api_key, stream="never")
        work = pipeline(server, client=client, cache="1h", system="Read the row. " * 300)
        run = work.run(rows(5), key="id", store=tmp_path / "s.duckdb")
    assert (run.report.accepted, run.report.requests) == (5, 5)


class _NoRows:
    def __iter__(self) -> Any:
        return iter(())


@pytest.mark.parametrize("kind", ["list", "iterator", "frame", "lazy"])
def test_a_night_without_rows_is_no_fault(tmp_path: Path, kind: str) -> None:
    """Neither the first nor a later one, where the table has its types already."""
    empty = {"list": [], "iterator": _NoRows(), "frame": rows(0), "lazy": rows(0).lazy()}[kind]
    with LocalEndpoint() as endpoint:
        first = pipeline(endpoint).run(empty, key="id", store=":memory:", into="found")
        assert (first.report.rows, first.report.exit_status, first.accepted.height) == (0, 0, 0)
        pipeline(endpoint).run(rows(2), key="id", store=tmp_path / "s.duckdb", into="found")
        later = pipeline(endpoint).run(empty, key="id", store=tmp_path / "s.duckdb", into="found")
    assert (later.report.rows, later.report.missing, later.report.exit_status) == (0, 2, 0)


class Twins(BaseModel):
    total: int
    Total: int


def test_names_that_clash_are_told_before_a_table_is_made(tmp_path: Path) -> None:
    with LocalEndpoint() as endpoint:
        client = Client(endpoint.base_url, api_key=endpoint.api_key)
        with pytest.raises(errors.InputError, match="total, Total"):
            Pipeline(Twins, client=client).run(rows(1), key="id", store=tmp_path / "s.duckdb", into="sums")
    with duckdb.connect(str(tmp_path / "s.duckdb")) as con:
        assert con.sql("SELECT 1 FROM duckdb_tables() WHERE table_name = 'sums'").fetchall() == []


def test_a_prompt_may_change_while_nothing_was_accepted(tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    with LocalEndpoint() as endpoint:
        wrong = Client(endpoint.base_url, api_key="wrong")
        pipeline(endpoint, client=wrong).run(rows(3), key="id", store=store, into="found")
        better = pipeline(endpoint, system="Read with care.")
        assert better.run(rows(3), key="id", store=store, into="found").report.accepted == 3
        with pytest.raises(errors.ChangedError, match="would ask 3 rows again"):
            pipeline(endpoint).run(rows(3), key="id", store=store, into="found")


def test_a_run_in_memory_that_is_dropped_takes_its_store_along() -> None:
    def owners() -> int:
        return sum(thread.name == "extract-store" for thread in threading.enumerate())

    gc.collect()
    before = owners()
    with LocalEndpoint() as endpoint:
        for _ in range(3):
            run = pipeline(endpoint).run(rows(2), key="id", store=":memory:")
            assert run.accepted.height == 2
        del run
        gc.collect()
    assert owners() <= before


def test_what_was_paid_is_told_although_a_fault_of_ours_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Any, message: Any, source: Any) -> Any:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("extract.judge.Judge.judge", broken)
    with ScriptedReplies(echo) as server:
        with pytest.raises(RuntimeError, match="a fault of ours"):
            pipeline(server, concurrency=2).run(rows(40), key="id", store=tmp_path / "s.duckdb")
        sent = len(server.requests)
    with duckdb.connect(str(tmp_path / "s.duckdb")) as con:
        assert con.sql("SELECT count(*) FROM extract.calls").fetchall() == [(sent,)]
        assert con.sql("SELECT state, stop_reason FROM extract.runs").fetchall() == [("stopped", "failing")]
