"""Requests as data: what all rows share, what one row asks, and the bytes that go out.

The shared part (system, tools, schema, examples) is serialised once; a row's bytes are spliced
behind it, so that the prefix is the same for every row. Knows nothing of keys, addresses or rows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic_core import to_json

from extract.protocol import chat
from extract.protocol.blocks import (
    Block,
    digested,
    estimate_blocks,
    estimate_text,
    only_text,
    searches,
    text_block,
)
from extract.protocol.models import Cache, ModelCard, Wire, card, check_request_features

if TYPE_CHECKING:
    from extract.protocol.reply import Message

PATHS = {"messages": "/v1/messages", "chat": "/v1/chat/completions"}


# an encoder is made once: `json.dumps` with options of one's own makes one at each call
_OUT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_SORTED = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
# what stands around the one text of a turn, whose JSON is written by hand: an encoder takes as long to
# start as to write a text, and the one of Pydantic writes a text in a third of the time
_TEXT_TURNS = {
    role: f'{{"role":"{role}","content":[{{"type":"text","text":'.encode() for role in ("user", "assistant")
}
_DELETE = "\x7f"  # the one letter of ASCII that one encoder escapes and the other does not


def dumps(value: Any) -> str:
    """JSON as it goes out: compact, keys in their order."""
    return _OUT.encode(value)


def to_bytes(text: str) -> bytes:
    """UTF-8. Half a surrogate pair, which a model may have written and a re-ask returns, is escaped."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        # in JSON text it can stand inside a string alone, where `\udc00` means the same
        return "".join(c if not "\ud800" <= c <= "\udfff" else f"\\u{ord(c):04x}" for c in text).encode()


class Turn(NamedTuple):
    """One turn of the conversation. `blocks` are never changed."""

    role: Literal["user", "assistant"]
    blocks: Sequence[Block]

    def on(self, wire: Wire) -> bytes:
        """The turn's JSON on a wire, in UTF-8."""
        if wire == "chat":
            make = chat.user_message if self.role == "user" else chat.assistant_message
            return to_bytes(dumps(make(self.blocks)))
        text = only_text(self.blocks)
        if text is not None:
            try:
                return b"".join((_TEXT_TURNS[self.role], to_json(text), b"}]}"))
            except ValueError:  # half a surrogate pair
                pass
        return to_bytes(dumps({"role": self.role, "content": list(self.blocks)}))


@dataclass(frozen=True, eq=False)
class Envelope:
    """What all requests of a run share; built once. Raises RequestError for what the model refuses.

    max_tokens: output tokens with thinking, of the first request of a row.
    system: one text, or text blocks.
    examples: pairs of (blocks of a user turn, the answer's JSON text), part of the prefix.
    schema_text: the schema as canonical JSON text, which goes out byte for byte.
    cache: lifetime of the prompt cache; None leaves the field out (the service's own default rules).
    effort: sent always; None, for servers that know no effort, leaves it out.
    """

    model: str
    wire: Wire = "messages"
    effort: str | None = "low"
    max_tokens: int = 8_192
    system: str | Sequence[Block] | None = None
    examples: Sequence[tuple[Sequence[Block], str]] = ()
    tools: Sequence[Block] = ()
    schema: dict[str, Any] | None = None
    schema_text: str = ""
    cache: Cache | None = "1h"
    stop_sequences: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.schema is not None and not self.schema_text:
            object.__setattr__(self, "schema_text", dumps(self.schema))
        check_request_features(
            self.card,
            wire=self.wire,
            effort=self.effort,
            max_tokens=self.max_tokens,
            schema=bool(self.schema_text),
            cache=self.cache,
            stop_sequences=self.stop_sequences,
            web_search=searches(self.tools),
        )
        object.__setattr__(self, "effort", self.card.effort(self.effort))

    @cached_property
    def card(self) -> ModelCard:
        """What the model can do."""
        return card(self.model)

    @property
    def path(self) -> str:
        """Where requests go, below the base address."""
        return PATHS[self.wire]

    def request(self, blocks: Sequence[Block]) -> Request:
        """The first request of a row."""
        turns = (Turn("user", tuple(blocks)),)
        return Request(self, turns, self.max_tokens, self.estimate_tokens(blocks))

    def fingerprint(self, blocks: Sequence[Block], *, replicate: int = 0) -> str:
        """SHA-256 over everything that decides the answer to a row, as hex.

        replicate: numbers deliberate repeats of the same request.
        """
        digest = self._shared_hash.copy()
        digest.update(_part(_canonical_blocks(blocks)) + (_part(b"%d" % replicate) if replicate else _ONCE))
        return digest.hexdigest()

    @cached_property
    def prefix_digest(self) -> str:
        """SHA-256 of the bytes that stand before every row, as hex."""
        return hashlib.sha256(self._head + self._tail).hexdigest()

    @cached_property
    def prefix_tokens(self) -> int:
        """Tokens before a row's own, estimated from their letters."""
        shown = sum(estimate_blocks(blocks) + estimate_text(answer) for blocks, answer in self.examples)
        tools = estimate_text(dumps(list(self.tools))) if self.tools else 0
        return estimate_blocks(self._system_blocks) + shown + tools + estimate_text(self.schema_text)

    def estimate_tokens(self, blocks: Sequence[Block]) -> int:
        """Input tokens of a first request, estimated from its letters."""
        return self.prefix_tokens + estimate_blocks(blocks)

    def fits(self, blocks: Sequence[Block]) -> bool:
        """Whether input (estimated) and max_tokens have room in the model's context together."""
        return self.estimate_tokens(blocks) + self.max_tokens <= self.card.context

    @cached_property
    def _system_blocks(self) -> tuple[Block, ...]:
        if not self.system:
            return ()
        return (text_block(self.system),) if isinstance(self.system, str) else tuple(self.system)

    @cached_property
    def _shared_hash(self) -> hashlib._Hash:
        digest = hashlib.sha256()
        examples = [[[digested(block) for block in blocks], answer] for blocks, answer in self.examples]
        parts = (self.wire, self.model, self.effort, self.max_tokens, list(self._system_blocks))
        for part in (*parts, examples, list(self.tools), list(self.stop_sequences)):
            digest.update(_part(_canonical(part)))
        digest.update(_part(self.schema_text.encode("utf-8", "surrogatepass")))
        return digest

    # the bytes of a request: _head, max_tokens, optional stream fields, _tail, turns, "]}"

    @cached_property
    def _head(self) -> bytes:
        return to_bytes('{"model":' + dumps(self.model) + ',"max_tokens":')

    @cached_property
    def _tail(self) -> bytes:
        fields = self._messages_fields() if self.wire == "messages" else self._chat_fields()
        turns = b"".join(turn.on(self.wire) + b"," for turn in self._shown())
        system = ""
        if self.wire == "chat" and self._system_blocks:
            said = "\n\n".join(str(block["text"]) for block in self._system_blocks)
            system = dumps({"role": "system", "content": said}) + ","
        return to_bytes("".join("," + field for field in fields) + ',"messages":[' + system) + turns

    def _shown(self) -> Iterable[Turn]:
        for blocks, answer in self.examples:
            yield Turn("user", blocks)
            yield Turn("assistant", (text_block(answer),))

    def _messages_fields(self) -> list[str]:
        fields = []
        if self.system:
            fields.append(
                f'"system":{dumps(self.system if isinstance(self.system, str) else list(self.system))}'
            )
        if self.tools:
            fields.append(f'"tools":{dumps(list(self.tools))}')
        if config := self._output_config():
            fields.append(f'"output_config":{config}')
        if self.cache:
            fields.append(f'"cache_control":{dumps({"type": "ephemeral", "ttl": self.cache})}')
        if self.stop_sequences:
            fields.append(f'"stop_sequences":{dumps(list(self.stop_sequences))}')
        return fields

    def _output_config(self) -> str:
        parts = [f'"effort":{dumps(self.effort)}'] if self.effort is not None else []
        if self.schema_text:
            parts.append(f'"format":{{"type":"json_schema","schema":{self.schema_text}}}')
        return "{" + ",".join(parts) + "}" if parts else ""

    def _chat_fields(self) -> list[str]:
        fields = []
        if self.tools:
            fields.append(f'"tools":{dumps(list(self.tools))}')
        if self.effort is not None and self.card.chat_effort:
            fields.append(f"{dumps(self.card.chat_effort)}:{dumps(self.effort)}")
        if self.schema_text:
            before, after = chat.response_format_head((self.schema or {}).get("title"))
            fields.append(f'"response_format":{before}{self.schema_text}{after}')
        if self.stop_sequences:
            fields.append(f'"stop":{dumps(list(self.stop_sequences))}')
        return fields


