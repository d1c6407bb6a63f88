"""Requests or tokens a second: buckets that the user gave, one learned from refusals, no crowd after these.

Knows nothing of how many requests fly, of waiting or of what a refusal says. Whoever calls gives
the time. A cost is 1 for a request, or its tokens.
"""

from __future__ import annotations

import math
from itertools import islice

from extract.bucketfit import Bucket, Span, fit

_USED = 0.975  # of a limit that the user gave
_GIVEN_BURST = 0.05  # seconds' worth that may go at once: timers come late
_LATE = 0.03  # seconds that a request may take longer on its way than another
_SLOT = 0.05  # seconds; the history is kept in slots of this length
_SLOTS = 600
_SPANS = 4
_ENOUGH = 16  # requests that tell something
_MARGIN = 0.985  # of the rate that was found: a bucket that is never quite empty refuses less
_FEW = 4  # requests that tell nothing
_TOO_SOON = 0.93  # the rate that is left when the next refusal comes after few
_RESERVE = 2  # requests that the bucket should have left
_FIRST_HOLD = 0.25
_SPREAD = 5.0  # seconds after a wait that all shared
_GAP = 0.001  # seconds between two requests then
_ABREAST = 2  # requests that may go at the same moment all the same: timers come late


class Spread:
    """Lets no crowd out after a wait that all shared, however many places are free or come free together.

    now: when the wait is over.
    """

    def __init__(self, now: float) -> None:
        self._until, self._next = now + _SPREAD, now

    def wait(self, now: float) -> float:
        """Seconds until the next may go."""
        return 0.0 if now >= self._until else max(0.0, self._next - (_ABREAST - 1) * _GAP - now)

    def take(self, now: float) -> None:
        """One goes."""
        self._next = max(now, self._next) + _GAP


class GivenRate:
    """A limit per minute that the user gave: spent evenly, never above it in any minute or any second.

    A second's share is the limit / 60, rounded up. Both hold where requests arrive as well, as long as none
    takes `_LATE` seconds longer on its way than another.
    """

    def __init__(self, per_minute: float, now: float) -> None:
        self._limit, self._share = per_minute, math.ceil(per_minute / 60)
        self._rate = per_minute / 60 * _USED
        self._burst = 1.0 + self._rate * _GIVEN_BURST
        self._level = self._burst
        self._at = now
        self._second, self._minute = _Window(1.0), _Window(60.0)

    def wait(self, cost: float, now: float) -> float:
        """Seconds until so much may go. What is larger than all goes when nothing else does."""
        self._refill(now)
        paced = (min(cost, self._burst) - self._level) / self._rate
        second = self._second.wait(self._share - 1, now)
        return max(0.0, paced, second, self._minute.wait(max(0.0, self._limit - cost), now))

    def take(self, cost: float, now: float) -> None:
        """So much goes. The level may fall below zero: what was used counts, not what was planned."""
        self._refill(now)
        self._level -= cost
        self._count(cost, now)

    def postpone(self, cost: float, at: float, now: float) -> None:
        """What was taken at that time goes only now."""
        self._count(-cost, at)
        self._count(cost, now)

    def correct(self, amount: float, at: float) -> None:
        """Gives back what was taken too much at that time; a negative amount takes what was missing."""
        self._level = min(self._burst, self._level + amount)
        self._count(-amount, at)

    def drain(self, now: float) -> None:
        """The server says that nothing is left."""
        self._refill(now)
        self._level = min(self._level, 0.0)

    def _refill(self, now: float) -> None:
        self._level = min(self._burst, self._level + max(0.0, now - self._at) * self._rate)
        self._at = max(self._at, now)

    def _count(self, cost: float, at: float) -> None:
        self._second.add(cost, at)
        self._minute.add(cost, at)


