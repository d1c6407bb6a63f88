"""A whole value and its source: what is found, what is quoted, what is flagged, and what is refused.

Walks a validated value by the plan of `fields`. Knows nothing of replies and of what happens to findings.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from datetime import date, time
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import to_jsonable_python

from extract.evidence.align import Span, align, align_quote
from extract.evidence.fields import EvidenceFields, Node, Place, escaped
from extract.evidence.marker import Evidence
from extract.evidence.source import Box, Source
from extract.schema.finding import Finding, shorten

__all__ = ["EvidenceRow", "Status", "ground"]

Status = Literal["found", "quoted", "flagged"]


@dataclasses.dataclass(frozen=True, slots=True)
class EvidenceRow:
    """Where one value stands; a flagged one stands nowhere.

    path: JSON pointer in the model's shape. start, end: indices of the source text. page: from 1.
    quote: the text that stands there. method: how it was found. box: its place on the page in points.
    """

    path: str
    status: Status
    start: int | None = None
    end: int | None = None
    page: int | None = None
    quote: str | None = None
    method: str | None = None
    box: Box | None = None

    def as_dict(self) -> dict[str, Any]:
        """As a struct of the output column `_evidence`."""
        return {one.name: getattr(self, one.name) for one in dataclasses.fields(self)}


def ground(
    value: Any,
    fields: EvidenceFields,
    source: Source,
    *,
    quotes: Mapping[str, str | None] | None = None,
    wire_path: Callable[[str], str] | None = None,
) -> tuple[list[EvidenceRow], list[Finding]]:
    """Look for everything that asks for evidence in a validated value of the model.

    fields: `evidence_fields` of the same model. quotes: for places with by="quote", their JSON
    pointer to the words that the model quoted. wire_path: from a pointer in the model's shape to the one
    that the model was asked for (the same by default). None needs no evidence.
    """
    rows: list[EvidenceRow] = []
    findings: list[Finding] = []
    for claim in _claims(fields.root, value, "", None) if fields else ():
        quote = (quotes or {}).get(claim.path)
        span = _support(claim, quote, source)
        if span:
            status: Status = "quoted" if claim.marker.by == "quote" else "found"
            box = source.box(span.start, span.end)
            rows.append(EvidenceRow(claim.path, status, **_as_columns(span), box=box))
        elif claim.marker.missing == "flag":
            rows.append(EvidenceRow(claim.path, "flagged"))
        else:
            findings.append(_finding(claim, quote, wire_path(claim.path) if wire_path else claim.path))
    return rows, findings


@dataclasses.dataclass(frozen=True, slots=True)
class _Claim:
    """A value that must be shown, and whether the model may leave it out."""

    path: str
    value: Any
    marker: Evidence
    optional: bool


def _support(claim: _Claim, quote: str | None, source: Source) -> Span | None:
    if claim.marker.by == "quote":
        return align_quote(quote, source) if quote else None
    return align(claim.value, source)


def _as_columns(span: Span) -> dict[str, Any]:
    return {one.name: getattr(span, one.name) for one in dataclasses.fields(span)}


def _claims(
    place: Place, value: Any, path: str, above: Evidence | None, *, optional: bool = False
) -> Iterator[_Claim]:
    """Every value that asks for evidence, in the order of the model."""
    marker, node = place.marker or above, place.node
    if value is None or not (marker or node.live):
        return
    if marker and marker.by == "quote":
        yield _Claim(path, value, marker, optional or _may_be_none(node))
        marker = None
    if node.kind == "union":
        chosen = _option(node, value)
        optional = optional or _may_be_none(node)
        if chosen:
            yield from _claims(chosen, value, path, marker, optional=optional)
        elif marker:
            yield from _loose(value, path, marker, optional=optional)
    elif node.kind == "leaf":
        yield from _loose(value, path, marker, optional=optional) if marker else ()
    else:
        for inner, item, step, passed in _inside(node, value, marker):
            yield from _claims(inner, item, path + step, passed)


def _inside(
    node: Node, value: Any, marker: Evidence | None
) -> Iterator[tuple[Place, Any, str, Evidence | None]]:
    """The places in a value that has some: place, value, step of the pointer, marker from above."""
    if node.kind == "root":
        yield node.inner[0], value.root, "", marker
    elif node.kind == "object":
        for inner in node.inner:
            item = value.get(inner.key) if isinstance(value, Mapping) else getattr(value, inner.key, None)
            yield inner, item, f"/{escaped(inner.name)}", marker
    elif node.kind == "dict":
        for key, item in value.items():
            step = f"/{escaped(str(to_jsonable_python(key)))}"
            yield node.inner[0], key, step, None
            yield node.inner[1], item, step, marker
    elif node.kind == "tuple":
        for number, (inner, item) in enumerate(zip(node.inner, value, strict=False)):
            yield inner, item, f"/{number}", marker
    else:
        for number, item in enumerate(_in_order(value)):
            yield node.inner[0], item, f"/{number}", marker


def _loose(value: Any, path: str, marker: Evidence, *, optional: bool) -> Iterator[_Claim]:
    """The values in what has no declared inside: a bare `list` or `dict` under a marker."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _loose(item, f"{path}/{escaped(str(key))}", marker, optional=False)
    elif isinstance(value, (list, tuple, Set)):
        for number, item in enumerate(_in_order(value)):
            yield from _loose(item, f"{path}/{number}", marker, optional=False)
    elif value is not None:
        yield _Claim(path, value, marker, optional)


