"""Names and words: aliases, reserved names, descriptions, and what must not slip through."""

from __future__ import annotations

import enum
import json
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal

import pytest
from pydantic import (
    AliasChoices,
    AliasPath,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    computed_field,
    create_model,
)

from extract.errors import ModelError
from extract.schema.check import Findings
from extract.schema.compile import compile_schema
from tests.dialect_lint import keywords, lint


def words(model: Any, name: str) -> str:
    return str(compile_schema(model).schema["properties"][name].get("description", ""))


class Bill(BaseModel):
    bill_no: str = Field(alias="billNo")
    total: float = Field(validation_alias="grandTotal", serialization_alias="sum")
    seller: str = Field(validation_alias=AliasChoices(AliasPath("parties", 0), "seller_name", "vendor"))
    hidden: int = Field(exclude=True)


def test_the_reply_uses_the_alias_that_the_model_reads() -> None:
    compiled = compile_schema(Bill)
    assert list(compiled.schema["properties"]) == ["billNo", "grandTotal", "seller_name", "hidden"]
    text = '{"billNo":"7","grandTotal":1.5,"seller_name":"x","hidden":3}'
    got = compiled.check(text)
    assert (got.bill_no, got.total, got.seller, got.hidden) == ("7", 1.5, "x", 3)
    assert compiled.encode(got) == text
    for other in (
        '{"bill_no":"7","grandTotal":1.5,"seller_name":"x","hidden":3}',
        '{"billNo":"7","sum":1.5,"seller_name":"x","hidden":3}',
        '{"billNo":"7","grandTotal":1.5,"vendor":"x","hidden":3}',
    ):
        assert isinstance(compiled.check(other), Findings)


def test_a_path_alone_is_refused_with_a_way_out() -> None:
    class Deep(BaseModel):
        first: str = Field(validation_alias=AliasPath("names", 0))

    with pytest.raises(ModelError, match=r"Deep\.first: .*AliasChoices"):
        compile_schema(Deep)


def test_two_fields_on_one_key_are_refused() -> None:
    class Twice(BaseModel):
        one: str = Field(alias="key")
        two: str = Field(alias="key")

    with pytest.raises(ModelError, match=r"Twice\.two: two fields"):
        compile_schema(Twice)


def test_python_names_in_an_example_become_aliases_where_the_model_takes_both() -> None:
    class Both(BaseModel):
        model_config = ConfigDict(populate_by_name=True)
        net_total: float = Field(alias="netTotal")

    compiled = compile_schema(Both)
    assert compiled.encode('{"net_total":1.5}') == '{"netTotal":1.5}'
    assert isinstance(compiled.check('{"net_total":1.5}'), Findings)
    assert isinstance(compiled.check(compiled.encode('{"net_total":1.5,"netTotal":2}')), Findings)


def test_an_alias_generator_and_names_alone() -> None:
    class Upper(BaseModel):
        model_config = ConfigDict(alias_generator=str.upper)
        a: int

    class Names(BaseModel):
        model_config = ConfigDict(validate_by_alias=False, validate_by_name=True)
        a: int = Field(alias="A")

    assert list(compile_schema(Upper).schema["properties"]) == ["A"]
    assert list(compile_schema(Names).schema["properties"]) == ["a"]
    assert compile_schema(Names).check('{"a":1}').a == 1


RESERVED = ["$defs", "$ref", "anyOf", "required", "additionalProperties"]


def test_reserved_names_get_an_underscore_and_come_back() -> None:
    class Odd(BaseModel):
        ref: str = Field(alias="$ref")
        any_of: str = Field(alias="anyOf")
        required: bool
        other: int = Field(alias="required_")
        defs: list[int] = Field(alias="$defs")
        more: None = Field(alias="additionalProperties")

    compiled = compile_schema(Odd)
    assert lint(compiled.schema, "kimi") == []
    assert list(compiled.schema["properties"]) == [
        *("$ref_", "anyOf_", "required__", "required_", "$defs_", "additionalProperties_")
    ]
    text = '{"$ref":"x","anyOf":"y","required":true,"required_":1,"$defs":[1],"additionalProperties":null}'
    got = compiled.check(compiled.encode(text))
    assert got == Odd.model_validate_json(text)
    assert compiled.check(compiled.encode(got)) == got
    finding = compiled.check(compiled.encode(text.replace("true", "1")))[0]
    assert (finding.path, finding.wire_path) == ("/required", "/required__")
    assert list(compile_schema(Odd, "openai").schema["properties"])[:3] == ["$ref", "anyOf", "required"]


