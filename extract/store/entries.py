"""What the engine commits and asks for: calls, answers, rows, dead letters.

Works on a ledger's connection, within the caller's transaction where it writes. Knows nothing of threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from extract.protocol.usage import Usage
from extract.store import schema
from extract.store.finder import Finder, lookup_of
from extract.store.frames import frame_of, select_list
from extract.store.ledger import Ledger
from extract.store.policy import Policy
from extract.store.rows import AnswerRow, Batch, DeadRow, RowRow, Unchanged
from extract.store.sql import SOURCE, clean, cleaned, quote, run_with

if TYPE_CHECKING:
    import polars as pl

Entry = TypeVar("Entry", RowRow, DeadRow)

_USAGE = ", ".join(f"usage.{quote(name)}" for name in schema.USAGE_FIELDS)
_ANSWER = (
    "fingerprint, answer, model, run_id, request_id, epoch_us(finished_at) AS finished_at, cost, attempts, "
    f"evidence, {_USAGE}"
)
_JOB, _KEY = attrgetter("job"), attrgetter("key")
_ROW = "key, position, fingerprint, state, run_id, reused, reason"


class Entries:
    """The entries of one store."""

    def __init__(self, ledger: Ledger, policy: Policy) -> None:
        self._ledger, self._policy = ledger, policy
        self._answers = Finder(ledger.con, ledger.table("answers"), "fingerprint")
        self._rows = Finder(ledger.con, ledger.table("rows"), "key", "job")
        self._has_dead = True  # until a look says that there is none to settle

    # -- in ------------------------------------------------------------------------------------

    def write(self, batch: Batch) -> None:
        """Everything of a batch, within the caller's transaction."""
        self._ledger.insert(schema.CALLS, batch.calls, self._policy.hidden_faults(batch.calls))
        self._write_answers(list({row.fingerprint: row for row in batch.answers}.values()))
        self._write_rows(_last_of_each(batch.rows))
        self._write_dead(_last_of_each(batch.dead))
        kept = [row for row in map(self._policy.kept, batch.kept) if row is not None]
        self._ledger.insert(schema.KEPT, kept)
        accepted = [row for row in batch.rows if row.state == "accepted"]
        if accepted and self._any_to_settle():
            self._settle(_by_job(accepted))
        for unchanged in batch.unchanged:
            self._write_unchanged(unchanged)
        jobs, gone = [job for job, _ in batch.gone], [key for _, key in batch.gone]
        for job, keys in _grouped(jobs, gone).items():
            self._rows.remove(keys, job)
            self.set_dead_status(job, keys, "given_up", only="open")

    def written(self, batch: Batch) -> None:
        """The transaction of a batch is durable."""
        dead = [row.fingerprint for row in batch.rows if row.state == "dead" and row.fingerprint]
        self._answers.written(cleaned([*(row.fingerprint for row in batch.answers), *dead]))
        for job, keys in _by_job(batch.rows).items():
            self._rows.written(keys, job)

    def undone(self) -> None:
        """The transaction of a batch failed; what was seen within it may not be so."""
        self._has_dead = True

    def new_among(self, rows: Sequence[RowRow]) -> set[str]:
        """Keys of those rows of which the store is known to hold nothing yet."""
        return {row.key for row in rows if self._rows.is_absent(clean(row.key), clean(row.job))}

    def _write_answers(self, rows: Sequence[AnswerRow]) -> None:
        fingerprints = cleaned([row.fingerprint for row in rows])
        self._answers.remove(fingerprints)
        fixed: dict[str, Sequence[Any]] = {"lookup": list(map(lookup_of, fingerprints))}
        self._ledger.insert(schema.ANSWERS, rows, {**fixed, **self._policy.hidden_evidence(rows)})

    def _write_rows(self, rows: Sequence[RowRow]) -> None:
        for job, keys in _by_job(rows).items():
            self._rows.remove(keys, job)
        keys = cleaned([row.key for row in rows])
        self._ledger.insert(schema.ROWS, rows, {"lookup": list(map(lookup_of, keys))})

    def _write_unchanged(self, rows: Unchanged) -> None:
        """In place: taking the rows out and putting them in again costs eight times as much."""
        import polars as pl

        job, keys = clean(rows.job), cleaned(rows.keys)
        self._rows.change(
            pl.Series(keys, dtype=pl.String),
            pl.DataFrame({"position": rows.positions}, schema={"position": pl.Int64}),
            "run_id = ?, reused = ?, position = s.position",
            [clean(rows.run_id), rows.reused],
            job,
        )
        if rows.reused and self._any_to_settle():
            self._settle({job: keys})

    def _write_dead(self, dead: Sequence[DeadRow]) -> None:
        if not dead:
            return
        rows = [self._policy.dead(row) for row in dead]
        frame = frame_of(schema.DEAD_LETTERS, rows, {"status": ["open"] * len(rows)})
        run_with(self._ledger.con, _merge_dead(self._ledger.table("dead_letters")), frame)
        self._has_dead = True

    def _any_to_settle(self) -> bool:
        """Whether there is a dead letter that is not settled: looking costs less than settling none."""
        if self._has_dead:
            dead = self._ledger.table("dead_letters")
            looked = self._ledger.fetch(f"SELECT 1 FROM {dead} WHERE status <> 'settled' LIMIT 1")
            self._has_dead = bool(looked)
        return self._has_dead

    def _settle(self, accepted: Mapping[str, list[str]]) -> None:
        """Dead letters of rows that are accepted now, by job."""
        for job, keys in accepted.items():
            self.set_dead_status(job, keys, "settled")

    def set_dead_status(self, job: str, keys: Sequence[str], status: str, *, only: str | None = None) -> None:
        """Move the dead letters of some keys to a status. `only`: those that have this status now."""
        self._ledger.con.execute(
            f"UPDATE {self._ledger.table('dead_letters')} SET status = ? WHERE job = ? AND status <> ? "
            f"AND status = coalesce(?, status) AND key IN (SELECT unnest(?::VARCHAR[]))",
            [status, clean(job), status, only, cleaned(keys)],
        )
        self._has_dead = True

    def forget(self, job: str, keys: Sequence[str] | None = None) -> None:
        """Take rows of a job out of `rows` (all of them without `keys`); answers and history stay."""
        if keys is not None:
            self._rows.remove(cleaned(keys), clean(job))
            return
        self._ledger.con.execute(f"DELETE FROM {self._ledger.table('rows')} WHERE job = ?", [clean(job)])

    # -- out -----------------------------------------------------------------------------------

    def recall(self, fingerprints: Sequence[str]) -> dict[str, AnswerRow]:
        """Answers that are already paid for, by fingerprint."""
        if not fingerprints:
            return {}
        asked = dict(zip(cleaned(fingerprints), fingerprints, strict=True))
        found = _answers_in(self._answers.find(_ANSWER, list(asked)))
        return {asked[row.fingerprint]: row for row in found}

    def known_calls(self, call_ids: Sequence[str]) -> frozenset[str]:
        """Those of some requests that are in the store."""
        found = self._ledger.fetch(
            f"SELECT call_id FROM {self._ledger.table('calls')} "
            f"WHERE call_id IN (SELECT unnest(?::VARCHAR[]))",
            [list(call_ids)],
        )
        return frozenset(call_id for (call_id,) in found)

    def states(self, job: str, keys: Sequence[str] | None) -> dict[str, RowRow]:
        """Where rows of a job stand, by key; all of them without `keys`."""
        if keys is None:
            statement = f"SELECT {_ROW} FROM {self._ledger.table('rows')} WHERE job = ?"
            return {row[0]: RowRow(job, *row) for row in self._ledger.fetch(statement, [clean(job)])}
        asked = dict(zip(cleaned(keys), keys, strict=True))
        found = self._rows.find(_ROW, list(asked), clean(job))
        keys = [asked[key] for key in found["key"]]
        rest = (column.to_list() for column in found.iter_columns() if column.name != "key")
        return dict(zip(keys, map(RowRow, repeat(job), keys, *rest), strict=False))


