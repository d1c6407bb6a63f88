"""Dead letters and requests as Parquet, in parts, on any filesystem that pyarrow or fsspec reaches.

The store has them first; parts follow. What an earlier run could not write any more is written before the
next one, so that each is in one part. Knows no Ray.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extract.errors import ConfigError, StoreError
from extract.store import Batch, Store
from extract.store.sql import clean, quote

if TYPE_CHECKING:
    import duckdb

log = logging.getLogger("extract")

_ROWS = 20_000  # of one table that make a part
_SECONDS = 60.0  # after which a part is written, however small


@dataclass(slots=True)
class _Follower:
    """One table of the store. identity: what tells its rows apart. fresh: what no part has yet."""

    table: str
    identity: tuple[str, ...]
    mine: str  # which rows belong to a job
    fresh: list[tuple[str, ...]] = field(default_factory=list)


class Tables:
    """The folders `dead_letters` and `calls` in one place.

    target: a path, or a URI such as `s3://bucket/run`. filesystem: pyarrow's, where the URI does not say it.
    Raises ConfigError for a place that cannot be reached.
    """

    def __init__(self, target: str | Path, filesystem: Any = None) -> None:
        self._name = str(target)
        self._fs, self._path = _place(target, filesystem)
        self._written = time.monotonic()
        self._followers = (
            _Follower("calls", ("call_id",), "run_id IN (SELECT run_id FROM {schema}.runs WHERE job = $job)"),
            _Follower("dead_letters", ("job", "key", "run_id"), "job = $job"),
        )
        try:
            for follower in self._followers:
                self._fs.create_dir(self._folder(follower), recursive=True)
        except OSError as error:
            raise ConfigError(f"tables={self._name!r} cannot be written: {error}") from error

    @property
    def due(self) -> bool:
        """Whether it is time for a part."""
        most = max(len(follower.fresh) for follower in self._followers)
        return most >= _ROWS or (most > 0 and time.monotonic() - self._written > _SECONDS)

    def note(self, batch: Batch) -> None:
        """These are in the store."""
        calls, dead = self._followers
        calls.fresh += [(call.call_id,) for call in batch.calls]
        dead.fresh += [(clean(row.job), clean(row.key), row.run_id) for row in batch.dead]

    def catch_up(self, store: Store, job: str) -> None:
        """Writes what is in the store and in no part. Raises StoreError."""
        for follower in self._followers:
            known = self._known(follower)
            columns = ", ".join(map(quote, follower.identity))
            schema = _schema(store)
            statement = (
                f"SELECT * FROM {schema}.{follower.table} WHERE {follower.mine.format(schema=schema)} "
                f"AND ({columns}) NOT IN (SELECT ({columns}) FROM known)"
            )

            def ask(con: duckdb.DuckDBPyConnection, known: Any = known, statement: str = statement) -> Any:
                con.register("known", known)
                try:
                    return con.sql(statement, params={"job": job}).to_arrow_table()
                finally:
                    con.unregister("known")

            self._write(follower, store.with_connection(ask))
            follower.fresh.clear()
        self._written = time.monotonic()

    def flush(self, store: Store) -> None:
        """Writes what was noted. Raises StoreError; then it is kept for the next time."""
        for follower in self._followers:
            fresh, follower.fresh = list(dict.fromkeys(follower.fresh)), []
            statement, values = _wanted(_schema(store), follower, fresh)

            def ask(con: duckdb.DuckDBPyConnection, statement: str = statement, values: Any = values) -> Any:
                return con.sql(statement, params=values).to_arrow_table()

            try:
                self._write(follower, store.with_connection(ask))
            except BaseException:
                follower.fresh = fresh + follower.fresh
                raise
        self._written = time.monotonic()

    def _folder(self, follower: _Follower) -> str:
        return f"{self._path}/{follower.table}"

    def _known(self, follower: _Follower) -> Any:
        """What the parts have, by identity."""
        import pyarrow as pa
        import pyarrow.dataset as ds

        folder, names = self._folder(follower), list(follower.identity)
        try:
            parts = ds.dataset(folder, filesystem=self._fs, format="parquet")
            if parts.files:
                return parts.to_table(columns=names)
        except (OSError, pa.ArrowInvalid) as error:
            raise StoreError(f"{folder} cannot be read: {error}. Give another place to tables=") from error
        return pa.table({name: pa.array([], pa.string()) for name in names})

    def _write(self, follower: _Follower, rows: Any) -> None:
        """One part, whole or not at all: a name that starts with a dot is read by nobody."""
        import pyarrow.parquet as pq

        if not rows.num_rows:
            return
        folder = self._folder(follower)
        name = f"{time.time_ns()}-{os.urandom(4).hex()}.parquet"  # by name they are in order
        try:
            pq.write_table(rows, f"{folder}/.{name}", filesystem=self._fs, compression="zstd")
            self._fs.move(f"{folder}/.{name}", f"{folder}/{name}")
        except OSError as error:
            raise StoreError(
                f"{folder} cannot be written: {error}. The rows are in the store; the same run again "
                f"writes what is missing"
            ) from error


def _schema(store: Store) -> str:
    return f"{quote(store.database)}.extract"


def _wanted(schema: str, follower: _Follower, fresh: Sequence[tuple[str, ...]]) -> tuple[str, list[Any]]:
    """A query for certain rows, and its parameters."""
    names = ", ".join(map(quote, follower.identity))
    lists = [[one[n] for one in fresh] for n in range(len(follower.identity))]
    wanted = ", ".join("unnest(?::VARCHAR[])" for _ in lists)
    rows = f"SELECT ({names}) FROM (SELECT {wanted}) AS wanted({names})"
    return f"SELECT * FROM {schema}.{follower.table} WHERE ({names}) IN ({rows})", lists


def _place(target: str | Path, filesystem: Any) -> tuple[Any, str]:
    """A filesystem and a path on it."""
    import pyarrow as pa
    from pyarrow import fs

    text = str(target).rstrip("/")
    if filesystem is not None:
        try:
            return fs._ensure_filesystem(filesystem), text
        except TypeError as error:
            raise ConfigError(f"filesystem=: {error}; give one of pyarrow.fs or fsspec") from error
    if "://" not in text:
        return fs.LocalFileSystem(), str(Path(text).resolve())
    try:
        return fs.FileSystem.from_uri(text)  # type: ignore[no-any-return]
    except (pa.ArrowInvalid, OSError) as error:
        return _by_fsspec(text, error)


def _by_fsspec(target: str, error: Exception) -> tuple[Any, str]:
    from pyarrow import fs

    try:
        import fsspec

        found, path = fsspec.core.url_to_fs(target)
    except (ImportError, ValueError) as other:
        raise ConfigError(
            f"tables={target!r}: {error}; {other}. Give filesystem=, or install the package that brings it"
        ) from error
    return fs.PyFileSystem(fs.FSSpecHandler(found)), str(path)
