"""The typed output of a run: outcomes in, rows of one table out.

Knows the table's layout and which sink takes it; nothing of requests, models or how a sink writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from extract.store import OutputRows, Store
from extract.tables.duck_sink import DuckSink
from extract.tables.layout import Extra, Layout
from extract.tables.own import evidence_column
from extract.tables.parquet_merge import POSITION
from extract.tables.parquet_sink import ParquetSink
from extract.tables.targets import DuckTable, Target, beside, parse_into

if TYPE_CHECKING:
    import polars as pl

    from extract.schema.columns import Columns
    from extract.tables.keys import Key


class _Item(Protocol):
    @property
    def key(self) -> str: ...


class Entry(Protocol):
    """What a row ended as. `output`: its table rows, made by `Columns.row`; none for a dead letter."""

    @property
    def item(self) -> _Item: ...

    @property
    def output(self) -> Sequence[Mapping[str, Any]]: ...


@dataclass(frozen=True, eq=False)
class Exploded:
    """A list field of the model whose items become rows: key, `index`, the item's columns.

    field: its name, and the suffix of the table. columns: of one item.
    """

    field: str
    columns: Columns

    def rows(self, entry: Any) -> list[dict[str, Any]]:
        """The items of an accepted row; none for a dead letter or a null."""
        return self.items(getattr(entry.outcome, "value", None))

    def items(self, value: Any) -> list[dict[str, Any]]:
        """The items of a value of the model."""
        return [self.columns.row(item) for item in getattr(value, self.field, None) or ()]


class Output:
    """One output table of a run.

    sink: where its rows go; its layout is that of the table, also where it was there before.
    job: whose rows it holds.
    table_rows: what an entry puts into this table. also: further tables that go with it.
    """

    def __init__(
        self,
        sink: DuckSink | ParquetSink,
        store: Store,
        job: str,
        *,
        table_rows: Callable[[Any], Sequence[Mapping[str, Any]]] = lambda entry: entry.output,
        also: Sequence[Output] = (),
    ) -> None:
        self.layout = sink.layout
        self.sink = sink
        self.also = tuple(also)
        self._store, self._job, self._table_rows = store, job, table_rows

    @property
    def fresh(self) -> bool:
        """A table was not there before: rows accepted earlier have to be written too."""
        return self.sink.fresh or any(output.fresh for output in self.also)

    def rows(self, entries: Sequence[Entry]) -> OutputRows:
        """The table rows of some outcomes; a row that is dead now loses those it had."""
        keys, index, rows = [], [], []
        extra: dict[str, list[Any]] = {e.name: [] for e in self.layout.extra}
        for entry in entries:
            for n, row in enumerate(self._table_rows(entry)):
                keys.append(entry.item.key)
                index.append(n)
                rows.append(row)
                for ours in self.layout.extra:
                    extra[ours.name].append(ours.value(entry, n))
        touched = list(dict.fromkeys(entry.item.key for entry in entries))
        frame = self.layout.frame(keys, index, rows, extra)
        also = [output.rows(entries) for output in self.also]
        return OutputRows(self.sink, frame, self.layout.key.decode(touched), touched, also)

    def gone(self, keys: Sequence[str]) -> OutputRows:
        """Takes the rows of some keys out."""
        also = [output.gone(keys) for output in self.also]
        return OutputRows(self.sink, self.layout.empty(), self.layout.key.decode(keys), also=also)

    def finish(self) -> None:
        """Put a Parquet output in place, in the order of the input; nothing to do for a DuckDB table."""
        for output in self.also:
            output.finish()
        if isinstance(self.sink, ParquetSink):
            self.sink.finish(self._places)

    def _places(self) -> Iterator[pl.DataFrame]:
        """Key columns and place of the accepted rows, a bounded number at a time."""
        for places in self._store.places(self._job):
            yield self.layout.key.decode(places["key"].to_list()).with_columns(
                places["position"].alias(POSITION)
            )

    def read(self) -> pl.DataFrame:
        """The table as it stands, with the declared dtypes, in no stated order for a DuckDB table."""
        return self._store.with_connection(self.sink.read)


def open_output(
    into: str | Path | Target | None,
    *,
    store: Store,
    key: Key,
    columns: Columns,
    job: str | None = None,
    many: bool = False,
    evidence: bool = False,
    extra: Sequence[Extra] = (),
    explode: Exploded | None = None,
) -> Output | None:
    """Make or check the output table of a run, before any request; None where `into` is None.

    job: the name under which the store remembers the rows; `str(into)` by default.
    many: each row makes several table rows (a column `index` is added).
    evidence: add the column `_evidence`, taken from `entry.outcome.evidence`.
    extra: more columns of our own.
    explode: a list field whose items get a table of their own beside this one.
    Raises InputError when a table of that name is there and does not fit, ConfigError for a bad `into`.
    """
    target = parse_into(into)
    if target is None:
        return None
    ours = (evidence_column(private=store.policy.private),) if evidence else ()
    layout = Layout(key, columns, many, (*ours, *extra))
    job, also = job or str(into), []
    if explode is not None:
        items = Layout(key, explode.columns, many=True)
        sink = _sink(beside(target, explode.field), items, store)
        also.append(Output(sink, store, job, table_rows=explode.rows))
    return Output(_sink(target, layout, store), store, job, also=also)


def _sink(target: Target, layout: Layout, store: Store) -> DuckSink | ParquetSink:
    """A sink that is ready to be written to."""
    sink: DuckSink | ParquetSink
    if isinstance(target, DuckTable):
        sink = DuckSink(target, layout, database=store.database, main=store.main_schema)
    else:
        sink = ParquetSink(target, layout)
    store.prepare(sink).result()
    return sink
