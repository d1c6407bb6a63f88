"""Rows in: any table as batches of rows, each with its key and its place.

Polars frames, DuckDB relations, anything with the Arrow PyCapsule interface, iterables of mappings. Keys
that are missing or repeated are found before the first request where the input can be read twice. Knows
nothing of prompts or of the store.
"""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from extract.errors import InputError
from extract.tables.arrivals import Arrivals, Occurrences
from extract.tables.keys import Key, clean_key, key_of
from extract.tables.unique import check_keys, named

if TYPE_CHECKING:
    import polars as pl

_BYTES = 16_000_000
_PATIENCE = 0.5
"""Seconds after which the rows that came are handed on."""
_LIVE = 64
"""Rows that a plain iterator is asked for at a time: it may be slow to give them."""


class ArrivalError(InputError):
    """A key that is missing or repeated, seen when rows were already under way. Nothing is lost."""


class Row(NamedTuple):
    """One row of the input. position: its place, from 0. key: its key as text."""

    position: int
    key: str
    values: Mapping[str, Any]


@dataclass
class RowSource:
    """An input, ready to be read: iterating gives lists of rows in the order of the input.

    columns: names of the input's columns (of its first row, for mappings; () where there is none).
    total: rows in all, or None where that is not known before the end.
    repeatable: iterating twice gives the same rows.
    """

    key: Key
    columns: tuple[str, ...]
    total: int | None
    repeatable: bool
    _batches: Callable[[], Iterator[list[Row]]] = field(repr=False)
    _begun: bool = field(default=False, repr=False)

    def __iter__(self) -> Iterator[list[Row]]:
        if self._begun and not self.repeatable:
            raise InputError("this input can be read once only and was read already; give it again")
        self._begun = True
        return self._batches()


def read_rows(
    frame: Any, *, key: str | Sequence[str] | None = None, limit: int | None = None, batch: int = 2048
) -> RowSource:
    """Make any table readable as rows.

    frame: a Polars DataFrame or LazyFrame, a DuckDB relation (run once, here), an object with
        `__arrow_c_stream__`, or an iterable of mappings.
    key: one column, several, or None for a digest of all columns with an occurrence number.
    limit: rows beyond this many are outside the run, as if they were not there.
    batch: rows in one list at most; fewer where rows are long.
    Raises InputError for a table that cannot be read, a missing column, a null or a repeated key.
    """
    import polars as pl

    names = _key_names(key)
    if isinstance(frame, pl.LazyFrame):
        return _from_lazy(frame if limit is None else frame.head(limit), names, batch)
    table = _as_frame(frame)
    if table is not None:
        return _from_frame(table if limit is None else table.head(limit), names, batch)
    rows, again = _mappings(frame), isinstance(frame, Sequence)
    return _from_mappings(rows if limit is None else islice(rows, limit), names, batch, again=again)


def _key_names(key: str | Sequence[str] | None) -> tuple[str, ...]:
    if key is None:
        return ()
    names = (key,) if isinstance(key, str) else tuple(key)
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"key={key!r}: give a column name, several, or leave it out")
    if len(set(names)) < len(names):
        raise InputError(f"key={key!r} names a column twice")
    if any("\0" in name for name in names):  # Arrow ends a name there, and Polars the process
        raise InputError(f"key={key!r}: a NUL character cannot be in the name of a key; rename the column")
    return names


# -- frames ---------------------------------------------------------------------------------------


def _as_frame(frame: Any) -> pl.DataFrame | None:
    """A Polars frame of anything that has columns; None for what may be an iterable of mappings."""
    import polars as pl

    if isinstance(frame, pl.DataFrame):
        return frame
    if type(frame).__name__ == "DuckDBPyRelation":
        return _read(_readable(frame), "the DuckDB relation")
    if hasattr(frame, "__arrow_c_stream__") and not isinstance(frame, pl.Series):
        return _read(frame, f"the {type(frame).__name__}")
    return None


