"""Writes a reply in the shape of the Messages API: as one body, or as events.

Knows nothing of how it was made or sent. Event names and deltas are those of Anthropic's public protocol.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from extract.testing.endpoint.ask import Ask, Block
from extract.testing.endpoint.cache import Lookup
from extract.testing.endpoint.reply import Answer

PIECE = 48  # characters of a delta


def usage_of(ask: Ask, total: int, lookup: Lookup, answer: Answer) -> dict[str, Any]:
    """Usage in the documents' shape: three disjoint categories of input."""
    five, hour = (0, lookup.written) if ask.ttl == "1h" else (lookup.written, 0)
    usage: dict[str, Any] = {
        "input_tokens": total - lookup.read - lookup.written,
        "cache_creation_input_tokens": lookup.written,
        "cache_read_input_tokens": lookup.read,
        "output_tokens": answer.output,
        "output_tokens_details": {"thinking_tokens": answer.thinking},
        "cache_creation": {"ephemeral_5m_input_tokens": five, "ephemeral_1h_input_tokens": hour},
    }
    if ask.search:
        usage["server_tool_use"] = {"web_search_requests": answer.searches}
    return usage


def body_of(ask: Ask, number: int, answer: Answer, usage: dict[str, Any]) -> dict[str, Any]:
    """The whole reply."""
    return {
        "id": f"msg_local_{number:08d}",
        "type": "message",
        "role": "assistant",
        "model": ask.model,
        "content": answer.blocks,
        "stop_reason": answer.stop_reason,
        "stop_sequence": None,
        "usage": usage,
    }


def events_of(body: dict[str, Any]) -> Iterator[bytes]:
    """The same reply as server-sent events."""
    usage = body["usage"]
    started = body | {"content": [], "stop_reason": None, "usage": usage | {"output_tokens": 1}}
    yield event("message_start", {"message": started})
    yield event("ping", {})
    for index, block in enumerate(body["content"]):
        yield from _block_events(index, block)
    delta = {"stop_reason": body["stop_reason"], "stop_sequence": None}
    tail = {k: v for k, v in usage.items() if k.startswith("output") or k == "server_tool_use"}
    yield event("message_delta", {"delta": delta, "usage": tail})
    yield event("message_stop", {})


def _block_events(index: int, block: Block) -> Iterator[bytes]:
    start, deltas = _opened(block)
    yield event("content_block_start", {"index": index, "content_block": start})
    for delta in deltas:
        yield event("content_block_delta", {"index": index, "delta": delta})
    yield event("content_block_stop", {"index": index})


def _opened(block: Block) -> tuple[Block, list[dict[str, Any]]]:
    kind = block["type"]
    if kind == "text":
        return block | {"text": ""}, [{"type": "text_delta", "text": p} for p in pieces(block["text"])]
    if kind == "thinking":
        thought = [{"type": "thinking_delta", "thinking": p} for p in pieces(block["thinking"])]
        return block | {"thinking": "", "signature": ""}, [
            *thought,
            {"type": "signature_delta", "signature": block["signature"]},
        ]
    if kind in ("tool_use", "server_tool_use"):
        text = json.dumps(block["input"], ensure_ascii=False)
        return block | {"input": {}}, [{"type": "input_json_delta", "partial_json": p} for p in pieces(text)]
    return block, []


def pieces(text: str) -> list[str]:
    """A text in the pieces in which a stream brings it."""
    return [text[i : i + PIECE] for i in range(0, len(text), PIECE)]


def event(name: str, data: dict[str, Any]) -> bytes:
    """One event; its data names its type too."""
    payload = json.dumps({"type": name, **data}, ensure_ascii=False, separators=(",", ":"))
    return f"event: {name}\ndata: {payload}\n\n".encode("utf-8", "surrogatepass")