class _Window:
    """How much went within the last so many seconds, in slots of a thousandth of them."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._slot = seconds + _LATE, seconds / 1_000
        self._taken: dict[int, float] = {}  # by slot, the oldest first
        self._sum = 0.0
        self._gone = -math.inf  # the last slot that does not count any more

    def add(self, amount: float, at: float) -> None:
        """So much went then; negative: did not go. Of what is over, nothing is known."""
        slot = math.floor(at / self._slot)
        if slot <= self._gone:
            return
        self._taken[slot] = self._taken.get(slot, 0.0) + amount
        self._sum += amount

    def wait(self, most: float, now: float) -> float:
        """Seconds until no more than that counts."""
        self._forget(now)
        left, wait = self._sum, 0.0
        for slot, amount in self._taken.items():
            if left <= most:
                break
            left -= amount
            wait = self._end(slot) - now
        return wait

    def _forget(self, now: float) -> None:
        while self._taken and self._end(slot := next(iter(self._taken))) <= now:
            self._gone = slot
            self._sum -= self._taken.pop(slot)
        if not self._taken:
            self._sum = 0.0

    def _end(self, slot: int) -> float:
        """When the last of the slot does not count any more."""
        return (slot + 1) * self._slot + self._seconds


class LearnedRate:
    """The bucket that a server keeps, as far as its refusals tell.

    At a refusal the bucket is empty; from one to the next, what was taken tells its rate and how
    much it saves up (`bucketfit`). What a wait saved up is spent at up to twice the rate. Without
    refusals the rate is raised: first hardly, then faster and faster, so that a limit that was
    lifted is found within seconds; the rarer, the more often the same rate was found.
    """

    def __init__(self, now: float) -> None:
        self.rate = math.inf
        self.bucket: Bucket | None = None
        self._spans: list[Span] = []
        self._taken: dict[int, float] = {}  # by slot, since `_since`
        self._since = now
        self._refused_at: float | None = None
        self._level = 0.0
        self._at = self._next = now
        self._mean = 1.0  # cost of one
        self._pressed = False  # somebody waited for this rate, not for a place
        self._pressure = 0.0  # seconds of that
        self._hold = _FIRST_HOLD
        self._told: float | None = None

    def wait(self, cost: float, now: float) -> float:
        """Seconds until the next may go."""
        wait = max(0.0, self._next - now)
        self._pressed = self._pressed or wait > 0
        return wait

    def take(self, cost: float, now: float) -> None:
        """So much goes."""
        self._mean += (cost - self._mean) / _ENOUGH
        slot = math.floor(now / _SLOT)
        if slot in self._taken:
            self._taken[slot] += cost
        else:
            self._taken[slot] = cost
            if len(self._taken) > _SLOTS:
                self._forget()
        if self.bucket is None:
            return
        passed = max(0.0, now - self._at)
        self._at = max(self._at, now)
        self._level = min(self.bucket.burst, self._level + passed * self.bucket.rate) - cost
        self._grow(min(passed, 0.25))
        self._next = max(now, self._next) + cost / (self.rate * self._haste())

    def give_back(self, cost: float, at: float) -> None:
        """So much, taken then, was refused or not used; a negative cost was used beyond what was taken."""
        slot = math.floor(at / _SLOT)
        if slot in self._taken:
            self._taken[slot] = max(0.0, self._taken[slot] - cost)
            self._level += cost

    def refused(self, at: float) -> None:
        """A request that went then found the bucket empty: the first after a time without."""
        self._refused_at = max(at, self._since)

    def told(self, per_minute: float) -> None:
        """The server named its limit: the first guess. What is measured later goes before it."""
        self._told = per_minute

    def dismiss(self) -> None:
        """The refusal was about something else, and so was a first guess."""
        self._refused_at = None
        if len(self._spans) == 1:
            self._spans, self.bucket, self.rate = [], None, math.inf

    def resume(self, now: float) -> None:
        """The wait is over: learns from the refusal before it, if there was one."""
        if self._refused_at is None:
            return
        end, self._refused_at = self._refused_at, None
        span = self._span(end)
        if self.bucket is not None and span.amount < _FEW * self._mean:
            self.bucket = Bucket(self.bucket.rate * _TOO_SOON, self.bucket.burst)
            self.rate = self.bucket.rate  # too little to measure: it goes on into the next span
        elif span.amount > 0:
            self._learn(span, waited=now - end)
            self._since, self._taken = end, {}
        self._at = self._next = now
        self._pressed, self._pressure = False, 0.0
        if self.bucket is not None:
            self._level = min(self.bucket.burst, self.bucket.rate * (now - end))
            self._next += max(0.0, self._mean - self._level) / self.bucket.rate

    def _span(self, end: float) -> Span:
        middle = ((slot + 0.5) * _SLOT for slot in self._taken)
        taken = zip(middle, self._taken.values(), strict=True)
        inside = [(min(max(at, self._since), end), cost) for at, cost in taken if cost > 0]
        return Span(self._since, end, inside, full=not self._spans)

    def _learn(self, span: Span, *, waited: float) -> None:
        before = self.bucket
        enough = 2 * _ENOUGH * self._mean
        self._spans.append(span)
        while len(self._spans) > _SPANS and sum(span.amount for span in self._spans[-_SPANS:]) > enough:
            del self._spans[0]
        del self._spans[:-_SLOTS]
        depth = before.burst / before.rate if before else max(1.0, waited)
        if before is None and self._told is not None:
            self.bucket = Bucket(self._told / 60, self._told)
        else:
            self.bucket = fit(self._spans, grain=self._mean, slot=_SLOT, depth=depth)
        self.rate = self.bucket.rate * (_MARGIN if before else 1.0)
        if before is None:
            return
        steady = 0.9 < self.bucket.rate / before.rate < 1.1
        lost = max(0.0, waited - self.bucket.burst / self.bucket.rate)
        sure = min(1.0, len(self._spans) / _SPANS)
        self._hold = max(min(self._hold * 2, 8.0) if steady else 1.0, 20 * sure * lost / self._unit())

    def _forget(self) -> None:
        """A history without refusals says little: its older half goes."""
        for slot in list(islice(self._taken, _SLOTS // 2)):
            del self._taken[slot]
        self._since = max(self._since, next(iter(self._taken)) * _SLOT)

    def _haste(self) -> float:
        """Up to twice the rate while much is saved up, a little less than it while nothing is."""
        assert self.bucket is not None
        reserve = min(_RESERVE * self._mean, self.bucket.burst / 2)
        spare = self._level - reserve
        if spare < 0:
            return max(0.9, 1.0 + 0.1 * spare / reserve)
        return 1.0 + min(1.0, spare / (self.rate * self._unit()))

    def _unit(self) -> float:
        """Seconds in which enough requests go to tell anything."""
        rate = self.rate if self.bucket is None else self.bucket.rate
        return max(1.0, _ENOUGH * self._mean / rate)

    def _grow(self, passed: float) -> None:
        if not self._pressed or self.bucket is None:
            return
        self._pressed = False
        self._pressure += passed
        if len(self._spans) == 1:  # the first figure is a guess: soon up to the next refusal
            exponent = 4.0 * max(0.0, self._pressure - self._hold)
        else:
            exponent = 0.1 * max(0.0, self._pressure / self._unit() - self._hold) ** 2
        margin = 1.0 if len(self._spans) == 1 else _MARGIN
        self.rate = self.bucket.rate * margin * math.exp(min(exponent, 20.0))