def test_fields_may_be_called_like_any_keyword() -> None:
    names = ["type", "properties", "items", "enum", "description", "title", "default", "format", "examples"]
    model = create_model("Keywords", **dict.fromkeys([*names, "key", "value", "const"], (int, ...)))
    compiled = compile_schema(model)
    assert lint(compiled.schema, "kimi") == []
    text = json.dumps(dict.fromkeys(model.model_fields, 1))
    assert compiled.check(text) == model.model_validate_json(text)


def test_names_of_any_script_are_sent_and_compared_letter_by_letter() -> None:
    class Faktura(BaseModel):
        größe: float
        preis: float = Field(alias="Preis (€/kg)")
        単価: int

    compiled = compile_schema(Faktura)
    assert "größe" in compiled.text and "単価" in compiled.text
    assert compiled.check('{"größe":1,"Preis (€/kg)":2,"単価":3}').単価 == 3
    findings = compiled.check('{"gro\\u0308ße":1,"Preis (€/kg)":2,"単価":3}')
    assert {finding.path for finding in findings} == {"/größe", "/gro\u0308ße"}


def test_names_with_slashes_and_tildes_have_proper_pointers() -> None:
    model = create_model("Odd", x=(int, Field(alias="a/b~c")))
    assert compile_schema(model).check("{}")[0].path == "/a~1b~0c"


class Computed(BaseModel):
    a: int
    _private: int = PrivateAttr(3)
    constant: ClassVar[int] = 4

    @computed_field
    def double(self) -> int:
        return 2 * self.a


def test_only_fields_are_asked_for() -> None:
    compiled = compile_schema(Computed)
    assert list(compiled.schema["properties"]) == ["a"]
    got = compiled.check('{"a":2}')
    assert got.double == 4
    assert compiled.encode(got) == '{"a":2}'
    for extra in ("double", "_private", "constant"):
        assert isinstance(compiled.check(f'{{"a":2,"{extra}":1}}'), Findings)


class Mode(enum.StrEnum):
    """How fast."""

    FAST = "fast"
    SAFE = "safe"


class Job(BaseModel):
    """A job to do.

    With a second line.
    """

    mode: Mode = Field(Mode.FAST, description="Pick one.")
    other: Mode = Field(description="When the first fails.", examples=["safe"])
    count: Annotated[int, Field(description="Inner.", multiple_of=2)] | None = Field(
        None, description="Outer."
    )
    due: date = Field(date(2024, 1, 1), title="Due date", examples=["2024-05-01"])
    price: Decimal = Field(Decimal("1.50"))
    tags: list[Annotated[str, Field(description="One tag.")]] = Field(
        default_factory=list, description="Tags."
    )
    kind: Literal["job"] = "job"
    none: str | None = None


def test_descriptions_are_the_prompt_in_a_fixed_order() -> None:
    schema = compile_schema(Job).schema
    assert schema["description"] == "A job to do.\n\nWith a second line."
    assert schema["$defs"]["Mode"]["description"] == "How fast."
    assert words(Job, "mode") == 'Pick one.\nIf nothing else is known: "fast"'
    assert words(Job, "other") == 'When the first fails.\nExamples: "safe"'
    assert schema["properties"]["count"] == {
        "anyOf": [{"type": "integer", "description": "Inner.\nA multiple of 2."}, {"type": "null"}],
        "description": "Outer.",
    }
    assert words(Job, "due") == (
        'Due date\nA date as YYYY-MM-DD. Examples: "2024-05-01" If nothing else is known: "2024-01-01"'
    )
    assert words(Job, "price").endswith('If nothing else is known: "1.50"')
    assert schema["properties"]["tags"]["items"] == {"type": "string", "description": "One tag."}
    assert words(Job, "kind") == words(Job, "none") == ""


