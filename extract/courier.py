"""Delivers attempts: is let go, sends, waits out limits, retries the transport, keeps count.

One request at a time leaves here, and each becomes a row of `calls`. Knows nothing of what a reply
says: a message goes back to the conversation as it came.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal

from tenacity import AsyncRetrying, RetryCallState, retry_if_result, wait_random_exponential

from extract.breaker import Breaker
from extract.clearance import Clearance
from extract.client import Call, Line
from extract.clock import Clock
from extract.conversation import Attempt, Delivery
from extract.observe import CallEnded, heard, tell
from extract.prices import Price
from extract.protocol.reply import Action, Fault, Message
from extract.protocol.usage import UNKNOWN, Usage
from extract.report import Tally
from extract.stopper import Stopper
from extract.store import CallRow
from extract.work import Item

PATIENCE = 900.0  # seconds that one attempt may spend on retries of the transport
_JITTER = wait_random_exponential(multiplier=0.5, max=60)  # full jitter


@dataclass(slots=True)
class Books:
    """Where a courier writes down what it sent. series: tells the couriers of one run apart."""

    run_id: str
    tally: Tally
    price: Price | None
    calls: int = 0
    series: str = ""

    def enter(self, call: Call, attempt: Attempt, kind: str, item: Item) -> None:
        """One request, whatever came of it."""
        self.calls += 1
        usage, tally = call.reply.usage, self.tally
        cost = self.price.cost(usage) if self.price and usage.known else None
        item.add(self._row(call, attempt, kind, item, cost))
        if heard():
            number, request, about = attempt.number, attempt.request, attempt.about
            tell(CallEnded(self.run_id, item.key, number, kind, request, call, about, cost))
        tally.requests += 1
        tally.usage += usage
        if cost is not None:
            tally.cost = (tally.cost or Decimal(0)) + cost
        if kind != "first":
            tally.again_usage += usage
            tally.retries += kind == "retry"
            tally.reasks += kind == "reask"
            tally.doublings += kind == "doubled"
        if _is_turned_away(call):
            tally.rate_limited += 1

    def _row(self, call: Call, attempt: Attempt, kind: str, item: Item, cost: Decimal | None) -> CallRow:
        reply = call.reply
        fault = reply if isinstance(reply, Fault) else None
        return CallRow(  # in the order of the fields: names cost as much again as all the rest
            f"{self.run_id}-{self.series}{self.calls}",
            self.run_id,
            item.key,
            item.fingerprint,
            attempt.number,
            kind,  # type: ignore[arg-type]
            call.status,
            call.request_id,
            reply.stop_reason if isinstance(reply, Message) else None,
            None if fault is None else f"{fault.kind}: {fault}",
            reply.usage,
            cost,
            call.latency,
            call.started_at,
            call.address,
            fault is not None and fault.maybe_paid,
            json.dumps([one.wire_path for one in attempt.about]) if kind == "reask" else None,
        )


class Courier:
    """The way out for all rows of one run."""

    def __init__(
        self,
        line: Line,
        clearance: Clearance,
        books: Books,
        *,
        stopper: Stopper,
        breaker: Breaker,
        clock: Clock,
    ) -> None:
        self._line, self._clearance, self._books = line, clearance, books
        self._stop, self._breaker, self._clock = stopper, breaker, clock

    @property
    def waiting(self) -> int:
        """Attempts that wait for their turn in the air."""
        return self._clearance.waiting

    async def deliver(self, attempt: Attempt, item: Item) -> Delivery | None:
        """Sends until there is a message, a fault that ends the row, or no attempt left.

        None when the run stops first.
        """
        flight = _Flight(attempt, item)
        call = await self._fly(flight)
        if _is_transient(call) and attempt.left > 1:
            call = await self._retry(flight, call)
        if call is None:
            return None
        return Delivery(call.reply, flight.sent, flight.usage)

    # retries of the transport ------------------------------------------------------------------

    async def _retry(self, flight: _Flight, first: Call | None) -> Call | None:
        """The same request again, with full jitter, bounded by attempts and by time."""
        started = self._clock.now()
        waiting = [first]

        async def again() -> Call | None:
            return waiting.pop() if waiting else await self._fly(flight)

        def spent(state: RetryCallState) -> bool:
            return flight.sent >= flight.attempt.left or self._clock.now() - started >= PATIENCE

        retrying = AsyncRetrying(
            retry=retry_if_result(_is_transient),
            stop=spent,
            wait=_wait,
            sleep=self._pause,
            retry_error_callback=_last_result,
        )
        return await retrying(again)

    async def _pause(self, seconds: float) -> None:
        await self._stop.first(self._clock.sleep(seconds))

    # one request -------------------------------------------------------------------------------

    async def _fly(self, flight: _Flight) -> Call | None:
        """One request that was not turned away; None when the run stops first."""
        request = flight.attempt.request
        while not self._stop.stopping:
            async with self._clearance.enter(request, again=flight.sent > 0) as leave:
                if leave is None:
                    return None
                sent = await self._line.send(request, on_start=leave.started)
                leave.settle(sent)
                call = self._note(flight, sent)
            if call is None or not _is_turned_away(call):
                return call
        return None

    def _note(self, flight: _Flight, call: Call) -> Call | None:
        """Writes down what came; None where the run has to stop for it."""
        self._books.enter(call, flight.attempt, flight.kind, flight.item)
        flight.add(call)
        if isinstance(call.reply, Message):
            self._breaker.on_message()
            return call
        stop = self._breaker.on_fault(call.reply)
        self._stop(stop)
        return None if stop else call


@dataclass(slots=True)
class _Flight:
    """One attempt on its way. sent: requests that count against the row."""

    attempt: Attempt
    item: Item
    sent: int = 0
    usage: Usage = UNKNOWN

    @property
    def kind(self) -> str:
        """The attempt's own kind for its first request, a retry for the others."""
        return "retry" if self.sent else self.attempt.kind

    def add(self, call: Call) -> None:
        """Counts one request, unless it was turned away for a limit."""
        self.usage += call.reply.usage
        if not _is_turned_away(call):
            self.sent += 1


def _is_turned_away(call: Call) -> bool:
    return isinstance(call.reply, Fault) and call.reply.action is Action.COOL_DOWN


def _is_transient(call: Call | None) -> bool:
    return call is not None and isinstance(call.reply, Fault) and call.reply.action is Action.RETRY


def _wait(state: RetryCallState) -> float:
    """Full jitter, or what the server asked for; a stale connection is replaced at once."""
    call = state.outcome.result() if state.outcome else None
    fault = call.reply if call is not None else None
    if isinstance(fault, Fault):
        if fault.kind == "stale":
            return 0.0
        if fault.retry_after:
            return float(fault.retry_after)
    return float(_JITTER(state))


def _last_result(state: RetryCallState) -> Call | None:
    assert state.outcome is not None
    last: Call | None = state.outcome.result()
    return last
