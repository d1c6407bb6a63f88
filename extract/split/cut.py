"""Cut a long text into pieces that a model reads one by one.

A text is first taken apart into atoms (pages, sections, lines), then atoms are packed into pieces.
Knows nothing of requests and of what is read in the pieces.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

from extract.errors import ConfigError
from extract.evidence.source import Source
from extract.protocol.blocks import estimate_text

__all__ = ["Piece", "Split", "cut"]

By = Literal["page", "section", "tokens"]
_DEFAULTS: dict[str, tuple[int, int]] = {"page": (20, 1), "section": (50_000, 0), "tokens": (50_000, 1_000)}
_PARAGRAPH = 0.75  # a piece may end early, from this share of its size on, where a paragraph does
_CAPITAL = "A-ZÀ-ÖØ-ÞΑ-ΩА-Я"
_NAMES = "chapter|section|article|part|annex|kapitel|abschnitt|artikel|teil|anlage|chapitre|titre|capítulo"
_HEADING = re.compile(
    r"[ \t]{0,3}(?:"
    r"#{1,6}[ \t]+\S"
    r"|\d{1,3}(?:\.\d{1,3}){0,4}\.?[ \t]+"
    rf"(?:[{_CAPITAL}]{{4}}|[{_CAPITAL}][^\W\d_{_CAPITAL}]).{{0,80}}(?<![.,;:])$"
    rf"|(?i:{_NAMES})[ \t]+[\dIVXLC]+\b"
    r"|§[ \t]*\d"
    rf"|[{_CAPITAL}][^a-zß-öø-ÿα-ωа-я]{{2,78}}[{_CAPITAL}\d)]$"
    r")"
)
_LINE = 200  # no heading is longer
_FEWEST = 1.5  # a token of the estimate has at least that many characters


@dataclass(frozen=True, slots=True)
class Split:
    """How a long input is cut.

    by: "page" packs whole pages, "section" whole sections (from headings), "tokens" lines.
    size: the most that a piece holds: pages for "page" (20), else tokens, estimated (50,000).
    overlap: how much of a piece the next one repeats, in the same unit (1 page, 0, 1,000 tokens).
    identity: names (in JSON) of the fields that tell the items of a list apart; without them, items are
        the same when all their fields are. Raises ConfigError for sizes that cannot be.
    """

    by: By = "page"
    size: int | None = None
    overlap: int | None = None
    identity: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.by not in _DEFAULTS:
            raise ConfigError(f'Split(by={self.by!r}) does not exist: write by="page", "section" or "tokens"')
        size, overlap = self.limits
        if size < 1 or not 0 <= overlap < size:
            raise ConfigError(
                f"Split(size={size}, overlap={overlap}) never ends: size must be at least 1 and above overlap"
            )

    @property
    def limits(self) -> tuple[int, int]:
        """Size and overlap, with what is usual where none is given."""
        size, overlap = _DEFAULTS[self.by]
        size = size if self.size is None else self.size
        return size, min(overlap, size - 1) if self.overlap is None else self.overlap


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text.

    start, end: its place in the whole text. first_page, last_page: from 1. pages: where pages start in
    `text`, so that `Source(piece.text, piece.pages)` counts them from 1 again.
    """

    number: int
    start: int
    end: int
    text: str
    first_page: int
    last_page: int
    pages: tuple[int, ...] = (0,)

    def __str__(self) -> str:
        if self.first_page == self.last_page:
            return f"page {self.first_page}, characters {self.start}-{self.end}"
        return f"pages {self.first_page}-{self.last_page}"


class _Atom(NamedTuple):
    """What is not cut: a page, a section, a line. `closes`: a paragraph ends with it."""

    start: int
    end: int
    weight: int
    closes: bool = False


