"""OCR: a text layer for pictures, with the places that evidence needs. Runs where the extra is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import makers
from extract.documents import read_documents
from extract.documents.lines import Token, page_of_tokens
from extract.evidence.layout import Layout

TEXT = "ACME Tools Ltd\nInvoice number: INV-2026/17\nTotal EUR 42.50"


def test_words_from_anywhere_become_lines() -> None:
    tokens = [
        Token("right", (300, 100, 330, 110)),
        Token("below", (50, 80, 80, 90)),
        Token("left", (50, 101, 70, 111)),
        Token("next", (75, 100.5, 95, 110.5)),
    ]
    page = page_of_tokens(tokens)
    first, second = page.text.split("\n")[0], page.text.split("\n")[-1]
    assert first.split() == ["left", "next", "right"]
    assert "next   " in first
    assert second == "below"
    assert [page.text[word.start : word.end] for word in page.words] == ["left", "next", "right", "below"]


@pytest.mark.slow
def test_text_and_places_of_a_scan(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr", reason="needs the extra `ocr`")
    scan = makers.scan(TEXT, size=(1000, 1414), letter=30)
    (tmp_path / "a.pdf").write_bytes(makers.pdf([makers.text_lines("Cover page"), scan]))
    row = read_documents("a.pdf", root=tmp_path, ocr=True).row(0, named=True)
    assert row["error"] is None
    cover, seen = row["text"].split("\f")
    assert cover == "Cover page"
    assert "INV-2026/17" in seen
    assert [picture["page"] for picture in row["images"]] == [2]
    layout, start = Layout(row["layout"]), row["text"].index("42.50")
    box = layout.box(start, start + 5)
    assert box is not None
    left, bottom, right, top = box
    width, height = makers.A4
    assert 0.1 * width < left < right < 0.5 * width
    assert 0.85 * height < bottom < top < 0.95 * height
