"""What serves all workers of a Ray dataset: the hub, which says who may send, and the writer of the store.

Plain classes that Ray makes actors of. Knows nothing of blocks, datasets or how rows are answered.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any

from extract.budget import Purse
from extract.errors import StoreLockedError
from extract.governor import Governor
from extract.integrations.hub import Granted, Hub, Words
from extract.integrations.leases import Leases
from extract.pace import Pace
from extract.pipeline import Pipeline
from extract.store import Batch, RunEnd, RunStart, Store
from extract.store.policy import Policy
from extract.warmth import Warmth

_LOCKED_FOR = 20.0  # seconds in which a driver that was killed may still hold the store
_IDLE = 2.0  # seconds after the last block until the store is let go
_IDLE_WITH_BLOCKS = 600.0  # the same while a block is open: its worker may have died


class HubActor:
    """The hub, as workers elsewhere reach it."""

    def __init__(self, settings: dict[str, Any], lifetime: float) -> None:
        pipeline = Pipeline(**settings)
        governor = Governor(pipeline.pace or Pace(), now=time.monotonic())
        price = None if pipeline.prices is None else pipeline.prices.find(pipeline.model)
        purse = Purse(pipeline.budget, price)
        warmth = Warmth(pipeline.cache, pipeline.envelope.prefix_tokens)
        self._hub = Hub(Leases(governor, purse, warmth, ttl=pipeline.cache, lifetime=lifetime))

    async def tell(self, worker: str, words: Words) -> None:
        await self._hub.tell(worker, words)

    async def wait(self, worker: str) -> Granted:
        return await self._hub.wait(worker)

    async def leave(self, worker: str) -> None:
        await self._hub.leave(worker)

    async def counts(self) -> dict[str, Any]:
        """For whoever looks at the named actor."""
        leases = self._hub.leases
        return {
            "messages": self._hub.messages,
            "in_flight": leases.in_flight,
            "workers": leases.workers,
            "leases": leases.counts,
            "pace": leases.governor.counts,
            "spent": leases.purse.spent,
            "stop": leases.stop,
        }


class WriterActor:
    """The store, as workers elsewhere reach it: DuckDB lets one process write.

    It has the file open while blocks are worked on, and lets it go soon after the last.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._policy = Policy()
        self._store: Store | None = None
        self._run_id: str | None = None
        self._counts: dict[str, int] = {}
        self._blocks: set[str] = set()
        self._used = time.monotonic()
        self._opening = asyncio.Lock()
        self._idle: asyncio.Task[None] | None = None

    async def begin(self, start: RunStart, policy: Policy) -> None:
        """A dataset is made. Raises StoreError."""
        if self._policy != policy:
            await self._let_go()
        self._policy = policy
        store = await self._opened()
        await self._note_end(store)
        await asyncio.wrap_future(store.begin(start))
        self._run_id, self._counts = start.run_id, {}
        self._blocks.clear()

    async def recall(self, block: str, fingerprints: list[str]) -> Any:
        self._blocks.add(block)
        return await asyncio.wrap_future((await self._opened()).recall(fingerprints))

    async def states(self, job: str, keys: list[str]) -> Any:
        return await asyncio.wrap_future((await self._opened()).states(job, keys))

    async def commit(self, batch: Batch) -> None:
        await asyncio.wrap_future((await self._opened()).commit(batch))

    async def done(self, block: str, counts: dict[str, int]) -> None:
        """What a worker did in one block."""
        self._blocks.discard(block)
        self._used = time.monotonic()
        for name, number in counts.items():
            self._counts[name] = self._counts.get(name, 0) + number

    async def _opened(self) -> Store:
        self._used = time.monotonic()
        async with self._opening:
            until = time.monotonic() + _LOCKED_FOR
            while self._store is None:
                try:
                    policy = self._policy
                    self._store = Store.open(self._path, keep=policy.keep, private=policy.private)
                except StoreLockedError:
                    if time.monotonic() > until:
                        raise
                    await asyncio.sleep(0.5)
            if self._idle is None or self._idle.done():
                self._idle = asyncio.create_task(self._rest())
            return self._store

    async def _rest(self) -> None:
        while self._store is not None:
            await asyncio.sleep(0.25)
            silent = time.monotonic() - self._used
            if silent > (_IDLE_WITH_BLOCKS if self._blocks else _IDLE):
                await self._let_go()

    async def _let_go(self) -> None:
        """Notes where the run stands, and lets the file go."""
        async with self._opening:
            store, self._store = self._store, None
            if store is None:
                return
            await self._note_end(store)
            await asyncio.to_thread(store.close)

    async def _note_end(self, store: Store) -> None:
        """Where the last run stands; it may go on, and is noted again then."""
        if self._run_id is not None and self._counts:
            state: Any = "stopped" if self._counts.get("pending") else "finished"
            end = RunEnd(self._run_id, time.time(), state, counts=self._counts)
            await asyncio.wrap_future(store.finish(end))

    def __ray_shutdown__(self) -> None:
        """The driver is gone."""
        if self._store is not None:
            self._store.close()
