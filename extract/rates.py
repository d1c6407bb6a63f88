"""Requests or tokens a second: buckets that the user gave, and one that is learned from refusals.

Knows nothing of how many requests fly, of waiting or of what a refusal says. Whoever calls gives
the time. A cost is 1 for a request, or its tokens.
"""

from __future__ import annotations

import math

_GIVEN_BURST = 0.25  # seconds' worth that may go at once under a limit that the user gave
_FAR = 1e12
_ENOUGH = 16  # requests that tell something


class Bucket:
    """A limit per minute that the user gave: spent evenly, and never more than that in any minute."""

    def __init__(self, per_minute: float, now: float) -> None:
        self._burst = max(1.0, per_minute / 60 * _GIVEN_BURST)
        self._rate = (per_minute - (self._burst - 1)) / 60
        self._level = self._burst
        self._at = now

    def wait(self, cost: float, now: float) -> float:
        """Seconds until so much may go. What is larger than the bucket goes when it is full."""
        self._refill(now)
        return max(0.0, (min(cost, self._burst) - self._level) / self._rate)

    def take(self, cost: float, now: float) -> None:
        """So much goes. The level may fall below zero: what was used counts, not what was planned."""
        self._refill(now)
        self._level -= cost

    def correct(self, amount: float) -> None:
        """Gives back what was taken too much; a negative amount takes what was missing."""
        self._level = min(self._burst, self._level + amount)

    def drain(self, now: float) -> None:
        """The server says that nothing is left."""
        self._refill(now)
        self._level = min(self._level, 0.0)

    def _refill(self, now: float) -> None:
        self._level = min(self._burst, self._level + max(0.0, now - self._at) * self._rate)
        self._at = max(self._at, now)


class LearnedRate:
    """The bucket that a server keeps, as far as its refusals tell.

    Between two refusals the bucket went from empty to empty, so what was taken in between, divided
    by the time, is its rate. What a wait saved up is spent again at up to twice the rate; when that
    is refused early, the bucket is smaller than that. Without refusals the rate is raised: first
    hardly, then faster and faster, so that a limit that was lifted is found within seconds.
    """

    def __init__(self, now: float) -> None:
        self.rate = math.inf
        self._base = math.inf
        self._burst = _FAR  # the most that a wait can save up
        self._since = now  # the bucket was empty then; before the first refusal: the start
        self._spent = 0.0  # taken since
        self._refused_at: float | None = None
        self._resumed_at = now
        self._granted = 0.0
        self._level = 0.0
        self._level_left = 0.0
        self._at = now
        self._next = now
        self._pressed = False
        self._pressure = 0.0  # seconds of growth
        self._hold = 0.25
        self._mean = 1.0  # cost of one
        self._rounds = 0

    @property
    def known(self) -> bool:
        """Whether there was a refusal to learn from."""
        return self.rate < math.inf

    @property
    def pending(self) -> bool:
        """Whether a refusal waits to be learned from."""
        return self._refused_at is not None

    def wait(self, now: float) -> float:
        """Seconds until the next may go."""
        wait = max(0.0, self._next - now)
        self._pressed = self._pressed or wait > 0
        return wait

    def take(self, cost: float, now: float) -> None:
        """So much goes."""
        self._spent += cost
        self._mean += (cost - self._mean) / 16
        if not self.known:
            return
        passed = max(0.0, now - self._at)
        self._at = max(self._at, now)
        self._level = min(self._burst, self._level + passed * self.rate) - cost
        self._grow(min(passed, self._unit() / 4))
        ahead = 1.0 + min(1.0, max(0.0, self._level) / (self.rate * self._unit()))
        self._next = max(now, self._next) + cost / (self.rate * ahead)

    def give_back(self, cost: float) -> None:
        """So much was refused: it was not taken."""
        self._spent -= cost
        self._level += cost

    def correct(self, amount: float) -> None:
        """Less (or, negative, more) was used than was taken."""
        self._spent -= amount
        self._level += amount

    def refused(self, now: float) -> None:
        """The bucket is empty: the first refusal after a time without."""
        self._refused_at = now
        self._level_left = self._level

    def resume(self, now: float) -> None:
        """The wait is over; learns from what came before it."""
        refused_at = now if self._refused_at is None else self._refused_at
        waited = now - refused_at
        self._learn(refused_at, waited)
        self._since, self._refused_at, self._spent = refused_at, None, 0.0
        self._resumed_at = self._at = self._next = now
        self._granted = self._level = min(self._burst, self.rate * waited) if self.known else 0.0
        self._pressed, self._pressure = False, 0.0

    def _learn(self, refused_at: float, waited: float) -> None:
        span = refused_at - self._since
        if self._rounds == 0:
            if self._spent > 0:
                self._set(self._spent / (span + max(waited, 1.0)))
                self._rounds = 1
            return
        self._rounds += 1
        idle = self._resumed_at - self._since
        if self._rounds > 2 and self._level_left > self._granted / 2 > self._mean:
            self._burst = max(0.0, self._granted - self._level_left)
            self._set(self._base * 0.97)
            return
        before, reached = self._base, self.rate
        self._set(self._blend(self._measure(span, idle), reached))
        steady = self._rounds > 2 and 0.9 < self._base / before < 1.1
        lost = max(0.0, idle - self._burst / self._base)
        self._hold = max(min(self._hold * 2, 8.0) if steady else 1.0, 20 * lost / self._unit())

    def _measure(self, span: float, idle: float) -> float:
        """What was taken from empty to empty, but for what the wait did not save up."""
        saved = self._base * idle
        if self._burst >= saved:
            return self._spent / max(span, 1e-3)
        return max(0.0, self._spent - self._burst) / max(span - idle, 1e-3)

    def _blend(self, measured: float, reached: float) -> float:
        """The truth is at least what was measured and at most the rate that was refused."""
        if self._spent <= 0:
            return self._base * 0.7
        trust = self._spent / (self._spent + 8 * self._mean)
        likely = measured * 0.99 if reached < 1.1 * measured else math.sqrt(measured * reached)
        return trust * likely + (1 - trust) * min(self._base, reached) * 0.85

    def _set(self, rate: float) -> None:
        self._base = self.rate = max(rate, 1e-6)

    def _unit(self) -> float:
        """Seconds in which enough requests go to tell anything."""
        return max(1.0, _ENOUGH * self._mean / self._base)

    def _grow(self, passed: float) -> None:
        if not self._pressed:
            return
        self._pressed = False
        self._pressure += passed
        units = max(0.0, self._pressure / self._unit() - self._hold)
        exponent = 2.0 * units if self._rounds == 1 else 0.1 * units * units
        self.rate = self._base * math.exp(min(exponent, 20.0))
