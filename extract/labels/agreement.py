"""How far raters agree beyond chance: two models, two runs, two people, or more.

Cohen's kappa for two, Krippendorff's alpha for any number with gaps. Pure figures; knows nothing of stores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import combinations
from typing import TYPE_CHECKING, Any

from extract.errors import InputError
from extract.labels.sources import all_answers, need
from extract.labels.values import Kind, Rules, distance, kind_of, matches, plain_form, typed_as
from extract.markup import card, table
from extract.show.numbers import NOTHING, count, lines_of, percent

if TYPE_CHECKING:
    import polars as pl

Apart = Callable[[Any, Any], float]


@dataclass(frozen=True, slots=True)
class Agreed:
    """The agreement on one field.

    rows: rows that at least two raters rated. same: share of pairs of ratings that match. kappa: Cohen's, for
    two raters and fields with classes. alpha: Krippendorff's; nominal for classes, interval for numbers
    and dates, by the share of common items for lists. None where nothing varies.
    """

    field: str
    kind: Kind
    rows: int
    same: float
    kappa: float | None
    alpha: float | None


@dataclass(frozen=True)
class Agreement:
    """What `agreement` found. raters: their names. apart: keys and fields where they differ."""

    raters: tuple[str, ...]
    agreed: tuple[Agreed, ...]
    apart: tuple[tuple[str, str, tuple[Any, ...]], ...]

    @property
    def fields(self) -> pl.DataFrame:
        """One row a field."""
        import polars as pl

        rows = [(a.field, a.kind, a.rows, a.same, a.kappa, a.alpha) for a in self.agreed]
        return pl.DataFrame(rows, schema=["field", "kind", "rows", "same", "kappa", "alpha"], orient="row")

    @property
    def differences(self) -> pl.DataFrame:
        """Where the raters differ: key, field, and a column of each rater (as text)."""
        import polars as pl

        names = [f"{i + 1}: {name}" for i, name in enumerate(self.raters)]
        rows = [(key, name, *map(_shown, values)) for key, name, values in self.apart]
        schema = dict.fromkeys(["key", "field", *names], pl.String)
        return pl.DataFrame(rows, schema=schema, orient="row")

    def __str__(self) -> str:
        return "\n".join([" and ".join(self.raters), *lines_of(COLUMNS, map(_row, self.agreed))])

    def _repr_html_(self) -> str:
        shown = table(COLUMNS, [_row(one) for one in self.agreed], numeric=range(1, 5))
        return str(card(f"Agreement of {' and '.join(self.raters)}", shown))


def agreement(
    a: Any,
    b: Any,
    *,
    others: Sequence[Any] = (),
    key: str | Sequence[str] | None = None,
    fields: Collection[str] | None = None,
) -> Agreement:
    """How far two or more raters agree, field by field.

    a, b, others: runs, tables, files, or what people said. A row or field that a rater does not have is a
        gap, not a disagreement; null is a rating.
    key: columns that name a row; a run knows its own.
    Raises InputError where no field is rated twice, MissingExtraError without the extra `labels`.
    """
    need("scipy", "rapidfuzz")
    raters = all_answers(a, b, *others, key=key)
    names = [n for n in raters[0].fields if any(n in r.fields for r in raters[1:])]
    agreed, apart = [], []
    for name in names if fields is None else [n for n in names if n in fields]:
        units = _units([r.rows for r in raters], name)
        if not units:
            continue
        agreed.append(_agreed(name, units, len(raters)))
        apart += [(k, name, tuple(v)) for k, v in units.items() if not _one_voice(v)]
    if not agreed:
        raise InputError("no field is rated twice: do the keys and the fields mean the same on both sides?")
    titles = tuple(r.name or f"rater {i + 1}" for i, r in enumerate(raters))
    return Agreement(titles, tuple(agreed), tuple(apart))


COLUMNS = ("field", "rows", "the same", "kappa", "alpha")


class _Gap:
    def __repr__(self) -> str:
        return "not rated"


GAP = _Gap()


def _units(raters: Sequence[Any], name: str) -> dict[str, list[Any]]:
    """key → one rating a rater, for rows that at least two rated."""
    keys = dict.fromkeys(key for rows in raters for key in rows)
    found = {key: [rows[key].get(name, GAP) if key in rows else GAP for rows in raters] for key in keys}
    return {key: values for key, values in found.items() if sum(v is not GAP for v in values) >= 2}


def _agreed(name: str, units: dict[str, list[Any]], raters: int) -> Agreed:
    ratings = [[v for v in values if v is not GAP] for values in units.values()]
    kind = kind_of(v for values in ratings for v in values)
    both = [pair for values in ratings for pair in combinations(values, 2)]
    typed = [[typed_as(kind, v) for v in values] for values in ratings]
    classes = raters == 2 and kind in ("text", "bool", "number", "date")
    return Agreed(
        name,
        kind,
        len(ratings),
        sum(matches(a, b, Rules()) for a, b in both) / len(both),
        kappa([(_frozen(a), _frozen(b)) for a, b in typed]) if classes else None,
        alpha(typed, _apart(kind, (v for values in typed for v in values))),
    )


def _one_voice(values: Sequence[Any]) -> bool:
    rated = [v for v in values if v is not GAP]
    return all(matches(rated[0], other, Rules()) for other in rated[1:])


def kappa(pairs: Sequence[tuple[Any, Any]]) -> float | None:
    """Cohen's kappa of two raters; None where both always say the same one thing."""
    total = len(pairs)
    seen = sum(a == b for a, b in pairs) / total
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    expected = sum(first[name] * second[name] for name in first) / total**2
    return (seen - expected) / (1 - expected) if expected < 1 else None


