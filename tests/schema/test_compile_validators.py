"""Validators and types of the author's own: strict stays strict, and what they return is let in."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainSerializer,
    PlainValidator,
    WithJsonSchema,
    WrapValidator,
    create_model,
    field_validator,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

from extract.errors import ModelError
from extract.schema.check import Findings
from extract.schema.compile import CompiledSchema, compile_schema
from tests.dialect_lint import keywords, lint


def field(annotation: Any) -> CompiledSchema[Any]:
    compiled = compile_schema(create_model("M", x=(annotation, ...)))
    assert lint(compiled.schema, "kimi") == []
    return compiled


def taken(compiled: CompiledSchema[Any], text: str) -> Any:
    got = compiled.check(f'{{"x":{text}}}')
    assert not isinstance(got, Findings), str(got)
    return got.x


def refused(compiled: CompiledSchema[Any], text: str) -> str:
    got = compiled.check(f'{{"x":{text}}}')
    assert isinstance(got, Findings), repr(got)
    return got[0].expected


def _plain_number(value: Any) -> Any:
    return (
        value.replace("€", "").replace(".", "").replace(",", ".").strip() if isinstance(value, str) else value
    )


def test_a_before_validator_may_return_what_strict_mode_refuses() -> None:
    printed = WithJsonSchema({"type": "string", "description": "As printed.", "pattern": "x"})
    compiled = field(Annotated[Decimal, BeforeValidator(_plain_number), printed])
    assert compiled.schema["properties"]["x"]["type"] == "string"
    assert "pattern" not in keywords(compiled.schema)
    assert compiled.schema["properties"]["x"]["description"].startswith("As printed.")
    assert taken(compiled, '"€ 1.200,50"') == Decimal("1200.50")
    refused(compiled, '"zwölf"')
    refused(compiled, "12")


def test_a_declared_input_type_is_what_the_reply_is_asked_for() -> None:
    compiled = field(Annotated[int, BeforeValidator(_plain_number, json_schema_input_type=str)])
    assert compiled.schema["properties"]["x"] == {"type": "string"}
    assert taken(compiled, '"1.200"') == 1200
    assert refused(compiled, "1200") == "a string"
    assert compiled.encode(compiled.model(x="7")) == '{"x":"7"}'


def test_without_a_declared_type_the_wire_follows_the_annotation_and_says_so() -> None:
    compiled = field(Annotated[int, BeforeValidator(_plain_number)])
    assert compiled.schema["properties"]["x"] == {"type": "integer"}
    assert taken(compiled, "12") == 12
    assert refused(compiled, '"1.200"') == "a whole number (no decimal point, no quotes)"


def test_behind_a_before_validator_only_the_type_is_insisted_on_before_it_ran() -> None:
    folded = field(Annotated[Literal["low", "high"], BeforeValidator(lambda v: str(v).lower())])
    assert taken(folded, '"HIGH"') == "high"
    assert "'low' or 'high'" in refused(folded, '"mid"')
    german = field(Annotated[date, BeforeValidator(lambda v: "-".join(reversed(v.split("."))))])
    assert taken(german, '"03.05.2024"') == date(2024, 5, 3)
    capped = field(Annotated[int, BeforeValidator(lambda v: min(v, 5)), Field(le=5)])
    assert taken(capped, "9") == 5
    assert capped.schema["properties"]["x"]["description"] == "At most 5."


def test_a_constraint_after_a_validator_is_told_and_checked_but_not_asked_of_the_wire() -> None:
    compiled = field(Annotated[str, BeforeValidator(str.strip), Field(max_length=3)])
    assert compiled.schema["properties"]["x"] == {"type": "string", "description": "At most 3 characters."}
    assert taken(compiled, '"  abc  "') == "abc"
    assert refused(compiled, '" abcd "') == "at most 3 characters"


def test_wrap_and_after_validators() -> None:
    wrapped = field(Annotated[date, WrapValidator(lambda value, handler: handler(value))])
    assert taken(wrapped, '"2024-01-01"') == date(2024, 1, 1)
    doubled = field(Annotated[list[str], AfterValidator(sorted), Field(min_length=1)])
    assert taken(doubled, '["b","a"]') == ["a", "b"]
    refused(doubled, "[]")


class Inner(BaseModel):
    day: date
    number: int
    tags: set[int]
    more: Inner | None


class Outer(BaseModel):
    one: Inner
    many: list[Inner]
    amount: Decimal

    @model_validator(mode="before")
    @classmethod
    def _same(cls, value: Any) -> Any:
        return value

    @field_validator("amount", mode="before")
    @classmethod
    def _amount(cls, value: Any) -> Any:
        return value

    @model_validator(mode="after")
    def _small(self) -> Outer:
        if self.one.number > 5:
            raise ValueError("number must stay small")
        return self


INNER = '{"day":"2024-01-01","number":1,"tags":[1,2],"more":null}'
OUTER = f'{{"one":{INNER},"many":[{INNER}],"amount":"1.50"}}'


def test_a_model_that_looks_at_its_input_first_is_as_strict_as_any() -> None:
    compiled = compile_schema(Outer)
    got = compiled.check(OUTER)
    assert got == Outer.model_validate_json(OUTER)
    assert compiled.check(compiled.encode(got)) == got
    for old, new in (
        ('"number":1', '"number":"1"'),
        ('"number":1', '"number":1.0'),
        ('"day":"2024-01-01"', '"day":"2024-01-01T00:00:00"'),
        ('"day":"2024-01-01"', '"day":"1704067200"'),
        ('"tags":[1,2]', '"tags":[1,1]'),
        ('"amount":"1.50"', '"amount":1.5'),
        ('"more":null', '"more":null,"x":1'),
        (',"more":null', ""),
    ):
        assert isinstance(compiled.check(OUTER.replace(old, new)), Findings), new


def test_a_model_validator_speaks_of_the_whole() -> None:
    finding = compile_schema(Outer).check(OUTER.replace('"number":1', '"number":9', 1))[0]
    assert (finding.stage, finding.path) == ("value", "")
    assert finding.expected == "a value that holds to: number must stay small"
    assert len(finding.found) <= 120


def test_a_validator_that_breaks_is_a_finding_and_not_a_crash() -> None:
    compiled = field(Annotated[int, AfterValidator(lambda v: {}[v])])
    assert "KeyError: 1" in refused(compiled, "1")
    with pytest.raises(KeyError):
        compiled.load('{"x":1}')


def test_a_strict_model_stays_as_strict_as_it_says() -> None:
    class Own(BaseModel):
        model_config = ConfigDict(strict=True)
        day: date

        @model_validator(mode="after")
        def _any(self) -> Own:
            return self

    compiled = compile_schema(Own)
    assert compiled.check('{"day":"2024-01-01"}').day == date(2024, 1, 1)
    assert isinstance(compiled.check('{"day":"2024-01-01T00:00:00"}'), Findings)


def test_a_plain_validator_must_say_what_it_reads() -> None:
    with pytest.raises(ModelError, match=r"M\.x: a plain validator says nothing about its input"):
        field(Annotated[int, PlainValidator(int)])
    read = field(Annotated[int, PlainValidator(int, json_schema_input_type=str)])
    assert taken(read, '"12"') == 12
    refused(read, "12")
    named = field(
        Annotated[int, PlainValidator(int), WithJsonSchema({"type": "string", "pattern": "^[0-9]+$"})]
    )
    assert named.schema["properties"]["x"] == {
        "type": "string",
        "description": "Matches the regular expression ^[0-9]+$",
    }
    assert taken(named, '"12"') == 12


def test_a_serializer_for_show_does_not_change_the_wire() -> None:
    shown = Annotated[date, PlainSerializer(lambda day: day.strftime("%d.%m.%Y"))]
    compiled = field(shown)
    value = compiled.check('{"x":"2024-05-03"}')
    assert compiled.encode(value) == '{"x":"2024-05-03"}'


class Colour:
    """A class of the author's own, read from text."""

    def __init__(self, code: str) -> None:
        self.code = code

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Colour) and other.code == self.code

    def __hash__(self) -> int:
        return hash(self.code)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.json_or_python_schema(
            json_schema=core_schema.no_info_after_validator_function(cls, core_schema.str_schema()),
            python_schema=core_schema.is_instance_schema(cls),
            serialization=core_schema.plain_serializer_function_ser_schema(lambda colour: colour.code),
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"type": "string", "format": "colour", "description": "A hex colour.", "examples": ["#fff"]}


