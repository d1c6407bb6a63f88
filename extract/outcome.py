"""How a row ends: accepted, or a dead letter with findings. Nothing else.

Knows nothing of tables, stores or the wire.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from extract.markup import card, folded, pairs, rows_of, table, tag
from extract.protocol.usage import Usage
from extract.schema.finding import Finding

Reason = Literal[
    "refused",  # the model would not answer
    "truncated",  # the answer did not fit, also with more room
    "invalid",  # findings remained after the last re-ask
    "unsupported",  # a value was not found in the source
    "too_long",  # the row does not fit the model's context
    "rejected",  # the server refused this row's request
    "unreadable",  # the input could not be read; nothing was sent
    "empty",  # the input is null or empty; nothing was sent
    "exhausted",  # retries ran out
]
REASONS: tuple[Reason, ...] = Reason.__args__  # type: ignore[attr-defined]

UNSENT: frozenset[str] = frozenset({"unreadable", "empty"})


@dataclass(frozen=True, slots=True)
class Accepted:
    """A row whose answer passed the judge.

    value: the validated value of the output model.
    answer: the accepted JSON text, in the shape that was asked for.
    evidence: where each value stands in the source, where the model asks for it.
    attempts: requests that were sent for it; 0 for a reused answer.
    reused: the answer had been paid for before.
    """

    key: str
    value: Any
    answer: str
    evidence: tuple[dict[str, Any], ...] = ()
    attempts: int = 0
    usage: Usage = field(default_factory=Usage)
    request_id: str | None = None
    reused: bool = False


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A row that no answer was accepted for.

    raw_reply: the text of the last reply, as it came; request: the last request, for people.
    """

    key: str
    reason: Reason
    findings: tuple[Finding, ...] = ()
    attempts: int = 0
    usage: Usage = field(default_factory=Usage)
    request: dict[str, Any] | None = None
    raw_reply: str | None = None
    request_id: str | None = None
    stop_reason: str | None = None

    @property
    def why(self) -> str:
        """One line for people: the reason and the first finding."""
        return f"{self.reason}: {self.findings[0]}" if self.findings else self.reason

    def _repr_html_(self) -> str:
        found = [(one.path, str(one)) for one in self.findings]
        facts = {"requests": self.attempts, "request_id": self.request_id, "stop reason": self.stop_reason}
        reply = folded("last reply", tag("pre", self.raw_reply)) if self.raw_reply else None
        findings = table(["path", "finding"], found) if found else None
        return str(card(f"Dead letter {self.key}: {self.reason}", pairs(rows_of(facts)), findings, reply))


Outcome = Accepted | DeadLetter
