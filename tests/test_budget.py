"""The purse: reserved before, settled after, and never overspent beyond what was in the air."""

from __future__ import annotations

import random
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extract.budget import Budget, Percentile, Purse, Reservation, Spent
from extract.errors import ConfigError, PriceError
from extract.prices import Price
from extract.protocol.usage import Usage

PRICE = Price.of(input=2, output=10, cache_read="0.2", cache_write_5m=2, cache_write_1h=4)


def pay(purse: Purse, *, entered: int = 100, output: int = 50, max_tokens: int = 1_000) -> Spent:
    held = purse.reserve(entered, max_tokens)
    assert held is not None
    return purse.settle(held, Usage(input=entered, output=output))


@pytest.mark.parametrize("limits", [{"usd": 0}, {"usd": -1}, {"tokens": 0}, {"requests": -5}])
def test_a_budget_is_above_zero(limits: dict[str, int]) -> None:
    with pytest.raises(ConfigError):
        Budget(**limits)  # type: ignore[arg-type]


def test_a_budget_in_dollars_needs_a_price() -> None:
    with pytest.raises(PriceError, match=r"Prices"):
        Purse(Budget(usd=5), None)
    Purse(Budget(tokens=5), None)


def test_without_a_budget_everything_flies() -> None:
    purse = Purse(None, None)

    assert all(purse.reserve(10**9, 10**9) for _ in range(100))
    assert not Budget().limited and Budget(requests=1).limited


def test_before_twenty_replies_max_tokens_is_held_then_twice_the_99th_percentile() -> None:
    purse = Purse(Budget(tokens=10**9), None)
    for _ in range(19):
        pay(purse, output=50)
        assert purse.reserved == Spent()
    first = purse.reserve(100, 1_000)
    assert first is not None and first.amount.tokens == 1_100
    purse.settle(first, Usage(input=100, output=50))

    later = purse.reserve(100, 1_000)
    assert later is not None and later.amount.tokens == 200
    short = purse.reserve(100, 60)
    assert short is not None and short.amount.tokens == 160


def test_an_estimate_of_the_input_that_is_too_low_is_corrected() -> None:
    purse = Purse(Budget(tokens=10**9), None)
    for _ in range(20):
        held = purse.reserve(100, 1_000)
        assert held is not None
        purse.settle(held, Usage(input=150, output=50))

    held = purse.reserve(100, 1_000)
    assert held is not None and held.amount.tokens == 150 + 100


def test_dollars_are_held_at_the_dearest_price_of_the_input() -> None:
    purse = Purse(Budget(usd=100), PRICE)
    plain, cached = purse.reserve(1_000_000, 0), purse.reserve(1_000_000, 0, ttl="1h")

    assert plain is not None and plain.amount.usd == 2
    assert cached is not None and cached.amount.usd == 4


def test_one_always_flies_while_money_remains() -> None:
    purse = Purse(Budget(tokens=100), None)
    first = purse.reserve(1_000, 1_000)

    assert first is not None
    assert purse.reserve(1, 1) is None and not purse.exhausted
    purse.settle(first, Usage(input=50, output=40))
    second = purse.reserve(1_000, 1_000)
    assert second is not None
    purse.settle(second, Usage(input=50, output=40))
    assert purse.exhausted and purse.reserve(1, 1) is None
    assert purse.spent == Spent(Decimal(0), 180, 2)


def test_what_was_turned_away_costs_nothing_and_what_is_unknown_costs_what_was_held() -> None:
    purse = Purse(Budget(usd=1), PRICE)
    turned_away, unknown = purse.reserve(100, 1_000), purse.reserve(100, 1_000)
    assert turned_away is not None and unknown is not None

    assert purse.settle(turned_away, None) == Spent()
    assert purse.settle(unknown, Usage()) == unknown.amount
    assert purse.spent == unknown.amount and purse.unpriced == 1 and purse.in_flight == 0


def test_a_category_without_price_is_settled_at_the_reservation() -> None:
    purse = Purse(Budget(usd=1), Price.of(input=2, output=10))
    held = purse.reserve(100, 1_000)
    assert held is not None

    assert purse.settle(held, Usage(input=10, cache_read=90, output=5)).usd == held.amount.usd


def test_raising_the_budget_goes_on_from_what_was_spent() -> None:
    purse = Purse(Budget(requests=3), None, spent=Spent(requests=3))
    assert purse.exhausted
    assert Purse(Budget(requests=4), None, spent=purse.spent).reserve(1, 1) is not None


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(2_000, 50_000), st.integers(1, 40))
def test_it_is_never_overspent_by_more_than_what_flew_beyond_its_reservation(
    seed: int, limit: int, wide: int
) -> None:
    rng = random.Random(seed)
    purse = Purse(Budget(tokens=limit), None)
    flying: list[tuple[Reservation, Usage]] = []
    for _ in range(400):
        held = purse.reserve(100, 800) if len(flying) < wide else None
        if held is not None:
            flying.append(
                (held, Usage(input=rng.randint(50, 200), output=min(800, int(rng.lognormvariate(4, 1)))))
            )
        elif flying:
            over = sum(max(0, (u.input or 0) + (u.output or 0) - r.amount.tokens) for r, u in flying)
            worst = purse.spent.tokens + sum((u.input or 0) + (u.output or 0) for _, u in flying)
            alone = flying[0][0].amount.tokens if len(flying) == 1 else 0
            assert worst <= limit + over + alone
            reservation, usage = flying.pop(rng.randrange(len(flying)))
            purse.settle(reservation, usage)
        else:
            break
    for reservation, usage in flying:
        purse.settle(reservation, usage)
    assert purse.reserved == Spent() and purse.in_flight == 0


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 10_000), min_size=20, max_size=300))
def test_the_percentile_is_the_nearest_rank(values: list[int]) -> None:
    percentile = Percentile()
    for value in values:
        percentile.add(value)

    assert percentile.value == sorted(values)[-(len(values) // 100) - 1]


def test_the_percentile_forgets_what_is_long_past() -> None:
    percentile = Percentile()
    for value in [10_000] * 50 + [7] * 2_000:
        percentile.add(value)

    assert percentile.value == 7
