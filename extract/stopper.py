"""The one switch that ends a run early, and the bell for everyone who waits.

Knows nothing of why a run stops.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from extract.breaker import Stop


class Stopper:
    """Call it with a `Stop` to end the run; the first one stands. To be made inside the loop."""

    def __init__(self) -> None:
        self.stop: Stop | None = None
        self._stopped = asyncio.Event()
        self._bell = asyncio.Event()
        self._listening = 0

    def __call__(self, stop: Stop | None) -> None:
        if stop is not None and self.stop is None:
            self.stop = stop
            self._stopped.set()
            self.changed()

    @property
    def stopping(self) -> bool:
        """Whether no new request may be sent."""
        return self.stop is not None

    def changed(self) -> None:
        """Something that rows wait for has changed: they look again."""
        if self._listening:
            self._bell.set()
            self._bell, self._listening = asyncio.Event(), 0

    async def next_change(self, timer: Coroutine[Any, Any, None] | None = None) -> None:
        """Waits for the next change or stop, or until the timer ends."""
        self._listening += 1
        if timer is None:
            await self._bell.wait()
        else:
            await _first(timer, self._bell.wait())

    async def first(self, timer: Coroutine[Any, Any, None]) -> None:
        """Waits until the timer ends or the run stops."""
        await _first(timer, self._stopped.wait())


async def _first(*waits: Coroutine[Any, Any, Any]) -> None:
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
