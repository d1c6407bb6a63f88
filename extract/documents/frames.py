"""A document as bytes for a pipe, and back: JSON for what is told, then the binaries.

No pickle: what comes back was made from a file that nobody trusts.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import asdict
from typing import IO, Any

from extract.documents.document import Attachment, Document, Limits, Picture, Settings

_SIZE = struct.Struct(">Q")
_LARGEST = 2 << 30


def write(pipe: IO[bytes], head: dict[str, Any], blobs: Sequence[bytes] = ()) -> None:
    """One message."""
    text = json.dumps(head | {"_sizes": [len(blob) for blob in blobs]}).encode()
    pipe.write(_SIZE.pack(len(text)))
    pipe.write(text)
    for blob in blobs:
        pipe.write(blob)
    pipe.flush()


def read(pipe: IO[bytes]) -> tuple[dict[str, Any], list[bytes]]:
    """One message. Raises EOFError where the other side ended."""
    (size,) = _SIZE.unpack(_exactly(pipe, _SIZE.size))
    head: dict[str, Any] = json.loads(_exactly(pipe, size))
    return head, [_exactly(pipe, one) for one in head.pop("_sizes")]


def _exactly(pipe: IO[bytes], size: int) -> bytes:
    if size > _LARGEST:
        raise EOFError("a message that is too large")
    data = pipe.read(size)
    if len(data) < size:
        raise EOFError
    return data


def pack_settings(settings: Settings) -> dict[str, Any]:
    """Settings as JSON."""
    return asdict(settings)


def unpack_settings(told: dict[str, Any]) -> Settings:
    """Settings from JSON."""
    return Settings(Limits(**told["limits"]), tuple(told["passwords"]), told["encoding"], told["ocr"])


def pack(document: Document) -> tuple[dict[str, Any], list[bytes]]:
    """A document as a message."""
    head = {
        "text": document.text,
        "pages": document.pages,
        "pictures": [[picture.page, picture.points] for picture in document.pictures],
        "attachments": [attachment.name for attachment in document.attachments],
        "layout": document.layout is not None,
    }
    blobs = [picture.data for picture in document.pictures]
    blobs += [attachment.data for attachment in document.attachments]
    return head, blobs + ([document.layout] if document.layout is not None else [])


def unpack(head: dict[str, Any], blobs: list[bytes]) -> Document:
    """A document from a message."""
    rest = iter(blobs)
    return Document(
        head["text"],
        head["pages"],
        tuple(
            Picture(page, next(rest), tuple(points) if points else None) for page, points in head["pictures"]
        ),
        attachments=tuple(Attachment(name, next(rest)) for name in head["attachments"]),
        layout=next(rest) if head["layout"] else None,
    )
