"""The clock of tests itself: time stands still until nothing is left to do, and never runs backwards."""

from __future__ import annotations

import asyncio
import time

import pytest

from extract.clock import SystemClock
from extract.testing.clock import VirtualClock


def test_hours_pass_at_once_and_in_order() -> None:
    clock = VirtualClock(start=5.0)
    woke: list[tuple[str, float]] = []

    async def sleeper(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woke.append((name, clock.now()))

    async def main() -> None:
        await asyncio.gather(sleeper("late", 7_200.0), sleeper("soon", 60.0), sleeper("middle", 3_600.0))

    clock.run(main())

    assert woke == [("soon", 65.0), ("middle", 3_605.0), ("late", 7_205.0)]


def test_time_outs_of_asyncio_follow_the_same_clock() -> None:
    clock = VirtualClock()

    async def main() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(600):
                await asyncio.Event().wait()
        return clock.now()

    assert clock.run(main()) == pytest.approx(600.0)


def test_both_faces_move_together_and_only_the_wall_can_be_set() -> None:
    clock = VirtualClock(epoch=1_000_000.0)
    clock.advance(10.0)
    clock.set_wall(-600.0)

    assert clock.now() == 10.0
    assert clock.time() == 1_000_000.0 + 10.0 - 600.0


def test_on_an_ordinary_loop_time_jumps_when_the_loop_is_quiet() -> None:
    clock = VirtualClock()

    async def main() -> list[float]:
        async def sleeper(seconds: float) -> float:
            await clock.sleep(seconds)
            return clock.now()

        return await asyncio.gather(*(sleeper(seconds) for seconds in (50.0, 10.0, 3_000.0)))

    assert asyncio.run(main()) == [50.0, 10.0, 3_000.0]


def test_on_an_ordinary_loop_advance_wakes_whoever_is_due() -> None:
    clock = VirtualClock(grace=60.0)

    async def main() -> float:
        sleeping = asyncio.create_task(clock.sleep(100.0))
        await asyncio.sleep(0)
        clock.advance(99.0)
        await asyncio.sleep(0)
        assert not sleeping.done()
        clock.advance(1.0)
        await sleeping
        return clock.now()

    assert asyncio.run(main()) == 100.0


def test_a_cancelled_sleeper_does_not_hold_the_clock() -> None:
    clock = VirtualClock()

    async def main() -> float:
        first = asyncio.create_task(clock.sleep(1.0))
        second = asyncio.create_task(clock.sleep(9.0))
        await asyncio.sleep(0)
        first.cancel()
        await second
        return clock.now()

    assert asyncio.run(main()) == 9.0


def test_the_system_clock_is_the_one_of_the_machine() -> None:
    clock = SystemClock()

    async def main() -> None:
        await clock.sleep(-1.0)

    asyncio.run(main())
    assert clock.now() <= time.monotonic()
    assert abs(clock.time() - time.time()) < 60