def _last_of_each(rows: Sequence[Entry]) -> Sequence[Entry]:
    """One a job and key: the last."""
    if len(set(map(_KEY, rows))) == len(rows):
        return rows
    return list({(row.job, row.key): row for row in rows}.values())


def _by_job(rows: Sequence[RowRow]) -> dict[str, list[str]]:
    return _grouped(list(map(_JOB, rows)), list(map(_KEY, rows)))


def _grouped(jobs: Sequence[str], keys: Sequence[str]) -> dict[str, list[str]]:
    """Keys by job, which is mostly one and the same."""
    if len(set(jobs)) == 1:
        return {clean(jobs[0]): cleaned(keys)}
    grouped: dict[str, list[str]] = {}
    for job, key in zip(jobs, keys, strict=True):
        grouped.setdefault(clean(job), []).append(clean(key))
    return grouped


def _answers_in(found: pl.DataFrame) -> Iterator[AnswerRow]:
    """Answers from the columns of `_ANSWER`."""
    columns = {column.name: column.to_list() for column in found.iter_columns()}
    columns["finished_at"] = [at if at is None else at / 1_000_000 for at in columns["finished_at"]]
    columns["usage"] = list(map(_usage, *(columns[name] for name in schema.USAGE_FIELDS)))
    return map(AnswerRow, *(columns[name] for name in AnswerRow._fields))


_usage = lru_cache(maxsize=4_096)(Usage)  # rows of one run need much the same


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
        f"MERGE INTO {table} AS d USING (SELECT {select_list(schema.DEAD_LETTERS)} FROM {SOURCE}) AS s "
        f"ON d.job = s.job AND d.key = s.key WHEN MATCHED THEN UPDATE SET {updates} "
        f"WHEN NOT MATCHED THEN INSERT ({columns}) VALUES ({values})"
    )
