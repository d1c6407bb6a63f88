"""Our figures against scikit-learn, krippendorff and scipy, on random data."""

from __future__ import annotations

import math
import random
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from extract.labels.agreement import _apart, alpha, kappa
from extract.labels.assign import best_pairs
from extract.labels.chance import by_chance, interval, ratio, samples, share
from extract.labels.scores import Pair, confusion, inner, per_class, score
from extract.labels.values import Rules

CLASSES = ["red", "green", "blue", "none of these"]
seeds = st.integers(0, 10_000)


def _ratings(seed: int, size: int = 60) -> tuple[list[str], list[str]]:
    chance = random.Random(seed)
    first = [chance.choice(CLASSES) for _ in range(size)]
    return first, [one if chance.random() < 0.6 else chance.choice(CLASSES) for one in first]


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_kappa_is_that_of_scikit_learn(seed: int) -> None:
    first, second = _ratings(seed)
    expected = metrics.cohen_kappa_score(first, second)
    assert kappa(list(zip(first, second, strict=True))) == pytest.approx(expected)


@settings(max_examples=25, deadline=None)
@given(seeds, st.sampled_from(["nominal", "interval"]))
def test_alpha_is_that_of_krippendorff(seed: int, level: str) -> None:
    chance = random.Random(seed)
    raters, rows = chance.randint(2, 4), 30
    data = [[float(chance.choice([1, 2, 3, 5])) for _ in range(rows)] for _ in range(raters)]
    for line in data:
        for i in range(rows):
            if chance.random() < 0.15:
                line[i] = math.nan
    units = [[v for v in column if not math.isnan(v)] for column in zip(*data, strict=True)]
    expected = krippendorff.alpha(reliability_data=data, level_of_measurement=level)
    kind: Any = "number" if level == "interval" else "text"
    values = [v for unit in units for v in unit]
    found = alpha([unit for unit in units if len(unit) > 1], _apart(kind, values))
    assert found == pytest.approx(expected)


@settings(max_examples=25, deadline=None)
@given(seeds)
def test_classes_are_those_of_scikit_learn(seed: int) -> None:
    gold, answers = _ratings(seed)
    pairs = [Pair(str(i), a, g) for i, (g, a) in enumerate(zip(gold, answers, strict=True))]
    counts = confusion(pairs)
    assert counts is not None
    names = sorted(set(gold) | set(answers))
    matrix = metrics.confusion_matrix(gold, answers, labels=names)
    assert [[counts[g, a] for a in names] for g in names] == matrix.tolist()
    precision, recall, both, rows = metrics.precision_recall_fscore_support(
        gold, answers, labels=names, zero_division=0
    )
    ours = {name: rest for name, *rest in per_class(counts)}
    for i, name in enumerate(names):
        assert ours[name] == pytest.approx([rows[i], precision[i], recall[i], both[i]])
    assert score("c", pairs, Rules(), seed=0).match.value == pytest.approx(
        metrics.accuracy_score(gold, answers)
    )


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.sets(st.sampled_from("abcdef")), st.sets(st.sampled_from("abcdef"))), min_size=1)
)
def test_lists_are_the_micro_average_of_scikit_learn(rows: list[tuple[set[str], set[str]]]) -> None:
    names = "abcdef"
    gold = np.array([[n in g for n in names] for g, _ in rows])
    said = np.array([[n in a for n in names] for _, a in rows])
    found = score("t", [Pair(str(i), sorted(a), sorted(g)) for i, (g, a) in enumerate(rows)], Rules(), seed=0)
    p, r, f, _ = metrics.precision_recall_fscore_support(gold, said, average="micro", zero_division=np.nan)
    for ours, theirs in ((found.precision, p), (found.recall, r), (found.f1.value if found.f1 else None, f)):
        if ours is None:
            assert math.isnan(theirs) or theirs == 0
        else:
            assert ours == pytest.approx(theirs)


def test_optional_values_count_as_found_missed_or_too_many() -> None:
    pairs = [
        Pair("1", "x", "x"),
        Pair("2", None, "x"),
        Pair("3", "x", None),
        Pair("4", "y", "x"),
        Pair("5", None, None),
    ]
    found = score("o", pairs, Rules(), seed=0)
    assert (found.precision, found.recall) == (1 / 3, 1 / 3)
    assert found.match.value == 2 / 5


def test_the_assignment_is_the_best_of_all() -> None:
    chance = random.Random(5)
    from itertools import permutations

    for _ in range(20):
        table = [[chance.random() for _ in range(4)] for _ in range(4)]
        best = max(sum(table[i][j] for i, j in enumerate(p)) for p in permutations(range(4)))
        assert sum(table[i][j] for i, j in best_pairs(table)) == pytest.approx(best)
    assert best_pairs([]) == best_pairs([[]]) == []
    assert best_pairs([[0.0, 0.2]]) == [(0, 1)]


def test_items_that_belong_together_are_compared_whatever_their_order() -> None:
    gold = [{"name": "Oak table", "price": 5}, {"name": "Ash chair", "price": 2}]
    said = [
        {"name": "ash chair", "price": 2},
        {"name": "Oak tabel", "price": 5},
        {"name": "Lamp", "price": 1},
    ]
    found = score("lines", [Pair("1", said, gold)], Rules(), seed=0)
    assert (found.precision, found.recall) == (1 / 3, 1 / 2)
    below = inner("lines", [Pair("1", said, gold)], Rules())
    assert [(p.answer, p.gold) for p in below["lines.price"]] == [(2, 2), (5, 5)]


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    chance, held = np.random.default_rng(1), 0
    for seed in range(200):
        right = (chance.random(60) < 0.7).astype(float)
        found = share(np.column_stack([right, np.ones(60)]), seed=seed)
        held += found.low <= 0.7 <= found.high
    assert 0.9 <= held / 200 <= 0.99


def test_an_interval_without_an_exception_is_not_certain() -> None:
    found = share(np.ones((18, 2)))
    assert found.high == 1.0 and found.low == pytest.approx(0.025 ** (1 / 18))


def test_intervals_are_the_same_each_time_and_memory_is_bounded() -> None:
    rows = np.column_stack([np.arange(50) % 3 == 0, np.ones(50)]).astype(float)
    again = [interval(rows, lambda sums: ratio(sums[:, 0], sums[:, 1]), seed=4) for _ in range(2)]
    assert again[0] == again[1]
    assert max(len(part) for part in samples(1_000_000, 0, 10)) == 4


def test_a_difference_is_told_from_chance() -> None:
    assert by_chance(np.array([1.0] * 12 + [0.0] * 40)) < 0.01
    assert by_chance(np.array([1.0, -1.0] * 8)) == 1.0
    assert by_chance(np.array([1.0, 1.0, -1.0, 0.0])) > 0.3
    assert by_chance(np.zeros(5)) == 1.0


def test_raters_who_say_one_thing_alone_have_no_kappa_and_no_alpha() -> None:
    assert kappa([("a", "a")] * 4) is None
    assert alpha([["a", "a"]] * 4, _apart("text", ["a"])) is None
