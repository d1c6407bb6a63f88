"""Any model, any values, any damage: the wire gives back what it got, and takes nothing that it must not."""

from __future__ import annotations

import copy
import enum
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from ipaddress import IPv4Address
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import AwareDatetime, BaseModel, Field, TypeAdapter, ValidationError, create_model

from extract.schema.check import Findings
from extract.schema.compile import CompiledSchema, compile_schema
from tests.dialect_lint import lint

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]


@dataclass(frozen=True)
class Kind:
    """A type and its values. `json`: what it looks like, so that unions can be told apart."""

    annotation: Any
    values: st.SearchStrategy[Any]
    json: str
    hashable: bool = True


class Colour(enum.Enum):
    RED = "red"
    ODD = "Ünïcode \n"


class Level(enum.IntEnum):
    LOW = -1
    HIGH = 2**60


class Pair(NamedTuple):
    left: int
    right: str


class Tree(BaseModel):
    size: int
    below: list[Tree]


class Chain(BaseModel):
    link: dict[str, Chain] | None


ODD = ["\0", "null", "🙂", "a\u2028b", "NaN", "\ufeff", "```", '"', "1"]
WORDS = st.text(max_size=6) | st.sampled_from(ODD)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
TREES: st.SearchStrategy[Any] = st.recursive(
    st.builds(lambda n: Tree(size=n, below=[]), st.integers()),
    lambda more: st.builds(
        lambda n, below: Tree(size=n, below=below), st.integers(), st.lists(more, max_size=2)
    ),
    max_leaves=4,
)
CHAINS: st.SearchStrategy[Any] = st.recursive(
    st.just(Chain(link=None)),
    lambda more: st.builds(lambda link: Chain(link=link), st.dictionaries(WORDS, more, max_size=2)),
    max_leaves=3,
)


def unfolded(moment: Any) -> Any:
    return moment.replace(fold=0)


def money(number: int) -> Decimal:
    return Decimal(number).scaleb(-2)


SCALARS = [
    Kind(str, WORDS, "string"),
    Kind(Annotated[str, Field(min_length=1, max_length=4)], st.text(min_size=1, max_size=4), "string"),
    Kind(Annotated[str, Field(pattern="^[a-c]+$")], st.text("abc", min_size=1, max_size=4), "string"),
    Kind(int, st.integers(), "number"),
    Kind(Annotated[int, Field(gt=-5, le=5)], st.integers(-4, 5), "number"),
    Kind(Annotated[int, Field(multiple_of=3)], st.integers(-9, 9).map(lambda n: n * 3), "number"),
    Kind(float, FINITE, "number"),
    Kind(Annotated[float, Field(ge=0, lt=1)], st.floats(0, 1, exclude_max=True), "number"),
    Kind(bool, st.booleans(), "boolean"),
    Kind(Decimal, st.decimals(allow_nan=False, allow_infinity=False), "string"),
    Kind(
        Annotated[Decimal, Field(max_digits=6, decimal_places=2, ge=0)],
        st.integers(0, 999_999).map(money),
        "string",
    ),
    Kind(date, st.dates(), "string"),
    Kind(datetime, st.datetimes().map(unfolded), "string"),
    Kind(AwareDatetime, st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30), timezones=OFFSETS), "string"),
    Kind(time, st.times().map(unfolded), "string"),
    Kind(timedelta, st.timedeltas(timedelta(-10_000), timedelta(10_000)), "string"),
    Kind(UUID, st.uuids(), "string"),
    Kind(IPv4Address, st.ip_addresses(v=4), "string"),
    Kind(bytes, WORDS.map(str.encode), "string"),
    Kind(Colour, st.sampled_from(Colour), "string"),
    Kind(Level, st.sampled_from(Level), "number"),
    Kind(Literal["yes", "no"], st.sampled_from(["yes", "no"]), "string"),
    Kind(Literal["auto", 1, None], st.sampled_from(["auto", 1, None]), "mixed"),
    Kind(Literal[True], st.just(True), "boolean"),
    Kind(Pair, st.builds(Pair, st.integers(), WORDS), "array"),
    Kind(Tree, TREES, "object", hashable=False),
    Kind(Chain, CHAINS, "object", hashable=False),
]
AS_KEYS = (str, int, date, UUID, Colour, Level, Literal["yes", "no"])
KEYS = [kind for kind in SCALARS if kind.annotation in AS_KEYS]


