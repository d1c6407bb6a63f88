"""What a scripted reply may be, and what it becomes on the wire.

A table of kinds. Knows no socket.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from extract.protocol.reply import Fault, Message
from extract.testing.endpoint import chat, messages
from extract.testing.endpoint.ask import Ask, Wire
from extract.testing.endpoint.faults import error_body
from extract.testing.endpoint.reply import Answer

JSON = {"content-type": "application/json"}
STREAM = {"content-type": "text/event-stream"}

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "permission_denied_error",
    403: "permission_denied_error",
    404: "resource_not_found_error",
    413: "request_too_large",
    429: "rate_limit_reached_error",
    529: "overloaded_error",
}
_STATUS = {
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "api_error": 500,
    "overloaded_error": 529,
} | {kind: status for status, kind in _KINDS.items() if status not in (402, 403)}


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply with everything said.

    text: the answer; or body: the whole body; or chunks: its exact pieces, as a stream.
    stop_reason: end_turn, max_tokens, refusal, tool_use or None, for a text.
    thinking: what is thought before the text; None leaves the block out.
    usage: usage fields over those made up for a text.
    torn: the connection breaks after the last byte, without a proper end.
    gap: seconds between two pieces.
    """

    text: str | None = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    chunks: Sequence[bytes] | None = None
    stop_reason: str | None = "end_turn"
    thinking: str | None = "As the script says."
    usage: Mapping[str, Any] = field(default_factory=dict)
    torn: bool = False
    gap: float = 0.0


@dataclass(frozen=True, slots=True)
class Played:
    """What goes out."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    chunks: Iterable[bytes] = ()
    torn: bool = False
    breaks: bool = False
    gap: float = 0.0


def played(reply: Any, body: bytes, path: str, number: int) -> Played:
    """What a reply of the script becomes for a request. Raises TypeError for one of no known kind."""
    if isinstance(reply, Exception) or (isinstance(reply, type) and issubclass(reply, Exception)):
        return Played(breaks=True)
    if isinstance(reply, bytes):
        return Played(headers=JSON, chunks=[reply])
    if isinstance(reply, int) and not isinstance(reply, bool):
        return _status(reply, path)
    if isinstance(reply, list) and reply and all(isinstance(piece, bytes) for piece in reply):
        return Played(headers=STREAM, chunks=reply)
    if isinstance(reply, Message):
        reply = _message(reply)
    if isinstance(reply, Fault):
        return _fault(reply, path)
    if isinstance(reply, Mapping) and reply.get("type") in ("message", "error"):
        return _whole(dict(reply), body)
    if isinstance(reply, Mapping | list):
        reply = json.dumps(reply, ensure_ascii=False)
    if isinstance(reply, str):
        reply = Reply(reply)
    if not isinstance(reply, Reply):
        raise TypeError(f"a scripted reply cannot be a {type(reply).__name__}: see ScriptedReplies")
    return _reply(reply, body, path, number)


def _status(status: int, path: str) -> Played:
    kind = _KINDS.get(status, "server_error")
    said = error_body(_wire(path), kind, f"scripted {status}", f"req_script_{status}")
    return Played(status, JSON, [json.dumps(said).encode()])


def _message(message: Message) -> dict[str, Any]:
    usage = {
        "input_tokens": message.usage.input,
        "cache_creation_input_tokens": message.usage.cache_write,
        "cache_read_input_tokens": message.usage.cache_read,
        "output_tokens": message.usage.output,
    }
    return {
        "id": message.id or "msg_script",
        "type": "message",
        "role": "assistant",
        "model": message.model or "scripted",
        "content": message.content,
        "stop_reason": message.stop_reason,
        "stop_sequence": None,
        "usage": {name: tokens for name, tokens in usage.items() if tokens is not None},
    }


def _fault(fault: Fault, path: str) -> Played:
    """An error reply; a fault without a status is a connection that breaks."""
    if fault.status is None:
        return Played(breaks=True)
    kind = fault.error_type or _KINDS.get(fault.status, "server_error")
    said = error_body(_wire(path), kind, fault.message, fault.request_id or f"req_script_{fault.status}")
    wait = {} if fault.retry_after is None else {"retry-after": f"{fault.retry_after:g}"}
    return Played(fault.status, JSON | wait, [json.dumps(said).encode()])


def _whole(body: dict[str, Any], request: bytes) -> Played:
    if body["type"] == "error":
        status = _STATUS.get(body.get("error", {}).get("type"), 500)
        return Played(status, JSON, [json.dumps(body).encode()])
    if _streamed(request):
        return Played(headers=STREAM, chunks=list(messages.events_of(body)))
    return Played(
        headers=JSON, chunks=[json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")]
    )


def _reply(reply: Reply, request: bytes, path: str, number: int) -> Played:
    if reply.chunks is not None:
        headers = STREAM | dict(reply.headers)
        return Played(reply.status, headers, list(reply.chunks), torn=reply.torn, gap=reply.gap)
    if reply.body is not None:
        return Played(reply.status, JSON | dict(reply.headers), [reply.body], torn=reply.torn)
    if reply.text is None and reply.status != 200:
        known = _status(reply.status, path)
        return Played(known.status, JSON | dict(reply.headers), known.chunks, torn=reply.torn)
    body, events = _body(reply, path, number)
    if _streamed(request):
        return Played(200, STREAM | dict(reply.headers), events, torn=reply.torn, gap=reply.gap)
    raw = json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return Played(reply.status, JSON | dict(reply.headers), [raw], torn=reply.torn)


def _body(reply: Reply, path: str, number: int) -> tuple[dict[str, Any], list[bytes]]:
    blocks: list[dict[str, Any]] = []
    if reply.thinking is not None:
        blocks.append({"type": "thinking", "thinking": reply.thinking, "signature": f"script-{number}"})
    if reply.text is not None:
        blocks.append({"type": "text", "text": reply.text})
    answer = Answer(blocks, reply.stop_reason or "end_turn", output=24, thinking=8)
    ask = Ask(wire=_wire(path), model="scripted", max_tokens=1, turns=(), stream_usage=True)
    if ask.wire == "chat":
        usage = {"prompt_tokens": 100, "completion_tokens": 24, "total_tokens": 124, **reply.usage}
        completion = chat.completion_of(ask, number, answer, usage)
        return completion, list(chat.chunks_of(ask, completion))
    usage = {"input_tokens": 100, "output_tokens": 24, **reply.usage}
    body = messages.body_of(ask, number, answer, usage) | {"stop_reason": reply.stop_reason}
    return body, list(messages.events_of(body))


def _wire(path: str) -> Wire:
    return "chat" if path.endswith("/chat/completions") else "messages"


def _streamed(request: bytes) -> bool:
    try:
        body = json.loads(request)
    except ValueError:
        return False
    return isinstance(body, dict) and body.get("stream") is True
