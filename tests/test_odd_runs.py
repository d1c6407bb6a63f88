"""What a run does when what surrounds it misbehaves: the caller, the input, the disk; and the odd cases."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pydantic import BaseModel, Field

from extract import Client, Pace, Pipeline, errors
from extract.session import Session
from extract.testing import LocalEndpoint, ScriptedReplies


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
    told = []

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
