"""Constraints in words: what the wire schema cannot carry is told to the model here.

One sentence a constraint, always the same, so that the compiled text is byte-stable. Knows no dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from extract.schema.jsontext import write
from extract.schema.shape import Note


def _plural(number: Any, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


_ZONES: dict[Any, str] = {"aware": "With its offset from UTC.", "naive": "Without any offset from UTC."}

_MOMENTS = {
    "minimum": "Not before",
    "maximum": "Not after",
    "exclusiveMinimum": "After",
    "exclusiveMaximum": "Before",
}

_SENTENCES: dict[str, Callable[[Any], str]] = {
    "minimum": lambda v: f"At least {v}.",
    "maximum": lambda v: f"At most {v}.",
    "exclusiveMinimum": lambda v: f"Greater than {v}.",
    "exclusiveMaximum": lambda v: f"Less than {v}.",
    "multipleOf": lambda v: f"A multiple of {v}.",
    "minLength": lambda v: "Not empty." if v == 1 else f"At least {_plural(v, 'character')}.",
    "maxLength": lambda v: f"At most {_plural(v, 'character')}.",
    "minBytes": lambda v: f"At least {_plural(v, 'byte')}.",
    "maxBytes": lambda v: f"At most {_plural(v, 'byte')}.",
    "maxUrl": lambda v: f"At most {_plural(v, 'character')}.",
    "pattern": lambda v: f"Matches the regular expression {v}",
    "maxDigits": lambda v: f"At most {_plural(v, 'digit')} in all.",
    "decimalPlaces": lambda v: f"At most {_plural(v, 'digit')} after the point.",
    "minItems": lambda v: f"At least {_plural(v, 'item')}.",
    "maxItems": lambda v: f"At most {_plural(v, 'item')}.",
    "uniqueItems": lambda v: "No item twice.",
    "uniqueKeys": lambda v: "No key twice.",
    "timezone": lambda v: _ZONES.get(v, f"With {v}."),
    "when": lambda v: f"It lies {v}.",
    "letters": lambda v: f"In {v}." if v != "ASCII only" else "ASCII characters only.",
    "uuidVersion": lambda v: f"A UUID of version {v}.",
    "schemes": lambda v: f"The scheme is one of {', '.join(v)}.",
    "contentSchema": lambda v: f"It follows this JSON schema: {v}",
    "recursion": lambda v: f"Nested at most {_plural(v, 'level')} deep.",
}


def sentence(keyword: str, value: Any) -> str:
    """A constraint as one sentence for the model."""
    if isinstance(value, str) and value[4:5] == "-" and keyword in _MOMENTS:
        return f"{_MOMENTS[keyword]} {value}."
    whole = isinstance(value, float) and value.is_integer()
    return _SENTENCES[keyword](int(value) if whole else value)


def describe(notes: Iterable[Note], constraints: Iterable[str]) -> str:
    """The description of a place: the author's words, outer ones first, then constraints and examples."""
    told: list[str] = []
    examples: tuple[Any, ...] = ()
    default: tuple[Any, ...] = ()
    for note in notes:
        for text in (note.title, note.description):
            if text and text not in told:
                told.append(text)
        examples = examples or note.examples
        default = default or note.default
    tail = [text for text in constraints if text]
    if examples:
        tail.append(f"Examples: {'; '.join(map(write, examples))}")
    if default:
        tail.append(f"If nothing else is known: {write(default[0])}")
    return "\n".join([*told, *([" ".join(tail)] if tail else [])])