def _read(frame: Any, what: str) -> pl.DataFrame:
    import polars as pl

    try:
        return pl.DataFrame(frame)
    except Exception as error:
        raise InputError(f"{what} cannot be read: {str(error).splitlines()[0]}") from error
    except BaseException as error:  # Polars panics on what Arrow has and it has not
        if type(error).__name__ != "PanicException":
            raise
        raise InputError(
            f"{what} holds a column that Polars cannot read: {error}; cast it to text"
        ) from error


_UNREADABLE = ("INTERVAL", "UNION(", "TIME WITH TIME ZONE", "BIT", "VARIANT", "BIGNUM")


def _readable(relation: Any) -> Any:
    """The relation with columns that Polars cannot read (intervals, unions, …) as text."""
    import duckdb

    columns = []
    for name, kind in zip(relation.columns, map(str, relation.types), strict=True):
        column = duckdb.ColumnExpression(name)
        if any(word == kind or word in kind for word in _UNREADABLE):
            column = column.cast("VARCHAR").alias(name)
        columns.append(column)
    return relation.select(*columns)


def _from_frame(table: pl.DataFrame, names: tuple[str, ...], batch: int) -> RowSource:
    _check_columns(names, table.columns)
    key = key_of(names, table.schema)
    if names:
        check_keys(key, lambda: [table.select(names)])

    def batches() -> Iterator[list[Row]]:
        return _rows_of(_sliced([table], batch), key)

    return RowSource(key, tuple(table.columns), table.height, True, batches)


def _from_lazy(frame: pl.LazyFrame, names: tuple[str, ...], batch: int) -> RowSource:
    schema = frame.collect_schema()
    _check_columns(names, schema.names())
    key = key_of(names, schema)
    total = None
    if names:
        total = check_keys(key, lambda: frame.select(names).collect_batches(maintain_order=True))

    def batches() -> Iterator[list[Row]]:
        return _rows_of(_sliced(frame.collect_batches(maintain_order=True), batch), key)

    return RowSource(key, tuple(schema.names()), total, True, batches)


def _sliced(frames: Iterable[pl.DataFrame], batch: int) -> Iterator[pl.DataFrame]:
    """Batches of a bounded size: look-ups are cheapest in large ones, long texts want small ones."""
    for frame in frames:
        longest = _BYTES * frame.height // max(1, int(frame.estimated_size()))
        step = max(1, min(batch, longest))
        yield from (frame.slice(at, step) for at in range(0, frame.height, step))


def _rows_of(frames: Iterable[pl.DataFrame], key: Key) -> Iterator[list[Row]]:
    position, hashed = 0, Occurrences()
    for frame in frames:
        values = list(frame.iter_rows(named=True))
        keys = key.encode(frame) if key.columns else hashed.keys(values)
        rows = [Row(position + n, k, row) for n, (k, row) in enumerate(zip(keys, values, strict=True))]
        position += len(rows)
        yield rows


def _check_columns(names: Sequence[str], columns: Sequence[str]) -> None:
    missing = [name for name in names if name not in columns]
    if missing:
        raise InputError(f"the key column {missing[0]!r} is not there{did_you_mean(missing[0], columns)}")


def did_you_mean(name: str, columns: Sequence[str]) -> str:
    """What is there, and the nearest name, as the end of a sentence."""
    near = difflib.get_close_matches(name, columns, n=1, cutoff=0.5)
    folded = [column for column in columns if column.lower() == name.lower()]
    guess = f"; did you mean {(folded or near)[0]!r}?" if folded or near else ""
    shown = ", ".join(map(repr, columns[:20])) + (", …" if len(columns) > 20 else "")
    return f"; the columns are {shown or 'none'}{guess}"


# -- mappings -------------------------------------------------------------------------------------


def _mappings(frame: Any) -> Iterable[Mapping[str, Any]]:
    if isinstance(frame, str | bytes | Mapping) or not isinstance(frame, Iterable):
        raise InputError(f"rows cannot be read from a {type(frame).__name__}: {_hint(frame)}")
    return frame


