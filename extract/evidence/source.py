"""The text that values are looked for in, with its pages and the indexes that are made when needed.

One `Source` a row: each index is built once, for all fields. Knows nothing of models.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

from extract.evidence.dates import DateIndex
from extract.evidence.numbers import NumberIndex
from extract.evidence.words import WordIndex

__all__ = ["Box", "Boxes", "Source"]

Box = tuple[float, float, float, float]


class Boxes(Protocol):
    """Whoever knows where the characters of a text stand on its pages."""

    def box(self, start: int, end: int) -> Box | None:
        """Left, bottom, right, top in points for a span of the text; None where nothing is known."""
        ...


class Source:
    """A text, its pages and its indexes.

    text: what the model was given to read.
    pages: the offset at which each page starts; without it, form feeds divide the pages.
    boxes: gives the place on the page for a span, if anybody knows it.
    """

    def __init__(self, text: str, pages: Sequence[int] | None = None, *, boxes: Boxes | None = None) -> None:
        self.text = text
        self._pages = None if pages is None else sorted(pages)
        self._boxes = boxes

    def page(self, offset: int) -> int:
        """The number of the page on which an offset stands, from 1."""
        return max(1, bisect_right(self.page_starts, offset))

    def box(self, start: int, end: int) -> Box | None:
        """The place of a span on its page, in points."""
        return self._boxes.box(start, end) if self._boxes else None

    @cached_property
    def words(self) -> WordIndex:
        """Where words stand."""
        return WordIndex(self.text)

    @cached_property
    def numbers(self) -> NumberIndex:
        """Where numbers stand."""
        return NumberIndex(self.text)

    @cached_property
    def dates(self) -> DateIndex:
        """Where dates and times stand."""
        return DateIndex(self.words.folded)

    @cached_property
    def page_starts(self) -> list[int]:
        """The offset at which each page starts."""
        if self._pages is not None:
            return self._pages
        starts, at = [0], self.text.find("\f")
        while at >= 0:
            starts.append(at + 1)
            at = self.text.find("\f", at + 1)
        return starts
