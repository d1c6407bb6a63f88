"""Every token is counted once, priced once, and the report, the store and the endpoint agree."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from pydantic import BaseModel, Field

from extract import Budget, Client, Pace, Pipeline, Prices, Split, errors
from extract.testing import LocalEndpoint

PRICES = Prices(input=2, output=10, cache_read="0.2", cache_write_5m=2, cache_write_1h=4)


class Note(BaseModel):
    """A note."""

    code: str = Field(description="Code")


@pytest.fixture
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint() as server:
        yield server


def pipeline(endpoint: LocalEndpoint, **settings: Any) -> Pipeline:
    given: dict[str, Any] = {"prices": PRICES, "pace": Pace(concurrency=4)} | settings
    client = Client(endpoint.base_url, api_key=endpoint.api_key)
    return Pipeline(Note, system="You read notes. " * 300, client=client, **given)


def rows(count: int) -> pl.DataFrame:
    return pl.DataFrame({"id": range(count), "text": [f"Code: C-{n}" for n in range(count)]})


def told(endpoint: LocalEndpoint) -> dict[str, int]:
    usage = endpoint.counts()["usage"]
    return {
        "input": usage["input_tokens"],
        "cache_read": usage["cache_read_input_tokens"],
        "cache_write_1h": usage["ephemeral_1h_input_tokens"],
        "output": usage["output_tokens"],
    }


def test_report_store_and_endpoint_agree_to_the_token(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    endpoint.turn("err500=0.05,malformed=0.1,truncated=0.05,seed=5")
    run = pipeline(endpoint).run(rows(60), key="id", store=tmp_path / "s.duckdb")
    usage = run.report.usage.as_dict()
    assert {name: usage[name] for name in told(endpoint)} == told(endpoint)
    with duckdb.connect(str(tmp_path / "s.duckdb")) as con:
        stored = con.sql(
            "SELECT sum(usage.input), sum(usage.cache_read), sum(usage.cache_write_1h), sum(usage.output), "
            "sum(cost) FROM extract.calls"
        ).fetchall()[0]
    assert stored[:4] == tuple(told(endpoint).values())
    expected = (
        told(endpoint)["input"] * 2
        + told(endpoint)["output"] * 10
        + told(endpoint)["cache_write_1h"] * 4
        + told(endpoint)["cache_read"] * Decimal("0.2")
    ) / 1_000_000
    assert run.report.cost == stored[4] == expected


def test_what_was_saved_is_told_apart(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    work, store = pipeline(endpoint), tmp_path / "s.duckdb"
    twins = pl.concat([rows(5), rows(5).with_columns(id=pl.col("id") + 100)])
    first = work.run(twins, key="id", store=store).report
    assert first.shared == 5 and first.cost is not None
    assert first.costs.saved_by_sharing == pytest.approx(first.cost, rel=Decimal("0.5"))
    assert first.costs.per_accepted == first.cost / 5
    assert first.costs.saved_by_cache is not None and first.costs.saved_by_cache > 0
    again = work.run(twins, key="id", store=store).report
    assert again.cost is None and again.requests == 0
    assert again.costs.saved_by_resume == first.cost * 2


def test_dead_letters_and_reasks_have_their_cost(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    frame = pl.DataFrame({"id": [1, 2], "text": ["Code: C-1", "nothing of the kind"]})
    report = pipeline(endpoint).run(frame, key="id", store=tmp_path / "s.duckdb").report
    assert report.dead_letters == 1 and report.reasks == 2
    assert (
        report.cost is not None and report.costs.dead_letters is not None and report.costs.again is not None
    )
    assert 0 < report.costs.again < report.costs.dead_letters < report.cost


def test_without_prices_there_are_tokens_and_no_cost(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    report = pipeline(endpoint, prices=None).run(rows(2), key="id", store=tmp_path / "s.duckdb").report
    assert report.cost is None and report.costs.per_accepted is None and report.usage.output
    with pytest.raises(errors.PriceError):
        pipeline(endpoint, prices=None, budget=Budget(usd=1)).run(
            rows(2), key="id", store=tmp_path / "t.duckdb"
        )


def test_half_the_money_stops_in_time_and_the_rest_finishes(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    whole = pipeline(endpoint).run(rows(80), key="id", store=tmp_path / "whole.duckdb").report.cost
    assert whole is not None
    endpoint.reset()
    half, store = whole / 2, tmp_path / "s.duckdb"
    stopped = pipeline(endpoint, budget=Budget(usd=half)).run(rows(80), key="id", store=store).report
    assert stopped.stopped is not None and stopped.stopped.reason == "budget" and stopped.exit_status == 4
    assert stopped.cost is not None and stopped.pending > 0
    assert stopped.cost <= half + 4 * whole / 80  # no more than those in flight beyond it
    rest = pipeline(endpoint).run(rows(80), key="id", store=store).report
    assert rest.accepted == 80 and rest.cost is not None
    assert stopped.cost + rest.cost == pytest.approx(whole, rel=Decimal("0.1"))


def test_a_plan_pays_for_its_pilot_alone_and_comes_near_the_truth(
    endpoint: LocalEndpoint, tmp_path: Path
) -> None:
    store = tmp_path / "s.duckdb"
    texts = [f"Code: C-{n}\n" + "filler " * (n % 40) for n in range(300)] + [None, " "]
    frame = pl.DataFrame({"id": range(302), "text": texts})
    work = pipeline(endpoint)
    plan = work.plan(frame, key="id", store=store, pilot=20)
    assert endpoint.counts()["requests"] == plan.pilot.requests == 20
    assert (plan.rows, plan.to_ask, plan.unsendable) == (302, 300, 2)
    report = work.run(frame, key="id", store=store).report
    assert report.requests == 280 and report.cost is not None and plan.pilot.cost is not None
    assert plan.cost is not None and plan.cost.low <= report.cost + plan.pilot.cost <= plan.cost.high
    used = (report.usage + plan.pilot.usage).output or 0
    assert plan.output.low <= used <= plan.output.high
    assert "90%" in str(plan) and 'cache="1h"' in str(plan)
    again = work.plan(frame, key="id", store=store)
    assert again.to_ask == 0 and again.answered == 300 and endpoint.counts()["requests"] == 300


def test_a_plan_needs_a_table_that_can_be_read_twice(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    with pytest.raises(errors.InputError, match="twice"):
        pipeline(endpoint).plan(iter(rows(3).to_dicts()), store=tmp_path / "s.duckdb")


def test_a_plan_says_that_it_does_not_cut_documents(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    with pytest.raises(errors.InputError, match="split=None"):
        pipeline(endpoint, split=Split(by="page")).plan(rows(3), key="id", store=tmp_path / "s.duckdb")
    assert endpoint.counts()["requests"] == 0
