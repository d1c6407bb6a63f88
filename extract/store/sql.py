"""Small things that every statement needs: quoted names, frames as tables, text DuckDB can hold.

Knows nothing of the tables.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb
    import polars as pl


def quote(name: str) -> str:
    """An identifier that no content of `name` can break out of."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A string literal, where a parameter is not allowed (ATTACH)."""
    return "'" + text.replace("'", "''") + "'"


def clean(text: str) -> str:
    """Text that DuckDB and Parquet can hold: lone surrogates become `\\udXXX` in plain letters.

    NUL and every other character pass as they are; DuckDB keeps them.
    """
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


class Capsule:
    """A Polars frame with its Arrow stream alone: DuckDB then needs no pyarrow to read it."""

    __slots__ = ("_frame",)

    def __init__(self, frame: pl.DataFrame) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._frame.__arrow_c_stream__(requested_schema)


@contextlib.contextmanager
def transaction(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """One transaction: all of it is durable afterwards, or nothing."""
    import duckdb

    con.execute("BEGIN TRANSACTION")
    try:
        yield
        con.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(duckdb.Error):  # a failed COMMIT has rolled back already
            con.execute("ROLLBACK")
        raise


SOURCE = "_extract_source_"
"""The name under which a statement reads the frame that is given with it."""


_no_variables: set[int] = set()


def learn(con: duckdb.DuckDBPyConnection) -> None:
    """Find out how a connection reads frames. To be called once, outside a transaction.

    DuckDB finds a variable by its name, which costs half of registering it; on some connections
    (`enable_external_access = false`, `python_enable_replacements = false`) it does not look.
    """
    import duckdb
    import polars as pl

    try:
        run_with(con, f"SELECT * FROM {SOURCE}", pl.DataFrame({"found": [True]}))
        con.fetchall()
    except duckdb.CatalogException:
        _no_variables.add(id(con))


def unlearn(con: duckdb.DuckDBPyConnection) -> None:
    """The connection is closed; its number may be another's next."""
    _no_variables.discard(id(con))


def run_with(
    con: duckdb.DuckDBPyConnection, statement: str, frame: pl.DataFrame, values: Sequence[Any] = ()
) -> None:
    """Run a statement that reads `frame` under the name SOURCE."""
    _extract_source_ = Capsule(frame)
    if id(con) not in _no_variables:
        con.execute(statement, list(values))
        return
    with _registered(con, _extract_source_):
        con.execute(statement, list(values))


def read_with(
    con: duckdb.DuckDBPyConnection, statement: str, frame: pl.DataFrame, values: Sequence[Any] = ()
) -> pl.DataFrame:
    """The result of a query that reads `frame` under the name SOURCE, in columns."""
    import polars as pl

    _extract_source_ = Capsule(frame)
    if id(con) not in _no_variables:
        return pl.DataFrame(con.sql(statement, params=list(values)))
    with _registered(con, _extract_source_):
        return pl.DataFrame(con.sql(statement, params=list(values)))


@contextlib.contextmanager
def _registered(con: duckdb.DuckDBPyConnection, source: Capsule) -> Iterator[None]:
    import duckdb

    con.register(SOURCE, source)
    try:
        yield
    finally:
        with contextlib.suppress(duckdb.Error):  # an aborted transaction takes nothing, not even this
            con.unregister(SOURCE)
