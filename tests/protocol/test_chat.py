"""Chat completions read into the same blocks, stop reasons and usage."""

from __future__ import annotations

from typing import Any

import pytest

from extract.protocol.chat import read_chat_usage, read_completion, response_format_head
from extract.protocol.usage import Usage


def completion(message: Any, finish: Any = "stop", **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion", "model": "m", "choices": [choice], **more}


@pytest.mark.parametrize(
    ("finish", "stop"),
    [
        ("stop", "end_turn"),
        ("length", "max_tokens"),
        ("content_filter", "refusal"),
        ("tool_calls", "tool_use"),
        ("function_call", "tool_use"),
        ("something_new", "something_new"),
        (None, None),
    ],
)
def test_finish_reasons_become_stop_reasons(finish: Any, stop: Any) -> None:
    message = read_completion(completion({"role": "assistant", "content": "{}"}, finish))
    assert message is not None
    assert message.stop_reason == stop


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_is_a_thinking_block_and_never_text(name: str) -> None:
    message = read_completion(completion({"content": "{}", name: "hm"}))
    assert message is not None
    assert message.content == [
        {"type": "thinking", "thinking": "hm", "field": name},
        {"type": "text", "text": "{}"},
    ]


def test_an_answer_in_parts_and_an_empty_one() -> None:
    parts = [{"type": "text", "text": "{"}, {"type": "text", "text": "}"}, {"type": "audio"}]
    whole = read_completion(completion({"content": parts}))
    assert whole is not None
    assert [block["text"] for block in whole.content] == ["{", "}"]
    empty = read_completion(completion({"content": None}))
    assert empty is not None
    assert empty.content == []


def test_a_refusal_is_one() -> None:
    message = read_completion(completion({"content": None, "refusal": "I cannot."}))
    assert message is not None
    assert message.stop_reason == "refusal"
    assert message.content == [{"type": "text", "text": "I cannot."}]


def test_a_tool_call_keeps_its_arguments_as_they_came() -> None:
    call = {"id": "t1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1'}}
    message = read_completion(completion({"content": None, "tool_calls": [call]}, "tool_calls"))
    assert message is not None
    assert message.content[0] == {
        "type": "tool_use",
        "id": "t1",
        "name": "f",
        "input": {},
        "arguments": '{"a": 1',
    }


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"choices": []},
        {"choices": [{}]},
        {"choices": [{"message": None}]},
        completion({"content": 5}),
        completion({"content": [{"type": "text", "text": None}]}),
        completion({"content": "x", "tool_calls": ["f"]}),
    ],
)
def test_what_is_no_completion(raw: dict[str, Any]) -> None:
    assert read_completion(raw) is None


@pytest.mark.parametrize(
    ("raw", "usage"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 3}, Usage(input=10, output=3)),
        (
            {"prompt_tokens": 10, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}},
            Usage(input=6, cache_read=4, output=3),
        ),
        ({"prompt_tokens": 10, "cached_tokens": 10}, Usage(input=0, cache_read=10)),
        ({"prompt_tokens": 10, "prompt_cache_hit_tokens": 8}, Usage(input=2, cache_read=8)),
        ({"prompt_tokens": 4, "cached_tokens": 9}, Usage(input=0, cache_read=9)),
        (
            {"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 5}},
            Usage(output=9, thinking=5),
        ),
        ({"prompt_tokens": -1, "completion_tokens": "3", "prompt_tokens_details": None}, Usage()),
        (None, Usage()),
    ],
)
def test_usage_in_the_five_categories(raw: Any, usage: Usage) -> None:
    assert read_chat_usage(raw) == usage


def test_the_name_of_a_schema_is_one_that_servers_take() -> None:
    assert '"name":"Liste_Post"' in response_format_head("Liste[Post]")[0]
    assert '"name":"answer"' in response_format_head("漢字")[0]
    assert '"name":"answer"' in response_format_head(None)[0]
