"""What the endpoint answers: key, blocks, streams, re-asks, limits of size, the addresses for tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from extract.errors import ConfigError
from extract.testing import LocalEndpoint
from tests.testing.asks import DOCUMENT, SCHEMA, body, caller, k3, post, text_of


@pytest.fixture
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint() as running:
        yield running


def test_thinking_with_its_signature_stands_before_the_text(endpoint: LocalEndpoint) -> None:
    said = post(endpoint, body()).json()
    assert [block["type"] for block in said["content"]] == ["thinking", "text"]
    assert said["content"][0]["signature"]
    assert json.loads(said["content"][1]["text"]) == {"number": "4711", "total": "12.50"}
    assert (said["type"], said["role"], said["stop_reason"], said["stop_sequence"]) == (
        "message",
        "assistant",
        "end_turn",
        None,
    )
    usage = said["usage"]
    assert 0 < usage["output_tokens_details"]["thinking_tokens"] < usage["output_tokens"]


def test_kimi_k3_answers_with_text_alone(endpoint: LocalEndpoint) -> None:
    assert [block["type"] for block in post(endpoint, k3()).json()["content"]] == ["text"]


def test_effort_costs_thinking(endpoint: LocalEndpoint) -> None:
    def thinking(**config: Any) -> int:
        asked = body(output_config={**body()["output_config"], **config})
        return int(post(endpoint, asked).json()["usage"]["output_tokens_details"]["thinking_tokens"])

    by_effort = [
        thinking(effort=effort) for effort in ("none", "minimal", "low", "medium", "high", "xhigh", "max")
    ]
    low, high, most = by_effort[0], by_effort[3], by_effort[5]
    assert by_effort == [low, low, low, high, high, most, most]
    assert low < high < most


def test_a_stream_says_what_a_plain_reply_says(endpoint: LocalEndpoint) -> None:
    plain = post(endpoint, body()).json()
    raw = post(endpoint, body(stream=True))
    events = [json.loads(line[6:]) for line in raw.text.splitlines() if line.startswith("data: ")]
    assert raw.headers["content-type"] == "text/event-stream"
    assert [e["type"] for e in events][:2] == ["message_start", "ping"]
    assert [e["type"] for e in events][-2:] == ["message_delta", "message_stop"]
    blocks = _assembled(events)
    assert blocks == plain["content"]
    assert events[-2]["usage"]["output_tokens"] == plain["usage"]["output_tokens"]
    started = events[0]["message"]
    assert started["content"] == []
    assert started["usage"]["input_tokens"] == plain["usage"]["input_tokens"]


def _assembled(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    blocks: dict[int, dict[str, Any]] = {}
    for event in events:
        if event["type"] == "content_block_start":
            blocks[event["index"]] = dict(event["content_block"])
        elif event["type"] == "content_block_delta":
            delta = {k: v for k, v in event["delta"].items() if k != "type"}
            for name, piece in delta.items():
                blocks[event["index"]][name] += piece
    return [blocks[index] for index in sorted(blocks)]


def test_a_stream_can_be_cut_anywhere() -> None:
    with LocalEndpoint("chunk=3") as endpoint:
        whole = post(endpoint, body(stream=True)).text
    assert whole.startswith("event: message_start")
    assert whole.endswith('data: {"type":"message_stop"}\n\n')


def _reask(content: Any, **changes: Any) -> dict[str, Any]:
    turns = [
        {"role": "user", "content": DOCUMENT},
        {"role": "assistant", "content": content},
        {"role": "user", "content": "Total: this is no document, answer again"},
    ]
    return body(messages=turns, **changes)


def test_a_reask_is_answered_from_the_document(endpoint: LocalEndpoint) -> None:
    first = post(endpoint, body())
    again = post(endpoint, _reask(first.json()["content"]))
    assert text_of(again) == text_of(first)
    counts = endpoint.counts()
    assert (counts["reasks"], counts["rows"], counts["rows_asked_again"]) == (1, 1, 1)


def test_a_reask_with_other_blocks_is_refused(endpoint: LocalEndpoint) -> None:
    content = post(endpoint, body()).json()["content"]
    thinking, text = content
    changed = [
        [thinking, text | {"text": text["text"] + " "}],
        [thinking | {"thinking": "else"}, text],
        [thinking | {"signature": "else"}, text],
        [{"type": "thinking", "thinking": thinking["thinking"]}, text],
        [text, thinking],
        [thinking],
        [text],
        text["text"],
        [thinking, text, text],
    ]
    for blocks in changed:
        refused = post(endpoint, _reask(blocks))
        assert refused.status_code == 400, blocks
        assert "unchanged" in refused.json()["error"]["message"]
    assert endpoint.counts()["by_rule"] == {"own_blocks": len(changed)}
    assert post(endpoint, _reask(content)).status_code == 200


def test_signatures_hold_after_a_restart(endpoint: LocalEndpoint) -> None:
    content = post(endpoint, body()).json()["content"]
    with LocalEndpoint() as other:
        assert post(other, _reask(content)).status_code == 200
        assert post(other, _reask([content[0] | {"thinking": "x"}, content[1]])).status_code == 400


def test_kimi_k3_is_asked_again_without_thinking(endpoint: LocalEndpoint) -> None:
    content = post(endpoint, k3()).json()["content"]
    assert post(endpoint, _reask(content, model="kimi-k3", output_config=...)).status_code == 200
    assert endpoint.counts()["reasks"] == 1


def test_examples_are_turns_that_a_user_wrote(endpoint: LocalEndpoint) -> None:
    turns = [
        {"role": "user", "content": "Number: 1\nTotal: 2"},
        {"role": "assistant", "content": '{"number":"1","total":"2"}'},
        {"role": "user", "content": DOCUMENT},
    ]
    reply = post(endpoint, body(messages=turns))
    assert json.loads(text_of(reply))["number"] == "4711"
    assert endpoint.counts()["reasks"] == 0


def test_blocks_that_were_redacted_go_back_too() -> None:
    with LocalEndpoint("redacted=1") as endpoint:
        content = post(endpoint, body()).json()["content"]
        assert [block["type"] for block in content] == ["thinking", "redacted_thinking", "text"]
        assert post(endpoint, _reask(content)).status_code == 200
        assert post(endpoint, _reask([content[0], content[2]])).status_code == 400


@pytest.mark.parametrize(("kind", "shape"), [("found", list), ("empty", list), ("error", dict)])
def test_a_search_leaves_its_blocks_and_its_count(kind: str, shape: type) -> None:
    tools = [{"type": "web_search_20250305", "name": "web_search"}]
    with LocalEndpoint({"search": kind}) as endpoint:
        said = post(endpoint, body(tools=tools)).json()
        kinds = [block["type"] for block in said["content"]]
        assert kinds == ["thinking", "server_tool_use", "web_search_tool_result", "text"]
        assert isinstance(said["content"][2]["content"], shape)
        assert said["usage"]["server_tool_use"] == {"web_search_requests": 1}
        assert post(endpoint, _reask(said["content"], tools=tools)).status_code == 200
        streamed = post(endpoint, body(tools=tools, stream=True)).text
        assert "input_json_delta" in streamed


def test_a_tool_that_must_be_used_is_used(endpoint: LocalEndpoint) -> None:
    tools = [{"name": "file_invoice", "input_schema": SCHEMA}]
    said = post(endpoint, body(tools=tools, tool_choice={"type": "any"}, output_config=...)).json()
    assert said["stop_reason"] == "tool_use"
    assert said["content"][-1]["input"] == {"number": "4711", "total": "12.50"}


def test_a_stop_sequence_ends_the_text_and_is_left_out(endpoint: LocalEndpoint) -> None:
    said = post(endpoint, body(stop_sequences=["4711"])).json()
    assert said["content"][-1]["text"] == '{"number": "'
    assert (said["stop_reason"], said["stop_sequence"]) == ("end_turn", None)


def test_max_tokens_counts_thinking_and_text(endpoint: LocalEndpoint) -> None:
    said = post(endpoint, body(max_tokens=25)).json()
    assert said["stop_reason"] == "max_tokens"
    assert said["usage"]["output_tokens"] <= 25
    alone = post(endpoint, body(max_tokens=1)).json()
    assert [block["type"] for block in alone["content"]] == ["thinking"]


def test_a_request_beyond_the_context() -> None:
    with LocalEndpoint("context=3000") as endpoint:
        long = body(messages=[{"role": "user", "content": "word " * 2000}])
        refused = post(endpoint, long)
        assert refused.status_code == 400
        assert "exceeded model token limit: 3000 (requested: " in refused.json()["error"]["message"]
        assert post(endpoint, body()).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [{}, {"authorization": "Bearer wrong"}, {"authorization": "local-key"}, {"x-api-key": "local-key"}],
)
def test_no_key_no_answer(endpoint: LocalEndpoint, headers: dict[str, str]) -> None:
    refused = httpx.post(f"{endpoint.base_url}/v1/messages", json=body(), headers=headers)
    assert refused.status_code == 401
    assert refused.json()["error"]["type"] == "authentication_error"
    assert "wrong" not in refused.text


def test_the_other_header_where_a_knob_says_so() -> None:
    given = {"x-api-key": "mine", "anthropic-version": "2023-06-01"}
    with LocalEndpoint("auth=x-api-key", api_key="mine") as endpoint:
        url = f"{endpoint.base_url}/v1/messages"
        assert httpx.post(url, json=body(), headers=given).status_code == 200
        assert httpx.post(url, json=body(), headers={"x-api-key": "mine"}).status_code == 401
        assert httpx.post(url, json=body(), headers={"authorization": "Bearer mine"}).status_code == 401


def test_without_a_schema_it_says_what_it_is(endpoint: LocalEndpoint) -> None:
    assert "stand-in" in text_of(post(endpoint, body(output_config=...)))


def test_the_addresses_for_tests(endpoint: LocalEndpoint) -> None:
    with caller(endpoint) as client:
        client.post("/v1/messages", json=body())
        counts = client.get("/_endpoint/counts").json()
        assert (counts["requests"], counts["by_status"], counts["rows"]) == (1, {"200": 1}, 1)
        log = client.get("/_endpoint/log").json()
        assert (log[0]["status"], log[0]["model"], log[0]["path"]) == (200, "kimi-k3.1-pro", "/v1/messages")
        assert client.post("/_endpoint/knobs", content="err500=1").json()["err500"] == 1
        assert client.post("/v1/messages", json=body()).status_code == 500
        assert client.post("/_endpoint/knobs", json={"err500": 0}).json()["err500"] == 0
        assert client.get("/_endpoint/knobs").json()["seed"] == 1
        assert client.post("/_endpoint/knobs", content="nonsense=1").status_code == 400
        assert client.post("/_endpoint/reset").json()["requests"] == 0
        assert client.post("/_endpoint/advance", content="3600").json()["now"] > 3600
        assert client.get("/v1/models").json()["data"][0]["id"] == "kimi-k3.1-pro"
        assert client.get("/v1/messages").status_code == 405
        assert client.post("/v1/nothing").json()["error"]["type"] == "not_found_error"


def test_a_taken_port_is_told(endpoint: LocalEndpoint) -> None:
    port = int(endpoint.base_url.rpartition(":")[2])
    with pytest.raises(ConfigError, match=f"port {port}"):
        LocalEndpoint(port=port).start()


def test_it_can_be_started_again() -> None:
    endpoint = LocalEndpoint()
    for _ in range(2):
        with endpoint:
            assert post(endpoint, body()).status_code == 200
        endpoint.stop()
    assert endpoint.counts()["requests"] == 2
