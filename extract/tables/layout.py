"""The columns of an output table, in order: key, index of the item, the model's, our own.

Knows the types and nothing of where the table lies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from extract.schema.column_series import series_of
from extract.schema.columns import Columns
from extract.tables.keys import Key, for_duckdb
from extract.tables.names import INDEX

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Extra:
    """A column of our own: provenance, evidence.

    dtype: its Polars dtype; stored: its DuckDB type.
    value: from what the caller hands to `Output.rows` (an entry) and the index of its item.
    """

    name: str
    dtype: pl.DataType
    stored: str
    value: Callable[[Any, int], Any]


@dataclass(frozen=True, eq=False)
class Layout:
    """Names and types of an output table.

    many: a row of the input makes several (a column `index` counts them from 0).
    """

    key: Key
    columns: Columns
    many: bool = False
    extra: tuple[Extra, ...] = ()

    @property
    def names(self) -> list[str]:
        """All columns, in order."""
        return list(self.polars)

    @property
    def polars(self) -> dict[str, pl.DataType]:
        """Polars dtype of each column, in order."""
        import polars as pl

        index: dict[str, pl.DataType] = {INDEX: pl.Int64()} if self.many else {}
        return {**self.key.polars, **index, **self.columns.polars, **{e.name: e.dtype for e in self.extra}}

    @property
    def duckdb(self) -> dict[str, str]:
        """DuckDB type of each column, in order."""
        index = {INDEX: "BIGINT"} if self.many else {}
        return {**self.key.duckdb, **index, **self.columns.duckdb, **{e.name: e.stored for e in self.extra}}

    def beside(self, found: Mapping[str, object]) -> Layout:
        """The layout of a table that is there: with its own integers in the key, where they are wider."""
        return replace(self, key=self.key.widened(found))

    def empty(self) -> pl.DataFrame:
        """The table without rows."""
        import polars as pl

        return pl.DataFrame(schema=self.polars)

    def frame(
        self,
        keys: Sequence[str],
        index: Sequence[int],
        rows: Sequence[Mapping[str, Any]],
        extra: Mapping[str, Sequence[Any]],
    ) -> pl.DataFrame:
        """One table row for each of `rows` (made by `Columns.row`), beside its key text and index."""
        return self.beside_key(keys, index, self.columns.frame(rows), extra)

    def beside_key(
        self,
        keys: Sequence[str],
        index: Sequence[int],
        columns: pl.DataFrame,
        extra: Mapping[str, Sequence[Any]],
    ) -> pl.DataFrame:
        """The same with the model's columns as a frame."""
        import polars as pl

        frame = self.key.decode(keys)
        if self.many:
            frame = frame.with_columns(pl.Series(INDEX, index, dtype=pl.Int64))
        ours = [series_of(e.name, extra[e.name], e.dtype) for e in self.extra]
        return frame.hstack(columns).hstack(ours)

    def to_duckdb(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame in dtypes that DuckDB takes as they are."""
        return for_duckdb(self.columns.to_duckdb(frame), self.key.names)

    def from_duckdb(self, frame: pl.DataFrame) -> pl.DataFrame:
        """A frame that DuckDB gave, with the declared dtypes again."""
        frame = self.columns.from_duckdb(frame)
        return frame.cast({name: dtype for name, dtype in self.key.polars.items() if name in frame.columns})
