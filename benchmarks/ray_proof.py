"""The proofs of `extract.integrations.ray`, with real workers on this machine and a real endpoint.

    python3 -m venv /tmp/ray && /tmp/ray/bin/pip install -e '.[ray,endpoint]'
    /tmp/ray/bin/python -m benchmarks.ray_proof            all of them, about three minutes
    /tmp/ray/bin/python -m benchmarks.ray_proof limit …    some

Each prints what it saw and fails on what it may not see. Figures of a run stand in docs/scale.md.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from benchmarks.served import KEY, Endpoint, Ticket, endpoint, tickets
from extract import Budget, Client, Pace, Pipeline

WORKERS = 3


def connect() -> Any:
    """Ray on this machine."""
    import ray

    if not ray.is_initialized():
        ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        logging.getLogger("ray.data").setLevel("ERROR")
        ray.data.DataContext.get_current().enable_progress_bars = False
        ray.cloudpickle.register_pickle_by_value(sys.modules[Ticket.__module__])
    return ray


def pipeline(base_url: str, **settings: Any) -> Pipeline:
    """The pipeline of all proofs."""
    return Pipeline(Ticket, client=Client(base_url, api_key=KEY), cache=None, **settings)


def run(work: Pipeline, rows: int, store: Path, out: Path, **options: Any) -> pl.DataFrame:
    """Maps some rows, writes Parquet, reads it again."""
    from extract.integrations.ray import map as extract_map

    ray = connect()
    dataset = ray.data.from_arrow(pl.DataFrame(tickets(rows)).to_arrow()).repartition(8)
    made = extract_map(
        dataset, work, key="id", workers=WORKERS, store=store, batch_size=64, num_cpus=0.5, **options
    )
    made.write_parquet(str(out))
    del made
    return pl.read_parquet(out / "*.parquet").sort("id")


def settled(store: Path) -> dict[str, Any]:
    """What the store says, once the writer has let it go."""
    for _ in range(100):
        try:
            with duckdb.connect(str(store), read_only=True) as con:
                calls = con.sql("SELECT count(*) FROM extract.calls").fetchall()[0][0]
                answers = con.sql("SELECT count(*) FROM extract.answers").fetchall()[0][0]
                runs = con.sql("SELECT state FROM extract.runs ORDER BY started_at").fetchall()
                return {"calls": calls, "answers": answers, "runs": [state for (state,) in runs]}
        except duckdb.Error:
            time.sleep(0.2)
    raise TimeoutError(f"{store} stays locked")


def plain(served: Endpoint, place: Path) -> str:
    """Rows come out whole, are written, and cost nothing the second time."""
    served.turn("latency=50ms,malformed=0.01,err500=0.02,seed=3")
    work, store = pipeline(served.base_url), place / "s.duckdb"
    first = run(work, 600, store, place / "a")
    requests = served.counts()["requests"]
    again = run(work, 600, store, place / "b")
    assert (first["_outcome"] == "accepted").all(), first.group_by("_outcome", "_reason").len()
    assert first.equals(again) and first.height == 600
    assert first["customer"].to_list() == [f"ROW-{n:06}" for n in range(600)]
    assert served.counts()["requests"] == requests
    seen = settled(store)
    assert seen["answers"] == 600 and seen["calls"] == requests and seen["runs"] == ["finished"] * 2, seen
    return f"600 rows over {WORKERS} workers: {requests} requests with faults; again: 0"


def limit(served: Endpoint, place: Path) -> str:
    """All workers together never send faster than the limit."""
    served.turn("latency=100ms")
    per_minute = 1_800
    work = pipeline(served.base_url, pace=Pace(requests_per_minute=per_minute))
    made = run(work, 600, place / "s.duckdb", place / "a")
    assert (made["_outcome"] == "accepted").all()
    settled(place / "s.duckdb")
    with duckdb.connect(str(place / "s.duckdb")) as con:
        sent = [at.timestamp() for (at,) in con.sql("SELECT started_at FROM extract.calls").fetchall()]
    arrived = [entry["started"] for entry in served.log()]
    most, rate = crowd(arrived), (len(sent) - 1) / (max(sent) - min(sent))
    assert len(arrived) == 600 and most <= per_minute / 60, (crowd(sent), most)
    return (
        f"limit 30 a second: {rate:.1f} used ({rate / (per_minute / 60):.0%}); in any second at most "
        f"{crowd(sent)} were sent, {most} arrived"
    )


def crowd(times: list[float]) -> int:
    """The most in any second."""
    return max(sum(start <= other < start + 1.0 for other in times) for start in times)


def money(served: Endpoint, place: Path) -> str:
    """One budget for all workers; what is left over is pending, and the next run goes on."""
    served.turn("latency=50ms")
    store = place / "s.duckdb"
    made = run(pipeline(served.base_url, budget=Budget(requests=200)), 600, store, place / "a")
    spent = served.counts()["requests"]
    outcomes = dict(made["_outcome"].value_counts().iter_rows())
    assert spent == 200 and outcomes == {"accepted": 200, "pending": 400}, (spent, outcomes)
    assert "budget" in made.filter(pl.col("_outcome") == "pending")["_reason"][0]
    rest = run(pipeline(served.base_url), 600, store, place / "b")
    assert (rest["_outcome"] == "accepted").all() and served.counts()["requests"] == 600
    return "budget of 200 requests: 200 sent, 400 rows pending; without it: 400 more, none twice"


def worker_dies(served: Endpoint, place: Path) -> str:
    """A worker that is killed repeats at most its rows in flight, and its share comes back."""
    import threading

    served.turn("latency=300ms")
    killed: list[int] = []

    def kill() -> None:
        while served.counts()["requests"] < 150:
            time.sleep(0.05)
        killed.append(workers()[0])
        os.kill(killed[0], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    work = pipeline(served.base_url, pace=Pace(concurrency=24))
    made = run(work, 600, place / "s.duckdb", place / "a", lifetime=4.0)
    thread.join()
    requests = served.counts()["requests"]
    assert killed and (made["_outcome"] == "accepted").all() and made.height == 600
    assert requests <= 600 + 24, requests
    return f"worker {killed[0]} killed at 150 of 600: every row once, {requests - 600} requests repeated"


def workers() -> list[int]:
    """Processes of workers."""
    found = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    return [
        int(line.split()[0])
        for line in found.splitlines()
        if "ray::" in line and "MapBatches(_Worker)" in line and "ps -eo" not in line
    ]


def driver_dies(served: Endpoint, place: Path) -> str:
    """The driver is killed; the same again goes on."""
    served.turn("latency=300ms")
    command = [sys.executable, "-m", "benchmarks.ray_proof", "--drive", served.base_url, str(place)]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 120
    while served.counts()["requests"] < 200:
        assert first.poll() is None and time.monotonic() < end, "the driver ended early"
        time.sleep(0.05)
    first.kill()
    first.wait()
    time.sleep(3)
    before = served.counts()["requests"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    made = pl.read_parquet(place / "out" / "*.parquet").unique("id")
    requests = served.counts()["requests"]
    assert (made["_outcome"] == "accepted").all() and made.height == 600
    assert requests <= 600 + 24, requests
    return f"driver killed after {before} requests, run again: {requests - 600} repeated"


def drive(base_url: str, place: str) -> None:
    """The driver that is killed."""
    work = pipeline(base_url, pace=Pace(concurrency=24))
    run(work, 600, Path(place) / "s.duckdb", Path(place) / "out")


PROOFS: dict[str, Callable[[Endpoint, Path], str]] = {
    "plain": plain,
    "limit": limit,
    "budget": money,
    "worker": worker_dies,
    "driver": driver_dies,
}


def main(names: list[str]) -> None:
    """Runs proofs by name."""
    for name in names or PROOFS:
        with endpoint() as served, tempfile.TemporaryDirectory() as place:
            began = time.monotonic()
            said = PROOFS[name](served, Path(place))
            print(f"{name:8} {said} ({time.monotonic() - began:.0f} s)", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--drive"]:
        drive(*sys.argv[2:])
    else:
        main(sys.argv[1:])
