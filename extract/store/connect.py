"""Opening a store: whose file it is, whether another process has it, what a crash left behind.

Knows nothing of rows. Every failure of DuckDB leaves here as a StoreError that says who must act.
"""

from __future__ import annotations

import logging
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extract.errors import StoreError, StoreLockedError
from extract.store.sql import quote
from extract.store.wal import LONGEST_HEADER, Tail, broken_at, tail_of

if TYPE_CHECKING:
    import duckdb

log = logging.getLogger("extract.store")

MEMORY = ":memory:"
_HOLDER = re.compile(r"Conflicting lock is held in (.+?) \(PID (\d+)\)")
_FULL = ("File too large", "No space left", "Disk quota exceeded")
_LARGEST_LOG = 1 << 30


@dataclass(frozen=True, slots=True)
class Opened:
    """A connection that the store may use alone.

    path: the database file, None in memory. database: its catalog, unquoted. main: the schema that
    unqualified tables of the user lie in. borrowed: the database is the user's and stays open.
    """

    con: duckdb.DuckDBPyConnection
    path: Path | None
    database: str
    main: str
    borrowed: bool

    def qualified(self, schema: str) -> str:
        """A schema of this database, quoted."""
        return f"{quote(self.database)}.{quote(schema)}"


def open_path(target: str | Path) -> Opened:
    """Open (or make) a store file; `":memory:"` opens one that is gone afterwards."""
    if str(target) == MEMORY:
        return _describe(_connect(MEMORY), borrowed=False)
    path = Path(target)
    before = _log_of(path)
    opened = _describe(_connect_file(path, before), borrowed=False)
    if before is not None:
        _tell_torn(path, *before)
    return opened


def borrow(connection: duckdb.DuckDBPyConnection) -> Opened:
    """A cursor of the user's connection.

    Raises StoreError when the connection has an open transaction (a cursor sees nothing of it), an
    unfinished result, or a database that cannot be written.
    """
    import duckdb

    try:
        # Two statements on their own have two transactions; a BEGIN to find out would abort the user's.
        first, second = _transaction_id(connection), _transaction_id(connection)
        if first == second:
            raise StoreError(_OPEN_TRANSACTION)
        return _describe(connection.cursor(), borrowed=True, of=connection)
    except duckdb.TransactionException as error:
        raise StoreError(_OPEN_TRANSACTION) from error
    except duckdb.Error as error:
        raise StoreError(f"the connection given as store= cannot be used: {first_line(error)}") from error


_OPEN_TRANSACTION = (
    "the connection given as store= has an open transaction; its work is invisible to the run. "
    "COMMIT or ROLLBACK it first"
)


def _transaction_id(connection: duckdb.DuckDBPyConnection) -> Any:
    return connection.execute("SELECT txid_current()").fetchall()[0][0]


def _describe(
    con: duckdb.DuckDBPyConnection, *, borrowed: bool, of: duckdb.DuckDBPyConnection | None = None
) -> Opened:
    found = (of or con).execute("SELECT current_database(), current_schema()").fetchall()[0]
    database, main = str(found[0]), str(found[1])
    files = con.execute("SELECT database_name, path, readonly FROM duckdb_databases()").fetchall()
    path, readonly = next(((p, r) for name, p, r in files if name == database), (None, False))
    if readonly:
        raise StoreError(
            f"{path or database} is open for reading alone; open it for writing to keep a run in it"
        )
    return Opened(con, Path(path) if path else None, database, main, borrowed)


def _connect(target: str) -> duckdb.DuckDBPyConnection:
    import duckdb

    return duckdb.connect(target)


def _connect_file(path: Path, before: tuple[bytes, Tail | None] | None) -> duckdb.DuckDBPyConnection:
    import duckdb

    try:
        return _connect(str(path))
    except duckdb.Error as error:
        if before is not None and "WAL" in str(error):
            return _without_broken_log(path, before[0], error)
        raise opening_error(path, error) from error


