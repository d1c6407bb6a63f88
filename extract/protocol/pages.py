"""Pages of a document → content blocks: text where there is text, pictures where there are pictures.

Knows nothing of files or of templates: a text with form feeds, and pictures with the number of their page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from extract.protocol.blocks import Block, image_block, text_block

PAGE_BREAK = "\f"

Picture = Mapping[str, Any]
"""`page`, from 1, and `data`: the bytes of a JPEG, PNG, GIF or WebP."""


def pictures_of(row: Mapping[str, Any]) -> list[Picture]:
    """The pictures of a document's row, in the order of their pages; none of any other row."""
    found = row.get("images")
    if not isinstance(found, Sequence) or isinstance(found, str | bytes):
        return []
    pictures = [one for one in found if isinstance(one, Mapping) and "page" in one and "data" in one]
    return sorted(pictures, key=lambda one: int(one["page"] or 1))


def lost(pictures: Iterable[Picture]) -> bool:
    """Whether a picture's bytes are gone: a store keeps their digest alone."""
    return any(not isinstance(one["data"], bytes | bytearray | memoryview) for one in pictures)


def page_parts(text: str, pictures: Sequence[Picture]) -> list[str | Block]:
    """The text of a document with each picture after the text of its page."""
    pages = text.split(PAGE_BREAK)
    parts: list[str | Block] = []
    for number in range(1, max([len(pages), *(int(one["page"] or 1) for one in pictures)]) + 1):
        if number > 1:
            parts.append(PAGE_BREAK)
        parts.append(pages[number - 1] if number <= len(pages) else "")
        parts += [image_block(bytes(one["data"])) for one in pictures if (one["page"] or 1) == number]
    return parts


def joined(parts: Iterable[str | Block]) -> list[Block]:
    """Blocks of the parts: texts side by side are one block; one of white space alone is left out."""
    blocks: list[Block] = []
    text = ""
    for part in parts:
        if isinstance(part, str):
            text += part
            continue
        if text.strip():
            blocks.append(text_block(text))
        blocks.append(part)
        text = ""
    return [*blocks, text_block(text)] if text.strip() else blocks


def document_blocks(row: Mapping[str, Any], *, column: str = "text") -> list[Block]:
    """The content blocks of a row of `read_documents`, for a prompt that is a function.

    row: a mapping with `text` and `images`. column: where the text is.
    Raises ValueError for pictures whose bytes are gone.
    """
    pictures = pictures_of(row)
    if lost(pictures):
        raise ValueError(
            "the pictures of this document are not in the store: give the documents again, with frame="
        )
    return joined(page_parts(str(row.get(column) or ""), pictures))
