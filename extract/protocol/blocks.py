"""Content blocks of a prompt: made, measured and digested.

Knows nothing of rows, requests or files: bytes and text in, blocks out.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Any

from extract.errors import PromptError, RequestError

Block = dict[str, Any]

IMAGE_TOKENS = 1_600  # what providers count for a page-sized picture; its bytes say nothing of it
_ASCII_PER_TOKEN = 4
_OTHER_PER_TOKEN = 1.5  # letters beyond ASCII, Chinese ones above all, cost more tokens each

_LONE = re.compile("[\ud800-\udfff]")

_TEXT_BLOCK = ["type", "text"]

WEB_SEARCH_TYPE = "web_search_20250305"

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def text_block(text: str) -> Block:
    """A text block. Half a surrogate pair, which no server can read, becomes U+FFFD."""
    return {"type": "text", "text": text if text.isascii() else _LONE.sub("�", text)}


def only_text(blocks: Sequence[Block]) -> str | None:
    """The text of the one block that nearly all rows are; None for anything else."""
    if len(blocks) != 1:
        return None
    block = blocks[0]
    if [*block] != _TEXT_BLOCK or block["type"] != "text":
        return None
    text = block["text"]
    return text if type(text) is str else None


def media_type(data: bytes) -> str | None:
    """The type of a picture, told by its first bytes and never by a name; None for no picture."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _MAGIC if data.startswith(magic)), None)


def image_block(data: bytes) -> Block:
    """A picture in the request. Raises PromptError when the bytes are no JPEG, PNG, GIF or WebP."""
    kind = media_type(data)
    if kind is None:
        raise PromptError("these bytes are no JPEG, PNG, GIF or WebP picture: convert them first")
    source = {"type": "base64", "media_type": kind, "data": base64.b64encode(data).decode("ascii")}
    return {"type": "image", "source": source}


def image_url_block(url: str) -> Block:
    """A picture that the service fetches by itself. Raises PromptError when it is no http(s) address."""
    if not url.startswith(("https://", "http://")):
        raise PromptError(f"an image url starts with https://, not {url[:40]!r}")
    return {"type": "image", "source": {"type": "url", "url": url}}


def web_search(*, max_uses: int | None = None) -> Block:
    """The server-side web search as a tool.

    max_uses: most searches for one reply, each of which is billed; None leaves it to the service.
    """
    if max_uses is not None and max_uses < 1:
        raise RequestError(f"max_uses is at least 1, not {max_uses}")
    tool: Block = {"type": WEB_SEARCH_TYPE, "name": "web_search"}
    return tool if max_uses is None else tool | {"max_uses": max_uses}


def searches(tools: Iterable[Block]) -> bool:
    """Whether one of the tools is the server-side web search."""
    return any(str(tool.get("type", "")).startswith("web_search") for tool in tools)


def estimate_text(text: str) -> int:
    """Tokens of a text, guessed from its letters; never below what plain English takes."""
    if text.isascii():
        return len(text) // _ASCII_PER_TOKEN + 1
    ascii_ = len(text.encode("ascii", "ignore"))
    return int(ascii_ / _ASCII_PER_TOKEN + (len(text) - ascii_) / _OTHER_PER_TOKEN) + 1


def estimate_blocks(blocks: Sequence[Block]) -> int:
    """Tokens of content blocks; a picture counts as one of the size of a page."""
    text = only_text(blocks)
    if text is not None:
        return _TYPE_TOKENS + estimate_text(text)
    tokens = 0
    for block in blocks:
        if block.get("type") == "image":
            tokens += IMAGE_TOKENS
            continue
        for value in block.values():
            if isinstance(value, str):
                tokens += estimate_text(value)
    return tokens


_TYPE_TOKENS = estimate_text("text")  # of the word that says what a text block is


def digested(block: Block) -> Block:
    """The block with the bytes of a picture replaced by their digest; others as they are."""
    source = block.get("source")
    if block.get("type") != "image" or not isinstance(source, dict) or "data" not in source:
        return block
    data = _decode(source["data"])
    held = {"type": "digest", "media_type": source.get("media_type")}
    return {
        "type": "image",
        "source": held | {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)},
    }


def _decode(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error:
        return data.encode()
