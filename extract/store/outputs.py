"""Commits: the ledger and the output tables in one transaction where that can be.

Knows the order that makes a crash harmless: an output that cannot take part in the transaction (Parquet,
another database file) is written first and again after a crash, since the row is then not yet accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from extract.store.connect import writing_error
from extract.store.rows import Batch, OutputRows, Sink

if TYPE_CHECKING:
    from extract.store.entries import Entries
    from extract.store.ledger import Ledger

T = TypeVar("T")


class Outputs:
    """Writes batches, several in one transaction."""

    def __init__(self, ledger: Ledger, entries: Entries) -> None:
        self._ledger, self._entries = ledger, entries
        self._sinks: list[Sink] = []

    def prepare(self, sink: Sink) -> None:
        """Make or check an output table."""
        sink.prepare(self._ledger.con)
        self._sinks.append(sink)

    def release(self) -> None:
        """Let go of what the output tables took beside the connection."""
        for sink in self._sinks:
            sink.release(self._ledger.con)

    def commit(self, batches: Sequence[Batch]) -> list[BaseException | None]:
        """Commit batches together; when that fails, one by one. One outcome a batch."""
        try:
            self._write(merge(batches))
        except Exception as error:
            if len(batches) == 1:
                return [writing_error(self._ledger.path, error)]
        else:
            return [None] * len(batches)
        return [self._alone(batch) for batch in batches]

    def _alone(self, batch: Batch) -> BaseException | None:
        try:
            self._write(batch)
        except Exception as error:
            return writing_error(self._ledger.path, error)
        return None

    def _write(self, batch: Batch) -> None:
        outside = [rows for rows in batch.outputs if not rows.sink.transactional]
        inside = [rows for rows in batch.outputs if rows.sink.transactional]
        new = self._entries.new_among(batch.rows) if inside else set()
        self._write_outputs(outside, set())

        def work() -> None:
            self._entries.write(batch)
            self._write_outputs(inside, new)

        try:
            self._ledger.transaction(work)
        except BaseException:
            self._entries.undone()
            raise
        self._entries.written(batch)

    def _write_outputs(self, outputs: Sequence[OutputRows], new: set[str]) -> None:
        """`new`: keys that no earlier commit wrote; a table that began empty has no row of theirs."""
        for rows in outputs:
            keys = rows.keys
            if new and rows.texts and rows.sink.fresh:
                keys = keys.filter([text not in new for text in rows.texts])
            rows.sink.write(self._ledger.con, rows.frame, keys)


def merge(batches: Sequence[Batch]) -> Batch:
    """One batch with everything of several, in order."""
    if len(batches) == 1:
        return batches[0]
    return Batch(
        calls=_all(batches, lambda b: b.calls),
        answers=_all(batches, lambda b: b.answers),
        rows=_all(batches, lambda b: b.rows),
        dead=_all(batches, lambda b: b.dead),
        kept=_all(batches, lambda b: b.kept),
        gone=_all(batches, lambda b: b.gone),
        unchanged=_all(batches, lambda b: b.unchanged),
        output=_merge_outputs(_all(batches, lambda b: b.outputs)),
    )


def _all(batches: Sequence[Batch], part: Callable[[Batch], Sequence[T]]) -> list[T]:
    return list(chain.from_iterable(part(batch) for batch in batches))


def _merge_outputs(outputs: Sequence[OutputRows]) -> list[OutputRows]:
    """One entry a sink; a key that comes twice keeps its order by staying in entries of its own."""
    import polars as pl

    by_sink: dict[int, list[OutputRows]] = {}
    for rows in outputs:
        by_sink.setdefault(id(rows.sink), []).append(rows)
    merged: list[OutputRows] = []
    for group in by_sink.values():
        keys = pl.concat([rows.keys for rows in group])
        if len(group) == 1 or keys.is_duplicated().any():
            merged += group
        else:
            frame = pl.concat([rows.frame for rows in group])
            texts = [text for rows in group for text in rows.texts]
            merged.append(OutputRows(group[0].sink, frame, keys, texts if len(texts) == keys.height else ()))
    return merged
