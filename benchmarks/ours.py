"""Our engine as a contender: validation and store on, a DuckDB file as everybody has it.

python -m benchmarks.ours --kind default|fast
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.work import KEY, MODEL, SYSTEM, Ticket, contend, options
from extract import Client, Pace, Pipeline

_EVERY = 0.05  # seconds between two looks at the loop: waking up for one costs 0.1 ms
_late: list[float] = []


class Watched(Client):
    """A client whose event loop, the engine's, is asked how late it is."""

    @asynccontextmanager
    async def connect(self, **settings: Any) -> AsyncIterator[Any]:
        watch = asyncio.create_task(_watch())
        try:
            async with super().connect(**settings) as line:
                yield line
        finally:
            watch.cancel()


async def _watch() -> None:
    loop = asyncio.get_running_loop()
    while True:
        due = loop.time() + _EVERY
        await asyncio.sleep(_EVERY)
        _late.append(loop.time() - due)


def lag() -> dict[str, float]:
    """How late the engine's loop was, in milliseconds."""
    if len(_late) < 2:
        return {}
    return {"lag_p99_ms": statistics.quantiles(_late, n=100)[-1] * 1e3, "lag_max_ms": max(_late) * 1e3}


def run(rows: list[str], concurrency: int, base: str) -> list[Any]:
    """All rows through one run."""
    transport: Any = "fast" if options().kind == "fast" else "httpx"
    client = Watched(base, api_key=KEY, transport=transport)
    pipeline = Pipeline(Ticket, system=SYSTEM, model=MODEL, client=client, pace=Pace(concurrency=concurrency))
    frame = pl.DataFrame({"id": range(len(rows)), "text": rows})
    with tempfile.TemporaryDirectory() as folder:
        done = pipeline.run(frame, key="id", store=str(Path(folder) / "store.duckdb"))
        accepted = dict(done.accepted.select("id", "customer").iter_rows())
    return [accepted.get(number) for number in range(len(rows))]


if __name__ == "__main__":
    contend(f"ours {options().kind}", run, lag)
