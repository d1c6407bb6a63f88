"""A quick yes to a value that fits its schema: jsonschema-rs, where the extra `fast` is installed.

It says yes or "ask the judge", so it can never refuse anything; what it leaves to Python it leaves to
the judge's own validator, keyword by keyword. Knows nothing of findings or of replies.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from extract.schema.wire import Schema

Test = Callable[[Any], bool]

# keywords that mean the same in both libraries; all others are asked of the judge's validator
_SAME = frozenset({"properties", "required", "items", "anyOf", "$ref", "$defs", "minItems", "maxItems"})
_EXACT, _REST = "x-exact", "x-rest"
_KINDS = ("string", "boolean", "null", "array", "object")
_NOTES = frozenset({"title", "description", "default", "examples"})


def quick_yes(judge: Schema, part: Callable[[Schema], Test]) -> Test | None:
    """A test that is true only where the judge would find nothing; None without jsonschema-rs.

    part: makes the judge's own test for a schema without sub-schemas.
    """
    try:
        from jsonschema_rs import Draft202012Validator
    except ImportError:
        return None

    class Rest:
        """The keywords of one place that the judge's own validator looks at."""

        def __init__(self, parent: Any, schema: Schema, path: Any) -> None:
            self.test = part(schema)

        def validate(self, value: Any) -> None:
            if not self.test(value):
                raise ValueError

    try:
        validator = Draft202012Validator(
            _rewritten(judge), validate_formats=False, keywords={_EXACT: _Exact, _REST: Rest}
        )
    except ValueError:  # a schema that it does not take is no fault of the schema
        return None
    is_valid = validator.is_valid

    def test(value: Any) -> bool:
        try:
            return bool(is_valid(value))
        except (ValueError, RecursionError):
            return False

    return test


class _Exact:
    """`1.0` is no integer and `true` no number; an integer that no double holds is no number."""

    def __init__(self, parent: Any, kind: str, path: Any) -> None:
        self.integer = kind == "integer"

    def validate(self, value: Any) -> None:
        kind = type(value)
        if kind is not int and (self.integer or kind is not float):
            raise ValueError
        if not self.integer and kind is int:
            float(value)  # OverflowError, a refusal here, where a double cannot hold it


def _rewritten(schema: Schema) -> Schema:
    """The schema with what may differ between the two libraries handed to Python."""
    out: Schema = {}
    rest: Schema = {}
    for keyword, value in schema.items():
        if keyword == "type" and value in _KINDS:
            out["type"] = value
        elif keyword == "type" and value in ("integer", "number"):
            out[_EXACT] = value
        elif keyword == "enum" and all(isinstance(one, str) for one in value):
            out["enum"] = value
        elif keyword == "additionalProperties" and value is False:
            out[keyword] = False
        elif keyword in ("properties", "$defs"):
            out[keyword] = {name: _rewritten(inner) for name, inner in value.items()}
        elif keyword == "items":
            out[keyword] = _rewritten(value)
        elif keyword == "anyOf":
            out[keyword] = [_rewritten(branch) for branch in value]
        elif keyword in _SAME:
            out[keyword] = value
        elif keyword not in _NOTES:
            rest[keyword] = value
    if rest:
        out[_REST] = rest
    return out
