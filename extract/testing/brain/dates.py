"""Reads dates and times in the forms of four languages; what could be two dates is none.

Knows no schema. `01/06/2026` is settled by the other dates of its document or by its language.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from typing import Literal

from extract.testing.brain.lexicon import DAY_FIRST_WORDS, MONTHS
from extract.testing.brain.words import plain, words_of

Order = Literal["day", "month"] | None

_ISO = re.compile(r"(?<!\d)(\d{4})-(\d{1,2})-(\d{1,2})(?!\d)")
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})[/.](\d{1,2})[/.](\d{1,2})(?!\d)")
_NUMERIC = re.compile(r"(?<![\d.,/-])(\d{1,2})\s?([./-])\s?(\d{1,2})\s?\2\s?(\d{4}|\d{2})(?![\d/-])")
_DAY_NAME = re.compile(
    r"(?<!\d)(\d{1,2})(?:\.|st|nd|rd|th|er|º)?[\s-]+(?:de\s+|of\s+)?([a-z]{3,12})\.?,?[\s-]+(?:de[l]?\s+)?(\d{4})(?!\d)"
)
_NAME_DAY = re.compile(r"\b([a-z]{3,12})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})(?!\d)")
_TIME = re.compile(
    r"(?<![\d:])([01]?\d|2[0-3])[:h]([0-5]\d)(?::([0-5]\d)(?:\.\d+)?)?\s*(am|pm)?\s*(z|[+-]\d\d:?\d\d)?\b",
    re.I,
)
_DURATION = re.compile(r"(\d+(?:[.,]\d+)?)\s*(d|h|m|s)[a-z]*")


def date_order(text: str) -> Order:
    """Whether 3/4 is in April ("day" first) or in March, in this document; None when nothing tells."""
    days = months = 0
    for first, separator, second, _ in _NUMERIC.findall(text):
        days += separator == "." or int(first) > 12
        months += separator != "." and int(second) > 12
    if days and not months:
        return "day"
    if months and not days:
        return "month"
    if DAY_FIRST_WORDS & set(words_of(text)) or re.search(r"\bGBP\b|£|\bAUD\b|\bEUR\b|€", text):
        return "day"
    return "month" if re.search(r"\bUSD\b|\$", text) else None


def date_in(value: str, order: Order) -> dt.date | None:
    """The one date of a labelled value, or None."""
    found = dict.fromkeys(_dates(value, order))
    return next(iter(found)) if len(found) == 1 else None


def _dates(value: str, order: Order) -> Iterator[dt.date | None]:
    text = plain(value)
    for pattern in (_ISO, _YEAR_FIRST):
        for year, month, day in pattern.findall(text):
            yield _date(int(year), int(month), int(day))
    for day, name, year in _DAY_NAME.findall(text):
        if name in MONTHS:
            yield _date(int(year), MONTHS[name], int(day))
    for name, day, year in _NAME_DAY.findall(text):
        if name in MONTHS:
            yield _date(int(year), MONTHS[name], int(day))
    for first, separator, second, year in _NUMERIC.findall(text):
        yield _numeric(int(first), int(second), year, "day" if separator == "." else order)


def _numeric(first: int, second: int, year: str, order: Order) -> dt.date | None:
    whole = int(year) + (2000 if len(year) == 2 else 0)
    if first > 12 or first == second:
        order = "day"
    elif second > 12:
        order = "month"
    if order is None:
        return None
    day, month = (first, second) if order == "day" else (second, first)
    return _date(whole, month, day)


def _date(year: int, month: int, day: int) -> dt.date | None:
    try:
        return dt.date(year, month, day)
    except ValueError:
        return None


def time_in(value: str) -> str | None:
    """The one time of day of a value as HH:MM:SS with its offset, or None."""
    found = _TIME.findall(value)
    if len(found) != 1:
        return None
    hour, minute, second, half, zone = found[0]
    hours = int(hour) % 12 + (12 if half.lower() == "pm" else 0) if half else int(hour)
    return f"{hours:02}:{minute}:{second or '00'}{zone.upper()}"


def datetime_in(value: str, order: Order) -> str | None:
    """Date and time of a value in ISO form, or None where one of them is missing."""
    day, time = date_in(value, order), time_in(value.replace("T", " "))
    return f"{day.isoformat()}T{time}" if day and time else None


def duration_in(value: str) -> str | None:
    """A duration in ISO form, from `1 h 30 min` or from ISO itself."""
    if re.fullmatch(r"P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?", value.strip()):
        return value.strip()
    parts = {unit: number.replace(",", ".") for number, unit in _DURATION.findall(plain(value))}
    if not parts:
        return None
    days = f"{parts['d']}D" if "d" in parts else ""
    time = "".join(f"{parts[unit]}{unit.upper()}" for unit in "hms" if unit in parts)
    return f"P{days}{'T' + time if time else ''}"
