"""jsonschema-rs beside jsonschema: the quick yes says yes to nothing that the judge would refuse, and to
nearly all that it would take; the schemas are those that models compile to.
"""

from __future__ import annotations

import copy
from datetime import date, datetime
from decimal import Decimal
from enum import IntEnum
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from extract import compile_schema
from extract.schema import check
from extract.schema.quick import quick_yes

pytest.importorskip("jsonschema_rs")


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Part(BaseModel):
    name: Annotated[str, Field(min_length=1, max_length=6, pattern=r"^[a-z]+$")]
    size: Annotated[int, Field(ge=0, lt=100)]
    parts: list[Part] = []


class Boat(BaseModel):
    kind: Literal["boat"]
    sails: int


class Cart(BaseModel):
    kind: Literal["cart"]
    wheels: Literal[2, 4]


class Everything(BaseModel):
    """All that a schema can say."""

    text: str
    number: float
    whole: int
    yes: bool
    level: Level
    choice: Literal["a", "b", 3, True, None]
    day: date
    at: datetime
    price: Annotated[Decimal, Field(max_digits=8, decimal_places=2)]
    ident: UUID
    maybe: int | None
    either: int | str | list[float]
    step: Annotated[float, Field(multiple_of=0.25, gt=-1)]
    counted: Annotated[list[int], Field(min_length=1, max_length=3)]
    by_name: dict[str, int]
    by_number: dict[int, float]
    pair: tuple[int, str]
    carrier: Boat | Cart
    part: Part


GOOD: dict[str, Any] = {
    "text": "x",
    "number": 1.5,
    "whole": 3,
    "yes": True,
    "level": 1,
    "choice": 3,
    "day": "2026-01-02",
    "at": "2026-01-02T03:04:05Z",
    "price": "12.50",
    "ident": "12345678-1234-5678-1234-567812345678",
    "maybe": None,
    "either": [1.0],
    "step": 0.5,
    "counted": [1],
    "by_name": [{"key": "a", "value": 1}],
    "by_number": [{"key": 1, "value": 0.5}],
    "pair": {"item_1": 1, "item_2": "x"},
    "carrier": {"kind": "cart", "wheels": 4},
    "part": {"name": "bolt", "size": 1, "parts": [{"name": "nut", "size": 0, "parts": []}]},
}
MODELS = [Everything, Part, list[Boat], int | str, Level]

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 5),
    st.sampled_from([1.0, 4.0, 0.25, -0.0, 1e300, 2**53 + 1, 10**30, 10**320, -1, 99, 100]),
    st.sampled_from(
        ["", "a", "b", "boat", "bolt", "bolt\n", "2026-01-02", "1", "NaN", "x" * 7, "12.505", "ü"]
    ),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["key", "value", "kind", "sails", "name", "size"]), inner, max_size=3
        ),
    ),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner: Any = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    return [path, *(place for key, one in inner for place in places(one, (*path, key)))]


def changed(value: Any, path: tuple[Any, ...], new: Any, *, how: str) -> Any:
    """A copy with one place replaced, taken out or doubled."""
    if not path:
        return new
    out = copy.deepcopy(value)
    holder = out
    for key in path[:-1]:
        holder = holder[key]
    if how == "drop":
        del holder[path[-1]]
    elif how == "double" and isinstance(holder, list):
        holder.append(copy.deepcopy(holder[path[-1]]))
    elif how == "extra" and isinstance(holder, dict):
        holder["more"] = new
    else:
        holder[path[-1]] = new
    return out


def both(model: Any) -> tuple[Any, Any]:
    judge = compile_schema(model)._checker._judge
    quick = quick_yes(judge, lambda part: check._built(part).is_valid)
    assert quick is not None, "jsonschema-rs takes every schema that we compile"
    return quick, check._built(judge).is_valid


PAIRS = {str(model): both(model) for model in MODELS}


def test_it_says_yes_to_what_is_right() -> None:
    quick, judge = PAIRS[str(Everything)]
    assert judge(GOOD) and quick(GOOD)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_they_agree_on_answers_with_one_thing_changed(data: st.DataObject) -> None:
    quick, judge = PAIRS[str(Everything)]
    path = data.draw(st.sampled_from(places(GOOD)))
    how = data.draw(st.sampled_from(["replace", "drop", "double", "extra"]))
    value = changed(GOOD, path, data.draw(VALUES), how=how)
    assert quick(value) == judge(value), (path, how)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(MODELS), VALUES)
def test_they_agree_on_anything(model: Any, value: Any) -> None:
    quick, judge = PAIRS[str(model)]
    assert quick(value) == judge(value)


@pytest.mark.parametrize(
    "text", ['{"value":1.0}', '{"value":true}', '{"value":1}', '{"value":"x"}', '{"value":1e400}']
)
def test_a_check_ends_the_same_with_and_without_it(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with_it = compile_schema(int | str).check(text)
    monkeypatch.setattr(check, "quick_yes", lambda *given: None)
    assert compile_schema(int | str).check(text) == with_it
