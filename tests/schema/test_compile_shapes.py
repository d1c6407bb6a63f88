"""Every shape of model: what it becomes on the wire, and that replies come back exactly."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, NamedTuple, NotRequired, Optional, TypeVar

import pytest
from pydantic import BaseModel, ConfigDict, Field, Json, RootModel, create_model
from pydantic.dataclasses import dataclass as pydantic_dataclass
from typing_extensions import TypedDict

from extract.errors import ModelError
from extract.schema.check import Findings
from extract.schema.compile import CompiledSchema, compile_schema
from tests.dialect_lint import keywords, lint

DIALECTS = ("kimi", "anthropic", "openai")


class Stop(BaseModel):
    """One stop of a train."""

    station: str
    minute: int


@dataclasses.dataclass
class Fare:
    """What it costs."""

    cents: int
    zones: list[str] = dataclasses.field(default_factory=list)
    kind: str = dataclasses.field(default="adult", init=False)


@pydantic_dataclass
class Seat:
    coach: Annotated[int, Field(gt=0)]
    window: bool = False


class Extras(TypedDict):
    bikes: int
    remark: NotRequired[str]
    dog: NotRequired[bool | None]


class Leg(NamedTuple):
    start: str
    km: float
    note: str | None = None


class Journey(BaseModel):
    stops: list[Stop]
    fares: dict[str, Fare]
    seat: Seat | None
    extras: Extras
    legs: tuple[Leg, ...]
    where: tuple[float, float]
    mixed: tuple[dict[str, set[int]], list[tuple[int, str]]]


class Board(RootModel[dict[str, list[Stop]]]):
    """All stops by line."""


JOURNEY = (
    '{"stops":[{"station":"Ulm","minute":7}],'
    '"fares":{"a":{"cents":120,"zones":["A"]}},"seat":{"coach":3,"window":true},'
    '"extras":{"bikes":0,"dog":null},"legs":[["Ulm",1.5,null],["Bonn",2.0,"slow"]],'
    '"where":[1.0,2.5],"mixed":[{"k":[3,4]},[[1,"x"],[2,"y"]]]}'
)


def compiled(model: Any, dialect: str = "kimi") -> CompiledSchema[Any]:
    schema = compile_schema(model, dialect)
    assert lint(schema.schema, dialect) == []
    return schema


def back(schema: CompiledSchema[Any], value: Any) -> Any:
    got = schema.check(schema.encode(value))
    assert not isinstance(got, Findings), [str(finding) for finding in got]
    return got


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_model_of_everything_comes_back_from_the_wire(dialect: str) -> None:
    schema = compiled(Journey, dialect)
    value = back(schema, JOURNEY)
    assert value == Journey.model_validate_json(JOURNEY)
    assert back(schema, value) == value
    assert schema.load(schema.encode(value)) == value


def test_a_dict_is_a_list_of_pairs_and_a_tuple_an_object() -> None:
    wire = compiled(Journey).encode(JOURNEY)
    assert '"fares":[{"key":"a","value":{"cents":120,"zones":["A"]}}]' in wire
    assert '"where":{"item_1":1.0,"item_2":2.5}' in wire
    assert '"legs":[{"start":"Ulm","km":1.5,"note":null},{"start":"Bonn","km":2.0,"note":"slow"}]' in wire
    assert '"extras":{"remark":null,"bikes":0,"dog":null}' in wire


def test_a_key_that_may_be_missing_is_null_on_the_wire_and_missing_again() -> None:
    value = back(compiled(Extras), {"bikes": 2})
    assert value == {"bikes": 2, "dog": None}
    assert any("dog" in warning for warning in compiled(Extras).warnings)
    assert back(compiled(Extras), {"bikes": 2, "remark": "late", "dog": True})["remark"] == "late"


def test_a_field_that_the_constructor_does_not_take_is_not_asked_for() -> None:
    assert list(compiled(Fare).schema["properties"]) == ["cents", "zones"]


@pytest.mark.parametrize(
    ("model", "value", "wrapper"),
    [
        (list[Stop], [Stop(station="Ulm", minute=1)], "items"),
        (list[Stop], [], "items"),
        (tuple[int, ...], (1, 2), "items"),
        (set[int], {3, 1}, "items"),
        (dict[str, int], {"a": 1}, "items"),
        (Board, Board({"U1": [Stop(station="Ulm", minute=1)]}), "items"),
        (tuple[int, str], (1, "a"), "value"),
        (int, 7, "value"),
        (bool, False, "value"),
        (Literal["a", "b"], "a", "value"),
        (Stop | None, None, "value"),
        (Stop | Fare, Fare(3), "value"),
        (RootModel[int], RootModel[int](3), "value"),
    ],
)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_root_that_is_no_object_is_wrapped(model: Any, value: Any, wrapper: str, dialect: str) -> None:
    schema = compiled(model, dialect)
    assert list(schema.schema["properties"]) == [wrapper]
    assert back(schema, value) == value
    assert schema.load(schema.encode(value)) == value


@pytest.mark.parametrize(
    ("model", "item"),
    [(list[Stop], Stop), (RootModel[list[int]], int), (Annotated[list[Stop], Field(min_length=1)], Stop)],
)
def test_a_list_at_the_root_makes_many_rows(model: Any, item: Any) -> None:
    assert compiled(model).many
    assert compiled(model).item is item


def test_anything_else_makes_one_row() -> None:
    for model in (Stop, Board, int, tuple[int, int]):
        assert not compiled(model).many
        assert compiled(model).item is model


def test_a_text_model_takes_values_and_json_text() -> None:
    schema = compiled(str)
    assert back(schema, "plain words") == "plain words"
    assert back(schema, '"quoted"') == "quoted"
    assert isinstance(schema.check(schema.encode("3")), Findings)
    assert schema.check(schema.encode_value("3")) == "3"


def test_a_model_without_fields_is_an_empty_closed_object() -> None:
    class Nothing(BaseModel):
        pass

    schema = compiled(Nothing)
    assert schema.schema == {
        "type": "object",
        "properties": {},
        "required": [],
        "additionalProperties": False,
    }
    assert back(schema, "{}") == Nothing()
    assert isinstance(schema.check('{"a":1}'), Findings)


def test_a_type_used_twice_is_defined_once_and_one_used_once_stands_in_place() -> None:
    class Pair(BaseModel):
        first: Stop
        second: Stop
        fare: Fare

    schema = compiled(Pair).schema
    assert list(schema["$defs"]) == ["Stop"]
    assert schema["properties"]["first"] == {"$ref": "#/$defs/Stop"}
    assert schema["properties"]["fare"]["description"] == "What it costs."


def test_sets_are_arrays_whose_doubles_are_findings() -> None:
    class Tags(BaseModel):
        names: set[str]
        codes: frozenset[int]
        dates: list[set[int]]

    schema = compiled(Tags)
    assert "uniqueItems" not in keywords(schema.schema)
    value = back(schema, '{"names":["b","a"],"codes":[2,1],"dates":[[1],[]]}')
    assert schema.encode(value) == '{"names":["a","b"],"codes":[1,2],"dates":[[1],[]]}'
    for text in (
        '{"names":["a","a"],"codes":[],"dates":[]}',
        '{"names":[],"codes":[1,1],"dates":[]}',
        '{"names":[],"codes":[],"dates":[[1],[2,2]]}',
    ):
        findings = schema.check(text)
        assert isinstance(findings, Findings)
        assert "each item once" in findings[0].expected


def test_sequences_mappings_and_queues_are_arrays_and_pairs() -> None:
    class Rooms(BaseModel):
        one: Sequence[int]
        two: Mapping[str, int]
        three: deque[str]

    schema = compiled(Rooms)
    value = back(schema, '{"one":[1],"two":{"a":1},"three":["x"]}')
    assert back(schema, value) == value


def test_text_that_holds_json_stays_text() -> None:
    class Held(BaseModel):
        one: Json[list[int]]
        two: Json[Any]

    schema = compiled(Held)
    value = back(schema, '{"one":"[1,2]","two":"{\\"a\\":null}"}')
    assert (value.one, value.two) == ([1, 2], {"a": None})
    assert back(schema, value) == value
    assert "array" in schema.schema["properties"]["one"]["description"]
    for text in ('{"one":"[\\"x\\"]","two":"1"}', '{"one":[1],"two":"1"}', '{"one":"[1]","two":"NaN"}'):
        assert isinstance(schema.check(text), Findings)


T = TypeVar("T")


class Page(BaseModel, Generic[T]):
    """A page of things."""

    things: list[T]
    more: bool


def test_generics_have_plain_names_and_keep_their_docstring() -> None:
    class Both(BaseModel):
        one: Page[Stop]
        two: Page[Stop]
        three: Page[int]

    schema = compiled(Both)
    assert list(schema.schema["$defs"]) == ["Page_Stop"]
    assert schema.schema["$defs"]["Page_Stop"]["description"] == "A page of things."
    page = '{"things":[],"more":true}'
    text = f'{{"one":{page},"two":{page},"three":{{"things":[1],"more":true}}}}'
    assert back(schema, text).three.things == [1]


def test_two_classes_of_one_name_are_two_definitions() -> None:
    left = create_model("Item", a=(int, ...))
    right = create_model("Item", b=(str, ...))
    both = create_model("Both", x=(left, ...), y=(right, ...), xs=(list[left], ...), ys=(list[right], ...))
    schema = compiled(both)
    assert list(schema.schema["$defs"]) == ["Item", "Item_2"]
    back(schema, '{"x":{"a":1},"y":{"b":"q"},"xs":[],"ys":[]}')
    assert isinstance(schema.check('{"x":{"b":"q"},"y":{"b":"q"},"xs":[],"ys":[]}'), Findings)


@pytest.mark.parametrize(
    ("annotation", "path"),
    [
        (Any, "M.x"),
        (object, "M.x"),
        (list, "M.x[]"),
        (dict, "M.x{key}"),
        (dict[str, Any], "M.x{}"),
        (list[dict[str, list[Any]]], "M.x[]{}[]"),
        (tuple[int, Any], "M.x[1]"),
        (Optional[Any], "M.x"),  # noqa: UP045
        (Iterable[int], "M.x"),
        (dict[tuple[int, int], str], "M.x"),
        (dict[Literal[1, 2], str], "M.x"),
        (type, "M.x"),
        (complex, "M.x"),
        (Literal[b"x"], "M.x"),
    ],
)
def test_what_no_reply_can_carry_is_refused_with_the_place(annotation: Any, path: str) -> None:
    model = create_model("M", x=(annotation, ...))
    with pytest.raises(ModelError) as caught:
        compile_schema(model)
    assert caught.value.path == path
    assert ";" in str(caught.value) or "may hold" in str(caught.value) or "use a" in str(caught.value)


def test_an_arbitrary_class_is_refused_with_the_place() -> None:
    class Thing:
        pass

    class Holder(BaseModel):
        model_config = ConfigDict(arbitrary_types_allowed=True)
        things: list[Thing]

    with pytest.raises(ModelError, match=r"Holder\.things\[\]: an arbitrary class"):
        compile_schema(Holder)


def test_what_pydantic_cannot_read_is_a_model_error() -> None:
    class Thing:
        pass

    with pytest.raises(ModelError, match="Thing: Pydantic cannot read it"):
        compile_schema(Thing)
    with pytest.raises(ModelError, match="root: Pydantic cannot read it"):
        compile_schema(3)
    unfinished = create_model("Unfinished", x=("NotThere", ...))
    with pytest.raises(ModelError, match="Unfinished"):
        compile_schema(unfinished)


def test_keys_of_dicts_may_be_anything_that_has_a_text() -> None:
    import datetime
    import uuid
    from decimal import Decimal
    from enum import IntEnum

    class Size(IntEnum):
        S = 1
        L = 2

    class Keyed(BaseModel):
        whole: dict[int, str]
        real: dict[float, int]
        day: dict[datetime.date, int]
        money: dict[Decimal, int]
        size: dict[Size, int]
        unique: dict[uuid.UUID, int]
        named: dict[Literal["a", "b"], int]
        flag: dict[bool, int]

    schema = compiled(Keyed)
    value = Keyed(
        whole={-5: "x", 2**60: "y"},
        real={1.5: 1},
        day={datetime.date(2024, 2, 29): 1},
        money={Decimal("1.50"): 1},
        size={Size.L: 1},
        unique={uuid.UUID(int=5): 1},
        named={"b": 2},
        flag={True: 1, False: 0},
    )
    assert back(schema, value) == value
    assert '{"key":-5,"value":"x"}' in schema.encode(value)


@pytest.mark.parametrize(
    ("model", "items"),
    [
        (dict[str, int], '[{"key":"a","value":1},{"key":"a","value":1}]'),
        (dict[int, int], '[{"key":1,"value":1},{"key":1,"value":2}]'),
        (dict[float, int], '[{"key":1,"value":1},{"key":1.0,"value":2}]'),
    ],
)
def test_a_key_twice_in_a_list_of_pairs_is_a_finding(model: Any, items: str) -> None:
    findings = compiled(model).check(f'{{"items":{items}}}')
    assert isinstance(findings, Findings)
    assert (findings[0].stage, findings[0].wire_path) == ("decode", "/items/1/key")
    with pytest.raises(ValueError, match="twice"):
        compiled(dict[str, int]).load('{"items":[{"key":"a","value":1},{"key":"a","value":1}]}')


def test_keys_that_are_one_to_python_are_a_finding() -> None:
    from decimal import Decimal

    findings = compiled(dict[Decimal, int]).check(
        '{"items":[{"key":"1.5","value":1},{"key":"1.50","value":2}]}'
    )
    assert isinstance(findings, Findings)
