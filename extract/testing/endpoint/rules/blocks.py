"""What a content block must be.

The shapes are data; what a shape cannot say (image bytes, tool results) is a function beside it. Knows
nothing of the rest of a request.
"""

from __future__ import annotations

import binascii
from typing import Any

MEDIA_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")

SHAPES: dict[str, dict[str, type | tuple[type, ...]]] = {
    "text": {"text": str},
    "image": {"source": dict},
    "thinking": {"thinking": str},
    "redacted_thinking": {"data": str},  # not in the documents; Anthropic's public protocol has it
    "tool_use": {"id": str, "name": str, "input": dict},
    "tool_result": {"tool_use_id": str, "content": (str, list)},
    "server_tool_use": {"id": str, "name": str, "input": dict},
    "web_search_tool_result": {"tool_use_id": str, "content": (list, dict)},
}
OPTIONAL: dict[str, dict[str, type]] = {
    "thinking": {"signature": str},
    "tool_result": {"is_error": bool},
}
_WORDS = {str: "a string", dict: "an object", list: "an array", bool: "a boolean"}


def block_problem(block: Any, place: str, allowed: tuple[str, ...] = tuple(SHAPES)) -> str | None:
    """What is wrong with one block, or None."""
    if not isinstance(block, dict):
        return f"{place}: must be an object"
    kind = block.get("type")
    if kind not in allowed:
        return f"{place}.type: must be one of {', '.join(allowed)}"
    return _shape_problem(block, kind, place) or _inner_problem(block, kind, place)


def _shape_problem(block: dict[str, Any], kind: str, place: str) -> str | None:
    for name, types in SHAPES[kind].items():
        if name not in block:
            return f"{place}.{name}: required"
        if not isinstance(block[name], types):
            return f"{place}.{name}: must be {_says(types)}"
    for name, type_ in OPTIONAL.get(kind, {}).items():
        if name in block and not isinstance(block[name], type_):
            return f"{place}.{name}: must be {_says(type_)}"
    return None


def _says(types: type | tuple[type, ...]) -> str:
    return " or ".join(_WORDS[t] for t in (types if isinstance(types, tuple) else (types,)))


def _inner_problem(block: dict[str, Any], kind: str, place: str) -> str | None:
    if kind == "image":
        return source_problem(block["source"], f"{place}.source")
    if not isinstance(block.get("content"), list):
        return None
    if kind == "tool_result":
        inner = enumerate(block["content"])
        problems = (block_problem(b, f"{place}.content.{i}", ("text", "image")) for i, b in inner)
        return next(filter(None, problems), None)
    if not all(isinstance(item, dict) for item in block["content"]):
        return f"{place}.content: every result must be an object"
    return None


def source_problem(source: dict[str, Any], place: str) -> str | None:
    """What is wrong with the source of an image, or None."""
    kind = source.get("type")
    if kind == "url":
        url = source.get("url")
        good = isinstance(url, str) and url.startswith(("https://", "http://"))
        return None if good else f"{place}.url: must be an http(s) address when type is url"
    if kind != "base64":
        return f"{place}.type: must be base64 or url"
    if source.get("media_type") not in MEDIA_TYPES:
        return f"{place}.media_type: must be one of {', '.join(MEDIA_TYPES)}"
    return _data_problem(source.get("data"), source["media_type"], place)


def _data_problem(data: Any, media_type: str, place: str) -> str | None:
    if not isinstance(data, str) or not data:
        return f"{place}.data: must be a base64 string"
    if data.startswith("data:"):
        return f"{place}.data: must be without the data: prefix"
    try:
        raw = binascii.a2b_base64(data, strict_mode=True)
    except ValueError:
        return f"{place}.data: is no valid base64"
    found = media_type_of(raw)
    if found != media_type:
        return (
            f"{place}.media_type: says {media_type}, but the bytes are {found or 'no image of a known kind'}"
        )
    return None


def media_type_of(raw: bytes) -> str | None:
    """The kind of image that the first bytes tell, or None."""
    if raw.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if raw.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if raw.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    return "image/webp" if raw[:4] == b"RIFF" and raw[8:12] == b"WEBP" else None
