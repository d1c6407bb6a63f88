"""The limits of an account: requests, tokens, how many at once, the balance.

Words of the 429 are those of the model's maker. Knows the clock it is given, and nothing of HTTP.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from extract.testing.endpoint.faults import Problem
from extract.testing.endpoint.knobs import Knobs


class Bucket:
    """A token bucket: `rate` a second, at most `size` at once."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._level: float | None = None
        self._at = 0.0

    def take(self, amount: float, rate: float, size: float) -> float:
        """Take some, or say after how many seconds it would be there."""
        now = self._now()
        level = size if self._level is None else min(size, self._level + (now - self._at) * rate)
        self._at = now
        need = min(amount, size)  # more than the bucket holds empties it
        taken = level >= need
        self._level = level - amount if taken else level
        return 0.0 if taken else (need - level) / rate

    @property
    def level(self) -> float | None:
        """What was left at the last look; None before the first."""
        return self._level

    def clear(self) -> None:
        """Full again."""
        self._level = None


class Limits:
    """All limits of one account."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._requests = Bucket(now)
        self._tokens = Bucket(now)
        self.in_flight = 0
        self.served = 0

    def refuse(self, knobs: Knobs) -> Problem | None:
        """Why this request is not taken, or None. Counts it when it is."""
        if knobs.revoke and self.served >= knobs.revoke:
            return Problem(401, "authentication_error", "the key was revoked")
        if knobs.quota and self.served >= knobs.quota:
            said = "You exceeded your current quota: your account is suspended due to insufficient balance"
            return Problem(429, "exceeded_current_quota_error", said)
        if knobs.concurrency and self.in_flight > knobs.concurrency:
            return _reached(f"max organization concurrency: {knobs.concurrency}", 1.0)
        if knobs.rate:
            wait = self._requests.take(1, knobs.rate, knobs.burst or max(1.0, knobs.rate))
            if wait:
                return _reached(f"organization max RPM: {round(knobs.rate * 60)}", wait)
        self.served += 1
        return None

    def refuse_tokens(self, knobs: Knobs, tokens: int) -> Problem | None:
        """The same for tokens, once they are counted."""
        limit = knobs.tokens_per_minute
        wait = self._tokens.take(tokens, limit / 60, limit) if limit else 0.0
        return _reached(f"organization max TPM: {limit}", wait) if wait else None

    def headers(self, knobs: Knobs) -> dict[str, str]:
        """What the service tells of its limit of requests, where there is one."""
        level = self._requests.level
        if not knobs.rate or level is None:
            return {}
        size = knobs.burst or max(1.0, knobs.rate)
        return {
            "x-ratelimit-limit": str(round(knobs.rate * 60)),
            "x-ratelimit-remaining": str(int(level)),
            "x-ratelimit-reset": f"{(size - level) / knobs.rate:.3f}",
        }

    def clear(self) -> None:
        """As at the start; what flies still flies."""
        self._requests.clear()
        self._tokens.clear()
        self.served = 0


def _reached(limit: str, wait: float) -> Problem:
    said = f"Your account reached {limit}, please try again after {math.ceil(wait)} seconds"
    return Problem(429, "rate_limit_reached_error", said, retry_after=wait)