def optional(kind: Kind) -> Kind:
    return Kind(kind.annotation | None, st.none() | kind.values, "mixed", kind.hashable)


def listed(kind: Kind) -> Kind:
    return Kind(list[kind.annotation], st.lists(kind.values, max_size=3), "array", hashable=False)


def bounded(kind: Kind) -> Kind:
    annotation = Annotated[list[kind.annotation], Field(min_length=1, max_length=2)]
    return Kind(annotation, st.lists(kind.values, min_size=1, max_size=2), "array", hashable=False)


def as_set(kind: Kind) -> Kind:
    if not kind.hashable:
        return listed(kind)
    return Kind(set[kind.annotation], st.sets(kind.values, max_size=3), "array", hashable=False)


def paired(kind: Kind) -> Kind:
    annotation = tuple[kind.annotation, bool]
    return Kind(annotation, st.tuples(kind.values, st.booleans()), "array", kind.hashable)


@st.composite
def mapped(draw: st.DrawFn, kind: Kind) -> Kind:
    key = draw(st.sampled_from(KEYS))
    values = st.dictionaries(key.values, kind.values, max_size=3)
    return Kind(dict[key.annotation, kind.annotation], values, "object", hashable=False)


@st.composite
def united(draw: st.DrawFn, kinds: st.SearchStrategy[Kind]) -> Kind:
    """Two types of different JSON types, so that a value names its branch."""
    one, two = draw(kinds), draw(kinds)
    if one.json == two.json or "mixed" in (one.json, two.json):
        return one
    return Kind(one.annotation | two.annotation, one.values | two.values, "mixed", hashable=False)


NAMES = st.sampled_from(["a", "b", "größe", "type", "required", "anyOf", "Name", "name", "value", "items"])


@st.composite
def modelled(draw: st.DrawFn, kinds: st.SearchStrategy[Kind]) -> Kind:
    fields = draw(st.dictionaries(NAMES, kinds, min_size=1, max_size=4))
    definitions: dict[str, Any] = {
        f"f{index}": (kind.annotation, Field(alias=name)) for index, (name, kind) in enumerate(fields.items())
    }
    model = create_model("Made", **definitions)
    values = st.fixed_dictionaries({name: kind.values for name, kind in fields.items()})
    return Kind(model, values.map(lambda given: _made(model, given)), "object", hashable=False)


def _made(model: type[BaseModel], given: dict[str, Any]) -> BaseModel:
    return model.model_construct(
        **{name: given[str(info.alias)] for name, info in model.model_fields.items()}
    )


KINDS: st.SearchStrategy[Kind] = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: st.one_of(
        inner.map(optional),
        inner.map(listed),
        inner.map(bounded),
        inner.map(as_set),
        inner.map(paired),
        inner.flatmap(mapped),
        united(inner),
        modelled(inner),
    ),
    max_leaves=4,
)
MODELS = modelled(KINDS)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["kimi", "openai"])
@given(st.data())
@settings(max_examples=400, deadline=None, suppress_health_check=SLOW)
def test_what_is_encoded_is_what_comes_back(dialect: str, data: st.DataObject) -> None:
    kind = data.draw(MODELS)
    compiled = compile_schema(kind.annotation, dialect)
    assert lint(compiled.schema, dialect) == []
    for value in data.draw(st.lists(kind.values, min_size=1, max_size=3)):
        text = compiled.encode(value)
        got = compiled.check(text)
        assert not isinstance(got, Findings), ([str(finding) for finding in got], text)
        assert got == value
        assert compiled.load(text) == got
        assert compiled.encode(got) == text


@given(st.data())
@settings(max_examples=200, deadline=None, suppress_health_check=SLOW)
def test_any_root_comes_back(data: st.DataObject) -> None:
    kind = data.draw(KINDS.filter(lambda kind: kind.json not in ("string", "mixed")))
    compiled = compile_schema(kind.annotation)
    value = data.draw(kind.values)
    text = compiled.encode(value)
    got = compiled.check(text)
    assert not isinstance(got, Findings) or isinstance(value, Findings), [str(finding) for finding in got]
    assert got == value and compiled.load(text) == value