def _without_broken_log(path: Path, held: bytes, error: Exception) -> duckdb.DuckDBPyConnection:
    """Open with the log up to its last whole commit; the log as it was is kept beside the store."""
    tail = tail_of(held, broken_at(str(error)))
    if tail is None or broken_at(str(error)) is None:
        raise StoreError(
            f"{path}: the write-ahead log {log_path(path)} cannot be read ({first_line(error)}). Move that "
            f"file aside to open the store without the commits in it; their rows are asked for again"
        ) from error
    aside = _aside(path, held)
    with log_path(path).open("r+b") as file:
        file.truncate(tail.end)
    log.warning(
        "%s: a record in the middle of the write-ahead log is broken; the commits in front of it are kept, "
        "%d bytes are dropped and their rows run again. The log as it was: %s",
        path,
        tail.size - tail.end,
        aside,
    )
    try:
        return _connect(str(path))
    except Exception as again:
        raise opening_error(path, again) from again


def log_path(path: Path) -> Path:
    """DuckDB's write-ahead log of a store."""
    return path.with_name(path.name + ".wal")


def _log_of(path: Path) -> tuple[bytes, Tail | None] | None:
    """The log as it lies there, read before DuckDB replays and removes it."""
    try:
        wal = log_path(path)
        if not wal.is_file() or not path.is_file() or wal.stat().st_size > _LARGEST_LOG:
            return None
        held = wal.read_bytes()
    except OSError:
        return None
    return held, tail_of(held)


def _tell_torn(path: Path, held: bytes, tail: Tail | None) -> None:
    if tail is None:
        if len(held) > LONGEST_HEADER:  # a log without a record holds nothing that was acknowledged
            log.warning(
                "%s: the write-ahead log has a form that is not known here; DuckDB opened the store without "
                "a complaint, and whether all its commits are there cannot be told. The log as it was: %s",
                path,
                _aside(path, held),
            )
        return
    if not tail.torn:
        return
    log.warning(
        "%s: the last commit was cut in the middle of writing (%d bytes after the last whole one). It is "
        "dropped and its rows run again; everything acknowledged before it is there. The log as it was: %s",
        path,
        tail.size - tail.end,
        _aside(path, held),
    )


def _aside(path: Path, held: bytes) -> str:
    copy = path.with_name(f"{path.name}.wal.torn-{time.time_ns()}")
    try:
        copy.write_bytes(held)
    except OSError as error:
        return f"could not be kept ({error.strerror})"
    return str(copy)


def opening_error(path: Path | None, error: Exception) -> StoreError:
    """Why a store does not open, and the way out."""
    message = str(error)
    held = _HOLDER.search(message)
    if held:
        return StoreLockedError(
            f"{path} is in use by another process (PID {held.group(2)}, {held.group(1)}); nothing was sent. "
            f"Wait for it, stop it, or give this run a store of its own. "
            f"`extract status {path}` shows how far it is"
        )
    if "different configuration" in message:
        return StoreError(
            f"{path} is open in this process with other settings; give that open connection itself to store="
        )
    if "not a valid DuckDB" in message or "sqlite_scanner" in message:
        return StoreError(f"{path} is not a DuckDB file; give another name to store= or move that file away")
    if "newer" in message and "version" in message:
        return StoreError(
            f"{path} was written by a newer DuckDB: {first_line(error)}. Upgrade the package duckdb"
        )
    if "Permission denied" in message or "Read-only file system" in message:
        return StoreError(f"{path} cannot be written; choose a folder that this user may write to for store=")
    if any(sign in message for sign in _FULL):
        return disk_full(path)
    if "No such file or directory" in message:
        return StoreError(f"{path}: its folder does not exist; make it, or choose another place for store=")
    if "Is a directory" in message:
        return StoreError(f"{path} is a folder; give the name of a file to store=, as {path}/extract.duckdb")
    return StoreError(f"{path} does not open: {first_line(error)}")


def writing_error(path: Path | None, error: Exception) -> StoreError:
    """Why a commit did not happen, and the way out. Nothing of the commit is in the store."""
    if isinstance(error, StoreError):
        return error
    if isinstance(error, OSError) or any(sign in str(error) for sign in _FULL):
        return (
            disk_full(path) if any(sign in str(error) for sign in _FULL) else StoreError(f"{path}: {error}")
        )
    return StoreError(f"{path or 'the store in memory'}: DuckDB did not do this: {first_line(error)}")


def disk_full(path: Path | None) -> StoreError:
    """No room for a commit."""
    return StoreError(
        f"no room to write {path}: the disk is full or a quota is reached. What was committed is safe; "
        f"free some space and run the same again to go on"
    )


def first_line(error: Exception) -> str:
    """The first line of DuckDB's words."""
    return str(error).split("\n", 1)[0]
