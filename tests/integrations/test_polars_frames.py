"""`df.extract` and `lf.extract` against the real Polars and real sockets."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.io.plugins import register_io_source
from pydantic import BaseModel, Field

import extract.integrations.polars  # noqa: F401 (registers)
from extract import Budget, Client, Pipeline, errors
from extract.testing import LocalEndpoint


class Parcel(BaseModel):
    """One parcel."""

    recipient: str = Field(description="Recipient")
    weight: int = Field(description="Weight")


@pytest.fixture
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint() as server:
        yield server


def pipeline(endpoint: LocalEndpoint, **settings: Any) -> Pipeline:
    client = Client(endpoint.base_url, api_key=endpoint.api_key)
    return Pipeline(Parcel, client=client, prompt="{note}", **settings)


def notes(count: int, *, bad: tuple[int, ...] = ()) -> pl.DataFrame:
    texts = [f"Recipient: R{n}" + ("" if n in bad else f"\nWeight: {n}") for n in range(count)]
    return pl.DataFrame({"id": range(count), "note": texts}, schema={"id": pl.Int32, "note": pl.String})


def test_a_frame_gives_its_accepted_rows(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    out = notes(3).extract(pipeline(endpoint), key="id", store=tmp_path / "s.duckdb")  # type: ignore[attr-defined]
    assert out.schema == {"id": pl.Int32, "recipient": pl.String, "weight": pl.Int64}
    assert out.rows() == [(0, "R0", 0), (1, "R1", 1), (2, "R2", 2)]


def test_dead_letters_are_told_and_may_be_forbidden(
    endpoint: LocalEndpoint, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    work, store = pipeline(endpoint), tmp_path / "s.duckdb"
    with caplog.at_level(logging.WARNING, "extract"):
        out = notes(3, bad=(1,)).extract(work, key="id", store=store)  # type: ignore[attr-defined]
    assert out["id"].to_list() == [0, 2] and "1 of 3 rows" in caplog.text and "invalid" in caplog.text
    with pytest.raises(errors.RequirementError, match="2 of 3"):
        notes(3, bad=(1,)).extract(work, key="id", store=store, require=0.9)  # type: ignore[attr-defined]


def test_half_a_frame_is_never_given(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    poor = pipeline(endpoint, budget=Budget(requests=4))
    with pytest.raises(errors.RequirementError, match="6 of 10 rows have no outcome yet"):
        notes(10).extract(poor, key="id", store=tmp_path / "s.duckdb")  # type: ignore[attr-defined]
    rich = notes(10).extract(pipeline(endpoint), key="id", store=tmp_path / "s.duckdb")  # type: ignore[attr-defined]
    assert rich.height == 10 and endpoint.counts()["requests"] == 10


def test_a_plan_reads_and_sends_nothing_and_a_second_collect_pays_nothing(
    endpoint: LocalEndpoint, tmp_path: Path
) -> None:
    read: list[int] = []

    def rows(*_: Any) -> Iterator[pl.DataFrame]:
        read.append(1)
        yield notes(5)

    source = register_io_source(rows, schema=notes(0).schema)
    lazy = source.extract(pipeline(endpoint), key="id", store=tmp_path / "s.duckdb")  # type: ignore[attr-defined]
    heavy = lazy.filter(pl.col("weight") >= 3).select("recipient")
    assert lazy.collect_schema() == {"id": pl.Int32, "recipient": pl.String, "weight": pl.Int64}
    assert "EXTRACT" in heavy.explain()
    assert not read and endpoint.counts()["requests"] == 0
    assert heavy.collect()["recipient"].to_list() == ["R3", "R4"]
    assert heavy.collect()["recipient"].to_list() == ["R3", "R4"]
    assert endpoint.counts()["requests"] == 5


def test_a_filter_on_the_key_and_head_save_requests(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    lazy = notes(40, bad=(30,)).lazy().extract(pipeline(endpoint), key="id", store=tmp_path / "s.duckdb")  # type: ignore[attr-defined]
    assert lazy.filter(pl.col("id") < 3).collect().height == 3
    assert endpoint.counts()["requests"] == 3
    assert lazy.head(5).collect()["id"].to_list() == [0, 1, 2, 3, 4]
    assert endpoint.counts()["requests"] == 5
    assert lazy.filter(pl.col("id") >= 29).head(3).collect()["id"].to_list() == [29, 31, 32]
    assert lazy.head(4).filter(pl.col("weight") > 1).collect()["id"].to_list() == [2, 3]
    assert lazy.filter(pl.col("weight") > 1).head(2).collect()["id"].to_list() == [2, 3]


def test_one_query_may_use_a_step_twice_and_two_steps_one_store(
    endpoint: LocalEndpoint, tmp_path: Path
) -> None:
    work, store = pipeline(endpoint), tmp_path / "s.duckdb"
    once = notes(6).lazy().extract(work, key="id", store=store)  # type: ignore[attr-defined]
    other = notes(6).lazy().extract(work, key="id", store=store)  # type: ignore[attr-defined]
    joined = once.join(once, on="id").join(other, on="id", suffix="_other")
    assert joined.collect().height == 6
    assert endpoint.counts()["requests"] == 6


def test_wrong_use_is_told_when_the_query_is_made(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    work, store = pipeline(endpoint), tmp_path / "s.duckdb"
    with pytest.raises(errors.ConfigError, match="give a file"):
        notes(2).lazy().extract(work, key="id", store=":memory:")  # type: ignore[attr-defined]
    with pytest.raises(errors.ConfigError, match="'number' is not there"):
        notes(2).lazy().extract(work, key="number", store=store)  # type: ignore[attr-defined]
    with pytest.raises(errors.PromptError, match="note"):
        notes(2).lazy().drop("note").extract(work, key="id", store=store)  # type: ignore[attr-defined]


def test_many_rows_out_of_one_and_no_key(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    work = Pipeline(list[Parcel], client=Client(endpoint.base_url, api_key=endpoint.api_key), prompt="{note}")
    lazy = notes(2).lazy().extract(work, store=tmp_path / "s.duckdb")  # type: ignore[attr-defined]
    declared = lazy.collect_schema()
    assert lazy.collect().schema == declared
