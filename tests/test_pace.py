"""The governor, moved by hand: what each kind of refusal teaches, and what time alone opens."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extract.errors import ConfigError
from extract.governor import Governor, Permit, governor_for
from extract.pace import Pace
from extract.protocol.reply import Action, Fault, Message
from extract.protocol.usage import Usage

DONE = Message([], "end_turn", Usage(input=80, output=20))
BROKEN = Fault("server", Action.RETRY, status=500)
OVERLOADED = Fault("overloaded", Action.COOL_DOWN, status=529)


def limited(retry_after: float | None = None, *, kind: str = "rate_limit", limit: int | None = None) -> Fault:
    return Fault(kind, Action.COOL_DOWN, status=429, retry_after=retry_after, limit=limit)


class Drive:
    """A governor and the time."""

    def __init__(self, pace: Pace | None = None) -> None:
        self.now = 0.0
        self.governor = Governor(pace or Pace(concurrency=1_000), now=0.0, seed=1)
        self.flying: list[Permit] = []

    def send(self, tokens: float = 100.0) -> bool:
        permit = self.governor.admit(tokens, self.now)
        if permit is not None:
            self.flying.append(permit)
        return permit is not None

    def fill(self, seconds: float) -> int:
        """Sends whenever it is allowed, for so long; how many were sent."""
        before, end = len(self.flying), self.now + seconds
        while True:
            while self.send():
                pass
            due = self.governor.due(100.0, self.now)
            if due is None or self.now + due > end:
                self.now = end
                return len(self.flying) - before
            self.now += max(due, 0.0005)

    def land(self, reply: Message | Fault | None, index: int = 0) -> None:
        self.governor.settle(self.flying.pop(index), reply, self.now)


def test_a_thousand_are_reached_within_seconds_without_a_single_reply() -> None:
    drive = Drive()

    assert 100 < drive.fill(1.5) < 1_000
    drive.fill(1.5)
    assert len(drive.flying) == 1_000
    assert not drive.send()


def test_the_first_places_open_one_by_one() -> None:
    drive = Drive()

    assert drive.fill(0.1) == 1
    assert drive.fill(0.15) == 1


def test_replies_open_places_faster_than_time() -> None:
    drive = Drive()
    for _ in range(6):
        drive.fill(0.0)
        drive.now += 0.01
        for _ in range(len(drive.flying)):
            drive.land(DONE)
    assert len(drive.flying) + drive.fill(0.0) >= 64


def test_what_is_given_is_kept_from_the_first_request_on() -> None:
    drive = Drive(Pace(concurrency=9_000, requests_per_minute=600))

    assert drive.fill(60.0) <= 600
    assert drive.fill(60.0) in range(580, 601)


@settings(max_examples=20, deadline=None)
@given(st.floats(1.0, 300.0), st.lists(st.floats(0.0, 20.0), max_size=5))
def test_no_minute_ever_holds_more_than_was_given(per_minute: float, pauses: list[float]) -> None:
    drive = Drive(Pace(concurrency=100_000, requests_per_minute=per_minute))
    sent: list[float] = []
    for pause in [*pauses, 70.0]:
        end = drive.now + pause
        while drive.now < end:
            while drive.send():
                sent.append(drive.now)
            drive.now += max(0.01, drive.governor.due(100.0, drive.now) or 0.0)
        drive.now += 5.0

    most = math.ceil(per_minute)
    assert all(late - early >= 60.0 for early, late in zip(sent, sent[most:], strict=False))


def test_tokens_are_estimated_before_and_corrected_after() -> None:
    drive = Drive(Pace(concurrency=1_000, tokens_per_minute=60_000))
    for _ in range(30):
        drive.fill(1.0)
        while drive.flying:
            drive.land(Message([], "end_turn", Usage(input=400, output=100)))
    before = drive.governor.counts.admitted
    for _ in range(60):
        drive.fill(1.0)
        while drive.flying:
            drive.land(Message([], "end_turn", Usage(input=400, output=100)))

    assert (drive.governor.counts.admitted - before) * 500 == pytest.approx(60_000, rel=0.04)


def test_one_refusal_makes_all_wait_as_long_as_was_asked() -> None:
    drive = Drive()
    drive.fill(0.8)
    drive.land(limited(3.0))

    assert drive.fill(2.99) == 0
    assert drive.fill(1.0) > 0


@pytest.mark.parametrize("said", [0.0, None])
def test_no_wait_said_is_still_a_wait(said: float | None) -> None:
    drive = Drive(Pace(concurrency=1))
    for _ in range(4):
        drive.fill(0.0)
        drive.land(limited(said or None))
        assert drive.fill(0.2) == 0
        drive.fill(60.0)


def test_waits_grow_while_nothing_gets_through() -> None:
    drive = Drive(Pace(concurrency=1))
    waits = []
    for _ in range(12):
        while not drive.send():
            drive.now += 0.05
        drive.land(limited())
        waits.append(drive.governor.due(1.0, drive.now) or 0.0)

    assert 0.25 <= waits[0] <= 0.5
    assert 15.0 <= waits[-1] <= 30.0


def test_after_a_cool_down_places_come_back_one_by_one() -> None:
    drive = Drive(Pace(concurrency=64))
    drive.fill(3.0)
    while drive.flying:
        drive.land(limited(3.0))
    drive.fill(2.9)
    most = max(drive.fill(0.01) for _ in range(200))

    assert most <= 16
    assert len(drive.flying) >= 32


def test_refusals_of_what_was_already_in_the_air_are_one_episode() -> None:
    drive = Drive(Pace(concurrency=64))
    drive.fill(3.0)
    for _ in range(40):
        drive.now += 0.005
        drive.land(OVERLOADED)

    assert drive.governor.counts.episodes == 1
    assert drive.governor.counts.wasted == 40


def test_overload_halves_and_replies_bring_it_back() -> None:
    drive = Drive(Pace(concurrency=64))
    drive.fill(3.0)
    drive.land(OVERLOADED)
    while drive.flying:
        drive.land(DONE)
    drive.fill(5.0)
    assert 25 <= len(drive.flying) <= 34

    for _ in range(40):
        drive.now += 0.1
        for _ in range(len(drive.flying)):
            drive.land(DONE)
        drive.fill(0.0)
    assert len(drive.flying) == 64


def test_one_overload_in_a_hundred_hardly_slows_anything() -> None:
    drive = Drive(Pace(concurrency=64))
    drive.fill(3.0)
    for _ in range(20):
        for _ in range(100):
            drive.land(DONE)
            drive.fill(0.001)
        drive.land(OVERLOADED)
        drive.fill(0.3)

    assert len(drive.flying) > 50


def test_a_named_ceiling_is_run_at_exactly() -> None:
    drive = Drive()
    drive.fill(0.6)
    assert len(drive.flying) > 3
    while len(drive.flying) > 3:
        drive.land(limited(1.0, kind="concurrency", limit=3), index=-1)
    for _ in range(100):
        drive.fill(2.0)
        assert len(drive.flying) == 3
        drive.land(DONE)


def test_a_ceiling_that_nobody_named_is_found_from_what_was_in_the_air() -> None:
    drive = Drive()
    drive.fill(0.5)
    flying = len(drive.flying)
    for _ in range(flying - 3):
        drive.land(limited(), index=-1)
    drive.fill(10.0)

    assert len(drive.flying) == 3
    assert drive.governor.counts.blames == {"ceiling": 1}


def test_above_a_ceiling_one_is_tried_seldom_and_what_is_there_is_taken() -> None:
    drive = Drive()
    drive.fill(0.3)
    while len(drive.flying) > 1:
        drive.land(limited(), index=-1)
    refused = 0
    for _ in range(200):  # the limit is one
        drive.fill(1.0)
        while len(drive.flying) > 1:
            drive.land(limited(), index=-1)
            refused += 1
        drive.land(DONE)
    assert 1 <= refused <= 4

    for _ in range(400):  # the limit is gone
        drive.fill(1.0)
        drive.land(DONE)
    assert len(drive.flying) > 20


def test_a_wait_that_changes_nothing_while_the_same_fly_is_a_ceiling() -> None:
    drive = Drive()
    drive.fill(0.5)
    while len(drive.flying) > 3:
        drive.land(limited(1.0), index=-1)
    assert drive.governor.counts.blames == {"rate": 1}
    drive.fill(3.0)
    while len(drive.flying) > 3:
        drive.land(limited(1.0), index=-1)
    drive.fill(30.0)

    assert len(drive.flying) == 3
    assert drive.governor.window.ceiling == 3


def test_a_fault_of_the_transport_or_a_row_changes_no_limit() -> None:
    drive = Drive(Pace(concurrency=8))
    drive.fill(3.0)
    for reply in (BROKEN, Fault("rejected", Action.ROW, status=400), None):
        drive.land(reply)
        assert drive.fill(0.0) == 1
    assert drive.governor.counts.wasted == 0


def test_no_answer_for_long_is_said_and_an_answer_ends_it() -> None:
    drive = Drive(Pace(concurrency=4, no_progress=900.0))
    assert drive.governor.stalled(5_000.0) is None

    drive.fill(1.0)
    assert drive.governor.stalled(899.0) is None
    assert "no request was answered" in (drive.governor.stalled(900.0) or "")
    drive.now = 1_000.0
    drive.land(BROKEN)
    assert drive.governor.stalled(1_000.0)
    drive.land(DONE)
    assert drive.governor.stalled(1_899.0) is None
    assert drive.governor.stalled(1_900.0)


def test_a_wait_beyond_the_patience_is_said_at_once() -> None:
    drive = Drive(Pace(no_progress=900.0))
    drive.fill(0.1)
    drive.land(limited(86_400.0))

    assert "asks to wait" in (drive.governor.stalled(drive.now) or "")
    drive = Drive(Pace(no_progress=900.0))
    drive.fill(0.1)
    drive.land(limited(600.0))
    assert drive.governor.stalled(drive.now) is None


def test_a_new_run_is_not_blamed_for_the_last_one() -> None:
    drive = Drive()
    drive.fill(0.1)
    drive.land(limited(1.0))
    drive.governor.begin(10_000.0)

    assert drive.governor.stalled(10_000.0) is None


def test_a_clock_that_jumps_opens_no_flood_and_blocks_nothing() -> None:
    drive = Drive(Pace(concurrency=1_000, requests_per_minute=600))
    drive.fill(5.0)
    while drive.flying:
        drive.land(DONE)
    drive.now += 86_400.0
    assert drive.fill(0.0) <= 3
    drive.now -= 50.0  # no clock should, some do
    drive.fill(51.0)
    assert drive.fill(10.0) >= 95


@pytest.mark.parametrize(
    "numbers",
    [
        {"concurrency": 0},
        {"concurrency": 1.5},
        {"requests_per_minute": 0},
        {"tokens_per_minute": -1},
        {"no_progress": 0},
    ],
)
def test_a_pace_is_above_zero(numbers: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        Pace(**numbers)  # type: ignore[arg-type]


def test_a_shared_pace_is_one_governor_an_address_and_key() -> None:
    pace = Pace.shared("nightly", concurrency=8)
    first = governor_for(pace, address="http://one", key="a", now=0.0)

    assert (
        governor_for(Pace.shared("nightly", concurrency=8), address="http://one", key="a", now=9.0) is first
    )
    assert governor_for(pace, address="http://two", key="a", now=0.0) is not first
    assert governor_for(pace, address="http://one", key="b", now=0.0) is not first
    assert governor_for(Pace(), address="http://one", key="a", now=0.0) is not first
    with pytest.raises(ConfigError, match="nightly"):
        governor_for(Pace.shared("nightly", concurrency=9), address="http://one", key="a", now=0.0)


def test_places_that_others_hold_are_waited_for() -> None:
    """Three places, all taken by another program of the account: ours asks seldom, and gets one."""
    drive = Drive()
    refused = 0
    while drive.now < 300.0:
        if drive.send():
            drive.land(limited(1.0, kind="concurrency", limit=3))
            refused += 1
        else:
            drive.now += 0.1
    assert refused < 60
    drive.fill(30.0)
    assert len(drive.flying) == 1


def test_a_named_ceiling_stops_nobody_who_has_a_place() -> None:
    drive = Drive()
    drive.fill(0.6)
    while len(drive.flying) > 3:
        drive.land(limited(60.0, kind="concurrency", limit=3), index=-1)
    drive.now += 1.0
    drive.land(DONE)

    assert drive.fill(0.5) == 1


def test_a_limit_in_a_header_is_the_first_guess() -> None:
    drive = Drive()
    drive.fill(0.5)
    permit = drive.flying.pop()
    headers = {"x-ratelimit-limit-requests": "600", "x-ratelimit-limit-tokens": "many"}
    drive.governor.settle(permit, limited(1.0), drive.now, limits=headers)
    drive.fill(1.2)

    assert drive.governor.rates["requests"].rate == pytest.approx(10.0, rel=0.2)


def test_after_a_cool_down_no_crowd_goes_though_many_places_come_free_at_once() -> None:
    drive = Drive(Pace(concurrency=64))
    drive.fill(2.0)
    drive.land(Fault("overloaded", Action.COOL_DOWN, status=529, retry_after=1.0))
    drive.now += 0.1
    while drive.flying:
        drive.land(DONE)
    went: list[float] = []
    end = drive.now + 4.0
    while drive.now < end and len(went) < 1_000:  # replies come in heaps: each time all places are free
        while drive.send():
            went.append(drive.now)
        while drive.flying:
            drive.land(DONE)
        drive.now += max(0.0005, drive.governor.due(100.0, drive.now) or 0.0)
    assert len(went) > 50
    assert max(sum(at <= other < at + 0.01 for other in went) for at in went) <= 16
