"""The quick yes beside jsonschema: it says yes to nothing that the judge would refuse, and to nearly all
that it would take; the schemas are those that models compile to, in each dialect.
"""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from datetime import date, datetime
from decimal import Decimal
from enum import IntEnum
from ipaddress import IPv4Address
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from typing_extensions import TypeAliasType

from extract import compile_schema
from extract.schema import check
from extract.schema.jsontext import MAX_BITS, MAX_DEPTH, inspect
from extract.schema.quick import quick_yes


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


Tree = TypeAliasType("Tree", "list[Tree] | int | None")


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
    code: Annotated[str, Field(pattern=r"^[a-z]+\d{2}$")]
    host: IPv4Address
    tree: Tree
    part: Part


RIGHT: dict[str, Any] = {
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
    "by_name": {"a": 1},
    "by_number": {"1": 0.5},
    "pair": [1, "x"],
    "carrier": {"kind": "cart", "wheels": 4},
    "code": "ab12",
    "host": "10.0.0.1",
    "tree": [1, [None]],
    "part": {"name": "bolt", "size": 1, "parts": [{"name": "nut", "size": 0, "parts": []}]},
}
MODELS = [Everything, Part, list[Boat], int | str, Level]
DIALECTS = ["kimi", "anthropic", "openai"]

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 5),
    st.sampled_from([1.0, 4.0, 0.25, -0.0, 1e300, 2**53 + 1, 10**30, 10**320, -1, 99, 100]),
    st.sampled_from(
        ["", "a", "b", "boat", "bolt", "bolt\n", "2026-01-02", "1", "NaN", "x" * 7, "12.505", "ü"]
    ),
    st.sampled_from(["ab12", "ab12\n", "10.0.0.2"]),
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


def both(model: Any, dialect: str) -> tuple[Any, Any]:
    judge = compile_schema(model, dialect)._checker._judge
    return quick_yes(judge, lambda part: check._built(part).is_valid), check._built(judge).is_valid


def wire(dialect: str) -> Any:
    """What is right, in the wire shape of a dialect."""
    return json.loads(compile_schema(Everything, dialect).encode(json.dumps(RIGHT)))


GOOD = {dialect: wire(dialect) for dialect in DIALECTS}
PAIRS = {(str(model), dialect): both(model, dialect) for model in MODELS for dialect in DIALECTS}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_it_says_yes_to_what_is_right(dialect: str) -> None:
    quick, judge = PAIRS[str(Everything), dialect]
    assert judge(GOOD[dialect]) and quick(GOOD[dialect])


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_they_agree_on_answers_with_one_thing_changed(data: st.DataObject) -> None:
    dialect = data.draw(st.sampled_from(DIALECTS))
    quick, judge = PAIRS[str(Everything), dialect]
    good = GOOD[dialect]
    path = data.draw(st.sampled_from(places(good)))
    how = data.draw(st.sampled_from(["replace", "drop", "double", "extra"]))
    value = changed(good, path, data.draw(VALUES), how=how)
    assert quick(value) == judge(value), (path, how)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(MODELS), st.sampled_from(DIALECTS), VALUES)
def test_they_agree_on_anything(model: Any, dialect: str, value: Any) -> None:
    quick, judge = PAIRS[str(model), dialect]
    assert quick(value) == judge(value)


NUMBERS = st.sampled_from([2**MAX_BITS - 1, 2**MAX_BITS, -(2**MAX_BITS), float("inf"), float("nan"), 1e300])


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_what_it_takes_could_be_read(data: st.DataObject) -> None:
    dialect = data.draw(st.sampled_from(DIALECTS))
    path = data.draw(st.sampled_from(places(GOOD[dialect])))
    value = changed(GOOD[dialect], path, data.draw(NUMBERS), how="replace")
    if PAIRS[str(Everything), dialect][0](value):
        inspect(value)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "string"}}, "required": []},
        {"type": "string", "anyOf": [{"type": "string"}]},
        {"$ref": "#/$defs/a", "minLength": 1, "$defs": {"a": {"type": "string"}}},
        {"type": ["string", "null"]},
    ],
)
def test_a_schema_in_another_form_is_left_to_the_judge(schema: Any) -> None:
    quick = quick_yes(schema, lambda part: check._built(part).is_valid)
    assert not any(quick(value) for value in (None, "x", {"a": "x"}, {}))


@pytest.mark.parametrize(
    "text",
    [
        *('{"value":1.0}', '{"value":true}', '{"value":1}', '{"value":"x"}', '{"value":1e400}'),
        '{"value":' + "9" * 3_900 + "}",
        '{"value":' + "9" * 4_000 + "}",
        *('{"value":' + "[" * deep + "]" * deep + "}" for deep in (1, MAX_DEPTH - 1, MAX_DEPTH, 150, 250)),
    ],
)
@pytest.mark.parametrize("model", [int | str, float, Tree])
def test_a_check_ends_the_same_with_and_without_it(
    model: Any, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_it = compile_schema(model).check(text)
    monkeypatch.setattr(check, "quick_yes", lambda *given: lambda value: False)
    assert compile_schema(model).check(text) == with_it


def test_a_right_answer_needs_no_jsonschema() -> None:
    """It takes a second to import."""
    script = (
        "import sys; from pydantic import BaseModel; from extract import compile_schema\n"
        "class Row(BaseModel): name: str; size: int | None\n"
        'assert compile_schema(Row).check(\'{"name":"a","size":1}\') == Row(name=\'a\', size=1)\n'
        "assert 'jsonschema' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
