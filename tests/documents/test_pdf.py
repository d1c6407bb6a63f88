"""PDF: text with places, pictures where there is no text, and the many ways in which a file is broken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import makers
from extract.documents import Limits, read_documents
from extract.evidence.layout import Layout

TEXT = """\
Acme & Sons Ltd
Invoice number: R-7

Item                    Qty       Amount
Paper, white            2         10.00"""


def read(folder: Path, data: bytes, name: str = "a.pdf", **options: Any) -> dict[str, Any]:
    (folder / name).write_bytes(data)
    return read_documents(name, root=folder, **options).row(0, named=True)


def page(text: str) -> list[makers.Line]:
    return makers.text_lines(text)


def test_lines_and_columns_stay(tmp_path: Path) -> None:
    row = read(tmp_path, makers.pdf([page(TEXT)]))
    assert row["error"] is None
    lines = row["text"].split("\n")
    assert lines[:3] == ["Acme & Sons Ltd", "Invoice number: R-7", ""]
    assert lines[3].split() == ["Item", "Qty", "Amount"]
    assert lines[4].index("2") == lines[3].index("Qty")
    assert row["media_type"] == "application/pdf"


def test_each_word_has_its_place(tmp_path: Path) -> None:
    row = read(tmp_path, makers.pdf([page("one"), page(TEXT)]))
    layout, text = Layout(row["layout"]), row["text"]
    start = text.index("10.00")
    box = layout.box(start, start + 5)
    assert box is not None
    left, bottom, right, top = box
    x, y, size, _ = next(line for line in page(TEXT) if line[3] == "10.00")
    assert abs(left - x) < 1
    assert bottom <= y < top <= y + 1.5 * size
    assert right - left == pytest.approx(5 * size / 2, rel=0.15)


def test_part_of_a_word_has_part_of_its_box(tmp_path: Path) -> None:
    row = read(tmp_path, makers.pdf([page("Total:12.50")]))
    layout = Layout(row["layout"])
    whole, part = layout.box(0, 11), layout.box(6, 11)
    assert whole is not None and part is not None
    assert whole[0] < part[0] < part[2] == whole[2]
    assert layout.box(40, 44) is None


def test_a_word_broken_at_the_end_of_a_line_stays_as_printed(tmp_path: Path) -> None:
    lines = [(50.0, 700.0, 10.0, "a word of hyphen-"), (50.0, 686.0, 10.0, "ated letters")]
    assert read(tmp_path, makers.pdf([lines]))["text"] == "a word of hyphen-\nated letters"


def test_what_was_filled_into_a_form_is_read(tmp_path: Path) -> None:
    row = read(tmp_path, makers.form("Invoice number:", "INV-77"))
    assert row["text"].split() == ["Invoice", "number:", "INV-77"]
    at = row["text"].index("INV-77")
    box = Layout(row["layout"]).box(at, at + 6)
    assert box is not None
    assert 195 < box[0] < 210


def test_cells_drawn_one_after_the_other_make_one_line(tmp_path: Path) -> None:
    lines = [(50.0, 700.0, 10.0, "left"), (300.0, 700.0, 10.0, "middle"), (450.0, 700.0, 10.0, "right")]
    (line,) = read(tmp_path, makers.pdf([lines]))["text"].split("\n")
    assert line.split() == ["left", "middle", "right"]
    assert "left   " in line


def test_columns_of_a_newspaper_stay_apart(tmp_path: Path) -> None:
    left = [(50.0, 700.0 - 14 * n, 10.0, f"left {n}") for n in range(3)]
    right = [(320.0, 700.0 - 14 * n, 10.0, f"right {n}") for n in range(3)]
    text = read(tmp_path, makers.pdf([left + right]))["text"]
    assert text.split("\n") == ["left 0", "left 1", "left 2", "right 0", "right 1", "right 2"]


def test_pages_without_text_become_pictures(tmp_path: Path) -> None:
    row = read(tmp_path, makers.pdf([page(TEXT), makers.scan(TEXT), page("three")]))
    assert row["pages"] == 3
    assert [len(part) > 0 for part in row["text"].split("\f")] == [True, False, True]
    (scan,) = row["images"]
    assert (scan["page"], scan["media_type"]) == (2, "image/jpeg")
    assert scan["width"] > 500 and scan["height"] > scan["width"]  # in points, as boxes are


def test_a_scan_has_no_text(tmp_path: Path) -> None:
    row = read(tmp_path, makers.pdf([makers.scan(TEXT)]))
    assert (row["text"], row["layout"], row["error"], len(row["images"])) == (None, None, None, 1)


def test_a_stamp_on_a_scan_is_no_text_layer(tmp_path: Path) -> None:
    row = read(tmp_path, makers.pdf([page("Page 1")], annex={0: makers.scan(TEXT)}))
    assert row["text"] == "Page 1"
    assert len(row["images"]) == 1


def test_pictures_of_pages_are_bounded(tmp_path: Path) -> None:
    row = read(tmp_path, makers.pdf([makers.scan(TEXT)]), limits=Limits(edge=400))
    assert makers.Image.open(makers.io.BytesIO(row["images"][0]["data"])).height == 400


def test_a_blank_page_among_others_is_just_blank(tmp_path: Path) -> None:
    row = read(tmp_path, makers.pdf([page("one"), []]))
    assert (row["text"], row["pages"], row["images"]) == ("one\f", 2, [])


def test_an_encrypted_file_needs_a_password(tmp_path: Path) -> None:
    data = makers.pdf([page(TEXT)], user="secret")
    assert "encrypted: give password=" in read(tmp_path, data)["error"]
    assert "no password given opens it" in read(tmp_path, data, password="wrong")["error"]
    assert "Acme" in read(tmp_path, data, password=["wrong", "secret"])["text"]


def test_a_file_that_everyone_may_open_is_read(tmp_path: Path) -> None:
    assert "Acme" in read(tmp_path, makers.pdf([page(TEXT)], user=""))["text"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (makers.pdf([]), "has no pages"),
        (makers.pdf([[]]), "blank"),
        (makers.pdf([makers.text_lines(TEXT)])[:-200], "cut"),
        (b"%PDF-1.7 nothing follows\n%%EOF", "damaged"),
    ],
)
def test_what_is_no_document_says_why(tmp_path: Path, data: bytes, said: str) -> None:
    row = read(tmp_path, data)
    assert said in row["error"]
    assert (row["text"], row["pages"]) == (None, None)


def test_the_errors_do_not_depend_on_the_file_before(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(makers.pdf([page(TEXT)], user="secret"))
    (tmp_path / "b.pdf").write_bytes(b"%PDF-1.7 nothing follows\n%%EOF")
    (tmp_path / "c.pdf").write_bytes(makers.pdf([]))
    errors = read_documents("*.pdf", root=tmp_path, processes=1)["error"].to_list()
    assert [word in error for word, error in zip(("encrypted", "damaged", "no pages"), errors, strict=True)]
    assert "encrypted" not in errors[1] + errors[2]


def test_too_many_pages(tmp_path: Path) -> None:
    data = makers.pdf([page("x")] * 12)
    assert "12 pages, the limit is 10" in read(tmp_path, data, limits=Limits(pages=10))["error"]
    assert read(tmp_path, data)["pages"] == 12


def test_too_many_pictures(tmp_path: Path) -> None:
    data = makers.pdf([makers.scan("x", size=(60, 80))] * 4)
    assert "more than 3 of its 4 pages" in read(tmp_path, data, limits=Limits(pictures=3))["error"]


def test_a_pdf_is_one_whatever_its_name_says(tmp_path: Path) -> None:
    row = read(tmp_path, makers.pdf([page(TEXT)]), "letter.txt")
    assert row["media_type"] == "application/pdf"
    assert "Acme" in row["text"]


def test_what_is_no_pdf_says_so(tmp_path: Path) -> None:
    row = read(tmp_path, makers.packed({"a.txt": "x"}), "invoice.pdf")
    assert row["media_type"] == "application/zip"
    assert row["error"].startswith("not a PDF")
