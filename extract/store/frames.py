"""From lists of rows to Polars frames, a column at a time.

Knows the column types of `schema.py` and nothing of DuckDB. One bad value never fails a batch: a
column is built in one go, and only when that fails value by value, with what cannot be held escaped
(text) or left out (numbers beyond 64 bits, times beyond the calendar).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from extract.store.schema import COST, TIME, USAGE, USAGE_FIELDS, Table
from extract.store.sql import clean, quote

if TYPE_CHECKING:
    import polars as pl

_FEW = 8  # values that are not worth a look for something quicker
_INT = 2**63
_FIRST, _LAST = -62_135_596_800.0, 253_402_300_799.0
_COST = Decimal(10) ** 12
_PACK = "struct_pack(" + ", ".join(f'{quote(name)} := "usage.{name}"' for name in USAGE_FIELDS) + ")"


def frame_of(
    table: Table, rows: Sequence[Any], fixed: Mapping[str, Sequence[Any]] | None = None
) -> pl.DataFrame:
    """A flat frame for `rows` (objects with the table's column names as attributes).

    fixed: columns that are not attributes, by name. The usage struct becomes one column a category.
    """
    import polars as pl

    values = {**_attributes(rows, [column.name for column in table.columns]), **(fixed or {})}
    series: list[pl.Series] = []
    for column in table.columns:
        found = values[column.name]
        if column.type != USAGE:
            series.append(column_of(column.name, column.type, found))
            continue
        usages = _attributes(found, USAGE_FIELDS)
        series += [column_of(f"usage.{name}", "BIGINT", usages[name]) for name in USAGE_FIELDS]
    return pl.DataFrame(series)


def _attributes(rows: Sequence[Any], names: Sequence[str]) -> dict[str, Sequence[Any]]:
    """Attributes of the rows by name, those that they have; of named tuples all at once, for a quarter."""
    kind = type(rows[0])
    if issubclass(kind, tuple):
        return dict(zip(rows[0]._fields, zip(*rows, strict=True), strict=True))
    return {name: list(map(attrgetter(name), rows)) for name in names if hasattr(rows[0], name)}


def column_of(name: str, type_: str, values: Sequence[Any]) -> pl.Series:
    """One column of exactly the wanted type, whatever the values are."""
    import polars as pl

    if (same := _repeated(name, type_, values)) is not None:
        return same
    if type_ == TIME:
        return _times(name, values)
    if type_ == COST:
        return column_of(name, "VARCHAR", [_money(value) for value in values])
    dtype, safe = _POLARS[type_]
    try:
        return pl.Series(name, values, dtype=dtype(pl), strict=True)
    except Exception:
        return pl.Series(name, [safe(value) for value in values], dtype=dtype(pl), strict=True)


def _repeated(name: str, type_: str, values: Sequence[Any]) -> pl.Series | None:
    """A column that says the same in every row, as half of them do, made from its first value."""
    count = len(values)
    if count < _FEW or values[0] != values[-1] or (type_ == "DOUBLE" and values[0] is not None):
        return None  # of doubles, 0 and -0 are equal and not the same
    if values.count(values[0]) != count:
        return None
    return column_of(name, type_, values[:1]).new_from_index(0, count)


def select_list(table: Table) -> str:
    """The columns of a flat frame, brought into the table's shape."""
    special = {USAGE: f"{_PACK} AS {{}}", COST: f"CAST({{0}} AS {COST}) AS {{0}}"}
    return ", ".join(special.get(c.type, "{}").format(quote(c.name)) for c in table.columns)


def _times(name: str, values: Sequence[Any]) -> pl.Series:
    """Seconds since the epoch as instants; what the calendar does not have is null."""
    import polars as pl

    instants = None
    if set(map(type, values)) == {float}:
        seconds = pl.Series(name, values, dtype=pl.Float64)
        if seconds.is_between(_FIRST, _LAST).all():
            instants = (seconds * 1_000_000).round().cast(pl.Int64)
    if instants is None:
        instants = pl.Series(name, [_instant(value) for value in values], dtype=pl.Int64)
    return instants.cast(pl.Datetime("us", "UTC"))


def _instant(value: Any) -> int | None:
    if not isinstance(value, int | float) or not _FIRST <= value <= _LAST:
        return None
    return round(value * 1_000_000)


def _text(value: Any) -> str | None:
    return None if value is None else clean(str(value))


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, int) and -_INT <= value < _INT else None


def _float(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and abs(value) < 1e308 else None


def _money(value: Any) -> str | None:
    """Dollars as text, which DuckDB reads ten times faster than Polars takes Decimals."""
    if not isinstance(value, Decimal) or not value.is_finite() or abs(value) >= _COST:
        return None
    return format(value, "f")


def _texts(value: Any) -> list[str | None] | None:
    return None if value is None else [_text(item) for item in value]


_POLARS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "VARCHAR": (lambda pl: pl.String, _text),
    "VARCHAR[]": (lambda pl: pl.List(pl.String), _texts),
    "BIGINT": (lambda pl: pl.Int64, _whole),
    "DOUBLE": (lambda pl: pl.Float64, _float),
    "BOOLEAN": (lambda pl: pl.Boolean, lambda value: bool(value) if value is not None else None),
    "UINTEGER": (lambda pl: pl.UInt32, _whole),
}
