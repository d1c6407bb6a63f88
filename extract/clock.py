"""What time it is, and waiting: the one place that the rest gets its time from.

Knows nothing of rows, requests or limits. Two clocks in one: `now` for lengths of time (it never
jumps with the wall clock), `time` for dates that are written down.
"""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Time as the engine sees it; tests put their own in its place."""

    def now(self) -> float:
        """Seconds on a clock that only goes forward; its zero means nothing."""
        ...

    def time(self) -> float:
        """Seconds since 1970, for what is written down."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Come back after so many seconds of `now`; at once when not above zero."""
        ...


class SystemClock:
    """The machine's own clock."""

    now = staticmethod(time.monotonic)  # also the clock of asyncio's loops
    time = staticmethod(time.time)

    async def sleep(self, seconds: float) -> None:
        """`asyncio.sleep`."""
        await asyncio.sleep(max(0.0, seconds))
