"""One row from its first request to its outcome, reply by reply: no network, no clock."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel

from extract.conversation import Attempt, Delivery, Limits, converse
from extract.evidence import Source
from extract.judge import Judge
from extract.outcome import Accepted, DeadLetter, Outcome
from extract.protocol.blocks import text_block
from extract.protocol.reply import Action, Fault, Message, Reply
from extract.protocol.request import Envelope
from extract.protocol.usage import Usage
from extract.schema.compile import compile_schema


class Parcel(BaseModel):
    """A parcel."""

    code: str
    weight: int


GOOD = '{"code":"P-1","weight":3}'
BAD = '{"code":"P-1","weight":"three"}'
THINKING = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}


def said(text: str, stop_reason: str | None = "end_turn", **more: Any) -> Message:
    return Message([THINKING, {"type": "text", "text": text}], stop_reason, Usage(input=10, output=5), **more)


def fault(action: Action, **more: Any) -> Fault:
    return Fault("server", action, "Internal server error", status=500, **more)


def lead(replies: list[Reply | Delivery], **limits: int) -> tuple[Outcome, list[Attempt]]:
    """Plays a conversation to its end; every attempt that it made, and what it ended as."""
    compiled = compile_schema(Parcel)
    envelope = Envelope("kimi-k3.1-pro", max_tokens=1000, schema=compiled.schema, schema_text=compiled.text)
    request = envelope.request([text_block("Parcel P-1, 3 kg")])
    talk = converse("row 1", request, Source("Parcel P-1, 3 kg"), Judge(compiled), Limits(**limits))
    attempts = [next(talk)]
    for reply in replies:
        delivery = reply if isinstance(reply, Delivery) else Delivery(reply, 1, reply.usage)
        try:
            attempts.append(talk.send(delivery))
        except StopIteration as end:
            return end.value, attempts
    pytest.fail(f"no outcome after {len(replies)} replies; the next attempt: {attempts[-1].kind}")


def body(attempt: Attempt) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(attempt.request.body())
    return made


def test_a_good_reply_is_accepted() -> None:
    outcome, attempts = lead([said(GOOD, request_id="req_1")])
    assert outcome == Accepted(
        "row 1", Parcel(code="P-1", weight=3), GOOD, (), 1, Usage(input=10, output=5), "req_1"
    )
    assert [a.kind for a in attempts] == ["first"]


def test_findings_are_told_to_the_model_with_its_own_blocks_unchanged() -> None:
    outcome, attempts = lead([said(BAD), said(GOOD)])
    assert isinstance(outcome, Accepted) and outcome.attempts == 2
    assert outcome.usage == Usage(input=20, output=10)
    first, again = body(attempts[0])["messages"], body(attempts[1])["messages"]
    assert again[:1] == first and attempts[1].kind == "reask"
    assert again[1] == {"role": "assistant", "content": [THINKING, {"type": "text", "text": BAD}]}
    assert again[2]["role"] == "user" and "/weight" in again[2]["content"][0]["text"]


def test_after_the_last_reask_the_findings_are_the_dead_letter() -> None:
    outcome, attempts = lead([said(BAD)] * 3, reasks=2)
    assert isinstance(outcome, DeadLetter) and outcome.reason == "invalid"
    assert outcome.attempts == 3 and outcome.raw_reply == BAD and outcome.findings[0].path == "/weight"
    assert outcome.request is not None and len(outcome.request["messages"]) == 5
    assert [a.kind for a in attempts] == ["first", "reask", "reask"]


def test_truncation_gets_twice_the_room_twice_and_is_never_reasked() -> None:
    cut = said('{"code":"P-1","wei', "max_tokens")
    outcome, attempts = lead([cut, cut, cut])
    assert isinstance(outcome, DeadLetter) and outcome.reason == "truncated"
    assert [body(a)["max_tokens"] for a in attempts] == [1000, 2000, 4000]
    assert len({len(body(a)["messages"]) for a in attempts}) == 1


def test_closed_json_that_was_cut_is_still_truncated() -> None:
    outcome, attempts = lead([said(GOOD, "max_tokens"), said(GOOD)])
    assert isinstance(outcome, Accepted) and [a.kind for a in attempts] == ["first", "doubled"]


def test_doubling_stops_at_the_models_context() -> None:
    compiled = compile_schema(Parcel)
    envelope = Envelope(
        "kimi-k3.1-pro", max_tokens=700_000, schema=compiled.schema, schema_text=compiled.text
    )
    request = envelope.request([text_block("P-1")])
    talk = converse("k", request, Source("P-1"), Judge(compiled), Limits())
    next(talk)
    wider = talk.send(Delivery(said("{", "max_tokens")))
    assert 700_000 < wider.request.max_tokens < 1_048_576
    with pytest.raises(StopIteration) as end:
        talk.send(Delivery(said("{", "max_tokens")))
    assert end.value.value.reason == "truncated"


def test_a_refusal_is_final() -> None:
    outcome, attempts = lead([said("I can't help with that.", "refusal")])
    assert isinstance(outcome, DeadLetter) and outcome.reason == "refused"
    assert outcome.stop_reason == "refusal" and len(attempts) == 1


@pytest.mark.parametrize(
    "message",
    [
        Message([THINKING], "end_turn"),
        Message([{"type": "thinking", "thinking": GOOD, "signature": ""}], "end_turn"),
        Message([{"type": "tool_use", "id": "t", "name": "x", "input": {}}], "tool_use"),
        said("", "end_turn"),
        said(GOOD, "pause_turn"),
    ],
)
def test_a_reply_without_an_answer_is_asked_again_as_it_was(message: Message) -> None:
    outcome, attempts = lead([message, said(GOOD)])
    assert isinstance(outcome, Accepted) and attempts[1].kind == "retry"
    assert attempts[0].request.body() == attempts[1].request.body()


def test_a_server_that_never_sets_a_stop_reason_is_fine() -> None:
    assert isinstance(lead([said(GOOD, None)])[0], Accepted)


def test_all_requests_of_a_row_count_together() -> None:
    empty = Message([THINKING], "end_turn")
    replies: list[Reply | Delivery] = [Delivery(empty, sent=3), said(BAD), Delivery(empty, sent=1)]
    outcome, attempts = lead(replies, attempts=5)
    assert isinstance(outcome, DeadLetter) and (outcome.reason, outcome.attempts) == ("exhausted", 5)
    assert [a.left for a in attempts] == [5, 2, 1]


def test_the_last_request_gone_on_a_reask_is_invalid() -> None:
    outcome, _ = lead([Delivery(said(BAD), sent=2)], attempts=2)
    assert isinstance(outcome, DeadLetter) and (outcome.reason, outcome.attempts) == ("invalid", 2)


def test_retries_that_ran_out_end_the_row() -> None:
    outcome, _ = lead([Delivery(fault(Action.RETRY), sent=8)])
    assert isinstance(outcome, DeadLetter) and outcome.reason == "exhausted"
    assert "Internal server error" in outcome.why


@pytest.mark.parametrize(("reason", "action"), [("too_long", Action.ROW), ("rejected", Action.REQUEST)])
def test_a_row_that_the_server_refuses_tells_why(reason: str, action: Action) -> None:
    refused = Fault("bad_request", action, "too many tokens", "shorten it", status=400, reason=reason)
    outcome, _ = lead([refused])
    assert isinstance(outcome, DeadLetter) and outcome.reason == reason
    assert "too many tokens" in outcome.why and "shorten it" in outcome.why


def test_unknown_usage_is_no_error() -> None:
    outcome, _ = lead([Message([{"type": "text", "text": GOOD}], "end_turn")])
    assert isinstance(outcome, Accepted) and not outcome.usage.known
