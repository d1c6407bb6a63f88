"""When to stop a run: rules that keep a mistake from costing the whole table.

Pure bookkeeping over outcomes and faults, one breaker a run. Knows no clock and sends nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from extract.outcome import UNSENT, Accepted, Outcome
from extract.protocol.reply import Action, Fault

StopReason = Literal[
    "key",  # 401, 403: no request can pass
    "quota",  # money, membership or the wait is beyond what a run sleeps for
    "address",  # nothing answers there as it should
    "request",  # the server refuses every request: schema, model or parameters
    "failing",  # row after row ended the same bad way
    "budget",  # the budget is used up
    "no_progress",  # nothing got through for a long time
    "input",  # the input could not be read to its end, or repeats a key
    "interrupted",  # Ctrl-C, or the caller left the stream
]


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a run ended with rows pending.

    message: what happened, with the server's words where there are any.
    advice: who has to do what before it is run again.
    """

    reason: StopReason
    message: str
    advice: str = ""

    def __str__(self) -> str:
        if not self.advice:
            return self.message
        return f"{self.message.rstrip('.')}. {self.advice[0].upper()}{self.advice[1:]}"


_KINDS: dict[str, StopReason] = {
    "auth": "key",
    "forbidden": "key",
    "quota": "quota",
    "per_day": "quota",
    "rate_limit": "quota",  # the wait that it asks for is longer than a run sleeps
    "overloaded": "quota",
    "tls": "address",
    "proxy": "address",
    "not_found": "address",
    "moved": "address",
}
_RUN_AGAIN = "Then run the same again: rows without an outcome go on, nothing is paid twice."


class Breaker:
    """Sees every fault and every outcome of a run, in order of arrival.

    streak: so many outcomes in a row that cost a request, none accepted and all with the same
        reason, stop the run.
    """

    def __init__(self, streak: int = 10) -> None:
        self._limit = streak
        self._reason = ""
        self._streak = 0
        self._passed = False

    def on_message(self) -> None:
        """Some request was answered: the key, the model and the schema are accepted."""
        self._passed = True

    def on_fault(self, fault: Fault) -> Stop | None:
        """The stop that a fault calls for, if any."""
        if fault.action is Action.STOP:
            return Stop(_KINDS.get(fault.kind, "request"), str(fault), _advice(fault))
        if fault.action is Action.REQUEST and not self._passed:
            return Stop("request", f"the first request was refused: {fault}{_id(fault)}", _advice(fault))
        return None

    def on_outcome(self, outcome: Outcome) -> Stop | None:
        """The stop that a streak of bad outcomes calls for, if any.

        Reused answers and rows that never reached the network say nothing about the service.
        """
        if isinstance(outcome, Accepted):
            if not outcome.reused:
                self._streak, self._reason = 0, ""
            return None
        if outcome.reason in UNSENT or outcome.attempts == 0:
            return None
        self._streak = self._streak + 1 if outcome.reason == self._reason else 1
        self._reason = outcome.reason
        if self._streak < self._limit:
            return None
        message = f"{self._streak} rows in a row ended {outcome.reason}, none accepted; last: {outcome.why}"
        return Stop("failing", message, f"Look at the dead letters and mend the job. {_RUN_AGAIN}")


def _advice(fault: Fault) -> str:
    return f"{fault.advice.rstrip('.')}. {_RUN_AGAIN}" if fault.advice else _RUN_AGAIN


def _id(fault: Fault) -> str:
    return f" (request_id {fault.request_id})" if fault.request_id else ""
