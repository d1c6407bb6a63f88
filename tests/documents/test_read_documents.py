"""A folder of files becomes rows; what cannot be read becomes a row that says why."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

from extract.documents import COLUMNS, Limits, read_documents
from extract.errors import InputError


def put(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def read_one(folder: Path, data: bytes) -> dict[str, object]:
    put(folder, "one.bin", data)
    frame = read_documents(folder / "one.bin")
    assert frame.height == 1
    return frame.row(0, named=True)


def test_columns_and_types_never_depend_on_the_files(tmp_path: Path) -> None:
    empty = read_documents(tmp_path / "*.txt")
    put(tmp_path, "a.txt", b"one")
    full = read_documents(tmp_path / "*.txt")
    assert tuple(empty.columns) == COLUMNS
    assert empty.schema == full.schema
    assert full.schema["pages"] == pl.Int64
    assert (empty.height, full.height) == (0, 1)


def test_sorted_by_path_and_told_from_the_root(tmp_path: Path) -> None:
    for name in ("in/b.txt", "in/a.txt", "in/deep/c.txt"):
        put(tmp_path, name, name.encode())
    frame = read_documents("in/**/*", root=tmp_path)
    assert frame["path"].to_list() == ["in/a.txt", "in/b.txt", "in/deep/c.txt"]


def test_relative_patterns_start_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "in/a.txt", b"x")
    monkeypatch.chdir(tmp_path)
    assert read_documents("in/*")["path"].to_list() == ["in/a.txt"]


def test_several_patterns_give_each_file_once(tmp_path: Path) -> None:
    for name in ("a.txt", "b.md"):
        put(tmp_path, name, b"x")
    frame = read_documents(["*.txt", "*.md", "a.*"], root=tmp_path)
    assert frame["path"].to_list() == ["a.txt", "b.md"]


def test_a_name_with_brackets_is_a_name(tmp_path: Path) -> None:
    put(tmp_path, "scan [1].txt", b"x")
    assert read_documents("scan [1].txt", root=tmp_path).height == 1


def test_the_id_follows_the_bytes_and_not_the_name(tmp_path: Path) -> None:
    put(tmp_path, "a.txt", b"same")
    put(tmp_path, "b.txt", b"same")
    put(tmp_path, "c.txt", b"other")
    first, second, third = read_documents("*.txt", root=tmp_path)["id"]
    assert first == second != third


@pytest.mark.parametrize("pattern", ["nowhere/*.txt", "in/none.txt", "nowhere/in/*/x"])
def test_a_folder_that_is_not_there_is_named(tmp_path: Path, pattern: str) -> None:
    put(tmp_path, "in/a.txt", b"x")
    with pytest.raises(InputError, match="there is no"):
        read_documents(pattern, root=tmp_path)


def test_nothing_found_is_no_error(tmp_path: Path) -> None:
    put(tmp_path, "in/a.txt", b"x")
    assert read_documents("in/z*", root=tmp_path).is_empty()


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be", "cp1252"]
)
def test_encodings(tmp_path: Path, encoding: str) -> None:
    text = "Straße, à côté: 12,50 €\nNächste Zeile"
    row = read_one(tmp_path, text.encode(encoding))
    assert (row["text"], row["error"]) == (text, None)
    assert row["media_type"] == "text/plain"


def test_an_undecodable_byte_is_told_with_its_place(tmp_path: Path) -> None:
    row = read_one(tmp_path, b"first line\nab\x81cd")
    assert row["text"] is None
    assert "0x81 in line 2, column 3" in str(row["error"])


def test_a_broken_mark_is_an_error(tmp_path: Path) -> None:
    row = read_one(tmp_path, b"\xff\xfea\x00b")
    assert row["text"] is None
    assert "utf-16" in str(row["error"])


def test_line_ends_become_newlines(tmp_path: Path) -> None:
    assert read_one(tmp_path, b"a\r\nb\rc\nd")["text"] == "a\nb\nc\nd"


@pytest.mark.parametrize(
    ("text", "pages"), [("one", 1), ("one\ftwo\fthree", 3), ("one\ftwo\f\n", 2), ("one\n\f", 1)]
)
def test_form_feeds_part_pages(tmp_path: Path, text: str, pages: int) -> None:
    assert read_one(tmp_path, text.encode())["pages"] == pages


@pytest.mark.parametrize(
    ("data", "media_type", "said"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "application/pdf", "cut"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "image/png", "damaged or cut"),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "image/jpeg", "damaged or cut"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp", "damaged or cut"),
        (b"PK\x03\x04\x14\x00\x00\x00", "application/zip", "ZIP archive; unpack it"),
        (
            b"PK\x03\x04\x14\x00xl/workbook.xml",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "damaged or cut",
        ),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504), "application/x-ole-storage", "unsupported"),
        (b"\x00\x01\x02\x03\x04nothing known", "application/octet-stream", "neither text nor"),
        (b"text with a NUL \x00 in it", "application/octet-stream", "neither text nor"),
        (b"{\\rtf1 x}", "application/rtf", "register_loader"),
    ],
)
def test_binaries_that_cannot_be_read_are_rows_with_an_error(
    tmp_path: Path, data: bytes, media_type: str, said: str
) -> None:
    row = read_one(tmp_path, data)
    assert row["media_type"] == media_type
    assert row["text"] is None
    assert row["pages"] is None
    assert said in str(row["error"])
    assert row["id"] is not None


def test_html_is_told_from_its_bytes(tmp_path: Path) -> None:
    assert read_one(tmp_path, b"  <!DOCTYPE html><p>x")["media_type"] == "text/html"


@pytest.mark.parametrize("data", [b"", b" \r\n\t\n"])
def test_an_empty_file_says_so(tmp_path: Path, data: bytes) -> None:
    row = read_one(tmp_path, data)
    assert (row["text"], row["error"]) == (None, "the file is empty")


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    put(tmp_path, "big.txt", b"x" * 1001)
    row = read_documents("big.txt", root=tmp_path, limits=Limits(bytes=1000)).row(0, named=True)
    assert (row["id"], row["text"]) == (None, None)
    assert "1,001 bytes" in str(row["error"])


def test_a_file_that_cannot_be_opened_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "a.txt", b"x")
    put(tmp_path, "b.txt", b"y")
    plain = Path.read_bytes  # root may read everything: permissions cannot be tried for real here

    def refuse(path: Path) -> bytes:
        if path.name == "a.txt":
            raise PermissionError(13, "Permission denied")
        return plain(path)

    monkeypatch.setattr(Path, "read_bytes", refuse)
    first, second = read_documents("*.txt", root=tmp_path).iter_rows(named=True)
    assert first["error"] == "cannot be opened: Permission denied"
    assert second["text"] == "y"


def test_folders_and_pipes_are_passed_over(tmp_path: Path) -> None:
    put(tmp_path, "sub.txt/inner", b"x")
    os.mkfifo(tmp_path / "pipe.txt")
    put(tmp_path, "a.txt", b"x")
    assert read_documents("*.txt", root=tmp_path)["path"].to_list() == ["a.txt"]


def test_a_folder_stands_for_all_that_is_in_it(tmp_path: Path) -> None:
    for name in ("in [x]/a.txt", "in [x]/deep/b.txt", "c.txt"):
        put(tmp_path, name, b"x")
    frame = read_documents("in [x]", root=tmp_path)
    assert frame["path"].to_list() == ["in [x]/a.txt", "in [x]/deep/b.txt"]
