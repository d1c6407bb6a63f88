"""DOCX, XLSX and PPTX → text. kreuzberg reads them (extra `documents`); tables stay tables.

Head and foot of a DOCX, which kreuzberg leaves out, are read from the archive: letterheads stand there.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree

import kreuzberg

from extract.documents import grid
from extract.documents.document import Document, Limits, Settings, UnreadableError, check_pages, document_of

_OFFICE = "application/vnd.openxmlformats-officedocument."
DOCX = f"{_OFFICE}wordprocessingml.document"
XLSX = f"{_OFFICE}spreadsheetml.sheet"
PPTX = f"{_OFFICE}presentationml.presentation"

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MIDNIGHT = re.compile(r"^(\d{4}-\d\d-\d\d) 00:00:00$")
_LARGEST_PART = 4_000_000  # bytes of a head or foot


def load_docx(data: bytes, settings: Settings) -> Document:
    """A text document: its head, its text, its foot."""
    archive = _archive(data, settings.limits)
    parts = [*_furniture(archive, "header"), _markdown(data, DOCX), *_furniture(archive, "footer")]
    return document_of(["\n\n".join(part for part in parts if part)])


def load_pptx(data: bytes, settings: Settings) -> Document:
    """A presentation: the text of its slides."""
    archive = _archive(data, settings.limits)
    slides = sum(bool(re.fullmatch(r"ppt/slides/slide\d+\.xml", name)) for name in archive.namelist())
    check_pages(slides, settings.limits, "slides")
    return document_of([_markdown(data, PPTX)])


def load_xlsx(data: bytes, settings: Settings) -> Document:
    """A workbook: each sheet is a page, with its name above its cells."""
    _archive(data, settings.limits)
    result = _extracted(data, XLSX)
    names = list((result.metadata or {}).get("sheet_names") or ())
    check_pages(max(len(names), len(result.tables)), settings.limits, "sheets")
    if not any(cell.strip() for table in result.tables for row in table.cells for cell in row):
        raise UnreadableError("its sheets are empty")
    sheets = {table.page_number: table.cells for table in result.tables}
    pages = [
        _sheet(names[number - 1] if number <= len(names) else "", sheets.get(number, []))
        for number in range(1, max([len(names), *sheets]) + 1)
    ]
    return document_of(pages)


def _sheet(name: str, cells: list[list[str]]) -> str:
    rows = [[_MIDNIGHT.sub(r"\1", cell) for cell in row] for row in cells]
    return f"{name}\n\n{grid.as_text(rows)}".strip()


def _markdown(data: bytes, kind: str) -> str:
    return str(_extracted(data, kind).content).strip()


def _extracted(data: bytes, kind: str) -> kreuzberg.ExtractionResult:
    config = kreuzberg.ExtractionConfig(
        output_format="markdown", use_cache=False, enable_quality_processing=False
    )
    try:
        return kreuzberg.extract_bytes_sync(data, kind, config)
    except kreuzberg.KreuzbergError as error:
        told = str(error).split("\n", 1)[0].removeprefix("ParsingError: ")
        raise UnreadableError(f"it is damaged: {told}") from None


def _archive(data: bytes, limits: Limits) -> zipfile.ZipFile:
    """The file as the ZIP archive that it is, if it does not grow beyond the limit."""
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except zipfile.BadZipFile:
        raise UnreadableError("it is damaged or cut: its list of parts is missing") from None
    if any(part.flag_bits & 1 for part in archive.infolist()):
        raise UnreadableError("it is encrypted: save it without a password")
    grown = sum(part.file_size for part in archive.infolist())
    if grown > limits.unpacked:
        raise UnreadableError(f"it unpacks to {grown:,} bytes, the limit is {limits.unpacked:,}")
    return archive


def _furniture(archive: zipfile.ZipFile, kind: str) -> Iterator[str]:
    """The texts of a DOCX's heads or feet, each once."""
    seen: set[str] = set()
    for part in archive.infolist():
        if not re.fullmatch(rf"word/{kind}\d*\.xml", part.filename) or part.file_size > _LARGEST_PART:
            continue
        text = _paragraphs(archive.read(part))
        if text and text not in seen:
            seen.add(text)
            yield text


def _paragraphs(xml: bytes) -> str:
    try:
        root = ElementTree.fromstring(xml)
    except ElementTree.ParseError:
        return ""
    paragraphs = ("".join(_runs(paragraph)) for paragraph in root.iter(f"{_WORD}p"))
    return "\n".join(text.strip() for text in paragraphs if text.strip())


def _runs(paragraph: ElementTree.Element) -> Iterator[str]:
    for node in paragraph.iter():
        if node.tag == f"{_WORD}t":
            yield node.text or ""
        elif node.tag in {f"{_WORD}tab", f"{_WORD}br"}:
            yield " " if node.tag.endswith("br") else "\t"
