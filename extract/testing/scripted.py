"""Replies that a test wrote, played by a real server on a loopback port.

Needs no extra: the server is the standard library's. What a client sent is kept for asserts. Knows no
schema and reads nothing.
"""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from extract.testing.endpoint.faults import error_body
from extract.testing.loopback import Exchange, LoopbackServer
from extract.testing.script import Played, Reply, played

__all__ = ["Reply", "ScriptedReplies", "Seen"]

Script = Sequence[Any] | Callable[["Seen"], Any]


@dataclass(frozen=True, slots=True)
class Seen:
    """A request that came. headers: by lower-case name, the key too (never shown by repr)."""

    method: str
    path: str
    body: bytes
    headers: Mapping[str, str] = field(repr=False)

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)

    @property
    def prompt(self) -> str:
        """The text of the last user turn."""
        users = [m for m in self.json["messages"] if m["role"] == "user"]
        content = users[-1]["content"] if users else ""
        if isinstance(content, str):
            return content
        return "".join(block.get("text", "") for block in content)

    @property
    def schema(self) -> dict[str, Any] | None:
        """The schema that the answer was to follow, on either wire."""
        form = self.json.get("output_config", {}).get("format") or self.json.get("response_format", {})
        found = form.get("schema") or form.get("json_schema", {}).get("schema")
        return found if isinstance(found, dict) else None


class ScriptedReplies:
    """Plays replies in order, one a request, for as long as a `with` block lasts.

    replies: a list of, or a function from the request (`Seen`) to one of:
        a text (the answer), a dict or list (the answer as JSON), a dict with `type: message` or
        `type: error` (the whole body), a status as 429, bytes (a whole body), a list of bytes (the exact
        pieces of a stream), an exception class (the connection breaks), a `Reply`, or the library's own
        `Message` or `Fault`.
    A request beyond the script gets a 403 and fails the `with` block with an AssertionError.
    """

    def __init__(self, replies: Script, *, api_key: str = "local-key") -> None:
        self.api_key = api_key
        self.requests: list[Seen] = []
        self._function = replies if callable(replies) else None
        self._script: list[Any] = [] if callable(replies) else list(replies)
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._beyond = 0
        self._server = LoopbackServer(self._serve)

    @property
    def base_url(self) -> str:
        """The address, without `/v1`."""
        return self._server.base_url

    @property
    def left(self) -> int:
        """How many replies were not played."""
        return max(0, len(self._script) - len(self.requests))

    def __enter__(self) -> Self:
        self._server.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._server.stop()
        if kind is None and self._beyond:
            count = len(self._script)
            raise AssertionError(f"{self._beyond} requests came beyond the {count} scripted replies")

    def _serve(self, exchange: Exchange) -> None:
        seen = Seen(exchange.method, exchange.path, exchange.body, exchange.headers)
        with self._lock:
            number = len(self.requests)
            self.requests.append(seen)
        self._send(exchange, played(self._next(seen, number), seen.body, seen.path, number + 1))

    def _next(self, seen: Seen, number: int) -> Any:
        if self._function is not None:
            return self._function(seen)
        if number < len(self._script):
            return self._script[number]
        self._beyond += 1
        said = f"the script has {len(self._script)} replies, this is request {number + 1}"
        return Reply(
            status=403, body=json.dumps(error_body("messages", "permission_error", said, "req")).encode()
        )

    def _send(self, exchange: Exchange, reply: Played) -> None:
        if reply.breaks:
            exchange.abort()
            return
        exchange.send(reply.status, reply.headers, reply.chunks, torn=reply.torn, gap=reply.gap)
