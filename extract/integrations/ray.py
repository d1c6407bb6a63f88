"""A pipeline over a Ray dataset: many machines, one limit, one budget, one store.

Each worker runs the engine of `Pipeline.run` on its blocks. Two actors serve them all: the hub, which says
who may send (`integrations.leases`), and the writer, which owns the store. Scheduling, retries of blocks and
output files are Ray's. Knows nothing of how rows are answered.
"""

from __future__ import annotations

import atexit
import contextlib
import math
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from extract.budget import Purse
from extract.client import Client
from extract.errors import ConfigError, ExtractError, MissingExtraError

try:
    import ray
    import ray.data
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
except ImportError as error:
    raise MissingExtraError("ray", "ray", "extract.integrations.ray") from error

from extract.integrations import spans
from extract.integrations.ray_actors import Driver, HubActor, WriterActor
from extract.integrations.ray_tables import Tables
from extract.integrations.ray_worker import Computation, Task, Worker
from extract.pace import Pace
from extract.pipeline import DEFAULT_STORE, Pipeline
from extract.signature import signature_of
from extract.store import Keep, RunStart
from extract.store.policy import Policy

__all__ = ["finish", "map"]

_NAMESPACE = "extract"


def map(  # noqa: A001
    dataset: Any,
    pipeline: Pipeline,
    *,
    key: str | Sequence[str],
    workers: int = 2,
    store: str | Path = DEFAULT_STORE,
    tables: str | Path | None = None,
    filesystem: Any = None,
    keep: Keep = "dead_letters",
    private: Sequence[str] = (),
    batch_size: int = 256,
    lifetime: float = 30.0,
    num_cpus: float = 0.5,
) -> Any:
    """A dataset with one row for each row of the input, to be written wherever Ray writes.

    Its columns: the key, those of the output model (null unless accepted), `_outcome` ("accepted", "dead" or
    "pending") and `_reason` (of a dead letter, or why the run stopped). `list[Model]` gives a row an item and
    a column `index`. No row raises: filter on `_outcome`. Pending rows have not been asked to their end: the
    same call goes on with them, and pays for nothing twice. A key that another block has too is pending.

    Like any dataset it is computed when it is read or written; computed twice, it pays once.

    dataset: a Ray dataset. key: the columns that tell rows apart, over the whole dataset.
    workers: processes; the pace and the budget of the pipeline are for all of them together.
    store: a DuckDB file on the machine of the driver: answers, dead letters, requests.
    tables: a folder, on any filesystem that pyarrow or fsspec reaches: dead letters and requests of this job
        are written there as well, as Parquet in `dead_letters/` and `calls/`, in parts as they come.
    filesystem: of `tables`, as for Ray's `write_parquet`, where its URI does not say it.
    keep, private: as for `Pipeline.run`. batch_size: rows that a worker takes at a time.
    lifetime: seconds of silence until a worker counts as dead and its share comes back.
    num_cpus: what Ray sets aside for each worker; most of its time it waits.

    Raises ConfigError or StoreError before anything is sent.
    """
    names = (key,) if isinstance(key, str) else tuple(key)
    _check(dataset, pipeline, names, workers)
    task = _task(pipeline, names, workers, Policy(keep, tuple(private)))
    followers = None if tables is None else Tables(tables, filesystem)
    writer = _writer(Path(store).resolve(), task.policy, _start(task, pipeline), followers)
    told = {"task": task, "computation": Computation(), "hub": _hub(task, lifetime), "writer": writer}
    return dataset.map_batches(
        Worker,
        fn_constructor_kwargs=told,
        batch_format="pyarrow",
        batch_size=batch_size,
        compute=ray.data.ActorPoolStrategy(size=workers),
        num_cpus=num_cpus,
    )


def finish(store: str | Path = DEFAULT_STORE) -> dict[str, Any]:
    """Waits until all that was handed in is written, `tables` too, and lets the store go.

    To be called once the dataset was read or written; without it that happens two seconds after the last
    block, or as the program ends. Returns the counts of the run: `run_id`, `rows`, `accepted`,
    `dead_letters`, `pending`, `repeated` (of the pending: keys of another block), `requests`, `reused`.

    store: as it was given to `map`. Raises ConfigError for one that it was not given, StoreError.
    """
    path = Path(store).resolve()
    if path not in _writers:
        raise ConfigError(f"{store} is not the store of a map() in this program; give the same store=")
    counts: dict[str, Any] = _asked(_writers[path].finish.remote())
    return counts


