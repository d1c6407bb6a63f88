"""Streamed replies put together: whole ones as they would have come plain, broken ones as faults."""

from __future__ import annotations

import json
from typing import Any

import pytest

from extract.protocol.reply import Action, Fault, Message, Reply
from extract.protocol.stream import Assembler, first_data, looks_like_events
from extract.protocol.usage import Usage
from tests.streams import DONE, block, chunk, end, event, start, stream, text, thinking


def assemble(data: bytes, *, size: int | None = None, **options: Any) -> Reply:
    assembler = Assembler(**options)
    for index in range(0, len(data), size or len(data) or 1):
        assembler.feed(data[index : index + (size or len(data))])
    return assembler.close()


def message(data: bytes, **options: Any) -> Message:
    whole, bytewise = assemble(data, **options), assemble(data, size=1, **options)
    assert whole == bytewise
    assert isinstance(whole, Message), whole
    return whole


def fault(data: bytes, **options: Any) -> Fault:
    reply = assemble(data, **options)
    assert reply == assemble(data, size=1, **options)
    assert isinstance(reply, Fault), reply
    return reply


# whole ---------------------------------------------------------------------------------------


def test_a_stream_is_the_message_it_would_have_been() -> None:
    got = message(
        stream(start(), thinking(0, "look ", "here"), text(1, '{"n":', "1}"), end()), request_id="r"
    )
    assert got.content == [
        {"type": "thinking", "thinking": "look here", "signature": "sig"},
        {"type": "text", "text": '{"n":1}'},
    ]
    assert [list(item) for item in got.content] == [["type", "thinking", "signature"], ["type", "text"]]
    assert (got.id, got.model, got.request_id, got.stop_reason) == ("m1", "k", "r", "end_turn")
    assert got.usage == Usage(input=7, output=5)


@pytest.mark.parametrize("line_end", [b"\n", b"\r", b"\r\n"])
def test_line_ends_and_odd_letters(line_end: bytes) -> None:
    said = "a\u2028b\u2029c\u0085d 漢 😀 \\n"
    data = stream(start(), text(0, said, said), end()).replace(b"\n", line_end)
    for size in (1, 2, 3, 5, 7, 64):
        got = assemble(data, size=size)
        assert isinstance(got, Message)
        assert got.content == [{"type": "text", "text": said + said}]


def test_blocks_that_come_mixed_are_told_apart_by_index() -> None:
    first, second = thinking(0, "a", "b"), text(1, "x", "y")
    mixed = [first[0], second[0], second[1], first[1], second[2], first[2], first[3], first[4], second[3]]
    assert message(stream(start(), mixed, end())).content == [
        {"type": "thinking", "thinking": "ab", "signature": "sig"},
        {"type": "text", "text": "xy"},
    ]


def test_blocks_keep_every_field_for_the_way_back() -> None:
    search = {"query": "äö\u2028", "n": [1.0, None, True]}
    raw = json.dumps(search)
    pieces = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", raw[:5], raw[5:])]
    cited = {"type": "citations_delta", "citation": {"cited_text": "q", "url": "https://x"}}
    result = [{"type": "web_search_result", "url": "https://x", "encrypted_content": "zz", "page_age": None}]
    got = message(
        stream(
            start(),
            block(0, "redacted_thinking", data="AAAA"),
            block(1, "server_tool_use", pieces, id="s1", name="web_search", input={}),
            block(2, "web_search_tool_result", tool_use_id="s1", content=result, later_field={"a": 1}),
            block(3, "text", [{"type": "text_delta", "text": "b"}, cited], text="a"),
            end(),
        )
    )
    assert got.content == [
        {"type": "redacted_thinking", "data": "AAAA"},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": search},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": result, "later_field": {"a": 1}},
        {"type": "text", "text": "ab", "citations": [cited["citation"]]},
    ]


def test_a_tool_without_input_keeps_the_one_it_began_with() -> None:
    got = message(stream(start(), block(0, "tool_use", id="t", name="f", input={}), end("tool_use")))
    assert got.content == [{"type": "tool_use", "id": "t", "name": "f", "input": {}}]
    assert got.stop_reason == "tool_use"


def test_what_is_not_understood_is_passed_over() -> None:
    odd = [
        b": a comment\n\n",
        b"event: ping\ndata: {}\n\n",
        event("ping"),
        b"event: brand_new\ndata: no json at all\n\n",
        event("brand_new", index=0, delta=5),
        b"id: 5\nretry: 100\n\n",
    ]
    later = block(0, "text", [{"type": "new_delta", "x": 1}, {"type": "text_delta", "text": "{}"}], text="")
    got = message(stream(odd, start(), odd, later, odd, end(), odd, DONE))
    assert got.content == [{"type": "text", "text": "{}"}]


