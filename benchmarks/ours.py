"""Our engine as a contender: validation and store on, a DuckDB file as everybody has it.

python -m benchmarks.ours --kind default|fast
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import polars as pl

from benchmarks.work import KEY, MODEL, SYSTEM, Ticket, contend, options
from extract import Client, Pace, Pipeline


def run(rows: list[str], concurrency: int, base: str) -> list[Any]:
    """All rows through one run."""
    transport: Any = "fast" if options().kind == "fast" else "httpx"
    client = Client(base, api_key=KEY, transport=transport)
    pipeline = Pipeline(Ticket, system=SYSTEM, model=MODEL, client=client, pace=Pace(concurrency=concurrency))
    frame = pl.DataFrame({"id": range(len(rows)), "text": rows})
    with tempfile.TemporaryDirectory() as folder:
        done = pipeline.run(frame, key="id", store=str(Path(folder) / "store.duckdb"))
        accepted = dict(done.accepted.select("id", "customer").iter_rows())
    return [accepted.get(number) for number in range(len(rows))]


if __name__ == "__main__":
    contend(f"ours {options().kind}", run)
