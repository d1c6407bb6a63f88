"""A limit that the user gave: never passed in any second or minute, and used to its end."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extract.rates import GivenRate

TICK = 0.0005  # seconds; no timer is finer

limits = st.one_of(st.integers(1, 6_000), st.sampled_from([10, 59, 60, 61, 90, 600, 1_800, 60_000]))
lateness = st.floats(0.0, 0.05)


def most(times: list[float], seconds: float) -> int:
    """The most in any stretch of so many seconds; its end does not belong to it."""
    first = best = 0
    for last, time in enumerate(times):
        while time - times[first] >= seconds:
            first += 1
        best = max(best, last - first + 1)
    return best


@settings(max_examples=150, deadline=None)
@given(
    per_minute=limits,
    phases=st.lists(st.tuples(st.floats(0.0, 3.0), st.integers(1, 60), lateness), min_size=1, max_size=8),
    ways=st.lists(st.floats(0.0, 0.03), min_size=1, max_size=7),
)
def test_no_second_and_no_minute_holds_more_where_requests_arrive(
    per_minute: int, phases: list[tuple[float, int, float]], ways: list[float]
) -> None:
    rate, now, sent = GivenRate(per_minute, 100.0), 100.0, list[float]()
    for pause, count, late in phases:
        now += pause  # in which something is saved up
        for _ in range(count):
            while (wait := rate.wait(1.0, now)) > 0:
                now += max(wait, TICK) + late  # a timer comes late, and several ask at once
            rate.take(1.0, now)
            sent.append(now)
    arrived = sorted(at + ways[n % len(ways)] for n, at in enumerate(sent))
    for times in (sent, arrived):
        assert most(times, 1.0) <= math.ceil(per_minute / 60)
        assert most(times, 60.0) <= per_minute


@settings(max_examples=30, deadline=None)
@given(per_minute=limits, late=st.floats(0.0, 0.002))
def test_a_limit_is_used_to_its_end(per_minute: int, late: float) -> None:
    rate, now, count = GivenRate(per_minute, 0.0), 0.0, 0
    long = max(120.0, 100 * 60 / per_minute)
    while now < long and count < 3_000:
        if (wait := rate.wait(1.0, now)) > 0:
            now += max(wait, TICK) + late
        else:
            rate.take(1.0, now)
            count += 1
    assert (count - 1) / now >= 0.95 * per_minute / 60


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 40_000), st.floats(-0.5, 0.5)), min_size=5, max_size=60))
def test_tokens_stay_under_the_limit_of_a_minute_also_as_they_are_corrected(
    costs: list[tuple[int, float]],
) -> None:
    rate, now, taken = GivenRate(60_000, 0.0), 0.0, list[tuple[float, float]]()
    for cost, wrong in costs:
        while (wait := rate.wait(cost, now)) > 0:
            now += max(wait, TICK)
        rate.take(cost, now)
        taken.append((now, cost * (1 + min(wrong, 0.0))))
        rate.correct(cost - taken[-1][1], now)
    for at, _ in taken:
        assert sum(cost for other, cost in taken if at <= other < at + 60) <= 60_000 * (1 + 1e-9)


def test_what_is_larger_than_the_limit_goes_when_nothing_else_does() -> None:
    rate = GivenRate(600, 0.0)
    assert rate.wait(1_000, 0.0) == 0.0 or rate.wait(1_000, 10.0) == 0.0
    rate.take(1_000, 10.0)
    assert rate.wait(1, 10.0) >= 60.0
    assert rate.wait(1, 10.0 + 1_000 / 600 * 60 / 0.97 + 1) == 0.0


def test_what_was_not_sent_yet_counts_from_when_it_is() -> None:
    rate = GivenRate(120, 0.0)
    rate.take(1.0, 0.0)
    rate.take(1.0, 0.6)
    rate.postpone(1.0, 0.0, 0.9)  # the first is held up
    rate.postpone(1.0, 0.9, 1.5)
    assert rate.wait(1.0, 1.55) == pytest.approx(0.6 + 1.03 - 1.55, abs=0.01)
    rate.take(1.0, 1.7)
    assert rate.wait(1.0, 1.8) == pytest.approx(1.5 + 1.03 - 1.8, abs=0.01)


def test_what_used_more_than_was_planned_is_made_up_for() -> None:
    rate = GivenRate(600, 0.0)
    rate.take(1.0, 0.0)
    rate.correct(-9.0, 0.0)
    assert rate.wait(1.0, 0.5) == pytest.approx(0.5, abs=0.1)
    rate.drain(1.0)
    assert rate.wait(1.0, 1.0) > 0