def test_events_may_be_named_in_the_data_alone_or_in_the_name_alone() -> None:
    whole = stream(start(), text(0, "{}"), end())
    nameless = b"\n".join(line for line in whole.split(b"\n") if not line.startswith(b"event:"))
    assert message(nameless) == message(whole)
    typeless = stream(start(), text(0, "{}"), end()).replace(b'"type": "content_block_stop", ', b"")
    assert message(typeless) == message(whole)


def test_later_usage_replaces_earlier_and_missing_usage_keeps_it() -> None:
    first = start(input_tokens=7, output_tokens=1, cache_creation={"ephemeral_1h_input_tokens": 3})
    more = event("message_delta", delta={}, usage={"output_tokens": 9, "cache_read_input_tokens": None})
    late = {"cache_creation": {"ephemeral_5m_input_tokens": 4}}
    got = message(
        stream(first, text(0, "{}"), end("end_turn", output_tokens=5, **late)[0], more, event("message_stop"))
    )
    assert got.usage == Usage(input=7, output=9, cache_write_1h=3, cache_write_5m=4)
    assert got.stop_reason == "end_turn"


def test_no_usage_at_all_is_unknown() -> None:
    begun = event("message_start", message={"id": "m"})
    data = stream(begun, text(0, "{}"), event("message_delta", delta={"stop_reason": "end_turn"}))
    assert message(data).usage == Usage()


def test_the_cache_lifetime_that_was_asked_for_takes_unsplit_writes() -> None:
    data = stream(start(cache_creation_input_tokens=8), text(0, "{}"), end())
    assert message(data, ttl="1h").usage.cache_write_1h == 8
    assert message(data).usage.cache_write_5m == 8


def test_a_server_that_never_sets_a_stop_reason_ends_with_its_last_event() -> None:
    assert message(stream(start(), text(0, "{}"), event("message_stop"))).stop_reason is None


def test_the_last_event_may_be_missing_and_its_empty_line_too() -> None:
    assert message(stream(start(), text(0, "{}"), end()[0])).stop_reason == "end_turn"
    assert message(stream(start(), text(0, "{}"), end()[0]).rstrip(b"\n")).stop_reason == "end_turn"


# broken --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"event: message_start\n",
        start(),
        stream(start(), text(0, "{}")),
        stream(start(), text(0, "{}")[:2]),
        stream(start(), text(0, "{}")[:2], end()[0]),
        stream(start(), text(0, "{}"), end()[0][:60]),
        stream(start(), event("message_delta", delta={}, usage={})),
        DONE,
        b"<html>Bad gateway</html>",
    ],
)
def test_a_torn_stream_is_asked_for_again(data: bytes) -> None:
    got = fault(data)
    assert (got.kind, got.action, got.maybe_paid) == ("torn", Action.RETRY, True)


def test_a_torn_stream_tells_what_it_cost_so_far() -> None:
    assert fault(stream(start(input_tokens=50), text(0, "{}"))).usage == Usage(input=50)


@pytest.mark.parametrize(
    "data",
    [
        stream(start(), b"data: {oops\n\n"),
        stream(start(), b"data: [1, 2]\n\n"),
        stream(start(), b'event: content_block_stop\ndata: {"index": 4}\n\n'),
        stream(start(), b"data: \xff\n\n"),
        stream(start(), start()),
        stream(text(0, "{}"), end()),
        stream(start(), text(0, "{}"), text(0, "{}"), end()),
        stream(start(), text(0, "{}")[1:], end()),
        stream(start(), text(0, "{}"), text(0, "x")[1], end()),
        stream(start(), block(0, "text", [{"type": "thinking_delta", "thinking": "x"}]), end()),
        stream(start(), block(0, "text", [{"type": "text_delta", "text": None}]), end()),
        stream(start(), block(0, "tool_use", [{"type": "input_json_delta", "partial_json": '{"a'}]), end()),
        stream(start(), block(0, "text", text=5), end()),
        stream(start(), event("content_block_start", index="0", content_block={"type": "text"}), end()),
    ],
)
def test_a_stream_that_contradicts_itself_is_asked_for_again(data: bytes) -> None:
    got = fault(data)
    assert (got.kind, got.action) == ("malformed", Action.RETRY)


@pytest.mark.parametrize(
    ("error", "kind", "action"),
    [
        ({"type": "overloaded_error", "message": "Overloaded"}, "overloaded", Action.COOL_DOWN),
        ({"type": "api_error", "message": "internal"}, "server", Action.RETRY),
        ({"type": "authentication_error", "message": "key revoked"}, "auth", Action.STOP),
        ({"type": "rate_limit_error", "message": "try again in 3s"}, "rate_limit", Action.COOL_DOWN),
        ({"type": "invalid_request_error", "message": "prompt is too long"}, "too_long", Action.ROW),
        ({"type": "brand_new_error"}, "server", Action.RETRY),
    ],
)
def test_an_error_event_is_read_by_the_same_table(error: dict[str, Any], kind: str, action: Action) -> None:
    failed = event("error", error=error)
    got = fault(stream(start(input_tokens=50), text(0, "{}"), failed, end()), request_id="r")
    assert (got.kind, got.action, got.request_id) == (kind, action, "r")
    assert got.usage == Usage(input=50)
    assert got.maybe_paid
    assert not fault(failed).maybe_paid


