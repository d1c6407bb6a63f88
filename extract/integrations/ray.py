"""A pipeline over a Ray dataset: many machines, one limit, one budget, one store.

Each worker runs the engine of `Pipeline.run` on its blocks. Two actors serve them all: the hub, which says
who may send (`integrations.leases`), and the writer, which owns the store. Scheduling, retries of blocks and
output files are Ray's. Knows nothing of how rows are answered.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from extract.breaker import Breaker, Stop
from extract.budget import Purse
from extract.client import Client
from extract.clock import SystemClock
from extract.courier import Books, Courier
from extract.engine import Engine
from extract.errors import ConfigError, ExtractError, InputError, MissingExtraError
from extract.integrations.hub import Granted, LeasedClearance, Words
from extract.integrations.ray_actors import HubActor, WriterActor
from extract.integrations.ray_rows import block_frame
from extract.outcome import Outcome
from extract.pace import Pace
from extract.pipeline import DEFAULT_STORE, Pipeline
from extract.report import Tally
from extract.signature import signature_of
from extract.stopper import Stopper
from extract.store import Batch, Keep, RunStart
from extract.store.policy import Policy
from extract.tables import RowSource, read_rows
from extract.work import Ledger, Work

try:
    import ray
    import ray.data
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ImportError as error:
    raise MissingExtraError("ray", "ray", "extract.integrations.ray") from error

log = logging.getLogger("extract")

_NAMESPACE = "extract"


def map(  # noqa: A001
    dataset: Any,
    pipeline: Pipeline,
    *,
    key: str | Sequence[str],
    workers: int = 2,
    store: str | Path = DEFAULT_STORE,
    keep: Keep = "dead_letters",
    private: Sequence[str] = (),
    batch_size: int = 256,
    lifetime: float = 30.0,
    num_cpus: float = 1.0,
) -> Any:
    """A dataset with one row for each row of the input, to be written wherever Ray writes.

    Its columns: the key, those of the output model (null unless accepted), `_outcome` ("accepted", "dead" or
    "pending") and `_reason` (of a dead letter, or why the run stopped). `list[Model]` gives a row an item and
    a column `index`. No row raises: filter on `_outcome`. Pending rows have not been asked to their end: the
    same call goes on with them, and pays for nothing twice.

    Like any dataset it is computed when it is read or written; computed twice, it pays once.

    dataset: a Ray dataset. key: the columns that tell rows apart, over the whole dataset.
    workers: processes; the pace and the budget of the pipeline are for all of them together.
    store: a DuckDB file on the machine of the driver: answers, dead letters, requests.
    keep, private: as for `Pipeline.run`. batch_size: rows that a worker takes at a time.
    lifetime: seconds of silence until a worker counts as dead and its share comes back.
    num_cpus: what Ray sets aside for each worker.

    Raises ConfigError or StoreError before anything is sent.
    """
    names = (key,) if isinstance(key, str) else tuple(key)
    _check(dataset, pipeline, names, workers)
    run = _Run(
        run_id=f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{os.urandom(3).hex()}",
        key=names,
        size=_size(pipeline.pace or Pace(), workers),
        settings=_settings(pipeline),
        policy=Policy(keep, tuple(private)),
    )
    writer = _writer(Path(store).resolve(), run.policy, _start(run, pipeline))
    hub = ray.remote(HubActor).options(
        name=f"extract-hub-{run.run_id}", namespace=_NAMESPACE, num_cpus=0, max_concurrency=10_000
    )
    return dataset.map_batches(
        _Worker,
        fn_constructor_kwargs={"run": run, "hub": hub.remote(run.settings, lifetime), "writer": writer},
        batch_format="pyarrow",
        batch_size=batch_size,
        compute=ray.data.ActorPoolStrategy(size=workers),
        num_cpus=num_cpus,
    )


@dataclass(frozen=True, slots=True)
class _Run:
    """What workers are told. size: requests that one may want at a time. settings: of the pipeline."""

    run_id: str
    key: tuple[str, ...]
    size: int
    settings: dict[str, Any]
    policy: Policy


def _check(dataset: Any, pipeline: Pipeline, key: Sequence[str], workers: int) -> None:
    if not isinstance(dataset, ray.data.Dataset):
        raise ConfigError(
            f"map() takes a Ray dataset, not a {type(dataset).__name__}: see ray.data.from_arrow"
        )
    if workers < 1:
        raise ConfigError(f"workers={workers}: give at least one")
    if not key:
        raise ConfigError("key= names the columns that tell rows apart; over many blocks nothing else can")
    schema = dataset.schema(fetch_if_missing=False)
    if schema is not None:
        pipeline.rendering.require(schema.names)
        if absent := [name for name in key if name not in schema.names]:
            raise ConfigError(f"key column {absent[0]!r} is not there; the columns are {schema.names}")
    (pipeline.client or Client()).check()
    Purse(pipeline.budget, _price(pipeline))


def _settings(pipeline: Pipeline) -> dict[str, Any]:
    """What a pipeline is made of; it is made again on the other side."""
    client = pipeline.client or Client()  # a key of the driver's environment goes along
    given = {f.name: getattr(pipeline, f.name) for f in fields(pipeline) if f.name != "_"}
    return given | {"client": client}


def _price(pipeline: Pipeline) -> Any:
    return None if pipeline.prices is None else pipeline.prices.find(pipeline.model)


def _size(pace: Pace, workers: int) -> int:
    """A half more than its even share, so that one that waits leaves no place empty."""
    return min(pace.concurrency, max(2, math.ceil(1.5 * pace.concurrency / workers)))


def _start(run: _Run, pipeline: Pipeline) -> RunStart:
    return RunStart(
        run.run_id,
        pipeline.label,
        time.time(),
        model=pipeline.model,
        effort=pipeline.effort,
        max_tokens=pipeline.max_tokens,
        signature=signature_of(pipeline),
        schema_text=pipeline.compiled.text,
        key_columns=run.key,
    )


# the writer of a store -------------------------------------------------------------------------


_writers: dict[Path, Any] = {}  # one a store in a driver, as long as it lives


def _writer(path: Path, policy: Policy, start: RunStart) -> Any:
    """The writer of a store, on this machine, ready. Raises StoreError."""
    for new in (False, True):
        if new or path not in _writers:
            here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
            _writers[path] = (
                ray.remote(WriterActor)
                .options(
                    name=f"extract-store-{start.run_id}",
                    namespace=_NAMESPACE,
                    num_cpus=0,
                    max_concurrency=1_000,
                    scheduling_strategy=here,
                )
                .remote(str(path))
            )
        try:
            ray.get(_writers[path].begin.remote(start, policy))
            break
        except ray.exceptions.RayTaskError as failed:
            raise (failed.cause if isinstance(failed.cause, ExtractError) else failed) from None
        except ray.exceptions.RayActorError:  # Ray was shut down and started again since
            if new:
                raise
    return _writers[path]


# a worker ----------------------------------------------------------------------------------------


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


class _Worker:
    """What Ray calls with block after block."""

    def __init__(self, run: _Run, hub: Any, writer: Any) -> None:
        self._run, self._writer = run, writer
        self._pipeline = Pipeline(**run.settings)
        self._desk = _RayDesk(hub)
        self._name = os.urandom(4).hex()
        self._blocks = 0

    @property
    def _block(self) -> str:
        """The name of the block that is worked on."""
        return f"{self._name}-{self._blocks}"

    def __call__(self, table: Any) -> Any:
        import polars as pl

        frame, run = pl.DataFrame(table), self._run
        self._blocks += 1
        outcomes: dict[str, Outcome] = {}
        try:
            source = read_rows(frame, key=run.key)
            tally, stop = asyncio.run(self._drive(source, outcomes))
        except InputError as error:  # a null or repeated key: these rows cannot be told apart
            tally, stop, source = Tally(), Stop("input", str(error)), None
        except Exception as error:
            log.exception("a block failed")
            tally, stop = Tally(), Stop("failing", f"{type(error).__name__}: {error}")
        counts = {
            "rows": frame.height,
            "accepted": tally.accepted,
            "dead_letters": tally.dead_letters,
            "pending": frame.height - tally.done,
            "requests": tally.requests,
            "reused": tally.reused,
        }
        ray.get(self._writer.done.remote(self._block, counts))
        made = block_frame(self._pipeline, frame, run.key, source, outcomes, str(stop) if stop else None)
        return made.to_arrow(compat_level=pl.CompatLevel.oldest())

    async def _drive(self, source: RowSource, outcomes: dict[str, Outcome]) -> tuple[Tally, Stop | None]:
        """The engine over one block, under the hub."""
        pipeline, run, clock = self._pipeline, self._run, SystemClock()
        store: Any = _RemoteStore(self._writer, self._block, run.policy)
        tally, price = Tally(), _price(self._pipeline)
        stopper, breaker = Stopper(), Breaker(pipeline.patience)
        work = Work(
            pipeline.label,
            run.run_id,
            pipeline.rendering,
            pipeline.envelope,
            pipeline.judge,
            pipeline.columns,
            pipeline.limits,
            many=pipeline.compiled.many,
            split=pipeline.split,
        )

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
                publish=publish,
            )
            await engine.run()
        return tally, stopper.stop
