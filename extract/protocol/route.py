"""Which of two addresses to use now.

The main one, as long as it answers. The fallback takes over when the main one cannot be connected
to, or answers only 5xx; after a while one request tries the main one again. Pure: whoever asks
brings the time. Knows nothing of requests.
"""

from __future__ import annotations

from dataclasses import dataclass

STORM = 5  # 5xx in a row, without an answer between, that make an address one to leave
FIRST_PAUSE = 60.0  # seconds before the main address is tried again; doubled each time it fails
LONGEST_PAUSE = 600.0


@dataclass(slots=True)
class Route:
    """The state of one run's addresses. fallback: None where there is none, then nothing changes."""

    main: str
    fallback: str | None = None
    _away_until: float | None = None
    _pause: float = FIRST_PAUSE
    _storm: int = 0
    _probing: bool = False

    @property
    def leading(self) -> str:
        """The address that requests go to, but for the one that tries the main one again."""
        return self.main if self._away_until is None or self.fallback is None else self.fallback

    def choose(self, now: float) -> str:
        """The address for the next request."""
        if self._away_until is None or self.fallback is None:
            return self.main
        if now >= self._away_until and not self._probing:
            self._probing = True  # one request tries; the others stay where it works
            return self.main
        return self.fallback

    def answered(self, address: str) -> None:
        """The address gave an answer other than a 5xx."""
        if address == self.main:
            self._away_until, self._pause, self._storm, self._probing = None, FIRST_PAUSE, 0, False

    def failed(self, address: str, now: float, *, connected: bool) -> None:
        """The address gave a 5xx or, where not `connected`, could not be reached."""
        if self.fallback is None:
            return
        if address == self.fallback:
            if not connected:
                self._away_until = now if self._away_until is not None else None  # both fail: take turns
            return
        self._storm += 1
        if self._probing:
            self._pause = min(self._pause * 2, LONGEST_PAUSE)
            self._leave(now)
        elif self._away_until is None and (not connected or self._storm >= STORM):
            self._leave(now)

    def abandoned(self, address: str) -> None:
        """The request was cancelled and says nothing about its address."""
        if address == self.main:
            self._probing = False

    def _leave(self, now: float) -> None:
        self._away_until = now + self._pause
        self._storm, self._probing = 0, False
