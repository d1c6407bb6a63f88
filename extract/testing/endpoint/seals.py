"""Tells whether an assistant turn is what was sent.

Two ways. A signature in each thinking block covers all blocks of its turn, so that any change shows,
also after a restart. A memory of what was answered to which conversation shows that blocks were
dropped: the same text without its thinking. A turn of other text alone is an example that the
user wrote, and is taken. The chat wire has no such rule: there the same text is enough. Knows no HTTP.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from extract.testing.endpoint.ask import Ask, Block, Turn, Wire, canonical
from extract.testing.endpoint.cache import Boundary

_KEY = b"a stand-in, not a secret"
_SEALED = ("thinking", "redacted_thinking")
CHANGED = (
    "must be the complete assistant content blocks of the reply, unchanged (thinking, signature, tool_use)"
)


def seal(blocks: Sequence[Block]) -> str:
    """The signature of a turn: over all of its blocks except the signatures themselves."""
    plain = [{k: v for k, v in block.items() if k not in ("signature", "data")} for block in blocks]
    digest = hmac.new(_KEY, canonical(plain).encode("utf-8", "surrogatepass"), hashlib.sha256).digest()
    return base64.b64encode(digest).decode()


def sealed(blocks: list[Block]) -> list[Block]:
    """The blocks with signature and redacted data filled in."""
    signature = seal(blocks)
    names = {"thinking": "signature", "redacted_thinking": "data"}
    return [b | {names[b["type"]]: signature} if b["type"] in names else b for b in blocks]


class Memory:
    """What was answered to which conversation; the oldest goes first.

    capacity: conversations kept.
    """

    def __init__(self, capacity: int = 20_000) -> None:
        self._capacity = capacity
        self._sent: OrderedDict[bytes, list[tuple[bytes, bytes, bool]]] = OrderedDict()

    def keep(self, conversation: bytes, blocks: Sequence[Block]) -> None:
        """Remember a reply to a conversation."""
        sent = self._sent.setdefault(conversation, [])
        sent.append((_digest(blocks), _digest(_text(blocks)), any(b["type"] != "text" for b in blocks)))
        self._sent.move_to_end(conversation)
        if len(self._sent) > self._capacity:
            self._sent.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        self._sent.clear()

    def sent(self, conversation: bytes, blocks: Sequence[Block]) -> bool:
        """Whether exactly these blocks were sent as a reply to this conversation."""
        digest = _digest(blocks)
        return any(known == digest for known, _, _ in self._sent.get(conversation, ()))

    def stripped(self, conversation: bytes, blocks: Sequence[Block]) -> bool:
        """Whether these are the texts of a reply that had more than texts."""
        text = _digest(_text(blocks))
        return any(known == text and more for _, known, more in self._sent.get(conversation, ()))


def _digest(said: Sequence[Block]) -> bytes:
    return hashlib.blake2b(canonical(said).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _text(blocks: Sequence[Block]) -> list[Block]:
    text = "".join(block["text"] for block in blocks if block["type"] == "text")
    return [{"type": "text", "text": text}]


def own_turns(ask: Ask, boundaries: Sequence[Boundary], memory: Memory) -> tuple[list[int], str | None]:
    """Which assistant turns were sent from here, and what is wrong with one of them.

    boundaries: of the same request; the i-th stands before the i-th turn.
    """
    own: list[int] = []
    for i, turn in enumerate(ask.turns):
        if turn.role != "assistant":
            continue
        kind = _judge(turn, boundaries[i].digest, memory, ask.wire)
        if kind == "changed":
            return own, f"messages.{i}.content: {CHANGED}"
        if kind == "own":
            own.append(i)
    return own, None


def _judge(turn: Turn, before: bytes, memory: Memory, wire: Wire) -> str:
    if memory.sent(before, turn.blocks):
        return "own"
    marks = [_mark(block) for block in turn.blocks if block["type"] in _SEALED]
    if marks:
        expected = seal(turn.blocks)
        return "own" if all(mark == expected for mark in marks) else "changed"
    if not memory.stripped(before, turn.blocks):
        return "example"
    return "own" if wire == "chat" else "changed"


def _mark(block: dict[str, Any]) -> Any:
    return block.get("signature") if block["type"] == "thinking" else block.get("data")