JUNK = [
    *(None, True, False, 0, 1, -1, 1.0, 1.5, -0.0, 10**30, 2**53 + 1),
    *("", "x", "1", "true", "null", "2024", "2024-01-01", "2024-01-01T00:00:00", "1704067200", "yes", "red"),
    *([], {}, [None], {"a": 1}, [[]], {"key": "a", "value": 1}),
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in a JSON value."""
    yield path
    steps: Any = value.items() if isinstance(value, dict) else ()
    for step, item in enumerate(value) if isinstance(value, list) else steps:
        yield from places(item, (*path, step))


@st.composite
def damaged(draw: st.DrawFn, value: Any) -> Any:
    """A JSON value with one thing changed: a value, a key too many or too few, an item twice or gone."""
    value = copy.deepcopy(value)
    path = draw(st.sampled_from(list(places(value))))
    here = value
    for step in path:
        here = here[step]
    changes: list[str] = ["replace"]
    if isinstance(here, dict):
        changes += ["extra", *(["drop"] if here else [])]
    if isinstance(here, list) and here:
        changes += ["double", "shorten"]
    change = draw(st.sampled_from(changes))
    if change == "extra":
        here["surplus"] = draw(st.sampled_from(JUNK))
    elif change == "drop":
        del here[draw(st.sampled_from(list(here)))]
    elif change == "double":
        here.append(copy.deepcopy(here[0]))
    elif change == "shorten":
        here.pop()
    elif not path:
        return draw(st.sampled_from(JUNK))
    else:
        parent = value
        for step in path[:-1]:
            parent = parent[step]
        parent[path[-1]] = draw(st.sampled_from(JUNK))
    return value


def judged(compiled: CompiledSchema[Any], text: str) -> Any:
    """The value, or None where it is refused on either way."""
    try:
        got = compiled.check(compiled.encode(text))
    except ValueError:
        return None
    return None if isinstance(got, Findings) else got


@pytest.mark.slow
@given(st.data())
@settings(max_examples=700, deadline=None, suppress_health_check=SLOW)
def test_nothing_is_taken_that_strict_pydantic_refuses(data: st.DataObject) -> None:
    kind = data.draw(MODELS)
    adapter: TypeAdapter[Any] = TypeAdapter(kind.annotation)
    compiled = compile_schema(kind.annotation)
    good = json.loads(adapter.dump_json(data.draw(kind.values), by_alias=True))
    for bad in [data.draw(damaged(good)) for _ in range(4)]:
        text = json.dumps(bad)
        got = judged(compiled, text)
        if got is None:
            continue
        try:
            value = adapter.validate_json(text, strict=True)
        except ValidationError as error:
            raise AssertionError(f"taken: {text}") from error
        assert got == value
        again = json.loads(adapter.dump_json(value, by_alias=True))
        assert same_keys(again, bad), f"a key too many or too few was taken: {text}"


def same_keys(one: Any, two: Any) -> bool:
    """Whether two JSON values have the same objects and as many items; a set has no order."""
    if isinstance(one, dict) and isinstance(two, dict):
        return len(one) == len(two)
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two)
    return type(one) is type(two) or {type(one), type(two)} == {int, float}


@given(st.text(max_size=40) | st.sampled_from(['{"a":', "[[", "```json\n{}\n```", '{"a":1}{"a":1}', "nul"]))
@settings(max_examples=300, deadline=None)
def test_any_text_at_all_is_judged_and_never_raises(text: str) -> None:
    compiled = compile_schema(create_model("M", a=(int, ...)))
    got = compiled.check(text)
    assert isinstance(got, Findings) or got.a is not None


JSON = st.recursive(
    st.sampled_from(JUNK), lambda more: st.lists(more) | st.dictionaries(st.text(max_size=3), more)
)


@given(JSON)
@settings(max_examples=300, deadline=None)
def test_any_json_at_all_is_judged_with_places_and_words(value: Any) -> None:
    class Line(BaseModel):
        key: str
        amounts: dict[str, tuple[int, Decimal]] | list[int] | None

    compiled = compile_schema(list[Line])
    got = compiled.check(json.dumps({"items": value}))
    if isinstance(got, Findings):
        assert all(one.expected and one.path.startswith(("/", "")) and len(one.found) <= 120 for one in got)
        assert all(one.wire_path.startswith("/items") for one in got)
