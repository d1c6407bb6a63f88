"""One text in two spellings: as it stands, and folded for comparison, with the way back.

Folding: NFKC and case, one space for white space, straight quotes and dashes, no soft hyphens or
zero-width characters, words that were divided at a line end put together again. Folding works line
by line at the speed of C; the way back is traced only for the lines that a match touches.

Knows nothing of values, fields or matching.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache
from unicodedata import category, is_normalized, normalize, numeric

__all__ = ["Folded", "Thinned", "fold"]

_QUOTES = dict.fromkeys(map(ord, "‘’‚‛`´ʼ′＇"), "'") | dict.fromkeys(map(ord, "“”„‟«»‹›″＂"), '"')
_DASHES = dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-")
_SPACES = dict.fromkeys(map(ord, "\u00a0\u2007\u2009\u202f\u2002\u2003\u200a\u3000"), " ")
_DROPPED = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u061c\u180e"
_DROPPED += "".join(map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xFE00, 0xFE10)]))
_TABLE: dict[int, str | None] = {**_QUOTES, **_DASHES, **_SPACES, **dict.fromkeys(map(ord, _DROPPED))}
_ODD = re.compile(f"[{''.join(map(re.escape, map(chr, _TABLE)))}]")

_CLUSTER = 32  # the longest run of marks that is composed as one; Unicode's stream-safe limit is 30
_PIECE = 4096  # lines longer than this are cut, so that tracing one match stays cheap
_REACH = 256


def fold(text: str) -> str:
    """A value or a quote in the spelling of `Folded.text`."""
    return Folded(text).text


class Folded:
    """A text folded for comparison.

    text: the folded text.
    divided: how many words were put together at line ends.
    `mark` is what stands in `text` at such a place (nothing usually).
    """

    def __init__(self, text: str, *, mark: str = "") -> None:
        self.divided = 0
        self._mark = mark
        self._traces: dict[int, tuple[list[int], list[int]]] = {}
        self._pieces: list[str] = []
        self._source_at: list[int] = []
        self._folded_at: list[int] = []
        self.text = self._build(text)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where `text[start:end]` stands in the source; neither end may be white space."""
        return self._trace(start)[0], self._trace(end - 1)[1]

    def _build(self, text: str) -> str:
        out: list[str] = []
        at = source_at = 0
        before = ""
        for piece in _pieces(text):
            folded = " ".join(_fold_piece(piece).split())
            if folded:
                if out:
                    at += self._join(out, before, piece, folded)
                self._pieces.append(piece)
                self._source_at.append(source_at)
                self._folded_at.append(at)
                out.append(folded)
                at += len(folded)
                before = piece
            elif not before[-1:].isspace():
                before += " "
            source_at += len(piece)
        return "".join(out)

    def _join(self, out: list[str], before: str, piece: str, folded: str) -> int:
        """Join the next piece to `out`; by how much that lengthens it."""
        if not (before[-1:].isspace() or piece[:1].isspace()):
            return 0
        if before.rstrip()[-1:] == "\u00ad":
            return 0
        last = out[-1]
        ends_line = before[-1:] != " "
        if ends_line and last[-1:] == "-" and last[-2:-1].isalpha() and folded[0].isalpha():
            self.divided += 1
            out[-1] = last[:-1] + self._mark
            return len(self._mark) - 1
        out.append(" ")
        return 1

    def _trace(self, at: int) -> tuple[int, int]:
        number = bisect_right(self._folded_at, at) - 1
        trace = self._traces.get(number)
        if trace is None:
            trace = self._traces[number] = _trace_piece(self._pieces[number])
        inside = min(at - self._folded_at[number], len(trace[0]) - 1)
        offset = self._source_at[number]
        return offset + trace[0][inside], offset + trace[1][inside]


class Thinned:
    """A text with every match of a pattern (of one character) taken out, and the way back."""

    def __init__(self, text: str, pattern: re.Pattern[str]) -> None:
        self.text = pattern.sub("", text)
        self._gone = [m.start() - number for number, m in enumerate(pattern.finditer(text))]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where `text[start:end]` stands in the full text."""
        return start + bisect_right(self._gone, start), end + bisect_right(self._gone, end - 1)


def _pieces(text: str) -> Iterator[str]:
    """The lines of a text, those that are very long cut between words where there are any."""
    for line in text.splitlines(keepends=True):
        if len(line) <= _PIECE:
            yield line
        else:
            yield from _cut(line)


def _cut(line: str) -> Iterator[str]:
    start = 0
    while start < len(line):
        end = min(start + _PIECE, len(line))
        space = line.rfind(" ", end - _REACH, end)
        if end < len(line):
            end = space + 1 if space > start else _after_marks(line, end)
        yield line[start:end]
        start = end


def _after_marks(line: str, at: int) -> int:
    end = at
    while end < min(len(line), at + _CLUSTER) and _continues(line[end]):
        end += 1
    return end


def _fold_piece(piece: str) -> str:
    """Fold without white space. Equal to the clusters folded one by one, and much faster."""
    if piece.isascii():
        return piece.lower().replace("`", "'")
    plain = piece.translate(_TABLE) if _ODD.search(piece) else piece
    if is_normalized("NFKC", plain):
        folded = plain.casefold()
        if is_normalized("NFKC", folded):
            return folded
    return "".join(folded for _, _, folded in _clusters(piece))


def _clusters(piece: str) -> Iterator[tuple[int, int, str]]:
    """Each character with its marks: start, end, folded."""
    start = 0
    while start < len(piece):
        end = start + 1
        while end < len(piece) and end - start < _CLUSTER and _continues(piece[end]):
            end += 1
        cluster = piece[start:end]
        yield start, end, _fold_cluster(cluster, after_number=start > 0 and piece[start - 1].isnumeric())
        start = end


def _continues(char: str) -> bool:
    return char > "\u02ff" and (
        (category(char)[0] == "M" and char not in _DROPPED) or "\u1160" <= char <= "\u11ff"
    )


@lru_cache(maxsize=8192)
def _fold_cluster(cluster: str, *, after_number: bool) -> str:
    # "10²" must not read as 102, nor "½" as 1 and 2.
    if category(cluster[0]) == "No" and (after_number or numeric(cluster[0], 0) % 1):
        return cluster
    return normalize("NFKC", normalize("NFKC", cluster.translate(_TABLE)).casefold()).translate(_TABLE)


def _trace_piece(piece: str) -> tuple[list[int], list[int]]:
    """For each character of the folded piece: start and end of what it was made of."""
    starts: list[int] = []
    ends: list[int] = []
    space: tuple[int, int] | None = None
    for start, end, folded in _clusters(piece):
        for char in folded:
            if char.isspace():
                space = space or (start, end)
                continue
            if space and starts:
                starts.append(space[0])
                ends.append(space[1])
            space = None
            starts.append(start)
            ends.append(end)
    return starts, ends
