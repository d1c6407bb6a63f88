"""Server-sent events out of bytes that are cut anywhere.

Lines end at CR, LF or CRLF and nowhere else: not at U+2028, U+2029 or U+0085, where `splitlines`
would cut. Lines are found in bytes (no other character's UTF-8 holds these two) and decoded whole,
so a character that is cut in two is never seen. Knows nothing of what the events mean.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LARGEST_EVENT = 64 * 1024 * 1024  # bytes; beyond it a line that never ends would fill the memory

_LINE_END = re.compile(rb"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"


class StreamError(ValueError):
    """A stream that contradicts itself, or bytes that are none."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event. name: of its `event:` field, or empty."""

    name: str
    data: str


class EventReader:
    """Bytes in, events out. Raises StreamError."""

    def __init__(self) -> None:
        self._line: list[bytes] = []  # the pieces of a line whose end has not come
        self._held = 0
        self._after_cr = False
        self._first = True
        self._name = ""
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """The events that these bytes complete. To be read to its end before the next feed."""
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        if not chunk:
            return
        self._after_cr = chunk.endswith(b"\r")
        first, *rest = _LINE_END.split(chunk)
        self._hold(first)
        for piece in rest:
            yield from self._end_line()
            self._hold(piece)

    def flush(self) -> Iterator[Event]:
        """What stands complete but without its closing empty line at the end of the bytes."""
        yield from self._end_line()
        yield from self._dispatch()

    def _hold(self, piece: bytes) -> None:
        if piece:
            self._line.append(piece)
            self._held += len(piece)
            if self._held > LARGEST_EVENT:
                raise StreamError(f"an event of more than {LARGEST_EVENT} bytes")

    def _end_line(self) -> Iterator[Event]:
        raw = b"".join(self._line)
        self._line.clear()
        if self._first and raw:
            raw = raw.removeprefix(_BOM)
        self._first = False
        if not raw:
            yield from self._dispatch()
            return
        try:
            self._take(raw.decode())
        except UnicodeDecodeError:
            raise StreamError("bytes that are no UTF-8") from None

    def _take(self, line: str) -> None:
        field, _, value = line.partition(":")  # a comment has an empty field
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value

    def _dispatch(self) -> Iterator[Event]:
        name, data = self._name, self._data
        self._name, self._data, self._held = "", [], 0
        if data:
            yield Event(name, "\n".join(data))
