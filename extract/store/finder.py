"""Finding rows by a text (a key, a fingerprint) in a table of any size, and taking them out.

A column `lookup` holds a CRC-32 of the text: reading four bytes a row instead of the text makes a look-up
in a million rows ten times cheaper, and costs no index to keep. What a look-up did not find is
remembered until it is written, so that a new row is not searched for again. Knows nothing of what the
rows mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any
from zlib import crc32

from extract.store.sql import quote, transaction

if TYPE_CHECKING:
    import duckdb

LOOKUP = "lookup"
_BY_ID = "rowid IN (SELECT unnest(?::BIGINT[]))"


def lookup_of(text: str) -> int:
    """The number that stands for a text in the column `lookup`."""
    return crc32(text.encode("utf-8", "backslashreplace"))


class Finder:
    """Rows of one table by the text in one column.

    scope: name of a column that narrows the search to one job, or None.
    """

    def __init__(
        self, con: duckdb.DuckDBPyConnection, table: str, text: str, scope: str | None = None
    ) -> None:
        self._con, self._table, self._text = con, table, quote(text)
        self._scope = f"{quote(scope)} = ?" if scope else "?::VARCHAR IS NULL"
        self._absent: set[tuple[str | None, str]] = set()

    def find(self, select: str, texts: Sequence[str], scope: str | None = None) -> list[tuple[Any, ...]]:
        """The selected columns of the rows that are there."""
        found: list[tuple[Any, ...]] = []
        with transaction(self._con):  # row ids hold within one transaction
            found = self._rows(f"{self._text}, {select}", self._ids(texts, scope))
        wanted = set(texts)
        found = [row for row in found if row[0] in wanted]
        there = {text for text, *_ in found}
        self._absent.update((scope, text) for text in texts if text not in there)
        return [tuple(row) for _, *row in found]

    def remove(self, texts: Iterable[str], scope: str | None = None) -> None:
        """Take rows out, within the caller's transaction; those known to be absent are not searched for."""
        wanted = [text for text in texts if (scope, text) not in self._absent]
        if not wanted:
            return
        ids = self._ids(wanted, scope)
        there = set(wanted)
        exact = [rowid for rowid, text in self._rows(f"rowid, {self._text}", ids) if text in there]
        if exact:
            self._con.execute(f"DELETE FROM {self._table} WHERE {_BY_ID}", [exact])

    def is_absent(self, text: str, scope: str | None = None) -> bool:
        """Whether a look-up has not found it and nothing was written since."""
        return (scope, text) in self._absent

    def written(self, texts: Iterable[str], scope: str | None = None) -> None:
        """They are there now."""
        self._absent.difference_update((scope, text) for text in texts)

    def _ids(self, texts: Sequence[str], scope: str | None) -> list[int]:
        rows = self._con.execute(
            f"SELECT rowid FROM {self._table} WHERE {self._scope} "
            f"AND {LOOKUP} IN (SELECT unnest(?::UINTEGER[]))",
            [scope, [lookup_of(text) for text in texts]],
        ).fetchall()
        return [rowid for (rowid,) in rows]

    def _rows(self, select: str, ids: Sequence[int]) -> list[tuple[Any, ...]]:
        if not ids:
            return []
        return self._con.execute(f"SELECT {select} FROM {self._table} WHERE {_BY_ID}", [list(ids)]).fetchall()
