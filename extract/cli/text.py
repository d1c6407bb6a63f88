"""Values → lines for a terminal: tables that fit its width, sentences for counts.

Knows nothing of what the values mean.
"""

from __future__ import annotations

import json
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

WIDEST = 48
NARROWEST = 6
READABLE = 14  # a column narrower than this tells too little of a text
TERMINAL = 120  # columns where nothing says how wide: a log, a pipe
NOTHING = "–"
GAP = "  "


def table(
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    *,
    width: int | None = None,
    widest: int = WIDEST,
    keep: Sequence[str] = (),
) -> str:
    """Rows as an aligned table no wider than the terminal.

    width, widest: of the terminal and of one column, in characters. keep: columns that always stay.
    Columns that do not fit are named below; those that say least go first.
    """
    room = width or max(60, shutil.get_terminal_size((TERMINAL, 24)).columns)
    cells = {column: [cell(row.get(column)) for row in rows] for column in columns}
    shown, widths = _fit(cells, room, widest, set(keep))
    numeric = {column for column in shown if _is_numeric([row.get(column) for row in rows])}

    def line(values: Mapping[str, str]) -> str:
        parts = [_pad(values[column], widths[column], right=column in numeric) for column in shown]
        return GAP.join(parts).rstrip()

    head = line({column: column for column in shown})
    rule = GAP.join("─" * widths[column] for column in shown)
    body = [line({column: cells[column][n] for column in shown}) for n in range(len(rows))]
    left = [column for column in columns if column not in shown]
    more = [f"(and {', '.join(left)})"] if left else []
    return "\n".join([head, rule, *body, *more])


def cell(value: Any) -> str:
    """One value on one line."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%S") + ("Z" if value.utcoffset() == timedelta(0) else "")
    if isinstance(value, list | tuple):
        return _list(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {cell(inner)}" for name, inner in value.items())
    return " ".join("".join(c if c.isprintable() else " " for c in str(value)).split())


def plural(count: int, one: str, many: str = "") -> str:
    """`1 row`, `2 rows`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def program() -> str:
    """What this command line was started as."""
    return "extract" if Path(sys.argv[0]).stem == "extract" else "python -m extract"


def as_json(value: Any) -> str:
    """JSON for machines: decimals and dates as strings, what JSON lacks as text."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _list(values: Sequence[Any]) -> str:
    if all(not isinstance(value, Mapping | list | tuple) for value in values):
        return ", ".join(cell(value) for value in values) or "none"
    return plural(len(values), "item")


def _is_numeric(values: Sequence[Any]) -> bool:
    told = [value for value in values if value is not None]
    numbers = (isinstance(value, int | float | Decimal) and not isinstance(value, bool) for value in told)
    return bool(told) and all(numbers)


def _fit(
    cells: Mapping[str, list[str]], room: int, widest: int, keep: set[str]
) -> tuple[list[str], dict[str, int]]:
    """Which columns are shown, in their order, and how wide."""
    wanted = {column: min(widest, max(map(_wide, [column, *values]))) for column, values in cells.items()}
    shown = list(cells)
    while len(shown) > 1 and _total(min(wanted[c], READABLE) for c in shown) > room:
        shown.remove(
            min((c for c in shown if c not in keep), key=lambda c: _says(cells[c]), default=shown[-1])
        )
    widths = {column: wanted[column] for column in shown}
    while _total(widths.values()) > room:
        broadest = max(widths, key=lambda column: widths[column])
        if widths[broadest] <= NARROWEST:
            break
        widths[broadest] -= 1
    return shown, widths


def _says(values: Sequence[str]) -> tuple[bool, float, int]:
    """How much a column tells: little where it is mostly empty, always the same, or a count of items."""
    empty = sum(value == NOTHING for value in values) / max(1, len(values))
    return empty < 0.3, -empty, len(set(values))


def _total(widths: Iterable[int]) -> int:
    sizes = list(widths)
    return sum(sizes) + len(GAP) * (len(sizes) - 1)


def _pad(text: str, width: int, *, right: bool) -> str:
    short = _shorten(text, width)
    blank = " " * (width - _wide(short))
    return blank + short if right else short + blank


def _shorten(text: str, width: int) -> str:
    """Cut to `width`; of a path the end is kept, since the beginning is the same for all."""
    if _wide(text) <= width:
        return text
    path = "/" in text and " " not in text.split("/")[0]
    kept = text[::-1] if path else text
    while _wide(kept) > width - 1:
        kept = kept[:-1]
    return "…" + kept[::-1] if path else kept + "…"


def _wide(text: str) -> int:
    return sum(_width_of(character) for character in text)


def _width_of(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
