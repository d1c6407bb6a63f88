"""The proofs of `extract.integrations.ray`, with real workers on this machine and a real endpoint.

    python3 -m venv /tmp/ray && /tmp/ray/bin/pip install -e '.[ray,endpoint,otel]' opentelemetry-sdk
    /tmp/ray/bin/python -m benchmarks.ray_proof            all of them, about four minutes
    /tmp/ray/bin/python -m benchmarks.ray_proof limit …    some

Each prints what it saw and fails on what it may not see. Figures of a run stand in docs/scale.md.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from benchmarks.served import KEY, Endpoint, Ticket, endpoint, tickets
from extract import Budget, Client, Pace, Pipeline
from extract.errors import StoreLockedError

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


def mapped(work: Pipeline, rows: list[dict[str, Any]], store: Path, **options: Any) -> Any:
    """A dataset of answers, eight blocks."""
    from extract.integrations.ray import map as extract_map

    ray = connect()
    dataset = ray.data.from_arrow(pl.DataFrame(rows).to_arrow()).repartition(8)
    options = {"batch_size": 64, "num_cpus": 0.5, "workers": WORKERS} | options
    return extract_map(dataset, work, key="id", store=store, **options)


def run(work: Pipeline, rows: int, store: Path, out: Path, **options: Any) -> pl.DataFrame:
    """Maps some rows, writes Parquet, reads it again."""
    mapped(work, tickets(rows), store, **options).write_parquet(str(out))
    return pl.read_parquet(out / "*.parquet").sort("id")


def settled(store: Path) -> dict[str, Any]:
    """What the store says, once the writer has let it go."""
    from extract.integrations.ray import finish

    counts = finish(store)
    with duckdb.connect(str(store), read_only=True) as con:
        calls = con.sql("SELECT count(*) FROM extract.calls").fetchall()[0][0]
        answers = con.sql("SELECT count(*) FROM extract.answers").fetchall()[0][0]
        runs = con.sql("SELECT state FROM extract.runs ORDER BY started_at").fetchall()
    return {"calls": calls, "answers": answers, "runs": [state for (state,) in runs], "counts": counts}


def parts(place: Path, table: str) -> pl.DataFrame:
    """Dead letters or requests, as they were written beside the results."""
    return pl.read_parquet(place / table / "*.parquet")


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
    assert seen["counts"]["reused"] == seen["counts"]["accepted"] == 600, seen
    logs = Path("/tmp/ray/session_latest/logs")
    told = [path for path in logs.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert logs.is_dir() and not told, told
    return f"600 rows over {WORKERS} workers: {requests} requests with faults; again: 0; no key in Ray's logs"


def tables(served: Endpoint, place: Path) -> str:
    """Dead letters and requests are Parquet beside the results; a key of two blocks is noticed in one."""
    served.turn("latency=20ms,malformed=0.02,refused=0.05,seed=5")
    twins = [tickets(1_000 + n)[-1] | {"id": n} for n in (3, 77, 402)]
    work, store, out = pipeline(served.base_url), place / "s.duckdb", f"file://{place}/tables"
    made = mapped(work, tickets(600) + twins, store, tables=out)
    first, again = made.to_pandas(), made.to_pandas()  # computed twice
    requests = served.counts()["requests"]
    counts = settled(store)["counts"]
    assert len(first) == len(again) == 603 and counts["repeated"] == 6 and counts["pending"] == 6, counts
    pending = first[first["_outcome"] == "pending"]
    assert set(pending["id"]) == {3, 77, 402} and pending["_reason"].str.contains("another block").all()
    calls, dead = parts(place / "tables", "calls"), parts(place / "tables", "dead_letters")
    assert calls.height == calls["call_id"].n_unique() == requests, (calls.height, requests)
    died = {*first[first["_outcome"] == "dead"]["id"], *again[again["_outcome"] == "dead"]["id"]}
    assert {int(key) for key in dead["key"]} == died and dead.height == len(died), dead
    assert connect().data.read_parquet(f"{out}/dead_letters").count() == dead.height > 0
    return (
        f"{requests} requests and {dead.height} dead letters in Parquet, each once; 3 keys that repeat in "
        f"other blocks are pending"
    )


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
    assert settled(place / "s.duckdb")["counts"]["repeated"] == 0
    assert killed and (made["_outcome"] == "accepted").all() and made.height == 600
    assert requests <= 600 + 24, requests
    return f"worker {killed[0]} killed at 150 of 600: every row once, {requests - 600} requests repeated"


def workers() -> list[int]:
    """Processes of workers."""
    found = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    return [
        int(line.split()[0])
        for line in found.splitlines()
        if "ray::" in line and "MapBatches(Worker)" in line and "ps -eo" not in line
    ]


def driver_dies(served: Endpoint, place: Path) -> str:
    """The driver is killed; the same again goes on."""
    connect()
    served.turn("latency=300ms")
    command = [sys.executable, "-m", "benchmarks.ray_proof", "--drive", served.base_url, str(place)]
    first = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 120
    while served.counts()["requests"] < 200:
        assert first.poll() is None and time.monotonic() < end, "the driver ended early"
        time.sleep(0.05)
    served.turn("latency=3s")  # while another driver starts
    try:
        run(pipeline(served.base_url), 1, place / "s.duckdb", place / "a")
    except StoreLockedError as error:
        assert f"PID {first.pid}" in str(error) and "ray_proof.py" in str(error), error
    else:
        raise AssertionError("two drivers write one store")
    first.kill()
    first.wait()
    time.sleep(4)
    served.turn("latency=300ms")
    before = served.counts()["requests"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    made = pl.read_parquet(place / "out" / "*.parquet").unique("id")
    requests = served.counts()["requests"]
    assert (made["_outcome"] == "accepted").all() and made.height == 600
    assert requests <= 600 + 2 * 24, requests  # in flight, or answered and not durable yet
    calls = parts(place / "tables", "calls")
    with duckdb.connect(str(place / "s.duckdb"), read_only=True) as con:
        noted = con.sql("SELECT count(*) FROM extract.calls").fetchall()[0][0]
    assert calls.height == calls["call_id"].n_unique() == noted >= 600, (calls.height, noted)
    return (
        f"driver killed after {before} requests, run again: {requests - 600} repeated; a second was refused"
    )


def drive(base_url: str, place: str) -> None:
    """The driver that is killed."""
    work = pipeline(base_url, pace=Pace(concurrency=24))
    run(work, 600, Path(place) / "s.duckdb", Path(place) / "out", tables=Path(place) / "tables")


def traced(served: Endpoint, place: Path) -> str:
    """Workers that a set-up hook instruments export spans, all in one trace."""
    command = [sys.executable, "-m", "benchmarks.ray_proof", "--trace", served.base_url, str(place)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lines = [json.loads(line) for path in place.glob("*.spans") for line in path.read_text().splitlines()]
    requests = [line for line in lines if line["name"].startswith("chat ")]
    assert len(requests) == served.counts()["requests"] == 60, (len(requests), served.counts()["requests"])
    assert len({line["trace"] for line in lines}) == 1 and len(list(place.glob("*.spans"))) > 1
    return f"{len(requests)} requests of {len(list(place.glob('*.spans')))} workers, each a span, one trace"


def trace(base_url: str, place: str) -> None:
    """A driver whose workers are traced: the hook runs in each of Ray's processes."""
    import ray

    def hook() -> None:
        from opentelemetry import trace
        from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

        from extract.integrations.otel import instrument

        class ToFile(SpanExporter):
            def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
                with (Path(place) / f"{os.getpid()}.spans").open("a") as file:
                    for span in spans:
                        file.write(json.dumps({"name": span.name, "trace": span.context.trace_id}) + "\n")
                return SpanExportResult.SUCCESS

        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(ToFile()))
        trace.set_tracer_provider(provider)
        instrument()

    hooked = {"worker_process_setup_hook": hook}
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, runtime_env=hooked)
    ray.cloudpickle.register_pickle_by_value(sys.modules[Ticket.__module__])
    run(pipeline(base_url), 60, Path(place) / "s.duckdb", Path(place) / "out", batch_size=8)


PROOFS: dict[str, Callable[[Endpoint, Path], str]] = {
    "plain": plain,
    "tables": tables,
    "limit": limit,
    "budget": money,
    "worker": worker_dies,
    "driver": driver_dies,
    "traced": traced,
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
    elif sys.argv[1:2] == ["--trace"]:
        trace(*sys.argv[2:])
    else:
        main(sys.argv[1:])
