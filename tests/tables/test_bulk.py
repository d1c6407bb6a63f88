"""A table made a column at a time is the one made row by row, whatever the model."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, RootModel

from extract.schema.column_json import MisfitError
from extract.schema.columns import columns_of
from extract.tables.bulk import frame_of_values

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=5)


class Colour(Enum):
    red = "r"
    blue = "b"


class Line(BaseModel):
    what: str
    pieces: int | None = None


class Parcel(BaseModel):
    name: str
    weight: float | None
    urgent: bool = False
    kind: Literal["box", "tube"] | None = None
    colour: Colour
    stops: list[str] = []
    codes: set[int] = set()
    grid: list[list[float]] | None = None
    lines: list[Line] = []
    value: Annotated[Decimal, Field(max_digits=8, decimal_places=2)] = Decimal(0)
    sent: dt.datetime | dt.date | None = None
    either: int | str = 0
    shown: Annotated[str, PlainSerializer(str.upper)] = "x"
    day: dt.date | None = None


LINES = st.builds(Line, what=TEXTS, pieces=st.none() | st.integers(-9, 9))
PARCELS = st.builds(
    Parcel,
    name=TEXTS,
    weight=st.none() | st.floats(),
    urgent=st.booleans(),
    kind=st.sampled_from([None, "box", "tube"]),
    colour=st.sampled_from(Colour),
    stops=st.lists(TEXTS, max_size=3),
    codes=st.sets(st.integers(0, 9), max_size=3),
    grid=st.none() | st.lists(st.lists(st.floats(), max_size=2), max_size=2),
    lines=st.lists(LINES, max_size=2),
    value=st.sampled_from([Decimal("1.50"), Decimal(7)]),
    sent=st.none() | st.dates(),
    either=st.integers() | TEXTS,
    shown=TEXTS,
    day=st.none() | st.dates(),
)


def by_row(model: Any, values: list[Any]) -> pl.DataFrame:
    columns = columns_of(model)
    return columns.frame([columns.row(value) for value in values])


@settings(max_examples=60, deadline=None)
@given(st.lists(PARCELS, max_size=6))
def test_it_is_the_table_made_row_by_row(parcels: list[Parcel]) -> None:
    made, rows = frame_of_values(columns_of(Parcel), parcels), by_row(Parcel, parcels)
    assert made.schema == rows.schema
    assert repr(made.to_dicts()) == repr(rows.to_dicts())


@pytest.mark.parametrize(
    ("model", "values"),
    [
        (RootModel[str], [RootModel[str]("a"), RootModel[str]("")]),
        (str, ["a", "b"]),
        (int | None, [None, None]),
        (float, [1.0, 2]),
        (Literal["a", 1], ["a", 1]),
        (list[Colour], [[Colour.red], []]),
    ],
)
def test_so_for_a_root_that_is_no_object(model: Any, values: list[Any]) -> None:
    made, rows = frame_of_values(columns_of(model), values), by_row(model, values)
    assert made.schema == rows.schema and made.rows() == rows.rows()


class Count(BaseModel):
    model_config = ConfigDict(extra="allow")
    n: int


@pytest.mark.parametrize("value", [Count(n=2**63), Count.model_construct(n="1"), Count(n=1, more=2)])
def test_what_a_column_cannot_hold_is_refused_as_by_row(value: Count) -> None:
    with pytest.raises(MisfitError):
        by_row(Count, [Count(n=1), value])
    with pytest.raises(MisfitError):
        frame_of_values(columns_of(Count), [Count(n=1), value])


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(MisfitError):
        frame_of_values(columns_of(list[str]), [["a"], ["\ud800"]])
