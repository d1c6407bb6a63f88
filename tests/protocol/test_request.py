"""The bytes of requests on both wires, re-asks and fingerprints."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extract.errors import RequestError
from extract.protocol.blocks import (
    digested,
    estimate_blocks,
    image_block,
    image_url_block,
    text_block,
    web_search,
)
from extract.protocol.models import CONTEXT
from extract.protocol.reply import Message
from extract.protocol.request import Envelope, Turn, _canonical_blocks, dumps, to_bytes

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "title": "Parcel note"}
PNG = b"\x89PNG\r\n\x1a\n" + bytes(4)


def envelope(**changes: Any) -> Envelope:
    return Envelope(**({"model": "kimi-k3.1-pro", "schema": SCHEMA} | changes))


def sent(envelope: Envelope, *blocks: Any, stream: bool = False) -> Any:
    return json.loads(envelope.request(list(blocks) or [text_block("row")]).body(stream=stream))


def test_a_plain_request_is_what_the_documents_ask_for() -> None:
    assert sent(envelope(system="Read parcels."), text_block("two")) == {
        "model": "kimi-k3.1-pro",
        "max_tokens": 8192,
        "system": "Read parcels.",
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}},
        "cache_control": {"type": "ephemeral", "ttl": "1h"},
        "messages": [{"role": "user", "content": [{"type": "text", "text": "two"}]}],
    }


def test_effort_is_always_sent_and_by_its_own_name() -> None:
    assert sent(envelope(effort="medium"))["output_config"]["effort"] == "high"


def test_without_a_cache_lifetime_the_field_stays_out() -> None:
    assert "cache_control" not in sent(envelope(cache=None))
    assert sent(envelope(cache="5m"))["cache_control"]["ttl"] == "5m"


def test_cache_control_stands_at_the_top_alone() -> None:
    body = envelope(system=[text_block("a")], examples=[([text_block("q")], '{"n":1}')]).request(
        [text_block("r")]
    )
    assert body.body().count(b"cache_control") == 1


def test_streams_are_asked_for() -> None:
    assert sent(envelope(), stream=True)["stream"] is True
    chat = sent(envelope(wire="chat"), stream=True)
    assert chat["stream"] is True
    assert chat["stream_options"] == {"include_usage": True}


def test_examples_and_system_blocks_stand_before_the_row() -> None:
    made = envelope(system=[text_block("a"), text_block("b")], examples=[([text_block("q")], '{"n":1}')])
    body = sent(made, text_block("row"))
    assert body["system"] == [text_block("a"), text_block("b")]
    assert [(turn["role"], turn["content"][0]["text"]) for turn in body["messages"]] == [
        ("user", "q"),
        ("assistant", '{"n":1}'),
        ("user", "row"),
    ]


def test_the_bytes_before_a_row_are_the_same_for_every_row() -> None:
    made = envelope(system="s" * 100)
    first, second = (made.request([text_block(text)]).body() for text in ("one", "two"))
    assert first[: first.index(b"one")] == second[: second.index(b"two")]


def test_the_schema_goes_out_byte_for_byte() -> None:
    text = '{"type":"object", "properties":{}}'
    assert text.encode() in envelope(schema_text=text).request([text_block("x")]).body()


def test_twice_the_room_changes_the_room_alone() -> None:
    request = envelope().request([text_block("x")])
    assert json.loads(request.again(max_tokens=16_384).body()) == json.loads(request.body()) | {
        "max_tokens": 16_384
    }


BLOCKS = [
    {"type": "thinking", "thinking": "h\u2028m", "signature": "sig==", "new_field": [1.0, None]},
    {"type": "redacted_thinking", "data": "AAAA"},
    {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
    {
        "type": "web_search_tool_result",
        "tool_use_id": "s1",
        "content": [{"url": "https://x", "page_age": None}],
    },
    {"type": "text", "text": '{"n": "\ud83d half"}', "citations": [{"cited_text": "x"}]},
]


def test_a_reask_returns_the_blocks_unchanged_and_adds_one_turn() -> None:
    request = envelope().request([text_block("x")])
    turns = json.loads(request.reask(Message(BLOCKS, "end_turn"), "n is no number").body())["messages"]
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    assert turns[1]["content"] == BLOCKS
    assert [list(block) for block in turns[1]["content"]] == [list(block) for block in BLOCKS]
    assert turns[2]["content"] == [text_block("n is no number")]


def test_what_the_model_would_refuse_is_refused_when_the_envelope_is_made() -> None:
    with pytest.raises(RequestError):
        envelope(stop_sequences=("}",))
    with pytest.raises(RequestError):
        envelope(model="kimi-k3", effort="max", cache=None)
    assert envelope(model="kimi-k3", effort="max", wire="chat").path == "/v1/chat/completions"


def test_web_search_goes_out_as_a_tool() -> None:
    assert sent(envelope(tools=(web_search(max_uses=2),)))["tools"] == [web_search(max_uses=2)]


def test_a_chat_request() -> None:
    made = envelope(wire="chat", system="Read.", examples=[([text_block("q")], '{"n":1}')])
    body = sent(made, text_block("a"), image_block(PNG), image_url_block("https://x.example/p.png"))
    assert body["messages"][:3] == [
        {"role": "system", "content": "Read."},
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": '{"n":1}'},
    ]
    text, picture, url = body["messages"][3]["content"]
    assert text == {"type": "text", "text": "a"}
    assert picture["image_url"]["url"].startswith("data:image/png;base64,")
    assert url == {"type": "image_url", "image_url": {"url": "https://x.example/p.png"}}
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "Parcel_note", "strict": True, "schema": SCHEMA},
    }
    assert body["reasoning_effort"] == "low"
    assert "cache_control" not in body
    assert "output_config" not in body


def test_the_older_model_is_sent_no_effort_on_the_chat_wire() -> None:
    assert "reasoning_effort" not in sent(envelope(model="kimi-k3", effort="max", wire="chat"))


def test_a_chat_reask_returns_reasoning_under_its_name() -> None:
    said = [
        {"type": "thinking", "thinking": "hm", "field": "reasoning"},
        {"type": "text", "text": "{}"},
    ]
    request = envelope(wire="chat").request([text_block("x")]).reask(Message(said, "end_turn"), "again")
    assert json.loads(request.body())["messages"][1:] == [
        {"role": "assistant", "content": "{}", "reasoning": "hm"},
        {"role": "user", "content": "again"},
    ]


def test_a_block_that_the_chat_wire_cannot_carry_is_refused() -> None:
    with pytest.raises(RequestError, match="wire='messages'"):
        envelope(wire="chat").request([{"type": "document", "source": {}}]).body()


BASE: dict[str, Any] = {"system": "s", "examples": [([text_block("q")], "{}")]}


@pytest.mark.parametrize(
    "change",
    [
        {"wire": "chat"},
        {"model": "kimi-k3.1-pro-highspeed"},
        {"effort": "high"},
        {"max_tokens": 100},
        {"system": "t"},
        {"examples": [([text_block("q")], "[]")]},
        {"tools": (web_search(),)},
        {"schema": {"type": "object"}},
    ],
)
def test_everything_that_decides_an_answer_is_in_the_fingerprint(change: dict[str, Any]) -> None:
    row = [text_block("x")]
    assert envelope(**BASE).fingerprint(row) != envelope(**(BASE | change)).fingerprint(row)


def test_what_decides_no_answer_is_not_in_the_fingerprint() -> None:
    row = [text_block("x")]
    assert envelope(effort="medium").fingerprint(row) == envelope(effort="high").fingerprint(row)
    assert envelope(cache=None).fingerprint(row) == envelope(cache="1h").fingerprint(row)
    assert envelope(system="s").fingerprint(row) == envelope(system=[text_block("s")]).fingerprint(row)


def test_rows_repeats_and_pictures_have_fingerprints_of_their_own() -> None:
    made = envelope()
    rows = [
        [text_block("ab"), text_block("c")],
        [text_block("a"), text_block("bc")],
        [text_block("abc")],
        [image_block(PNG)],
        [image_block(PNG + b"\x00")],
        [text_block("\x00")],
    ]
    prints = {made.fingerprint(row) for row in rows} | {made.fingerprint(rows[0], replicate=1)}
    assert len(prints) == 7


ANY_BLOCKS = st.lists(
    st.one_of(
        st.text().map(text_block),
        st.text(st.characters()).map(lambda text: {"type": "text", "text": text}),
        st.sampled_from(['"\\\x00\x1f\x7f\u2028', "\ud800", ""]).map(
            lambda text: {"type": "text", "text": text}
        ),
        st.sampled_from(
            [
                {"text": "x", "type": "text"},
                {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}},
                {"type": "thinking", "text": "x"},
                {"type": "text", "text": None},
                image_block(PNG),
            ]
        ),
    ),
    max_size=2,
)


@given(ANY_BLOCKS)
def test_a_text_written_by_hand_is_what_the_encoder_writes(blocks: list[dict[str, Any]]) -> None:
    assert Turn("user", blocks).on("messages") == to_bytes(dumps({"role": "user", "content": blocks}))
    written = json.dumps([digested(block) for block in blocks], sort_keys=True, separators=(",", ":"))
    assert _canonical_blocks(blocks) == written.encode()


@given(ANY_BLOCKS)
def test_a_row_of_one_text_is_estimated_as_any_other(blocks: list[dict[str, Any]]) -> None:
    with_empty = [*blocks, {}]  # no text and no picture: it adds nothing, and the quick way is not taken
    assert estimate_blocks(blocks) == estimate_blocks(with_empty)


def test_the_fingerprint_is_the_same_in_another_process() -> None:
    code = (
        "from extract.protocol.request import Envelope\n"
        "from extract.protocol.blocks import text_block\n"
        "print(Envelope(model='m', system='ü', schema={'b': 1, 'a': 2}).fingerprint([text_block('x')]))"
    )
    command = [sys.executable, "-c", code]
    there = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    here = Envelope(model="m", system="ü", schema={"b": 1, "a": 2}).fingerprint([text_block("x")])
    assert here == there


def test_a_row_that_has_no_room_is_told_before_it_is_sent() -> None:
    assert envelope().fits([text_block("x")])
    assert not envelope().fits([text_block("x" * (CONTEXT * 5))])
    assert not envelope(max_tokens=CONTEXT).fits([text_block("x")])


def test_for_people_a_request_holds_digests_for_what_is_large_or_shared() -> None:
    shown = envelope(system="secret system").request([image_block(PNG), text_block("x")]).as_json()
    text = json.dumps(shown)
    assert "secret system" not in text
    assert "base64" not in text
    assert shown["messages"][0]["content"][1] == text_block("x")
    assert shown["prefix_sha256"] == envelope(system="secret system").prefix_digest


def test_estimates_count_the_prefix_and_all_turns() -> None:
    made = envelope(system="word " * 400)
    request = made.request([text_block("word " * 40)])
    assert made.prefix_tokens > 500
    assert request.input_tokens == made.estimate_tokens([text_block("word " * 40)])
    assert request.reask(Message([text_block("{}")], "end_turn"), "x" * 400).input_tokens > (
        request.input_tokens + 100
    )


def test_an_envelope_can_be_made_anew_with_changes() -> None:
    assert replace(envelope(), effort="max").effort == "max"
