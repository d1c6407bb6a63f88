"""What the engine writes to a prompt cache, against what it must.

    python -m benchmarks.cache

Real sockets, the real engine, the local endpoint in a process of its own. The clocks of both are turned
forward together for the pauses of the long run.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.served import KEY, Endpoint, Ticket, endpoint, tickets, wait_for
from extract import Client, Pace, Pipeline, Report
from extract.clock import SystemClock
from extract.intake import Intake
from extract.running import run as run_session
from extract.session import Options, Session
from extract.tables import read_rows

SYSTEM = "You read support tickets and fill in what they say. " + " ".join(
    f"Rule {number}: what the ticket does not say stays empty." for number in range(400)
)
BATCH = 20
PAUSES = (1_200.0, 3_700.0, 400.0, 3_700.0)  # seconds; two are longer than an hour


class TurnedClock(SystemClock):
    """Real time, and what was turned forward."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def now(self) -> float:
        """Seconds, with what was turned forward."""
        return super().now() + self.ahead

    def time(self) -> float:
        """Seconds since 1970, with what was turned forward."""
        return super().time() + self.ahead


def _pipeline(served: Endpoint, *, stream: str = "auto") -> Pipeline:
    return Pipeline(
        Ticket,
        system=SYSTEM,
        client=Client(served.base_url, api_key=KEY, stream=stream),  # type: ignore[arg-type]
        pace=Pace(concurrency=64),
    )


def cold(served: Endpoint, *, stream: str) -> Report:
    """64 rows at once on an empty cache."""
    served.reset()
    served.turn("latency=300ms")
    pipeline = _pipeline(served, stream=stream)
    return pipeline.run(tickets(64), key="id", store=":memory:", on_progress=lambda progress: None).report


def _paused(served: Endpoint, clock: TurnedClock) -> Iterator[dict[str, Any]]:
    """Batches of rows with pauses between them; a pause begins when all before it are answered."""
    for number, row in enumerate(tickets(BATCH * (len(PAUSES) + 1))):
        if number and number % BATCH == 0:
            sent = number
            wait_for(lambda sent=sent: served.counts()["by_status"].get("200", 0) >= sent, seconds=60)  # type: ignore[misc]
            time.sleep(0.2)  # until the last reply is here
            seconds = PAUSES[number // BATCH - 1]
            served.advance(seconds)
            clock.ahead += seconds
        yield row


def long_run(served: Endpoint) -> Report:
    """Hours with pauses."""
    served.reset()
    served.turn("latency=50ms")
    clock = TurnedClock()
    # one at a time: a row must not wait in a batch for the next, which waits for its answer
    source = read_rows(_paused(served, clock), key="id", batch=1)
    session = Session(_pipeline(served), Intake(source), Options(":memory:"), clock=clock)
    return run_session(session, lambda progress: None).report


def _line(name: str, report: Report, counts: dict[str, Any], *, writes: int) -> str:
    usage, cache = counts["usage"], report.cache
    pairs = (
        (report.usage.input, usage["input_tokens"]),
        (report.usage.cache_write_1h, usage["ephemeral_1h_input_tokens"]),
        (report.usage.cache_write_5m, usage["ephemeral_5m_input_tokens"]),
        (report.usage.cache_read, usage["cache_read_input_tokens"]),
        (report.usage.output, usage["output_tokens"]),
    )
    agree = all(ours == theirs for ours, theirs in pairs)
    held = agree and counts["cache_writes"] == cache.prefix_writes == writes and cache.hit_ratio == 1.0
    return (
        f"{name:28} {report.accepted:5} {counts['cache_writes']:7} {writes:9} {cache.hit_ratio or 0:10.1%} "
        f"{'to the token' if agree else f'NO: {pairs}':>13}  {'ok' if held else 'MISSED'}"
    )


def main() -> None:
    """Prints a table."""
    logging.disable(logging.WARNING)
    print(f"{'case':28} {'rows':>5} {'writes':>7} {'must be':>9} {'hit ratio':>10} {'agree':>13}")
    with endpoint() as served:
        for stream in ("never", "always"):
            report = cold(served, stream=stream)
            print(_line(f"64 at once, stream {stream}", report, served.counts(), writes=1), flush=True)
        report = long_run(served)
        hours = sum(PAUSES) / 3_600
        expiries = sum(pause > 3_600 for pause in PAUSES)
        print(_line(f"{hours:.1f} hours with pauses", report, served.counts(), writes=1 + expiries))


if __name__ == "__main__":
    sys.exit(main())
