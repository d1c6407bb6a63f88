"""Find a date, a time of day or both in a text, in the formats of seven languages.

Works on folded text (see `normalise`): one pass marks what starts like a date, each such place is
then read once. What is written ambiguously counts in each legal reading: `03/04/2026` is in March and
in April, `58` is 1958 and 2058. A date without a year is none. Knows nothing of fields.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from functools import cached_property
from typing import Any, TypeVar

from extract.evidence.months import MONTHS, STEMS
from extract.evidence.normalise import Folded
from extract.evidence.words import Hit

__all__ = ["DateIndex"]

Span = tuple[int, int]
Parts = tuple[int, int, int]
Found = tuple[Span, list[Parts]]  # a place and its legal readings: year, month, day
Left = TypeVar("Left", bound=tuple[Any, ...])
Right = TypeVar("Right", bound=tuple[Any, ...])


def _stem_pattern() -> str:
    """What the name of a month begins with, as a pattern that fails at its first letter mostly."""
    heads: dict[str, list[str]] = {}
    for stem in sorted(STEMS):
        heads.setdefault(stem[0], []).append(stem[1:])
    return "|".join(f"{head}(?:{'|'.join(tails)})" for head, tails in heads.items())


_START = re.compile(
    r"""(?P<digits>[0-9](?<![0-9][0-9])[0-9]{0,3}+)(?:
        (?P<compact>[0-9]{4}(?![0-9]))                                     # 20261231
      | (?P<numeric>[./-])[ ]?[0-9]{1,2}(?P=numeric)[ ]?[0-9]              # 31.12.2026 31/12/26 2026-12-31
      | (?P<eastern>年)                                                    # 2026年12月31日
      | (?P<month_first>(?:st|nd|rd|th|\.)?,?[ ][0-9]{4}(?![0-9]|[./-][0-9]))  # December 31, 2026
      | (?:st|nd|rd|th|er|\.?[oa])?\.?[ -]?(?:(?:of|de|den)[ ]|d')?(?P<day_first>%STEMS%)  # 31 December 2026
    )""".replace("%STEMS%", _stem_pattern()),
    re.VERBOSE,
)
_COMPACT = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})(?![0-9])")
_NUMERIC = re.compile(r"([0-9]{1,4})([./-]) ?([0-9]{1,2})\2 ?([0-9]{1,4})(?!\2?[0-9])")
_EASTERN = re.compile(r"([0-9]{4})年 ?([0-9]{1,2})月 ?([0-9]{1,2})日")
_DAY_FIRST = re.compile(
    r"([0-9]{1,2})(?:st|nd|rd|th|er|\.?[oa])?\.?[ -]?(?:(?:of|de|den) |d')?"
    r"([^\W\d_]{3,12})\.?,?[ -]?(?:(?:de|del) )?"
    r"(?:([0-9]{4})(?![0-9])|'?([0-9]{2})(?![:.,]?[0-9]| ?(?:uhr|h|am|pm)\b| ?%))"
)
_MONTH_FIRST = re.compile(r"([0-9]{1,2})(?:st|nd|rd|th|\.)?,? ([0-9]{4})(?![0-9])")
_MONTH_BEFORE = re.compile(r"(?<![^\W_])([^\W\d_]{3,12})\.?[ -]?$")
_BACK = 16

_TIME = re.compile(
    r"(?P<hour>[0-9](?<![0-9][0-9])[0-9]?+)(?:"
    r"[:h](?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,](?P<part>[0-9]{1,9}))?)?(?![0-9])"
    r"(?: ?(?:(?P<half>[ap]\.?m\b\.?)|uhr\b|h\b))?"
    r"|\.(?P<dotted>[0-9]{2}) ?(?:uhr\b|h\b|(?P<half2>[ap]\.?m\b\.?))"
    r"| ?(?:uhr\b|h\b|o'clock\b|(?P<half3>[ap]\.?m\b\.?))"
    r")(?=(?: ?(?P<zone>z\b|utc\b|gmt\b|[+-](?:0[0-9]|1[0-4]):?[0-9]{2}(?![0-9])))?)"
)
_GAP = re.compile(r"(?:t| ?[,;|(/-]? ?(?:(?:at|um|kl\.?|om|à|a las|alle|às|ore) )?)(?=[0-9])")
_GAP_BEFORE = re.compile(r" ?[,;|(/-]? ?(?:(?:on|am|le|el|il|op) )?(?:the )?")


Zoned = dict[timedelta | None, Span]  # the first place for each offset from UTC written beside a time


class DateIndex:
    """All dates and times of one folded text."""

    def __init__(self, folded: Folded) -> None:
        self._folded = folded
        self._text = folded.text

    def find(self, value: date | time) -> Hit | None:
        """The first place of a date, a time or a datetime. A midnight stands in a date without a time."""
        if isinstance(value, datetime):
            span = self._moment(value)
        elif isinstance(value, date):
            span = self._days.get(value)
        else:
            span = _first(self._times.get(value.replace(tzinfo=None, fold=0)), value.utcoffset())
        return (*self._folded.span(*span), "date") if span else None

    def _moment(self, value: datetime) -> Span | None:
        wall = value.replace(tzinfo=None, fold=0)
        span = _first(self._moments.get(wall), value.utcoffset())
        return self._days.get(wall.date()) if span is None and wall.time() == time() else span

    @cached_property
    def _dates(self) -> list[tuple[Span, list[date]]]:
        return list(_read_dates(self._text))

    @cached_property
    def _days(self) -> dict[date, Span]:
        return {day: span for span, days in reversed(self._dates) for day in days}

    @cached_property
    def _clock(self) -> list[tuple[Span, time, timedelta | None]]:
        return list(_read_times(self._text))

    @cached_property
    def _times(self) -> dict[time, Zoned]:
        times: defaultdict[time, Zoned] = defaultdict(dict)
        for span, clock, offset in self._clock:
            times[clock].setdefault(offset, span)
        return dict(times)

    @cached_property
    def _moments(self) -> dict[datetime, Zoned]:
        """Each date with a time beside it, on either side."""
        moments: defaultdict[datetime, Zoned] = defaultdict(dict)
        pairs = [*_beside(self._text, self._dates, self._clock, _GAP)]
        pairs += [(days, clock) for clock, days in _beside(self._text, self._clock, self._dates, _GAP_BEFORE)]
        for (day_span, days), (span, clock, offset) in pairs:
            whole = min(day_span[0], span[0]), max(day_span[1], span[1])
            for day in days:
                moments[datetime.combine(day, clock)].setdefault(offset, whole)
        return dict(moments)


def _beside(
    text: str, left: Sequence[Left], right: Sequence[Right], gap: re.Pattern[str]
) -> Iterator[tuple[Left, Right]]:
    """What stands on the left of something, with nothing but a gap between."""
    starts: defaultdict[int, list[Right]] = defaultdict(list)
    for one in right:
        starts[one[0][0]].append(one)
    for other in left:
        m = gap.match(text, other[0][1])
        for one in starts.get(m.end(), ()) if m else ():
            yield other, one


def _first(zoned: Zoned | None, offset: timedelta | None) -> Span | None:
    """The first place whose offset from UTC does not speak against the value."""
    spans = [
        span for written, span in (zoned or {}).items() if None in (written, offset) or written == offset
    ]
    return min(spans, default=None)


def _read_dates(text: str) -> Iterator[tuple[Span, list[date]]]:
    at = 0
    while m := _START.search(text, at):
        start = m.start()
        found = None if text[start - 1 : start].isdecimal() else _READERS[m.lastgroup or ""](text, start)
        days = [day for day in map(_day, found[1]) if day] if found else []
        if found and days:
            yield found[0], days
        # What was no date may have swallowed the beginning of one.
        at = max(found[0][1] if found and days else 0, m.end("digits"))


def _day(parts: Parts) -> date | None:
    try:
        return date(*parts)
    except ValueError:
        return None


def _compact(text: str, start: int) -> Found | None:
    m = _COMPACT.match(text, start)
    return (m.span(), [(int(m[1]), int(m[2]), int(m[3]))]) if m else None


def _eastern(text: str, start: int) -> Found | None:
    m = _EASTERN.match(text, start)
    return (m.span(), [(int(m[1]), int(m[2]), int(m[3]))]) if m else None


def _numeric(text: str, start: int) -> Found | None:
    m = _NUMERIC.match(text, start)
    if m is None or (text[start - 1 : start] == m[2] and text[start - 2 : start - 1].isdecimal()):
        return None
    first, mark, second, third = m[1], m[2], int(m[3]), m[4]
    if len(first) == 4:
        return m.span(), [(int(first), second, int(third))] if len(third) <= 2 else []
    if len(first) > 2 or len(third) not in (2, 4):
        return None
    days = [(year, second, int(first)) for year in _years(third)]
    months = [(year, int(first), second) for year in _years(third)] if mark != "." else []
    return m.span(), days + months


def _day_first(text: str, start: int) -> Found | None:
    m = _DAY_FIRST.match(text, start)
    month = MONTHS.get(m[2]) if m else None
    return (m.span(), [(year, month, int(m[1])) for year in _years(m[3] or m[4])]) if m and month else None


def _month_first(text: str, start: int) -> Found | None:
    m = _MONTH_FIRST.match(text, start)
    word = _MONTH_BEFORE.search(text[max(0, start - _BACK) : start])
    month = MONTHS.get(word[1]) if word else None
    if m is None or word is None or month is None:
        return None
    return (start - len(word[0]), m.end()), [(int(m[2]), month, int(m[1]))]


def _years(written: str) -> tuple[int, ...]:
    year = int(written)
    return (year,) if len(written) == 4 else (2000 + year, 1900 + year)


_READERS: dict[str, Callable[[str, int], Found | None]] = {
    "compact": _compact,
    "numeric": _numeric,
    "eastern": _eastern,
    "month_first": _month_first,
    "day_first": _day_first,
}


def _read_times(text: str) -> Iterator[tuple[Span, time, timedelta | None]]:
    for m in _TIME.finditer(text):
        before = text[max(0, m.start() - 2) : m.start()]
        if (
            before[-1:].isdecimal()
            or before[-1:] == "+"
            or (before[-1:] in (":", ".", ",") and before[:1].isdecimal())
        ):
            continue
        clock = _clock_time(m)
        if clock:
            offset = _zone(m["zone"])
            yield m.span(), clock, offset
            if offset and "-" in m["zone"]:  # 09:00-11:00 is no zone
                yield m.span(), clock, None


def _clock_time(m: re.Match[str]) -> time | None:
    hour = int(m["hour"])
    half = m["half"] or m["half2"] or m["half3"]
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half[0] == "p" else 0)
    micro = int((m["part"] or "").ljust(6, "0")[:6])
    try:
        return time(hour, int(m["minute"] or m["dotted"] or 0), int(m["second"] or 0), micro)
    except ValueError:
        return None


def _zone(written: str | None) -> timedelta | None:
    if written is None:
        return None
    if written[0] not in "+-":
        return timedelta()
    offset = timedelta(hours=int(written[1:3]), minutes=int(written[-2:]))
    return offset if written[0] == "+" else -offset