class Mute(Colour):
    """One that nobody can write out again."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(cls, core_schema.str_schema(pattern="^#"))

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return handler(schema)


class Free(Colour):
    """One that reads anything, and says what it wants."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            lambda value: value if isinstance(value, cls) else cls(**value),
            serialization=core_schema.plain_serializer_function_ser_schema(lambda free: {"code": free.code}),
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {"type": "object", "properties": {"code": {"type": ["string", "null"]}}, "x-own": 1}


def test_a_type_of_ones_own_is_what_it_reads() -> None:
    compiled = field(list[Colour])
    assert compiled.schema["properties"]["x"]["items"] == {
        "type": "string",
        "description": 'A hex colour.\nExamples: "#fff"',
    }
    got = compiled.check('{"x":["#000"]}')
    assert got.x == [Colour("#000")]
    assert compiled.check(compiled.encode(got)).x == got.x


def test_a_type_that_cannot_be_written_is_an_error_when_it_is_written() -> None:
    compiled = field(Mute)
    got = compiled.check('{"x":"#000"}')
    assert got.x == Colour("#000")
    with pytest.raises(ValueError, match="no JSON form; give its type a serializer"):
        compiled.encode(got)


def test_a_json_schema_of_ones_own_obeys_the_dialect() -> None:
    compiled = field(Free)
    assert compiled.schema["properties"]["x"] == {
        "type": "object",
        "properties": {"code": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
        "required": ["code"],
        "additionalProperties": False,
    }
    assert taken(compiled, '{"code":"#1"}') == Colour("#1")
    refused(compiled, '{"code":1}')


@pytest.mark.parametrize(
    ("schema", "wire"),
    [
        ({"type": "integer", "minimum": 3}, {"type": "integer", "description": "At least 3."}),
        ({"const": "a"}, {"type": "string", "enum": ["a"]}),
        ({"enum": [1, "a", None]}, None),
        (
            {"oneOf": [{"type": "string"}, {"type": "null"}]},
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
        ),
        ({"type": "array", "items": {"type": "boolean"}}, {"type": "array", "items": {"type": "boolean"}}),
        ({"type": "string", "format": "email"}, {"type": "string", "description": "An e-mail address."}),
    ],
)
def test_json_schemas_that_authors_write(schema: dict[str, Any], wire: dict[str, Any] | None) -> None:
    compiled = field(Annotated[Any, PlainValidator(lambda value: value), WithJsonSchema(schema)])
    if wire is not None:
        assert compiled.schema["properties"]["x"] == wire


@pytest.mark.parametrize(
    "schema", [{"type": "object"}, {"type": "array"}, {"type": "number?"}, {"enum": [[1]]}]
)
def test_json_schemas_that_say_too_little_are_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match=r"^M\.x"):
        field(Annotated[Any, PlainValidator(lambda value: value), WithJsonSchema(schema)])
