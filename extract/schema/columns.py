"""The columns of a model: Polars dtypes and DuckDB types, and values on their way into them.

Decided from the model, never from the data, so that a column of nulls has its type all the same and two
runs make the same table. Knows nothing of the wire, of prompts or of where the table is kept.

Column and struct field names are the Python field names, never aliases. A computed field has a column;
a field declared with `exclude=True` has none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from extract.schema.column_json import MisfitError, short
from extract.schema.column_nodes import unrooted
from extract.schema.column_series import series_of
from extract.schema.column_types import Fields, Items, Pairs, Part, Shape, Wrapped, quote, reader
from extract.schema.column_walk import walk

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Columns", "MisfitError", "columns_of", "quote"]


@dataclass(frozen=True, eq=False, repr=False)
class Columns(Mapping[str, "pl.DataType"]):
    """The typed columns of one output model: a mapping of names to Polars dtypes, and what goes with it.

    parts: one a column, in the order of the model's fields.
    json_text: paths of the places that are stored as JSON text, as `extra` or `lines[].extra`.
    notes: what the author of the model should know, each beginning with the path it is about.
    many: the root is a list and each of its items is a row.
    """

    parts: tuple[Part, ...]
    json_text: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    extras: Callable[[Any], Collection[str]] = lambda value: ()
    many: bool = False

    def __getitem__(self, name: str) -> pl.DataType:
        return self.polars[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.parts)

    def __repr__(self) -> str:
        shown = (f"{name}: {dtype}" for name, dtype in self.polars.items())
        text = f"; JSON text: {', '.join(self.json_text)}" if self.json_text else ""
        return f"Columns({', '.join(shown)}{text})"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Column names, in order."""
        return tuple(part.name for part in self.parts)

    @cached_property
    def polars(self) -> dict[str, pl.DataType]:
        """Polars dtype of each column."""
        return {part.name: part.shape.polars() for part in self.parts}

    @cached_property
    def duckdb(self) -> dict[str, str]:
        """DuckDB type of each column, as SQL text."""
        return {part.name: part.shape.duckdb for part in self.parts}

    # ------------------------------------------------------------ values

    def rows(self, answer: Any) -> list[dict[str, Any]]:
        """The rows of a whole answer: one, or with `many` one an item; those of a set are sorted.

        Raises MisfitError as `row` does, with the place of the item before the name of the column.
        """
        if not self.many:
            return [self.row(answer)]
        answer = unrooted(answer)
        rows = [self._item(place, item) for place, item in enumerate(answer)]
        return sorted(rows, key=repr) if isinstance(answer, Set) else rows

    def _item(self, place: int, item: Any) -> dict[str, Any]:
        try:
            return self.row(item)
        except MisfitError as misfit:
            raise misfit.under(f"[{place}]") from None

    def row(self, value: Any) -> dict[str, Any]:
        """A validated value, or an item of one, as one plain Python object a column.

        Raises MisfitError (a ValueError) that names the column for a value that the columns cannot hold
        without loss: an integer beyond 64 bits, digits that a decimal column would round, a date
        outside its range, a lone surrogate, a key without a field.
        """
        value = unrooted(value)
        if extra := self.extras(value):
            raise MisfitError(f"no column takes {short(sorted(extra))}")
        return self._read(value)

    @cached_property
    def _read(self) -> Callable[[Any], dict[str, Any]]:
        return reader(self.parts)

    def frame(self, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
        """Rows made by `row` as one frame of exactly the declared dtypes.

        Raises MisfitError, naming row and column, for what Polars would silently round, drop or turn
        into null.
        """
        import polars as pl

        known = set(self.names)
        for index, row in enumerate(rows):
            if row.keys() != known:
                raise MisfitError(f"row {index} has the columns {short(list(row))}, not {short(self.names)}")
        values = {name: [row[name] for row in rows] for name in self.names}
        doubtful = [part for part in self.parts if not part.shape.holds(values[part.name])]
        if doubtful:
            _verify(doubtful, rows)
        return pl.DataFrame([series_of(name, values[name], dtype) for name, dtype in self.polars.items()])

    # ------------------------------------------------------------ DuckDB

    def to_duckdb(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame with the dtypes that DuckDB takes as they are: enums as text, durations as microseconds.

        Columns that are not the model's pass unchanged.
        """
        return frame.cast(
            {part.name: part.shape.stored() for part in self.parts if part.name in frame.columns}
        )

    def from_duckdb(self, frame: pl.DataFrame) -> pl.DataFrame:
        """A frame read from the table of `ddl` with the declared dtypes again.

        Columns that are not the model's pass unchanged.
        """
        return frame.cast({n: t for n, t in self.polars.items() if n in frame.columns})

    def ddl(self, table: str, *, extra: Mapping[str, str] | None = None, key: Sequence[str] = ()) -> str:
        """A CREATE TABLE statement.

        table: a name, or `schema.name`.
        extra: columns that stand before the model's, name to SQL type.
        key: names of the columns that make the primary key.
        """
        columns = {**(extra or {}), **self.duckdb}
        lines = [f"{quote(name)} {kind}" for name, kind in columns.items()]
        if key:
            lines.append(f"PRIMARY KEY ({', '.join(map(quote, key))})")
        name = ".".join(map(quote, table.split(".")))
        return f"CREATE TABLE IF NOT EXISTS {name} (\n  " + ",\n  ".join(lines) + "\n)"

    def case_twins(self) -> tuple[str, ...]:
        """Paths of names that differ from a neighbour's by case alone: DuckDB cannot keep them apart."""
        return tuple(_twins(self.parts, ""))


def columns_of(model: Any, *, many: bool = False) -> Columns:
    """The columns of a model, or of anything else that a Pydantic TypeAdapter takes.

    many: the root is a list and each of its items is a row of its own.

    A root that is no object (a scalar, a union, a list without `many`) is one column named `value`.
    """
    walked = walk(model)
    parts = walked.parts(many=many)
    return Columns(parts, tuple(walked.json_text), tuple(walked.notes), walked.extras(many=many), many)


def _verify(parts: Sequence[Part], rows: Sequence[Mapping[str, Any]]) -> None:
    """Looks at the values one by one, for the row that a misfit is in."""
    for index, row in enumerate(rows):
        try:
            for part in parts:
                part.verify(row[part.name])
        except MisfitError as misfit:
            raise MisfitError(f"{misfit.reason} (row {index})", misfit.path) from None


def _twins(parts: Sequence[Part], path: str) -> Iterator[str]:
    same: dict[str, list[str]] = defaultdict(list)
    for part in parts:
        same[_folded(part.name)].append(f"{path}{part.name}")
    for names in same.values():
        if len(names) > 1:
            yield from names
    for part in parts:
        yield from _inside(part.shape, f"{path}{part.name}")


def _folded(name: str) -> str:
    """A name as DuckDB compares it: the case of ASCII letters alone does not count."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in name)


def _inside(shape: Shape, path: str) -> Iterator[str]:
    if isinstance(shape, Fields):
        yield from _twins(shape.parts, f"{path}.")
    elif isinstance(shape, Items):
        yield from _inside(shape.item, f"{path}[]")
    elif isinstance(shape, Pairs):
        yield from _inside(shape.value, f"{path}[].value")
    elif isinstance(shape, Wrapped):
        yield from _inside(shape.inner, path)
