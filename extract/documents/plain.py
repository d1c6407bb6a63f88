"""Text files as they are: plain text and Markdown."""

from __future__ import annotations

from extract.documents.document import PAGE_BREAK, Document, Settings, check_pages
from extract.documents.text import count_pages, decode


def load(data: bytes, settings: Settings) -> Document:
    """The text as it stands; form feeds part its pages."""
    text = decode(data, settings.encoding)
    pages = count_pages(text)
    check_pages(pages, settings.limits)
    return Document(text.replace("\n" + PAGE_BREAK, PAGE_BREAK) if pages == 1 else text, pages)
