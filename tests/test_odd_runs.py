"""What a run does when what surrounds it misbehaves: the caller, the input, the disk; and the odd cases."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import BaseModel, Field

from extract import Client, Pace, Pipeline
from extract.testing import ScriptedReplies


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
