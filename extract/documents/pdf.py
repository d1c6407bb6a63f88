"""PDF → text with the place of each word; pages without a text layer as pictures.

Needs pypdfium2 and pillow (extra `documents`). PDFium takes one thread: a process reads one file at a time.
"""

from __future__ import annotations

import re
from typing import Any

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from extract.documents.document import (
    PAGE_BREAK,
    Document,
    Limits,
    Picture,
    Settings,
    UnreadableError,
    check_pages,
)
from extract.documents.lines import Glyphs, PageText, page_text
from extract.documents.pictures import encode
from extract.evidence.layout import Word, pack

_DPI = 200
_FEW = 48  # characters: less beside a picture that fills the page is a stamp, not a text layer
_FILLS = 0.5


def load(data: bytes, settings: Settings) -> Document:
    """One PDF."""
    document = _opened(data, settings)
    try:
        check_pages(len(document), settings.limits)
        if document.get_formtype() != pdfium_c.FORMTYPE_NONE:
            document.init_forms()
        return _document(document, settings.limits)
    finally:
        document.close()


def _opened(data: bytes, settings: Settings) -> pdfium.PdfDocument:
    if b"%%EOF" not in data[-4096:]:
        raise UnreadableError("the PDF is cut: its end is missing")
    for password in (None, *settings.passwords):
        try:
            return pdfium.PdfDocument(data, password=password)
        except pdfium.PdfiumError as error:
            failed = error
            if getattr(error, "err_code", None) != pdfium_c.FPDF_ERR_PASSWORD:
                break
    raise UnreadableError(_why(failed, data, settings))


def _why(error: pdfium.PdfiumError, data: bytes, settings: Settings) -> str:
    code = getattr(error, "err_code", None)  # PDFium leaves that of an earlier file where it sets none
    if re.search(rb"/Count\s+0\b", data) and not re.search(rb"/Type\s*/Page\b", data):
        return "the PDF has no pages"
    if code == pdfium_c.FPDF_ERR_PASSWORD and b"/Encrypt" in data:
        told = "no password given opens it" if settings.passwords else "give password="
        return f"the PDF is encrypted: {told}"
    if code == pdfium_c.FPDF_ERR_SECURITY and b"/Encrypt" in data:
        return "the PDF is encrypted in a way that PDFium does not know"
    return "the PDF is damaged: PDFium cannot open it"


def _document(document: pdfium.PdfDocument, limits: Limits) -> Document:
    texts: list[str] = []
    words: list[Word] = []
    pictures: list[Picture] = []
    at = 0
    for number in range(1, len(document) + 1):
        read, picture = _page(document, number, limits)
        words += [word._replace(start=word.start + at, end=word.end + at) for word in read.words]
        texts.append(read.text)
        at += len(read.text) + len(PAGE_BREAK)
        if picture is not None:
            pictures.append(picture)
        if len(pictures) > limits.pictures:
            raise UnreadableError(
                f"more than {limits.pictures} of its {len(document)} pages are pictures: split it, or "
                "raise the limit"
            )
    if not words and not pictures:
        raise UnreadableError("all its pages are blank")
    return Document(PAGE_BREAK.join(texts), len(texts), tuple(pictures), pack(words) if words else None)


def _page(document: pdfium.PdfDocument, number: int, limits: Limits) -> tuple[PageText, Picture | None]:
    page = _opened_page(document, number)
    try:
        textpage = page.get_textpage()
        read = page_text(_Glyphs(textpage))
        textpage.close()
        needed = not read.usable or (len(read.text) < _FEW and _is_picture(page))
        data = _rendered(page, limits) if needed and _has_content(page) else None
        picture = Picture(number, data, page.get_size()) if data is not None else None
        return (read if read.usable else PageText("", [])), picture
    finally:
        page.close()


def _opened_page(document: pdfium.PdfDocument, number: int) -> pdfium.PdfPage:
    """A page; what was filled into a form on it is part of its text."""
    try:
        page = document[number - 1]
        if document.formenv is None:
            return page
        page.flatten()
        page.close()
        return document[number - 1]
    except pdfium.PdfiumError:
        raise UnreadableError(f"page {number} of the PDF is damaged") from None


def _has_content(page: pdfium.PdfPage) -> bool:
    return int(pdfium_c.FPDFPage_CountObjects(page.raw)) > 0


def _is_picture(page: pdfium.PdfPage) -> bool:
    """Whether one picture fills most of the page."""
    width, height = page.get_size()
    for one in page.get_objects(filter=[pdfium_c.FPDF_PAGEOBJ_IMAGE], max_depth=2):
        left, bottom, right, top = one.get_bounds()
        if (right - left) * (top - bottom) > _FILLS * width * height:
            return True
    return False


def _rendered(page: pdfium.PdfPage, limits: Limits) -> bytes:
    longest = max(page.get_size()) or 1.0
    bitmap = page.render(scale=min(_DPI / 72, limits.edge / longest), may_draw_forms=False)
    try:
        return encode(bitmap.to_pil(), limits)
    finally:
        bitmap.close()


class _Glyphs(Glyphs):
    """The characters of a page as PDFium gives them."""

    def __init__(self, textpage: Any) -> None:
        self._page = textpage
        self.count = textpage.count_chars()
        bulk = textpage.get_text_range() if self.count else ""
        self.characters = bulk if len(bulk) == self.count else self._one_by_one()

    def _one_by_one(self) -> str:
        """One character an index, also where a letter beyond the basic plane takes two."""
        codes = (pdfium_c.FPDFText_GetUnicode(self._page.raw, index) for index in range(self.count))
        return "".join(chr(code) if not 0xD800 <= code <= 0xDFFF else "\ufffd" for code in codes)

    def box(self, index: int) -> tuple[float, float, float, float]:
        """Left, bottom, right, top of a character, in points."""
        found: tuple[float, float, float, float] = self._page.get_charbox(index, loose=True)
        return found
