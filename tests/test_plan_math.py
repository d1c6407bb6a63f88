"""What a pilot says of all rows: the interval holds on skewed data, and the sample is the same each time."""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from extract.plan_math import Interval, cache_choices, draw, share, total, wall_time
from extract.prices import Price

Crowd = Callable[[random.Random], tuple[list[float], list[float]]]


def documents(rng: random.Random) -> tuple[list[float], list[float]]:
    """Cost follows the length, loosely; lengths are skewed."""
    lengths = [rng.lognormvariate(6.0, 1.0) for _ in range(1_500)]
    return lengths, [0.3 * length * rng.lognormvariate(0.0, 0.7) for length in lengths]


def thinkers(rng: random.Random) -> tuple[list[float], list[float]]:
    """Cost has nothing to do with the length and a long tail."""
    lengths = [rng.lognormvariate(5.0, 0.5) for _ in range(800)]
    return lengths, [rng.lognormvariate(5.0, 1.0) for _ in lengths]


def forms(rng: random.Random) -> tuple[list[float], list[float]]:
    """Nearly the same for all, and one in twelve is asked again and again."""
    lengths = [rng.uniform(900.0, 1_100.0) for _ in range(400)]
    return lengths, [rng.gauss(500.0, 30.0) * rng.choice([1] * 8 + [2, 2, 2, 3]) for _ in lengths]


def tails(rng: random.Random) -> tuple[list[float], list[float]]:
    """A power law."""
    lengths = [rng.lognormvariate(6.0, 1.2) for _ in range(2_000)]
    return lengths, [100.0 * rng.paretovariate(2.5) for _ in lengths]


@pytest.mark.parametrize("crowd", [documents, thinkers, forms, tails])
def test_the_interval_holds_on_skewed_data(crowd: Crowd) -> None:
    held, width = 0, 0.0
    for seed in range(100):
        lengths, values = crowd(random.Random(seed))
        sample = draw(lengths, 20, seed=seed)
        found = total(sample, lengths, {row: values[row] for row in sample.drawn})
        held += found.low <= sum(values) <= found.high
        width += (found.high - found.low) / sum(values) / 100

    assert held >= 85
    assert width < 2.2  # wide enough to hold, narrow enough to say something


def test_where_cost_follows_length_the_interval_is_narrow() -> None:
    rng = random.Random(4)
    lengths = [rng.lognormvariate(6.0, 1.0) for _ in range(1_000)]
    values = [20.0 + 0.3 * length * rng.gauss(1.0, 0.05) for length in lengths]
    sample = draw(lengths, 20, seed=1)
    found = total(sample, lengths, {row: values[row] for row in sample.drawn})

    assert found.low <= sum(values) <= found.high
    assert found.high - found.low < 0.2 * sum(values)


@given(st.lists(st.floats(0.0, 1e6), min_size=0, max_size=200), st.integers(1, 60), st.integers(0, 1_000_000))
def test_a_sample_has_the_size_that_was_asked_for_and_each_row_at_most_once(
    lengths: list[float], size: int, seed: int
) -> None:
    sample = draw(lengths, size, seed=seed)

    assert sorted(row for stratum in sample.strata for row in stratum.rows) == list(range(len(lengths)))
    assert len(sample.drawn) == len(set(sample.drawn)) == min(size, len(lengths))
    assert sample == draw(lengths, size, seed=seed)


def test_long_rows_are_drawn_more_often() -> None:
    lengths = [10.0] * 900 + [1_000.0] * 100
    drawn = draw(lengths, 20, seed=0).drawn

    assert sum(lengths[row] == 1_000.0 for row in drawn) >= 8


@given(st.lists(st.floats(0.0, 1e6), min_size=1, max_size=20))
@example([0.0, 9.4e-157])  # a spread whose cube is zero
def test_when_all_rows_were_drawn_the_total_is_exact(values: list[float]) -> None:
    lengths = [float(row) for row in range(len(values))]
    found = total(draw(lengths, 20), lengths, dict(enumerate(values)))

    assert found.value == pytest.approx(sum(values), rel=1e-6, abs=1e-3)
    assert found.high - found.low <= 1e-6 * max(1.0, sum(values))


def test_rows_that_never_answered_do_not_break_the_estimate() -> None:
    lengths = [float(row) for row in range(1, 101)]
    sample = draw(lengths, 20, seed=2)
    some = {row: 2.0 * lengths[row] for row in sample.strata[-1].drawn}
    found = total(sample, lengths, some)

    assert found.value == pytest.approx(2.0 * sum(lengths))
    with pytest.raises(ValueError, match="no row"):
        total(sample, lengths, {})


def test_it_never_says_less_than_what_is_already_paid() -> None:
    lengths = [1.0] * 100
    sample = draw(lengths, 4, seed=0)
    found = total(sample, lengths, dict(zip(sample.drawn, [0.0, 0.0, 0.0, 1_000.0], strict=True)))

    assert found.low >= 1_000.0


def test_dead_letters_are_expected_by_their_share() -> None:
    assert share(0, 20, 1_000).low == 0.0 and 50 < share(0, 20, 1_000).high < 150
    assert share(2, 20, 1_000).value == pytest.approx(100.0)
    assert share(20, 20, 20) == Interval(20.0, 20.0, 20.0)
    assert share(0, 0, 10) == Interval(0.0, 0.0, 10.0)


@pytest.mark.parametrize("rate", [0.05, 0.2, 0.5])
def test_the_share_holds_too(rate: float) -> None:
    held = 0
    for seed in range(200):
        rng = random.Random(seed)
        rows = [rng.random() < rate for _ in range(1_000)]
        found = share(sum(rows[:20]), 20, 1_000)
        held += found.low <= sum(rows) <= found.high

    assert held >= 170


def test_time_is_the_slower_of_the_work_and_the_limit() -> None:
    work = Interval(900.0, 1_000.0, 1_200.0)

    assert wall_time(work, concurrency=10, rows=500) == Interval(90.0, 100.0, 120.0)
    assert wall_time(work, concurrency=10, rows=500, per_second=4.0) == Interval(125.0, 125.0, 125.0)
    assert wall_time(work, concurrency=64, rows=2) == Interval(450.0, 500.0, 600.0)


def test_the_cache_pays_from_a_few_requests_on() -> None:
    price = Price.of(input=2, output=10, cache_read="0.2", cache_write_5m=2, cache_write_1h=4)
    hour, minutes, plain = cache_choices(price, prefix_tokens=1_000_000, requests=100, seconds=1_800)

    assert (hour.cache, minutes.cache, plain.cache) == ("1h", "5m", None)
    assert hour.cost == 4 + 99 * Decimal("0.2") and hour.break_even == 3
    assert minutes.cost == 6 * 2 + 94 * Decimal("0.2") and minutes.break_even == 1
    assert plain.cost == 200 and plain.break_even is None


def test_a_cache_without_price_has_no_cost() -> None:
    hour, minutes, plain = cache_choices(
        Price.of(input=2, output=10), prefix_tokens=500_000, requests=2, seconds=60
    )

    assert (hour.cost, minutes.cost) == (None, None)
    assert plain.cost == 2
