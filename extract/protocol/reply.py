"""What comes back for a request, as data: a message or a fault.

Knows nothing of sockets, clocks or retries.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from extract.protocol.usage import UNKNOWN, Usage


class Message(NamedTuple):
    """A complete reply of the model.

    content: the blocks exactly as they came (same keys, same values, same order): a re-ask sends
        them back unchanged. A chat-completions reply is brought into the same blocks.
    """

    content: list[dict[str, Any]]
    stop_reason: str | None
    usage: Usage = UNKNOWN
    id: str | None = None
    model: str | None = None
    request_id: str | None = None


class Action(StrEnum):
    """What a fault asks of the engine."""

    RETRY = "retry"  # the same request again, after a while
    COOL_DOWN = "cool_down"  # all rows wait, concurrency is cut, then the same request again
    STOP = "stop"  # no row can pass: stop the run, rows stay pending
    REQUEST = "request"  # the request is refused: stop if it is the first or repeats, else this row
    ROW = "row"  # this row alone: a dead letter


@dataclass(frozen=True, slots=True)
class Fault:
    """A request that brought no message.

    kind: one word of the fault table, as `rate_limit` or `torn`.
    message: the server's own words, shortened.
    advice: what to change and who has to, in one sentence; empty when nothing is to be done.
    retry_after: seconds that the server asked for, or None.
    limit: the concurrency that a 429 named, or None.
    maybe_paid: the request may have been worked on and billed.
    reason: the dead-letter reason where the fault ends a row.
    """

    kind: str
    action: Action
    message: str = ""
    advice: str = ""
    status: int | None = None
    error_type: str | None = None
    request_id: str | None = None
    retry_after: float | None = None
    limit: int | None = None
    maybe_paid: bool = False
    reason: str = "exhausted"
    usage: Usage = UNKNOWN

    def __str__(self) -> str:
        status = f"{self.status} " if self.status else ""
        said = f": {self.message}" if self.message else ""
        return f"{status}{self.error_type or self.kind}{said}"


Reply = Message | Fault
