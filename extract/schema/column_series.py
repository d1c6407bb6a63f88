"""Plain Python objects as one Polars column, nested ones a level at a time.

Polars makes a column of its own for each list and looks at each struct anew, which costs ten times as much
as all their items in one column. Knows dtypes and nothing of shapes: what a column cannot hold was refused
before.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

__all__ = ["series_of"]


def series_of(name: str, values: Sequence[Any], dtype: pl.DataType) -> pl.Series:
    """The column `pl.Series(name, values, dtype=dtype, strict=True)`; raises what that raises."""
    import polars as pl

    if isinstance(dtype, pl.List) and any(values):
        return _lists(name, values, dtype.inner)
    if isinstance(dtype, pl.Struct) and dtype.fields and any(values):
        return _structs(name, values, dtype)
    return pl.Series(name, values, dtype=dtype, strict=True)


def _lists(name: str, values: Sequence[list[Any] | None], inner: Any) -> pl.Series:
    """Each list takes its items out of one column of all items, by their places."""
    import polars as pl

    items = series_of("", list(chain.from_iterable(filter(None, values))), inner)
    lengths = pl.Series([len(value) if value else 0 for value in values], dtype=pl.Int64)
    ends = lengths.cum_sum()
    lists = pl.lit(items.implode()).list.gather(pl.int_ranges(ends - lengths, ends))
    return _where_there(name, values, lists)


def _structs(name: str, values: Sequence[dict[str, Any] | None], dtype: pl.Struct) -> pl.Series:
    """A column for each field, put together."""
    import polars as pl

    fields = []
    for field, inner in dtype.to_schema().items():
        column = [None if value is None else value[field] for value in values]
        fields.append(series_of(field, column, inner))  # type: ignore[arg-type]
    return _where_there(name, values, pl.lit(pl.DataFrame(fields).to_struct(name)))


def _where_there(name: str, values: Sequence[Any], column: pl.Expr) -> pl.Series:
    """The column with a null for each None."""
    import polars as pl

    there = pl.Series([value is not None for value in values], dtype=pl.Boolean)
    return pl.select((column if there.all() else pl.when(there).then(column)).alias(name)).to_series()
