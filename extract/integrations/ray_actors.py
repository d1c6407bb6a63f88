"""What serves all workers of a Ray dataset: the hub, which says who may send, and the writer of the store.

Plain classes that Ray makes actors of. Knows nothing of blocks, datasets or how rows are answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from dataclasses import dataclass
from typing import Any

from extract.budget import Purse
from extract.errors import StoreError, StoreLockedError
from extract.governor import Governor
from extract.integrations.claims import Claimant, Claims
from extract.integrations.hub import Granted, Hub, Words
from extract.integrations.leases import Leases
from extract.integrations.ray_tables import Tables
from extract.pace import Pace
from extract.pipeline import Pipeline
from extract.store import Batch, RunEnd, RunStart, Store, read_status
from extract.store.policy import Policy
from extract.store.rows import RunState
from extract.warmth import Warmth

log = logging.getLogger("extract")

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


@dataclass(frozen=True, slots=True)
class Driver:
    """The program that a writer belongs to, on the same machine."""

    pid: int
    program: str


class WriterActor:
    """The store, as workers elsewhere reach it: DuckDB lets one process write.

    It has the file open while blocks are worked on, and lets it go soon after the last.
    """

    def __init__(self, path: str, driver: Driver) -> None:
        self._path, self._driver = path, driver
        self._policy = Policy()
        self._store: Store | None = None
        self._start: RunStart | None = None
        self._tables: Tables | None = None
        self._claims = Claims()
        self._counts: dict[str, int] = {}
        self._blocks: set[str] = set()
        self._used = time.monotonic()
        self._opening, self._writing = asyncio.Lock(), asyncio.Lock()
        self._idle: asyncio.Task[None] | None = None

    async def begin(self, start: RunStart, policy: Policy, tables: Tables | None) -> None:
        """A dataset is made. Raises StoreError."""
        if self._tables is not None:
            await self._write_tables()
        if self._policy != policy:
            await self._let_go()
        self._policy, self._tables = policy, None
        store = await self._opened()
        await self._note_end(store)
        await asyncio.wrap_future(store.begin(start))
        self._start, self._counts, self._claims = start, {}, Claims()
        self._blocks.clear()
        self._tell_status("running")
        self._tables = tables
        if tables is not None:
            await asyncio.to_thread(tables.catch_up, store, start.job)

    async def claim(self, who: Claimant, keys: list[int]) -> list[int]:
        """See `Claims`."""
        return self._claims.claim(who, keys)

    async def recall(self, block: str, fingerprints: list[str]) -> Any:
        self._blocks.add(block)
        return await asyncio.wrap_future((await self._opened()).recall(fingerprints))

    async def states(self, job: str, keys: list[str]) -> Any:
        return await asyncio.wrap_future((await self._opened()).states(job, keys))

    async def commit(self, batch: Batch) -> None:
        await asyncio.wrap_future((await self._opened()).commit(batch))
        if self._tables is not None:
            self._tables.note(batch)

    async def done(self, block: str, counts: dict[str, int]) -> None:
        """What a worker did in one block."""
        self._blocks.discard(block)
        self._used = time.monotonic()
        for name, number in counts.items():
            self._counts[name] = self._counts.get(name, 0) + number
        self._tell_status("running")
        if self._tables is not None and self._tables.due and not self._writing.locked():
            try:
                await self._write_tables()
            except StoreError:
                log.exception("a part could not be written; it is tried again")

    async def finish(self) -> dict[str, Any]:
        """Writes what is left, lets the file go, tells what was done. Raises StoreError."""
        if self._tables is not None:
            await self._write_tables()
        await self._let_go()
        return {"run_id": self._start.run_id if self._start else None, **self._counts}

    async def _write_tables(self) -> None:
        store = await self._opened()
        async with self._writing:
            if self._tables is not None:
                await asyncio.to_thread(self._tables.flush, store)

    # the file ----------------------------------------------------------------------------------

    async def _opened(self) -> Store:
        self._used = time.monotonic()
        async with self._opening:
            until = time.monotonic() + _LOCKED_FOR
            while self._store is None:
                try:
                    policy = self._policy
                    self._store = Store.open(self._path, keep=policy.keep, private=policy.private)
                except StoreLockedError:
                    self._refuse_other()
                    if time.monotonic() > until:
                        raise
                    await asyncio.sleep(0.5)
            if self._idle is None or self._idle.done():
                self._idle = asyncio.create_task(self._rest())
            return self._store

    def _refuse_other(self) -> None:
        """Another program that is alive will not let the file go soon. Raises StoreLockedError."""
        told = read_status(self._path) or {}
        pid = told.get("driver_pid")
        if told.get("alive") and isinstance(pid, int) and pid != self._driver.pid and _is_alive(pid):
            raise StoreLockedError(
                f"{self._path} is in use by run {told.get('run_id')} of another program (PID {pid}: "
                f"{told.get('driver')}); nothing was sent. Wait for it, stop it, or give this run a store of "
                f"its own. `extract status {self._path}` shows how far it is"
            )

    async def _rest(self) -> None:
        while self._store is not None:
            await asyncio.sleep(0.25)
            silent = time.monotonic() - self._used
            if silent > (_IDLE_WITH_BLOCKS if self._blocks else _IDLE):
                await self._rest_now()

    async def _rest_now(self) -> None:
        try:
            if self._tables is not None:
                await self._write_tables()
        except StoreError:
            log.exception("a part could not be written; the same run again writes it")
        await self._let_go()

    async def _let_go(self) -> None:
        """Notes where the run stands, and lets the file go."""
        async with self._opening:
            store, self._store = self._store, None
            if store is None:
                return
            await self._note_end(store)
            self._tell_status(self._state, store)
            await asyncio.to_thread(store.close)

    @property
    def _state(self) -> RunState:
        return "stopped" if self._counts.get("pending") else "finished"

    async def _note_end(self, store: Store) -> None:
        """Where the last run stands; it may go on, and is noted again then."""
        if self._start is not None and self._counts:
            end = RunEnd(self._start.run_id, time.time(), self._state, counts=self._counts)
            await asyncio.wrap_future(store.finish(end))

    def _tell_status(self, state: str, store: Store | None = None) -> None:
        """For `extract status`, and for another program that wants this file."""
        store = store or self._store
        if store is not None and self._start is not None:
            values = {"run_id": self._start.run_id, "job": self._start.job, "state": state, **self._counts}
            driver = {"driver_pid": self._driver.pid, "driver": self._driver.program}
            with contextlib.suppress(OSError):
                store.write_status(values | driver)

    def __ray_shutdown__(self) -> None:
        """The driver is gone."""
        if self._store is not None:
            self._store.close()


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
