"""What a column keeps without a look: `plain` would have given the very same object back."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Any, Literal
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, HttpUrl, RootModel

from extract.schema.column_types import Shape
from extract.schema.columns import MisfitError, columns_of


class Colour(StrEnum):
    RED = "red"


class Floor(IntEnum):
    GROUND = 0


class Word(RootModel[str]):
    pass


class Inner(BaseModel):
    name: str
    floor: Floor


class Everything(BaseModel):
    text: str
    whole: int
    number: float
    yes: bool
    raw: bytes
    day: dt.date
    at: dt.datetime
    span: dt.timedelta
    price: Decimal
    ident: UUID
    address: HttpUrl
    choice: Literal["red", "blue"]
    colour: Colour
    word: Word
    words: list[str | None]
    inner: Inner
    by_name: dict[str, int]
    anything: Any


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.floats(),
    st.integers(-(2**65), 2**65),
    st.text(max_size=4),
    st.sampled_from(["red", "blue", "\ud800", Colour.RED, Floor.GROUND, Word("x"), Word("é")]),
    st.sampled_from([dt.date(2026, 1, 2), dt.datetime(2026, 1, 2), dt.timedelta(1), Decimal("1.5"), b"x"]),
    st.just(Inner(name="x", floor=Floor.GROUND)),
    st.lists(st.one_of(st.none(), st.text(max_size=2), st.integers()), max_size=2),
    st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
)
COLUMNS = columns_of(Everything)


def stays(shape: Shape, value: Any) -> bool:
    known = shape.stays
    return type(value) in known and ((test := known[type(value)]) is None or test(value))


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(COLUMNS.parts), VALUES)
def test_what_stays_is_what_plain_gives_back(part: Any, value: Any) -> None:
    if stays(part.shape, value):
        assert part.shape.plain(value) is value


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(COLUMNS.names), VALUES))
def test_a_row_is_each_part_made_plain(changes: dict[str, Any]) -> None:
    value = Everything.model_construct(**(dict.fromkeys(COLUMNS.names) | changes))
    wanted = told(lambda: {part.name: under(part, part.get(value)) for part in COLUMNS.parts})
    assert told(lambda: COLUMNS.row(value)) == wanted


def under(part: Any, value: Any) -> Any:
    try:
        return part.shape.plain(value)
    except MisfitError as misfit:
        raise misfit.under(part.name) from None


def told(make: Callable[[], Any]) -> str:
    """As text: NaN is not equal to itself."""
    try:
        return repr(make())
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("name", ["text", "whole", "number", "yes", "choice", "day"])
def test_the_usual_values_stay(name: str) -> None:
    usual = {"text": "x", "whole": 1, "number": 0.5, "yes": True, "choice": "red", "day": dt.date(2026, 1, 2)}
    part = next(part for part in COLUMNS.parts if part.name == name)
    assert stays(part.shape, usual[name]) and stays(part.shape, None)
