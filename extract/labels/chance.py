"""How much of a figure may be chance: bootstrap intervals over rows.

Pure, seeded: the same rows give the same interval. Knows nothing of fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float64]]

LEVEL = 0.95
TIMES = 2000
_CELLS = 4_000_000
"""Weights that are held at once: memory stays bounded for any number of rows."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure, and between which bounds it would lie for 95 of 100 samples like this one."""

    value: float
    low: float
    high: float


Statistic = Callable[["Array"], "Array"]
"""Sums over rows, one line a sample → the figure of each sample."""


def interval(per_row: Array, statistic: Statistic, *, seed: int = 0, times: int = TIMES) -> Interval:
    """The figure of some rows with its bootstrap interval.

    per_row: what each row adds, one line a row. statistic: the figure from sums of such lines.
    """
    import numpy as np

    value = float(statistic(per_row.sum(axis=0, keepdims=True))[0])
    found = np.concatenate([statistic(weights @ per_row) for weights in samples(len(per_row), seed, times)])
    found = found[~np.isnan(found)]
    if not found.size:
        return Interval(value, float("nan"), float("nan"))
    low, high = np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Interval(value, float(low), float(high))


def share(per_row: Array, *, seed: int = 0) -> Interval:
    """How many of how many, with its interval. per_row: (those that are, all), one line a row.

    Where all are, or none is, every sample says the same and the bootstrap knows nothing: then the exact
    bound of so many rows without one exception.
    """
    found = interval(per_row, lambda sums: ratio(sums[:, 0], sums[:, 1]), seed=seed)
    edge = ((1 - LEVEL) / 2) ** (1 / max(1, len(per_row)))
    if found.value == 1:
        return Interval(1.0, edge, 1.0)
    return Interval(0.0, 0.0, 1 - edge) if found.value == 0 else found


def samples(rows: int, seed: int, times: int) -> Iterator[Array]:
    """How often each row is in each of `times` samples drawn with replacement, some samples at a time."""
    import numpy as np

    random = np.random.default_rng(seed)
    step = max(1, _CELLS // max(1, rows))
    for start in range(0, times, step):
        size = min(step, times - start)
        yield random.multinomial(rows, np.full(rows, 1 / rows), size=size).astype(np.float64)


def ratio(above: Array, below: Array) -> Array:
    """A quotient, undefined where there is nothing below."""
    import numpy as np

    found: Array = np.divide(above, below, out=np.full(np.shape(above), np.nan), where=below != 0)
    return found


def by_chance(differences: Array, *, seed: int = 0, times: int = TIMES) -> float:
    """How often a mean difference as large would come about if the two sides were alike.

    The sign of each row's difference is drawn anew: a paired permutation test, two-sided.
    """
    import numpy as np

    rows = len(differences)
    seen = abs(differences.sum())
    if not rows or not np.any(differences):
        return 1.0
    random = np.random.default_rng(seed)
    step = max(1, _CELLS // rows)
    extreme = 0
    for start in range(0, times, step):
        signs = random.choice((-1.0, 1.0), size=(min(step, times - start), rows))
        extreme += int((np.abs(signs @ differences) >= seen - 1e-9).sum())
    return (extreme + 1) / (times + 1)
