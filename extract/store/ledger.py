"""The statements of the store, on one connection.

Knows nothing of threads, futures or output formats: a caller that owns the connection says when. All
names are qualified: a file `extract.duckdb` holding a schema `extract` is ambiguous otherwise.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from extract.errors import StoreError, StoreVersionError
from extract.protocol.usage import Usage
from extract.store import schema
from extract.store.connect import Opened
from extract.store.frames import frame_of, select_list
from extract.store.policy import Policy
from extract.store.rows import AnswerRow, Batch, CallRow, DeadRow, RowRow, RunEnd, RunStart
from extract.store.sql import clean, quote, run_with

if TYPE_CHECKING:
    import polars as pl


class Ledger:
    """Reads and writes of the tables in schema `extract`."""

    def __init__(self, opened: Opened, policy: Policy, library: str) -> None:
        self.con = opened.con
        self.path = opened.path
        self.schema = opened.qualified(schema.SCHEMA)
        self._policy = policy
        self._library = library
        self._has_dead = False

    def table(self, name: str) -> str:
        """A table of the store, quoted and qualified."""
        return f"{self.schema}.{quote(name)}"

    # -- opening -------------------------------------------------------------------------------

    def prepare(self, now: float) -> None:
        """Make the tables, migrate older ones, refuse what is not ours or newer."""
        found = self._version()
        if found is None:
            self.transaction(lambda: self._create(now))
        elif found != schema.VERSION:
            self._migrate(found)
        self._has_dead = self._count("dead_letters", "status <> 'settled'") > 0

    def transaction(self, work: Any) -> None:
        """Run `work` in one transaction: all of it is durable afterwards, or nothing."""
        self.con.execute("BEGIN TRANSACTION")
        try:
            work()
        except BaseException:
            self._rollback()
            raise
        try:
            self.con.execute("COMMIT")
        except BaseException:
            self._rollback()
            raise

    def _rollback(self) -> None:
        import duckdb

        with contextlib.suppress(duckdb.Error):  # a failed COMMIT has rolled back already
            self.con.execute("ROLLBACK")

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
        self._insert(schema.RUNS, [run], _run_columns(run, self._library))
        old = self._fetch(f"SELECT created_at FROM {self.table('jobs')} WHERE job = ?", [clean(run.job)])
        self.con.execute(f"DELETE FROM {self.table('jobs')} WHERE job = ?", [clean(run.job)])
        self._insert(schema.JOBS, [run], _job_columns(run))
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

    # -- rows in -------------------------------------------------------------------------------

    def write(self, batch: Batch) -> None:
        """Everything of a batch, within the caller's transaction."""
        self._answers(batch.answers)
        self._insert(schema.CALLS, batch.calls, self._call_columns(batch.calls))
        self._rows(batch.rows)
        self._dead(batch.dead)
        kept = [row for row in map(self._policy.kept, batch.kept) if row is not None]
        self._insert(schema.KEPT, kept)
        self._settle([row for row in batch.rows if row.state == "accepted"])

    def _call_columns(self, calls: Sequence[CallRow]) -> dict[str, Sequence[Any]]:
        return {"fault": [self._policy.fault(call.fault) for call in calls]}

    def _answers(self, answers: Sequence[AnswerRow]) -> None:
        if not answers:
            return
        rows = list({row.fingerprint: row for row in answers}.values())
        self.con.execute(
            f"DELETE FROM {self.table('answers')} WHERE fingerprint IN (SELECT unnest(?::VARCHAR[]))",
            [[row.fingerprint for row in rows]],
        )
        evidence = [self._policy.evidence(row.evidence) for row in rows]
        self._insert(schema.ANSWERS, rows, {"evidence": evidence})

    def _rows(self, rows: Sequence[RowRow]) -> None:
        if not rows:
            return
        rows = list({(row.job, row.key): row for row in rows}.values())
        for job, keys in _by_job(rows).items():
            self.con.execute(
                f"DELETE FROM {self.table('rows')} WHERE job = ? AND key IN (SELECT unnest(?::VARCHAR[]))",
                [clean(job), keys],
            )
        self._insert(schema.ROWS, rows)

    def _dead(self, dead: Sequence[DeadRow]) -> None:
        if not dead:
            return
        rows = list({(row.job, row.key): self._policy.dead(row) for row in dead}.values())
        frame = frame_of(schema.DEAD_LETTERS, rows, {"status": ["open"] * len(rows)})
        run_with(self.con, _merge_dead(self.table("dead_letters")), frame)
        self._has_dead = True

    def _settle(self, accepted: Sequence[RowRow]) -> None:
        if not accepted or not self._has_dead:
            return
        for job, keys in _by_job(accepted).items():
            self.set_dead_status(job, keys, "settled")

    def set_dead_status(self, job: str, keys: Sequence[str], status: str) -> None:
        """Move the dead letters of some keys to a status."""
        self.con.execute(
            f"UPDATE {self.table('dead_letters')} SET status = ? WHERE job = ? AND status <> ? "
            f"AND key IN (SELECT unnest(?::VARCHAR[]))",
            [status, clean(job), status, [clean(key) for key in keys]],
        )

    def forget(self, job: str, keys: Sequence[str] | None = None) -> None:
        """Take rows of a job out of `rows` (all of them without `keys`); answers and history stay."""
        where, values = "job = ?", [clean(job)]
        if keys is not None:
            where += " AND key IN (SELECT unnest(?::VARCHAR[]))"
            values.append([clean(key) for key in keys])  # type: ignore[arg-type]
        self.con.execute(f"DELETE FROM {self.table('rows')} WHERE {where}", values)

    def _insert(
        self, table: schema.Table, rows: Sequence[Any], fixed: Mapping[str, Sequence[Any]] | None = None
    ) -> None:
        if not rows:
            return
        names = ", ".join(quote(column.name) for column in table.columns)
        run_with(
            self.con,
            f"INSERT INTO {self.table(table.name)} ({names}) SELECT {select_list(table)} FROM extract_source",
            frame_of(table, rows, fixed),
        )

    # -- rows out ------------------------------------------------------------------------------

    def recall(self, fingerprints: Sequence[str]) -> dict[str, AnswerRow]:
        """Answers that are already paid for, by fingerprint."""
        if not fingerprints:
            return {}
        usage = ", ".join(f"a.usage.{quote(name)}" for name in schema.USAGE_FIELDS)
        rows = self._fetch(
            f"SELECT a.fingerprint, a.answer, a.model, a.run_id, a.request_id, epoch_us(a.finished_at), "
            f"a.cost, a.attempts, a.evidence, {usage} FROM {self.table('answers')} a "
            f"WHERE a.fingerprint IN (SELECT unnest(?::VARCHAR[]))",
            [list(fingerprints)],
        )
        return {row[0]: _answer(row) for row in rows}

    def states(self, job: str, keys: Sequence[str] | None) -> dict[str, RowRow]:
        """Where rows of a job stand, by key; all of them without `keys`."""
        where, values = "job = ?", [clean(job)]
        asked = {clean(key): key for key in keys} if keys is not None else {}
        if keys is not None:
            where += " AND key IN (SELECT unnest(?::VARCHAR[]))"
            values.append(list(asked))  # type: ignore[arg-type]
        rows = self._fetch(
            f"SELECT key, position, fingerprint, state, run_id, reused, reason FROM {self.table('rows')} "
            f"WHERE {where}",
            values,
        )
        return {asked.get(key, key): RowRow(job, asked.get(key, key), *rest) for key, *rest in rows}

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

    def _count(self, table: str, where: str) -> int:
        return int(self._fetch(f"SELECT count(*) FROM {self.table(table)} WHERE {where}")[0][0])


