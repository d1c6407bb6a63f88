"""The one JSON reader, and the one writer.

Reads a reply strictly: one value, no repeated key, no NaN, nothing around it but white space, a byte order
mark and one code fence around the whole. Knows no schema and no model.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import jiter

from extract.schema.finding import shorten

MAX_DEPTH = 96
"""Levels of nesting that a reply may have; deeper ones are a finding, never a RecursionError."""

_BLANK = " \t\r\n\ufeff"
MAX_BITS = 13_000
"""Of an integer: about 3,900 digits; Python does not print integers beyond 4,300."""

_SHALLOW = f"at most {MAX_DEPTH} levels of nesting"


class JsonTextError(ValueError):
    """Text that is not one strict JSON value. `found` and `expected` are worded for the model."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(f"expected {expected}, found {found}")
        self.found = found
        self.expected = expected


def unwrap(text: str) -> str:
    """The text without white space, a byte order mark and one code fence around the whole of it."""
    if text[:1] == "{" and text[-1:] == "}":
        return text
    text = text.strip(_BLANK)
    if not text.startswith("```"):
        return text
    ticks = len(text) - len(text.lstrip("`"))
    first, newline, rest = text.partition("\n")
    if not newline or not _is_info(first[ticks:].strip()):
        return text
    body, newline, last = rest.rpartition("\n")
    if not newline or last.strip() != "`" * ticks:
        return text
    return body.strip(_BLANK)


def _is_info(info: str) -> bool:
    return info == "" or info.lower() in ("json", "json5", "jsonc")


def read(text: str) -> Any:
    """The value of a strict JSON text.

    Integers stay exact. Raises `JsonTextError` for anything that is not exactly one JSON value.
    """
    value = parse(text)
    inspect(value)
    return value


def parse(text: str) -> Any:
    """As `read`, for who looks for numbers that overflow and for nesting without end by themselves."""
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise JsonTextError(_near(text, error.start), "text without lone surrogates") from None
    if not data:
        raise JsonTextError("nothing", "one JSON value")
    try:
        return jiter.from_json(data, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError as error:
        raise _told(str(error), text) from None


def inspect(value: Any) -> None:
    """Refuses what jiter lets through, numbers that overflow and nesting without end: `JsonTextError`."""
    level: list[Any] = [value]
    depth = 0
    while level:
        below: list[Any] = []
        for item in level:
            kind = type(item)
            if kind is str:
                continue
            if kind is dict or kind is list:
                if depth == MAX_DEPTH:
                    raise JsonTextError(f"more than {MAX_DEPTH} levels", _SHALLOW)
                below += item.values() if kind is dict else item
            elif kind is float:
                if item - item != 0.0:
                    raise JsonTextError("a number that overflows", "numbers within the range of a double")
            elif kind is int and item.bit_length() > MAX_BITS:
                raise JsonTextError("an integer of thousands of digits", "whole numbers of a sane length")
        level = below
        depth += 1


_DUPLICATE = 'Detected duplicate key "'


def _told(message: str, text: str) -> JsonTextError:
    what, _, place = message.rpartition(" at line ")
    line, _, column = place.partition(" column ")
    spot = _offset(text, int(line), int(column)) if line.isdigit() and column.isdigit() else 0
    if what.startswith(_DUPLICATE):
        return JsonTextError(f"the key {what[len(_DUPLICATE) - 1 :]} twice", "each key once in an object")
    if "recursion limit" in what:
        return JsonTextError("too many levels", _SHALLOW)
    if what.startswith("trailing characters"):
        return JsonTextError(
            f"more text after it: {_near(text, spot)}", "one JSON value and nothing after it"
        )
    if what.startswith("EOF"):
        return JsonTextError("the end of the text", "the JSON value to be complete")
    expected = "one JSON value, without any text before or after it" if spot <= 1 else "valid JSON"
    return JsonTextError(f"{_near(text, spot)} (line {line}, column {column}: {what})", expected)


def _offset(text: str, line: int, column: int) -> int:
    """Where in the text a line and a column of UTF-8 bytes are."""
    rows = text.split("\n")
    if not 1 <= line <= len(rows):
        return 0
    inside = rows[line - 1].encode()[: max(column - 1, 0)].decode(errors="ignore")
    return sum(len(row) + 1 for row in rows[: line - 1]) + len(inside)


def _near(text: str, spot: int) -> str:
    return shorten(repr(text[max(spot - 10, 0) : spot + 40]), 80)


# an encoder is made once: `json.dumps` with options of one's own makes one at each call
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def write(value: Any) -> str:
    """The compact canonical text of a JSON value, in the order it has; raises ValueError for NaN."""
    return _COMPACT.encode(value)


def show(value: Any, limit: int = 120) -> str:
    """A JSON value as a finding shows it: one line, shortened in the middle."""
    try:
        return shorten(write(value), limit)
    except (ValueError, TypeError, RecursionError):
        return shorten(repr(type(value)), limit)


def pointer(parts: Iterable[str | int]) -> str:
    """A JSON pointer out of keys and indices."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def parts_of(path: str) -> list[str]:
    """The keys and indices of a JSON pointer, all as text."""
    if not path:
        return []
    return [part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/")]
