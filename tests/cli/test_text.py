"""Tables fit the terminal, and values stay on one line."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from extract.cli.text import as_json, cell, plural, table


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "–"),
        (True, "yes"),
        (Decimal("1.50"), "1.50"),
        (0.01564292, "0.01564"),
        (123456.7, "123,457"),
        (datetime(2026, 5, 4, 6, 7, 8, 9, tzinfo=UTC), "2026-05-04 06:07:08Z"),
        (date(2026, 5, 4), "2026-05-04"),
        ("two\n lines\t and  gaps", "two lines and gaps"),
        ("red \x1b[31malert\x07", "red [31malert"),
        (["a", "b"], "a, b"),
        ([], "none"),
        ([{"x": 1}, {"x": 2}], "2 items"),
        ({"x": 1, "y": None}, "x: 1, y: –"),
    ],
)
def test_cells(value: object, shown: str) -> None:
    assert cell(value) == shown


def test_numbers_stand_right_and_text_left() -> None:
    rows = [{"name": "a", "n": 5}, {"name": "bcd", "n": 1234}, {"name": "e", "n": None}]
    assert table(rows, ["name", "n"], width=80).splitlines() == [
        "name     n",
        "────  ────",
        "a        5",
        "bcd   1234",
        "e        –",
    ]


def test_no_line_is_wider_than_the_terminal() -> None:
    rows = [{f"column_{n}": "some words " * 9 for n in range(12)}]
    lines = table(rows, list(rows[0]), width=90).splitlines()
    assert max(map(len, lines[:-1])) <= 90
    assert lines[-1].startswith("(and column_")


def test_of_a_path_the_end_is_kept() -> None:
    shown = table([{"path": "data/invoices/2026/march/hartley.txt"}], ["path"], width=60, widest=16)
    assert shown.splitlines()[-1] == "…rch/hartley.txt"


def test_of_a_text_the_beginning_is_kept() -> None:
    assert table([{"t": "abcdefghijkl"}], ["t"], width=60, widest=8).splitlines()[-1] == "abcdefg…"


def test_wide_letters_take_two_places() -> None:
    lines = table([{"t": "請求書", "n": "x"}, {"t": "abc", "n": "y"}], ["t", "n"], width=60).splitlines()
    assert lines[2:] == ["請求書  x", "abc     y"]


def test_no_rows_is_a_head_alone() -> None:
    assert table([], ["a", "b"]).splitlines() == ["a  b", "─  ─"]


def test_plural() -> None:
    assert [plural(1, "row"), plural(2, "row"), plural(1200, "match", "matches")] == [
        "1 row",
        "2 rows",
        "1,200 matches",
    ]


def test_json_keeps_decimals_as_text() -> None:
    assert as_json({"a": Decimal("1.10"), "b": date(2026, 1, 2), "c": "ü"}) == (
        '{"a": "1.10", "b": "2026-01-02", "c": "ü"}'
    )


def test_columns_that_tell_least_go_first() -> None:
    rows = [{"key": n, "empty": None, "same": "x" * 20, "told": f"value {n} and more"} for n in range(4)]
    shown = table(rows, list(rows[0]), width=38, keep=["key"])
    assert shown.splitlines()[0].split() == ["key", "told"] or "told" in shown.splitlines()[0]
    assert "empty" in shown.splitlines()[-1]
