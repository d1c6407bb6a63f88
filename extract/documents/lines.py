"""Characters with boxes → lines as they stand on the page, with the place of each word.

A wide gap stays a wide gap, so that columns of a table stay apart. Pure; knows no format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import NamedTuple, Protocol

from extract.evidence.layout import Word

Box = tuple[float, float, float, float]

_TOKEN = re.compile(r"[^\s\ufffe\x02\x00]+[\ufffe\x02]?|\r?\n|\r")
_WIDE = 1.2  # line heights: a gap of this size parts two columns
_MOST_SPACES = 60
_APART = 0.9  # line heights between two lines that a blank one parts
_UNREADABLE = re.compile("[\ufffd\ue000-\uf8ff\x01-\x08\x0b\x0e-\x1f]")
_TOO_MANY = 0.3


class Glyphs(Protocol):
    """A page's characters in reading order."""

    characters: str

    def box(self, index: int) -> Box:
        """Left, bottom, right, top of a character, in points from the lower left corner."""
        ...


class Token(NamedTuple):
    """A word on the page; `broken` when it goes on in the next line."""

    text: str
    box: Box
    broken: bool = False


@dataclass(frozen=True, slots=True)
class PageText:
    """The text of a page and its words, whose spans count from the start of the page."""

    text: str
    words: list[Word]

    @property
    def usable(self) -> bool:
        """Whether there are letters in it that mean something: fonts without a code table give none."""
        dense = "".join(self.text.split())
        return bool(dense) and len(_UNREADABLE.findall(dense)) <= _TOO_MANY * len(dense)


def page_text(glyphs: Glyphs) -> PageText:
    """The lines of one page."""
    return written(_joined(_lines(glyphs)))


def page_of_tokens(tokens: list[Token]) -> PageText:
    """The lines of words that stand anywhere on a page, from the top down and from left to right."""
    lines: list[list[Token]] = []
    for token in sorted(tokens, key=lambda one: (-one.box[3], one.box[0])):
        home = next((line for line in reversed(lines[-8:]) if _level(line[0].box, token.box)), None)
        if home is None:
            lines.append([token])
        else:
            home.append(token)
    return written([sorted(line, key=lambda one: one.box[0]) for line in lines])


def _level(a: Box, b: Box) -> bool:
    """Whether two boxes stand on one line."""
    return min(a[3], b[3]) - max(a[1], b[1]) > 0.5 * min(a[3] - a[1], b[3] - b[1])


def _lines(glyphs: Glyphs) -> list[list[Token]]:
    """The lines in the order in which the page gives them."""
    lines: list[list[Token]] = [[]]
    for match in _TOKEN.finditer(glyphs.characters):
        token = match.group()
        if token in {"\r\n", "\n", "\r"}:
            lines.append([])
            continue
        broken = token[-1] in "\ufffe\x02"
        first, last = glyphs.box(match.start()), glyphs.box(match.end() - 1)
        lines[-1].append(Token(token[:-1] + "-" if broken else token, union((first, last)), broken))
        if broken:
            lines.append([])
    return [line for line in lines if line]


def _joined(lines: list[list[Token]]) -> list[list[Token]]:
    """Lines that follow each other and stand side by side are one, as the cells of a row are."""
    made: list[list[Token]] = []
    for line in lines:
        if made and _beside(made[-1], line):
            made[-1] = made[-1] + line
        else:
            made.append(line)
    return made


def _beside(left: list[Token], right: list[Token]) -> bool:
    if left[-1].broken:
        return False
    a, b = left[-1].box, right[0].box
    overlap = min(a[3], b[3]) - max(a[1], b[1])
    height = min(a[3] - a[1], b[3] - b[1])
    return overlap > 0.6 * height > 0 and b[0] >= a[2] - 0.2 * height


def written(lines: list[list[Token]]) -> PageText:
    """Lines as text, wide gaps filled up to the column that a word stands in."""
    wide = _width(lines)
    left = min((line[0].box[0] for line in lines), default=0.0)
    pieces: list[str] = []
    words: list[Word] = []
    at, above = 0, None
    for line in lines:
        if above is not None and above - line[0].box[3] > _APART * (line[0].box[3] - line[0].box[1]):
            pieces.append("\n")
            at += 1
        begun, above = at, line[0].box[1]
        for before, token in pairwise([None, *line]):
            assert token is not None
            gap = " " * _spaces(before, token, at - begun, round((token.box[0] - left) / wide))
            words.append(Word(at + len(gap), at + len(gap) + len(token.text), *token.box))
            pieces += (gap, token.text)
            at = words[-1].end
        pieces.append("\n")
        at += 1
    return PageText("".join(pieces).rstrip("\n"), words)


def _spaces(before: Token | None, token: Token, at: int, column: int) -> int:
    """Spaces before a word; the first of a line stands at its start."""
    if before is None:
        return 0
    height = token.box[3] - token.box[1]
    if token.box[0] - before.box[2] <= _WIDE * height:
        return 1
    return max(3, min(_MOST_SPACES, column - at))


def _width(lines: list[list[Token]]) -> float:
    """What a letter takes on this page, in points."""
    widths = [(t.box[2] - t.box[0]) / len(t.text) for line in lines for t in line if len(t.text) > 1]
    return max(1.0, median(widths)) if widths else 5.0


def union(boxes: Iterable[Box]) -> Box:
    """The box around some boxes."""
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    return min(lefts), min(bottoms), max(rights), max(tops)
