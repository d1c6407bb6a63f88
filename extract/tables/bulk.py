"""Validated values as a table, a column at a time.

Where a column takes values as they are, as text and numbers and lists of them, nothing is made for each row.
Knows the shapes of columns and nothing of where the values come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from extract.schema.column_json import MisfitError
from extract.schema.column_nodes import unrooted
from extract.schema.column_scalars import Choice, Scalar
from extract.schema.column_series import series_of
from extract.schema.column_types import Items, Part, Shape
from extract.schema.columns import Columns

if TYPE_CHECKING:
    import polars as pl


def frame_of_values(columns: Columns, values: Sequence[Any]) -> pl.DataFrame:
    """The frame that `columns.frame` makes of `columns.row` of each value.

    Raises MisfitError as these do, though it may name another of several misfits.
    """
    import polars as pl

    values = list(map(unrooted, values))
    if any(map(columns.extras, values)):
        raise MisfitError("no column takes all of a value")
    ready = {part.name: found for part in columns.parts if (found := _as_they_are(part, values)) is not None}
    made = {name: series_of(name, found, columns.polars[name]) for name, found in ready.items()}
    if left := tuple(part for part in columns.parts if part.name not in ready):
        rest = replace(columns, parts=left)
        made |= rest.frame(list(map(rest.row, values))).to_dict()
    return pl.DataFrame([made[name] for name in columns.names])


def _as_they_are(part: Part, values: Sequence[Any]) -> list[Any] | None:
    """What a part is in each value, if its column takes all of that unchanged; None if not."""
    if not _is_plain(part.shape):
        return None
    try:
        found = list(map(part.get, values))
    except (AttributeError, KeyError, IndexError, TypeError):
        return None  # `row` will tell which one
    return found if part.shape.holds(found) else None


def _is_plain(shape: Shape) -> bool:
    """Whether a shape changes nothing of values of its exact type."""
    if isinstance(shape, Items):
        return shape.ordered and _is_plain(shape.item)
    return isinstance(shape, Scalar | Choice)
