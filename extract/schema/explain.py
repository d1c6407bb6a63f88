"""Errors of jsonschema and Pydantic → findings.

Says of a union what is wrong with the branch that was meant. Does not decide what is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError as PydanticError

from extract.schema.expect import bound, expected, expected_by, listed
from extract.schema.finding import Finding, Stage
from extract.schema.forms import form_of
from extract.schema.jsontext import pointer, show
from extract.schema.places import NOWHERE, Part, Places, Spot, step
from extract.schema.shape import Scalar
from extract.schema.wire import FORM, KEYS, Schema

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

MOST = 100
"""Findings of one reply that are kept; a list of thousands of wrong items needs no more."""

_MANY_VALUES = 40


class Explainer:
    """Words for the errors of one model."""

    def __init__(self, judge: Schema, places: Places) -> None:
        self._defs: dict[str, Schema] = judge.get("$defs", {})
        self._places = places

    def of_schema(self, errors: Iterable[ValidationError], value: Any) -> list[Finding]:
        """Findings for what jsonschema saw, in the order of the reply."""
        found = (self._schema(leaf, value) for error in errors for leaf in self._leaves(error))
        return list(dict.fromkeys(islice(found, MOST)))

    def _schema(self, error: ValidationError, value: Any) -> Finding:
        parts = list(error.absolute_path)
        here = _at(value, parts)
        spot = self._places.of_wire(parts, value)
        stage: Stage = "decode" if error.validator == KEYS else "schema"
        found = "" if here is NOWHERE else show(here)
        return Finding(stage, pointer(spot.model), pointer(parts), found, self._wanted(error, parts, here))

    def _wanted(self, error: ValidationError, parts: Sequence[Part], here: Any) -> str:
        schema: Any = error.schema
        match error.validator:
            case "required":
                return (
                    f"the key {show(parts[-1])} with {expected(schema['properties'][parts[-1]], self._defs)}"
                )
            case "additionalProperties":
                keys = ", ".join(map(show, schema["properties"])) or "none"
                return f"no such key (the keys are: {keys})"
            case "enum":
                return _nearest(schema["enum"], here)
            case "anyOf" | "type" | "$ref":
                return expected(schema, self._defs)
            case name if name == FORM:
                return expected(schema, self._defs)
            case name if name == KEYS:
                return "each key once"
            case "format":
                return f"a string in the format {error.validator_value}"
            case keyword:
                return bound(str(keyword), error.validator_value)

    def _leaves(self, error: ValidationError) -> Iterator[ValidationError]:
        """The errors that matter below an `anyOf`: those of the branch that the reply came closest to."""
        if error.validator != "anyOf" or not error.context:
            yield error
            return
        branches: dict[Any, list[ValidationError]] = {}
        for inner in error.context:
            branches.setdefault(inner.schema_path[0], []).append(inner)
        close = {index: errors for index, errors in branches.items() if not _is_far(errors, error)}
        if not close:
            yield error
            return
        tag = self._wrong_tag(error, close)
        best = [tag] if tag is not None else min(close.values(), key=_distance)
        for inner in best:
            yield from self._leaves(inner)

    def _wrong_tag(
        self, union: ValidationError, close: dict[Any, list[ValidationError]]
    ) -> ValidationError | None:
        """The error of a key that tells the branches apart, if no branch has the value that stands there."""
        schema: Any = union.schema
        tags: dict[str, list[Any]] = {}
        for index in close:
            for key, part in self._resolved(schema["anyOf"][index]).get("properties", {}).items():
                tags.setdefault(key, []).append(part.get("enum", ()))
        for key, values in tags.items():
            wrong = [
                item
                for errors in close.values()
                for item in errors
                if item.validator in ("enum", "required", "type") and list(item.relative_path)[-1:] == [key]
            ]
            if len(values) == len(close) > 1 and all(values) and len(wrong) >= len(close):
                return _with_values(wrong[0], key, [one for part in values for one in part])
        return None

    def _resolved(self, schema: Schema) -> Schema:
        while "$ref" in schema:
            schema = self._defs[schema["$ref"].removeprefix("#/$defs/")]
        return schema

    def of_pydantic(self, error: PydanticError, model_value: Any, wire_value: Any) -> list[Finding]:
        """Findings for what Pydantic saw; of a union, only for the branch that was meant."""
        found: list[tuple[Spot, Finding]] = []
        for item in error.errors(include_url=False)[:MOST]:
            spot = self._places.of_location(item["loc"], model_value, wire_value)
            found.append((spot, _finding(spot, item, wire_value)))
        meant = [finding for spot, finding in found if spot.likely]
        return list(dict.fromkeys(meant or [finding for _, finding in found]))


def _finding(spot: Spot, item: Any, wire_value: Any) -> Finding:
    here = _at(wire_value, spot.wire)
    kind = item["type"]
    if isinstance(here, str) and kind in ("too_short", "too_long"):
        kind = f"string_{kind}"
    wanted = expected_by(kind, item["msg"], item.get("ctx") or {})
    if isinstance(spot.node, Scalar) and item["type"] in _UNSPECIFIC:
        words = form_of(spot.node.form).words
        wanted = f"{words[0].lower()}{words[1:].rstrip('.')} ({item['msg']})" if words else wanted
    found = "" if here is NOWHERE else show(here)
    return Finding("value", pointer(spot.model), pointer(spot.wire), found, wanted)


_UNSPECIFIC = (
    "value_error",
    "date_parsing",
    "datetime_parsing",
    "time_parsing",
    "time_delta_parsing",
    "uuid_parsing",
)


def _nearest(values: Sequence[Any], here: Any) -> str:
    """The allowed values; of very many, those that look like what was found."""
    if len(values) <= _MANY_VALUES or not isinstance(here, str):
        return listed(values)
    texts = [value for value in values if isinstance(value, str)]
    near = get_close_matches(here, texts, 8, 0.5) or texts[:8]
    return f"one of the {len(values)} values of the enum, such as {', '.join(map(show, near))}"


def _at(value: Any, parts: Sequence[Part]) -> Any:
    for part in parts:
        value = step(value, part)
    return value


def _is_far(errors: list[ValidationError], union: ValidationError) -> bool:
    """A branch of another type altogether."""
    here = len(union.absolute_path)
    kinds = ("type", "enum", "anyOf", FORM)
    return any(item.validator in kinds and len(item.absolute_path) == here for item in errors)


def _distance(errors: list[ValidationError]) -> tuple[int, int]:
    """Keys with a value of another branch count most, then the number of errors."""
    tags = sum(item.validator == "enum" and len(item.relative_path) == 1 for item in errors)
    return tags, len(errors)


def _with_values(error: ValidationError, key: str, values: list[Any]) -> ValidationError:
    """The same error, of a union's tag: any of the branches' values would do."""
    tag = {"type": "string", "enum": list(dict.fromkeys(values))}
    error.schema = {"properties": {key: tag}} if error.validator == "required" else tag
    if error.validator == "type":
        error.validator = "enum"
    return error
