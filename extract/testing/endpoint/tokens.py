"""Counts tokens by a rule that anyone can redo by hand.

A token is four bytes of UTF-8, rounded up for each text; a turn costs four tokens more; an image costs
1,000. Knows no model's real tokenizer and does not try to be near one.
"""

from __future__ import annotations

import json
from typing import Any

TURN = 4
IMAGE = 1_000


def text_tokens(text: str) -> int:
    """Tokens of one text: its UTF-8 bytes over four, rounded up."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return (size + 3) // 4


def json_tokens(value: Any) -> int:
    """Tokens of a value as compact JSON, as a schema or a tool."""
    return text_tokens(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def block_tokens(block: dict[str, Any]) -> int:
    """Tokens of one content block of either wire."""
    kind = block.get("type")
    if kind == "text":
        return text_tokens(block["text"])
    if kind in ("image", "image_url"):
        return IMAGE
    if kind == "thinking":
        return text_tokens(block["thinking"])
    return json_tokens(block)


def turn_tokens(blocks: list[dict[str, Any]]) -> int:
    """Tokens of one turn."""
    return TURN + sum(map(block_tokens, blocks))
