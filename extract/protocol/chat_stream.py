"""The chunks of a streamed chat completion → the same blocks, stop reason and usage.

Knows nothing of bytes, lines or faults.
"""

from __future__ import annotations

from typing import Any

from extract.protocol import chat
from extract.protocol.reply import Message
from extract.protocol.sse import StreamError
from extract.protocol.usage import Usage

_TEXTS = ("content", "refusal", *chat.REASONING)


class ChatStream:
    """Takes chunks one by one. Raises StreamError where they contradict each other."""

    def __init__(self) -> None:
        self._texts: dict[str, list[str]] = {}
        self._calls: dict[int, dict[str, Any]] = {}
        self._usage: Any = None
        self._head: dict[str, Any] = {}
        self._finish: str | None = None
        self.started = False
        self.finished = False

    @property
    def whole(self) -> bool:
        """Whether the reply came to its end: a finish reason, or `[DONE]`."""
        return self.started and (self.finished or self._finish is not None)

    @property
    def usage(self) -> Usage:
        """As told so far; servers tell it in the last chunk alone."""
        return chat.read_chat_usage(self._usage)

    def end(self) -> None:
        """`[DONE]`: the usage chunk came before it."""
        self.finished = True

    def take(self, kind: str, raw: dict[str, Any]) -> None:
        """One chunk."""
        if raw.get("usage") is not None:
            self._usage = raw["usage"]
        choices = raw.get("choices")
        if not isinstance(choices, list):
            return
        self.started = True
        self._head = self._head or raw
        for choice in choices:
            if isinstance(choice, dict) and choice.get("index") in (None, 0):
                self._choice(choice)

    def message(self, request_id: str | None) -> Message:
        """The whole message."""
        said: dict[str, Any] = {name: "".join(pieces) for name, pieces in self._texts.items()}
        said["tool_calls"] = [self._calls[index] for index in sorted(self._calls)]
        blocks = chat.blocks_of({name: value for name, value in said.items() if value})
        assert blocks is not None  # every part was checked as it came
        name, model = self._head.get("id"), self._head.get("model")
        return Message(
            blocks,
            chat.stop_reason(self._finish, refused=bool(said.get("refusal"))),
            usage=self.usage,
            id=name if isinstance(name, str) else None,
            model=model if isinstance(model, str) else None,
            request_id=request_id,
        )

    def _choice(self, choice: dict[str, Any]) -> None:
        if choice.get("usage") is not None:
            self._usage = choice["usage"]
        if isinstance(choice.get("finish_reason"), str):
            self._finish = choice["finish_reason"]
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return
        for name in _TEXTS:
            text = delta.get(name)
            if text is not None and not isinstance(text, str):
                raise StreamError("a delta whose text is no text")
            if text:
                self._texts.setdefault(name, []).append(text)
        for call in delta.get("tool_calls") or ():
            self._call(call)

    def _call(self, call: Any) -> None:
        if not isinstance(call, dict):
            raise StreamError("a tool call that is no object")
        index = call.get("index") if isinstance(call.get("index"), int) else 0
        held = self._calls.setdefault(int(index or 0), {"function": {"name": "", "arguments": ""}})
        held["id"] = call.get("id") or held.get("id")
        function = call.get("function") if isinstance(call.get("function"), dict) else {}
        for name in ("name", "arguments"):
            piece = (function or {}).get(name)
            held["function"][name] += piece if isinstance(piece, str) else ""
