"""What a request holds before it is sent comes back whole, however its wait ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from extract.budget import Budget, Purse
from extract.clearance import LocalClearance
from extract.clock import SystemClock
from extract.gate import Gate
from extract.governor import Governor
from extract.pace import Pace
from extract.protocol.blocks import text_block
from extract.protocol.request import Envelope, Request
from extract.stopper import Stopper
from extract.warmth import Turn, Warmth

CLOCK = SystemClock()


def request() -> Request:
    envelope = Envelope(model="kimi-k3.1-pro", effort="low", max_tokens=100, schema={}, schema_text="{}")
    return envelope.request([text_block("hello")])


def led(warmth: Warmth, governor: Governor) -> None:
    """Another row warms the cache."""
    assert warmth.ask(CLOCK.now()).turn is Turn.LEAD


def full(warmth: Warmth, governor: Governor) -> None:
    """Another row has the only place."""
    assert governor.admit(1.0, CLOCK.now()) is not None


@pytest.mark.parametrize("busy", [led, full])
def test_who_gives_up_before_sending_has_spent_nothing(busy: Callable[[Warmth, Governor], None]) -> None:
    purse = Purse(Budget(tokens=1_000_000), None)
    governor, warmth = Governor(Pace(concurrency=1), now=CLOCK.now()), Warmth("1h", 2_000)

    async def main() -> None:
        stopper = Stopper()
        gate = Gate(governor, CLOCK)
        clearance = LocalClearance(gate, purse, warmth, stopper=stopper, clock=CLOCK, ttl="1h")
        busy(warmth, governor)

        async def wait() -> None:
            async with clearance.enter(request()):
                raise AssertionError("it was let go")

        waiting = asyncio.create_task(wait())
        await asyncio.sleep(0.02)
        assert purse.in_flight == 1
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await gate.close()

    asyncio.run(main())
    assert (purse.in_flight, purse.reserved.tokens, purse.spent.tokens) == (0, 0, 0)
