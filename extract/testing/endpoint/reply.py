"""Makes the reply to one request: blocks, stop reason, usage.

The answer comes from the brain; a fault of content may spoil it. Knows nothing of HTTP, of limits
or of how a reply is written on the wire.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from extract.testing.brain import Reading, read
from extract.testing.endpoint.ask import Ask, Block
from extract.testing.endpoint.seals import sealed
from extract.testing.endpoint.tokens import block_tokens, text_tokens

EFFORTS = {"low": 1, "high": 4, "max": 16}
_NO_SCHEMA = (
    "This is a stand-in that reads labelled lines into a schema, not a model. The request has no schema."
)
_REFUSAL = "I can't help with this document."


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply before it is written: what is said, why it ends, and its output in tokens."""

    blocks: list[Block]
    stop_reason: str
    output: int
    thinking: int
    searches: int = 0


def answer(ask: Ask, document: list[Block], fault: str | None, search: str) -> Answer:
    """The reply to a request.

    document: the blocks of the turn that holds the row.
    fault: a fault of content, as `malformed`, or None.
    search: what a server-side search brings.
    """
    reading = _reading(ask, document)
    thinks = ask.model != "kimi-k3" or ask.wire == "chat"
    thought = reading.thought if thinks else ""
    thinking = text_tokens(thought) * EFFORTS[ask.effort]
    head: list[Block] = [{"type": "thinking", "thinking": thought, "signature": ""}] if thinks else []
    if fault == "redacted" and thinks:
        head.append({"type": "redacted_thinking", "data": ""})
    if ask.search:
        head += _search(search)
    tail, stop_reason = _tail(ask, reading, fault)
    budget = ask.max_tokens - thinking
    if fault == "truncated" or sum(map(block_tokens, tail)) > budget:
        tail, stop_reason = _cut(tail, budget, fault), "max_tokens"
    output = min(ask.max_tokens, thinking + sum(map(block_tokens, tail)))
    return Answer(sealed(head + tail), stop_reason, output, min(thinking, ask.max_tokens), int(ask.search))


def _reading(ask: Ask, document: list[Block]) -> Reading:
    texts = "\n".join(block["text"] for block in document if block["type"] == "text")
    schema = ask.tools[0]["input_schema"] if ask.schema is None and _tool_wanted(ask) else ask.schema
    if schema is None:
        return Reading(None, "No schema is given, so there is nothing to fill.")
    reading = read(schema, texts)
    if any(block["type"] in ("image", "image_url") for block in document):
        return reading._replace(thought=f"I cannot see pictures. {reading.thought}")
    return reading


def _tool_wanted(ask: Ask) -> bool:
    return ask.tool_choice == "any" and bool(ask.tools)


def _tail(ask: Ask, reading: Reading, fault: str | None) -> tuple[list[Block], str]:
    if fault == "refused":
        return [_text(_REFUSAL)], "refusal"
    if _tool_wanted(ask):
        value = reading.value if isinstance(reading.value, dict) else {}
        call = f"toolu_{abs(hash(json.dumps(value))):016x}"[:22]
        return [{"type": "tool_use", "id": call, "name": ask.tools[0]["name"], "input": value}], "tool_use"
    if fault == "empty":
        return [], "end_turn"
    text = _NO_SCHEMA if ask.schema is None else json.dumps(_more(reading.value, fault), ensure_ascii=False)
    return [_text(_stopped(_spoil(text, fault), ask.stops))], "end_turn"


def _more(value: Any, fault: str | None) -> Any:
    return value | {"confidence": 0.9} if fault == "extra" and isinstance(value, dict) else value


def _spoil(text: str, fault: str | None) -> str:
    if fault == "malformed":
        return text[: len(text) * 2 // 3]
    if fault == "prose":
        return f"Here is the JSON that you asked for:\n{text}\nLet me know if you need more."
    return f"```json\n{text}\n```" if fault == "fenced" else text


def _stopped(text: str, stops: tuple[str, ...]) -> str:
    """Up to the first stop sequence: the end is then end_turn, as the documents say."""
    ends = [at for at in (text.find(stop) for stop in stops) if at >= 0]
    return text[: min(ends)] if ends else text


def _cut(tail: list[Block], budget: int, fault: str | None) -> list[Block]:
    if not tail or tail[0]["type"] != "text":
        return []
    text = tail[0]["text"]
    size = max(0, budget) * 4
    if fault == "truncated":
        size = min(size, len(text.encode()) // 2)
    kept = text.encode()[:size].decode("utf-8", "ignore")
    return [_text(kept)] if kept else []


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _search(kind: str) -> list[Block]:
    """A search block and its result. Nothing is really searched, and the result says so."""
    call = {
        "type": "server_tool_use",
        "id": "srvtoolu_local01",
        "name": "web_search",
        "input": {"query": "stand-in"},
    }
    content: Any = []
    if kind == "error":
        content = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
    elif kind == "found":
        content = [
            {
                "type": "web_search_result",
                "url": "https://stand-in.invalid/",
                "title": "The local endpoint searches nothing",
                "encrypted_content": "bm90aGluZw==",
                "page_age": None,
            }
        ]
    return [call, {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_local01", "content": content}]
