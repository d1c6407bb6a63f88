"""What a request needs before it may be sent: money, its turn at the cache, a place in the air.

Taken in this order, given back together. Knows nothing of rows, nor of what is asked and answered beyond
the tokens that it takes.
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from extract.breaker import Stop
from extract.budget import Purse, Reservation
from extract.client import Call
from extract.clock import Clock
from extract.gate import Gate, Gates, Slot
from extract.protocol.reply import Fault, Message, Reply
from extract.protocol.request import Request
from extract.protocol.usage import UNKNOWN, Usage
from extract.stopper import Stopper
from extract.warmth import Ask, Turn, Warmth

BROKE = Stop("budget", "the budget is used up", "Raise it and run the same again.")


class Leave(Protocol):
    """The right to send one request, while the block of `Clearance.enter` lasts."""

    def started(self) -> None:
        """The model began to answer."""

    def settle(self, call: Call) -> None:
        """What came back."""


class Clearance(Protocol):
    """Who says when a request may go: this process (`LocalClearance`), or one for many."""

    @property
    def waiting(self) -> int:
        """Requests that wait for their turn in the air."""
        ...

    def enter(self, request: Request, *, again: bool = False) -> AbstractAsyncContextManager[Leave | None]:
        """Waits until the request may be sent; None where the run stops before.

        again: its row was in the air before, and so it goes ahead of the line.
        """


class LocalClearance:
    """The clearance of one run. ttl: the cache lifetime that its requests ask for."""

    def __init__(
        self,
        gate: Gate | Gates,
        purse: Purse,
        warmth: Warmth,
        *,
        stopper: Stopper,
        clock: Clock,
        ttl: str | None,
    ) -> None:
        self._gate, self._purse, self._warmth = gate, purse, warmth
        self._stop, self._clock, self._ttl = stopper, clock, ttl

    @property
    def waiting(self) -> int:
        """See `Clearance`."""
        return self._gate.waiting

    def enter(self, request: Request, *, again: bool = False) -> AbstractAsyncContextManager[Leave | None]:
        """See `Clearance`."""
        return _Leave(self, request, again)

    def admit_now(self, leave: _Leave) -> None:
        """Takes what there is to take without waiting: most often all three."""
        request = leave.request
        if self._stop.stopping or not (held := self._hold(request)):
            return
        leave.held = held
        ask = self._warmth.ask(self._clock.now(), prefix=request.envelope.prefix_digest)
        if ask.turn is not Turn.WAIT:
            leave.ask = ask
            leave.slot = self._gate.enter_now(self._tokens(request))

    async def admit(self, leave: _Leave) -> None:
        """Waits for what is missing; what is so afterwards was not given, since the run stops."""
        request = leave.request
        if leave.held is None:
            leave.held = await self._reserve(request)
        if leave.held is not None and leave.ask is None:
            leave.ask = await self._turn(request)
        if leave.ask is not None:
            leave.slot = await self._place(request, again=leave.again)

    def give_back(self, leave: _Leave) -> None:
        """Gives back what is held."""
        if leave.slot is not None:
            leave.slot.leave()
        if leave.held is not None:
            self._purse.settle(leave.held, leave.usage)
        if leave.ask is not None:
            self._warmth.settle(leave.ask, leave.read, self._clock.now())
        self._stop.changed()

    def begun(self, ask: Ask | None) -> None:
        """The reply to this request began: those that wait for the cache may go."""
        if ask is not None and self._warmth.started(ask, self._clock.now()):
            self._stop.changed()

    # waiting -----------------------------------------------------------------------------------

    async def _reserve(self, request: Request) -> Reservation | None:
        """Holds the money for one request; the run stops when there is none left for any."""
        while not self._stop.stopping:
            if held := self._hold(request):
                return held
            if self._purse.in_flight == 0:
                self._stop(BROKE)
                return None
            await self._stop.next_change()
        return None

    async def _turn(self, request: Request) -> Ask | None:
        """Waits while another row warms the shared prefix."""
        while not self._stop.stopping:
            now = self._clock.now()
            ask = self._warmth.ask(now, prefix=request.envelope.prefix_digest)
            if ask.turn is not Turn.WAIT:
                return ask
            wake = self._warmth.wake_at(now)
            await self._stop.next_change(None if wake is None else self._clock.sleep(wake - now))
        return None

    async def _place(self, request: Request, *, again: bool) -> Slot | None:
        """Waits for a place in the air; None when the waiting line was emptied."""
        try:
            slot = await self._gate.enter(self._tokens(request), first=again)
        except asyncio.CancelledError:
            if self._stop.stopping and not _is_cancelled():
                return None
            raise
        if self._stop.stopping:
            slot.leave()
            return None
        return slot

    def _hold(self, request: Request) -> Reservation | None:
        return self._purse.reserve(request.input_tokens, request.max_tokens, ttl=self._ttl)

    def _tokens(self, request: Request) -> float:
        """What a place is asked for."""
        return request.input_tokens + self._purse.likely_output(request.max_tokens)


@dataclass(slots=True, eq=False)
class _Leave(AbstractAsyncContextManager["Leave | None"]):
    """One request, from its question for leave until what it holds is given back.

    usage: what it cost; None where surely nothing was billed. read: of a prompt that was read, whatever
    the server told of it; None where none was.
    """

    clearance: LocalClearance
    request: Request
    again: bool
    held: Reservation | None = None
    ask: Ask | None = None
    slot: Slot | None = None
    usage: Usage | None = None
    read: Usage | None = None

    async def __aenter__(self) -> Leave | None:
        try:
            self.clearance.admit_now(self)
            if self.slot is None:
                await self.clearance.admit(self)
        except BaseException:
            self.clearance.give_back(self)
            raise
        return None if self.slot is None else self

    async def __aexit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None and self.slot is not None:  # it may have been sent
            self.usage = self.usage or UNKNOWN
        self.clearance.give_back(self)

    def started(self) -> None:
        self.clearance.begun(self.ask)

    def settle(self, call: Call) -> None:
        assert self.slot is not None
        self.slot.call = call
        self.usage = billed(call.reply)
        answered = isinstance(call.reply, Message) or call.reply.usage.known
        self.read = call.reply.usage if answered else None


def billed(reply: Reply) -> Usage | None:
    """What a budget has to count: None where surely nothing was worked on."""
    if isinstance(reply, Fault) and not reply.maybe_paid and not reply.usage.known:
        return None
    return reply.usage


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
