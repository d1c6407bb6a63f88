"""Columns made a level at a time are those that Polars makes of the values one by one."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extract.schema.column_series import series_of

LEAVES: list[tuple[pl.DataType, st.SearchStrategy[Any]]] = [
    (pl.String(), st.text(st.characters(exclude_categories=("Cs",)), max_size=4)),
    (pl.Int64(), st.integers(-(2**63), 2**63 - 1)),
    (pl.Float64(), st.floats()),
    (pl.Boolean(), st.booleans()),
    (pl.Binary(), st.binary(max_size=3)),
    (pl.Enum(["a", "b"]), st.sampled_from(["a", "b"])),
    (pl.Date(), st.dates(dt.date(1, 1, 1))),
    (pl.Datetime("us", "UTC"), st.datetimes(timezones=st.just(dt.UTC))),
    (pl.Duration("us"), st.timedeltas()),
    (pl.Decimal(20, 3), st.decimals(-(10**9), 10**9, places=3).map(lambda n: n.quantize(Decimal("0.001")))),
]


@st.composite
def kinds(draw: st.DrawFn, depth: int = 2) -> tuple[pl.DataType, st.SearchStrategy[Any]]:
    """A dtype and a strategy for its values, null among them."""
    form = draw(st.sampled_from(["leaf", "list", "struct"])) if depth else "leaf"
    if form == "leaf":
        dtype, values = draw(st.sampled_from(LEAVES))
        return dtype, st.none() | values
    if form == "list":
        dtype, values = draw(kinds(depth - 1))
        return pl.List(dtype), st.none() | st.lists(values, max_size=3)
    fields = {name: draw(kinds(depth - 1)) for name in draw(st.sampled_from(["a", "ab"]))}
    struct = pl.Struct({name: dtype for name, (dtype, _) in fields.items()})
    return struct, st.none() | st.fixed_dictionaries({name: values for name, (_, values) in fields.items()})


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_it_is_the_column_that_polars_makes(data: st.DataObject) -> None:
    dtype, value = data.draw(kinds())
    values = data.draw(st.lists(value, max_size=5))
    made, plain = series_of("c", values, dtype), pl.Series("c", values, dtype=dtype, strict=True)
    assert made.dtype == plain.dtype and made.name == plain.name
    assert repr(made.to_list()) == repr(plain.to_list())
    assert made.is_null().to_list() == plain.is_null().to_list()


def test_what_does_not_fit_is_refused_at_any_depth() -> None:
    with pytest.raises(TypeError):
        series_of("c", [["a"], [1]], pl.List(pl.String()))
    with pytest.raises(TypeError):
        series_of("c", [[{"a": 1}, {"a": "b"}]], pl.List(pl.Struct({"a": pl.Int64()})))
