"""Rows of cells → text: one line a row, cells between pipes. Knows no format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def as_text(rows: Iterable[Sequence[str]]) -> str:
    """A table as people and models read it; empty rows at the end are left out."""
    return "\n".join(_line(row) for row in rows).rstrip()


def _line(row: Sequence[str]) -> str:
    cells = [" ".join(cell.replace("|", "/").split()) for cell in row]
    while cells and not cells[-1]:
        cells.pop()
    return f"| {' | '.join(cells)} |" if cells else ""
