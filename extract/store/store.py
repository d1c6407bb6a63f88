"""The face of the store: a DuckDB file in which nothing acknowledged is lost.

Knows nothing of requests or models. One thread owns the connection; every method that the engine awaits
returns a `concurrent.futures.Future` that is done when its work is durable.
"""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from extract.errors import StoreLockedError
from extract.store.connect import MEMORY, Opened, borrow, open_path, writing_error
from extract.store.entries import Entries
from extract.store.journal import Journal, Paid
from extract.store.ledger import Ledger
from extract.store.outputs import Outputs, merge
from extract.store.policy import Policy
from extract.store.readers import Readers
from extract.store.rows import AnswerRow, Batch, CallRow, Keep, LabelRow, RowRow, RunEnd, RunStart, Sink
from extract.store.schema import LABELS
from extract.store.status import status_path, write_status
from extract.store.writer import Writer

if TYPE_CHECKING:
    import duckdb

log = logging.getLogger("extract.store")

T = TypeVar("T")

_open: dict[Path, Store] = {}
_open_lock = threading.Lock()


class Store(Readers):
    """An open store. Use `Store.open`; close it, or use it as a context manager."""

    def __init__(self, opened: Opened, policy: Policy) -> None:
        self._opened = opened
        self._ledger = Ledger(opened, _library())
        self._entries = Entries(self._ledger, policy)
        self._outputs = Outputs(self._ledger, self._entries)
        self._writer = Writer(self._outputs.commit)
        self._journal = Journal(opened.path)
        # closed with the process, or when nobody has it any more, as one in memory that a run holds
        self._end = weakref.finalize(self, _close, self._writer, self._outputs, self._journal, self._ledger)
        self.policy = policy

    @classmethod
    def open(
        cls,
        target: str | Path | duckdb.DuckDBPyConnection,
        *,
        keep: Keep = "dead_letters",
        private: Sequence[str] = (),
    ) -> Store:
        """Open or make a store.

        target: a path, `":memory:"`, or an open DuckDB connection, of which a cursor is used.
        keep: whose inputs and raw replies are kept. private: input columns that never reach the store.
        Raises StoreLockedError (in use), StoreVersionError (other version), StoreError (cannot be used).
        """
        policy = Policy(keep, tuple(private))
        opened = open_path(target) if isinstance(target, str | Path) else borrow(target)
        store = cls(opened, policy)
        try:
            store._claim()
            store._result(lambda: store._ledger.prepare(time.time()))
            store._recover()
        except BaseException:
            store.close()
            raise
        return store

    @classmethod
    @contextmanager
    def look(cls, target: str | Path | duckdb.DuckDBPyConnection | Store) -> Iterator[Store]:
        """A store to read from: the one that this process has open already, or opened for the while."""
        if isinstance(target, Store):
            yield target
            return
        held = _held(target) if isinstance(target, str | Path) else None
        if held is not None:
            yield held
            return
        with cls.open(target) as store:
            yield store

    # -- what the engine asks ------------------------------------------------------------------

    def begin(self, run: RunStart) -> Future[None]:
        """A run begins; its job is remembered with its signature."""
        return self._submit(lambda: self._ledger.transaction(lambda: self._ledger.begin(run)))

    def finish(self, end: RunEnd) -> Future[None]:
        """A run ends."""
        return self._submit(lambda: self._ledger.transaction(lambda: self._ledger.finish(end)))

    def recall(self, fingerprints: Sequence[str]) -> Future[dict[str, AnswerRow]]:
        """Answers that are already paid for, by fingerprint; what is not there is not in the dict."""
        wanted = list(fingerprints)
        return self._submit(lambda: self._entries.recall(wanted))

    def states(self, job: str, keys: Sequence[str] | None = None) -> Future[dict[str, RowRow]]:
        """Where rows of a job stand, by key (all rows without `keys`); unknown keys are not in the dict."""
        wanted = None if keys is None else list(keys)
        return self._submit(lambda: self._entries.states(job, wanted))

    def commit(self, batch: Batch) -> Future[None]:
        """Make a batch durable, together with others that are waiting. All of it, or nothing.

        A batch that DuckDB refuses fails alone (StoreError in its future), not its neighbours.
        """
        return self._writer.group(batch)

    def note(self, calls: Sequence[CallRow], answers: Sequence[AnswerRow]) -> int:
        """Write down what was paid: a killed process does not lose it, though no commit has it yet.

        Returns at once with what `landed` wants. Raises StoreError.
        """
        try:
            return self._journal.note(*self.policy.paid(calls, answers))
        except OSError as error:
            raise writing_error(self.path, error) from error

    def landed(self, tickets: Sequence[int]) -> None:
        """A commit has what `note` gave these for. Raises StoreError."""
        try:
            self._journal.landed(tickets)
        except OSError as error:
            raise writing_error(self.path, error) from error

    def prepare(self, sink: Sink) -> Future[None]:
        """Make an output table, or check the one which is there. Raises InputError when it does not fit."""
        return self._submit(lambda: self._outputs.prepare(sink))

    def with_connection(self, work: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
        """Run `work` with the store's connection, on its thread, between two commits."""
        return self._result(lambda: work(self._ledger.con))

    def job_signature(self, job: str) -> dict[str, Any] | None:
        """What made the rows of a job (as given to `begin`), or None for a new job."""
        return self._result(lambda: self._ledger.job_signature(job))

    def forget(self, job: str, keys: Sequence[str] | None = None) -> Future[None]:
        """Make rows of a job pending again (all of them without `keys`). Answers and history stay."""
        return self._submit(lambda: self._ledger.transaction(lambda: self._entries.forget(job, keys)))

    def give_up(self, job: str, keys: Sequence[str]) -> Future[None]:
        """Mark dead letters as given up: a re-drive leaves them alone unless it asks for them."""
        return self._submit(lambda: self._set_status(job, keys, "given_up"))

    def reopen(self, job: str, keys: Sequence[str]) -> Future[None]:
        """Mark dead letters as open again."""
        return self._submit(lambda: self._set_status(job, keys, "open"))

    def label(self, rows: Sequence[LabelRow]) -> Future[None]:
        """Keep what somebody said of answers. Earlier words stay; the last one on a field counts."""
        kept = list(rows)
        return self._submit(lambda: self._ledger.transaction(lambda: self._ledger.insert(LABELS, kept)))

    def write_status(self, values: Mapping[str, Any]) -> None:
        """Replace the status file beside the store; nothing for a store in memory. Raises OSError."""
        if self.path is not None:
            write_status(self.path, values)

    # -- about itself --------------------------------------------------------------------------

    @property
    def path(self) -> Path | None:
        """The database file; None in memory."""
        return self._opened.path

    @property
    def database(self) -> str:
        """Catalog that the store lies in, unquoted."""
        return self._opened.database

    @property
    def main_schema(self) -> str:
        """Schema that an unqualified output table goes to, unquoted."""
        return self._opened.main

    @property
    def name(self) -> str:
        """How messages name it."""
        return str(self.path or MEMORY)

    @property
    def status_path(self) -> Path | None:
        """The status file beside it; None in memory."""
        return None if self.path is None else status_path(self.path)

    def close(self) -> None:
        """Finish what is queued and let the file go. A borrowed connection stays open. Idempotent."""
        try:
            self._end()
        finally:
            self._release()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({self.name!r})"

    # -- inside --------------------------------------------------------------------------------

    def _submit(self, work: Callable[[], T]) -> Future[T]:
        return self._writer.submit(lambda: self._told(work))

    def _result(self, work: Callable[[], T]) -> T:
        return self._submit(work).result()

    def _told(self, work: Callable[[], T]) -> T:
        import duckdb

        try:
            return work()
        except (duckdb.Error, OSError) as error:
            raise writing_error(self.path, error) from error

    def _set_status(self, job: str, keys: Sequence[str], status: str) -> None:
        self._ledger.transaction(lambda: self._entries.set_dead_status(job, list(keys), status))

    def _recover(self) -> None:
        """Commit what a killed process had paid for; what its last commit had already is left out."""
        left = self._journal.left()
        asked = [call.call_id for one in left.entries for call in one.calls]
        known = self._result(lambda: self._entries.known_calls(asked)) if asked else frozenset()
        new = [one for one in left.entries if not any(call.call_id in known for call in one.calls)]
        if new:
            self.commit(merge([Batch(one.calls, one.answers) for one in new])).result()
        aside = self._journal.set_aside() if left.broken else []
        self._journal.forget()
        if new or aside:
            _tell_left(self.path, new, left.broken, aside)

    def _claim(self) -> None:
        """One store a file within this process too: DuckDB's lock tells processes apart alone."""
        if self.path is None:
            return
        with _open_lock:
            other = _open.setdefault(self.path.resolve(), self)
        if other is not self:
            raise StoreLockedError(
                f"{self.path} is in use by another run of this process; nothing was sent. Wait for that run "
                f"to end, or give this one a store of its own"
            )

    def _release(self) -> None:
        if self.path is None:
            return
        with _open_lock:
            if _open.get(self.path.resolve()) is self:
                del _open[self.path.resolve()]


def _close(writer: Writer, outputs: Outputs, journal: Journal, ledger: Ledger) -> None:
    """Finishes what is queued and lets the connection go."""

    def let_go() -> None:
        try:
            outputs.release()
        finally:
            ledger.close()
            journal.close()

    writer.close(let_go)


def _tell_left(path: Path | None, new: Sequence[Paid], broken: int, aside: Sequence[Path]) -> None:
    unread = f". {broken} lines of it cannot be read and are kept in {', '.join(map(str, aside))}"
    log.warning(
        "%s: the last process was killed; what it had paid for and not committed was found in its journal: "
        "%d requests, %d answers%s",
        path,
        sum(len(one.calls) for one in new),
        sum(len(one.answers) for one in new),
        unread if aside else "",
    )


def _held(target: str | Path) -> Store | None:
    with _open_lock:
        return None if str(target) == MEMORY else _open.get(Path(target).resolve())


@cache  # reading what is installed takes 3 ms
def _library() -> str:
    try:
        return metadata.version("extract-pipelines")
    except metadata.PackageNotFoundError:
        return "unknown"
