"""The store as a database: its tables, their version, its runs and jobs.

Knows nothing of threads, futures or output formats: a caller that owns the connection says when. All
names are qualified: a file `extract.duckdb` holding a schema `extract` is ambiguous otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from extract.errors import StoreError, StoreVersionError
from extract.store import schema
from extract.store.checkpoint import Checkpoints
from extract.store.connect import Opened
from extract.store.frames import frame_of, select_list
from extract.store.rows import RunEnd, RunStart
from extract.store.sql import SOURCE, clean, learn, quote, run_with, transaction, unlearn

if TYPE_CHECKING:
    import polars as pl


class Ledger:
    """Reads and writes of the tables in schema `extract`."""

    def __init__(self, opened: Opened, library: str) -> None:
        self.con = opened.con
        self.path = opened.path
        self.schema = opened.qualified(schema.SCHEMA)
        self._library = library
        self._checkpoints = Checkpoints(opened)

    def table(self, name: str) -> str:
        """A table of the store, quoted and qualified."""
        return f"{self.schema}.{quote(name)}"

    # -- opening -------------------------------------------------------------------------------

    def prepare(self, now: float) -> None:
        """Make the tables, migrate older ones, refuse what is not ours or newer."""
        learn(self.con)
        found = self._version()
        if found is None:
            self.transaction(lambda: self._create(now))
        elif found != schema.VERSION:
            self._migrate(found)

    def transaction(self, work: Callable[[], None]) -> None:
        """Run `work` in one transaction: all of it is durable afterwards, or nothing."""
        with transaction(self.con):
            work()
        self._checkpoints.after_commit()

    def close(self) -> None:
        """Let the database go."""
        self._checkpoints.close()
        unlearn(self.con)
        self.con.close()

    def _version(self) -> int | None:
        tables = self._fetch(
            "SELECT table_name FROM duckdb_tables() WHERE database_name = ? AND schema_name = ?",
            [_unquoted(self.schema), schema.SCHEMA],
        )
        names = {name for (name,) in tables}
        if not names:
            return None
        if "meta" not in names:
            raise StoreError(
                f"{self.path or 'the database'} has a schema named 'extract' that is not a store "
                f"(tables {', '.join(sorted(names)[:5])}); give another file to store="
            )
        rows = self._fetch(f"SELECT version FROM {self.table('meta')}")
        if len(rows) != 1:
            raise StoreError(f"{self.path}: the table extract.meta is damaged ({len(rows)} rows, expected 1)")
        return int(rows[0][0])

    def _create(self, now: float) -> None:
        for statement in schema.create(self.schema):
            self.con.execute(statement)
        self.con.execute(
            f"INSERT INTO {self.table('meta')} VALUES (?, ?, make_timestamptz(?))",
            [schema.VERSION, self._library, round(now * 1_000_000)],
        )

    def _migrate(self, found: int) -> None:
        if found > schema.VERSION:
            raise StoreVersionError(
                f"{self.path}: this store has version {found}, this library knows {schema.VERSION}. "
                f"Upgrade extract-pipelines, or give a new file to store="
            )
        steps = schema.steps(found)
        if steps is None:
            raise StoreVersionError(
                f"{self.path}: this store has version {found} and cannot be migrated to {schema.VERSION}. "
                f"Finish it with the library that wrote it, or give a new file to store="
            )
        self.transaction(lambda: self._run_steps(steps))

    def _run_steps(self, steps: Iterable[Sequence[str]]) -> None:
        for statements in steps:
            for statement in statements:
                self.con.execute(statement.replace("{schema}", self.schema))
        self.con.execute(
            f"UPDATE {self.table('meta')} SET version = ?, library = ?", [schema.VERSION, self._library]
        )

    # -- runs ----------------------------------------------------------------------------------

    def begin(self, run: RunStart) -> None:
        """Write down a run and its job. A run that never ended is told apart as killed."""
        self.con.execute(f"UPDATE {self.table('runs')} SET state = 'killed' WHERE state = 'running'")
        self.insert(schema.RUNS, [run], _run_columns(run, self._library))
        old = self._fetch(f"SELECT created_at FROM {self.table('jobs')} WHERE job = ?", [clean(run.job)])
        self.con.execute(f"DELETE FROM {self.table('jobs')} WHERE job = ?", [clean(run.job)])
        self.insert(schema.JOBS, [run], _job_columns(run))
        if old:
            self.con.execute(
                f"UPDATE {self.table('jobs')} SET created_at = ? WHERE job = ?", [old[0][0], clean(run.job)]
            )

    def finish(self, end: RunEnd) -> None:
        """Write down how a run ended."""
        self.con.execute(
            f"UPDATE {self.table('runs')} SET state = ?, stop_reason = ?, counts = ?, "
            f"finished_at = make_timestamptz(?) WHERE run_id = ?",
            [
                end.state,
                end.stop_reason and clean(end.stop_reason),
                _json(end.counts),
                round(end.finished_at * 1_000_000),
                end.run_id,
            ],
        )

    def job_signature(self, job: str) -> dict[str, Any] | None:
        """What made the rows of a job, or None for a job that was never run."""
        rows = self._fetch(f"SELECT signature FROM {self.table('jobs')} WHERE job = ?", [clean(job)])
        return dict(json.loads(rows[0][0])) if rows else None

    def insert(
        self, table: schema.Table, rows: Sequence[Any], fixed: Mapping[str, Sequence[Any]] | None = None
    ) -> None:
        """Append rows to a table of the store. `fixed`: columns that are no attributes of the rows."""
        if not rows:
            return
        names = ", ".join(quote(column.name) for column in table.columns)
        run_with(
            self.con,
            f"INSERT INTO {self.table(table.name)} ({names}) SELECT {select_list(table)} FROM {SOURCE}",
            frame_of(table, rows, fixed),
        )

    # -- reading -------------------------------------------------------------------------------

    def frame(self, statement: str, values: Sequence[Any] | None = None) -> pl.DataFrame:
        """The result of a query as a Polars frame; times in UTC."""
        import polars as pl

        frame = pl.DataFrame(self.con.sql(statement, params=list(values or [])))
        zoned = [
            pl.col(name).dt.convert_time_zone("UTC")
            for name, dtype in frame.schema.items()
            if isinstance(dtype, pl.Datetime) and dtype.time_zone
        ]
        return frame.with_columns(zoned)

    def fetch(self, statement: str, values: Sequence[Any] | None = None) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        return self._fetch(statement, values)

    def _fetch(self, statement: str, values: Sequence[Any] | None = None) -> list[tuple[Any, ...]]:
        return list(self.con.execute(statement, list(values or [])).fetchall())


def _unquoted(schema_name: str) -> str:
    """The catalog of a qualified schema, as DuckDB's own tables name it."""
    catalog = schema_name[: -len(quote(schema.SCHEMA)) - 1]
    return catalog[1:-1].replace('""', '"')


def _run_columns(run: RunStart, library: str) -> dict[str, Sequence[Any]]:
    return {
        "state": ["running"],
        "stop_reason": [None],
        "signature": [_json(run.signature)],
        "settings": [_json(run.settings)],
        "counts": [None],
        "library": [library],
        "finished_at": [None],
        "key_columns": [list(run.key_columns)],
    }


def _job_columns(run: RunStart) -> dict[str, Sequence[Any]]:
    return {
        "signature": [_json(run.signature)],
        "key_columns": [list(run.key_columns)],
        "created_at": [run.started_at],
        "updated_at": [run.started_at],
    }


def _json(values: Mapping[str, Any]) -> str:
    return json.dumps(dict(values), ensure_ascii=True, default=str)
