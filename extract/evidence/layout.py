"""Where the words of a text stand on its pages, in a few bytes a word.

Whoever reads a document packs its words; whoever needs a box asks a `Layout`. Knows nothing of formats.
"""

from __future__ import annotations

import struct
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple

__all__ = ["Layout", "Word", "pack", "unpack"]

Box = tuple[float, float, float, float]
_RECORD = struct.Struct("<IIffff")


class Word(NamedTuple):
    """A word: its span in the text; left, bottom, right and top on its page, in points."""

    start: int
    end: int
    left: float
    bottom: float
    right: float
    top: float


def pack(words: Iterable[Word]) -> bytes:
    """Words in the order of the text as bytes."""
    return b"".join(_RECORD.pack(*word) for word in words)


def unpack(packed: bytes) -> list[Word]:
    """The words again."""
    whole = len(packed) - len(packed) % _RECORD.size
    return [Word(*record) for record in _RECORD.iter_unpack(packed[:whole])]


class Layout:
    """Gives the box of a span. Unpacks when it is first asked.

    offset: where the text that was packed begins in the text that is asked about.
    """

    def __init__(self, packed: bytes, offset: int = 0) -> None:
        self._packed = packed
        self._offset = offset

    def box(self, start: int, end: int) -> Box | None:
        """Left, bottom, right, top around the words of a span; None where nothing is known."""
        boxes = list(self._inside(start - self._offset, end - self._offset))
        if not boxes:
            return None
        lefts, bottoms, rights, tops = zip(*boxes, strict=True)
        return min(lefts), min(bottoms), max(rights), max(tops)

    def _inside(self, start: int, end: int) -> Iterator[Box]:
        first = bisect_right(self._ends, start)
        for word in self._words[first : bisect_left(self._starts, end)]:
            yield _part(word, start, end)

    @cached_property
    def _words(self) -> list[Word]:
        return unpack(self._packed)

    @cached_property
    def _starts(self) -> list[int]:
        return [word.start for word in self._words]

    @cached_property
    def _ends(self) -> list[int]:
        return [word.end for word in self._words]


def _part(word: Word, start: int, end: int) -> Box:
    """The box of as much of a word as the span holds, as if its letters were equally wide."""
    wide = (word.right - word.left) / max(1, word.end - word.start)
    left = word.left + max(0, start - word.start) * wide
    right = word.right - max(0, word.end - end) * wide
    return round(left, 2), round(word.bottom, 2), round(right, 2), round(word.top, 2)
