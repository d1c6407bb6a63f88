"""Time-outs for many tries at a time, with one timer of the event loop.

`asyncio.timeout` arms and disarms a timer for each: of a thousand tries hardly one needs it. Knows nothing
of what is tried, nor why it may take so long.
"""

from __future__ import annotations

import asyncio
from math import inf
from types import TracebackType


class Deadlines:
    """Ends tries whose time is over. To be made inside the loop that they run in."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.now = self.loop.time  # seconds of the clock that deadlines go by
        self.open: set[Deadline] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._rings_at = inf  # when the timer rings: no deadline is before

    def ring(self, at: float) -> None:
        """The timer has to look sooner than it would."""
        if at >= self._rings_at:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._rings_at = at
        self._timer = self.loop.call_at(at, self._look)

    def close(self) -> None:
        """Lets the timer go."""
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        due, self._rings_at = self._rings_at, inf
        for deadline in [one for one in self.open if one.end <= due]:
            self.open.discard(deadline)
            deadline.expire()
        if self.open:
            self.ring(min(one.end for one in self.open))


class Deadline:
    """`with Deadline(deadlines, end):` raises TimeoutError where the block is not over by then.

    As `asyncio.timeout_at`. end: seconds of the loop's clock; may be moved in the block.
    """

    __slots__ = ("_cancelling", "_deadlines", "_expired", "_task", "end")

    def __init__(self, deadlines: Deadlines, end: float) -> None:
        self._deadlines = deadlines
        self._expired = False
        self.end = end

    def move(self, end: float) -> None:
        """Another end."""
        self.end = end
        self._deadlines.ring(end)

    def expire(self) -> None:
        """The time is over."""
        self._expired = True
        self._task.cancel()

    def __enter__(self) -> Deadline:
        task = asyncio.current_task(self._deadlines.loop)
        assert task is not None
        self._task, self._cancelling = task, task.cancelling()
        self._deadlines.open.add(self)
        self._deadlines.ring(self.end)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._deadlines.open.discard(self)
        if self._expired and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error
