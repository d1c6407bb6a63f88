"""Speed: rows/s and processor time a row, of everybody on the same work.

    python -m benchmarks.speed [--rounds 3] [--rows 6000] [--latency 0.05] [--concurrency 64]
                              [--only ours,limit]

Peers get fewer rows (600): they take minutes for more. Run `python -m benchmarks.envs` once before.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

from benchmarks.contest import LIMITS, OURS, PEERS, contest, median, saved, stub
from benchmarks.work import table

Results = dict[str, list[dict[str, Any]]]


def everybody(rows: int, peer_rows: int, only: str) -> list[tuple[str, int]]:
    """Contenders with their number of rows; ours stand between the others."""
    groups = set(only.split(",")) if only else {"ours", "limit", "peer"}
    limits = [(f"limit:{name}", min(rows, 1_000) if name == "httpx" else rows) for name in LIMITS]
    ours = [(f"ours:{name}", rows) for name in OURS]
    peers = [(f"peer:{name}", peer_rows) for name in PEERS]
    return [one for one in [*limits, *ours, *peers] if one[0].split(":")[0] in groups]


def report(results: Results) -> str:
    """The table; ratios are to the fastest peer, the leanest, and one stock httpx client, in this run."""
    peers = {name: runs for name, runs in results.items() if name.startswith("peer:")}
    good = [name for name, runs in peers.items() if runs and "missing" not in runs[-1]]
    fastest = max(good, key=lambda name: median(results[name], "rate"), default=None)
    leanest = min(good, key=lambda name: median(results[name], "cpu"), default=None)
    lines = []
    for name, runs in results.items():
        if not runs or "missing" in runs[-1]:
            lines.append([name, *["-"] * 9, runs[-1]["missing"] if runs else ""])
            continue
        rate, cpu, last = median(runs, "rate"), median(runs, "cpu"), runs[-1]
        over = rate / median(results[fastest], "rate") if fastest else float("nan")
        share = cpu / median(results[leanest], "cpu") if leanest else float("nan")
        stock = rate / median(results["limit:httpx"], "rate") if results.get("limit:httpx") else float("nan")
        counts = last["stub"]
        figures = (f"{rate:,.0f}", f"{cpu:,.0f}", f"{over:.2f}", f"{share:.2f}", f"{stock:.2f}")
        peak = f"{median(runs, 'peak_mb'):.0f}"
        lag = f"{median(runs, 'lag_p99_ms'):.0f}" if "lag_p99_ms" in last else ""
        lines.append([name, *figures, peak, lag, last["failed"], counts["doubled"], counts["cache_writes"]])
    head = ["contender", "rows/s", "µs CPU a row", "rows/s ÷ fastest peer", "CPU ÷ leanest peer"]
    return table(
        [*head, "rows/s ÷ stock httpx", "peak MB", "loop late ms (p99)", "lost", "doubled", "cache writes"],
        lines,
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=6_000)
    parser.add_argument("--peer-rows", type=int, default=600)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--only", default="")
    told = parser.parse_args()
    with stub() as server:
        results = contest(
            server,
            everybody(told.rows, told.peer_rows, told.only),
            rounds=told.rounds,
            concurrency=told.concurrency,
            latency=told.latency,
        )
    saved(f"speed-{told.latency:g}s-{told.concurrency}", results)
    bound = f", bound {told.concurrency / told.latency:,.0f} rows/s" if told.latency else ""
    print(
        f"\n{told.concurrency} in flight, {told.latency:g} s latency{bound}, load {os.getloadavg()[0]:.1f}\n"
    )
    print(report(results))


if __name__ == "__main__":
    main()
