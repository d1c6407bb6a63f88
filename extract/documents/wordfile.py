"""DOCX → head, text and foot. Read with the standard library.

Tables stay tables; deleted and hidden text is left out, as on paper. (kreuzberg 4.10 loses every `&`
and `<` of a DOCX, so `Smith & Sons` would never be found again.)
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from xml.etree import ElementTree

from extract.documents import grid
from extract.documents.archive import opened
from extract.documents.document import Document, Settings, UnreadableError, document_of

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"  # says all a second time
_P, _TABLE, _ROW, _CELL, _TEXT, _RUN = (f"{_WORD}{name}" for name in ("p", "tbl", "tr", "tc", "t", "r"))
_SIGNS = {f"{_WORD}tab": "\t", f"{_WORD}br": "\n", f"{_WORD}cr": "\n", f"{_WORD}noBreakHyphen": "-"}
_PASSED_OVER = {_FALLBACK, f"{_WORD}del", f"{_WORD}moveFrom", f"{_WORD}instrText"}

_Part = str


def load(data: bytes, settings: Settings) -> Document:
    """A text document."""
    archive = opened(data, settings.limits)
    names = archive.namelist()
    if "word/document.xml" not in names:
        raise UnreadableError("it is damaged: its main text is missing")
    parts = [
        *_texts(archive, names, "header"),
        "\n".join(_blocks(_tree(archive, "word/document.xml"))),
        *_texts(archive, names, "footnotes"),
        *_texts(archive, names, "footer"),
    ]
    text = "\n\n".join(part.strip("\n") for part in parts if part.strip())
    return document_of([re.sub(r"\n{3,}", "\n\n", text)])


def _texts(archive: zipfile.ZipFile, names: list[str], kind: str) -> Iterator[str]:
    """The texts of all heads or feet, each once: first and even pages repeat them."""
    wanted = sorted(name for name in names if re.fullmatch(rf"word/{kind}\d*\.xml", name))
    texts = ("\n".join(_blocks(_tree(archive, name))).strip() for name in wanted)
    yield from dict.fromkeys(text for text in texts if text)


def _tree(archive: zipfile.ZipFile, name: str) -> ElementTree.Element:
    try:
        return ElementTree.fromstring(archive.read(name))
    except (ElementTree.ParseError, zipfile.BadZipFile, OSError, EOFError) as error:
        raise UnreadableError(f"it is damaged: {error}") from None


def _blocks(node: ElementTree.Element) -> Iterator[str]:
    """The paragraphs and tables in a part, in order; boxes with text come after what they hang on."""
    for child in node:
        if child.tag == _P:
            yield "".join(_inline(child)).strip()
            yield from _boxes(child)
        elif child.tag == _TABLE:
            yield "\n" + grid.as_text(_row(row) for row in _own(child, _ROW)) + "\n"
        elif child.tag not in _PASSED_OVER:
            yield from _blocks(child)


def _row(row: ElementTree.Element) -> list[str]:
    """The texts of the cells; one that spans several columns is followed by empty ones."""
    cells: list[str] = []
    for cell in _own(row, _CELL):
        cells.append(" ".join(text for text in _blocks(cell) if text))
        span = cell.find(f"{_WORD}tcPr/{_WORD}gridSpan")
        wide = span.get(f"{_WORD}val", "1") if span is not None else "1"
        cells += [""] * (min(int(wide), 64) - 1 if wide.isdigit() else 0)
    return cells


def _own(node: ElementTree.Element, tag: str) -> Iterator[ElementTree.Element]:
    """The rows of a table or the cells of a row, without those of tables inside."""
    for child in node:
        if child.tag == tag:
            yield child
        elif child.tag not in {_TABLE, _CELL, *_PASSED_OVER}:
            yield from _own(child, tag)


def _inline(node: ElementTree.Element) -> Iterator[str]:
    for child in node:
        if child.tag == _TEXT:
            yield child.text or ""
        elif child.tag in _SIGNS:
            yield _SIGNS[child.tag]
        elif child.tag not in _PASSED_OVER and not _is_box(child) and not _is_hidden(child):
            yield from _inline(child)


def _boxes(node: ElementTree.Element) -> Iterator[str]:
    for child in node:
        if _is_box(child):
            yield from _blocks(child)
        elif child.tag not in _PASSED_OVER:
            yield from _boxes(child)


def _is_box(node: ElementTree.Element) -> bool:
    return node.tag == f"{_WORD}txbxContent"


def _is_hidden(node: ElementTree.Element) -> bool:
    mark = node.find(f"{_WORD}rPr/{_WORD}vanish") if node.tag == _RUN else None
    return mark is not None and mark.get(f"{_WORD}val", "true") not in {"0", "false"}
