"""Findings: where, what was found, and what a model must do about it."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field, create_model

from extract.schema.check import Findings
from extract.schema.compile import CompiledSchema, compile_schema
from extract.schema.finding import Finding


class Line(BaseModel):
    sku: Annotated[str, Field(pattern="^[A-Z]+$")]
    amount: Annotated[Decimal, Field(gt=0)]


class Invoice(BaseModel):
    number: str
    issued: date
    currency: Literal["EUR", "USD"]
    lines: list[Line]
    notes: dict[str, list[Annotated[int, Field(multiple_of=2)]]]
    where: tuple[float, Annotated[int, Field(multiple_of=3)]]


COMPILED: CompiledSchema[Invoice] = compile_schema(Invoice)
GOOD = (
    '{"number":"7","issued":"2024-01-01","currency":"EUR","lines":[{"sku":"AB","amount":"1.50"}],'
    '"notes":[{"key":"a","value":[2]}],"where":{"item_1":1.5,"item_2":3}}'
)


def found(text: str) -> list[tuple[str, str, str, str]]:
    findings = COMPILED.check(text)
    assert isinstance(findings, Findings), repr(findings)
    return [(one.stage, one.path, one.wire_path, one.expected) for one in findings]


def changed(old: str, new: str) -> list[tuple[str, str, str, str]]:
    assert GOOD.count(old) == 1
    return found(GOOD.replace(old, new))


def test_a_good_reply_is_its_value() -> None:
    value = COMPILED.check(GOOD)
    assert isinstance(value, Invoice)
    assert value.lines[0].amount == Decimal("1.50")
    assert COMPILED.load(GOOD) == value
    assert COMPILED.encode(value) == GOOD


def test_a_list_of_findings_is_told_from_an_answer_that_is_a_list() -> None:
    compiled = compile_schema(list[int])
    assert compiled.check('{"items":[]}') == []
    assert not isinstance(compiled.check('{"items":[]}'), Findings)
    assert isinstance(compiled.check("[]"), Findings)


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        ('"7"', "7", ("schema", "/number", "/number", "a string")),
        ('"EUR"', '"eur"', ("schema", "/currency", "/currency", 'one of "EUR", "USD"')),
        ('"2024-01-01"', '"1.1.24"', ("schema", "/issued", "/issued", "a string: a date as YYYY-MM-DD")),
        (
            '"AB"',
            '"ab"',
            ("value", "/lines/0/sku", "/lines/0/sku", "text that matches the regular expression ^[A-Z]+$"),
        ),
        ('"1.50"', '"-1"', ("value", "/lines/0/amount", "/lines/0/amount", "greater than 0")),
        ("[2]", "[2,3]", ("value", "/notes/a/1", "/notes/0/value/1", "a multiple of 2")),
        ("[2]", "2", ("schema", "/notes/a", "/notes/0/value", "a list")),
        ('"item_2":3', '"item_2":4', ("value", "/where/1", "/where/item_2", "a multiple of 3")),
        ('"item_1":1.5', '"item_1":"x"', ("schema", "/where/0", "/where/item_1", "a number (no quotes)")),
        (
            '"number":"7",',
            "",
            ("schema", "/number", "/number", 'the key "number" with a string'),
        ),
        (
            '"number"',
            '"extra":null,"number"',
            (
                *("schema", "/extra", "/extra"),
                'no such key (the keys are: "number", "issued", "currency", "lines", "notes", "where")',
            ),
        ),
    ],
)
def test_one_fault_is_one_finding_with_both_places(old: str, new: str, finding: tuple[str, ...]) -> None:
    assert changed(old, new) == [finding]


def test_all_faults_of_a_stage_are_told_at_once_in_their_order() -> None:
    paths = [
        path
        for _, path, _, _ in found(GOOD.replace('"7"', "7").replace('"EUR"', '""').replace('"AB"', "null"))
    ]
    assert paths == ["/number", "/currency", "/lines/0/sku"]


def test_stages_run_one_after_the_other() -> None:
    assert found("Sure! " + GOOD)[0][0] == "json"
    assert {stage for stage, *_ in found(GOOD.replace('"AB"', '"ab"').replace('"7"', "7"))} == {"schema"}
    twice = '[{"key":"a","value":[2]},{"key":"a","value":[3]}]'
    assert changed('[{"key":"a","value":[2]}]', twice) == [
        ("decode", "/notes/a", "/notes/1/key", "each key once")
    ]


def test_what_was_found_is_shortened_and_missing_things_have_nothing() -> None:
    finding = COMPILED.check(GOOD.replace('"7"', "[" + "1," * 500 + "1]"))[0]
    assert len(finding.found) <= 120 and "…" in finding.found
    assert COMPILED.check("{}")[0].found == ""


def test_thousands_of_faults_are_a_hundred_findings() -> None:
    text = '{"items":[' + ",".join(['"x"'] * 5_000) + "]}"
    assert len(compile_schema(list[int]).check(text)) == 100
    odd = Annotated[int, Field(multiple_of=2)]
    text = '{"items":[' + ",".join(["1"] * 5_000) + "]}"
    assert len(compile_schema(list[odd]).check(text)) == 100  # type: ignore[valid-type]


def test_the_values_of_a_long_enum_are_told_by_likeness() -> None:
    codes = tuple(f"city-{number:04d}" for number in range(600))
    compiled = compile_schema(create_model("M", code=(Literal[codes], ...)))  # type: ignore[valid-type]
    expected = compiled.check('{"code":"city-599"}')[0].expected
    assert expected.startswith("one of the 600 values of the enum, such as")
    assert '"city-0599"' in expected
    assert len(expected) < 400


def test_a_finding_reads_as_one_line_and_as_json() -> None:
    finding = Finding("schema", "/a", "/b", "7", "a string")
    assert str(finding) == "/a: expected a string, found 7"
    assert finding.as_dict()["wire_path"] == "/b"


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("```json\n" + GOOD + "\n```", True),
        ("\ufeff " + GOOD + "\n", True),
        (GOOD + "\nHope this helps!", False),
        (GOOD + GOOD, False),
        (GOOD[:-1], False),
        (GOOD.replace('"number":"7"', '"number":"7","number":"8"'), False),
        (GOOD.replace("1.5,", "NaN,"), False),
        (GOOD.replace("1.5,", "1e999,"), False),
        (GOOD.replace('"7"', '"\\ud800"'), False),
        ("null", False),
        ("", False),
    ],
)
def test_only_a_whole_strict_json_text_is_an_answer(reply: str, value: Any) -> None:
    assert isinstance(COMPILED.check(reply), Invoice) is value


def test_load_refuses_what_the_model_no_longer_takes() -> None:
    with pytest.raises(ValueError, match="multiple of 2"):
        COMPILED.load(GOOD.replace("[2]", "[3]"))
    with pytest.raises(ValueError, match="2 validation errors"):
        compile_schema(Line).load("{}")


def test_pointers_go_from_wire_to_model_and_back() -> None:
    assert COMPILED.wire_to_model("/notes/0/value/1") == "/notes/0/1"
    assert COMPILED.wire_to_model("/notes/0/value/1", GOOD) == "/notes/a/1"
    assert COMPILED.wire_to_model("/where/item_2") == "/where/1"
    assert COMPILED.wire_to_model("/unknown/3") == "/unknown/3"
    assert COMPILED.model_to_wire("/notes/a/0", GOOD) == "/notes/0/value/0"
    assert COMPILED.model_to_wire("/where/1", GOOD) == "/where/item_2"
    assert COMPILED.model_to_wire("", GOOD) == ""


def test_an_example_in_text_is_brought_over_right_or_wrong() -> None:
    model_shape = GOOD.replace('[{"key":"a","value":[2]}]', '{"a":[2]}').replace(
        '{"item_1":1.5,"item_2":3}', "[1.5,3]"
    )
    assert COMPILED.encode(model_shape) == GOOD
    assert COMPILED.encode("```json\n" + model_shape + "\n```") == GOOD
    assert COMPILED.encode("no json") == "no json"
    assert isinstance(COMPILED.check(COMPILED.encode(model_shape.replace("[1.5,3]", "[1.5]"))), Findings)
    assert isinstance(COMPILED.check(COMPILED.encode(model_shape.replace("[1.5,3]", "[1.5,3,4]"))), Findings)
    with pytest.raises(ValueError, match="a list stands where the model has a dict"):
        COMPILED.encode(GOOD)


def test_an_instance_of_something_else_is_an_error() -> None:
    with pytest.raises(ValueError, match="a Invoice is needed, not a Line"):
        COMPILED.encode(Line(sku="A", amount=Decimal(1)))  # type: ignore[arg-type]


def test_importing_the_compiler_does_not_import_the_heavy_libraries() -> None:
    code = (
        "import sys, extract.schema.compile as c;"
        "c.compile_schema(list[int]);"
        "print([name for name in ('jsonschema', 'polars', 'duckdb', 'httpx') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
