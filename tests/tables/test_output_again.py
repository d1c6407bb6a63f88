"""An output that somebody took away is filled again, and nothing is asked for it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from pydantic import BaseModel, Field

from extract import Client, Pace, Pipeline
from extract.testing import LocalEndpoint


class Ticket(BaseModel):
    """One ticket."""

    subject: str = Field(description="Subject")


@pytest.fixture
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint() as server:
        yield server


def taken_away(into: str) -> None:
    if into == "tickets":
        with duckdb.connect("work.duckdb") as con:
            con.execute("DROP TABLE tickets")
        return
    path = Path(into.partition(":")[0])
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def count(into: str) -> int:
    if into.startswith("tickets.parquet") or into.endswith("/"):
        return pl.read_parquet(into if into.endswith("parquet") else f"{into}*.parquet").height
    with duckdb.connect("other.duckdb" if ":" in into else "work.duckdb") as con:
        return int(con.execute("SELECT count(*) FROM tickets").fetchall()[0][0])


@pytest.mark.parametrize("into", ["tickets", "other.duckdb:tickets", "tickets.parquet", "tickets/"])
def test_a_missing_output_is_made_again(
    endpoint: LocalEndpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, into: str
) -> None:
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame({"id": range(5), "text": [f"Subject: {n}" for n in range(5)]})
    client: Any = Client(endpoint.base_url, api_key=endpoint.api_key)
    pipeline = Pipeline(Ticket, client=client, pace=Pace(concurrency=4))
    for _ in range(2):
        run = pipeline.run(frame, key="id", store="work.duckdb", into=into)
        assert run.report.accepted == 5
        assert count(into) == 5
        taken_away(into)
    assert endpoint.counts()["requests"] == 5
