"""Looking into a store: dead letters, answers, totals, the history of a row.

Knows the tables and nothing of writing. Every reader returns a Polars frame, rows in a stated order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from extract.protocol.usage import Usage
from extract.store.rows import Totals
from extract.store.schema import USAGE_FIELDS
from extract.store.sql import clean, quote

if TYPE_CHECKING:
    import polars as pl

    from extract.store.ledger import Ledger

T = TypeVar("T")

_SPAN = 100_000  # places of rows that are read at once, or more,
_SPANS = 32  # so that a table is not read more often than that


class Readers:
    """The reading half of a store. Methods wait for commits that were given before them."""

    _ledger: Ledger

    def _result(self, work: Callable[[], T]) -> T:
        raise NotImplementedError

    def dead_letters(
        self,
        job: str | None = None,
        *,
        status: str | None = None,
        reason: str | None = None,
        key: str | None = None,
    ) -> pl.DataFrame:
        """Dead letters in the order of the input, then of the key."""
        return self._frame(
            f"SELECT d.* FROM {self._t('dead_letters')} d LEFT JOIN {self._t('rows')} r "
            f"ON r.job = d.job AND r.key = d.key WHERE {{}} ORDER BY r.position NULLS LAST, d.job, d.key",
            {"d.job": job, "d.status": status, "d.reason": reason, "d.key": key},
        )

    def answers_of(self, run_id: str, columns: Sequence[str] = ()) -> pl.DataFrame:
        """Accepted answers of the rows that a run saw, also those answered earlier, in input order.

        Columns, or those of them that are named: position, key, fingerprint, answer, reused, model,
        answer_run_id, request_id, finished_at, evidence (JSON or null), cost, attempts.
        """
        names = ", ".join(map(quote, columns)) or "* EXCLUDE (seen_by)"
        return self._frame(
            f"SELECT {names} FROM {self._answered()} WHERE {{}} ORDER BY position, key",
            {"seen_by": run_id},
        )

    def answers_in_parts(self, run_id: str, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Some columns of `answers_of`, a bounded number of rows at a time."""
        last = f"SELECT max(position) FROM {self._t('rows')} WHERE run_id = ?"
        names = ", ".join(map(quote, columns))
        for start, end in self._spans(last, [run_id]):
            yield self._query(
                f"SELECT {names} FROM {self._answered()} "
                f"WHERE seen_by = ? AND position >= ? AND position < ? ORDER BY position, key",
                [run_id, start, end],
            )

    def _answered(self) -> str:
        return (
            f"(SELECT r.run_id AS seen_by, r.position, r.key, r.fingerprint, a.answer, r.reused, a.model, "
            f"a.run_id AS answer_run_id, a.request_id, a.finished_at, a.evidence, a.cost, a.attempts "
            f"FROM {self._t('rows')} r JOIN {self._t('answers')} a ON a.fingerprint = r.fingerprint "
            f"WHERE r.state = 'accepted')"
        )

    def rows(self, job: str, *, run_id: str | None = None, state: str | None = None) -> pl.DataFrame:
        """Where the rows of a job stand, in input order."""
        return self._frame(
            f"SELECT r.* FROM {self._t('rows')} r WHERE {{}} ORDER BY r.position, r.key",
            {"r.job": job, "r.run_id": run_id, "r.state": state},
        )

    def places(self, job: str) -> Iterator[pl.DataFrame]:
        """Key and place of the accepted rows of a job, in input order, a bounded number at a time."""
        rows, mine = self._t("rows"), "job = ? AND state = 'accepted'"
        for start, end in self._spans(f"SELECT max(position) FROM {rows} WHERE {mine}", [clean(job)]):
            yield self._query(
                f"SELECT key, position FROM {rows} WHERE {mine} AND position >= ? AND position < ? "
                f"ORDER BY position, key",
                [clean(job), start, end],
            )

    def missing(self, job: str, run_id: str) -> list[str]:
        """Keys of a job that a run did not see: they are gone from its input."""
        statement = f"SELECT key FROM {self._t('rows')} WHERE job = ? AND run_id <> ? ORDER BY position, key"
        return [
            str(key) for (key,) in self._result(lambda: self._ledger.fetch(statement, [clean(job), run_id]))
        ]

    def runs(self, job: str | None = None) -> pl.DataFrame:
        """Runs, the oldest first."""
        return self._frame(
            f"SELECT r.* FROM {self._t('runs')} r WHERE {{}} ORDER BY r.started_at, r.run_id", {"r.job": job}
        )

    def jobs(self) -> pl.DataFrame:
        """Jobs, by name."""
        return self._frame(f"SELECT j.* FROM {self._t('jobs')} j WHERE {{}} ORDER BY j.job", {})

    def calls(
        self, *, run_id: str | None = None, key: str | None = None, fingerprint: str | None = None
    ) -> pl.DataFrame:
        """Requests that were sent, in order of sending."""
        return self._frame(
            f"SELECT c.* FROM {self._t('calls')} c WHERE {{}} ORDER BY c.started_at, c.call_id",
            {"c.run_id": run_id, "c.key": key, "c.fingerprint": fingerprint},
        )

    def kept(self, job: str, key: str | None = None) -> pl.DataFrame:
        """Inputs, requests and replies of accepted rows, where `keep="all"` wrote them."""
        return self._frame(
            f"SELECT k.* FROM {self._t('kept')} k WHERE {{}} ORDER BY k.key", {"k.job": job, "k.key": key}
        )

    def labels(self, job: str, key: str | None = None) -> pl.DataFrame:
        """What people said of answers, in the order in which they said it."""
        return self._frame(
            f"SELECT l.* FROM {self._t('labels')} l WHERE {{}} ORDER BY l.at, l.rowid",
            {"l.job": job, "l.key": key},
        )

    def lineage(self, job: str, key: str) -> dict[str, pl.DataFrame]:
        """The whole history of one row: `row`, `answer`, `calls` and `dead_letter`, each as a frame.

        Calls are those sent for this key in runs of this job, and those of its answer (an equal row may
        have paid for it, in this job or another).
        """
        row, calls = self._t("rows"), self._t("calls")
        own = [clean(job), clean(key)]
        fingerprint = f"(SELECT fingerprint FROM {row} WHERE job = ? AND key = ?)"
        return {
            "row": self._query(f"SELECT * FROM {row} WHERE job = ? AND key = ?", own),
            "answer": self._query(
                f"SELECT * FROM {self._t('answers')} WHERE fingerprint IN {fingerprint}", own
            ),
            "calls": self._query(
                f"SELECT c.* FROM {calls} c LEFT JOIN {self._t('runs')} r ON r.run_id = c.run_id "
                f"WHERE (r.job = ? AND c.key = ?) OR c.fingerprint IN {fingerprint} "
                f"ORDER BY c.started_at, c.call_id",
                [*own, *own],
            ),
            "dead_letter": self._query(
                f"SELECT * FROM {self._t('dead_letters')} WHERE job = ? AND key = ?", own
            ),
        }

    def totals(self, job: str | None = None) -> Totals:
        """Counts, tokens and cost over all runs (of one job)."""
        return self._result(lambda: _totals(self._ledger, job))

    def _t(self, name: str) -> str:
        return self._ledger.table(name)

    def _frame(self, statement: str, equal: dict[str, Any]) -> pl.DataFrame:
        """A query whose `{}` becomes the conditions that were asked for."""
        asked = {column: value for column, value in equal.items() if value is not None}
        where = " AND ".join(f"{column} = ?" for column in asked) or "true"
        head, _, tail = statement.rpartition("{}")
        return self._query(head + where + tail, [clean(str(value)) for value in asked.values()])

    def _spans(self, last: str, values: Sequence[Any]) -> Iterator[tuple[int, int]]:
        """Places from 0 to the one that a query tells, a bounded number at a time."""
        [(place,)] = self._result(lambda: self._ledger.fetch(last, values))
        end = 0 if place is None else place + 1
        step = max(_SPAN, end // _SPANS)
        for start in range(0, end, step):
            yield start, start + step

    def _query(self, statement: str, values: Sequence[Any]) -> pl.DataFrame:
        return self._result(lambda: self._ledger.frame(statement, values))


def _totals(ledger: Ledger, job: str | None) -> Totals:
    mine, values = ("job = ?", [clean(job)]) if job is not None else ("true", [])
    runs = f"run_id IN (SELECT run_id FROM {ledger.table('runs')} WHERE {mine})"
    usage = ", ".join(f"sum(usage.{quote(name)})::BIGINT" for name in USAGE_FIELDS)
    calls, cost, maybe, *tokens = ledger.fetch(
        f"SELECT count(*), sum(cost), count(*) FILTER (maybe_paid), {usage} "
        f"FROM {ledger.table('calls')} WHERE {runs}",
        values,
    )[0]
    states = dict(
        ledger.fetch(
            f"SELECT state, count(*) FROM {ledger.table('rows')} WHERE {mine} GROUP BY state", values
        )
    )
    return Totals(
        runs=_one(ledger, f"SELECT count(*) FROM {ledger.table('runs')} WHERE {mine}", values),
        calls=calls,
        answers=_one(ledger, f"SELECT count(*) FROM {ledger.table('answers')} WHERE {runs}", values),
        accepted=states.get("accepted", 0),
        dead=states.get("dead", 0),
        pending=states.get("pending", 0),
        open_dead_letters=_one(
            ledger,
            f"SELECT count(*) FROM {ledger.table('dead_letters')} WHERE {mine} AND status = 'open'",
            values,
        ),
        usage=Usage(*tokens),
        cost=cost,
        maybe_paid=maybe,
    )


def _one(ledger: Ledger, statement: str, values: Sequence[Any]) -> int:
    return int(ledger.fetch(statement, values)[0][0])
