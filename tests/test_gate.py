"""The gate: first come first served, one wait for all, no herd, in one loop and in several."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from extract.clock import SystemClock
from extract.gate import Gate, Gates, Slot
from extract.governor import Governor
from extract.pace import Pace
from extract.protocol.reply import Action, Fault, Message, Reply
from extract.protocol.usage import Usage
from extract.testing.clock import VirtualClock

DONE = Message([], "end_turn", Usage(input=10, output=10))


@dataclass(frozen=True)
class Came:
    reply: Reply
    limits: Mapping[str, str] = field(default_factory=dict)


def gate_of(clock: VirtualClock, pace: Pace | None = None) -> Gate:
    return Gate(Governor(pace or Pace(), now=clock.now(), seed=3), clock)


@asynccontextmanager
async def held(gate: Gate, tokens: float, *, first: bool = False) -> AsyncIterator[Slot]:
    """A place for a block."""
    slot = await gate.enter(tokens, first=first)
    try:
        yield slot
    finally:
        slot.leave()


def test_first_come_first_served() -> None:
    clock = VirtualClock()
    order: list[int] = []

    async def main() -> None:
        gate = gate_of(clock, Pace(concurrency=4))

        async def row(number: int) -> None:
            async with held(gate, 1.0) as slot:
                order.append(number)
                await clock.sleep(1.0)
                slot.call = Came(DONE)

        await asyncio.gather(*(row(number) for number in range(200)))
        await gate.close()

    clock.run(main())
    assert order == list(range(200))


def test_a_row_that_flew_before_goes_to_the_head_of_the_line() -> None:
    clock = VirtualClock()
    order: list[str] = []

    async def main() -> None:
        gate = gate_of(clock, Pace(concurrency=1))

        async def row(name: str, *, first: bool) -> None:
            async with held(gate, 1.0, first=first) as slot:
                order.append(name)
                await clock.sleep(1.0)
                slot.call = Came(DONE)

        await asyncio.gather(
            row("a", first=False), row("b", first=False), row("c", first=False), row("d", first=True)
        )
        await gate.close()

    clock.run(main())
    assert order == ["a", "d", "b", "c"]


def test_no_more_than_allowed_fly_and_all_places_are_used() -> None:
    clock = VirtualClock()
    most = 0

    async def main() -> float:
        nonlocal most
        gate = gate_of(clock, Pace(concurrency=100))

        async def row() -> None:
            nonlocal most
            async with held(gate, 1.0) as slot:
                most = max(most, gate.in_flight)
                await clock.sleep(1.0)
                slot.call = Came(DONE)

        await asyncio.gather(*(row() for _ in range(400)))
        await gate.close()
        return clock.now()

    wall = clock.run(main())
    assert most == 100
    assert wall < 5.5


def test_one_refusal_stops_all_and_the_way_back_is_no_herd() -> None:
    """A service that is closed for three seconds: nobody knocks meanwhile, nobody bursts in after."""
    clock = VirtualClock()
    calls: list[float] = []

    async def main() -> None:
        gate = gate_of(clock)

        async def row() -> None:
            while True:
                async with held(gate, 1.0) as slot:
                    calls.append(clock.now())
                    await clock.sleep(0.02)
                    closed = 2.0 <= clock.now() < 5.0
                    fault = Fault("rate_limit", Action.COOL_DOWN, status=429, retry_after=3.0)
                    slot.call = Came(fault if closed else DONE)
                if not closed:
                    return

        for _ in range(20):
            await asyncio.gather(*(row() for _ in range(64)))
            await clock.sleep(0.5)
        await gate.close()

    clock.run(main())
    first = next(at for at in calls if at >= 1.98)
    assert sum(first + 0.05 < at < first + 2.9 for at in calls) == 0
    after = [at for at in calls if at > first + 2.9]
    buckets = [round(at * 100) for at in after if at < first + 4.5]
    assert max(map(buckets.count, buckets)) <= 16
    assert len(calls) <= 20 * 64 + 64


def test_leaving_without_an_answer_frees_the_place() -> None:
    clock = VirtualClock()

    async def main() -> None:
        gate = gate_of(clock, Pace(concurrency=1))
        with pytest.raises(RuntimeError, match="broke"):
            async with held(gate, 1.0):
                raise RuntimeError("broke")
        async with held(gate, 1.0):
            assert gate.in_flight == 1
        assert gate.in_flight == 0 and gate.counts.answered == 0
        await gate.close()

    clock.run(main())


def test_whoever_is_cancelled_while_waiting_leaves_the_line_and_blocks_nobody() -> None:
    clock = VirtualClock()

    async def main() -> None:
        gate = gate_of(clock, Pace(concurrency=1))
        entered: list[str] = []

        async def row(name: str) -> None:
            async with held(gate, 1.0):
                entered.append(name)
                await clock.sleep(1.0)

        tasks = [asyncio.create_task(row(name)) for name in "abc"]
        await clock.sleep(0.5)
        assert gate.waiting == 2
        tasks[1].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert entered == ["a", "c"] and gate.in_flight == 0 and gate.waiting == 0
        await gate.close()

    clock.run(main())


def test_a_permit_that_crosses_a_cancellation_is_given_back() -> None:
    clock = VirtualClock()

    async def main() -> None:
        gate = gate_of(clock, Pace(concurrency=1))
        holder = held(gate, 1.0)
        await holder.__aenter__()

        async def wait() -> None:
            async with held(gate, 1.0):
                raise AssertionError("was cancelled")

        waiting = asyncio.create_task(wait())
        await asyncio.sleep(0)
        await holder.__aexit__(None, None, None)  # hands the permit over …
        waiting.cancel()  # … in the same turn of the loop
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert gate.in_flight == 0
        await gate.close()

    clock.run(main())


def test_closing_cancels_whoever_still_waits() -> None:
    clock = VirtualClock()

    async def main() -> list[BaseException | None]:
        gate = gate_of(clock, Pace(concurrency=1, requests_per_minute=1))

        async def row() -> None:
            async with held(gate, 1.0):
                pass

        tasks = [asyncio.create_task(row()) for _ in range(5)]
        await clock.sleep(1.0)
        await gate.close()
        return await asyncio.gather(*tasks, return_exceptions=True)

    results = clock.run(main())
    assert [type(result) for result in results] == [type(None)] + [asyncio.CancelledError] * 4


def test_thousands_wait_without_a_timer_each() -> None:
    clock = VirtualClock()

    async def main() -> int:
        gate = gate_of(clock, Pace(concurrency=5_000, requests_per_minute=60_000))

        async def row() -> None:
            async with held(gate, 1.0) as slot:
                slot.call = Came(DONE)

        rows = [asyncio.create_task(row()) for _ in range(5_000)]
        await clock.sleep(1.0)
        running = len(asyncio.all_tasks()) - sum(not task.done() for task in rows)
        await asyncio.gather(*rows)
        await gate.close()
        return running

    assert clock.run(main()) <= 2
    assert clock.now() == pytest.approx(5.0, rel=0.1)


def test_a_stall_is_told() -> None:
    clock = VirtualClock()

    async def main() -> None:
        gate = gate_of(clock, Pace(no_progress=60.0))
        async with held(gate, 1.0) as slot:
            slot.call = Came(Fault("rate_limit", Action.COOL_DOWN, status=429, retry_after=59.0))
        assert gate.stalled(clock.now()) is None
        await clock.sleep(61.0)
        assert gate.stalled(clock.now())
        await gate.close()

    clock.run(main())


def test_several_loops_stand_in_one_line() -> None:
    """Three pipelines in threads of their own share four places: together never more, and all finish."""
    governor = Governor(Pace(concurrency=4), now=SystemClock().now())
    lock, flying, most, done = threading.Lock(), 0, 0, 0

    async def pipeline() -> None:
        nonlocal flying, most, done
        gate = Gate(governor, SystemClock())

        async def row() -> None:
            nonlocal flying, most, done
            async with held(gate, 1.0) as slot:
                with lock:
                    flying += 1
                    most = max(most, flying)
                await asyncio.sleep(0.001)
                with lock:
                    flying -= 1
                    done += 1
                slot.call = Came(DONE)

        await asyncio.gather(*(row() for _ in range(60)))
        await gate.close()

    threads = [threading.Thread(target=asyncio.run, args=(pipeline(),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30.0)

    assert done == 180 and governor.in_flight == 0
    assert most == 4


def test_what_one_address_refuses_holds_nobody_back_at_another() -> None:
    clock = VirtualClock()
    leading = ["main"]
    went: list[tuple[str, float]] = []

    async def main() -> None:
        made: list[str] = []

        def make(address: str) -> Gate:
            made.append(address)
            return gate_of(clock)

        gates = Gates(lambda: leading[0], make)

        async def row(reply: Reply) -> None:
            slot = await gates.enter(1.0)
            went.append((leading[0], clock.now()))
            slot.call = Came(reply)
            slot.leave()

        await row(Fault("rate_limit", Action.COOL_DOWN, status=429, retry_after=30.0))
        leading[0] = "fallback"
        await row(DONE)
        leading[0] = "main"
        await row(DONE)
        assert made == ["main", "fallback"] and gates.waiting == 0 and gates.stalled(clock.now()) is None
        await gates.close()

    clock.run(main())
    assert [address for address, _ in went] == ["main", "fallback", "main"]
    assert went[1][1] < 1.0 and went[2][1] >= 30.0