def cut(text: str, split: Split, pages: Sequence[int] | None = None) -> tuple[Piece, ...]:
    """The pieces of a text, in order; together they hold all of it, and none is larger than `size`.

    A page that is larger stays whole; a section or a line that is larger is cut. pages: where each
    page starts; without it, form feeds divide the pages. An empty text has no pieces.
    """
    size, overlap = split.limits
    source = Source(text, pages)
    atoms = list(_ATOMS[split.by](source, size))
    runs = _packed(atoms, size, overlap)
    return tuple(
        _piece(source, number, atoms[first].start, atoms[last - 1].end)
        for number, (first, last) in enumerate(runs)
    )


def _piece(source: Source, number: int, start: int, end: int) -> Piece:
    first, last = source.page(start), source.page(end - 1)
    inner = (page - start for page in source.page_starts[first:last])
    return Piece(number, start, end, source.text[start:end], first, last, (0, *inner))


def _packed(atoms: Sequence[_Atom], size: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Runs of atoms, each as long as it may be, each after the first starting within the one before."""
    first = last = 0
    while last < len(atoms):
        last = _full(atoms, first, size, last)
        yield first, last
        if last < len(atoms):
            first = _back(atoms, first, last, min(overlap, size - atoms[last].weight))


def _full(atoms: Sequence[_Atom], first: int, size: int, before: int) -> int:
    """Where a piece ends, which is behind the one before."""
    weight, last, paragraph = atoms[first].weight, first + 1, 0
    while last < len(atoms) and weight + atoms[last].weight <= size:
        weight += atoms[last].weight
        last += 1
        if last > before and atoms[last - 1].closes and weight >= size * _PARAGRAPH:
            paragraph = last
    return paragraph if paragraph and last < len(atoms) else last


def _back(atoms: Sequence[_Atom], first: int, last: int, overlap: int) -> int:
    """Where the next piece starts: as far back as the overlap allows, but always further than this one."""
    weight, start = 0, last
    while start - 1 > first and weight + atoms[start - 1].weight <= overlap:
        start -= 1
        weight += atoms[start].weight
    return start


def _pages(source: Source, size: int) -> Iterator[_Atom]:
    starts = [0, *(start for start in source.page_starts if 0 < start < len(source.text)), len(source.text)]
    return (_Atom(start, end, 1) for start, end in pairwise(starts) if start < end)


def _sections(source: Source, size: int) -> Iterator[_Atom]:
    text, start, at = source.text, 0, 0
    for line in text.splitlines(keepends=True):
        if at > start and _is_heading(line):
            yield from _section(text, start, at, size)
            start = at
        at += len(line)
    yield from _section(text, start, at, size)


def _section(text: str, start: int, end: int, size: int) -> Iterator[_Atom]:
    weight = estimate_text(text[start:end])
    if weight <= size:
        yield from [_Atom(start, end, weight, closes=True)] if start < end else []
    else:
        yield from _lines_of(text, start, end, size)


def _is_heading(line: str) -> bool:
    line = line.strip("\f\r\n")
    return len(line) <= _LINE and _HEADING.match(line) is not None


def _lines(source: Source, size: int) -> Iterator[_Atom]:
    return _lines_of(source.text, 0, len(source.text), size)


def _lines_of(text: str, start: int, end: int, size: int) -> Iterator[_Atom]:
    for line in text[start:end].splitlines(keepends=True):
        for part in _cut_line(line, size):
            yield _Atom(start, start + len(part), estimate_text(part), closes=not part.strip())
            start += len(part)


def _cut_line(line: str, size: int) -> Iterator[str]:
    """A line in parts that fit, cut between words where there are any."""
    most = len(line) if estimate_text(line) <= size else max(1, int((size - 1) * _FEWEST))
    start = 0
    while start < len(line):
        end = start + most
        space = line.rfind(" ", start + most // 2, end) if end < len(line) else -1
        end = space + 1 if space > 0 else end
        yield line[start:end]
        start = end


_ATOMS: dict[str, Callable[[Source, int], Iterator[_Atom]]] = {
    "page": _pages,
    "section": _sections,
    "tokens": _lines,
}
