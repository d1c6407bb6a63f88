"""How long a server asks to wait, from headers and words.

Knows nothing of what is done about it. Whoever calls gives the time of day.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

# A server that asks for more is not waited for: better a stopped run than a silent one.
LONGEST_WAIT = 3_600.0
_EPOCH_FROM = 1_000_000_000.0  # larger than any wait: a reset header of this size is a time of day

_NUMBER = re.compile(r"\s*(\d{1,12}(?:\.\d{1,9})?)\s*s?\s*\Z", re.ASCII)
_ASKED = re.compile(
    r"\b(?:retry|try again|wait|resets?|reset|available)\s+(?:again\s+)?(?:in|after|for)\s+(?:about\s+)?"
    r"((?:\d+(?:\.\d+)?\s*[a-z]+\s*){1,4})",
    re.IGNORECASE | re.ASCII,
)
_PIECE = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)", re.IGNORECASE | re.ASCII)


def asked_wait(
    headers: Mapping[str, str], message: str, *, now: float, limited: bool = False
) -> float | None:
    """Seconds until the server wants to be asked again; None when it did not say, or said nothing sane.

    headers: by lower-case name. now: seconds since 1970, used only where the server sent no `Date`.
    """
    waits = (
        _milliseconds(headers.get("retry-after-ms")),
        _seconds_or_date(headers.get("retry-after"), headers.get("date"), now),
        wait_in_words(message),
    )
    return next((wait for wait in waits if wait is not None and wait > 0), None)


def _milliseconds(text: str | None) -> float | None:
    found = _NUMBER.match(text or "")
    return float(found[1]) / 1_000 if found else None


def _seconds_or_date(text: str | None, date: str | None, now: float) -> float | None:
    if text is None:
        return None
    found = _NUMBER.match(text)
    if found:
        return float(found[1])
    until = _time_of(text)
    # against the server's own clock: this machine's may be wrong
    return None if until is None else until - (_time_of(date) or now)


def _time_of(date: str | None) -> float | None:
    try:
        return parsedate_to_datetime(date).timestamp() if date else None
    except (ValueError, TypeError, OverflowError):
        return None


def reset_wait(headers: Mapping[str, str], *, now: float) -> float | None:
    """Seconds until `X-RateLimit-Reset`, which is no standard: both seconds and times of day are sent.

    To be read beside a rate limit alone, and never to tell a rate limit from a spent quota.
    """
    found = _NUMBER.match(headers.get("x-ratelimit-reset", ""))
    if not found:
        return None
    value = float(found[1])
    wait = value - (_time_of(headers.get("date")) or now) if value >= _EPOCH_FROM else value
    # a wait that would stop the run is more likely misread than meant
    return wait if 0 < wait <= LONGEST_WAIT else None


def wait_in_words(message: str) -> float | None:
    """The wait in a message, as in `try again after 1 seconds` or `retry in 1m30s`."""
    asked = _ASKED.search(message)
    if not asked:
        return None
    total = 0.0
    for number, unit in _PIECE.findall(asked[1]):
        factor = _factor(unit.lower())
        if factor is None:
            break
        total += float(number) * factor
    return total or None


def _factor(unit: str) -> float | None:
    if unit in ("ms", "millis") or unit.startswith("milli"):
        return 0.001
    if unit in ("s", "m", "h", "d") or unit.startswith(("sec", "min", "hour", "hr", "day")):
        return {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}[unit[0]]
    return None
