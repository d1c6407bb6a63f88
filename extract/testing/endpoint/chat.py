"""The chat-completions wire: a body as an `Ask`, a reply as one body or as chunks.

Knows nothing of how a reply was made or sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from extract.testing.endpoint.ask import ALIASES, Ask, Block, Turn
from extract.testing.endpoint.cache import Lookup
from extract.testing.endpoint.messages import pieces
from extract.testing.endpoint.reply import Answer

DEFAULT_MAX_TOKENS = 32_768
FINISH = {"end_turn": "stop", "max_tokens": "length", "refusal": "content_filter", "tool_use": "tool_calls"}
_CREATED = 1_790_000_000  # the same in every run, so that a run can be repeated byte by byte


def ask_of_chat(body: dict[str, Any]) -> Ask:
    """From a body that has passed the rules."""
    effort = body.get("reasoning_effort", "max")
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    stop = body.get("stop") or ()
    messages = body["messages"]
    tools = tuple(_tool(tool["function"]) for tool in body.get("tools", ()))
    return Ask(
        wire="chat",
        model=body["model"],
        max_tokens=body.get("max_completion_tokens") or body.get("max_tokens") or DEFAULT_MAX_TOKENS,
        turns=tuple(_turn(message) for message in messages if message["role"] != "system"),
        system="".join(_text(m["content"]) for m in messages if m["role"] == "system"),
        effort=ALIASES.get(effort, effort),
        schema=schema,
        schema_text=json.dumps(schema, ensure_ascii=False) if schema is not None else "",
        tools=tools,
        tool_choice="any" if body.get("tool_choice") == "required" else "auto",
        stops=(stop,) if isinstance(stop, str) else tuple(stop),
        stream=body.get("stream", False),
        stream_usage=bool((body.get("stream_options") or {}).get("include_usage")),
    )


def _tool(function: dict[str, Any]) -> dict[str, Any]:
    return {"name": function["name"], "input_schema": function.get("parameters", {"type": "object"})}


def _turn(message: dict[str, Any]) -> Turn:
    role = "assistant" if message["role"] == "assistant" else "user"
    content = message.get("content")
    if content is None:
        return Turn(role, [])
    return Turn(role, [{"type": "text", "text": content}] if isinstance(content, str) else content)


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def chat_usage(ask: Ask, total: int, lookup: Lookup, answer: Answer) -> dict[str, Any]:
    """Usage in the form of this wire: the prompt with its cached part."""
    return {
        "prompt_tokens": total,
        "completion_tokens": answer.output,
        "total_tokens": total + answer.output,
        "cached_tokens": lookup.read,
        "prompt_tokens_details": {"cached_tokens": lookup.read},
        "completion_tokens_details": {"reasoning_tokens": answer.thinking},
    }


def completion_of(ask: Ask, number: int, answer: Answer, usage: dict[str, Any]) -> dict[str, Any]:
    """The whole reply."""
    choice = {"index": 0, "message": _said(answer.blocks), "finish_reason": FINISH[answer.stop_reason]}
    return {**_head(ask, number, "chat.completion"), "choices": [choice], "usage": usage}


def _head(ask: Ask, number: int, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-local-{number:08d}", "object": kind, "created": _CREATED, "model": ask.model}


def _said(blocks: list[Block]) -> dict[str, Any]:
    said: dict[str, Any] = {"role": "assistant", "content": None}
    for block in blocks:
        if block["type"] == "text":
            said["content"] = (said["content"] or "") + block["text"]
        elif block["type"] == "thinking":
            said["reasoning_content"] = block["thinking"]
        elif block["type"] == "tool_use":
            function = {"name": block["name"], "arguments": json.dumps(block["input"], ensure_ascii=False)}
            said["tool_calls"] = [{"id": block["id"], "type": "function", "function": function}]
    return said


def chunks_of(ask: Ask, body: dict[str, Any]) -> Iterator[bytes]:
    """The same reply as chunks."""
    choice = body["choices"][0]
    head = {k: body[k] for k in ("id", "created", "model")} | {"object": "chat.completion.chunk"}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        return data(head | {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})

    yield chunk({"role": "assistant", "content": ""})
    message = choice["message"]
    for name in ("reasoning_content", "content"):
        for piece in pieces(message.get(name) or ""):
            yield chunk({name: piece})
    for index, call in enumerate(message.get("tool_calls", ())):
        yield chunk({"tool_calls": [call | {"index": index}]})
    yield chunk({}, choice["finish_reason"])
    if ask.stream_usage:
        yield data(head | {"choices": [], "usage": body["usage"]})
    yield b"data: [DONE]\n\n"


def data(payload: dict[str, Any]) -> bytes:
    """One chunk."""
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"))
    return f"data: {text}\n\n".encode("utf-8", "surrogatepass")
