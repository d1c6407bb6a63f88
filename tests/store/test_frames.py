"""Columns are the same whether they were made in one go, from one repeated value, or value by value."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extract.store.frames import column_of
from extract.store.schema import COST, TIME

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "VARCHAR": st.sampled_from([None, "a", "b", "é", "\ud800", "x" * 20]),
    "BIGINT": st.sampled_from([None, 0, 1, True, 2**63, -(2**63)]),
    "DOUBLE": st.sampled_from([None, 0.0, -0.0, 1, 1.0, math.nan, math.inf]),
    "BOOLEAN": st.sampled_from([None, True, False]),
    "UINTEGER": st.sampled_from([0, 1, 2**32 - 1]),
    TIME: st.one_of(st.none(), st.floats(width=64), st.floats(0, 4e9), st.integers(0, 4_000_000_000)),
    COST: st.sampled_from([None, Decimal("0.1"), Decimal("0.25"), Decimal("NaN"), Decimal(10) ** 13]),
}


@st.composite
def columns(draw: st.DrawFn) -> tuple[str, list[Any]]:
    """A type and values of it, which mostly repeat one."""
    kind = draw(st.sampled_from(list(VALUES)))
    values = draw(st.lists(VALUES[kind], min_size=1, max_size=4))
    return kind, values * draw(st.integers(1, 9))


@settings(max_examples=150, deadline=None)
@given(columns())
def test_a_column_is_that_of_its_values_one_by_one(column: tuple[str, list[Any]]) -> None:
    kind, values = column
    made = column_of("c", kind, values)
    alone = [column_of("c", kind, [value]) for value in values]
    assert {one.dtype for one in alone} == {made.dtype}
    assert list(map(repr, made.to_list())) == [repr(one[0]) for one in alone]


@pytest.mark.parametrize("first", [1_796_008_873.6311655, 0.0000005, -0.0000015])
def test_times_in_one_go_are_rounded_as_python_rounds(first: float) -> None:
    values = [first + number * 5e-7 for number in range(500)]
    made = column_of("at", TIME, values).dt.epoch("us").to_list()
    assert made == [round(value * 1_000_000) for value in values]
