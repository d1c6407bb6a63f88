"""Several engines of one process under one hub, over real sockets: all that Ray adds is the way between."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from pydantic import BaseModel

from extract import Budget, Client, Pace, Pipeline
from extract.budget import Purse
from extract.clock import SystemClock
from extract.governor import Governor
from extract.integrations.hub import Granted, Hub, LeasedClearance, Words
from extract.integrations.leases import Leases
from extract.protocol.blocks import text_block
from extract.protocol.reply import Message
from extract.stopper import Stopper
from extract.testing import LocalEndpoint
from extract.warmth import Warmth


class Note(BaseModel):
    """One note."""

    shop: str


@pytest.fixture
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint("latency=10ms") as server:
        yield server


def hub_of(concurrency: int, budget: Budget | None = None) -> Hub:
    now = SystemClock().now()
    governor = Governor(Pace(concurrency=concurrency), now=now)
    return Hub(Leases(governor, Purse(budget, None), Warmth(None, 0), ttl=None, lifetime=2.0))


async def worker(hub: Hub, name: str, endpoint: LocalEndpoint, count: int) -> tuple[int, Stopper]:
    pipeline, stopper = Pipeline(Note), Stopper()
    client = Client(endpoint.base_url, api_key=endpoint.api_key)
    answered = 0
    async with client.connect(concurrency=count) as line, LeasedClearance(hub, name, stopper) as clearance:

        async def send(number: int) -> None:
            nonlocal answered
            request = pipeline.envelope.request([text_block(f"Shop: {name}{number}")])
            async with clearance.enter(request) as leave:
                if leave is not None:
                    call = await line.send(request, on_start=leave.started)
                    leave.settle(call)
                    answered += isinstance(call.reply, Message)

        await asyncio.gather(*map(send, range(count)))
    return answered, stopper


def test_all_workers_together_stay_under_the_limit(endpoint: LocalEndpoint) -> None:
    async def main() -> tuple[Hub, list[tuple[int, Stopper]]]:
        hub = hub_of(6)
        return hub, await asyncio.gather(*(worker(hub, name, endpoint, 30) for name in "abc"))

    hub, done = asyncio.run(main())
    assert [answered for answered, _ in done] == [30, 30, 30]
    assert hub.leases.governor.counts.peak <= 6 and endpoint.counts()["max_in_flight"] <= 6
    assert hub.leases.in_flight == 0 and hub.leases.workers == 0
    assert hub.messages < 90 * 3


def test_one_budget_for_all_and_everybody_hears_of_its_end(endpoint: LocalEndpoint) -> None:
    async def main() -> list[tuple[int, Stopper]]:
        hub = hub_of(6, Budget(requests=40))
        return await asyncio.gather(*(worker(hub, name, endpoint, 30) for name in "abc"))

    done = asyncio.run(main())
    assert sum(answered for answered, _ in done) == 40 == endpoint.counts()["requests"]
    assert {stopper.stop.reason for _, stopper in done if stopper.stop} == {"budget"}
    assert all(stopper.stop or answered == 30 for answered, stopper in done)


def test_without_a_hub_the_run_stops_with_rows_pending(endpoint: LocalEndpoint) -> None:
    class Gone:
        async def tell(self, worker: str, words: Words) -> None:
            raise ConnectionError("the actor died")

        async def wait(self, worker: str) -> Granted:
            raise ConnectionError("the actor died")

        async def leave(self, worker: str) -> None:
            raise ConnectionError("the actor died")

    answered, stopper = asyncio.run(worker(Gone(), "a", endpoint, 5))  # type: ignore[arg-type]
    assert answered == 0 and stopper.stop is not None and "hub" in stopper.stop.message
