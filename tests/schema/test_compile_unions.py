"""Unions: every branch reachable, nothing coerced, and findings for the branch that was meant."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from ipaddress import IPv4Address, IPv6Address
from typing import Annotated, Any, Literal, Union

import pytest
from pydantic import BaseModel, Discriminator, Field, Tag, create_model

from extract.schema.check import Findings
from extract.schema.compile import CompiledSchema, compile_schema
from tests.dialect_lint import keywords, lint


class Card(BaseModel):
    kind: Literal["card"]
    digits: str


class Cash(BaseModel):
    kind: Literal["cash"]
    currency: Literal["EUR", "USD"]


class Point(BaseModel):
    x: int


class Spot(BaseModel):
    x: int


def compiled(annotation: Any) -> CompiledSchema[Any]:
    schema = compile_schema(create_model("M", x=(annotation, ...)))
    assert lint(schema.schema, "kimi") == []
    return schema


def _kind(value: Any) -> str:
    return "c" if (value.get("kind") if isinstance(value, dict) else value.kind) == "card" else "m"


TAGGED = [
    Annotated[Card | Cash, Field(discriminator="kind")],
    Card | Cash,
    Annotated[Annotated[Card, Tag("c")] | Annotated[Cash, Tag("m")], Discriminator(_kind)],
    Annotated[Card | Cash, Field(discriminator="kind")] | None,
]


@pytest.mark.parametrize("annotation", TAGGED)
def test_tagged_unions_are_any_of_and_their_findings_name_the_tag(annotation: Any) -> None:
    schema = compiled(annotation)
    assert not keywords(schema.schema) & {"oneOf", "discriminator", "const"}
    text = '{"x":{"kind":"cash","currency":"EUR"}}'
    assert schema.check(text).x == Cash(kind="cash", currency="EUR")
    assert schema.encode(schema.check(text)) == text

    wrong_tag = schema.check('{"x":{"kind":"cheque","digits":"1"}}')
    assert [(f.path, f.expected, f.found) for f in wrong_tag] == [
        ("/x/kind", 'one of "card", "cash"', '"cheque"')
    ]
    no_tag = schema.check('{"x":{"digits":"1"}}')
    assert [(f.path, f.expected) for f in no_tag] == [
        ("/x/kind", 'the key "kind" with one of "card", "cash"')
    ]
    inside = schema.check('{"x":{"kind":"cash","currency":"eur"}}')
    assert [(f.path, f.expected) for f in inside] == [("/x/currency", 'one of "EUR", "USD"')]


def test_a_tag_with_several_values_leads_to_its_branch_too() -> None:
    class Move(BaseModel):
        kind: Literal["left", "right"]
        steps: int

    class Say(BaseModel):
        kind: Literal["say"]
        text: str

    schema = compiled(Move | Say)
    unknown = schema.check('{"x":{"kind":"jump","steps":1}}')
    assert [(f.path, f.expected) for f in unknown] == [("/x/kind", 'one of "left", "right", "say"')]
    meant = schema.check('{"x":{"kind":"say","steps":1}}')
    assert [f.path for f in meant] == ["/x/text", "/x/steps"]


CASES: list[tuple[Any, list[tuple[str, Any]], list[str]]] = [
    (int | float, [("1", 1), ("1.0", 1.0), ("1.5", 1.5)], ['"1"', "true", "null"]),
    (bool | int, [("true", True), ("1", 1), ("0", 0)], ["1.0", '"true"']),
    (int | str, [('"00123"', "00123"), ("123", 123), ('"1e5"', "1e5")], ["1.5", "null", "true"]),
    (str | None | list[str], [("null", None), ('"a"', "a"), ('["a"]', ["a"])], ["1", "[1]"]),
    (Decimal | int, [('"1.50"', Decimal("1.50")), ("3", 3)], ["1.5", "true", '"x"']),
    (date | str, [('"2024-01-01"', date(2024, 1, 1)), ('"2024"', "2024")], ["1", "null"]),
    (Literal["a"] | int, [('"a"', "a"), ("1", 1)], ['"b"', "1.0", "true"]),
    (Literal["a"] | Literal["b"] | None, [('"b"', "b"), ("null", None)], ['"c"']),
    (list[int] | list[str], [("[1]", [1]), ('["a"]', ["a"]), ("[]", [])], ['["a",1]', "[null]"]),
    (Point | list[Point], [('{"x":1}', Point(x=1)), ('[{"x":1}]', [Point(x=1)])], ['{"x":"1"}', "[1]"]),
    (set[int] | str, [("[1,2]", {1, 2}), ('"a"', "a")], ["[1,1]", '["a"]']),
]


@pytest.mark.parametrize(("annotation", "good", "bad"), CASES)
def test_each_value_finds_its_branch_and_none_is_coerced(
    annotation: Any, good: list[tuple[str, Any]], bad: list[str]
) -> None:
    schema = compiled(annotation)
    for text, value in good:
        got = schema.check(f'{{"x":{text}}}')
        assert not isinstance(got, Findings), str(got)
        assert (got.x, type(got.x)) == (value, type(value))
        assert schema.check(schema.encode(got)) == got
    for text in bad:
        assert isinstance(schema.check(f'{{"x":{text}}}'), Findings), text


REWRITTEN: list[tuple[Any, list[str]]] = [
    (dict[str, int] | list[str], ['{"a":1}', '["a"]', "{}"]),
    (tuple[int, str] | Point, ['[1,"a"]', '{"x":1}']),
    (dict[str, Point] | Point | None, ['{"a":{"x":1}}', '{"x":1}', "null"]),
    (list[tuple[int, int]] | tuple[str, str], ["[[1,2]]", '["a","b"]', "[]"]),
    (dict[str, dict[str, int] | int] | int, ['{"a":{"b":1},"c":2}', "3"]),
]


@pytest.mark.parametrize(("annotation", "texts"), REWRITTEN)
def test_rewritten_branches_are_told_apart_both_ways(annotation: Any, texts: list[str]) -> None:
    schema = compiled(annotation)
    for text in texts:
        got = schema.check(schema.encode(f'{{"x":{text}}}'))
        assert got == schema.model.model_validate_json(f'{{"x":{text}}}')
        assert schema.check(schema.encode(got)) == got


def test_a_dict_beside_a_list_is_told_from_it_even_when_both_are_empty() -> None:
    schema = compiled(dict[str, int] | list[int])
    assert schema.encode('{"x":{"a":1}}') == '{"x":{"entries":[{"key":"a","value":1}]}}'
    assert schema.check(schema.encode('{"x":{}}')).x == {}
    assert schema.check(schema.encode('{"x":[]}')).x == []
    finding = schema.check('{"x":{"entries":[{"key":"a","value":"1"}]}}')[0]
    assert (finding.path, finding.wire_path) == ("/x/a", "/x/entries/0/value")


def test_a_value_that_is_already_in_the_wire_shape_is_no_example_in_the_models() -> None:
    with pytest.raises(ValueError, match="the model's shape is needed"):
        compiled(dict[str, int] | bool).encode('{"x":[]}')


def test_null_stays_reachable_and_last() -> None:
    for annotation in (Literal["low", None], Literal["low"] | None, None | Literal["low"]):
        assert compiled(annotation).schema["properties"]["x"] == {
            "anyOf": [{"type": "string", "enum": ["low"]}, {"type": "null"}]
        }


def test_equal_branches_are_one() -> None:
    assert compiled(Union[Annotated[int, "a"], Annotated[int, "b"]]).schema["properties"]["x"] == {  # noqa: UP007
        "type": "integer"
    }


def test_unions_in_unions_are_one_union_unless_they_have_words() -> None:
    described = Annotated[int | str, Field(description="A number or a name.")]
    parts = compiled(described | list[int | str] | None).schema["properties"]["x"]["anyOf"]
    assert parts[0] == {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "description": "A number or a name.",
    }
    assert [part.get("type") for part in parts] == [None, "array", "null"]


def test_models_that_take_the_same_objects_are_warned_of() -> None:
    schema = compiled(Point | Spot)
    assert schema.warnings == (
        "M.x: Point and Spot take the same objects, so the first one wins; "
        "give each a Literal field that tells them apart",
    )
    assert compiled(Card | Cash).warnings == ()


def test_constraints_in_a_branch_are_found_in_that_branch() -> None:
    schema = compiled(Annotated[int, Field(multiple_of=5)] | Annotated[str, Field(pattern="^a")] | None)
    assert [(f.path, f.expected) for f in schema.check('{"x":7}')] == [("/x", "a multiple of 5")]
    assert [(f.path, f.expected) for f in schema.check('{"x":"b"}')] == [
        ("/x", "text that matches the regular expression ^a")
    ]


def test_a_finding_in_a_branch_of_models_names_its_keys_alone() -> None:
    class Box(BaseModel):
        size: Annotated[float, Field(gt=0)]

    class Bag(BaseModel):
        litres: Annotated[float, Field(gt=0)]

    findings = compiled(list[Box | Bag]).check('{"x":[{"size":1},{"litres":-1}]}')
    assert [(f.path, f.expected, f.found) for f in findings] == [("/x/1/litres", "greater than 0", "-1")]


def test_none_of_the_types_lists_all_of_them() -> None:
    findings = compiled(int | list[int] | None).check('{"x":"a"}')
    assert findings[0].expected == "a whole number (no decimal point, no quotes) or a list or null"


def test_a_number_beside_an_address_stays_a_number() -> None:
    """An address's own serializer writes the integer 0 as text; no branch but the number takes it."""

    class Host(BaseModel):
        names: list[IPv4Address | IPv6Address | int]

    compiled = compile_schema(Host)
    host = Host(names=[0, IPv4Address("10.0.0.1"), IPv6Address("::1")])
    assert compiled.encode(host) == '{"names":[0,"10.0.0.1","::1"]}'
    assert compiled.check(compiled.encode(host)) == host
