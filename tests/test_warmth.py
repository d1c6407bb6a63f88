"""The shared prefix: one sends first, the rest wait for it alone, and what usage says decides."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extract.protocol.usage import Usage
from extract.warmth import Ask, Turn, Warmth

HOUR = 3_600.0
PREFIX = 2_000
WROTE = Usage(input=20, cache_write_1h=PREFIX, cache_read=0, output=10)
READ = Usage(input=20, cache_write_1h=0, cache_read=PREFIX, output=10)
PLAIN = Usage(input=PREFIX + 20, cache_write_1h=0, cache_read=0, output=10)


def warm(warmth: Warmth, now: float = 0.0) -> None:
    """The first request, led and answered with a write."""
    ask = warmth.ask(now)
    assert ask.turn is Turn.LEAD
    assert warmth.settle(ask, WROTE, now + 1.0)


def test_one_leads_the_others_wait_for_its_reply_then_all_go() -> None:
    warmth = Warmth("1h", PREFIX)
    leader = warmth.ask(0.0)
    assert leader.turn is Turn.LEAD
    assert [warmth.ask(0.1).turn for _ in range(63)] == [Turn.WAIT] * 63

    assert warmth.settle(leader, WROTE, 2.0)
    assert [warmth.ask(2.0).turn for _ in range(63)] == [Turn.GO] * 63
    report = warmth.report
    assert (report.leads, report.prefix_writes, report.prefix_written) == (1, 1, PREFIX)


def test_a_stream_lets_the_others_go_when_it_begins() -> None:
    warmth = Warmth("1h", PREFIX)
    leader = warmth.ask(0.0)

    assert warmth.started(leader, 0.3)
    follower = warmth.ask(0.3)
    assert follower.turn is Turn.GO
    assert not warmth.started(follower, 0.4)
    assert not warmth.settle(leader, WROTE, 9.0)


def test_when_the_leader_fails_the_next_takes_over() -> None:
    warmth = Warmth("1h", PREFIX)
    first = warmth.ask(0.0)
    assert warmth.ask(0.0).turn is Turn.WAIT
    assert warmth.settle(first, None, 1.0)

    second = warmth.ask(1.0)
    assert second.turn is Turn.LEAD
    assert warmth.ask(1.0).turn is Turn.WAIT


@pytest.mark.parametrize(("ttl", "tokens"), [(None, PREFIX), ("1h", 100), ("5m", 0)])
def test_nobody_waits_where_nothing_can_be_cached(ttl: str | None, tokens: int) -> None:
    warmth = Warmth(ttl, tokens)

    assert [warmth.ask(0.0).turn for _ in range(5)] == [Turn.GO] * 5
    assert bool(warmth.report.notes) == (ttl is not None)


def test_after_a_pause_longer_than_the_lifetime_one_goes_first_again() -> None:
    warmth = Warmth("5m", PREFIX)
    warm(warmth)
    assert warmth.ask(200.0).turn is Turn.GO
    assert warmth.ask(510.0).turn is Turn.LEAD
    assert warmth.ask(510.0).turn is Turn.WAIT


def test_a_provider_that_renews_is_asked_once_and_then_trusted() -> None:
    warmth = Warmth("1h", PREFIX)
    warm(warmth)
    for minute in range(1, 60):
        ask = warmth.ask(minute * 60.0)
        assert ask.turn is Turn.GO
        warmth.settle(ask, READ, minute * 60.0 + 1)

    waiting = warmth.ask(HOUR + 0.5)  # written between 0 and 1 s: it may or may not be there
    assert waiting.turn is Turn.WAIT and warmth.wake_at(HOUR + 0.5) == HOUR + 1.0
    renewal = warmth.ask(HOUR + 1.0)
    assert renewal.turn is Turn.LEAD
    warmth.settle(renewal, READ, HOUR + 2.0)
    assert all(warmth.ask(HOUR + minute * 60.0).turn is Turn.GO for minute in range(1, 300))


def test_a_provider_that_does_not_renew_is_written_to_once_an_hour() -> None:
    warmth = Warmth("1h", PREFIX)
    warm(warmth)
    writes, now = 1, 1.0
    while now < 4.5 * HOUR:
        ask = warmth.ask(now)
        if ask.turn is Turn.LEAD:
            writes += 1
            warmth.settle(ask, WROTE, now + 1.0)
            now += 1.0
        elif ask.turn is Turn.GO:
            warmth.settle(ask, READ, now + 1.0)
            now += 30.0
        else:
            wake = warmth.wake_at(now)
            assert wake is not None
            now = wake

    assert writes == warmth.report.prefix_writes == 5
    assert warmth.report.hit_ratio == 1.0


def test_reads_that_stop_are_warmed_again_once_a_lifetime_and_said() -> None:
    warmth = Warmth("1h", PREFIX)
    warm(warmth)
    for usage in [READ] * 5 + [PLAIN] * 3:
        ask = warmth.ask(100.0)
        assert ask.turn is Turn.GO
        warmth.settle(ask, usage, 101.0)

    again = warmth.ask(102.0)
    assert again.turn is Turn.LEAD
    warmth.settle(again, PLAIN, 103.0)
    for second in range(100):
        ask = warmth.ask(104.0 + second)
        assert ask.turn is Turn.GO
        warmth.settle(ask, PLAIN, 105.0 + second)
    assert any("stopped" in note for note in warmth.report.notes)


def test_a_provider_without_a_cache_holds_nobody_again() -> None:
    warmth = Warmth("5m", PREFIX)
    leader = warmth.ask(0.0)
    warmth.settle(leader, PLAIN, 1.0)
    for _ in range(3):
        warmth.settle(warmth.ask(2.0), PLAIN, 3.0)

    assert warmth.ask(10_000.0).turn is Turn.GO
    assert any("did not cache" in note for note in warmth.report.notes)
    assert warmth.report.hit_ratio == 0.0


def test_a_provider_that_caches_by_itself_is_told_apart() -> None:
    warmth = Warmth("1h", PREFIX)
    warmth.settle(warmth.ask(0.0), PLAIN, 1.0)
    for _ in range(5):
        warmth.settle(warmth.ask(2.0), Usage(input=20, cache_read=1_792, output=1), 3.0)

    report = warmth.report
    assert report.hit_ratio == 1.0 and report.prefix_writes == 0
    assert any("by itself" in note for note in report.notes)


def test_writes_that_nobody_reads_are_said() -> None:
    warmth = Warmth("1h", PREFIX)
    warmth.settle(warmth.ask(0.0), WROTE, 1.0)
    for _ in range(5):
        warmth.settle(warmth.ask(2.0), WROTE, 3.0)

    assert any("never read" in note for note in warmth.report.notes)
    assert warmth.report.prefix_writes == 6


def test_writes_of_the_prefix_and_of_what_follows_it_are_told_apart() -> None:
    warmth = Warmth("1h", 1_900)
    warmth.settle(warmth.ask(0.0), Usage(input=0, cache_write_1h=PREFIX + 150, output=1), 1.0)
    for tail in (120, 80):
        warmth.settle(warmth.ask(2.0), Usage(input=0, cache_read=PREFIX, cache_write_1h=tail, output=1), 3.0)

    report = warmth.report
    assert (report.prefix_writes, report.prefix_written, report.tail_written) == (1, PREFIX, 150 + 120 + 80)
    assert report.read_tokens == 2 * PREFIX


def test_the_prefix_must_stay_the_same() -> None:
    warmth = Warmth("1h", PREFIX)
    warmth.ask(0.0, prefix="a")
    warmth.ask(0.0, prefix="a")
    with pytest.raises(ValueError, match="prefix changed"):
        warmth.ask(0.0, prefix="b")


@dataclass
class Provider:
    """A cache: a write is readable when its reply comes; an entry lives for `ttl`, renewed or not."""

    ttl: float
    renews: bool
    until: float = float("-inf")
    writes: int = 0
    coming: list[float] = field(default_factory=list)

    def serve(self, now: float, ends: float) -> Usage:
        self.until = max([self.until, *(at + self.ttl for at in self.coming if at <= now)])
        self.coming = [at for at in self.coming if at > now]
        if now < self.until:
            self.until = max(self.until, now + self.ttl) if self.renews else self.until
            return READ
        self.writes += 1
        self.coming.append(ends)
        return WROTE


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.booleans(), st.floats(0.0, 0.3))
def test_the_prefix_is_written_once_an_expiry_whatever_comes(seed: int, renews: bool, failing: float) -> None:  # noqa: FBT001
    """Eight rows at a time over hours, with pauses and failures: as many writes as the cache ran out."""
    rng = random.Random(seed)
    warmth, provider = Warmth("5m", PREFIX), Provider(300.0, renews)
    now, flying = 0.0, list[tuple[float, Ask, Usage | None]]()
    for _ in range(600):
        if rng.random() < 0.02 and not flying:
            now += rng.uniform(0.0, 1_000.0)
        ask = warmth.ask(now) if len(flying) < 8 else None
        if ask is not None and ask.turn is not Turn.WAIT:
            ends = now + rng.uniform(1.0, 9.0)
            failed = rng.random() < failing
            flying.append((ends, ask, None if failed else provider.serve(now, ends)))
            now += rng.uniform(0.0, 1.0)
            continue
        if flying:
            flying.sort(key=lambda entry: entry[0])
            ends, ask, usage = flying.pop(0)
            now = max(now, ends)
            warmth.settle(ask, usage, now)
        elif (wake := warmth.wake_at(now)) is not None:
            now = wake

    assert provider.writes <= warmth.report.leads
    assert not flying or warmth.report.prefix_writes <= provider.writes
