"""One timer ends many tries, as `asyncio.timeout_at` would end each."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from extract.deadlines import Deadline, Deadlines


def run(job: Any) -> Any:
    return asyncio.run(job())


async def late(deadlines: Deadlines, seconds: float, names: list[str], name: str) -> None:
    with pytest.raises(TimeoutError), Deadline(deadlines, deadlines.now() + seconds):
        await asyncio.Event().wait()
    names.append(name)


def test_those_that_are_due_end_in_their_order_and_the_others_go_on() -> None:
    async def job() -> list[str]:
        deadlines, names = Deadlines(), list[str]()
        tries = [late(deadlines, seconds, names, str(seconds)) for seconds in (0.09, 0.01, 0.05)]
        with Deadline(deadlines, deadlines.now() + 600):
            await asyncio.gather(*tries)
        deadlines.close()
        return names

    assert run(job) == ["0.01", "0.05", "0.09"]


def test_an_end_that_moves_on_holds_and_one_that_moves_near_ends_soon() -> None:
    async def job() -> None:
        deadlines = Deadlines()
        with Deadline(deadlines, deadlines.now() + 0.01) as deadline:
            deadline.move(deadlines.now() + 600)
            await asyncio.sleep(0.03)
        with pytest.raises(TimeoutError), Deadline(deadlines, deadlines.now() + 600) as deadline:
            deadline.move(deadlines.now())
            await asyncio.Event().wait()

    run(job)


def test_a_cancellation_from_outside_stays_one() -> None:
    async def wait(deadlines: Deadlines, end: float) -> None:
        with Deadline(deadlines, end):
            await asyncio.Event().wait()

    async def job() -> None:
        deadlines = Deadlines()
        for end in (deadlines.now() + 600, deadlines.now() + 0.01):
            task = asyncio.create_task(wait(deadlines, end))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    run(job)


def test_a_block_that_is_over_is_not_ended() -> None:
    async def job() -> None:
        deadlines = Deadlines()
        with Deadline(deadlines, deadlines.now() + 0.01):
            pass
        await asyncio.sleep(0.03)

    run(job)


def test_the_inner_of_two_ends_alone() -> None:
    async def job() -> str:
        deadlines = Deadlines()
        with Deadline(deadlines, deadlines.now() + 600):
            try:
                with Deadline(deadlines, deadlines.now() + 0.01):
                    await asyncio.Event().wait()
            except TimeoutError:
                await asyncio.sleep(0)
                return "inner"
        return "none"

    assert run(job) == "inner"


def test_a_time_that_is_over_at_once_ends_the_next_wait() -> None:
    async def job() -> None:
        deadlines = Deadlines()
        with pytest.raises(TimeoutError), Deadline(deadlines, deadlines.now() - 1):
            await asyncio.Event().wait()

    run(job)
