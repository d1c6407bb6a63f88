"""Errors of jsonschema and Pydantic → findings.

Says of a union what is wrong with the branch that was meant. Does not decide what is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError as PydanticError

from extract.schema.expect import bound, expected, expected_by
from extract.schema.finding import Finding, Stage
from extract.schema.jsontext import pointer, show
from extract.schema.places import NOWHERE, Part, Places, Spot, step
from extract.schema.wire import FORM, KEYS, Schema

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

MOST = 100
"""Findings of one reply that are kept; a list of thousands of wrong items needs no more."""


class Explainer:
    """Words for the errors of one model."""

    def __init__(self, judge: Schema, places: Places) -> None:
        self._defs: dict[str, Schema] = judge.get("$defs", {})
        self._places = places

    def of_schema(self, errors: Iterable[ValidationError], value: Any) -> list[Finding]:
        """Findings for what jsonschema saw, in the order of the reply."""
        return list(
            dict.fromkeys(
                self._schema(leaf, value) for error in islice(errors, MOST) for leaf in leaves(error)
            )
        )

    def _schema(self, error: ValidationError, value: Any) -> Finding:
        parts = list(error.absolute_path)
        missing = error.validator == "required"
        found = "" if missing else show(_at(value, parts))
        spot = self._places.of_wire(parts, value)
        stage: Stage = "decode" if error.validator == KEYS else "schema"
        return Finding(stage, pointer(spot.model), pointer(parts), found, self._wanted(error, parts))

    def _wanted(self, error: ValidationError, parts: Sequence[Part]) -> str:
        schema: Any = error.schema
        match error.validator:
            case "required":
                return (
                    f"the key {show(parts[-1])} with {expected(schema['properties'][parts[-1]], self._defs)}"
                )
            case "additionalProperties":
                keys = ", ".join(map(show, schema["properties"])) or "none"
                return f"no such key (the keys are: {keys})"
            case "anyOf" | "type" | "enum" | "$ref":
                return expected(schema, self._defs)
            case name if name == FORM:
                return expected(schema, self._defs)
            case name if name == KEYS:
                return "each key once"
            case "format":
                return f"a string in the format {error.validator_value}"
            case keyword:
                return bound(str(keyword), error.validator_value)

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
    wanted = expected_by(item["type"], item["msg"], item.get("ctx") or {})
    found = "" if here is NOWHERE else show(here)
    return Finding("value", pointer(spot.model), pointer(spot.wire), found, wanted)


def _at(value: Any, parts: Sequence[Part]) -> Any:
    for part in parts:
        value = step(value, part)
    return value


def leaves(error: ValidationError) -> Iterator[ValidationError]:
    """The errors that matter below an `anyOf`: those of the branch that the reply came closest to."""
    if error.validator != "anyOf" or not error.context:
        yield error
        return
    branches: dict[Any, list[ValidationError]] = {}
    for inner in error.context:
        branches.setdefault(inner.schema_path[0], []).append(inner)
    close = [errors for errors in branches.values() if not _far(errors, error)]
    if not close:
        yield error
        return
    best = min(close, key=_distance)
    for inner in best:
        yield from leaves(inner)


def _far(errors: list[ValidationError], union: ValidationError) -> bool:
    """A branch of another type altogether."""
    here = len(union.absolute_path)
    return any(
        item.validator in ("type", "enum", "anyOf") and len(item.absolute_path) == here for item in errors
    )


def _distance(errors: list[ValidationError]) -> tuple[int, int]:
    """Wrong tags count most, then the number of errors."""
    tags = sum(item.validator == "enum" and _is_tag(item.validator_value) for item in errors)
    return tags, len(errors)


def _is_tag(values: Any) -> bool:
    return len(values) == 1
