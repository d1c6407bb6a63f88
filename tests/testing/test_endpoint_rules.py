"""Every rule of the contract has a request that breaks it, and gets the documented 400."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from extract.testing import LocalEndpoint
from extract.testing.endpoint.rules import chat as chat_rules
from extract.testing.endpoint.rules import messages as message_rules
from tests.testing.asks import PIXEL, body, caller, chat, k3


def _blocks(*blocks: Any) -> dict[str, Any]:
    return body(messages=[{"role": "user", "content": list(blocks)}])


def _config(**config: Any) -> dict[str, Any]:
    return body(output_config=config)


TEXT = {"type": "text", "text": "hello"}
IMAGE = {"type": "base64", "media_type": "image/png", "data": PIXEL}


def _image(**changes: Any) -> dict[str, Any]:
    source = {name: value for name, value in {**IMAGE, **changes}.items() if value is not ...}
    return _blocks({"type": "image", "source": source})


BROKEN: list[tuple[str, dict[str, Any]]] = [
    ("model", body(model=...)),
    ("model", body(model="kimi-k9")),
    ("max_tokens", body(max_tokens=...)),
    ("max_tokens", body(max_tokens=0)),
    ("max_tokens", body(max_tokens=1_048_577)),
    ("max_tokens", body(max_tokens=True)),
    ("max_tokens", body(max_tokens=1.5)),
    ("messages", body(messages=...)),
    ("messages", body(messages=[])),
    ("roles", body(messages=[{"role": "system", "content": "x"}])),
    ("roles", body(messages=["x"])),
    ("content", body(messages=[{"role": "user"}])),
    ("content", body(messages=[{"role": "user", "content": None}])),
    ("blocks", _blocks("text")),
    ("blocks", _blocks({"type": "document", "source": {}})),
    ("blocks", _blocks({"type": "text"})),
    ("blocks", _blocks({"type": "text", "text": 1})),
    ("blocks", _blocks({"type": "thinking"})),
    ("blocks", _blocks({"type": "thinking", "thinking": "x", "signature": 1})),
    ("blocks", _blocks({"type": "tool_use", "id": "1", "name": "n", "input": "x"})),
    ("blocks", _blocks({"type": "tool_result", "tool_use_id": "1"})),
    ("blocks", _blocks({"type": "tool_result", "tool_use_id": "1", "content": [{"type": "thinking"}]})),
    ("blocks", _blocks({"type": "tool_result", "tool_use_id": "1", "content": "x", "is_error": "no"})),
    ("blocks", _blocks({"type": "server_tool_use", "id": "1", "name": "n"})),
    ("blocks", _blocks({"type": "web_search_tool_result", "tool_use_id": "1", "content": ["x"]})),
    ("blocks", _image(type="file")),
    ("blocks", _image(media_type=...)),
    ("blocks", _image(media_type="image/tiff")),
    ("blocks", _image(media_type="image/jpeg")),
    ("blocks", _image(data=...)),
    ("blocks", _image(data="data:image/png;base64," + PIXEL)),
    ("blocks", _image(data="not base64!")),
    ("blocks", _blocks({"type": "image", "source": {"type": "url"}})),
    ("blocks", _blocks({"type": "image", "source": {"type": "url", "url": "file:///etc/passwd"}})),
    ("tool_results", _blocks({"type": "tool_result", "tool_use_id": "unknown", "content": "x"})),
    ("system", body(system=7)),
    ("system", body(system=[{"type": "image", "source": IMAGE}])),
    ("stream", body(stream="yes")),
    ("tools", body(tools={})),
    ("tools", body(tools=[{"name": "x"}])),
    ("tools", body(tools=[{"input_schema": {"type": "object"}}])),
    ("tools", body(tools=[{"type": "web_search_20250305", "name": "search"}])),
    ("tools", body(tools=[{"type": "web_search_20250305", "name": "web_search", "max_uses": 0}])),
    ("tool_choice", body(tool_choice="auto")),
    ("tool_choice", body(tool_choice={"type": "tool", "name": "x"})),
    ("stop_sequences", body(stop_sequences="x")),
    ("stop_sequences", body(stop_sequences=list("abcdef"))),
    ("stop_sequences", body(stop_sequences=["ü" * 17])),
    ("cache_control", body(cache_control={"ttl": "1h"})),
    ("cache_control", body(cache_control={"type": "ephemeral", "ttl": "2h"})),
    ("cache_control", body(cache_control=None)),
    ("effort", _config(effort="extreme")),
    ("effort", body(output_config=[])),
    ("format", _config(format={"type": "json"})),
    ("format", _config(format={"type": "json_schema"})),
    ("format", _config(format={"type": "json_schema", "schema": []})),
    ("sampling", body(temperature="hot")),
    ("sampling", body(top_p=True)),
    ("k3_format", k3(output_config=body()["output_config"])),
    ("k3_stop", k3(stop_sequences=["x"])),
    ("k3_cache", k3(cache_control={"type": "ephemeral"})),
    ("k3_effort", k3(output_config={"effort": "low"})),
    ("k3_temperature", k3(temperature=0)),
    ("k3_top_p", k3(top_p=1)),
]

BROKEN_CHAT: list[tuple[str, dict[str, Any]]] = [
    ("model", chat(model="gpt")),
    ("messages", chat(messages=[])),
    ("messages", chat(messages=[{"role": "robot", "content": "x"}])),
    ("messages", chat(messages=[{"role": "user", "content": None}])),
    ("messages", chat(messages=[{"role": "user", "content": [{"type": "audio"}]}])),
    ("messages", chat(messages=[{"role": "user", "content": [{"type": "text"}]}])),
    (
        "messages",
        chat(messages=[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]),
    ),
    ("max_tokens", chat(max_tokens=0)),
    ("max_tokens", chat(max_completion_tokens=2_000_000)),
    ("stream", chat(stream=1)),
    ("stream", chat(stream_options={"include_usage": True})),
    ("effort", chat(reasoning_effort="some")),
    ("response_format", chat(response_format={"type": "xml"})),
    ("response_format", chat(response_format={"type": "json_schema"})),
    (
        "response_format",
        chat(response_format={"type": "json_schema", "json_schema": {"name": "a b", "schema": {}}}),
    ),
    ("response_format", chat(response_format={"type": "json_schema", "json_schema": {"name": "a"}})),
    ("tools", chat(tools=[{"type": "function"}])),
    ("stop", chat(stop=list("abcdef"))),
    ("stop", chat(stop="x" * 33)),
    ("sampling", chat(temperature=0)),
    ("sampling", chat(top_p="x")),
    ("n", chat(n=2)),
    ("k3_effort", chat(reasoning_effort="low")),
]

TAKEN: list[dict[str, Any]] = [
    body(),
    body(model="kimi-k3.1-pro-highspeed", temperature=0, top_p=1),
    body(system=[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
    body(stop_sequences=["END"], cache_control={"type": "ephemeral", "ttl": "1h"}),
    body(tools=[{"type": "web_search_20250305", "name": "web_search", "max_uses": 2}]),
    body(tools=[{"name": "f", "input_schema": {"type": "object"}}], tool_choice={"type": "none"}),
    body(metadata={"user_id": "x"}, thinking={"type": "disabled"}),
    _blocks(TEXT, {"type": "image", "source": IMAGE}),
    _blocks(TEXT, {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}),
    _config(effort="none"),
    k3(),
    k3(output_config={"effort": "max"}, temperature=1, top_p=0.95),
]  # fmt: skip


@pytest.fixture(scope="module")
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint() as running:
        yield running


@pytest.mark.parametrize(("rule", "asked"), BROKEN)
def test_a_broken_rule_is_a_400_that_says_what(
    endpoint: LocalEndpoint, rule: str, asked: dict[str, Any]
) -> None:
    with caller(endpoint) as client:
        response = client.post("/v1/messages", json=asked)
    assert response.status_code == 400
    said = response.json()
    assert said["type"] == "error"
    assert said["error"]["type"] == "invalid_request_error"
    assert said["error"]["message"]
    assert said["request_id"] == response.headers["request-id"]
    assert endpoint.log()[-1]["rule"] == rule


@pytest.mark.parametrize(("rule", "asked"), BROKEN_CHAT)
def test_a_broken_rule_on_the_chat_wire(endpoint: LocalEndpoint, rule: str, asked: dict[str, Any]) -> None:
    with caller(endpoint) as client:
        response = client.post("/v1/chat/completions", json=asked)
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"
    assert endpoint.log()[-1]["rule"] == rule


@pytest.mark.parametrize("asked", TAKEN)
def test_what_the_documents_allow_is_taken(endpoint: LocalEndpoint, asked: dict[str, Any]) -> None:
    with caller(endpoint) as client:
        response = client.post("/v1/messages", json=asked)
    assert response.status_code == 200, response.text


def test_every_rule_is_tried() -> None:
    assert {rule.name for rule in message_rules.RULES} == {name for name, _ in BROKEN}
    assert {rule.name for rule in chat_rules.RULES} == {name for name, _ in BROKEN_CHAT}


def test_a_field_that_no_document_names_is_taken_and_counted(endpoint: LocalEndpoint) -> None:
    endpoint.reset()
    with caller(endpoint) as client:
        client.post("/v1/messages", json=body(top_k=5))
    assert endpoint.counts()["unknown_fields"] == {"top_k": 1}


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"model": NaN}', b"\xff"])
def test_a_body_that_is_no_json_object(endpoint: LocalEndpoint, raw: bytes) -> None:
    with caller(endpoint) as client:
        response = client.post("/v1/messages", content=raw, headers={"content-type": "application/json"})
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"


def test_another_content_type(endpoint: LocalEndpoint) -> None:
    with caller(endpoint) as client:
        response = client.post("/v1/messages", content=b"{}", headers={"content-type": "text/plain"})
    assert response.status_code == 400
