"""The events of the Messages API → content blocks, stop reason and usage.

What is kept is what a re-ask has to return: blocks with all their fields, in the order of their
index. Knows nothing of bytes, lines or faults.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from extract.protocol.faults import is_block, parse_object, word
from extract.protocol.reply import Message
from extract.protocol.sse import StreamError
from extract.protocol.usage import Usage, read_usage

EVENTS = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "error",
    }
)

# kind of delta → (kind of block, field of the delta, field of the block); None: any block
_TEXT_DELTAS = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "signature_delta": ("thinking", "signature"),
}


@dataclass(slots=True)
class _Open:
    """A block as it grows: text fields in pieces, tool input as JSON in pieces."""

    block: dict[str, Any]
    pieces: dict[str, list[str]] = field(default_factory=dict)
    input: list[str] = field(default_factory=list)
    closed: bool = False

    def done(self) -> dict[str, Any]:
        """The block as it would have stood in a plain reply."""
        block = dict(self.block)
        for name, pieces in self.pieces.items():
            block[name] = f"{block.get(name) or ''}{''.join(pieces)}"
        text = "".join(self.input)
        if text.strip():
            parsed = parse_object(text)
            if parsed is None:
                raise StreamError("the input of a tool is no JSON object")
            block["input"] = parsed
        return block


class MessagesStream:
    """Takes events one by one. Raises StreamError where they contradict each other."""

    def __init__(self, ttl: str | None = None) -> None:
        self._ttl = ttl
        self._blocks: dict[int, _Open] = {}
        self._usage: dict[str, Any] = {}
        self._head: dict[str, Any] = {}
        self._stop_reason: str | None = None
        self.started = False
        self.finished = False

    @property
    def whole(self) -> bool:
        """Whether the reply came to its end: `message_stop`, or a stop reason with all blocks closed."""
        closed = all(block.closed for block in self._blocks.values())
        return self.started and (self.finished or (self._stop_reason is not None and closed))

    @property
    def usage(self) -> Usage:
        """As told so far."""
        return read_usage(self._usage, ttl=self._ttl)

    def end(self) -> None:
        """`[DONE]`, which other wires send at the end; it says nothing here."""

    def take(self, kind: str, raw: dict[str, Any]) -> None:
        """One event; unknown kinds are passed over."""
        if kind in EVENTS and kind != "message_start" and not self.started:
            raise StreamError(f"{kind} before message_start")
        take = {
            "message_start": self._start,
            "content_block_start": self._open,
            "content_block_delta": self._delta,
            "content_block_stop": self._close,
            "message_delta": self._message_delta,
            "message_stop": self._stop,
        }.get(kind)
        if take is not None:
            take(raw)

    def message(self, request_id: str | None) -> Message:
        """The whole message, its blocks in the order of their index."""
        content = [self._blocks[index].done() for index in sorted(self._blocks)]
        if not all(map(is_block, content)):
            raise StreamError("a block whose text is no text")
        return Message(
            content,
            self._stop_reason,
            usage=self.usage,
            id=word(self._head.get("id")),
            model=word(self._head.get("model")),
            request_id=request_id or word(self._head.get("request_id")),
        )

    def _start(self, raw: dict[str, Any]) -> None:
        if self.started:
            raise StreamError("a second message_start")
        self.started = True
        message = raw.get("message")
        self._head = message if isinstance(message, dict) else {}
        self._stop_reason = word(self._head.get("stop_reason"))
        self._add_usage(self._head.get("usage"))

    def _open(self, raw: dict[str, Any]) -> None:
        index, block = raw.get("index"), raw.get("content_block")
        if not isinstance(index, int) or not isinstance(block, dict) or index in self._blocks:
            raise StreamError("content_block_start without a block, or twice for one index")
        if block.get("type") == "text":
            block.setdefault("text", "")
        self._blocks[index] = _Open(block)

    def _delta(self, raw: dict[str, Any]) -> None:
        open_, delta = self._blocks.get(_index(raw)), raw.get("delta")
        if open_ is None or open_.closed or not isinstance(delta, dict):
            raise StreamError("content_block_delta for a block that is not open")
        kind = delta.get("type")
        if kind in _TEXT_DELTAS:
            of, name = _TEXT_DELTAS[kind]
            if open_.block.get("type") != of:
                raise StreamError(f"{kind} for a block of type {open_.block.get('type')}")
            open_.pieces.setdefault(name, []).append(_str(delta.get(name)))
        elif kind == "input_json_delta":
            open_.input.append(_str(delta.get("partial_json")))
        elif kind == "citations_delta":
            cited = open_.block.get("citations")
            open_.block["citations"] = [*(cited if isinstance(cited, list) else []), delta.get("citation")]

    def _close(self, raw: dict[str, Any]) -> None:
        open_ = self._blocks.get(_index(raw))
        if open_ is None:
            raise StreamError("content_block_stop for a block that never began")
        open_.closed = True

    def _message_delta(self, raw: dict[str, Any]) -> None:
        delta = raw.get("delta")
        if isinstance(delta, dict):
            self._stop_reason = word(delta.get("stop_reason")) or self._stop_reason
        self._add_usage(raw.get("usage"))

    def _stop(self, raw: dict[str, Any]) -> None:
        self.finished = True

    def _add_usage(self, usage: Any) -> None:
        """Later counts replace earlier ones; what is missing or null keeps what was said before."""
        for name, value in usage.items() if isinstance(usage, dict) else ():
            held = self._usage.get(name)
            if isinstance(value, dict) and isinstance(held, dict):
                held.update({key: count for key, count in value.items() if count is not None})
            elif value is not None:
                self._usage[name] = dict(value) if isinstance(value, dict) else value


def _index(raw: dict[str, Any]) -> int:
    index = raw.get("index")
    return index if isinstance(index, int) else -1


def _str(value: Any) -> str:
    if not isinstance(value, str):
        raise StreamError("a delta whose text is no text")
    return value
