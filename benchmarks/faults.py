"""Faults: a service with a limit that also fails and breaks off; what is lost, wasted, and how long it takes.

    python -m benchmarks.faults [--rows 600] [--rate 40] [--only ours]

2 % of the requests are a 500, 1 % of the answers are cut in the middle, 50 ms each, 64 in flight. The bound
is what the limit takes for the requests that were answered. Our own processor time is told against two runs
without faults: at full speed, and under the same limit, where a row comes alone and finds cold caches.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

from benchmarks.contest import OURS, PEERS, race, saved, stub, told
from benchmarks.work import table

MIX = {"latency": 0.05, "error": 0.02, "malformed": 0.01}


def line_of(name: str, result: dict[str, Any], rate: float, faultless: list[dict[str, Any]]) -> list[Any]:
    """One row of the table."""
    if "missing" in result:
        return [name, *["-"] * 7, result["missing"]]
    seen = result["stub"]
    refused = seen["statuses"].get("429", 0)
    bound = max(1.0, (seen["requests"] - refused - rate) / rate)
    rows = result["rows"]
    cpu = result["cpu"] / rows * 1e6
    over = [f"{result['cpu'] / one['cpu']:.2f}" for one in faultless if "cpu" in one] or ["-", "-"]
    times = (f"{seen['seconds']:.1f}", f"{seen['seconds'] / bound:.2f}")
    return [name, *times, result["failed"], refused, seen["requests"], f"{cpu:,.0f}", *over]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=600)
    parser.add_argument("--rate", type=float, default=40.0)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    names = [f"ours:{name}" for name in OURS] + [f"peer:{name}" for name in PEERS]
    names = [name for name in names if not options.only or name.startswith(options.only)]
    lines, kept = [], {}
    with stub() as server:
        for name in names:
            faultless = []
            for limit in (0, options.rate) if name.startswith("ours") else ():
                server.turn(latency=MIX["latency"], rate=limit, burst=options.rate, error=0, malformed=0)
                faultless.append(race(server, name, options.rows))
            server.turn(rate=options.rate, burst=options.rate, **MIX)
            result = kept[name] = race(server, name, options.rows)
            print(f"  {name:<20} {told(result)}", flush=True)
            lines.append(line_of(name, result, options.rate, faultless))
    saved("faults", kept)
    print(f"\n{options.rows} rows, limit {options.rate:g}/s, load {os.getloadavg()[0]:.1f}\n")
    head = ["contender", "seconds", "÷ bound", "lost", "429s", "requests", "µs CPU a row"]
    print(table([*head, "CPU ÷ faultless", "CPU ÷ faultless under the limit"], lines))


if __name__ == "__main__":
    main()