def _hint(frame: Any) -> str:
    if isinstance(frame, str | bytes):
        return "read it first, as pl.read_csv(path)"
    if isinstance(frame, Mapping):
        return "wrap its columns, as pl.DataFrame(columns)"
    return "give a Polars frame, a DuckDB relation, an Arrow table or an iterable of mappings"


def _from_mappings(
    rows: Iterable[Mapping[str, Any]], names: tuple[str, ...], batch: int, *, again: bool
) -> RowSource:
    iterator = iter(rows)
    anew = not again and iterator is not rows  # a folder, say: each look at it begins at the start
    head = list(islice(iterator, None if again else 1))
    if anew and hasattr(iterator, "close"):
        iterator.close()
    _check_mappings(head, 0)
    columns = tuple(head[0]) if head else ()
    if head:
        _check_columns(names, columns)
    frame = _key_frame(head, names, 0, None)
    key = key_of(names, frame.schema) if head else Key(names, _texts(names))
    if names and again:
        check_keys(key, lambda: [frame])
    total, size = (len(head), batch) if again else (None, min(batch, _LIVE))

    def batches() -> Iterator[list[Row]]:
        return _arriving(iter(rows) if anew else chain(head, iterator), key, size, known=again)

    return RowSource(key, columns, total, again or anew, batches)


def _arriving(rows: Iterator[Mapping[str, Any]], key: Key, size: int, *, known: bool) -> Iterator[list[Row]]:
    """Batches of mappings. known: the keys were checked; others are compared with all that came before."""
    position, hashed, arrivals = 0, Occurrences(), Arrivals()
    while chunk := _arrived(rows, size):
        _check_mappings(chunk, position)
        if key.columns:
            keys = key.encode(_key_frame(chunk, key.columns, position, key))
            if not known and (repeat := arrivals.repeat(keys, position)):
                raise ArrivalError(_again(key, *repeat))
        else:
            keys = hashed.keys(chunk)
        yield [Row(n, text, row) for n, (text, row) in enumerate(zip(keys, chunk, strict=True), position)]
        position += len(chunk)


def _again(key: Key, text: str, first: int, now: int) -> str:
    return (
        f"{named(key)} is not unique: {text!r} came in row {first} and again in row {now} "
        f"(counted from 0). Take the repeat out, then run the same again to go on"
    )


def _arrived(rows: Iterator[Mapping[str, Any]], size: int) -> list[Mapping[str, Any]]:
    """The next rows: fewer than `size` where they are slow to come, so that those that came need not wait."""
    begun, chunk = time.monotonic(), []
    for row in rows:
        chunk.append(row)
        if len(chunk) >= size or time.monotonic() - begun > _PATIENCE:
            break
    return chunk


def _check_mappings(rows: Sequence[Any], start: int) -> None:
    for n, row in enumerate(rows, start):
        if not isinstance(row, Mapping):
            raise InputError(f"row {n} is a {type(row).__name__}, not a mapping of column names to values")


def _key_frame(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str], start: int, key: Key | None
) -> pl.DataFrame:
    """The key columns of some mappings; with a known key, in its dtypes."""
    import polars as pl

    series = []
    for name in names:
        values = [clean_key(row.get(name)) for row in rows]
        if key is not None and None in values:
            where = start + values.index(None)
            raise ArrivalError(f"{named(key)} is missing or null in row {where} (counted from 0)")
        try:
            series.append(pl.Series(name, values, dtype=key.dtypes[name] if key else None, strict=True))
        except Exception as error:
            was = f"; in the first row it was {key.dtypes[name]}" if key else ""
            raise (ArrivalError if key else InputError)(
                f"the key column {name!r} mixes types in rows {start} to {start + len(rows) - 1}{was}: "
                f"{str(error).splitlines()[0]}"
            ) from error
    return pl.DataFrame(series)


def _texts(names: Sequence[str]) -> dict[str, Any]:
    import polars as pl

    return {name: pl.String() for name in names}
