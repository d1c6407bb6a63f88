"""Stages 2 to 4 of the judge: the text of a reply → a validated value, or findings.

JSON, JSON Schema, decoding, Pydantic strict from JSON; each stage runs only when the one before it found
nothing. Never mends anything. Knows no message, no model, no network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, time
from decimal import Decimal
from functools import cached_property, lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from uuid import UUID

from pydantic import ValidationError as PydanticError
from pydantic_core import SchemaValidator

from extract.schema.decode import RepeatedKeyError, Turn, key_text
from extract.schema.explain import Explainer
from extract.schema.finding import Finding
from extract.schema.fits import is_exactly, same
from extract.schema.forms import form_of
from extract.schema.jsontext import JsonTextError, inspect, parse, read, show, unwrap, write
from extract.schema.quick import Test, quick_yes
from extract.schema.wire import FORM, KEYS, Schema

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


class Findings(list[Finding]):
    """What is wrong with a reply; a list of its own type, since an answer may be a list too."""


class Checker:
    """Judges texts against one model. Raises nothing about a reply: what is wrong becomes findings."""

    def __init__(
        self, judge: Schema, validator: SchemaValidator, decode: Turn | None, explain: Explainer
    ) -> None:
        self._judge = judge
        self._validator = validator
        self._decode = decode
        self._explain = explain
        self._schema: Validator | None = None

    def check(self, text: str) -> Any:
        """The validated value of a reply's text, or `Findings`."""
        text = unwrap(text)
        try:
            wire = parse(text)
            if not self._quick(wire):
                inspect(wire)
                if found := self._against_schema(wire):
                    return Findings(found)
            return self._validated(text, wire)
        except JsonTextError as error:
            return Findings([Finding("json", "", "", error.found, error.expected)])
        except RecursionError:
            return Findings([Finding("json", "", "", "too many levels", "fewer levels of nesting")])

    def load(self, text: str) -> Any:
        """The value of a text that was accepted before. Raises ValueError if it no longer is one."""
        if self._decode is None:
            return self._validator.validate_json(text)
        return self._validator.validate_json(write(self._decode(read(text))))

    @cached_property
    def _quick(self) -> Test:
        """The quick yes; no means that jsonschema, which takes a second to import, has to look."""
        return quick_yes(self._judge, lambda part: _built(part).is_valid)

    def _against_schema(self, wire: Any) -> list[Finding]:
        if self._schema is None:
            self._schema = _built(self._judge)
        return self._explain.of_schema(self._schema.iter_errors(wire), wire)

    def _validated(self, text: str, wire: Any) -> Any:
        try:
            model = wire if self._decode is None else self._decode(wire)
        except RepeatedKeyError as error:
            return Findings([Finding("decode", "", "", str(error), "each key once")])
        try:
            return self._validator.validate_json(text if self._decode is None else write(model))
        except PydanticError as error:
            return Findings(self._explain.of_pydantic(error, model, wire))
        except RecursionError:
            raise
        except Exception as error:  # a validator of the model's author that cannot read this value
            wanted = f"a value that the model's own validators can read ({type(error).__name__}: {error})"
            return Findings([Finding("value", "", "", show(wire), wanted)])


def _built(schema: Schema) -> Validator:
    validator: Validator = _validator_class()(schema, format_checker=_formats())
    return validator


@lru_cache(maxsize=1)
def _formats() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator.FORMAT_CHECKER


@lru_cache(maxsize=1)
def _validator_class() -> Any:
    """Draft 2020-12 with exact types and enums, errors that carry their place, and our own keywords."""
    from jsonschema import Draft202012Validator, validators

    types = Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "integer": lambda checker, value: is_exactly("integer", value),
            "number": lambda checker, value: is_exactly("number", value) and _is_finite(value),
        }
    )
    keywords = {
        "required": _required,
        "additionalProperties": _closed,
        "enum": _enum,
        FORM: _form,
        KEYS: _keys,
    }
    extend: Any = validators.extend
    return extend(Draft202012Validator, keywords, type_checker=types)


def _is_finite(value: float) -> bool:
    try:
        return float(value) - float(value) == 0
    except OverflowError:
        return False


def _error(message: str, *path: Any) -> Any:
    from jsonschema.exceptions import ValidationError

    return ValidationError(message, path=path)


def _required(validator: Any, keys: list[str], value: Any, schema: Schema) -> Iterator[Any]:
    if isinstance(value, dict):
        for key in keys:
            if key not in value:
                yield _error("missing", key)


def _closed(validator: Any, closed: Any, value: Any, schema: Schema) -> Iterator[Any]:
    if isinstance(value, dict):
        known = schema["properties"]
        for key in value:
            if key not in known:
                yield _error("extra", key)


def _enum(validator: Any, values: list[Any], value: Any, schema: Schema) -> Iterator[Any]:
    if not any(same(value, one) for one in values):
        yield _error("no such value")


def _form(validator: Any, form: str, value: Any, schema: Schema) -> Iterator[Any]:
    check = form_of(form).check
    if isinstance(value, str) and check is not None and not check(value):
        yield _error("text form")


_SAME_KEY: dict[str, Callable[[Any], Any]] = {
    "number": float,
    "decimal": Decimal,
    "decimal-or-nan": Decimal,
    "datetime": datetime.fromisoformat,
    "time": time.fromisoformat,
    "uuid": UUID,
    "ipv4": ip_address,
    "ipv6": ip_address,
}


def _key(kind: str, key: Any) -> Any:
    """What a key is to Python, where two texts can be one key (1.5 and 1.50)."""
    try:
        return _SAME_KEY[kind](key) if kind in _SAME_KEY else key_text(key)
    except (ValueError, ArithmeticError, TypeError):
        return key_text(key)


def _keys(validator: Any, kind: str, value: Any, schema: Schema) -> Iterator[Any]:
    if not isinstance(value, list):
        return
    seen: set[Any] = set()
    for index, item in enumerate(value):
        if isinstance(item, dict) and "key" in item:
            key = _key(kind, item["key"])
            if key in seen:
                yield _error("repeated", index, "key")
            seen.add(key)
