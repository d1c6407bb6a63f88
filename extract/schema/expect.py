"""What should stand somewhere, in words that a model can act on.

Out of a judge schema, or out of a Pydantic error. Knows no reply.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from extract.schema.finding import shorten
from extract.schema.forms import form_of
from extract.schema.jsontext import write
from extract.schema.wire import FORM, Schema
from extract.schema.words import sentence

_TYPES = {
    "string": "a string",
    "integer": "a whole number (no decimal point, no quotes)",
    "number": "a number (no quotes)",
    "boolean": "true or false",
    "null": "null",
    "array": "a list",
}
_LONG = 600


def listed(values: Any) -> str:
    """The allowed values of an enum, as they must be written."""
    names = [write(value) for value in values]
    return names[0] if len(names) == 1 else shorten("one of " + ", ".join(names), _LONG)


def expected(schema: Schema, defs: Mapping[str, Schema]) -> str:
    """A schema in words."""
    if "$ref" in schema:
        return expected(defs[schema["$ref"].removeprefix("#/$defs/")], defs)
    if "anyOf" in schema:
        parts = dict.fromkeys(expected(branch, defs) for branch in schema["anyOf"])
        return shorten(" or ".join(parts), _LONG)
    if "enum" in schema:
        return listed(schema["enum"])
    if schema.get("type") == "object":
        keys = ", ".join(write(key) for key in schema["properties"])
        return shorten(f"an object with the keys {keys}" if keys else "an empty object {}", _LONG)
    words = form_of(schema.get(FORM, "")).words
    if words:
        return f"a string: {words[0].lower()}{words[1:].rstrip('.')}"
    return _TYPES[schema["type"]]


_RULES = {
    "greater_than": ("exclusiveMinimum", "gt"),
    "greater_than_equal": ("minimum", "ge"),
    "less_than": ("exclusiveMaximum", "lt"),
    "less_than_equal": ("maximum", "le"),
    "multiple_of": ("multipleOf", "multiple_of"),
    "string_too_short": ("minLength", "min_length"),
    "string_too_long": ("maxLength", "max_length"),
    "string_pattern_mismatch": ("pattern", "pattern"),
    "bytes_too_short": ("minBytes", "min_length"),
    "bytes_too_long": ("maxBytes", "max_length"),
    "too_short": ("minItems", "min_length"),
    "too_long": ("maxItems", "max_length"),
    "decimal_max_digits": ("maxDigits", "max_digits"),
    "decimal_max_places": ("decimalPlaces", "decimal_places"),
}


_SAID = {
    "timezone_aware": "a date and time with its offset from UTC",
    "timezone_naive": "a date and time without any offset from UTC",
    "date_past": "a date in the past",
    "date_future": "a date in the future",
    "datetime_past": "a date and time in the past",
    "datetime_future": "a date and time in the future",
    "uuid_version": "a UUID of version {expected_version}",
    "url_scheme": "a URL whose scheme is {expected_schemes}",
    "finite_number": "a finite number",
    "missing": "this key",
}


def expected_by(kind: str, message: str, context: Mapping[str, Any]) -> str:
    """What a Pydantic error asks for."""
    keyword, name = _RULES.get(kind, ("", ""))
    if keyword and name in context:
        return bound(keyword, context[name])
    if kind in _SAID:
        return _SAID[kind].format_map(context)
    if kind in ("value_error", "assertion_error"):
        return f"a value that holds to: {message.partition(', ')[2] or message}"
    for start in ("Input should be ", "Input should "):
        if message.startswith(start):
            return message.removeprefix(start)
    return message


def bound(keyword: str, value: Any) -> str:
    """A constraint as what is expected: "at most 3 items"."""
    if keyword == "pattern":
        return f"text that matches the regular expression {value}"
    if keyword == "minLength" and value == 1:
        return "text that is not empty"
    text = sentence(keyword, value).rstrip(".")
    return text[0].lower() + text[1:]