def test_everything_is_required_whatever_has_a_default() -> None:
    compiled = compile_schema(Job)
    assert compiled.schema["required"] == list(Job.model_fields)
    findings = compiled.check('{"other":"safe"}')
    assert [finding.path for finding in findings] == [
        *("/mode", "/count", "/due", "/price", "/tags", "/kind", "/none")
    ]
    assert all(finding.found == "" for finding in findings)


def test_a_docstring_beside_a_field_description_keeps_both() -> None:
    class Inner(BaseModel):
        """What it is."""

        x: int

    class Outer(BaseModel):
        inner: Inner = Field(description="What it is for.")

    assert words(Outer, "inner") == "What it is for.\nWhat it is."


def test_docstrings_that_python_wrote_are_not_the_authors() -> None:
    import dataclasses
    from typing import NamedTuple

    class Span(NamedTuple):
        start: int

    @dataclasses.dataclass
    class Money:
        cents: int

    class Child(Computed):
        pass

    model = create_model("M", span=(Span, ...), money=(Money, ...), child=(Child, ...))
    assert "description" not in keywords(compile_schema(model).schema)


def test_odd_letters_in_words_never_break_the_text() -> None:
    class Odd(BaseModel):
        """Tab\tand "quotes" \\ and \x00\x1b[31m and \u2028 alone."""

        a: int = Field(description="\ud800 \x07", examples=[float("nan"), 2])

    compiled = compile_schema(Odd)
    assert json.loads(compiled.text.encode()) == compiled.schema
    assert compiled.schema["description"] == 'Tab     and "quotes" \\ and [31m and \u2028 alone.'
    assert words(Odd, "a") == "?\nExamples: 2"


def _smuggle(schema: dict[str, Any]) -> None:
    schema["description"] = "From a function."
    schema["x-secret"] = True


def test_json_schema_extra_brings_words_and_nothing_else() -> None:
    class Extra(BaseModel):
        model_config = ConfigDict(
            json_schema_extra={
                "$schema": "x",
                "pattern": "^x",
                "description": "Told.",
                "examples": [{"a": 1}],
            }
        )
        a: int = Field(json_schema_extra={"const": 3, "format": "x", "examples": [5]})
        b: int = Field(json_schema_extra=_smuggle)

    compiled = compile_schema(Extra)
    assert keywords(compiled.schema) == {
        "type",
        "description",
        "properties",
        "required",
        "additionalProperties",
    }
    assert compiled.schema["description"] == 'Told.\nExamples: {"a":1}'
    assert words(Extra, "a") == "Examples: 5"
    assert words(Extra, "b") == "From a function."


def test_a_function_that_expects_a_full_schema_is_let_go() -> None:
    def needs(schema: dict[str, Any], model: type[Any]) -> None:
        schema["properties"]["a"]["x"] = 1

    class Extra(BaseModel):
        model_config = ConfigDict(json_schema_extra=needs)
        a: int

    assert keywords(compile_schema(Extra).schema) >= {"type"}


def test_an_open_model_is_closed_with_a_warning() -> None:
    class Open(BaseModel):
        model_config = ConfigDict(extra="allow")
        a: int

    class Closed(BaseModel):
        model_config = ConfigDict(extra="forbid")
        a: int

    assert "extra='allow'" in compile_schema(Open).warnings[0]
    assert compile_schema(Closed).warnings == ()
    for model in (Open, Closed):
        assert isinstance(compile_schema(model).check('{"a":1,"b":2}'), Findings)


def test_fields_that_differ_by_case_alone_are_two_fields() -> None:
    model = create_model("Twins", Name=(str, ...), name=(str, ...))
    compiled = compile_schema(model)
    assert compiled.check('{"Name":"A","name":"b"}').model_dump() == {"Name": "A", "name": "b"}
    assert isinstance(compiled.check('{"name":"b"}'), Findings)
