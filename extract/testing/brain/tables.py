"""Finds tables in a text: with pipes, with tabs, or in aligned columns.

What a header is, the caller knows: it tells for each cell whether it could head a column. Knows no schema.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

_RULE = re.compile(r"[\s\-=_+|:.│─━═┌┐└┘├┤┬┴┼]+")
_GAP = re.compile(r" {2,}|\t+")
_DIGIT = re.compile(r"\d")
_LETTER = re.compile(r"[^\W\d_]")
_NEAR = 3  # spaces that may stand inside a cell
_PIPES = str.maketrans({"│": "|", "┃": "|", "║": "|"})


class Cell(NamedTuple):
    """A cell and where it stands in its line."""

    text: str
    start: int
    end: int


@dataclass(slots=True)
class Table:
    """A header and the rows below it; a row has a text for each column, empty where it has none."""

    header: tuple[str, ...]
    rows: list[tuple[str, ...]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)


def read_tables(text: str, is_header: Callable[[Sequence[str]], bool]) -> list[Table]:
    """All tables of a text. Tables with the same header, as on several pages, are one."""
    tables: dict[tuple[str, ...], Table] = {}
    for table in _tables(text, is_header):
        known = tables.setdefault(table.header, table)
        if known is not table:
            known.rows += table.rows
            known.lines += table.lines
    return list(tables.values())


def _tables(text: str, is_header: Callable[[Sequence[str]], bool]) -> Iterator[Table]:
    table: Table | None = None
    header: list[Cell] = []
    after_row = False
    for line in text.splitlines():
        if not line.strip() or _RULE.fullmatch(line):
            after_row = False
            continue
        cells = cells_of(line)
        texts = [cell.text for cell in cells]
        if len(cells) > 1 and not any(map(_DIGIT.search, texts)) and is_header(texts):
            if table is not None:
                yield table
            table, header, after_row = Table(tuple(texts)), cells, False
        elif table is not None:
            row = _row(cells, header)
            if row is not None:
                table.rows.append(row)
                table.lines.append(line.strip())
            elif after_row:
                _continue(table, cells, header)
            after_row = row is not None
    if table is not None:
        yield table


def cells_of(line: str) -> list[Cell]:
    """The cells of a line: by pipes where it has them, else by tabs, else by gaps."""
    line = line.translate(_PIPES)
    if line.count("|") >= 2 or line.strip().count("|") == 1:
        return _by_pipes(line)
    cells, at = [], 0
    for match in _GAP.finditer(line):
        if line[at : match.start()].strip():
            cells.append(_cell(line, at, match.start()))
        at = match.end()
    if line[at:].strip():
        cells.append(_cell(line, at, len(line)))
    return cells


def _by_pipes(line: str) -> list[Cell]:
    inner = line.strip().strip("|")
    offset = line.find(inner)
    cells, at = [], 0
    for part in inner.split("|"):
        cells.append(Cell(part.strip().replace("**", "").strip("`"), offset + at, offset + at + len(part)))
        at += len(part) + 1
    return cells


def _cell(line: str, start: int, end: int) -> Cell:
    text = line[start:end]
    lead = len(text) - len(text.lstrip())
    return Cell(text.strip(), start + lead, start + len(text.rstrip()))


def _row(cells: list[Cell], header: list[Cell]) -> tuple[str, ...] | None:
    """The cells of a line under the columns of a header, or None if it is no row of it."""
    texts = [cell.text for cell in cells]
    if not any(map(_LETTER.search, texts)) and not any(map(_DIGIT.search, texts)):
        return None
    cells = _joined(cells, len(header))
    if len(cells) == len(header):
        return tuple(cell.text for cell in cells)
    if len(header) < 3 or not len(header) - 1 <= len(cells) < len(header):
        return None
    return _by_place(cells, header)


def _joined(cells: list[Cell], count: int) -> list[Cell]:
    """Too many cells: the words that stand nearest to each other were one cell."""
    while len(cells) > count:
        gaps = [(right.start - left.end, i) for i, (left, right) in enumerate(pairwise(cells))]
        gap, i = min(gaps)
        if gap > _NEAR or _is_number(cells[i].text) or _is_number(cells[i + 1].text):
            return cells
        joined = Cell(f"{cells[i].text} {cells[i + 1].text}", cells[i].start, cells[i + 1].end)
        cells = [*cells[:i], joined, *cells[i + 2 :]]
    return cells


def _is_number(text: str) -> bool:
    return _DIGIT.search(text) is not None and _LETTER.search(text) is None


def _by_place(cells: list[Cell], header: list[Cell]) -> tuple[str, ...] | None:
    row = [""] * len(header)
    for cell in cells:
        column = max(range(len(header)), key=lambda i: _overlap(cell, header[i]))
        if _overlap(cell, header[column]) <= 0 or row[column]:
            return None
        row[column] = cell.text
    return tuple(row)


def _overlap(left: Cell, right: Cell) -> int:
    return min(left.end, right.end) - max(left.start, right.start)


def _continue(table: Table, cells: list[Cell], header: list[Cell]) -> None:
    """A line of words alone under a column of words goes on with the cell above."""
    if (
        len(cells) != 1
        or _DIGIT.search(cells[0].text)
        or cells[0].text.endswith(":")
        or ": " in cells[0].text
    ):
        return
    columns = [i for i, head in enumerate(header) if abs(head.start - cells[0].start) <= 3]
    if len(columns) == 1 and _LETTER.search(table.rows[-1][columns[0]]):
        row = list(table.rows[-1])
        row[columns[0]] += " " + cells[0].text
        table.rows[-1] = tuple(row)
