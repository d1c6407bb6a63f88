"""Replies that a test writes, over a real socket."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from pydantic import BaseModel

from extract import Client, Pipeline
from extract.protocol.reply import Action, Fault, Message
from extract.protocol.usage import Usage
from extract.testing import Reply, ScriptedReplies
from tests.testing.asks import body, chat


class Note(BaseModel):
    text: str


def _post(script: ScriptedReplies, asked: dict[str, Any], path: str = "/v1/messages") -> httpx.Response:
    with httpx.Client(base_url=script.base_url, verify=False) as client:
        return client.post(path, json=asked, headers={"authorization": "Bearer k"})


def test_a_pipeline_is_asked_again_and_its_requests_are_there_to_look_at() -> None:
    with ScriptedReplies(["no JSON", {"text": "hello"}]) as script:
        client = Client(script.base_url, api_key=script.api_key)
        run = Pipeline(Note, prompt="{note}", client=client).run([{"note": "say hello"}], store=":memory:")
    assert run.accepted["text"].to_list() == ["hello"]
    first, second = script.requests
    assert first.prompt == "say hello"
    assert first.schema is not None and first.schema["properties"].keys() == {"text"}
    assert "not accepted" in second.prompt
    assert first.headers["authorization"] == f"Bearer {script.api_key}"
    assert script.api_key not in repr(first)


KINDS: list[tuple[Any, int, str]] = [
    ("plain words", 200, "plain words"),
    ({"text": "ü"}, 200, '{"text": "ü"}'),
    ([1, 2], 200, "[1, 2]"),
    (Reply("cut", stop_reason="max_tokens", thinking=None), 200, "cut"),
]


@pytest.mark.parametrize(("reply", "status", "text"), KINDS)
def test_answers(reply: Any, status: int, text: str) -> None:
    with ScriptedReplies([reply] * 3) as script:
        plain = _post(script, body())
        stream = _post(script, body(stream=True))
        completion = _post(script, chat(), "/v1/chat/completions")
    assert plain.status_code == status
    blocks = plain.json()["content"]
    assert blocks[-1]["text"] == text
    assert stream.headers["content-type"] == "text/event-stream"
    assert "event: message_stop" in stream.text
    assert completion.json()["choices"][0]["message"]["content"] == text


def test_all_of_a_reply_can_be_said() -> None:
    whole = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "content": [],
        "stop_reason": None,
        "usage": {},
    }
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    with ScriptedReplies(
        [
            whole,
            error,
            429,
            Reply(status=429, headers={"retry-after": "3"}),
            Reply(body=b"<html>", headers={"content-type": "text/html"}),
            b'{"a": 1}',
            Reply("x", stop_reason=None, usage={"input_tokens": 7}),
        ]
    ) as script:
        replies = [_post(script, body()) for _ in range(7)]
        assert script.left == 0
    assert [reply.status_code for reply in replies] == [200, 529, 429, 429, 200, 200, 200]
    assert replies[0].json() == whole
    assert replies[2].json()["error"]["type"] == "rate_limit_reached_error"
    assert replies[3].headers["retry-after"] == "3"
    assert replies[4].headers["content-type"] == "text/html"
    assert replies[5].json() == {"a": 1}
    assert (replies[6].json()["stop_reason"], replies[6].json()["usage"]["input_tokens"]) == (None, 7)


def test_the_librarys_own_messages_and_faults() -> None:
    message = Message([{"type": "text", "text": "x"}], "end_turn", usage=Usage(input=3, output=4))
    fault = Fault("rate_limit", Action.COOL_DOWN, message="slow", status=429, retry_after=2.0)
    with ScriptedReplies([message, fault, Fault("reset", Action.RETRY)]) as script:
        said = _post(script, body()).json()
        refused = _post(script, body())
        with pytest.raises(httpx.RemoteProtocolError):
            _post(script, body())
    assert (said["content"], said["usage"]) == (message.content, {"input_tokens": 3, "output_tokens": 4})
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "2")
    assert refused.json()["error"]["message"] == "slow"


def test_exact_pieces_and_broken_connections() -> None:
    pieces = [b"event: message_st", b"art\ndata: {}\n\n", "data: ü\n\n".encode()[:8]]
    with ScriptedReplies(
        [pieces, ConnectionResetError, Reply("x", torn=True), Reply(chunks=pieces, torn=True)]
    ) as script:
        assert _post(script, body()).content == b"".join(pieces)
        for _ in range(3):
            with pytest.raises(httpx.RemoteProtocolError):
                _post(script, body())


def test_a_function_answers_by_what_was_asked() -> None:
    with ScriptedReplies(lambda seen: {"text": seen.prompt.upper()}) as script:
        asked = [body(messages=[{"role": "user", "content": text}]) for text in ("a", "b")]
        texts = [json.loads(_post(script, one).json()["content"][-1]["text"])["text"] for one in asked]
    assert texts == ["A", "B"]


def test_a_request_beyond_the_script_fails_the_block() -> None:
    with (
        pytest.raises(AssertionError, match="1 requests came beyond the 1 scripted"),
        ScriptedReplies(["x"]) as script,
    ):
        _post(script, body())
        assert _post(script, body()).status_code == 403
