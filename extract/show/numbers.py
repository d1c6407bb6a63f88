"""Numbers as a person reads them. Knows nothing of what they count."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

NOTHING = "–"


def count(value: float | int | None) -> str:
    """A whole number with its thousands apart."""
    return NOTHING if value is None else f"{round(value):,}".replace(",", "\u202f")


def short(value: float | None) -> str:
    """A number in at most four characters and a sign of size: 12.3k."""
    if value is None:
        return NOTHING
    for size, sign in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{sign}"
    return f"{value:.3g}"


def seconds(value: float | None) -> str:
    """A time span: 340 ms, 2.4 s, 3 min 20 s, 2 h 5 min."""
    if value is None:
        return NOTHING
    if value < 1:
        return f"{value * 1000:.0f} ms"
    if value < 60:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def share(part: float, whole: float) -> str:
    """A part of a whole as a percentage; the dash where there is no whole."""
    return NOTHING if not whole else percent(part / whole)


def percent(value: float | None) -> str:
    """0.873 as 87 %; never 100 % for a little less, nor 0 % for a little more."""
    if value is None:
        return NOTHING
    if 0 < value < 0.005 or 0.995 <= value < 1:
        return f"{value * 100:.2g}\u202f%" if value < 0.5 else f"{min(value * 100, 99.9):.1f}\u202f%"
    return f"{value * 100:.0f}\u202f%"


def money(value: Any) -> str:
    """US dollars with as many digits as tell something."""
    if value is None:
        return NOTHING
    amount = Decimal(str(value))
    if amount == 0:
        return "$0"
    digits = 2 if abs(amount) >= 1 else min(8, 2 - math.floor(math.log10(abs(amount))))
    return f"${amount:,.{digits}f}".replace(",", "\u202f")


def moment(value: Any) -> str:
    """A point in time, to the second, in UTC."""
    return value.strftime("%Y-%m-%d %H:%M:%S UTC") if isinstance(value, datetime) else NOTHING


def ticks(top: float, most: int = 4) -> list[float]:
    """Round numbers from 0 to at least `top`."""
    if top <= 0 or not math.isfinite(top):
        return [0.0, 1.0]
    rough = top / most
    size = 10 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough * 0.999)
    return [step * number for number in range(math.ceil(top / step - 1e-9) + 1)]


def lines_of(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A small table as lines of text: the first column flush left, the others flush right."""
    table = [list(columns), *(list(row) for row in rows)]
    wide = [max(len(row[i]) for row in table) for i in range(len(columns))]
    return [
        "  ".join(
            cell.ljust(size) if not i else cell.rjust(size)
            for i, (cell, size) in enumerate(zip(row, wide, strict=True))
        )
        for row in table
    ]
