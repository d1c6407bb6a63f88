"""How near the engine comes to the limits of a service, and what it wastes on 429.

    python -m benchmarks.pace [name …]

Real sockets, the real engine, the local endpoint in a process of its own. Wall time counts from the
first request to the end of the last; the bound is what the limit alone would take for the requests
that the run needed. `benchmarks/pace_sim.py` shows the governor alone, on many more services.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from benchmarks.served import KEY, Endpoint, Ticket, endpoint, tickets
from extract import Client, Pace, Pipeline

FAULTS = "err500=0.02,malformed=0.01,truncated=0.005"
MAX_TOKENS = 1_000
PER_ROW = MAX_TOKENS + 104  # what the endpoint counts against tokens a minute: the input and max_tokens


@dataclass(frozen=True)
class Case:
    """knobs of the endpoint; change: knobs after half of the rows; bound: seconds, from requests needed."""

    rows: int
    knobs: str
    bound: Callable[[int], float]
    most: float
    wasted: float
    pace: Pace = field(default_factory=Pace)
    change: str = ""
    max_tokens: int = 8_192


def _halves(before: float, after: float) -> Callable[[int], float]:
    return lambda needed: needed / 2 / before + needed / 2 / after


WIDE = Pace(concurrency=1_000)
CASES: dict[str, Case] = {
    "200/s": Case(2_000, f"rate=200,latency=50ms,{FAULTS}", lambda needed: needed / 200, 1.15, 0.03),
    "200/s, whole seconds": Case(
        2_000, f"rate=200,latency=50ms,retry_after=1,{FAULTS}", lambda needed: needed / 200, 1.15, 0.03
    ),
    "200/s, halved": Case(
        2_000, f"rate=200,latency=50ms,{FAULTS}", _halves(200, 100), 1.25, 0.03, change="rate=100"
    ),
    "200/s, doubled": Case(
        2_000, f"rate=200,latency=50ms,{FAULTS}", _halves(200, 400), 1.25, 0.03, change="rate=400"
    ),
    "1 at once": Case(
        30, "concurrency=1,latency=2s,retry_after=none", lambda needed: needed * 2.0, 1.1, 0.05, WIDE
    ),
    "3 at once": Case(
        60, "concurrency=3,latency=2s,retry_after=none", lambda needed: needed / 3 * 2.0, 1.1, 0.05, WIDE
    ),
    "500 at once": Case(
        10_000,
        "concurrency=500,latency=2s,retry_after=none",
        lambda needed: needed / 500 * 2.0,
        1.1,
        0.05,
        WIDE,
    ),
    "tokens a minute, told": Case(
        1_200,
        "tokens_per_minute=600000,latency=50ms",
        lambda needed: needed * PER_ROW / 10_000,
        1.15,
        0.03,
        Pace(tokens_per_minute=600_000),
        max_tokens=MAX_TOKENS,
    ),
    "tokens a minute, learned": Case(
        1_200,
        "tokens_per_minute=600000,latency=50ms",
        lambda needed: (needed * PER_ROW - 600_000) / 10_000,  # the first minute's worth goes at once
        1.15,
        0.05,
        max_tokens=MAX_TOKENS,
    ),
}


def run(case: Case, served: Endpoint) -> str:
    """One run; a line of the table."""
    served.reset()
    served.turn("rate=0,concurrency=0,tokens_per_minute=0,latency=0,err500=0,malformed=0,truncated=0")
    served.turn(f"retry_after=auto,{case.knobs}")
    pipeline = Pipeline(
        Ticket,
        client=Client(served.base_url, api_key=KEY),
        pace=case.pace,
        cache=None,
        max_tokens=case.max_tokens,
    )
    changed = _change_later(served, case)
    busy = time.process_time()
    result = pipeline.run(tickets(case.rows), key="id", store=":memory:", on_progress=lambda progress: None)
    busy = time.process_time() - busy
    changed()
    return f"{_line(case, served, len(result.accepted), result.dead_letters.height)}  {busy:5.1f}"


def _change_later(served: Endpoint, case: Case) -> Callable[[], None]:
    """Turns the knob once half of the rows are answered."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.1):
            if served.counts()["by_status"].get("200", 0) >= case.rows / 2:
                served.turn(case.change)
                return

    thread = threading.Thread(target=watch)
    if case.change:
        thread.start()

    def stop() -> None:
        over.set()
        if thread.is_alive():
            thread.join()

    return stop


def _line(case: Case, served: Endpoint, accepted: int, dead: int) -> str:
    log, counts = served.log(), served.counts()
    refused = counts["by_status"].get("429", 0)
    wall = max(entry["ended"] or 0.0 for entry in log) - min(entry["started"] for entry in log)
    bound = case.bound(counts["requests"] - refused)
    held = wall <= case.most * bound and refused <= case.wasted * case.rows and accepted == case.rows
    return (
        f"{wall:8.2f} {bound:8.2f} {wall / bound:6.2f} (<= {case.most:.2f})  {refused:5} "
        f"{refused / case.rows:6.1%} (<= {case.wasted:.0%})  {accepted:6} {dead:5}  "
        f"{counts['max_in_flight']:5}  {'ok' if held else 'MISSED'}"
    )


def main(names: list[str]) -> None:
    """Prints a table."""
    logging.disable(logging.WARNING)
    print(
        f"{'case':26} {'wall s':>8} {'bound s':>8}  ratio            429  share          accepted  dead  peak"
    )
    with endpoint() as served:
        for name, case in CASES.items():
            if not names or any(part in name for part in names):
                print(f"{name:26} {run(case, served)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
