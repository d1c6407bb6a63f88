"""Small things that every statement needs: quoted names, frames as tables, text DuckDB can hold.

Knows nothing of the tables.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
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


def cleaned(texts: Sequence[str]) -> list[str]:
    """`clean` of each."""
    if all(map(str.isascii, texts)):
        return list(texts)
    return list(map(clean, texts))


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

    con.execute(_parsed(con, "BEGIN TRANSACTION"))
    try:
        yield
        con.execute(_parsed(con, "COMMIT"))
    except BaseException:
        with contextlib.suppress(duckdb.Error):  # a failed COMMIT has rolled back already
            con.execute("ROLLBACK")
        raise


SOURCE = "_extract_source_"
"""The name under which a statement reads the frame that is given with it."""

_MANY = 256  # statements that are kept; those of one run are a dozen


@dataclass(slots=True)
class _Known:
    """What was learned of a connection. finds: whether it finds a variable by its name."""

    finds: bool = True
    parsed: dict[str, duckdb.Statement] = field(default_factory=dict)


_known: dict[int, _Known] = {}


def learn(con: duckdb.DuckDBPyConnection) -> None:
    """Find out how a connection reads frames. To be called once, outside a transaction.

    DuckDB finds a variable by its name, which costs half of registering it; on some connections
    (`enable_external_access = false`, `python_enable_replacements = false`) it does not look.
    """
    import duckdb
    import polars as pl

    known = _known[id(con)] = _Known()
    try:
        fetch_with(con, f"SELECT * FROM {SOURCE}", pl.DataFrame({"found": [True]}))
    except duckdb.CatalogException:
        known.finds = False


def unlearn(con: duckdb.DuckDBPyConnection) -> None:
    """The connection is closed; its number may be another's next."""
    _known.pop(id(con), None)


def run_with(
    con: duckdb.DuckDBPyConnection, statement: str, frame: pl.DataFrame, values: Sequence[Any] = ()
) -> None:
    """Run a statement that reads `frame` under the name SOURCE."""
    _extract_source_ = Capsule(frame)
    with _readable(con, _extract_source_):
        con.execute(_parsed(con, statement), list(values))


def fetch_with(
    con: duckdb.DuckDBPyConnection, statement: str, frame: pl.DataFrame, values: Sequence[Any] = ()
) -> list[tuple[Any, ...]]:
    """All rows of a query that reads `frame` under the name SOURCE: cheaper than columns for few."""
    _extract_source_ = Capsule(frame)
    with _readable(con, _extract_source_):
        return list(con.execute(_parsed(con, statement), list(values)).fetchall())


def read_with(
    con: duckdb.DuckDBPyConnection, statement: str, frame: pl.DataFrame, values: Sequence[Any] = ()
) -> pl.DataFrame:
    """The result of a query that reads `frame` under the name SOURCE, in columns."""
    import polars as pl

    _extract_source_ = Capsule(frame)
    with _readable(con, _extract_source_):
        return pl.DataFrame(con.sql(_parsed(con, statement), params=list(values)))


def _parsed(con: duckdb.DuckDBPyConnection, statement: str) -> str | duckdb.Statement:
    """A statement that DuckDB need not parse again: a quarter of what a few hundred rows cost it."""
    known = _known.get(id(con))
    if known is None:
        return statement
    found = known.parsed.get(statement)
    if found is None:
        if len(known.parsed) >= _MANY:
            known.parsed.clear()
        (found,) = con.extract_statements(statement)
        known.parsed[statement] = found
    return found


@contextlib.contextmanager
def _readable(con: duckdb.DuckDBPyConnection, source: Capsule) -> Iterator[None]:
    """The caller's variable SOURCE, registered where the connection does not find it."""
    import duckdb

    known = _known.get(id(con))
    if known is None or known.finds:
        yield
        return
    con.register(SOURCE, source)
    try:
        yield
    finally:
        with contextlib.suppress(duckdb.Error):  # an aborted transaction takes nothing, not even this
            con.unregister(SOURCE)
