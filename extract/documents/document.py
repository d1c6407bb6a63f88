"""What a loader is given and what it returns. Knows no file, no format and no process.

A loader turns the bytes of one file into a `Document`. It raises `UnreadableError`, with the reason for
people, for a file that it cannot read; anything else it raises is told with the name of the exception.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

PAGE_BREAK = "\f"
"""Parts the pages in a document's text."""


class UnreadableError(ValueError):
    """A file that cannot be read; the text says why, for people."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one file may cost. A file beyond a limit becomes a row with an error.

    bytes: of the file. pages: of a document. pixels: of a picture before it is scaled down.
    seconds: for reading one file, after which its process is killed.
    unpacked: bytes that an office file may grow to. memory: bytes that the process may hold.
    pictures: pages of one document that may be pictures.
    edge: longest side of a picture as it is sent, in pixels. encoded: its bytes as base64.
    attachments: of one mail.
    """

    bytes: int = 64 * 1024 * 1024
    pages: int = 1_000
    pixels: int = 100_000_000
    seconds: float = 60.0
    unpacked: int = 512 * 1024 * 1024
    memory: int = 4 * 1024 * 1024 * 1024
    pictures: int = 100
    edge: int = 2_000
    encoded: int = 5_000_000
    attachments: int = 100


@dataclass(frozen=True, slots=True)
class Settings:
    """How files are read.

    passwords: tried on encrypted files. encoding: of text files that have no byte order mark; by
    default the rule of `documents.text`. ocr: give pages without text the text that OCR finds.
    """

    limits: Limits = field(default_factory=Limits)
    passwords: tuple[str, ...] = ()
    encoding: str | None = None
    ocr: bool = False


@dataclass(frozen=True, slots=True)
class Picture:
    """A page as a picture that can be sent: JPEG, PNG, GIF or WebP.

    page: its number, from 1. points: width and height of the page in points; by default its pixels.
    """

    page: int
    data: bytes
    points: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file inside a file; it becomes a document of its own."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Document:
    """One file, read.

    text: all pages, parted by form feeds; a page that is only a picture is empty there.
    pictures: of pages without a text layer, in order.
    layout: where the words of `text` stand, packed by `extract.evidence.layout`.
    """

    text: str
    pages: int = 1
    pictures: tuple[Picture, ...] = ()
    layout: bytes | None = None
    attachments: tuple[Attachment, ...] = ()


Loader = Callable[[bytes, Settings], Document]


def document_of(pages: Iterable[str]) -> Document:
    """A document of pages that are only text. Raises UnreadableError when there is nothing in them."""
    texts = [text.replace(PAGE_BREAK, "\n") for text in pages]
    if not any(text.strip() for text in texts):
        raise UnreadableError("there is no text in it")
    return Document(PAGE_BREAK.join(texts), len(texts))


def check_pages(count: int, limits: Limits, what: str = "pages") -> None:
    """Raises UnreadableError for a document without pages, or with too many."""
    if count == 0:
        raise UnreadableError(f"it has no {what}")
    if count > limits.pages:
        raise UnreadableError(
            f"it has {count:,} {what}, the limit is {limits.pages:,}: split it, or raise the limit"
        )
