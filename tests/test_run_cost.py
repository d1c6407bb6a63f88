"""Cache and budget over real sockets: one writes the prefix, and no more is paid than was allowed."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from extract import Budget, Client, Pace, Pipeline, Prices
from extract.errors import PriceError
from extract.testing import LocalEndpoint

SYSTEM = "Read the delivery note. " + "Whatever it does not say stays empty. " * 100
PRICES = Prices(input=2, output=10, cache_read="0.2", cache_write_5m=2, cache_write_1h=4)


class Note(BaseModel):
    """One delivery note."""

    carrier: str
    parcels: int
    fragile: Literal["yes", "no"]


def notes(count: int) -> list[dict[str, Any]]:
    return [
        {"id": n, "text": f"Carrier: Bote {n}\nParcels: {n % 7 + 1}\nFragile: {'yes' if n % 2 else 'no'}\n"}
        for n in range(count)
    ]


@pytest.fixture
def served() -> Iterator[LocalEndpoint]:
    with LocalEndpoint("latency=20ms") as endpoint:
        yield endpoint


def pipeline(served: LocalEndpoint, **options: Any) -> Pipeline:
    client = Client(served.base_url, api_key=served.api_key)
    return Pipeline(Note, system=SYSTEM, client=client, max_tokens=1_000, **options)


def test_sixty_four_rows_on_a_cold_cache_write_the_prefix_once(served: LocalEndpoint) -> None:
    report = pipeline(served).run(notes(64), key="id", store=":memory:").report
    counts = served.counts()

    assert report.accepted == 64
    assert counts["cache_writes"] == report.cache.prefix_writes == report.cache.leads == 1
    assert report.cache.hit_ratio == 1.0
    assert report.usage.cache_read == counts["usage"]["cache_read_input_tokens"]
    assert report.usage.cache_write_1h == counts["usage"]["ephemeral_1h_input_tokens"]
    assert report.usage.output == counts["usage"]["output_tokens"]


def test_a_limit_of_two_at_once_loses_no_row(served: LocalEndpoint) -> None:
    served.turn("concurrency=2")
    report = pipeline(served, cache=None).run(notes(40), key="id", store=":memory:").report

    assert (report.accepted, report.dead_letters, report.pending) == (40, 0, 0)
    assert 1 <= report.rate_limited <= 4


def test_half_the_budget_stops_and_the_rest_is_paid_once(served: LocalEndpoint, tmp_path: Path) -> None:
    full = pipeline(served, prices=PRICES).run(notes(60), key="id", store=":memory:").report
    assert full.cost is not None
    store = tmp_path / "half.duckdb"
    half = full.cost / 2
    pace = Pace(concurrency=8)
    served.reset()

    first = pipeline(served, prices=PRICES, budget=Budget(usd=half), pace=pace).run(
        notes(60), key="id", store=store
    )
    assert first.report.stopped is not None and first.report.stopped.reason == "budget"
    assert first.report.exit_status == 4 and 0 < first.report.accepted < 60
    most_of_one = Decimal(1_000 * 10 + 4_000 * 4) / 1_000_000
    assert first.report.cost is not None and first.report.cost <= half + 8 * most_of_one

    second = pipeline(served, prices=PRICES).run(notes(60), key="id", store=store)
    assert second.report.accepted == 60 and second.report.pending == 0
    assert second.report.cost is not None
    paid = first.report.cost + second.report.cost
    assert abs(paid - full.cost) <= Decimal("0.02")
    assert served.counts()["rows_answered_again"] == 0


def test_a_budget_in_requests_is_never_passed(served: LocalEndpoint) -> None:
    run = pipeline(served, budget=Budget(requests=10)).run(notes(30), key="id", store=":memory:")

    assert served.counts()["requests"] == 10
    assert (run.report.accepted, run.report.pending) == (10, 20)


def test_dollars_without_a_price_stop_before_anything_is_sent(served: LocalEndpoint) -> None:
    with pytest.raises(PriceError, match=r"Prices\.listed"):
        pipeline(served, budget=Budget(usd=1)).run(notes(3), key="id", store=":memory:")
    assert served.counts()["requests"] == 0
