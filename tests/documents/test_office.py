"""Office files: words, cells and slides as text; broken archives as errors."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from benchmarks import makers
from extract.documents import Limits, read_documents


def read(folder: Path, data: bytes, name: str, **options: Any) -> dict[str, Any]:
    (folder / name).write_bytes(data)
    return read_documents(name, root=folder, **options).row(0, named=True)


def test_a_word_document_with_head_table_and_foot(tmp_path: Path) -> None:
    data = makers.docx(
        ["Smith & Sons <est. 1894>", "Number:\tA_1*2", [["Item", "Amount"], ["Paper | A4", "10,00"]], "End"],
        head="Letterhead",
        foot="Page 1",
    )
    row = read(tmp_path, data, "a.docx")
    assert row["text"].split("\n") == [
        "Letterhead",
        "",
        "Smith & Sons <est. 1894>",
        "Number:\tA_1*2",
        "",
        "| Item | Amount |",
        "| Paper / A4 | 10,00 |",
        "",
        "End",
        "",
        "Page 1",
    ]
    assert row["media_type"].endswith("wordprocessingml.document")


WORDS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def word(body: str) -> bytes:
    return makers.packed(
        {"word/document.xml": f'<w:document xmlns:w="{WORDS}"><w:body>{body}</w:body></w:document>'}
    )


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            "<w:p><w:ins><w:r><w:t>new</w:t></w:r></w:ins><w:del><w:r><w:delText>old</w:delText></w:r></w:del></w:p>",
            "new",
        ),
        (
            "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r><w:r><w:t>seen</w:t></w:r></w:p>",
            "seen",
        ),
        ("<w:p><w:r><w:t>a</w:t><w:br/><w:t>b</w:t></w:r></w:p>", "a\nb"),
        ("<w:sdt><w:sdtContent><w:p><w:r><w:t>form</w:t></w:r></w:p></w:sdtContent></w:sdt>", "form"),
        (
            "<w:p><w:r><w:t>a</w:t><w:pict><w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent></w:pict>"
            "</w:r></w:p>",
            "a\nbox",
        ),
        (
            '<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr>'
            "<w:p><w:r><w:t>wide</w:t></w:r></w:p></w:tc>"
            "<w:tc><w:tbl><w:tr><w:tc><w:p><w:r><w:t>in</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:tc></w:tr></w:tbl>",
            "\n| wide |  | / in / |\n",
        ),
    ],
)
def test_what_stands_on_paper_is_read(tmp_path: Path, body: str, text: str) -> None:
    assert read(tmp_path, word(body), "a.docx")["text"].strip() == text.strip()


def test_a_workbook_with_two_sheets_and_a_merged_cell(tmp_path: Path) -> None:
    data = makers.xlsx(
        {
            "First & last": [["Over all"], ["day", datetime(2026, 3, 4)], ["a_x000D_b", 12.5, 3]],
            "Second": [["x", None, "z"]],
        },
        merged={"First & last": "A1:C1"},
    )
    row = read(tmp_path, data, "a.xlsx")
    first, second = row["text"].split("\f")
    assert row["pages"] == 2
    assert first.split("\n") == [
        "First & last",
        "",
        "| Over all |",
        "| day | 2026-03-04 |",
        "| a b | 12.5 | 3 |",
    ]
    assert second.split("\n") == ["Second", "", "| x |  | z |"]


def test_an_empty_workbook_says_so(tmp_path: Path) -> None:
    assert "empty" in read(tmp_path, makers.xlsx({"A": []}), "a.xlsx")["error"]


def test_a_presentation(tmp_path: Path) -> None:
    row = read(tmp_path, makers.pptx(["Smith & Sons", "Total 12"]), "a.pptx")
    assert row["error"] is None
    assert row["text"].split("\n\n") == ["Smith & Sons", "Total 12"]


@pytest.mark.parametrize(
    "data",
    [makers.docx(["x"]), makers.xlsx({"A": [["x"]]}), makers.pptx(["x"])],
    ids=["docx", "xlsx", "pptx"],
)
def test_a_cut_archive_says_so(tmp_path: Path, data: bytes) -> None:
    row = read(tmp_path, data[: len(data) * 2 // 3], "a.docx")
    assert "damaged or cut" in row["error"]


def test_an_archive_that_grows_is_not_unpacked(tmp_path: Path) -> None:
    data = makers.docx(["0" * 3_000_000])
    assert len(data) < 20_000
    assert "unpacks to" in read(tmp_path, data, "a.docx", limits=Limits(unpacked=1_000_000))["error"]


def test_broken_parts_are_an_error(tmp_path: Path) -> None:
    assert "damaged" in read(tmp_path, makers.packed({"word/document.xml": "<w:p>"}), "a.docx")["error"]
    assert "missing" in read(tmp_path, makers.packed({"word/x.xml": "<x/>"}), "a.docx")["error"]
