"""Where requests wait for their turn: the governor's answers, made awaitable.

Knows nothing of why the governor says no. First come, first served; each admission costs the same
however many wait. One timer a loop, no polling. Several loops (pipelines in threads of their own)
may share one governor: they stand in one line.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from extract.clock import Clock
from extract.governor import Governor, PaceCounts, Permit
from extract.protocol.reply import Reply

_TICK = 0.0005  # seconds; no timer is finer, so none can come back before its time and spin


class Answered(Protocol):
    """What came back for a request, as the client hands it over."""

    @property
    def reply(self) -> Reply: ...

    @property
    def limits(self) -> Mapping[str, str]: ...


class Slot:
    """One request's place in the air. To be left, whatever comes of the request."""

    __slots__ = ("_gate", "call", "permit")

    def __init__(self, gate: Gate, permit: Permit) -> None:
        self._gate = gate
        self.permit = permit
        self.call: Answered | None = None  # what came back

    def leave(self) -> None:
        """Frees the place. Without a `call`, it teaches nothing."""
        self._gate._leave(self.permit, self.call)


@dataclass(slots=True, eq=False)
class _Waiter:
    gate: Gate
    future: asyncio.Future[Permit]
    tokens: float


class _Line:
    """Those who wait for one governor, in all loops."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.waiters: deque[_Waiter] = deque()


_lines: WeakKeyDictionary[Governor, _Line] = WeakKeyDictionary()
_lines_lock = threading.Lock()


class Gate:
    """The door of one event loop to a governor. To be made inside the loop that uses it."""

    def __init__(self, governor: Governor, clock: Clock) -> None:
        self._governor = governor
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.Task[None] | None = None
        self._timer_at = 0.0
        with _lines_lock:
            self._line = _lines.setdefault(governor, _Line())
        with self._line.lock:
            governor.begin(clock.now())

    @property
    def in_flight(self) -> int:
        """Requests in the air, of all that share the governor."""
        return self._governor.in_flight

    @property
    def waiting(self) -> int:
        """Requests that wait for their turn, of all that share the governor."""
        return len(self._line.waiters)

    @property
    def counts(self) -> PaceCounts:
        """What happened so far, of all that share the governor."""
        return self._governor.counts

    def stalled(self, now: float) -> str | None:
        """Why the run should stop with rows pending, or None."""
        with self._line.lock:
            return self._governor.stalled(now)

    def enter_now(self, tokens: float) -> Slot | None:
        """A place, where one is free and nobody waits, which most requests find; else None."""
        with self._line.lock:
            permit = None if self._line.waiters else self._governor.admit(tokens, self._clock.now())
        return None if permit is None else Slot(self, permit)

    async def enter(self, tokens: float, *, first: bool = False) -> Slot:
        """Waits for a place.

        tokens: estimate of input and output. first: ahead of the line, for a row that was in the
        air before.
        """
        return self.enter_now(tokens) or Slot(self, await self._wait(tokens, at_front=first))

    async def close(self) -> None:
        """Ends the timer. Whoever still waits here is cancelled."""
        with self._line.lock:
            mine = [waiter for waiter in self._line.waiters if waiter.gate is self]
        for waiter in mine:
            waiter.future.cancel()
        if self._timer is not None:
            self._timer.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._timer

    async def _wait(self, tokens: float, *, at_front: bool) -> Permit:
        waiter = _Waiter(self, self._loop.create_future(), tokens)
        with self._line.lock:
            (self._line.waiters.appendleft if at_front else self._line.waiters.append)(waiter)
        self._pump()
        try:
            return await waiter.future
        except asyncio.CancelledError:
            self._give_up(waiter)
            raise

    def _give_up(self, waiter: _Waiter) -> None:
        """A permit that came in the same moment as the cancellation goes back."""
        future = waiter.future
        if future.done() and not future.cancelled():
            self._leave(future.result())
        else:
            self._pump()  # it may have stood at the head of the line

    def _leave(self, permit: Permit, call: Answered | None = None) -> None:
        reply, limits = (None, None) if call is None else (call.reply, call.limits)
        with self._line.lock:
            self._governor.settle(permit, reply, self._clock.now(), limits=limits)
        if self._line.waiters:
            self._pump()

    def _pump(self) -> None:
        """Lets in all that may go now, and sets the timer for the next."""
        line, governor = self._line, self._governor
        with line.lock:
            now = self._clock.now()
            while line.waiters:
                waiter = line.waiters[0]
                if waiter.future.cancelled() or waiter.gate._loop.is_closed():
                    line.waiters.popleft()
                    continue
                permit = governor.admit(waiter.tokens, now)
                if permit is None:
                    break
                line.waiters.popleft()
                self._hand(waiter, permit)
            head = line.waiters[0] if line.waiters else None
            due = governor.due(head.tokens, now) if head else None
        if head is not None and due is not None:
            head.gate._arm_from(self, now + max(due, _TICK))

    def _hand(self, waiter: _Waiter, permit: Permit) -> None:
        if waiter.gate is self:
            waiter.gate._receive(waiter, permit)
        else:
            waiter.gate._loop.call_soon_threadsafe(waiter.gate._receive, waiter, permit)

    def _receive(self, waiter: _Waiter, permit: Permit) -> None:
        if waiter.future.done():  # cancelled on the way here
            self._leave(permit)
        else:
            waiter.future.set_result(permit)

    def _arm_from(self, caller: Gate, at: float) -> None:
        if caller is self:
            self._arm(at)
        else:
            with contextlib.suppress(RuntimeError):  # its loop closed: its waiters go at the next turn
                self._loop.call_soon_threadsafe(self._arm, at)

    def _arm(self, at: float) -> None:
        if self._timer is not None and not self._timer.done():
            if self._timer_at <= at:
                return
            self._timer.cancel()
        self._timer_at = at
        self._timer = self._loop.create_task(self._ring(at))

    async def _ring(self, at: float) -> None:
        await self._clock.sleep(at - self._clock.now())
        self._timer = None
        self._pump()


class Gates:
    """One gate an address: what one service takes says nothing about another.

    leading: tells the address that the next request goes to. make: a gate for an address.
    """

    def __init__(self, leading: Callable[[], str], make: Callable[[str], Gate]) -> None:
        self._leading, self._make = leading, make
        self._gates: dict[str, Gate] = {}

    @property
    def waiting(self) -> int:
        """Requests that wait for their turn, at all addresses."""
        return sum(gate.waiting for gate in self._gates.values())

    def enter_now(self, tokens: float) -> Slot | None:
        """As `Gate.enter_now`, at the address that requests go to now."""
        return self._now().enter_now(tokens)

    def enter(self, tokens: float, *, first: bool = False) -> Coroutine[Any, Any, Slot]:
        """As `Gate.enter`, at the address that requests go to now."""
        return self._now().enter(tokens, first=first)

    def stalled(self, now: float) -> str | None:
        """As `Gate.stalled`, of the address that requests go to now."""
        return self._now().stalled(now)

    async def close(self) -> None:
        """Closes them all."""
        for gate in self._gates.values():
            await gate.close()

    def _now(self) -> Gate:
        address = self._leading()
        gate = self._gates.get(address)
        if gate is None:
            gate = self._gates[address] = self._make(address)
        return gate
