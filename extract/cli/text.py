"""Values → lines for a terminal: tables that fit its width, sentences for counts.

Knows nothing of what the values mean.
"""

from __future__ import annotations

import json
import shutil
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

WIDEST = 48
NARROWEST = 6
GAP = "  "


def table(
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[str],
    *,
    width: int | None = None,
    widest: int = WIDEST,
) -> str:
    """Rows as an aligned table no wider than the terminal; columns that do not fit are named below it.

    width, widest: of the terminal and of one column, in characters.
    """
    room = width or max(60, shutil.get_terminal_size((100, 24)).columns)
    cells = {column: [cell(row.get(column)) for row in rows] for column in columns}
    shown, widths, left = _fit(cells, room, widest)
    numeric = {column for column in shown if rows and all(_is_number(row.get(column)) for row in rows)}

    def line(values: Mapping[str, str]) -> str:
        parts = [_pad(values[column], widths[column], right=column in numeric) for column in shown]
        return GAP.join(parts).rstrip()

    head = line({column: column for column in shown})
    rule = GAP.join("─" * widths[column] for column in shown)
    body = [line({column: cells[column][n] for column in shown}) for n in range(len(rows))]
    more = [f"(and {', '.join(left)})"] if left else []
    return "\n".join([head, rule, *body, *more])


def cell(value: Any) -> str:
    """One value on one line."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
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


def as_json(value: Any) -> str:
    """JSON for machines: decimals and dates as strings, what JSON lacks as text."""
    return json.dumps(value, ensure_ascii=False, default=str)


def _list(values: Sequence[Any]) -> str:
    if all(not isinstance(value, Mapping | list | tuple) for value in values):
        return ", ".join(cell(value) for value in values) or "none"
    return plural(len(values), "item")


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float | Decimal) and not isinstance(value, bool))


def _fit(
    cells: Mapping[str, list[str]], room: int, widest: int
) -> tuple[list[str], dict[str, int], list[str]]:
    """Which columns are shown, how wide, and which are left out."""
    wanted = {column: min(widest, max(map(_wide, [column, *values]))) for column, values in cells.items()}
    shown = list(cells)
    while len(shown) > 1 and _total(min(wanted[c], NARROWEST * 2) for c in shown) > room:
        shown.pop()
    widths = {column: wanted[column] for column in shown}
    while _total(widths.values()) > room:
        broadest = max(widths, key=lambda column: widths[column])
        if widths[broadest] <= NARROWEST:
            break
        widths[broadest] -= 1
    return shown, widths, [column for column in cells if column not in shown]


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
