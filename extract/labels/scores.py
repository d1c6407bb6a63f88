"""One field over many rows: how often right, how complete, how far off.

Pairs of values in, figures out. Knows nothing of runs and stores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from extract.labels.chance import Interval, interval, ratio, share
from extract.labels.values import (
    Kind,
    Rules,
    aligned,
    distance,
    kind_of,
    matches,
    pairs,
    same,
    text_likeness,
)

if TYPE_CHECKING:
    from extract.labels.chance import Array

CLASSES = 24
"""More different values than this are no classes."""


@dataclass(frozen=True, slots=True)
class Pair:
    """What was answered and what is right, for one field of one row."""

    key: str
    answer: Any
    gold: Any


@dataclass(frozen=True, slots=True)
class Score:
    """The figures of one field.

    rows: rows whose gold is known and that were answered. exact: share with the very same value. match:
    share that is the same once spelling is set aside and within tolerance. precision, recall, f1: of
    values that are there (for a list, of its items). likeness: of texts, the mean from 0 to 1.
    error: of numbers and dates (in days), the mean distance.
    """

    field: str
    kind: Kind
    rows: int
    exact: Interval
    match: Interval
    precision: float | None
    recall: float | None
    f1: Interval | None
    likeness: float | None
    error: float | None


def score(name: str, found: Sequence[Pair], rules: Rules, *, seed: int) -> Score:
    """The figures of a field. found: at least one pair."""
    kind = kind_of(value for pair in found for value in (pair.answer, pair.gold))
    exact = by_row(found, [(same(pair.answer, pair.gold), 1) for pair in found])
    match = by_row(found, [(matches(pair.answer, pair.gold, rules, name), 1) for pair in found])
    counts = by_row(found, [_counts(pair, rules, name) for pair in found])
    hits, extra, missed = (float(number) for number in counts.sum(axis=0))
    counted = kind == "list" or any(pair.answer is None or pair.gold is None for pair in found)
    return Score(
        name,
        kind,
        len(found),
        share(exact, seed=seed),
        share(match, seed=seed),
        hits / (hits + extra) if counted and hits + extra else None,
        hits / (hits + missed) if counted and hits + missed else None,
        interval(counts, f1, seed=seed) if counted and hits + extra + missed else None,
        _likeness(found) if kind == "text" else None,
        _error(found),
    )


def by_row(found: Sequence[Pair], added: Sequence[tuple[float, ...]]) -> Array:
    """What the pairs add, summed by row: items of one row are no independent sample."""
    import numpy as np

    places = {key: place for place, key in enumerate(dict.fromkeys(pair.key for pair in found))}
    sums = np.zeros((len(places), len(added[0])))
    np.add.at(sums, [places[pair.key] for pair in found], np.array(added, dtype=np.float64))
    return sums


def f1(sums: Array) -> Array:
    """F1 of (hits, extra, missed)."""
    return ratio(2 * sums[:, 0], 2 * sums[:, 0] + sums[:, 1] + sums[:, 2])


def _counts(pair: Pair, rules: Rules, name: str) -> tuple[int, int, int]:
    """Hits, values too many, values missed. A wrong value is both too many and missed."""
    if isinstance(pair.answer, list) or isinstance(pair.gold, list):
        answer, gold = pair.answer or [], pair.gold or []
        hits = len(pairs(answer, gold, rules, name))
        return hits, len(answer) - hits, len(gold) - hits
    hit = pair.gold is not None and matches(pair.answer, pair.gold, rules, name)
    return int(hit), int(pair.answer is not None and not hit), int(pair.gold is not None and not hit)


def _likeness(found: Sequence[Pair]) -> float | None:
    known = [pair for pair in found if isinstance(pair.answer, str) and isinstance(pair.gold, str)]
    return sum(text_likeness(p.answer, p.gold) for p in known) / len(known) if known else None


def _error(found: Sequence[Pair]) -> float | None:
    apart = [distance(p.answer, p.gold) for p in found if p.answer is not None and p.gold is not None]
    known = [far for far in apart if far is not None]
    return sum(known) / len(known) if known else None


# -- inside of lists and objects ------------------------------------------------------------------


def inner(name: str, found: Sequence[Pair], rules: Rules) -> dict[str, list[Pair]]:
    """The fields of objects, and of the items of lists that belong together, as pairs of their own."""
    below: dict[str, list[Pair]] = {}
    for pair in found:
        for answer, gold in _together(pair, rules, name):
            for key in answer.keys() & gold.keys():
                below.setdefault(f"{name}.{key}", []).append(Pair(pair.key, answer[key], gold[key]))
    return dict(sorted(below.items()))


def _together(pair: Pair, rules: Rules, name: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    answer, gold = pair.answer, pair.gold
    if isinstance(answer, dict) and isinstance(gold, dict):
        return [(answer, gold)]
    if not (isinstance(answer, list) and isinstance(gold, list)):
        return []
    both = [(answer[i], gold[j]) for i, j in aligned(answer, gold, rules, name)]
    return [(a, b) for a, b in both if isinstance(a, dict) and isinstance(b, dict)]


# -- classes --------------------------------------------------------------------------------------


def class_of(value: Any) -> str | None:
    """A value as a class."""
    if value is None:
        return None
    return str(value).lower() if isinstance(value, bool) else str(value).strip()


def confusion(found: Sequence[Pair]) -> Counter[tuple[str | None, str | None]] | None:
    """(gold, answer) → rows; None for what has no classes (lists, objects, numbers, many texts)."""
    if kind_of(value for pair in found for value in (pair.answer, pair.gold)) not in ("text", "bool"):
        return None
    counts = Counter((class_of(pair.gold), class_of(pair.answer)) for pair in found)
    seen = {name for both in counts for name in both}
    return counts if len(seen) <= CLASSES else None


def per_class(
    counts: Counter[tuple[str | None, str | None]],
) -> list[tuple[str | None, int, float, float, float]]:
    """(class, rows, precision, recall, F1) for every class, the largest first."""
    names = {name for both in counts for name in both}
    found = []
    for name in names:
        hits = counts[name, name]
        answered = sum(number for (_, answer), number in counts.items() if answer == name)
        right = sum(number for (gold, _), number in counts.items() if gold == name)
        precision, recall = (hits / n if n else 0.0 for n in (answered, right))
        both = 2 * hits / (answered + right) if answered + right else 0.0
        found.append((name, right, precision, recall, both))
    return sorted(found, key=lambda row: (-row[1], str(row[0])))
