"""Two sets of answers against the same gold: which rows got better or worse, and is it more than chance?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from extract.labels.chance import Interval, by_chance, interval, ratio
from extract.labels.evaluate import shared_fields
from extract.labels.sources import Answers, all_answers, need
from extract.labels.values import Rules, Tolerance, matches
from extract.markup import card, pairs, table, tag
from extract.show.numbers import count, lines_of, percent

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Difference:
    """One field, or all of a row (`field` is "(row)").

    first, second: share of rows that match. change: second less first, with its paired interval. chance: how
    often a change as large comes about by chance (two-sided). better, worse: keys of rows.
    """

    field: str
    rows: int
    first: float
    second: float
    change: Interval
    chance: float
    better: tuple[str, ...]
    worse: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """The difference in words."""
        if not self.better and not self.worse:
            return "no difference"
        if self.chance >= 0.05:
            return "may be chance"
        return "better" if self.second > self.first else "worse"


@dataclass(frozen=True)
class Comparison:
    """What `compare` found: one difference for whole rows, one a field."""

    names: tuple[str, str]
    row: Difference
    differences: tuple[Difference, ...]

    @property
    def fields(self) -> pl.DataFrame:
        """One row a field, whole rows first."""
        import polars as pl

        columns = ["field", "rows", "first", "second", "change", "low", "high", "chance", "better", "worse"]
        rows = [
            (d.field, d.rows, d.first, d.second, *_bounds(d.change), d.chance, len(d.better), len(d.worse))
            for d in (self.row, *self.differences)
        ]
        return pl.DataFrame(rows, schema=columns, orient="row")

    @property
    def changes(self) -> pl.DataFrame:
        """One row a value that got better or worse: key, field, what."""
        import polars as pl

        rows = [
            (key, d.field, what)
            for d in self.differences
            for what, keys in (("better", d.better), ("worse", d.worse))
            for key in keys
        ]
        return pl.DataFrame(rows, schema=dict.fromkeys(("key", "field", "what"), pl.String), orient="row")

    def __str__(self) -> str:
        rows = lines_of(COLUMNS, map(_row, (self.row, *self.differences)))
        return "\n".join([f"{self.names[1]} (second) against {self.names[0]} (first)", *rows])

    def _repr_html_(self) -> str:
        told = [("first", self.names[0]), ("second", self.names[1])]
        rows = [_row(d) for d in (self.row, *self.differences)]
        note = "The interval is a paired bootstrap; the verdict a paired permutation test at 5 %."
        return str(card("Comparison", pairs(told), table(COLUMNS, rows, numeric=range(1, 7)), tag("p", note)))


COLUMNS = ("field", "rows", "first", "second", "change", "better", "worse", "verdict")


def compare(
    a: Any,
    b: Any,
    gold: Any,
    *,
    key: str | Sequence[str] | None = None,
    fields: Collection[str] | None = None,
    tolerance: Mapping[str, Tolerance] | None = None,
    ordered: Collection[str] = (),
    seed: int = 0,
) -> Comparison:
    """Whether b is better than a, on the rows that both were asked for.

    All as for `evaluate`; a row without an accepted answer is wrong on that side.

    Raises InputError where no field is on all three sides, MissingExtraError without extra `labels`.
    """
    need("scipy", "rapidfuzz")
    first, second, right = all_answers(a, b, gold, key=key)
    rules = Rules(tolerance or {}, frozenset(ordered))
    also = [name for name in shared_fields(first, right, fields) if name in second.fields]
    names = shared_fields(second, right, also)
    keys = [key for key in right.rows if first.asked(key) and second.asked(key)]
    found = [_field(name, first, second, right, rules, keys, seed) for name in names]
    rows = [(k, _whole(first, right, names, rules, k), _whole(second, right, names, rules, k)) for k in keys]
    both = (first.name or "a", second.name or "b")
    return Comparison(both, _difference("(row)", rows, seed), tuple(one for one in found if one.rows))


def _field(
    name: str, a: Answers, b: Answers, gold: Answers, rules: Rules, keys: Sequence[str], seed: int
) -> Difference:
    rows = [
        (key, _right(a, gold, name, rules, key), _right(b, gold, name, rules, key))
        for key in keys
        if name in gold.rows[key]
    ]
    return _difference(name, rows, seed)


def _right(said: Answers, gold: Answers, name: str, rules: Rules, key: str) -> bool:
    row = said.rows.get(key)
    return row is not None and matches(row.get(name), gold.rows[key][name], rules, name)


def _whole(said: Answers, gold: Answers, names: Sequence[str], rules: Rules, key: str) -> bool:
    return all(_right(said, gold, name, rules, key) for name in names if name in gold.rows[key])


def _difference(name: str, rows: Sequence[tuple[str, bool, bool]], seed: int) -> Difference:
    import numpy as np

    if not rows:
        nothing = float("nan")
        return Difference(name, 0, nothing, nothing, Interval(0.0, 0.0, 0.0), 1.0, (), ())
    each = np.array([[float(b) - float(a), 1.0] for _, a, b in rows], dtype=np.float64)
    return Difference(
        name,
        len(rows),
        sum(a for _, a, _ in rows) / len(rows),
        sum(b for _, _, b in rows) / len(rows),
        interval(each, lambda sums: ratio(sums[:, 0], sums[:, 1]), seed=seed),
        by_chance(each[:, 0], seed=seed),
        tuple(key for key, a, b in rows if b and not a),
        tuple(key for key, a, b in rows if a and not b),
    )


def _bounds(found: Interval) -> tuple[float, float, float]:
    return found.value, found.low, found.high


def _row(d: Difference) -> list[str]:
    points = [f"{100 * value:+.1f}" for value in (d.change.value, d.change.low, d.change.high)]
    change = f"{points[0]} points ({points[1]} to {points[2]})"
    return [
        d.field,
        count(d.rows),
        percent(d.first),
        percent(d.second),
        change,
        count(len(d.better)),
        count(len(d.worse)),
        d.verdict,
    ]
