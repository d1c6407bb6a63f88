"""Finding rows by a text (a key, a fingerprint) in a table of any size, and taking them out.

A column `lookup` holds a CRC-32 of the text: reading four bytes a row instead of the text makes a look-up
in a million rows ten times cheaper, and costs no index to keep. What a look-up did not find is
remembered until it is written, so that a new row is not searched for again. Everything goes in and out in
columns: a parameter or a value of its own costs a microsecond. Knows nothing of what the rows mean.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any
from zlib import crc32

from extract.store.sql import SOURCE, fetch_with, quote, read_with, run_with, transaction

if TYPE_CHECKING:
    import duckdb
    import polars as pl

LOOKUP = "lookup"
_TEXT, _ID = "_text", "_id"
_BY_ID = f"rowid IN (FROM {SOURCE})"


def lookup_of(text: str) -> int:
    """The number that stands for a text in the column `lookup`."""
    try:
        return crc32(text.encode())
    except UnicodeEncodeError:
        return crc32(text.encode("utf-8", "backslashreplace"))


class Finder:
    """Rows of one table by the text in one column.

    scope: name of a column that narrows the search to one job, or None.
    """

    def __init__(
        self, con: duckdb.DuckDBPyConnection, table: str, text: str, scope: str | None = None
    ) -> None:
        self._con, self._table, self._text = con, table, quote(text)
        self._scope = quote(scope) if scope else None
        self._absent: defaultdict[str | None, set[str]] = defaultdict(set)
        self._nothing: dict[str, pl.DataFrame] = {}  # what a look-up in vain gives, by what it selects

    def find(self, select: str, texts: Sequence[str], scope: str | None = None) -> pl.DataFrame:
        """The selected columns of the rows that are there."""
        import polars as pl

        with transaction(self._con):  # row ids hold within one transaction
            ids = self._ids(texts, scope)
            found = self._rows(f"{self._text} AS {_TEXT}, {select}", ids)
        if ids.is_empty():
            self._absent[scope].update(texts)
            return found.drop(_TEXT)
        there = found[_TEXT]
        self._absent[scope].update(set(texts).difference(there))
        return found.filter(there.is_in(pl.Series(texts, dtype=pl.String).implode())).drop(_TEXT)

    def change(
        self, texts: pl.Series, to: pl.DataFrame, assign: str, values: Sequence[Any], scope: str | None = None
    ) -> None:
        """Change the rows that are there in place, within the caller's transaction.

        to: a row for each text, for `assign` to name as columns of `s`. values: of its parameters.
        """
        ids = self._rows(f"{self._text} AS {_TEXT}, rowid AS {_ID}", self._ids(texts.to_list(), scope))
        found = ids.join(to.with_columns(texts.alias(_TEXT)), on=_TEXT).drop(_TEXT)
        run_with(
            self._con,
            f"UPDATE {self._table} AS t SET {assign} FROM {SOURCE} AS s WHERE t.rowid = s.{_ID}",
            found,
            values,
        )

    def remove(self, texts: Iterable[str], scope: str | None = None) -> None:
        """Take rows out, within the caller's transaction; those known to be absent are not searched for."""
        import polars as pl

        absent = self._absent[scope]
        wanted = [text for text in texts if text not in absent]
        if not wanted:
            return
        found = self._rows(f"{self._text} AS {_TEXT}, rowid AS {_ID}", self._ids(wanted, scope))
        exact = found.filter(pl.col(_TEXT).is_in(pl.Series(wanted, dtype=pl.String).implode())).select(_ID)
        if exact.height:
            run_with(self._con, f"DELETE FROM {self._table} WHERE {_BY_ID}", exact)

    def is_absent(self, text: str, scope: str | None = None) -> bool:
        """Whether a look-up has not found it and nothing was written since."""
        return text in self._absent[scope]

    def written(self, texts: Iterable[str], scope: str | None = None) -> None:
        """They are there now."""
        self._absent[scope].difference_update(texts)

    def _ids(self, texts: Sequence[str], scope: str | None) -> pl.DataFrame:
        import polars as pl

        numbers = pl.DataFrame({LOOKUP: list(map(lookup_of, texts))}, schema={LOOKUP: pl.UInt32})
        ours, values = (f"{self._scope} = ? AND", [scope]) if self._scope else ("", [])
        found = fetch_with(
            self._con,
            f"SELECT rowid FROM {self._table} WHERE {ours} {LOOKUP} IN (FROM {SOURCE})",
            numbers,
            values,
        )
        return pl.DataFrame({_ID: [number for (number,) in found]}, schema={_ID: pl.Int64})

    def _rows(self, select: str, ids: pl.DataFrame) -> pl.DataFrame:
        """The rows of some ids; where there are none, as in a new store, DuckDB is asked once alone."""
        if not ids.height and select in self._nothing:
            return self._nothing[select]
        found = read_with(self._con, f"SELECT {select} FROM {self._table} WHERE {_BY_ID}", ids)
        if not ids.height:
            self._nothing[select] = found
        return found
