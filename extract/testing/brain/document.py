"""A text made ready to be asked: its labelled values, headings, words, tables, and the habits of its numbers.

Knows no schema.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from extract.testing.brain.dates import Order, date_order
from extract.testing.brain.lines import Lines, read_lines
from extract.testing.brain.numbers import Mark, decimal_mark
from extract.testing.brain.tables import Table, read_tables
from extract.testing.brain.words import forms_of, label_meanings


class Document:
    """One text; each view of it is made when it is first needed."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def lines(self) -> Lines:
        """Labelled values and headings."""
        return read_lines(self.text)

    @cached_property
    def mark(self) -> Mark:
        """Its decimal mark, if its numbers tell."""
        return decimal_mark(self.text)

    @cached_property
    def order(self) -> Order:
        """Whether the day comes first in its dates, if anything tells."""
        return date_order(self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        """Its words in any form that a cue may have."""
        return forms_of(self.text)

    @cached_property
    def title_words(self) -> frozenset[str]:
        """The words of its headings."""
        return forms_of("\n".join(self.lines.headings))

    def tables(self, is_header: Callable[[Sequence[str]], bool]) -> list[Table]:
        """Its tables with a header that the caller knows."""
        return read_tables(self.text, is_header)

    def section_is(self, section: str, wanted: frozenset[frozenset[str]]) -> bool:
        """Whether a heading names one of some meanings."""
        return bool(section) and any(m in wanted for m in label_meanings(section))
