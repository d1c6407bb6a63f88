"""Figures of a run from its store, and the numbers and charts that are made of them."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from pydantic import BaseModel

from extract import Client, Pipeline, Prices
from extract.errors import ConfigError
from extract.show import figures_of, report_page
from extract.show.charts import Axis, Series, bars, lines
from extract.show.figures import BINS, field_of
from extract.show.numbers import money, percent, seconds, short, ticks
from extract.store import Store
from extract.testing.endpoint.local import LocalEndpoint


class Bottle(BaseModel):
    """A bottle."""

    label: str
    litres: float | None


ROWS = [{"id": i, "text": f"Label: Brook {i}\nLitres: {i / 4}"} for i in range(30)] + [
    {"id": 99, "text": "nothing here"}
]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("figures") / "bottles.duckdb"
    with LocalEndpoint("err500=0.1,seed=3") as endpoint:
        client = Client(endpoint.base_url, api_key=endpoint.api_key)
        pipeline = Pipeline(Bottle, client=client, prices=Prices(input=2, output=10))
        pipeline.run(pl.DataFrame(ROWS), key="id", store=path)
        pipeline.run(pl.DataFrame(ROWS), key="id", store=path)
    return path


def test_figures_add_up_to_the_rows_and_requests_of_the_run(path: Path) -> None:
    with Store.open(path) as store:
        figures = figures_of(store)
        calls = store.calls()
    assert figures.spans is not None
    assert figures.spans.done[-1] == figures.counts["accepted"] + figures.counts["dead_letters"] == 31
    assert sum(figures.spans.hits) + sum(figures.spans.misses) == calls.filter(pl.col("status") == 200).height
    assert figures.requests == calls.height
    assert sum(number for _, number in figures.latency_bars) == calls.filter(pl.col("status") == 200).height
    assert max(figures.spans.in_flight) <= 64 and len(figures.spans.ended) == BINS
    assert figures.asked_again == [("label", 2)]
    assert figures.letters["invalid"][0] == 1
    assert figures.cost == calls["cost"].sum()


def test_the_last_run_that_asked_is_shown_unless_another_is_named(path: Path) -> None:
    with Store.open(path) as store:
        ids = list(store.runs()["run_id"])
        assert figures_of(store).run["run_id"] == ids[0]
        idle = figures_of(store, ids[1])
        with pytest.raises(ConfigError, match="0 runs"):
            figures_of(store, "1999")
    assert idle.spans is None and idle.requests == 0
    assert "<h1>Bottle</h1>" in report_page(idle)


def test_a_run_that_was_killed_has_a_page(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "killed.duckdb"
    copy.write_bytes(path.read_bytes())
    with Store.open(copy) as store:
        store.with_connection(
            lambda con: con.execute(
                "UPDATE extract.runs SET counts = NULL, finished_at = NULL, state = 'killed'"
            )
        )
        page = report_page(figures_of(store))
    assert "ended without saying so" in page


def test_a_store_without_runs_says_so() -> None:
    with Store.open(":memory:") as store, pytest.raises(ConfigError, match="holds no run"):
        figures_of(store)


@pytest.mark.parametrize(
    ("path", "field"),
    [("/lines/3/amount", "lines.amount"), ("", "(whole answer)"), ("/a~1b/c~0d", "a/b.c~d")],
)
def test_a_pointer_is_told_as_a_field(path: str, field: str) -> None:
    assert field_of(path) == field


def test_numbers_are_written_as_people_read_them() -> None:
    assert [short(n) for n in (0, 7, 1234, 5_600_000)] == ["0", "7", "1.23k", "5.6M"]
    assert [seconds(n) for n in (0.25, 2.44, 200, 7500)] == ["250 ms", "2.4 s", "3 min 20 s", "2 h 5 min"]
    assert [percent(n) for n in (0.5, 0.9999, 1, 0.0001)] == [
        "50\u202f%",
        "99.9\u202f%",
        "100\u202f%",
        "0.01\u202f%",
    ]
    assert [money(n) for n in (None, 0, "0.000946", "12.5")] == ["–", "$0", "$0.000946", "$12.50"]


@pytest.mark.parametrize("top", [0.003, 0.9, 1, 7, 99, 101, 12345])
def test_ticks_are_few_round_and_reach_the_top(top: float) -> None:
    found = ticks(top)
    assert found[0] == 0 and found[-1] >= top * 0.999 and 2 <= len(found) <= 6


def test_a_chart_says_what_it_shows_and_has_its_figures_as_a_table() -> None:
    axis = Axis(["a", "b<"], "letters")
    for draw in (bars, lines):
        made = draw("Counts", "b is more.", axis, [Series("n", [1, 3])])
        assert 'aria-label="Counts. b is more."' in made
        assert re.search(r"<th scope=\"row\">b&lt;</th><td class=\"num\">3</td>", made)


def test_an_empty_chart_is_drawn_all_the_same() -> None:
    assert "<svg" in bars("Nothing", "No values.", Axis([]), [Series("n", [])])
    assert "<svg" in lines("Nothing", "No values.", Axis([]), [Series("n", [])])
