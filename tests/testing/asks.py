"""Bodies that the endpoint's tests start from."""

from __future__ import annotations

from typing import Any

import httpx

from extract.testing import LocalEndpoint

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"number": {"type": "string"}, "total": {"type": ["string", "null"]}},
    "required": ["number", "total"],
    "additionalProperties": False,
}
DOCUMENT = "Number: 4711\nTotal: 12.50"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def body(**changes: Any) -> dict[str, Any]:
    """A request that breaks no rule, with some fields changed; a field set to `...` is left out."""
    whole = {
        "model": "kimi-k3.1-pro",
        "max_tokens": 2048,
        "output_config": {"effort": "low", "format": {"type": "json_schema", "schema": SCHEMA}},
        "messages": [{"role": "user", "content": DOCUMENT}],
        **changes,
    }
    return {name: value for name, value in whole.items() if value is not ...}


def k3(**changes: Any) -> dict[str, Any]:
    """The same for kimi-k3, which takes less."""
    return body(**{"model": "kimi-k3", "output_config": ..., **changes})


def chat(**changes: Any) -> dict[str, Any]:
    """The same for chat completions."""
    whole = {
        "model": "kimi-k3",
        "messages": [{"role": "user", "content": DOCUMENT}],
        "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}},
        **changes,
    }
    return {name: value for name, value in whole.items() if value is not ...}


def caller(endpoint: LocalEndpoint, **headers: str) -> httpx.Client:
    """A plain HTTP client with the endpoint's key."""
    given = {"authorization": f"Bearer {endpoint.api_key}", **headers}
    return httpx.Client(base_url=endpoint.base_url, headers=given, timeout=20, verify=False)


def post(endpoint: LocalEndpoint, asked: dict[str, Any], path: str = "/v1/messages") -> httpx.Response:
    """One request."""
    with caller(endpoint) as client:
        return client.post(path, json=asked)


def text_of(response: httpx.Response) -> str:
    """The text of a reply of the Messages API."""
    return "".join(block["text"] for block in response.json()["content"] if block["type"] == "text")
