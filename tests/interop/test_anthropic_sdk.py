"""A foreign client: the `anthropic` SDK talks to the local endpoint as to the service itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import BaseModel

from extract.testing import LocalEndpoint

anthropic = pytest.importorskip("anthropic")

MODEL = "kimi-k3.1-pro"
DOCUMENT = "Number: 4711\nTotal: 12.50"
SYSTEM = "You read invoices. " * 80
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"number": {"type": "string"}, "total": {"type": "number"}},
    "required": ["number", "total"],
    "additionalProperties": False,
}


@pytest.fixture
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint() as running:
        yield running


def _client(endpoint: LocalEndpoint, key: str | None = None) -> Any:
    # a Bearer token, as the documents want it; the SDK's own retries would hide what is looked at
    return anthropic.Anthropic(
        base_url=endpoint.base_url, auth_token=key or endpoint.api_key, api_key=None, max_retries=0
    )


def _ask(**changes: Any) -> dict[str, Any]:
    config = {"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}}
    turns = [{"role": "user", "content": DOCUMENT}]
    return {"model": MODEL, "max_tokens": 2048, "messages": turns, "output_config": config, **changes}


def test_create_with_a_schema_and_thinking(endpoint: LocalEndpoint) -> None:
    with _client(endpoint) as client:
        message = client.messages.create(**_ask())
    thinking, text = message.content
    assert (thinking.type, text.type) == ("thinking", "text")
    assert thinking.signature
    assert json.loads(text.text) == {"number": "4711", "total": 12.5}
    assert message.stop_reason == "end_turn"
    assert message._request_id.startswith("req_")
    assert message.usage.output_tokens > message.usage.output_tokens_details.thinking_tokens > 0


def test_a_stream_ends_as_the_same_message(endpoint: LocalEndpoint) -> None:
    with _client(endpoint) as client:
        plain = client.messages.create(**_ask())
        with client.messages.stream(**_ask()) as stream:
            streamed = "".join(stream.text_stream)
            final = stream.get_final_message()
    assert streamed == plain.content[-1].text
    assert [block.model_dump() for block in final.content] == [block.model_dump() for block in plain.content]
    assert final.usage.output_tokens == plain.usage.output_tokens


class Note(BaseModel):
    number: str
    total: float


def test_its_own_structured_output(endpoint: LocalEndpoint) -> None:
    with _client(endpoint) as client:
        parsed = client.messages.parse(
            model=MODEL,
            max_tokens=2048,
            messages=[{"role": "user", "content": DOCUMENT}],
            output_format=Note,
            extra_body={"cache_control": {"type": "ephemeral", "ttl": "1h"}},
        )
    assert parsed.parsed_output == Note(number="4711", total=12.5)


def test_blocks_go_back_as_the_sdk_holds_them(endpoint: LocalEndpoint) -> None:
    with _client(endpoint) as client:
        first = client.messages.create(**_ask())
        turns = [
            {"role": "user", "content": DOCUMENT},
            {"role": "assistant", "content": first.content},
            {"role": "user", "content": "again"},
        ]
        assert client.messages.create(**_ask(messages=turns)).content[-1].text == first.content[-1].text
    assert endpoint.counts()["reasks"] == 1


def test_cache_usage(endpoint: LocalEndpoint) -> None:
    ask = _ask(system=SYSTEM, cache_control={"type": "ephemeral", "ttl": "1h"})
    with _client(endpoint) as client:
        first, second = (client.messages.create(**ask).usage for _ in range(2))
    assert first.cache_creation_input_tokens == first.cache_creation.ephemeral_1h_input_tokens > 256
    assert first.cache_read_input_tokens == 0
    assert second.cache_read_input_tokens == first.cache_creation_input_tokens
    assert second.cache_creation_input_tokens == 0


def test_web_search(endpoint: LocalEndpoint) -> None:
    tools = [{"type": "web_search_20250305", "name": "web_search", "max_uses": 1}]
    with _client(endpoint) as client:
        message = client.messages.create(**_ask(tools=tools))
    kinds = [block.type for block in message.content]
    assert kinds == ["thinking", "server_tool_use", "web_search_tool_result", "text"]
    assert message.usage.server_tool_use.web_search_requests == 1


@pytest.mark.parametrize(
    ("knobs", "change", "error", "status"),
    [
        ("", {"max_tokens": 0}, "BadRequestError", 400),
        ("rate=0.01,burst=1", {}, "RateLimitError", 429),
        ("err500=1", {}, "InternalServerError", 500),
        ("err529=1", {}, "OverloadedError", 529),
    ],
)
def test_errors_become_its_exceptions(knobs: str, change: dict[str, Any], error: str, status: int) -> None:
    with LocalEndpoint(knobs) as endpoint, _client(endpoint) as client:
        if status == 429:
            client.messages.create(**_ask())
        with pytest.raises(anthropic.APIStatusError) as caught:
            client.messages.create(**_ask(**change))
    kinds = [kind.__name__ for kind in type(caught.value).__mro__]
    assert error in kinds
    assert caught.value.status_code == status
    assert caught.value.request_id.startswith("req_")
    assert caught.value.body["type"] == "error"
    if status == 429:
        assert float(caught.value.response.headers["retry-after"]) > 1


def test_a_wrong_key(endpoint: LocalEndpoint) -> None:
    with _client(endpoint, "wrong") as client, pytest.raises(anthropic.AuthenticationError) as caught:
        client.messages.create(**_ask())
    assert caught.value.status_code == 401
    assert "wrong" not in str(caught.value)


def test_a_key_given_as_api_key_is_a_bearer_too(endpoint: LocalEndpoint) -> None:
    with anthropic.Anthropic(base_url=endpoint.base_url, api_key=endpoint.api_key, max_retries=0) as client:
        assert client.messages.create(**_ask()).content[-1].type == "text"


def test_an_error_in_the_middle_of_a_stream() -> None:
    with (
        LocalEndpoint("error200=1") as endpoint,
        _client(endpoint) as client,
        pytest.raises(anthropic.APIStatusError) as caught,
        client.messages.stream(**_ask()) as stream,
    ):
        stream.get_final_message()
    assert "overloaded" in str(caught.value).lower()
