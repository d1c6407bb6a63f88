"""Evidence by quote: the wire asks for the words beside the value, and the model's shape has none of it."""

from __future__ import annotations

import json
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from extract import Evidence
from extract.schema.check import Findings
from extract.schema.compile import compile_schema
from tests.dialect_lint import lint

Quote = Evidence(by="quote")


class Party(BaseModel):
    name: Annotated[str, Quote]


class Contract(BaseModel):
    title: Annotated[str, Evidence()]
    total: Annotated[int, Quote, Field(ge=0, description="All prices added up.")]
    ends: Annotated[date | None, Quote] = None
    parties: list[Party]
    topics: list[Annotated[Literal["rent", "sale"], Quote]]
    prices: dict[str, Annotated[int, Quote]]
    pair: tuple[Annotated[bool, Quote], int] | None
    main: Annotated[Party, Quote]


SHAPE = {
    "title": "T",
    "total": 5,
    "ends": None,
    "parties": [{"name": "A"}, {"name": "B"}],
    "topics": ["rent"],
    "prices": {"x": 1},
    "pair": [True, 2],
    "main": {"name": "A"},
}


def quoted(value: Any, count: list[int]) -> Any:
    """The wire value with every quote filled in by a number."""
    if isinstance(value, dict):
        if value.keys() == {"quote", "value"}:
            count[0] += 1
            return {"quote": f"q{count[0]}", "value": quoted(value["value"], count)}
        return {key: quoted(one, count) for key, one in value.items()}
    return [quoted(one, count) for one in value] if isinstance(value, list) else value


def test_the_quote_stands_before_the_value_under_the_words_of_the_field() -> None:
    compiled = compile_schema(Contract)
    assert lint(compiled.schema, "kimi") == []
    total = compiled.schema["properties"]["total"]
    assert total["description"] == "All prices added up."
    assert list(total["properties"]) == ["quote", "value"]
    assert total["properties"]["value"] == {"type": "integer", "minimum": 0}
    assert compiled.schema["properties"]["title"] == {"type": "string"}


def test_quotes_come_out_by_their_place_in_the_model_and_the_value_without_them() -> None:
    compiled = compile_schema(Contract)
    wire = json.dumps(quoted(json.loads(compiled.encode(json.dumps(SHAPE))), [0]))
    value = compiled.check(wire)
    assert value == Contract.model_validate_json(json.dumps(SHAPE))
    assert compiled.load(wire) == value
    assert compiled.quotes(wire) == {
        "/total": "q1",
        "/ends": "q2",
        "/parties/0/name": "q3",
        "/parties/1/name": "q4",
        "/topics/0": "q5",
        "/prices/x": "q6",
        "/pair/0": "q7",
        "/main": "q8",
        "/main/name": "q9",
    }


def test_an_instance_comes_back_through_empty_quotes() -> None:
    compiled = compile_schema(Contract)
    value = Contract.model_validate_json(json.dumps(SHAPE))
    assert compiled.check(compiled.encode(value)) == value


def test_a_missing_quote_and_a_wrong_value_are_findings_with_both_places() -> None:
    compiled = compile_schema(Contract)
    wire = json.loads(compiled.encode(json.dumps(SHAPE)))
    del wire["total"]["quote"]
    wire["prices"][0]["value"]["value"] = "1"
    findings = compiled.check(json.dumps(wire))
    assert isinstance(findings, Findings)
    assert [(one.path, one.wire_path) for one in findings] == [
        ("/total", "/total/quote"),
        ("/prices/x", "/prices/0/value/value"),
    ]


def test_a_model_without_quotes_has_none() -> None:
    compiled = compile_schema(list[int])
    assert compiled.quotes('{"items":[1]}') == {}
