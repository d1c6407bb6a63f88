"""Keys that are missing or repeated, found before the first request.

Reads the key columns in batches and keeps eight bytes a row: a list of the texts took 130 MB for a million
rows. Only rows whose number comes twice are looked at again, by their text. Knows nothing of what the
other columns hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from extract.errors import InputError
from extract.tables.keys import Key

if TYPE_CHECKING:
    import polars as pl

_SHOWN = 5
_AT_ONCE = 1 << 16
_SORTED = 1 << 20
"""Rows whose numbers are sorted at a time."""

Frames = Callable[[], Iterable["pl.DataFrame"]]


def check_keys(key: Key, frames: Frames) -> int:
    """How many rows there are. Raises InputError for a null or a repeated key.

    frames: gives the key columns in batches, in the order of the input; called again to name what repeats.
    """
    rows, nulls, first = 0, 0, list[int]()
    numbers: list[pl.Series] = []
    for frame in _in_slices(frames()):
        missing = _missing(frame)
        if found := int(missing.sum()):
            first += (missing.arg_true().head(_SHOWN - len(first)) + rows).to_list()
            nulls, numbers = nulls + found, []
        if not nulls:
            numbers.append(key.numbers(frame))
        rows += frame.height
    if nulls:
        raise InputError(
            f"{named(key)} is null in {nulls:,} rows (first: {', '.join(map(str, first))}, counted "
            f"from 0); fill it in, leave those rows out, or choose another key"
        )
    twice = _twice(numbers, rows)
    if twice.len() and (told := _repeated(key, frames(), twice)):
        raise InputError(told)
    return rows


def named(key: Key) -> str:
    """The key as messages call it."""
    return f"the key {key.columns[0]!r}" if len(key.columns) == 1 else f"the key {list(key.columns)}"


def _in_slices(frames: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    for frame in frames:
        yield from frame.iter_slices(_AT_ONCE)


def _missing(frame: pl.DataFrame) -> pl.Series:
    import polars as pl

    return frame.select(pl.any_horizontal(pl.all().is_null()).alias("missing")).to_series()


def _twice(numbers: list[pl.Series], rows: int) -> pl.Series:
    """The numbers that come more than once; sorted a share at a time, since sorting needs a copy."""
    import polars as pl

    found = pl.Series("number", [], dtype=pl.UInt64)
    shares = 1 + rows // _SORTED
    for share in range(shares if numbers else 0):
        ours = numbers if shares == 1 else [part.filter(part % shares == share) for part in numbers]
        ordered = pl.concat(ours).sort()
        again = ordered.slice(1)
        found.append(again.filter(again == ordered.slice(0, again.len())).unique())
    return found


def _repeated(key: Key, frames: Iterable[pl.DataFrame], numbers: pl.Series) -> str:
    """What repeats among the rows with these numbers; nothing where different texts share one."""
    import polars as pl

    parts, at = [], 0
    for frame in _in_slices(frames):
        rows = key.numbers(frame).is_in(numbers.implode()).arg_true()
        texts = pl.Series("key", key.encode(frame[rows]), dtype=pl.String)
        parts.append(pl.DataFrame([texts, (rows.cast(pl.Int64) + at).alias("row")]))
        at += frame.height
    groups = pl.concat(parts).group_by("key", maintain_order=True).agg("row")
    groups = groups.filter(pl.col("row").list.len() > 1)
    if not groups.height:
        return ""
    shown = "; ".join(
        f"{text!r} in rows {', '.join(map(str, rows[:_SHOWN]))}{', …' if len(rows) > _SHOWN else ''}"
        for text, rows in groups.head(_SHOWN).iter_rows()
    )
    return (
        f"{named(key)} is not unique: {groups.height:,} keys repeat ({shown}, counted from 0). Give key= "
        f"more columns, take the repeats out, or leave key= out to number them"
    )
