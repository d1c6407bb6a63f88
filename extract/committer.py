"""Gathers what rows ended as and commits it in batches: durable first, counted after.

At most `bound` entries wait for their commit, so that a killed process repeats no more than the rows
in flight and as many again. Knows nothing of requests, replies or tables.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Entry = TypeVar("Entry")
Commit = Callable[[Sequence[Entry]], Awaitable[None]]


class Committer(Generic[Entry]):
    """Batches entries for one writer. To be made inside a running loop.

    commit: writes a batch and returns when it is durable.
    bound: entries that may be uncommitted at one time; `put` waits beyond it (back-pressure). A number,
        or what tells it.
    pause: seconds that the first entry of a batch waits for company.
    """

    def __init__(self, commit: Commit[Entry], *, bound: int | Callable[[], int], pause: float = 0.1) -> None:
        self._commit = commit
        self._bound = bound if callable(bound) else lambda: bound
        self._pause = pause
        self._waiting: list[Entry] = []
        self._uncommitted = 0
        self._failure: BaseException | None = None
        self._closing = False
        self._some, self._enough, self._room = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._task = asyncio.create_task(self._run(), name="committer")

    async def put(self, entry: Entry) -> None:
        """Hands an entry over; waits while too much is uncommitted.

        Raises what the writer raised, if it failed.
        """
        while self._uncommitted >= (bound := max(1, self._bound())) and not self._failure:
            self._room.clear()
            await self._room.wait()
        if self._failure:
            raise self._failure
        self._uncommitted += 1
        self._waiting.append(entry)
        self._some.set()
        if self._is_full(bound):
            self._enough.set()

    async def close(self) -> None:
        """Commits what is left. Raises what the writer raised, if it failed."""
        self._closing = True
        self._some.set()
        self._enough.set()
        await self._task
        if self._failure:
            raise self._failure

    def _is_full(self, bound: int) -> bool:
        """A commit costs much the same for few and for many; a third is left for what comes meanwhile."""
        return len(self._waiting) * 3 >= bound * 2

    async def _run(self) -> None:
        try:
            while await self._gather():
                batch, self._waiting = self._waiting, []
                await self._commit(batch)
                self._uncommitted -= len(batch)
                self._room.set()
        except BaseException as failure:  # told to everyone who waits, and to `close`
            self._failure = failure
            self._room.set()

    async def _gather(self) -> bool:
        """Waits until there is a batch; False when closed and empty."""
        while not self._waiting and not self._closing:
            self._some.clear()
            await self._some.wait()
        if not self._closing and not self._is_full(max(1, self._bound())):
            self._enough.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._enough.wait(), self._pause)
        return bool(self._waiting)
