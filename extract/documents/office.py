"""XLSX and PPTX → text. kreuzberg reads them (extra `documents`); tables stay tables."""

from __future__ import annotations

import re

import kreuzberg

from extract.documents import grid
from extract.documents.archive import opened
from extract.documents.document import Document, Settings, UnreadableError, check_pages, document_of

_OFFICE = "application/vnd.openxmlformats-officedocument."
XLSX = f"{_OFFICE}spreadsheetml.sheet"
PPTX = f"{_OFFICE}presentationml.presentation"

_MIDNIGHT = re.compile(r"^(\d{4}-\d\d-\d\d) 00:00:00$")


def load_pptx(data: bytes, settings: Settings) -> Document:
    """A presentation: the text of its slides."""
    archive = opened(data, settings.limits)
    slides = sum(bool(re.fullmatch(r"ppt/slides/slide\d+\.xml", name)) for name in archive.namelist())
    check_pages(slides, settings.limits, "slides")
    return document_of([str(_extracted(data, PPTX).content).strip()])


def load_xlsx(data: bytes, settings: Settings) -> Document:
    """A workbook: each sheet is a page, with its name above its cells."""
    opened(data, settings.limits)
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


def _extracted(data: bytes, kind: str) -> kreuzberg.ExtractionResult:
    config = kreuzberg.ExtractionConfig(use_cache=False, enable_quality_processing=False)
    try:
        return kreuzberg.extract_bytes_sync(data, kind, config)
    except kreuzberg.KreuzbergError as error:
        told = str(error).split("\n", 1)[0].removeprefix("ParsingError: ")
        raise UnreadableError(f"it is damaged: {told}") from None