def _in_order(value: Any) -> Any:
    """A set has an order of its own in every process: take one that stays."""
    return sorted(value, key=repr) if isinstance(value, Set) else value


def _may_be_none(node: Node) -> bool:
    return node.kind == "union" and any(
        inner.node.type in (None, type(None)) or _may_be_none(inner.node) for inner in node.inner
    )


def _option(union: Node, value: Any) -> Place | None:
    """The option of a union that a value is of; the exact type before a base of it."""
    for exact in (True, False):
        for inner in union.inner:
            if _fits(inner.node, value, exact=exact):
                return inner
    return None


def _fits(node: Node, value: Any, *, exact: bool) -> bool:
    kind, tp = node.kind, get_origin(node.type) or node.type
    if kind == "union":
        return any(_fits(inner.node, value, exact=exact) for inner in node.inner)
    if kind == "object" and isinstance(value, Mapping):
        return issubclass(tp, dict) and set(value) <= {inner.key for inner in node.inner}
    if kind == "dict":
        return isinstance(value, Mapping) and _first_fits(node.inner[1], value.values(), exact=exact)
    if kind == "list":
        return (
            isinstance(value, (Sequence, Set))
            and not isinstance(value, (str, bytes))
            and (_first_fits(node.inner[0], value, exact=exact))
        )
    if kind == "tuple":
        return isinstance(value, tuple) and len(value) == len(node.inner)
    if tp is Literal:
        return any(type(one) is type(value) and one == value for one in get_args(node.type))
    if tp is Any:
        return not exact
    return isinstance(tp, type) and (type(value) is tp if exact else isinstance(value, tp))


def _first_fits(place: Place, values: Any, *, exact: bool) -> bool:
    first = next(iter(values), None)
    return first is None or _fits(place.node, first, exact=exact)


def _finding(claim: _Claim, quote: str | None, wire_path: str) -> Finding:
    value = claim.value.value if isinstance(claim.value, Enum) else claim.value
    way_out = ", or null if the source text does not say it" if claim.optional else ""
    if claim.marker.by == "quote":
        expected = f"a quote that supports the value, copied from the source text word for word{way_out}"
        found = repr(quote) if quote else "no quote"
    else:
        expected = f"{_wanted(value)}{way_out}"
        found = f"{_shown(value)}, which does not stand there"
    return Finding("evidence", claim.path, wire_path, shorten(found), expected)


def _wanted(value: Any) -> str:
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        return "a number that is written in the source text (not a computed or rounded one)"
    if isinstance(value, (date, time)):
        return "a date or time that is written in the source text"
    return "words that stand in the source text, copied as they are written there"


def _shown(value: Any) -> str:
    if isinstance(value, BaseModel):
        return repr(value)
    return repr(value) if isinstance(value, str) else str(value)
