"""What a kill costs: requests that are repeated after `kill -9`, kill by kill.

    python -m benchmarks.crash [--rows 2000] [--kills 20] [--concurrency 16]

A run against the local endpoint is killed again and again at random moments and started anew; at the
end every row stands in the table once. A kill repeats no more than what was in flight.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

from extract.store import Store
from extract.testing import LocalEndpoint

JOB = Path(__file__).resolve().parents[1] / "tests" / "crash" / "nightly.py"


def start(endpoint: LocalEndpoint, store: Path, rows: int, concurrency: int) -> subprocess.Popen[bytes]:
    """The job in a process of its own."""
    arguments = [str(store), endpoint.base_url, endpoint.api_key, str(rows), str(concurrency)]
    return subprocess.Popen([sys.executable, str(JOB), *arguments], stdout=subprocess.PIPE)


def kill_after(endpoint: LocalEndpoint, job: subprocess.Popen[bytes], requests: int) -> None:
    """Kills the job once so many more requests have come."""
    target = endpoint.counts()["requests"] + requests
    while job.poll() is None and endpoint.counts()["requests"] < target:
        time.sleep(0.002)
    job.kill()
    job.communicate()


def recorded(store: Path) -> int:
    """Requests that the store knows of, when it was opened and has read its journal."""
    with Store.open(store) as opened:
        return opened.totals().calls


def main() -> None:
    """Prints a line a kill, then the sum."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--concurrency", type=int, default=16)
    chosen = parser.parse_args()
    chance, lost = random.Random(1), []
    with tempfile.TemporaryDirectory() as folder, LocalEndpoint("latency=20ms") as endpoint:
        store = Path(folder) / "s.duckdb"
        for number in range(1, chosen.kills + 1):
            job = start(endpoint, store, chosen.rows, chosen.concurrency)
            kill_after(endpoint, job, chance.randrange(1, chosen.rows // chosen.kills))
            lost.append(endpoint.counts()["requests"] - recorded(store) - sum(lost))
            print(f"kill {number:2}: {lost[-1]:3} requests unrecorded")
        start(endpoint, store, chosen.rows, chosen.concurrency).communicate()
        repeated = endpoint.counts()["requests"] - chosen.rows
        with duckdb.connect(str(store)) as con:
            table = con.sql("SELECT count(*), count(DISTINCT id) FROM tickets").fetchall()[0]
    print(f"rows in the table: {table[0]}, different ones: {table[1]}, of {chosen.rows}")
    print(
        f"repeated: {repeated} requests in {chosen.kills} kills, {statistics.mean(lost):.1f} a kill, "
        f"{max(lost)} at most; in flight: {chosen.concurrency}"
    )


if __name__ == "__main__":
    main()
