"""The chat-completions wire of the endpoint."""

from __future__ import annotations

import json
from typing import Any

from extract.testing import LocalEndpoint
from tests.testing.asks import DOCUMENT, PIXEL, SCHEMA, chat, post

PATH = "/v1/chat/completions"


def test_a_completion() -> None:
    with LocalEndpoint() as endpoint:
        said = post(endpoint, chat(), PATH).json()
    choice = said["choices"][0]
    assert said["object"] == "chat.completion"
    assert choice["finish_reason"] == "stop"
    assert choice["message"]["reasoning_content"]
    assert json.loads(choice["message"]["content"]) == {"number": "4711", "total": "12.50"}
    usage = said["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert 0 < usage["completion_tokens_details"]["reasoning_tokens"] < usage["completion_tokens"]


def test_chunks_say_the_same() -> None:
    with LocalEndpoint() as endpoint:
        plain = post(endpoint, chat(), PATH).json()
        raw = post(endpoint, chat(stream=True, stream_options={"include_usage": True}), PATH).text
        bare = post(endpoint, chat(stream=True), PATH).text
    lines = [line[6:] for line in raw.splitlines() if line.startswith("data: ")]
    assert lines[-1] == "[DONE]"
    chunks = [json.loads(line) for line in lines[:-1]]
    assert chunks[-1]["usage"] == plain["usage"]
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks[:-1]]
    message = plain["choices"][0]["message"]
    assert "".join(d.get("content") or "" for d in deltas) == message["content"]
    assert "".join(d.get("reasoning_content", "") for d in deltas) == message["reasoning_content"]
    assert '"usage"' not in bare


def _again(message: dict[str, Any]) -> dict[str, Any]:
    return chat(
        messages=[{"role": "user", "content": DOCUMENT}, message, {"role": "user", "content": "again"}]
    )


def test_a_reask_is_known_by_its_text() -> None:
    with LocalEndpoint() as endpoint:
        message = post(endpoint, chat(), PATH).json()["choices"][0]["message"]
        second = post(endpoint, _again(message), PATH).json()["choices"][0]["message"]
        assert endpoint.counts()["reasks"] == 1
    assert second["content"] == message["content"]


def test_finish_reasons() -> None:
    with LocalEndpoint("refused=1") as endpoint:
        assert post(endpoint, chat(), PATH).json()["choices"][0]["finish_reason"] == "content_filter"
        endpoint.turn("refused=0")
        short = post(endpoint, chat(max_tokens=1), PATH).json()["choices"][0]
        assert (short["finish_reason"], short["message"]["content"]) == ("length", None)
        tools = [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}]
        asked = chat(tools=tools, tool_choice="required", response_format=...)
        used = post(endpoint, asked, PATH).json()["choices"][0]
        assert used["finish_reason"] == "tool_calls"
        assert json.loads(used["message"]["tool_calls"][0]["function"]["arguments"])["number"] == "4711"
        assert "tool_calls" in post(endpoint, asked | {"stream": True}, PATH).text


def test_images_and_system_messages_are_taken() -> None:
    url = {"url": f"data:image/png;base64,{PIXEL}"}
    parts = [{"type": "image_url", "image_url": url}, {"type": "text", "text": DOCUMENT}]
    with LocalEndpoint() as endpoint:
        bare = post(endpoint, chat(), PATH).json()
        messages = [{"role": "system", "content": "Read."}, {"role": "user", "content": parts}]
        said = post(endpoint, chat(messages=messages), PATH).json()
    assert said["choices"][0]["message"]["content"] == bare["choices"][0]["message"]["content"]
    assert said["usage"]["prompt_tokens"] > bare["usage"]["prompt_tokens"] + 900
