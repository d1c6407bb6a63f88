"""The conversation about one row, as a generator.

It yields attempts, receives deliveries and returns an outcome. It knows no clock, thread, socket or
table: the engine decides when an attempt flies, waits out rate limits, retries the transport and
stops runs; a fault that is sent in here ends the row.

    first ──▶ message ──▶ accepted
                ├─ findings ────▶ re-ask (at most `reasks`) ─▶ dead letter
                ├─ truncated ───▶ the same with twice the max_tokens (at most twice)
                ├─ no answer ───▶ retry
                └─ refused ─────▶ dead letter
          ──▶ fault ────▶ dead letter
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Literal, NamedTuple, cast

from extract.evidence import Source
from extract.judge import Judge, Judgement, answer_text
from extract.outcome import Accepted, DeadLetter, Outcome, Reason
from extract.prompt import reask_text
from extract.protocol.reply import Action, Fault, Message, Reply
from extract.protocol.request import Request
from extract.protocol.usage import UNKNOWN, Usage
from extract.schema.finding import Finding

Kind = Literal["first", "retry", "reask", "doubled"]
DOUBLINGS = 2


class Attempt(NamedTuple):
    """One request of a row.

    number: 1 for the first. left: requests that the row may still cost, this one included.
    about: the findings that a re-ask tells.
    """

    request: Request
    number: int
    left: int
    kind: Kind
    about: tuple[Finding, ...] = ()


class Delivery(NamedTuple):
    """What came of an attempt.

    sent: requests that it took, retries of the transport included; refusals for a rate limit do not
    count. usage: of all of them.
    """

    reply: Reply
    sent: int = 1
    usage: Usage = UNKNOWN


@dataclass(frozen=True, slots=True)
class Limits:
    """What one row may cost: re-asks, and requests of every kind together."""

    reasks: int = 2
    attempts: int = 8


@dataclass(slots=True)
class _Course:
    """Where one conversation stands."""

    request: Request
    kind: Kind = "first"
    sent: int = 0
    reasks: int = 0
    doublings: int = 0
    usage: Usage = UNKNOWN
    last: Message | None = None
    request_id: str | None = None
    findings: tuple[Finding, ...] = ()


Conversation = Generator[Attempt, Delivery, Outcome]


def converse(key: str, request: Request, source: Source, judge: Judge, limits: Limits) -> Conversation:
    """Drives one row from its first request to its outcome; one that cannot fit the model is not sent."""
    if letter := _too_long(key, request):
        return letter
    course = _Course(request)
    while True:
        left = limits.attempts - course.sent
        about = course.findings if course.kind == "reask" else ()
        delivery = yield Attempt(course.request, course.sent + 1, left, course.kind, about)
        course.sent += delivery.sent
        course.usage += delivery.usage
        course.request_id = delivery.reply.request_id or course.request_id
        outcome = _hear(key, course, delivery.reply, source, judge, limits)
        if outcome is not None:
            return outcome
        if course.sent >= limits.attempts:
            return _dead(key, course, _reason_when_spent(course))


def _too_long(key: str, request: Request) -> DeadLetter | None:
    context = request.envelope.card.context
    needed = request.input_tokens + request.max_tokens
    if needed <= context:
        return None
    expected = f"at most {context:,}: split the input, as with Pipeline(split=Split(...))"
    finding = Finding("message", "", "", f"about {needed:,} tokens with max_tokens", expected)
    return DeadLetter(key, "too_long", (finding,), request=request.as_json())


def _hear(
    key: str, course: _Course, reply: Reply, source: Source, judge: Judge, limits: Limits
) -> Outcome | None:
    """Takes one reply; None where the row goes on with `course.request`."""
    if isinstance(reply, Fault):
        return _after_fault(key, course, reply)
    course.last = reply
    judged = judge.judge(reply, source)
    course.findings = judged.findings
    if judged.verdict == "accepted":
        return Accepted(
            key, judged.value, judged.text, judged.evidence, course.sent, course.usage, course.request_id
        )
    return _after_bad_answer(key, course, reply, judged, limits)


def _after_fault(key: str, course: _Course, fault: Fault) -> DeadLetter:
    course.findings = (Finding("message", "", "", str(fault), fault.advice or "a reply"),)
    if fault.action in (Action.ROW, Action.REQUEST):
        return _dead(key, course, cast(Reason, fault.reason))
    return _dead(key, course, "exhausted")


def _after_bad_answer(
    key: str, course: _Course, message: Message, judged: Judgement, limits: Limits
) -> Outcome | None:
    if judged.verdict == "findings":
        return _reask(key, course, message, judged, limits)
    if judged.verdict == "truncated":
        return _double(key, course)
    if judged.verdict == "no_answer":
        course.kind = "retry"
        return None
    return _dead(key, course, "refused" if judged.verdict == "refused" else "too_long")


def _reask(key: str, course: _Course, message: Message, judged: Judgement, limits: Limits) -> Outcome | None:
    if course.reasks >= limits.reasks:
        return _dead(key, course, _reason_of(judged.findings))
    course.reasks += 1
    course.kind = "reask"
    course.request = course.request.reask(message, reask_text(judged.findings))
    return None


def _double(key: str, course: _Course) -> Outcome | None:
    """The same request with twice the room, as far as the context goes."""
    room = course.request.envelope.card.context - course.request.input_tokens
    wider = min(course.request.max_tokens * 2, room)
    if course.doublings >= DOUBLINGS or wider <= course.request.max_tokens:
        expected = (
            f"an answer within max_tokens={course.request.max_tokens}: raise max_tokens or split the input"
        )
        course.findings = (Finding("message", "", "", "an answer that was cut off", expected),)
        return _dead(key, course, "truncated")
    course.doublings += 1
    course.kind = "doubled"
    course.request = course.request.again(max_tokens=wider)
    return None


def _reason_of(findings: tuple[Finding, ...]) -> Reason:
    return "unsupported" if all(finding.stage == "evidence" for finding in findings) else "invalid"


def _reason_when_spent(course: _Course) -> Reason:
    """All requests of the row are used: what was it that did not end?"""
    if course.kind == "reask":
        return _reason_of(course.findings)
    return "truncated" if course.kind == "doubled" else "exhausted"


def _dead(key: str, course: _Course, reason: Reason) -> DeadLetter:
    return DeadLetter(
        key,
        reason,
        course.findings,
        course.sent,
        course.usage,
        request=course.request.as_json(),
        raw_reply=answer_text(course.last.content) if course.last else None,
        request_id=course.request_id,
        stop_reason=course.last.stop_reason if course.last else None,
    )
