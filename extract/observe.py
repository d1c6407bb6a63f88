"""What happens in a run, told to whoever listens: runs, requests, outcomes.

One frozen record an event; `listen` takes a function that gets them all. A listener must be quick, may be
called from several threads, and cannot break a run. Knows no tracing library, and nothing of what is done
with the records. One line a run goes to the logger `extract` at INFO.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from extract.clock import Clock
from extract.exchange import Call
from extract.outcome import Outcome
from extract.protocol.request import Request
from extract.schema.finding import Finding

log = logging.getLogger("extract")


@dataclass(frozen=True, slots=True)
class RunBegan:
    """A run is ready to start. at: seconds since 1970. rows: in all, None where that is not known."""

    run_id: str
    job: str
    model: str
    at: float
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class CallEnded:
    """One request was sent, and something came of it.

    number: 1 for the row's first. kind: "first", "retry", "reask" or "doubled".
    about: the findings that a re-ask tells. cost: in dollars, None where it is not known.
    """

    run_id: str
    key: str
    number: int
    kind: str
    request: Request
    call: Call
    about: tuple[Finding, ...] = ()
    cost: Decimal | None = None


@dataclass(frozen=True, slots=True)
class RowEnded:
    """A row has its outcome, and that is durable. at: seconds since 1970."""

    run_id: str
    outcome: Outcome
    at: float


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run is over.

    report: its counts, as `Report.as_dict()`. stopped: why it ended early; failure: what broke it.
    """

    run_id: str
    job: str
    model: str
    at: float
    report: Mapping[str, Any]
    stopped: str | None = None
    failure: BaseException | None = None


Event = RunBegan | CallEnded | RowEnded | RunEnded
Listener = Callable[[Event], None]

_listeners: tuple[Listener, ...] = ()


def listen(listener: Listener) -> Callable[[], None]:
    """From now on calls `listener` with every event of every run in this process.

    Returns a function that ends it.
    """
    global _listeners
    _listeners = (*_listeners, listener)

    def leave() -> None:
        global _listeners
        _listeners = tuple(one for one in _listeners if one is not listener)

    return leave


def heard() -> bool:
    """Whether anybody listens."""
    return bool(_listeners)


def tell(event: Event) -> None:
    """Hands an event to all listeners; one that fails is logged."""
    for listener in _listeners:
        try:
            listener(event)
        except Exception:
            log.exception("a listener failed on %s", type(event).__name__)


Publish = Callable[[Sequence[Outcome]], Awaitable[None]]


def telling(publish: Publish, run_id: str, clock: Clock) -> Publish:
    """The same, with listeners told of each outcome first."""

    async def both(outcomes: Sequence[Outcome]) -> None:
        if heard():
            for outcome in outcomes:
                tell(RowEnded(run_id, outcome, clock.time()))
        await publish(outcomes)

    return both


_SCALARS = (
    "rows",
    "accepted",
    "reused",
    "dead_letters",
    "pending",
    "requests",
    "retries",
    "seconds",
    "cost_usd",
)


def log_run(event: RunEnded) -> None:
    """One line at INFO, with the counts as attributes of its record: `extract_run_id`, `extract_rows`, …"""
    report = event.report
    state = "failed" if event.failure else "stopped" if event.stopped else "finished"
    extra = {f"extract_{name}": report.get(name) for name in _SCALARS}
    extra |= {"extract_run_id": event.run_id, "extract_job": event.job, "extract_model": event.model}
    extra |= {"extract_state": state, "extract_stopped": event.stopped}
    log.info(
        "run %s of %s %s: %s of %s rows accepted, %s dead letters, %s pending, %s requests, %.1f s",
        event.run_id,
        event.job,
        state,
        *(report.get(name) for name in ("accepted", "rows", "dead_letters", "pending", "requests")),
        float(report.get("seconds") or 0.0),
        extra=extra,
    )
