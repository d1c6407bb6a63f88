"""One value and one source: where does it stand?

Knows nothing of models: a scalar comes in, a span goes out.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from extract.evidence.source import Source
from extract.evidence.words import Hit

__all__ = ["Span", "align", "align_quote"]


@dataclass(frozen=True, slots=True)
class Span:
    """A place in the source.

    start, end: indices of `Source.text`. page: from 1. quote: the text that stands there.
    method: "exact", "normalised" (white space, case, Unicode form, divided words), "spaced" (a code
        in groups), "number", "date" or "quote".
    """

    start: int
    end: int
    page: int
    quote: str
    method: str


def align(value: Any, source: Source, field: object = None) -> Span | None:
    """The first place where a scalar value stands; None where it does not, or cannot be said to.

    Words are compared without white space, case, Unicode form and division at line ends, whole words
    only; numbers, dates and times by value in any usual format; an enum by its value. True and False
    stand nowhere: ask for a quote. `field` is not needed.
    """
    hit = _find(value, source)
    return _span(hit, source) if hit else None


def align_quote(quote: str, source: Source) -> Span | None:
    """Where the words that a model quotes stand; quotation marks and dots around them are not theirs."""
    hit = source.words.find(quote)
    if hit is None:
        inner = quote.strip().strip("\"'“”„‟«»‘’…").strip().removesuffix("...").removeprefix("...").strip()
        hit = source.words.find(inner) if any(map(str.isalnum, inner)) else None
    return _span((hit[0], hit[1], "quote"), source) if hit and any(map(str.isalnum, quote)) else None


def _span(hit: Hit, source: Source) -> Span:
    start, end, method = hit
    return Span(start, end, source.page(start), source.text[start:end], method)


def _find(value: Any, source: Source) -> Hit | None:
    if isinstance(value, Enum):
        return _find(value.value, source)
    if value is None or isinstance(value, (bool, bytes, timedelta)):
        return None
    if isinstance(value, str):
        return source.words.find(value)
    if isinstance(value, (int, float, Decimal)):
        return source.numbers.find(value)
    if isinstance(value, (date, time)):
        return source.dates.find(value)
    return source.words.find(_written(value))


def _written(value: Any) -> str:
    """Other scalars (addresses, UUIDs, paths) as their JSON says them; nothing for the rest."""
    try:
        written = to_jsonable_python(value)
    except PydanticSerializationError:
        return ""
    return written if isinstance(written, str) else ""
