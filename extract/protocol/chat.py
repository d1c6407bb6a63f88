"""Chat completions, both ways: blocks to messages, replies to blocks, usage to the five categories.

Knows nothing of the fault table, streams or sockets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from extract.errors import RequestError
from extract.protocol.blocks import Block
from extract.protocol.reply import Message
from extract.protocol.usage import Usage, count

STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "content_filter": "refusal",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
}
REASONING = ("reasoning_content", "reasoning")  # two names for the same thing, by server


def user_message(blocks: Iterable[Block]) -> dict[str, Any]:
    """A user turn. Raises RequestError for a block that this wire cannot carry."""
    parts = [_part(block) for block in blocks]
    if len(parts) == 1 and parts[0]["type"] == "text":
        return {"role": "user", "content": parts[0]["text"]}
    return {"role": "user", "content": parts}


def _part(block: Block) -> dict[str, Any]:
    kind = block.get("type")
    if kind == "text":
        return {"type": "text", "text": block["text"]}
    if kind == "image":
        return {"type": "image_url", "image_url": {"url": _url(block["source"])}}
    raise RequestError(f"the chat wire carries text and images, no {kind!r} block: use wire='messages'")


def _url(source: dict[str, Any]) -> str:
    if source["type"] == "url":
        return str(source["url"])
    return f"data:{source['media_type']};base64,{source['data']}"


def assistant_message(blocks: Iterable[Block]) -> dict[str, Any]:
    """An assistant turn as it came: text, reasoning under the name the server used, tool calls."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    for block in blocks:
        kind = block.get("type")
        if kind == "text":
            message["content"] = (message["content"] or "") + block["text"]
        elif kind == "thinking":
            name = block.get("field", REASONING[0])
            message[name] = message.get(name, "") + block["thinking"]
        elif kind == "tool_use":
            message.setdefault("tool_calls", []).append(_tool_call(block))
    return message


def _tool_call(block: Block) -> dict[str, Any]:
    arguments = block.get("arguments", json.dumps(block["input"]))
    function = {"name": block["name"], "arguments": arguments}
    return {"id": block["id"], "type": "function", "function": function}


def response_format_head(title: str | None) -> tuple[str, str]:
    """What stands before and after the schema's text in `response_format`."""
    name = re.sub(r"[^A-Za-z0-9_-]+", "_", title or "")[:64].strip("_") or "answer"
    head = '{"type":"json_schema","json_schema":{"name":' + json.dumps(name) + ',"strict":true,"schema":'
    return head, "}}"


def read_completion(raw: dict[str, Any], *, request_id: str | None = None) -> Message | None:
    """A plain reply as a message of the same blocks; None when it is no completion."""
    choices = raw.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    said = first.get("message") if isinstance(first, dict) else None
    if not isinstance(first, dict) or not isinstance(said, dict):
        return None
    content = blocks_of(said)
    if content is None:
        return None
    return Message(
        content,
        stop_reason(first.get("finish_reason"), refused=bool(said.get("refusal"))),
        usage=read_chat_usage(raw.get("usage") or first.get("usage")),
        id=_text(raw.get("id")),
        model=_text(raw.get("model")),
        request_id=request_id,
    )


def stop_reason(finish: Any, *, refused: bool) -> str | None:
    """The stop reason of a `finish_reason`; an unknown one stays as it is."""
    if refused:
        return "refusal"
    return STOP_REASONS.get(finish, finish) if isinstance(finish, str) else None


def blocks_of(said: dict[str, Any]) -> list[Block] | None:
    """The blocks of an assistant message; None when its parts are not what they should be."""
    blocks: list[Block] = []
    for name in REASONING:
        if isinstance(said.get(name), str) and said[name]:
            blocks.append({"type": "thinking", "thinking": said[name], "field": name})
            break
    texts = _texts(said.get("content"))
    calls = said.get("tool_calls") or []
    if texts is None or not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
        return None
    blocks += ({"type": "text", "text": text} for text in texts if text)
    if isinstance(said.get("refusal"), str):
        blocks.append({"type": "text", "text": said["refusal"]})
    return blocks + [_tool_use(call) for call in calls]


def _texts(content: Any) -> list[str] | None:
    if content is None:
        return []
    if isinstance(content, str):
        return [content]
    if not isinstance(content, list):
        return None
    parts = [part for part in content if isinstance(part, dict) and part.get("type") == "text"]
    texts = [part["text"] for part in parts if isinstance(part.get("text"), str)]
    return texts if len(texts) == len(parts) else None


def _tool_use(call: dict[str, Any]) -> Block:
    function = call.get("function") if isinstance(call.get("function"), dict) else {}
    arguments = str((function or {}).get("arguments") or "{}")
    try:
        parsed = json.loads(arguments)
    except (ValueError, RecursionError):
        parsed = None
    # `arguments` is kept beside the parsed input: it goes back as the text that came
    return {
        "type": "tool_use",
        "id": str(call.get("id") or ""),
        "name": str((function or {}).get("name") or ""),
        "input": parsed if isinstance(parsed, dict) else {},
        "arguments": arguments,
    }


def read_chat_usage(raw: Any) -> Usage:
    """Usage in the five categories: cached tokens are taken out of the prompt's."""
    if not isinstance(raw, dict):
        return Usage()
    prompt, cached = count(raw.get("prompt_tokens")), _cached(raw)
    details = raw.get("completion_tokens_details")
    return Usage(
        input=prompt if prompt is None or cached is None else max(prompt - cached, 0),
        cache_read=cached,
        output=count(raw.get("completion_tokens")),
        thinking=count(details.get("reasoning_tokens")) if isinstance(details, dict) else None,
    )


def _cached(raw: dict[str, Any]) -> int | None:
    details = raw.get("prompt_tokens_details")
    nested = count(details.get("cached_tokens")) if isinstance(details, dict) else None
    named = (count(raw.get(name)) for name in ("cached_tokens", "prompt_cache_hit_tokens"))
    return nested if nested is not None else next((value for value in named if value is not None), None)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