def _unquoted(schema_name: str) -> str:
    """The catalog of a qualified schema, as DuckDB's own tables name it."""
    catalog = schema_name[: -len(quote(schema.SCHEMA)) - 1]
    return catalog[1:-1].replace('""', '"')


def _by_job(rows: Sequence[RowRow]) -> dict[str, list[str]]:
    jobs: dict[str, list[str]] = {}
    for row in rows:
        jobs.setdefault(row.job, []).append(clean(row.key))
    return jobs


def _answer(row: tuple[Any, ...]) -> AnswerRow:
    fingerprint, answer, model, run_id, request_id, finished, cost, attempts, evidence, *usage = row
    finished_at = None if finished is None else finished / 1_000_000
    return AnswerRow(
        fingerprint, answer, model, run_id, request_id, finished_at, Usage(*usage), cost, attempts, evidence
    )


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


def _merge_dead(table: str) -> str:
    """A dead letter joins an earlier one of its key unless that was settled: then it starts afresh."""
    again = "d.status <> 'settled'"
    first = "coalesce(least(d.first_at, s.first_at), s.first_at)"
    usage = ", ".join(
        f"{quote(name)} := CASE WHEN {again} THEN coalesce(d.usage.{quote(name)} + s.usage.{quote(name)}, "
        f"d.usage.{quote(name)}, s.usage.{quote(name)}) ELSE s.usage.{quote(name)} END"
        for name in schema.USAGE_FIELDS
    )
    summed = {
        "attempts": f"CASE WHEN {again} THEN d.attempts + s.attempts ELSE s.attempts END",
        "cost": f"CASE WHEN {again} THEN coalesce(d.cost + s.cost, d.cost, s.cost) ELSE s.cost END",
        "first_at": f"CASE WHEN {again} THEN {first} ELSE s.first_at END",
        "usage": f"struct_pack({usage})",
    }
    names = [column.name for column in schema.DEAD_LETTERS.columns]
    updates = ", ".join(
        f"{quote(n)} = {summed.get(n, f's.{quote(n)}')}" for n in names if n not in ("job", "key")
    )
    columns = ", ".join(map(quote, names))
    values = ", ".join(f"s.{quote(n)}" for n in names)
    return (
        f"MERGE INTO {table} AS d USING (SELECT {select_list(schema.DEAD_LETTERS)} FROM extract_source) AS s "
        f"ON d.job = s.job AND d.key = s.key WHEN MATCHED THEN UPDATE SET {updates} "
        f"WHEN NOT MATCHED THEN INSERT ({columns}) VALUES ({values})"
    )
