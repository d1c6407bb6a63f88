"""The two ends of a lease: the hub that lets requests go, and a worker's clearance that asks it.

Both live in an event loop; what carries words between them is a `Desk`: the hub itself in one process, an
actor between machines. Knows no Ray, and nothing of rows.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any, Protocol

from extract.breaker import Stop
from extract.clearance import Leave
from extract.client import Call
from extract.integrations.leases import Landed, Leases, Want
from extract.protocol.request import Request
from extract.stopper import Stopper

log = logging.getLogger("extract")

_GATHER = 0.005  # seconds in which words are gathered into one message
_SEND = 0.002  # seconds in which what was let go is written to its connection
_TICK = 0.0005  # seconds; no timer is finer
_GONE = Stop("interrupted", "the hub that shares the limit is gone", "Run the same again to go on.")


@dataclass(frozen=True, slots=True)
class Words:
    """What a worker has to say at once. stop: why no worker should go on."""

    wants: Sequence[Want] = ()
    begun: Sequence[int] = ()
    landed: Sequence[Landed] = ()
    stop: Stop | None = None


@dataclass(frozen=True, slots=True)
class Granted:
    """What a worker is told: tickets that may be sent, or why the run stops."""

    tickets: Sequence[int] = ()
    stop: Stop | None = None


class Desk(Protocol):
    """How a worker reaches the hub."""

    async def tell(self, worker: str, words: Words) -> None:
        """Hands words over."""

    async def wait(self, worker: str) -> Granted:
        """Returns with tickets or a stop, or empty after a while; this is also the sign of life."""

    async def leave(self, worker: str) -> None:
        """The worker is done."""


class Hub:
    """Owns the leases of one run. To be used inside one event loop."""

    def __init__(self, leases: Leases) -> None:
        self.leases = leases
        self.messages = 0
        self._bells: dict[str, asyncio.Event] = {}
        self._ringer: asyncio.Task[None] | None = None
        self._heard = asyncio.Event()

    async def tell(self, worker: str, words: Words) -> None:
        """See `Desk`."""
        self.messages += 1
        leases = self.leases
        leases.hear(worker, time.monotonic(), wants=words.wants, begun=words.begun, landed=words.landed)
        if words.stop is not None and leases.stop is None:
            leases.stop = words.stop
        self._pump()

    async def wait(self, worker: str) -> Granted:
        """See `Desk`."""
        self.messages += 1
        bell = self._bells.setdefault(worker, asyncio.Event())
        self.leases.listen(worker, time.monotonic())
        self._pump()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.leases.lifetime / 4):
                await bell.wait()
        bell.clear()
        if self.leases.stop is not None:
            bell.set()  # also whoever asks later
        return Granted(self.leases.take(worker), self.leases.stop)

    async def leave(self, worker: str) -> None:
        """See `Desk`."""
        self.leases.leave(worker, time.monotonic())
        self._bells.pop(worker, None)
        self._pump()

    def _pump(self) -> None:
        self._let_go()
        self._heard.set()
        if self._ringer is None or self._ringer.done():
            self._ringer = asyncio.create_task(self._ring())

    async def _ring(self) -> None:
        """Pumps when something is due though nothing is heard."""
        while self.leases.workers:
            self._heard.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(self.leases.due(time.monotonic()), _TICK)):
                    await self._heard.wait()
                    continue
            self._let_go()

    def _let_go(self) -> None:
        glad = self.leases.pump(time.monotonic())
        for worker in glad if self.leases.stop is None else list(self._bells):
            self._bells.setdefault(worker, asyncio.Event()).set()


class LeasedClearance:
    """A worker's clearance: asks a hub that is somewhere else. Use it as an async context manager."""

    def __init__(self, desk: Desk, worker: str, stopper: Stopper) -> None:
        self._desk, self._worker, self._stop = desk, worker, stopper
        self._tickets = count(1)
        self._waiting: dict[int, asyncio.Future[bool]] = {}
        self._wants: list[Want] = []
        self._begun: list[int] = []
        self._landed: list[Landed] = []
        self._spoke = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> LeasedClearance:
        jobs = (self._speak(), self._listen(), self._watch())
        self._tasks = [asyncio.create_task(job) for job in jobs]
        return self

    async def __aexit__(self, *exc: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if await self._told():
            await self._desk.leave(self._worker)

    @property
    def waiting(self) -> int:
        """Requests of this worker that wait to be let go."""
        return sum(not one.done() for one in self._waiting.values())

    @asynccontextmanager
    async def enter(self, request: Request, *, again: bool = False) -> AsyncIterator[Leave | None]:
        """See `Clearance`."""
        if self._stop.stopping:
            yield None
            return
        ticket = next(self._tickets)
        tokens, prefix = request.input_tokens, request.envelope.prefix_digest
        self._waiting[ticket] = asyncio.get_running_loop().create_future()
        self._say(self._wants, Want(ticket, tokens, request.max_tokens, prefix, again))
        leave = _Leave(self, ticket)
        try:
            granted = await self._waiting[ticket]
            yield leave if granted and not self._stop.stopping else None
        finally:
            self._waiting.pop(ticket, None)
            self._say(self._landed, Landed.of(ticket, leave.call))

    def begun(self, ticket: int) -> None:
        """The reply to this request began."""
        self._say(self._begun, ticket)

    # words -------------------------------------------------------------------------------------

    def _say(self, words: list[Any], word: Any) -> None:
        words.append(word)
        self._spoke.set()

    def _words(self) -> Words:
        words = Words(tuple(self._wants), tuple(self._begun), tuple(self._landed), self._stop.stop)
        self._wants, self._begun, self._landed = [], [], []
        return words

    async def _speak(self) -> None:
        while await self._spoke.wait():
            await asyncio.sleep(_GATHER)
            self._spoke.clear()
            if not await self._told():
                return

    async def _told(self) -> bool:
        """Hands the words over; without a hub the run stops here, with rows pending."""
        try:
            await self._desk.tell(self._worker, self._words())
        except Exception:
            log.exception("the hub cannot be reached")
            self._stop(_GONE)
            return False
        return True

    async def _listen(self) -> None:
        granted = Granted()
        while granted.stop is None:
            try:
                granted = await self._desk.wait(self._worker)
            except Exception:
                log.exception("the hub cannot be reached")
                granted = Granted(stop=_GONE)
            for ticket in granted.tickets:
                self._answer(ticket, granted=True)
            if granted.tickets:
                await asyncio.sleep(_SEND)  # who asks again says that all of these were sent
        self._stop(granted.stop)

    async def _watch(self) -> None:
        """The run stops: nobody waits any more, and the others hear of it."""
        await self._stop.first(_never())
        for ticket in list(self._waiting):
            self._answer(ticket, granted=False)
        self._spoke.set()

    def _answer(self, ticket: int, *, granted: bool) -> None:
        waiting = self._waiting.get(ticket)
        if waiting is not None and not waiting.done():
            waiting.set_result(granted)


@dataclass(slots=True, eq=False)
class _Leave:
    """One request that may go."""

    clearance: LeasedClearance
    ticket: int
    call: Call | None = None

    def started(self) -> None:
        self.clearance.begun(self.ticket)

    def settle(self, call: Call) -> None:
        self.call = call


async def _never() -> None:
    await asyncio.Event().wait()
