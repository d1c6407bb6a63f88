"""The schemas that the endpoint takes: the dialect of the model's maker."""

from __future__ import annotations

from typing import Any

import pytest

from extract.testing import LocalEndpoint
from extract.testing.endpoint.rules.dialect import dialect_problem
from tests.testing.asks import body, chat, post

TEXT = {"type": "string"}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def _deep(levels: int) -> dict[str, Any]:
    node: dict[str, Any] = TEXT
    for _ in range(levels):
        node = _object(a=node)
    return node


GOOD: list[dict[str, Any]] = [
    _object(),
    _object(a={"anyOf": [TEXT, {"type": "null"}], "description": "x", "title": "y"}),
    _object(a={"type": ["string", "null"], "enum": ["x", None]}),
    _object(a={"type": "integer", "minimum": 0, "maximum": 9, "default": 3}),
    _object(a={"type": "array", "items": TEXT, "minItems": 1, "maxItems": 2}),
    _object(a={"type": "object", "additionalProperties": TEXT}),
    _object(a={"$ref": "#/$defs/A"}) | {"$defs": {"A": _object(x=TEXT)}},
    _object(a={"anyOf": [{"$ref": "#"}, {"type": "null"}]}),
    _deep(25),
]

BAD: list[tuple[dict[str, Any], str]] = [
    ({"type": "array", "items": TEXT}, "root must have type object"),
    ({"anyOf": [_object()]}, "root must have type object"),
    (_object(note={"type": "string", "anyOf": [TEXT]}), "At path 'properties.note': when using anyOf, type"),
    (
        _object(a={"$ref": "#/$defs/A", "type": "object"}) | {"$defs": {"A": _object()}},
        "when using $ref, type",
    ),
    (_object(a={"anyOf": [TEXT], "minLength": 1}), "not supported beside anyOf"),
    (_object(a={}), "type is not defined"),
    (_object(a={"type": "text"}), "unknown type 'text'"),
    (_object(a=True), "boolean schemas"),
    (_object(a={"type": "string", "pattern": "x"}), "unsupported keyword 'pattern'"),
    (_object(a={"type": "string", "format": "date"}), "unsupported keyword 'format'"),
    (_object(a={"const": 1}), "unsupported keyword 'const'"),
    (_object() | {"$schema": "x"}, "unsupported keyword '$schema'"),
    (_object(a={"type": "number", "exclusiveMinimum": 0}), "unsupported keyword 'exclusiveMinimum'"),
    (_object(a={"type": "number", "minimum": "0"}), "minimum must be a number"),
    (_object(a={"type": "string", "maxLength": -1}), "maxLength must be"),
    (_object(a={"type": "string", "enum": []}), "not empty"),
    (_object(a={"type": "string", "enum": ["x", 1]}), "one type"),
    (_object(a={"type": "string", "enum": ["x", None]}), "one type"),
    (_object(a={"type": "string", "enum": [str(n) for n in range(1001)]}), "more than 1000 enum values"),
    (_object(a={"type": "array"}), "an array needs items"),
    (_object(a={"anyOf": []}), "1 to 500 branches"),
    (_object(a=TEXT) | {"required": ["b"]}, "'b' is not in properties"),
    (_object(**{"$ref": TEXT}), "property name '$ref' is reserved"),
    (_object(a={"$ref": "#/$defs/B"}) | {"$defs": {"A": _object()}}, "must point to a definition"),
    (_object(a={"type": "object", "$defs": {}}), "at the root only"),
    (_object() | {"$defs": {"a/b": TEXT}}, "must not contain '/'"),
    (_object(**{f"p{n}": TEXT for n in range(3001)}), "more than 3000 properties"),
    (_deep(31), "nested deeper than 30"),
    (_object(a={"$ref": "#"}) | {"required": ["a"]}, "infinite recursion"),
    (
        _object(a={"$ref": "#/$defs/A"})
        | {"required": ["a"], "$defs": {"A": _object(b={"$ref": "#/$defs/A"}) | {"required": ["b"]}}},
        "infinite recursion",
    ),
]


@pytest.mark.parametrize("schema", GOOD)
def test_taken(schema: dict[str, Any]) -> None:
    assert dialect_problem(schema) is None


@pytest.mark.parametrize(("schema", "says"), BAD)
def test_refused(schema: dict[str, Any], says: str) -> None:
    assert says in (dialect_problem(schema) or "")


def test_the_error_is_worded_as_the_maker_words_it() -> None:
    schema = _object(note={"type": "string", "anyOf": [TEXT]})
    with LocalEndpoint() as endpoint:
        asked = body(output_config={"format": {"type": "json_schema", "schema": schema}})
        said = post(endpoint, asked).json()["error"]["message"]
        form = {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}
        chat_said = post(endpoint, chat(response_format=form), "/v1/chat/completions").json()["error"][
            "message"
        ]
        assert endpoint.counts()["by_rule"] == {"dialect": 2}
        endpoint.turn("dialect=any")
        assert post(endpoint, asked).status_code == 200
    why = (
        "is not a valid moonshot flavored json schema, details: <At path 'properties.note': "
        "when using anyOf, type should be defined in anyOf items instead of the parent schema>"
    )
    assert said == f"output_config.format.schema {why}"
    assert chat_said == f"response_format.json_schema.schema {why}"
