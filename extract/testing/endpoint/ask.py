"""One request, in the same form for both wires.

Made from a body that has passed the rules. Knows nothing of HTTP, of replies or of time.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from extract.testing.endpoint.cache import Boundary
from extract.testing.endpoint.rules.messages import WEB_SEARCH
from extract.testing.endpoint.tokens import json_tokens, text_tokens, turn_tokens

Wire = Literal["messages", "chat"]
Block = dict[str, Any]

ALIASES = {"medium": "high", "xhigh": "max", "minimal": "low", "none": "low"}


class Turn(NamedTuple):
    """One turn, always as blocks."""

    role: str
    blocks: list[Block]


@dataclass(frozen=True, slots=True)
class Ask:
    """What is asked for.

    system: the texts of the system prompt, joined.
    schema: the schema that the answer must follow, or None.
    tools: custom tools; `search` tells whether the built-in one may be used.
    ttl: lifetime of cache writes.
    """

    wire: Wire
    model: str
    max_tokens: int
    turns: tuple[Turn, ...]
    system: str = ""
    effort: str = "max"
    schema: dict[str, Any] | None = None
    tools: tuple[dict[str, Any], ...] = ()
    search: bool = False
    tool_choice: str = "auto"
    stops: tuple[str, ...] = ()
    ttl: str = "5m"
    stream: bool = False
    stream_usage: bool = True
    schema_text: str = field(default="")

    def boundaries(self) -> list[Boundary]:
        """Where a cached prefix may end: after the head (tools, schema, system) and after each turn."""
        return list(self._chain())

    def _chain(self) -> Iterator[Boundary]:
        tools = json.dumps(self.tools) if self.tools else ""
        head = hashlib.blake2b(digest_size=16)
        for part in (self.model, tools, str(self.search), self.schema_text, self.system):
            _feed(head, part)
        total = text_tokens(self.system) + text_tokens(self.schema_text)
        total += json_tokens(self.tools) if self.tools else 0
        yield Boundary(head.digest(), total)
        for turn in self.turns:
            _feed(head, turn.role)
            for block in turn.blocks:
                _feed(head, _identity(block))
            total += turn_tokens(turn.blocks)
            yield Boundary(head.digest(), total)


def _feed(digest: Any, part: str) -> None:
    raw = part.encode("utf-8", "surrogatepass")
    digest.update(len(raw).to_bytes(8, "big"))
    digest.update(raw)


def _identity(block: Block) -> str:
    return "text:" + block["text"] if block.get("type") == "text" else canonical(block)


def canonical(value: Any) -> str:
    """JSON with sorted keys: equal for equal values."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def as_blocks(content: str | list[Block]) -> list[Block]:
    """Content in its long form."""
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def ask_of_messages(body: dict[str, Any]) -> Ask:
    """From a body of `/v1/messages` that has passed the rules."""
    config = body.get("output_config", {})
    effort = config.get("effort", "max")
    schema = config["format"]["schema"] if "format" in config else None
    tools = body.get("tools", [])
    custom = tuple(tool for tool in tools if tool.get("type") != WEB_SEARCH)
    return Ask(
        wire="messages",
        model=body["model"],
        max_tokens=body["max_tokens"],
        turns=tuple(Turn(m["role"], as_blocks(m["content"])) for m in body["messages"]),
        system="".join(block["text"] for block in as_blocks(body.get("system", ""))),
        effort=ALIASES.get(effort, effort),
        schema=schema,
        schema_text=json.dumps(schema, ensure_ascii=False) if schema is not None else "",
        tools=custom,
        search=len(custom) < len(tools),
        tool_choice=body.get("tool_choice", {}).get("type", "auto"),
        stops=tuple(stop for stop in body.get("stop_sequences", ()) if stop),
        ttl=body.get("cache_control", {}).get("ttl", "5m"),
        stream=body.get("stream", False),
    )
