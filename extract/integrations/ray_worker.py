"""A worker over a Ray dataset: the engine of `Pipeline.run` on block after block, under hub and writer.

Knows how to reach the two actors, and nothing of how they are made.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ray

from extract.breaker import Breaker, Stop
from extract.clock import SystemClock
from extract.courier import Books, Courier
from extract.engine import Engine
from extract.errors import ConfigError, InputError
from extract.integrations import spans
from extract.integrations.claims import Claimant, number_of
from extract.integrations.hub import Granted, LeasedClearance, Words
from extract.integrations.ray_rows import block_frame
from extract.observe import RunBegan, RunEnded, heard, tell, telling
from extract.outcome import Outcome
from extract.pipeline import Pipeline
from extract.report import Tally
from extract.session import work_of
from extract.stopper import Stopper
from extract.store import Batch
from extract.store.policy import Policy
from extract.tables import RowSource, read_rows
from extract.work import Ledger

if TYPE_CHECKING:
    import polars as pl

log = logging.getLogger("extract")


@dataclass(frozen=True, slots=True)
class Task:
    """What workers are told.

    size: requests that one may want at a time. settings: of the pipeline. trace: the span that spans of
    workers are below, for OpenTelemetry.
    """

    run_id: str
    key: tuple[str, ...]
    size: int
    settings: dict[str, Any]
    policy: Policy
    trace: Mapping[str, str]

    @property
    def price(self) -> Any:
        """The price of a request, where there is one."""
        prices = self.settings["prices"]
        return None if prices is None else prices.find(self.settings["model"])


class Computation:
    """Tells one computing of a dataset from the next: Ray sends it to its workers once each time."""

    def __init__(self, name: str = "") -> None:
        self.name = name

    def __reduce__(self) -> tuple[Any, ...]:
        return Computation, (os.urandom(8).hex(),)


class _RayDesk:
    """The hub actor, as a desk."""

    def __init__(self, hub: Any) -> None:
        self._hub = hub

    async def tell(self, worker: str, words: Words) -> None:
        await self._hub.tell.remote(worker, words)

    async def wait(self, worker: str) -> Granted:
        granted: Granted = await self._hub.wait.remote(worker)
        return granted

    async def leave(self, worker: str) -> None:
        await self._hub.leave.remote(worker)


class _RemoteStore:
    """The part of a store that a ledger needs, elsewhere."""

    def __init__(self, writer: Any, block: str, policy: Policy) -> None:
        self._writer, self._block, self.policy = writer, block, policy

    def recall(self, fingerprints: Sequence[str]) -> Future[Any]:
        future: Future[Any] = self._writer.recall.remote(self._block, list(fingerprints)).future()
        return future

    def states(self, job: str, keys: Sequence[str]) -> Future[Any]:
        future: Future[Any] = self._writer.states.remote(job, list(keys)).future()
        return future

    def commit(self, batch: Batch) -> Future[Any]:
        future: Future[Any] = self._writer.commit.remote(batch).future()
        return future


class Worker:
    """What Ray calls with block after block."""

    def __init__(self, task: Task, computation: Computation, hub: Any, writer: Any) -> None:
        self._task, self._writer = task, writer
        self._pipeline = Pipeline(**task.settings)
        self._desk = _RayDesk(hub)
        self._name = os.urandom(4).hex()
        self._blocks = 0
        actor = ray.get_runtime_context().get_actor_id() or self._name
        self._claimant = Claimant(computation.name, actor, self._name)

    @property
    def _block(self) -> str:
        """The name of the block that is worked on."""
        return f"{self._name}-{self._blocks}"

    def __call__(self, table: Any) -> Any:
        import polars as pl

        frame, task = pl.DataFrame(table), self._task
        self._check(frame.columns)
        self._blocks += 1
        outcomes: dict[str, Outcome] = {}
        repeated: set[str] = set()
        source: RowSource | None = None
        tally, stop = Tally(), None
        try:
            source = read_rows(frame, key=task.key)
            repeated, rest = self._claim(frame, source)
            tally, stop = self._work(rest, outcomes)
        except InputError as error:  # a null or repeated key: these rows cannot be told apart
            source, stop = None, Stop("input", str(error))
        except Exception as error:
            log.exception("a block failed")
            stop = Stop("failing", f"{type(error).__name__}: {error}")
        counts = _counts(frame.height, tally) | {"repeated": len(repeated)}
        ray.get(self._writer.done.remote(self._block, counts))
        why = str(stop) if stop else None
        made = block_frame(self._pipeline, frame, task.key, source, outcomes, why, repeated=repeated)
        return made.to_arrow(compat_level=pl.CompatLevel.oldest())

    def _check(self, columns: Sequence[str]) -> None:
        """Raises ConfigError where nothing can come of any row; before anything is sent."""
        if absent := [name for name in self._task.key if name not in columns]:
            raise ConfigError(f"key column {absent[0]!r} is not there; the columns are {list(columns)}")
        self._pipeline.rendering.require(columns)

    def _claim(self, frame: pl.DataFrame, source: RowSource) -> tuple[set[str], RowSource]:
        """Keys that another block has, and the rows without them."""
        keys = [row.key for batch in source for row in batch]
        taken = ray.get(self._writer.claim.remote(self._claimant, [number_of(key) for key in keys]))
        if not taken:
            return set(), source
        log.error("%d keys of a block are in another one as well, %r for one", len(taken), keys[taken[0]])
        others = sorted(set(range(len(keys))).difference(taken))
        return {keys[place] for place in taken}, read_rows(frame[others], key=self._task.key)

    def _work(self, source: RowSource, outcomes: dict[str, Outcome]) -> tuple[Tally, Stop | None]:
        """The engine over one block; whoever listens in this process hears of it as of a run."""
        if not heard():
            return asyncio.run(self._drive(source, outcomes))
        about, now = (self._task.run_id, self._pipeline.label, self._pipeline.model), SystemClock().time
        with spans.below(self._task.trace):
            tell(RunBegan(*about, now(), source.total))
            tally, stop = asyncio.run(self._drive(source, outcomes))
            report = _counts(source.total or 0, tally)
            tell(RunEnded(*about, now(), report, stop.reason if stop else None))
        return tally, stop

    async def _drive(self, source: RowSource, outcomes: dict[str, Outcome]) -> tuple[Tally, Stop | None]:
        """The engine over one block, under the hub."""
        pipeline, run, clock = self._pipeline, self._task, SystemClock()
        store: Any = _RemoteStore(self._writer, self._block, run.policy)
        tally, price = Tally(), run.price
        stopper, breaker = Stopper(), Breaker(pipeline.patience)
        work = work_of(pipeline, pipeline.label, run.run_id)

        async def publish(some: Sequence[Outcome]) -> None:
            outcomes.update({outcome.key: outcome for outcome in some})

        assert pipeline.client is not None
        async with (
            pipeline.client.connect(concurrency=run.size, clock=clock) as line,
            LeasedClearance(self._desk, self._block, stopper) as clearance,
        ):
            books = Books(run.run_id, tally, price, series=f"{self._block}-")
            courier = Courier(line, clearance, books, stopper=stopper, breaker=breaker, clock=clock)
            ledger = Ledger(store, work, clock, output=None, price=price)
            engine = Engine(
                work,
                source,
                ledger,
                courier,
                concurrency=run.size,
                stopper=stopper,
                breaker=breaker,
                tally=tally,
                publish=telling(publish, run.run_id, clock),
            )
            await engine.run()
        return tally, stopper.stop


def _counts(rows: int, tally: Tally) -> dict[str, int]:
    return {
        "rows": rows,
        "accepted": tally.accepted,
        "dead_letters": tally.dead_letters,
        "pending": rows - tally.done,
        "requests": tally.requests,
        "reused": tally.reused,
    }
