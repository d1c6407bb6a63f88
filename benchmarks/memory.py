"""Memory and time over many short rows: nothing may grow with their number.

    python -m benchmarks.memory [--rows 1000000] [--transport fast] [--into tickets|tickets.parquet]

Runs 10,000 rows and then many, each in a process of its own, from a Parquet file that is read in batches,
and then the many once more, which has to ask nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.contest import ROOT, pinned, saved, stub
from benchmarks.work import KEY, MODEL, peak_mb, table

FEW = 10_000


def child(told: argparse.Namespace) -> None:
    """One run, and one line about it."""
    import polars as pl
    from pydantic import BaseModel

    from extract import Client, Pace, Pipeline

    class Short(BaseModel):
        """A ticket in short."""

        customer: str
        priority: int

    client = Client(told.base, api_key=KEY, transport=told.transport)
    pipeline = Pipeline(Short, model=MODEL, client=client, pace=Pace(concurrency=64), cache=None)
    folder = Path(told.folder)
    into: Any = folder / told.into if told.into.endswith(".parquet") else told.into
    began, worked = time.perf_counter(), time.process_time()
    frame = pl.scan_parquet(folder / f"{told.rows}.parquet")
    report = pipeline.run(frame, key="id", store=folder / "store.duckdb", into=into).report
    line = {
        "rows": told.rows,
        "seconds": time.perf_counter() - began,
        "cpu": time.process_time() - worked,
        "peak_mb": peak_mb(),
        "accepted": report.accepted,
        "requests": report.requests,
        "stopped": str(report.stopped or ""),
    }
    print(json.dumps(line), flush=True)


def make_rows(path: Path, rows: int) -> None:
    """The input, about sixty letters a row."""
    import polars as pl

    number = pl.int_range(rows, eager=True).alias("id")
    text = pl.format(
        "ROW-{} was charged twice and asks for a refund", pl.col("id").cast(pl.String).str.zfill(7)
    )
    pl.DataFrame(number).with_columns(text.alias("text")).write_parquet(path, row_group_size=50_000)


def measured(base: str, folder: Path, rows: int, told: argparse.Namespace) -> dict[str, Any]:
    """A child's line."""
    command = [*pinned(0), sys.executable, "-m", "benchmarks.memory", "--child", "--base", base]
    command += [
        "--rows",
        str(rows),
        "--folder",
        str(folder),
        "--transport",
        told.transport,
        "--into",
        told.into,
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-2_000:])
    result = dict(json.loads(done.stdout.splitlines()[-1]))
    print(f"  {result}", file=sys.stderr, flush=True)
    return result


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--transport", default="fast")
    parser.add_argument("--into", default="tickets")
    parser.add_argument("--child", action="store_true")
    parser.add_argument("--base")
    parser.add_argument("--folder")
    told = parser.parse_args()
    if told.child:
        child(told)
        return
    with stub() as server, tempfile.TemporaryDirectory() as few, tempfile.TemporaryDirectory() as many:
        server.turn(short=1)
        make_rows(Path(few) / f"{FEW}.parquet", FEW)
        make_rows(Path(many) / f"{told.rows}.parquet", told.rows)
        lines = [
            ("few", measured(server.base, Path(few), FEW, told)),
            ("many", measured(server.base, Path(many), told.rows, told)),
            ("many again", measured(server.base, Path(many), told.rows, told)),
        ]
        size = (Path(many) / "store.duckdb").stat().st_size / 1e6
    saved(f"memory-{told.rows}", lines)
    print(f"\ninto {told.into}, {told.transport}, store {size:,.0f} MB, load {os.getloadavg()[0]:.1f}\n")
    head = ["run", "rows", "asked", "seconds", "µs a row", "µs CPU a row", "peak MB"]
    body = [
        [name, f"{line['rows']:,}", f"{line['requests']:,}", f"{line['seconds']:.1f}"]
        + [f"{line[what] / line['rows'] * 1e6:.0f}" for what in ("seconds", "cpu")]
        + [f"{line['peak_mb']:.0f}"]
        for name, line in lines
    ]
    print(table(head, body))


if __name__ == "__main__":
    main()
