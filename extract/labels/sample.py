"""Which rows to label: a seeded sample that keeps the shares of the groups in it.

Knows tables and nothing of models. The same table and seed give the same rows, on any machine.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from extract.errors import ConfigError, InputError

if TYPE_CHECKING:
    import polars as pl


def sample(frame: Any, *, rows: int, by: str | Sequence[str] | None = None, seed: int = 0) -> pl.DataFrame:
    """Some rows of a table, in its order.

    frame: a Polars DataFrame or LazyFrame, or anything that Polars takes. rows: how many.
    by: columns whose groups keep their shares; every group has at least one row while there are enough.
    Raises InputError for a column that is not there, ConfigError for a number below one.
    """
    import polars as pl

    if rows < 1:
        raise ConfigError(f"rows={rows}: a sample has at least one row")
    table = frame.collect() if isinstance(frame, pl.LazyFrame) else pl.DataFrame(frame)
    names = [by] if isinstance(by, str) else list(by or ())
    if missing := [name for name in names if name not in table.columns]:
        raise InputError(f"no column {', '.join(missing)}: the table has {', '.join(table.columns)}")
    groups = _groups(table, names)
    taken = shares([len(group) for group in groups], rows)
    chance = random.Random(seed)
    chosen = [i for group, size in zip(groups, taken, strict=True) for i in chance.sample(group, size)]
    return table[sorted(chosen)]


def _groups(table: pl.DataFrame, names: Sequence[str]) -> list[list[int]]:
    """Places of the rows, group by group in the order of the table."""
    if not names:
        return [list(range(table.height))]
    found: dict[str, list[int]] = {}
    for place, values in enumerate(table.select(names).iter_rows()):
        found.setdefault(repr(values), []).append(place)
    return list(found.values())


def shares(sizes: Sequence[int], rows: int) -> list[int]:
    """How many to take of groups of these sizes: in proportion, by largest remainder, at least one each
    while there are enough; never more than there are."""
    total = sum(sizes)
    rows = min(rows, total)
    floor = 1 if rows >= len(sizes) else 0
    exact = [size * rows / total if total else 0.0 for size in sizes]
    taken = [min(size, max(floor, int(want))) for size, want in zip(sizes, exact, strict=True)]
    while sum(taken) != rows:
        step = 1 if sum(taken) < rows else -1
        free = [i for i, size in enumerate(sizes) if (taken[i] < size if step > 0 else taken[i] > floor)]
        place = max(free, key=lambda i: (step * (exact[i] - taken[i]), sizes[i], -i))
        taken[place] += step
    return taken
