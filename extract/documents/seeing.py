"""Pictures of pages → a text layer, by OCR. Needs rapidocr (extra `ocr`), which brings its models along.

The pictures stay: a model reads them better than OCR does, and evidence needs words with places.
"""

from __future__ import annotations

import io
from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from typing import Any

from extract.documents.document import PAGE_BREAK, Document, Picture
from extract.documents.lines import PageText, Token, page_of_tokens
from extract.evidence.layout import Word, pack, unpack


def with_text(document: Document) -> Document:
    """The document with text on those of its pages that are pictures."""
    if not document.pictures:
        return document
    seen = {picture.page: see(picture) for picture in document.pictures}
    texts: list[str] = []
    words: list[Word] = []
    at = 0
    for number, page in enumerate(_pages(document), 1):
        made = seen[number] if number in seen and seen[number].text else page
        words += [word._replace(start=word.start + at, end=word.end + at) for word in made.words]
        texts.append(made.text)
        at += len(made.text) + len(PAGE_BREAK)
    return replace(document, text=PAGE_BREAK.join(texts), layout=pack(words) if words else None)


def _pages(document: Document) -> list[PageText]:
    """The pages as they are, with their words counted from the start of each."""
    words = unpack(document.layout or b"")
    pages, at = [], 0
    for text in document.text.split(PAGE_BREAK):
        end = at + len(text)
        own = [w._replace(start=w.start - at, end=w.end - at) for w in words if at <= w.start < end]
        pages.append(PageText(text, own))
        at = end + len(PAGE_BREAK)
    return pages


def see(picture: Picture) -> PageText:
    """The text of one picture, in lines, with the place of each word in points."""
    array, (width, height) = _array(picture.data)
    result = _engine()(array)
    wide, high = picture.points or (width, height)
    tokens = []
    for corners, text in zip(_listed(result.boxes), result.txts or (), strict=True):
        across = [float(x) * wide / width for x, _ in corners]
        down = [high - float(y) * high / height for _, y in corners]
        box = (min(across), min(down), max(across), max(down))
        tokens += _words(text, box)
    return page_of_tokens(tokens)


def _words(text: str, box: tuple[float, float, float, float]) -> list[Token]:
    """The words of a line, as if its letters were equally wide."""
    step = (box[2] - box[0]) / max(1, len(text))
    made, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        made.append(Token(word, (box[0] + at * step, box[1], box[0] + (at + len(word)) * step, box[3])))
        at += len(word)
    return made


def _array(data: bytes) -> tuple[Any, tuple[int, int]]:
    image = import_module("PIL.Image").open(io.BytesIO(data)).convert("RGB")
    return import_module("numpy").asarray(image)[:, :, ::-1], image.size


def _listed(boxes: Any) -> Any:
    return () if boxes is None else boxes


@lru_cache(maxsize=1)
def _engine() -> Any:
    import_module("logging").disable(30)
    return import_module("rapidocr").RapidOCR()