def test_an_error_after_the_last_event_comes_too_late() -> None:
    failed = event("error", error={"type": "api_error", "message": "x"})
    assert message(stream(start(), text(0, "{}"), end(), failed)).stop_reason == "end_turn"


def test_an_accident_after_the_end_is_none() -> None:
    assembler = Assembler()
    assembler.feed(stream(start(), text(0, "{}"), end()))
    assert assembler.finished
    assert isinstance(assembler.cut("reset", "gone"), Message)
    torn = Assembler()
    torn.feed(start(input_tokens=3))
    reply = torn.cut("timeout", "no byte for 5 s")
    assert isinstance(reply, Fault)
    assert (reply.kind, reply.maybe_paid, reply.usage.input) == ("timeout", True, 3)


def test_it_tells_when_the_model_begins_and_when_it_goes_on() -> None:
    assembler = Assembler()
    assembler.feed(event("ping"))
    assert (assembler.started, assembler.progress) == (False, 0)
    assembler.feed(start())
    assert (assembler.started, assembler.progress) == (True, 1)
    assembler.feed(event("ping") + b": comment\n\n")
    assert assembler.progress == 1
    assembler.feed(text(0, "x")[0])
    assert assembler.progress == 2


# chat completions ----------------------------------------------------------------------------


def test_a_chat_stream() -> None:
    data = stream(
        chunk({"role": "assistant", "content": ""}),
        chunk({"reasoning_content": "hm "}),
        chunk({"reasoning_content": "hm"}),
        chunk({"content": '{"n"'}, usage=None),
        chunk({"content": ":1}"}),
        chunk({}, "stop"),
        chunk(
            usage={"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 2}}
        ),
        DONE,
    )
    got = message(data, wire="chat")
    assert got.content == [
        {"type": "thinking", "thinking": "hm hm", "field": "reasoning_content"},
        {"type": "text", "text": '{"n":1}'},
    ]
    assert (got.id, got.model, got.stop_reason) == ("c1", "k", "end_turn")
    assert got.usage == Usage(input=7, cache_read=2, output=4)


def test_usage_of_a_chat_stream_may_stand_in_the_choice() -> None:
    choice = {
        "index": 0,
        "delta": {"content": "x"},
        "finish_reason": "length",
        "usage": {"completion_tokens": 3},
    }
    got = message(f"data: {json.dumps({'choices': [choice]})}\n\n".encode(), wire="chat")
    assert (got.stop_reason, got.usage.output) == ("max_tokens", 3)


def test_a_tool_call_in_pieces() -> None:
    calls = [
        {"index": 0, "id": "t1", "function": {"name": "f", "arguments": '{"a"'}},
        {"index": 0, "function": {"arguments": ":1}"}},
    ]
    data = stream(*[chunk({"tool_calls": [call]}) for call in calls], chunk({}, "tool_calls"))
    assert message(data, wire="chat").content[0]["input"] == {"a": 1}


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", "torn"),
        (DONE, "torn"),
        (chunk({"content": "x"}), "torn"),
        (stream(chunk({"content": 5}), chunk({}, "stop")), "malformed"),
        (stream(chunk({"tool_calls": ["f"]}), chunk({}, "stop")), "malformed"),
        (b"data: nonsense\n\n", "malformed"),
        (stream(chunk({"content": "x"}), b'data: {"error": {"message": "oops", "code": 500}}\n\n'), "server"),
        (b'data: {"error": "slow down", "code": "rate_limit_exceeded"}\n\n', "rate_limit"),
    ],
)
def test_broken_chat_streams(data: bytes, kind: str) -> None:
    assert fault(data, wire="chat").kind == kind


def test_a_chat_stream_without_a_finish_reason_ends_with_done() -> None:
    got = message(stream(chunk({"content": "{}"}), DONE), wire="chat")
    assert got.stop_reason is None


# streams where none was expected -----------------------------------------------------------


def test_bodies_that_are_streams_are_known_by_their_first_bytes() -> None:
    assert looks_like_events(start())
    assert looks_like_events(b"\xef\xbb\xbf\ndata: x\n\n")
    assert looks_like_events(b": hello\n\n")
    assert not looks_like_events(b'{"data": 1}')
    assert not looks_like_events(b"")


def test_the_first_event_of_an_error_body() -> None:
    assert first_data(b'event: error\ndata: {"a": 1}\n\n') == b'{"a": 1}'
    assert first_data(b": only a comment\n\n") == b": only a comment\n\n"
    assert first_data(b"data: \xff\n\n") == b"data: \xff\n\n"
