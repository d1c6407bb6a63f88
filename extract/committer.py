"""Gathers what rows ended as and commits it in batches: durable first, counted after.

A commit costs much the same for few entries as for many, so that it pays to wait for company. An entry that
is safe already, since the journal has it, waits so long that commits take a small part of the time; one that
somebody waits for goes soon. Knows nothing of requests, replies or tables.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Entry = TypeVar("Entry")
Commit = Callable[[Sequence[Entry]], Awaitable[None]]

_ROOM = 2  # batches that may be uncommitted at one time
_SHARE = 50  # a batch waits so many times as long as the last commit took
_LONGEST = 0.5  # seconds
_SHARE_AWAITED, _LONGEST_AWAITED = 2, 0.05  # the same while somebody waits


class Committer(Generic[Entry]):
    """Batches entries for one writer. To be made inside a running loop.

    commit: writes a batch and returns when it is durable.
    full: so many entries are worth a commit at once; `put` waits while twice as many are uncommitted.
    crowd: so many that somebody waits for are worth one, too.
    """

    def __init__(self, commit: Commit[Entry], *, full: int, crowd: int) -> None:
        self._commit = commit
        self._full, self._crowd = max(1, full), max(1, crowd)
        self._took = 0.0
        self._waiting: list[Entry] = []
        self._awaited = 0  # of those that wait
        self._uncommitted = 0
        self._failure: BaseException | None = None
        self._closing = False
        self._some, self._enough, self._room = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._landed = asyncio.Event()
        self._task = asyncio.create_task(self._run(), name="committer")

    async def put(self, entry: Entry) -> None:
        """Hands an entry over; waits while too much is uncommitted.

        Raises what the writer raised, if it failed.
        """
        while self._uncommitted >= _ROOM * self._full and not self._failure:
            self._room.clear()
            await self._room.wait()
        if self._failure:
            raise self._failure
        self._uncommitted += 1
        self._waiting.append(entry)
        self._some.set()
        if len(self._waiting) >= self._full:
            self._enough.set()

    async def land(self, entry: Entry) -> None:
        """Hands an entry over and returns when it is durable."""
        await self.put(entry)
        self._awaited += 1
        if self._awaited == 1 or self._awaited >= self._crowd:
            self._enough.set()  # the first one ends the long wait, and `_gather` begins a short one
        await self._landed.wait()
        if self._failure:
            raise self._failure

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
                batch, self._waiting, self._awaited = self._waiting, [], 0
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
        if not self._awaited:
            await self._pause(min(_LONGEST, _SHARE * self._took))
        if self._awaited:
            await self._pause(min(_LONGEST_AWAITED, _SHARE_AWAITED * self._took))
        return bool(self._waiting)

    async def _pause(self, seconds: float) -> None:
        if self._closing or len(self._waiting) >= self._full or self._awaited >= self._crowd:
            return
        self._enough.clear()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._enough.wait(), seconds)
