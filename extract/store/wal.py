"""The tail of a write-ahead log: whether its last commit was cut, and where the last whole one ends.

Knows DuckDB's record frame (size, checksum, payload) and nothing of what the records say. A log that
does not look like that is left to DuckDB alone.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

_RECORD = struct.Struct("<QQ")
LONGEST_HEADER = 160
"""Bytes that stand in front of the first record at most."""

_OBJECT = b"\x64\x00"
_FLUSH = b"\x64\x00\x64\xff\xff"
_POSITION = re.compile(r"byte position (\d+)")


@dataclass(frozen=True, slots=True)
class Tail:
    """end: where the last whole commit ends, in bytes. size: of the log."""

    end: int
    size: int

    @property
    def torn(self) -> bool:
        """Bytes follow the last whole commit."""
        return self.end < self.size


def tail_of(log: bytes, before: int | None = None) -> Tail | None:
    """Walk the records; None where the log has another form.

    before: count commits in front of this byte alone (a record there is known to be broken).
    """
    start = _first_record(log)
    if start is None:
        return None
    end = position = start
    while position + _RECORD.size <= len(log):
        size, _ = _RECORD.unpack_from(log, position)
        stop = position + _RECORD.size + size
        if size == 0 or stop > len(log) or (before is not None and position >= before):
            break
        if log[position + _RECORD.size : stop] == _FLUSH:
            end = stop
        position = stop
    return Tail(end, len(log))


def broken_at(message: str) -> int | None:
    """The byte that DuckDB names in its complaint about a log."""
    match = _POSITION.search(message)
    return int(match.group(1)) if match else None


def _first_record(log: bytes) -> int | None:
    if not log.startswith(_OBJECT):
        return None
    for start in range(12, LONGEST_HEADER):
        payload = start + _RECORD.size
        if payload + 2 > len(log):
            break
        size, _ = _RECORD.unpack_from(log, start)
        whole = log[payload : payload + size]
        if (
            log[start - 2 : start] == b"\xff\xff"
            and whole.startswith(_OBJECT)
            and whole.endswith(b"\xff\xff")
        ):
            return start
    return None
