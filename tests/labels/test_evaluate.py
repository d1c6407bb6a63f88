"""Evaluation, agreement, comparison and samples, by their words."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal

import polars as pl
import pytest

from extract import labels
from extract.errors import ConfigError, InputError
from extract.labels.sample import shares

SAID = pl.DataFrame(
    {
        "id": ["1", "2", "3", "4"],
        "name": ["Ann  LEE", "Bo", "Cy", "Di"],
        "total": [Decimal("10.00"), Decimal("20.50"), Decimal("3.00"), None],
        "day": [date(2026, 1, 1), date(2026, 1, 2), None, date(2026, 1, 9)],
        "tags": [["x", "y"], [], ["z"], ["x"]],
    }
)
GOLD = [
    {"id": "1", "name": "Ann Lee", "total": "10", "day": "2026-01-01", "tags": ["y", "x"]},
    {"id": "2", "name": "Bob", "total": "20.49", "day": "2026-01-04"},
    {"id": "3", "total": None, "day": None},
    {"id": "9", "name": "nobody asked"},
]


def _score(evaluation: labels.Evaluation, name: str) -> dict[str, object]:
    return evaluation.fields.filter(pl.col("field") == name).row(0, named=True)


def test_missing_gold_is_not_wrong_and_null_is_a_value() -> None:
    found = labels.evaluate(SAID, GOLD, key="id")
    assert _score(found, "name")["rows"] == 2  # row 3 leaves the name out; row 9 was never asked for
    assert _score(found, "tags")["rows"] == 1
    total = _score(found, "total")
    assert total["rows"] == 3 and total["precision"] == 1 / 3  # row 3 has a total where there is none
    assert (found.gold, found.answered, found.correct) == (3, 3, 1)


def test_spelling_is_set_aside_for_a_match_only() -> None:
    name = _score(labels.evaluate(SAID, GOLD, key="id"), "name")
    assert (name["exact"], name["match"]) == (0.0, 0.5)
    assert 0.8 < float(str(name["likeness"])) < 1


def test_tolerance_is_in_units_and_in_days() -> None:
    strict = labels.evaluate(SAID, GOLD, key="id")
    kind = labels.evaluate(SAID, GOLD, key="id", tolerance={"total": 0.01, "day": timedelta(days=2)})
    assert _score(strict, "total")["match"] == pytest.approx(1 / 3)
    assert _score(kind, "total")["match"] == pytest.approx(2 / 3)
    assert (_score(strict, "day")["match"], _score(kind, "day")["match"]) == (pytest.approx(2 / 3), 1.0)
    assert _score(strict, "day")["error"] == 1.0


def test_lists_are_sets_unless_their_order_counts() -> None:
    assert _score(labels.evaluate(SAID, GOLD, key="id"), "tags")["match"] == 1.0
    assert _score(labels.evaluate(SAID, GOLD, key="id", ordered=["tags"]), "tags")["match"] == 0.0


def test_what_cannot_be_compared_is_said() -> None:
    with pytest.raises(InputError, match="key="):
        labels.evaluate(SAID, GOLD)
    with pytest.raises(InputError, match="no field is on both sides"):
        labels.evaluate(SAID, [{"id": "1", "other": 1}], key="id")
    with pytest.raises(InputError, match="no row is in both"):
        labels.evaluate(SAID, [{"id": "77", "name": "x"}], key="id")
    with pytest.raises(InputError, match="no field price"):
        labels.evaluate(SAID, GOLD, key="id", fields=["price"])
    with pytest.raises(ConfigError, match="no classes"):
        labels.evaluate(SAID, GOLD, key="id").confusion("tags")
    with pytest.raises(InputError, match="no file"):
        labels.evaluate(SAID, "nowhere.jsonl", key="id")


def test_everything_can_be_read_as_text_and_as_html() -> None:
    found = labels.evaluate(SAID, [*GOLD, {"id": "4", "name": "<b>Di</b>"}], key="id")
    assert "95 % interval" in str(found) and "&lt;b&gt;Di" in found._repr_html_()
    assert "<b>Di" not in found._repr_html_()
    agreed = labels.agreement(SAID, GOLD, key="id")
    assert "alpha" in agreed._repr_html_() and "alpha" in str(agreed)
    compared = labels.compare(SAID, GOLD, GOLD, key="id")
    assert "verdict" in str(compared) and "permutation" in compared._repr_html_()


def test_agreement_takes_gaps_and_more_raters() -> None:
    third = [{"id": "1", "name": "ann lee"}, {"id": "2", "name": "Bo"}]
    found = labels.agreement(SAID, GOLD, others=[third], key="id", fields=["name"])
    row = found.fields.row(0, named=True)
    assert row["rows"] == 2 and row["kappa"] is None and 0 < row["alpha"] < 1
    assert found.differences.rows() == [("2", "name", "Bo", "Bob", "Bo")]


def test_compare_names_the_rows_that_got_better_and_worse() -> None:
    gold = [{"id": str(i), "c": "yes"} for i in range(40)]
    first = [{"id": str(i), "c": "no" if i < 20 else "yes"} for i in range(40)]
    second = [{"id": str(i), "c": "no" if i == 39 else "yes"} for i in range(40)]
    found = labels.compare(first, second, gold, key="id")
    assert found.row.verdict == "better" and found.row.worse == ("39",) and len(found.row.better) == 20
    assert found.row.change.low > 0
    assert labels.compare(second, second, gold, key="id").row.verdict == "no difference"
    assert labels.compare(first[:22], second[:22], gold[19:22], key="id").row.verdict == "may be chance"
    assert found.changes.filter(pl.col("what") == "worse").rows() == [("39", "c", "worse")]


def test_a_sample_keeps_the_shares_and_the_order_and_is_the_same_each_time() -> None:
    frame = pl.DataFrame({"n": range(100), "group": ["a"] * 70 + ["b"] * 29 + ["c"]})
    found = labels.sample(frame, rows=10, by="group", seed=3)
    assert found["group"].to_list() == ["a"] * 7 + ["b"] * 2 + ["c"]
    assert found["n"].is_sorted() and found.equals(labels.sample(frame.lazy(), rows=10, by="group", seed=3))
    assert not found.equals(labels.sample(frame, rows=10, by="group", seed=4))
    assert labels.sample(frame, rows=1000).height == 100
    with pytest.raises(InputError, match="no column"):
        labels.sample(frame, rows=5, by="g")
    with pytest.raises(ConfigError):
        labels.sample(frame, rows=0)


@pytest.mark.parametrize(
    ("sizes", "rows"), [([5, 5], 3), ([1, 1, 98], 10), ([3], 9), ([10, 1, 1, 1], 2), ([0], 1)]
)
def test_shares_add_up_and_never_take_more_than_there_is(sizes: list[int], rows: int) -> None:
    taken = shares(sizes, rows)
    assert sum(taken) == min(rows, sum(sizes))
    assert all(0 <= t <= s for t, s in zip(taken, sizes, strict=True))