def alpha(units: Sequence[Sequence[Any]], apart: Apart) -> float | None:
    """Krippendorff's alpha. units: the ratings of each row, at least two. apart: squared distance of two.

    None where all ratings are the same: there is no chance to agree by.
    """
    counts = [Counter(map(_frozen, values)) for values in units if len(values) > 1]
    total: Counter[Any] = Counter()
    for one in counts:
        total.update(one)
    size = total.total()
    far = {(a, b): apart(a, b) for a, b in combinations(total, 2)}
    seen = sum(
        one[a] * one[b] * far.get((a, b), far.get((b, a), 0.0)) / (one.total() - 1)
        for one in counts
        for a, b in combinations(one, 2)
    )
    expected = sum(total[a] * total[b] * distance_ for (a, b), distance_ in far.items())
    return 1 - (size - 1) * seen / expected if expected else None


def _apart(kind: Kind, values: Iterable[Any]) -> Apart:
    """How far apart two ratings of a field are. values: all ratings of it."""
    if kind not in ("number", "date"):
        return _share_apart if kind == "list" else _nominal
    known = [value for value in values if value is not None]
    first = known[0]
    places = [(distance(value, first) or 0.0) * (1 if value >= first else -1) for value in known]
    widest = (max(places) - min(places)) ** 2 or 1.0

    def interval(one: Any, other: Any) -> float:
        far = distance(one, other)
        return widest if far is None else far**2  # a value and none are as far apart as any two

    return interval


def _nominal(one: Any, other: Any) -> float:
    return float(one != other)


def _share_apart(one: Any, other: Any) -> float:
    """Of two lists, the share of all items that only one has."""
    if one is None or other is None:
        return 1.0
    a, b = set(one), set(other)
    return 1 - len(a & b) / len(a | b) if a | b else 0.0


def _frozen(value: Any) -> Any:
    """A rating as something that can be counted; spelling is set aside."""
    if isinstance(value, dict):
        return tuple((name, _inner(inner)) for name, inner in sorted(value.items()))
    if isinstance(value, list | tuple):
        return tuple(sorted((_frozen(inner) for inner in value), key=repr))
    if isinstance(value, bool):
        return str(value)  # True is no 1
    return Decimal(str(value)) if isinstance(value, float) else plain_form(value)


def _shown(value: Any) -> str | None:
    return None if value is None else str(value)


def _inner(value: Any) -> Any:
    """A field of an object; numbers are one form, since JSON may have them as text."""
    if isinstance(value, str | int | float | Decimal) and not isinstance(value, bool):
        try:
            return str(Decimal(str(value)).normalize())
        except InvalidOperation:
            pass
    return str(_frozen(value))


def _row(one: Agreed) -> list[str]:
    told = [NOTHING if value is None else f"{value:.2f}" for value in (one.kappa, one.alpha)]
    return [one.field, count(one.rows), percent(one.same), *told]