def _check(dataset: Any, pipeline: Pipeline, key: Sequence[str], workers: int) -> None:
    if not isinstance(dataset, ray.data.Dataset):
        raise ConfigError(
            f"map() takes a Ray dataset, not a {type(dataset).__name__}: see ray.data.from_arrow"
        )
    if not isinstance(workers, int) or workers < 1:
        raise ConfigError(f"workers={workers}: give the number of processes, at least 1")
    if not key:
        raise ConfigError("key= names the columns that tell rows apart; over many blocks nothing else can")
    schema = dataset.schema(fetch_if_missing=False)
    if schema is not None:  # otherwise the first worker looks
        pipeline.rendering.require(schema.names)
        if absent := [name for name in key if name not in schema.names]:
            raise ConfigError(f"key column {absent[0]!r} is not there; the columns are {schema.names}")
    (pipeline.client or Client()).check()
    Purse(pipeline.budget, None if pipeline.prices is None else pipeline.prices.find(pipeline.model))


def _task(pipeline: Pipeline, key: tuple[str, ...], workers: int, policy: Policy) -> Task:
    settings = {f.name: getattr(pipeline, f.name) for f in fields(pipeline) if f.name != "_"}
    return Task(
        run_id=f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{os.urandom(3).hex()}",
        key=key,
        size=_size(pipeline.pace or Pace(), workers),
        settings=settings | {"client": pipeline.client or Client()},  # a key of the environment goes along
        policy=policy,
        trace=spans.here(),
    )


def _hub(task: Task, lifetime: float) -> Any:
    """The hub of a run; it needs no key."""
    actor = ray.remote(HubActor).options(
        name=f"extract-hub-{task.run_id}", namespace=_NAMESPACE, num_cpus=0, max_concurrency=10_000
    )
    return actor.remote(task.settings | {"client": None}, lifetime)


def _size(pace: Pace, workers: int) -> int:
    """A half more than its even share, so that one that waits leaves no place empty."""
    return min(pace.concurrency, max(2, math.ceil(1.5 * pace.concurrency / workers)))


def _start(task: Task, pipeline: Pipeline) -> RunStart:
    return RunStart(
        task.run_id,
        pipeline.label,
        time.time(),
        model=pipeline.model,
        effort=pipeline.effort,
        max_tokens=pipeline.max_tokens,
        signature=signature_of(pipeline),
        schema_text=pipeline.compiled.text,
        key_columns=task.key,
    )


# the writer of a store -------------------------------------------------------------------------


_writers: dict[Path, Any] = {}  # one a store in a driver, as long as it lives


def _writer(path: Path, policy: Policy, start: RunStart, tables: Tables | None) -> Any:
    """The writer of a store, on this machine, ready. Raises StoreError."""
    for new in (False, True):
        if new or path not in _writers:
            _writers[path] = _new_writer(path, start)
        try:
            _asked(_writers[path].begin.remote(start, policy, tables))
            break
        except ray.exceptions.RayActorError:  # Ray was shut down and started again since
            if new:
                raise
    return _writers[path]


def _new_writer(path: Path, start: RunStart) -> Any:
    if not _writers:
        atexit.register(_finish_all)  # before Ray's own, which was registered earlier
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    actor = ray.remote(WriterActor).options(
        name=f"extract-store-{start.run_id}",
        namespace=_NAMESPACE,
        num_cpus=0,
        max_concurrency=1_000,
        scheduling_strategy=here,
    )
    return actor.remote(str(path), Driver(os.getpid(), sys.argv[0]))


def _finish_all() -> None:
    if ray.is_initialized():
        for writer in _writers.values():
            with contextlib.suppress(Exception):  # the next run goes on from the store
                ray.get(writer.finish.remote(), timeout=60)


def _asked(asked: Any) -> Any:
    """What an actor answers; its errors of ours are raised as they are."""
    try:
        return ray.get(asked)
    except ray.exceptions.RayTaskError as failed:
        raise (failed.cause if isinstance(failed.cause, ExtractError) else failed) from None