_STREAM = {
    "messages": b',"stream":true',
    "chat": b',"stream":true,"stream_options":{"include_usage":true}',
}


class Request(NamedTuple):
    """One request: the envelope, the turns of one row, its max_tokens.

    input_tokens: all of its input, estimated from its letters.
    """

    envelope: Envelope
    turns: tuple[Turn, ...]
    max_tokens: int
    input_tokens: int

    def body(self, *, stream: bool = False) -> bytes:
        """The bytes to send."""
        envelope, turns = self.envelope, self.turns
        wire = envelope.wire
        said = turns[0].on(wire) if len(turns) == 1 else b",".join([turn.on(wire) for turn in turns])
        asked = _STREAM[wire] if stream else b""
        return b"".join((envelope._head, b"%d" % self.max_tokens, asked, envelope._tail, said, b"]}"))

    def again(self, *, max_tokens: int) -> Request:
        """The same question with other room for the answer."""
        return self._replace(max_tokens=max_tokens)

    def reask(self, message: Message, text: str) -> Request:
        """The conversation so far with the model's own blocks, unchanged, and one more user turn."""
        more = (Turn("assistant", tuple(message.content)), Turn("user", (text_block(text),)))
        tokens = self.input_tokens + sum(estimate_blocks(turn.blocks) for turn in more)
        return self._replace(turns=(*self.turns, *more), input_tokens=tokens)

    def as_json(self) -> dict[str, Any]:
        """For people and for dead letters: the prefix and pictures as digests."""
        turns = [
            {"role": turn.role, "content": [digested(block) for block in turn.blocks]} for turn in self.turns
        ]
        return {
            "model": self.envelope.model,
            "wire": self.envelope.wire,
            "effort": self.envelope.effort,
            "max_tokens": self.max_tokens,
            "prefix_sha256": self.envelope.prefix_digest,
            "messages": turns,
        }


def _canonical(value: Any) -> bytes:
    return _SORTED.encode(value).encode()


def _canonical_blocks(blocks: Sequence[Block]) -> bytes:
    text = only_text(blocks)
    if text is None:
        return _canonical([digested(block) for block in blocks])
    plain = text.isascii() and _DELETE not in text
    written = to_json(text) if plain else encode_basestring_ascii(text).encode()
    return b"".join((b'[{"text":', written, b',"type":"text"}]'))


def _part(data: bytes) -> bytes:
    """Length first, so that no two lists of parts run into the same bytes."""
    return len(data).to_bytes(8, "big") + data


_ONCE = _part(b"0")  # a request that is no deliberate repeat
