"""Gathers what rows ended as and commits it in batches: durable first, counted after.

A commit costs much the same for few entries as for many, so that it pays to wait for company; never for
long, and for no longer than commits take. Knows nothing of requests, replies or tables.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Entry = TypeVar("Entry")
Commit = Callable[[Sequence[Entry]], Awaitable[None]]


class Committer(Generic[Entry]):
    """Batches entries for one writer. To be made inside a running loop.

    commit: writes a batch and returns when it is durable.
    bound: entries that may be uncommitted at one time; `put` waits beyond it (back-pressure).
    full: so many entries are worth a commit at once.
    pause: seconds that the first entry of a batch waits for company at most.
    patient: whether nothing is lost while an entry waits; then it waits for `leisure` seconds.
    """

    def __init__(
        self,
        commit: Commit[Entry],
        *,
        bound: int,
        full: int,
        pause: float = 0.05,
        leisure: float = 0.25,
        patient: Callable[[], bool] = bool,
    ) -> None:
        self._commit = commit
        self._bound, self._full, self._pause = max(1, bound), max(1, full), pause
        self._leisure, self._patient = leisure, patient
        self._took = 0.0
        self._waiting: list[Entry] = []
        self._uncommitted = 0
        self._failure: BaseException | None = None
        self._closing = False
        self._some, self._enough, self._room = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._landed = asyncio.Event()
        self._task = asyncio.create_task(self._run(), name="committer")

    async def put(self, entry: Entry) -> asyncio.Event:
        """Hands an entry over; waits while too much is uncommitted. `landed` takes what it returns.

        Raises what the writer raised, if it failed.
        """
        while self._uncommitted >= self._bound and not self._failure:
            self._room.clear()
            await self._room.wait()
        if self._failure:
            raise self._failure
        self._uncommitted += 1
        self._waiting.append(entry)
        self._some.set()
        if len(self._waiting) >= self._full:
            self._enough.set()
        return self._landed

    async def landed(self, event: asyncio.Event) -> None:
        """Returns when the entry that `put` gave this event for is durable."""
        await event.wait()
        if self._failure:
            raise self._failure

    async def land(self, entry: Entry) -> None:
        """Hands an entry over and returns when it is durable."""
        await self.landed(await self.put(entry))

    async def close(self) -> None:
        """Commits what is left. Raises what the writer raised, if it failed."""
        self._closing = True
        self._some.set()
        self._enough.set()
        await self._task
        if self._failure:
            raise self._failure

    async def _run(self) -> None:
        landed = self._landed
        try:
            while await self._gather():
                batch, self._waiting = self._waiting, []
                landed, self._landed = self._landed, asyncio.Event()  # who lands now belongs to the next
                began = time.perf_counter()
                await self._commit(batch)
                self._took = time.perf_counter() - began
                self._uncommitted -= len(batch)
                landed.set()
                self._room.set()
        except BaseException as failure:  # told to everyone who waits, and to `close`
            self._failure = failure
            for event in (landed, self._landed, self._room):
                event.set()

    async def _gather(self) -> bool:
        """Waits until there is a batch; False when closed and empty."""
        while not self._waiting and not self._closing:
            self._some.clear()
            await self._some.wait()
        if not self._closing and len(self._waiting) < self._full:
            self._enough.clear()
            pause = self._leisure if self._patient() else min(self._pause, 2 * self._took)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._enough.wait(), pause)
        return bool(self._waiting)
