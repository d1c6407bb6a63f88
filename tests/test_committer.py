"""Batches, back-pressure and a writer that fails."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from extract.committer import Committer


def test_everything_put_is_committed_once_and_in_order() -> None:
    batches: list[list[int]] = []

    async def commit(batch: Sequence[int]) -> None:
        batches.append(list(batch))

    async def main() -> None:
        committer = Committer(commit, full=5, crowd=2)
        for n in range(57):
            await committer.put(n)
        await committer.close()

    asyncio.run(main())
    assert [n for batch in batches for n in batch] == list(range(57))
    assert max(map(len, batches)) <= 10


def test_no_more_than_the_bound_is_ever_uncommitted() -> None:
    open_gate = asyncio.Event()
    put, committed = 0, 0

    async def commit(batch: Sequence[int]) -> None:
        nonlocal committed
        await open_gate.wait()
        committed += len(batch)

    async def main() -> None:
        nonlocal put
        committer = Committer(commit, full=1, crowd=1)

        async def feed() -> None:
            nonlocal put
            for n in range(9):
                await committer.put(n)
                put += 1

        feeding = asyncio.create_task(feed())
        await asyncio.sleep(0.02)
        assert (put, committed) == (2, 0)
        open_gate.set()
        await feeding
        await committer.close()

    asyncio.run(main())
    assert committed == 9


def test_a_failing_writer_is_told_to_everyone() -> None:
    async def commit(batch: Sequence[int]) -> None:
        raise OSError("disk full")

    async def main() -> None:
        committer = Committer(commit, full=1, crowd=1)
        with pytest.raises(OSError, match="disk full"):
            for n in range(50):
                await committer.put(n)
        with pytest.raises(OSError, match="disk full"):
            await committer.close()

    asyncio.run(main())


def test_landing_returns_when_the_entry_is_durable() -> None:
    durable: list[int] = []

    async def commit(batch: Sequence[int]) -> None:
        await asyncio.sleep(0.001)
        durable.extend(batch)

    async def main() -> None:
        committer = Committer(commit, full=4, crowd=2)

        async def land(n: int) -> None:
            await committer.land(n)
            assert n in durable

        await asyncio.gather(*(land(n) for n in range(50)))
        await committer.close()

    asyncio.run(main())
    assert sorted(durable) == list(range(50))


def test_landing_hears_of_a_failed_commit() -> None:
    async def commit(batch: Sequence[int]) -> None:
        raise OSError("disk full")

    async def main() -> None:
        committer = Committer(commit, full=4, crowd=2)
        for failure in await asyncio.gather(*(committer.land(n) for n in range(20)), return_exceptions=True):
            assert isinstance(failure, OSError)
        with pytest.raises(OSError, match="disk full"):
            await committer.close()

    asyncio.run(main())


def test_who_waits_is_not_kept_waiting_for_company() -> None:
    batches: list[list[str]] = []

    async def commit(batch: Sequence[str]) -> None:
        batches.append(list(batch))
        if len(batches) == 1:
            await asyncio.sleep(0.05)  # so that a batch without anybody waiting waits a quarter of a second

    async def main() -> None:
        committer = Committer(commit, full=100, crowd=3)
        await committer.put("first")
        await asyncio.sleep(0.01)
        await committer.put("in no hurry")
        landing = [asyncio.create_task(committer.land(f"awaited {n}")) for n in range(3)]
        await asyncio.gather(*landing)
        assert len(batches) == 2
        await committer.close()

    asyncio.run(main())
    assert batches == [["first"], ["in no hurry", "awaited 0", "awaited 1", "awaited 2"]]


def test_entries_that_are_safe_wait_for_company() -> None:
    batches: list[int] = []

    async def commit(batch: Sequence[int]) -> None:
        await asyncio.sleep(0.02)
        batches.append(len(batch))

    async def main() -> None:
        committer = Committer(commit, full=50, crowd=3)
        for n in range(100):
            await committer.put(n)
            await asyncio.sleep(0.001)
        await committer.close()

    asyncio.run(main())
    assert sum(batches) == 100
    assert len(batches) <= 6  # one for the first entry, whose commit tells how long one takes
