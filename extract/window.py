"""How many requests may fly at once: fast start, a ceiling where the service has one, cuts.

Knows nothing of rates, waiting or what a reply says. Whoever calls gives the time.
"""

from __future__ import annotations

import math

_GROWTH = 4.6  # a second: doubles every 0.15 s until the first refusal
_SPEED = 1_000.0  # places a second that time alone may open, so that a refusal is heard in between
_RELEASE = 0.5  # seconds in which the places come back after a cool-down
_PROBE_AFTER = 40  # replies under a ceiling until one more is tried; doubles when it is refused
_PROBE_SELDOM = 160  # never more seldom than this many, or two rounds of replies
_LATE = 0.005  # seconds that a timer may come too late
_HAIR = 1e-6  # so that a sum of fractions reaches the whole number that it means


class Window:
    """The number of places.

    cap: never more than that.
    size: places now; grows with replies, and in the fast start with time as well.
    ceiling: what the service allows at once, once it is known.
    """

    def __init__(self, cap: int, now: float) -> None:
        self.cap = float(cap)
        self.size = 1.0
        self.ceiling = math.inf
        self.places = 1  # now, a whole number, at least one
        self.held = 0  # replies since the ceiling was set
        self._goal = math.inf  # where growth by time ends
        self._step = 1.0  # places that a round of replies adds beyond the goal
        self._at = now
        self._blocked = False
        self._probing = False
        self._probe_after = _PROBE_AFTER
        self._until_probe = _PROBE_AFTER
        self._stride = 1

    def room(self, in_flight: int, now: float) -> bool:
        """Whether one more may go."""
        if self._blocked and self.size < self._goal:
            self._grow(now)
        elif now > self._at:
            self._at = now
        free = in_flight < self.places or self._probe_due(in_flight)
        self._blocked = not free
        return free

    def due(self, now: float) -> float | None:
        """Seconds until time alone opens a place; None when only a reply can."""
        limit = min(self._goal, self.cap, self.ceiling)
        if self.places >= math.floor(limit):
            return None
        return max(0.0, (self.places + 1 - self.size) / self._speed() - (now - self._at))

    def is_probe(self, in_flight: int) -> bool:
        """Whether the request that goes now is the one above the ceiling. Asked once for each."""
        if in_flight < self.places or not self._probe_due(in_flight):
            return False
        self._probing = True
        return True

    def on_reply(self, *, probe: bool) -> None:
        """A request was worked on: one more place, or in time one, where places are what is missing."""
        self.held += 1
        self._until_probe -= 1
        if probe:
            self._raise_ceiling()
        if self._blocked:
            fast = self.size < self._goal
            self._resize(self.size + (1.0 if fast else self._step / self.size))

    def on_gone(self, *, probe: bool) -> None:
        """A request ended and told nothing about places."""
        self._probing = self._probing and not probe

    def refuse_probe(self) -> None:
        """One above the ceiling was refused: the next try comes after twice as many replies."""
        self._probing = False
        self._stride = 1
        self._probe_after = min(2 * self._probe_after, _PROBE_SELDOM)
        self._until_probe = self._replies_to_probe()

    def set_ceiling(self, places: int, *, named: bool = False) -> None:
        """The service allows so many at once."""
        if places != self.ceiling:
            self.held = 0
        self._set_ceiling(float(max(1, places)))
        self._stride = 1
        self._probe_after = _PROBE_SELDOM if named else self._probe_after
        self._until_probe = self._replies_to_probe()
        self._goal = max(self._goal, self.ceiling)

    def drop_ceiling(self) -> None:
        """The refusals were no ceiling after all."""
        self._set_ceiling(math.inf)

    def cut(self, places: float) -> None:
        """Overload: down to so many places, then back a little with each round of replies."""
        self._step = max(1.0, places / 8)
        self._goal = max(1.0, places)

    def restart(self, in_flight: int, now: float) -> None:
        """A cool-down is over: the places come back one by one, not at once."""
        self._at = now
        self._resize(min(float(in_flight), self._goal))

    def _replies_to_probe(self) -> int:
        return max(self._probe_after, 2 * int(self.ceiling))

    def _probe_due(self, in_flight: int) -> bool:
        above = in_flight == self.ceiling and in_flight < self.cap
        return above and self._until_probe <= 0 and not self._probing

    def _raise_ceiling(self) -> None:
        self._probing = False
        self._set_ceiling(self.ceiling + self._stride)
        self._stride *= 2
        self._until_probe = 0

    def _grow(self, now: float) -> None:
        passed = max(0.0, min(now - self._at, 0.25))
        self._at = max(self._at, now)
        speed = self._speed()
        # where this program is slower than its timers, time alone must not pile up requests
        most = self.places + 1 - self.size + _LATE * speed
        self._resize(min(self._goal, self.size + min(passed * speed, most)))

    def _resize(self, size: float) -> None:
        self.size = max(1.0, min(size, self.cap, self.ceiling))
        self._count_places()

    def _set_ceiling(self, places: float) -> None:
        self.ceiling = places
        self._count_places()

    def _count_places(self) -> None:
        self.places = max(1, math.floor(min(self.size, self.cap, self.ceiling) + _HAIR))

    def _speed(self) -> float:
        known = min(self._goal, self.ceiling)
        release = 0.0 if known == math.inf else known / _RELEASE
        return min(max(_GROWTH * self.size, release), _SPEED)
