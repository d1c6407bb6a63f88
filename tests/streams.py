"""Streams for tests: events as a server writes them, and the message they amount to."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any


def event(kind: str, **fields: Any) -> bytes:
    """One event of the Messages API, its data in UTF-8 without escapes."""
    data = json.dumps({"type": kind, **fields}, ensure_ascii=False)
    return f"event: {kind}\ndata: {data}\n\n".encode()


def start(**usage: Any) -> bytes:
    message = {"id": "m1", "type": "message", "role": "assistant", "model": "k", "content": []}
    return event(
        "message_start", message=message | {"stop_reason": None, "usage": usage or {"input_tokens": 7}}
    )


def block(index: int, kind: str, deltas: Iterable[dict[str, Any]] = (), **fields: Any) -> list[bytes]:
    """A whole block: its start, its deltas and its stop."""
    opened = event("content_block_start", index=index, content_block={"type": kind, **fields})
    moved = [event("content_block_delta", index=index, delta=delta) for delta in deltas]
    return [opened, *moved, event("content_block_stop", index=index)]


def text(index: int, *pieces: str) -> list[bytes]:
    return block(index, "text", ({"type": "text_delta", "text": piece} for piece in pieces), text="")


def thinking(index: int, *pieces: str, signature: str = "sig") -> list[bytes]:
    deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
    return block(
        index,
        "thinking",
        [*deltas, {"type": "signature_delta", "signature": signature}],
        thinking="",
        signature="",
    )


def end(stop_reason: str | None = "end_turn", **usage: Any) -> list[bytes]:
    delta = {"stop_reason": stop_reason, "stop_sequence": None}
    return [
        event("message_delta", delta=delta, usage=usage or {"output_tokens": 5}),
        event("message_stop"),
    ]


def stream(*parts: bytes | list[bytes]) -> bytes:
    return b"".join(part if isinstance(part, bytes) else b"".join(part) for part in parts)


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> bytes:
    """One chunk of a chat completion."""
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    data = {"id": "c1", "object": "chat.completion.chunk", "model": "k", "choices": choices, **more}
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


DONE = b"data: [DONE]\n\n"
