"""A clock that tests own: hours pass in milliseconds, in the same order every time.

Knows nothing of the engine. Two ways to use it:

- `clock.run(main())` runs a coroutine on a loop whose own time is this clock: whenever nothing is
  left to do, time jumps to the next timer. Exact and repeatable; asyncio.sleep and time-outs
  included. Sockets work, but time does not wait for them beyond `grace`.
- `await clock.sleep(s)` on an ordinary loop (an engine in its own thread, real sockets): time jumps
  once the loop has been quiet for `grace` seconds of real time, or when `advance` is called.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import selectors
import threading
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

T = TypeVar("T")

_GRACE = 0.002


class VirtualClock:
    """A `Clock` that stands still until everything waits for it.

    start: the first value of `now`, in seconds.
    epoch: the first value of `time`, in seconds since 1970.
    grace: real seconds of quiet before time jumps on an ordinary loop; on its own loop, how long
        sockets and threads may take before it jumps there (0: not at all).
    """

    def __init__(self, *, start: float = 0.0, epoch: float = 1_790_000_000.0, grace: float = 0.0) -> None:
        self._now = start
        self._epoch = epoch - start
        self._grace = grace
        self._lock = threading.Lock()
        self._order = itertools.count()
        self._sleepers: list[tuple[float, int, asyncio.AbstractEventLoop, asyncio.Future[None]]] = []

    def now(self) -> float:
        """Virtual seconds."""
        return self._now

    def time(self) -> float:
        """Virtual seconds since 1970."""
        return self._epoch + self._now

    def set_wall(self, seconds: float) -> None:
        """Let the wall clock jump by so many seconds; `now` does not see it."""
        self._epoch += seconds

    def advance(self, seconds: float) -> None:
        """Let time pass; wakes every sleeper that is due. Callable from any thread."""
        with self._lock:
            self._now += seconds
            due = self._pop_due()
        self._wake(due)

    async def sleep(self, seconds: float) -> None:
        """Come back when the clock says so."""
        loop = asyncio.get_running_loop()
        if seconds <= 0 or isinstance(loop, _VirtualLoop):
            await asyncio.sleep(max(0.0, seconds))
            return
        future: asyncio.Future[None] = loop.create_future()
        with self._lock:
            heapq.heappush(self._sleepers, (self._now + seconds, next(self._order), loop, future))
        loop.call_later(self._grace or _GRACE, self._jump_if_quiet, loop)
        await future

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end on a loop of virtual time."""
        with asyncio.Runner(loop_factory=self.loop) as runner:
            return runner.run(main)

    def loop(self) -> asyncio.AbstractEventLoop:
        """A new loop whose time is this clock; a `loop_factory` for asyncio.Runner."""
        return _VirtualLoop(self, self._grace)

    def _jump(self, seconds: float) -> None:
        self._now += seconds

    def _jump_if_quiet(self, loop: asyncio.AbstractEventLoop) -> None:
        if getattr(loop, "_ready", None):
            loop.call_later(self._grace or _GRACE, self._jump_if_quiet, loop)
            return
        with self._lock:
            while self._sleepers and self._sleepers[0][3].done():
                heapq.heappop(self._sleepers)
            if not self._sleepers:
                return
            self._now = max(self._now, self._sleepers[0][0])
            due = self._pop_due()
        self._wake(due)
        if self._sleepers:
            loop.call_later(self._grace or _GRACE, self._jump_if_quiet, loop)

    def _pop_due(self) -> list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]]:
        due = []
        while self._sleepers and self._sleepers[0][0] <= self._now:
            _, _, loop, future = heapq.heappop(self._sleepers)
            due.append((loop, future))
        return due

    @staticmethod
    def _wake(due: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]]) -> None:
        for loop, future in due:
            if not loop.is_closed():
                loop.call_soon_threadsafe(_finish, future)


def _finish(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class _VirtualLoop(asyncio.SelectorEventLoop):
    """A loop that asks the virtual clock for the time; its selector moves that clock."""

    def __init__(self, clock: VirtualClock, grace: float) -> None:
        super().__init__(_JumpingSelector(clock, grace))
        self._virtual = clock

    def time(self) -> float:
        return self._virtual.now()


class _JumpingSelector(selectors.BaseSelector):
    """Asks for input without waiting; when there is none, the time-out has passed at once."""

    def __init__(self, clock: VirtualClock, grace: float) -> None:
        self._real = selectors.DefaultSelector()
        self._clock = clock
        self._grace = grace

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:  # no timer at all: only input or a thread can go on
            return self._real.select(None)
        ready = self._real.select(0)
        if not ready and timeout > 0:
            ready = self._real.select(self._grace) if self._grace else []
            if not ready:
                self._clock._jump(timeout)
        return ready

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.modify(fileobj, events, data)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._real.get_map()

    def close(self) -> None:
        self._real.close()
