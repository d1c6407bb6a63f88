"""An output table in DuckDB: made from declared types, filled by key, every name quoted.

A table in the store's own database takes part in its transaction: a row is accepted and in the table, or
neither. DuckDB lets one transaction write one database, so a table in another file is written just before;
writing it again is harmless. Knows nothing of rows, answers or runs.
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extract.errors import InputError
from extract.store.connect import opening_error
from extract.store.sql import SOURCE, literal, quote, run_with, transaction
from extract.tables.keys import for_duckdb
from extract.tables.layout import Layout
from extract.tables.targets import DuckTable

if TYPE_CHECKING:
    import polars as pl


class DuckSink:
    """Upserts by key into one DuckDB table."""

    folds_case = True
    fresh = False
    """Whether `prepare` made the table: rows accepted earlier are not in it."""

    def __init__(self, target: DuckTable, layout: Layout, *, database: str, main: str) -> None:
        """`database` and `main`: catalog and default schema of the store's connection, unquoted."""
        self.target = target
        self.layout = layout
        self._own = database
        self._catalog = database if target.file is None else f"extract_into_{id(self):x}"
        self._schema = target.schema or (main if target.file is None else "main")
        self.transactional = target.file is None
        self._attached = False

    @property
    def name(self) -> str:
        """The table, quoted and qualified."""
        return ".".join(map(quote, (self._catalog, self._schema, self.target.table)))

    def prepare(self, con: Any) -> None:
        """Make the table, or check the one which is there. Raises InputError when it does not fit."""
        if self.target.file is not None:
            self._attach(con, self.target.file)
        wanted = self.layout.duckdb
        found = self._found(con)
        self.fresh = not found
        if self.fresh:
            columns = ", ".join(f"{quote(name)} {kind}" for name, kind in wanted.items())
            con.execute(f"CREATE TABLE {self.name} ({columns})")
            found = self._found(con)
        self.layout = self.layout.beside(found)
        self._compare(con, found)

    def write(self, con: Any, frame: pl.DataFrame, keys: pl.DataFrame) -> None:
        """Replace all rows of `keys` by those of `frame`."""
        if self.transactional:
            self._replace(con, frame, keys)
            return
        with transaction(con):
            self._replace(con, frame, keys)

    def read(self, con: Any) -> pl.DataFrame:
        """The whole table with the declared dtypes, in no stated order."""
        import polars as pl

        names = ", ".join(map(quote, self.layout.names))
        return self.layout.from_duckdb(pl.DataFrame(con.sql(f"SELECT {names} FROM {self.name}")))

    def release(self, con: Any) -> None:
        """Detach the other file: a connection of the user's would hold it for good."""
        import duckdb

        if self._attached:
            with contextlib.suppress(duckdb.Error):  # somebody reads it: it goes with the connection
                con.execute(f"DETACH {quote(self._catalog)}")

    def _replace(self, con: Any, frame: pl.DataFrame, keys: pl.DataFrame) -> None:
        names = self.layout.key.names
        if keys.height:
            same = " AND ".join(f"t.{quote(name)} = s.{quote(name)}" for name in names)
            run_with(
                con,
                f"DELETE FROM {self.name} AS t USING {SOURCE} AS s WHERE {same}",
                for_duckdb(keys, names),
            )
        if frame.height:
            columns = ", ".join(map(quote, frame.columns))
            run_with(
                con,
                f"INSERT INTO {self.name} ({columns}) SELECT {columns} FROM {SOURCE}",
                self.layout.to_duckdb(frame),
            )

    def _found(self, con: Any) -> dict[str, str]:
        rows = con.execute(
            "SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = ? AND schema_name = ? "
            "AND table_name = ? ORDER BY column_index",
            [self._catalog, self._schema, self.target.table],
        ).fetchall()
        return {str(name): str(kind) for name, kind in rows}

    def _compare(self, con: Any, found: dict[str, str]) -> None:
        wanted = self.layout.duckdb
        missing = [name for name in wanted if name not in found]
        if missing:
            raise InputError(
                f"the table {self.target.table!r} is there already and has no column {missing[0]!r} (it has "
                f"{', '.join(map(repr, list(found)[:12]))}); give another name to into="
            )
        typed = _types(con, wanted.values())
        other = [n for n, kind in zip(wanted, typed, strict=True) if found[n] != kind]
        if other:
            raise InputError(
                f"the table {self.target.table!r} is there already and its column {other[0]!r} is "
                f"{found[other[0]]}, not {wanted[other[0]]}; give another name to into="
            )

    def _attach(self, con: Any, file: Path) -> None:
        import duckdb

        attached = con.execute("SELECT database_name, path FROM duckdb_databases()").fetchall()
        for name, path in attached:
            if path and Path(path).resolve() == file.resolve():
                self.transactional = str(name) == self._own
                self._catalog = str(name)
                return
        try:
            con.execute(f"ATTACH {literal(str(file))} AS {quote(self._catalog)}")
        except duckdb.Error as error:
            raise opening_error(file, error) from error
        self._attached = True


def _types(con: Any, kinds: Any) -> list[str]:
    """Types as DuckDB itself spells them."""
    casts = ", ".join(f"NULL::{kind}" for kind in kinds)
    return [str(kind) for kind in con.sql(f"SELECT {casts}").types]
