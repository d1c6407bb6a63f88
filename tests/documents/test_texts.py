"""HTML, CSV and mails: what a person would see, as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import makers
from extract.documents import Limits, read_documents
from extract.documents.csvfile import read_csv
from extract.documents.html import html_text


def put(folder: Path, name: str, data: bytes) -> None:
    (folder / name).write_bytes(data)


def text_of(folder: Path, name: str, data: bytes, **options: Any) -> str:
    put(folder, name, data)
    row = read_documents(name, root=folder, **options).row(0, named=True)
    assert row["error"] is None
    return str(row["text"])


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<script>evil()</script><style>p{}</style><p>seen<!-- told --></p>", "seen"),
        ("<p>a<p>b", "a\n\nb"),
        ("a<br>b &amp; c&nbsp;d", "a\nb & c d"),
        ("<div hidden>x</div><p style='color:red; DISPLAY : none'>y</p><p>z</p>", "z"),
        ("<span aria-hidden=true>x</span>y<template><b>z</b></template>", "y"),
        ("<ul><li>one<li>two</ul>", "- one\n\n- two"),
        ("<pre>a  b\n  c</pre>", "a  b\nc"),
        ("<table><tr><th>A<th>B<tr><td>1<td>2</table>", "| A | B |\n| 1 | 2 |"),
        ("<table><tr><td>x | y<td><b>z</b></table>", "| x / y | z |"),
        ("<table><tr><td><table><tr><td>1<td>2</table></table>", "| 1 | 2 |"),
        ("<table><tr><td>only<br>layout</table>", "only\nlayout"),
        ("<table><tr><td>never<td>closed", "| never | closed |"),
        ("<head><title>T</title><p>body", "T\n\nbody"),
        ("</p></b>stray", "stray"),
        ("<img alt=x><input value=y>z", "z"),
        ("<p>1 < 2 & 3", "1 < 2 & 3"),
        ("a<!-- never closed <p>b", "a"),
        ("a<script>x = '<!--'</script>b", "ab"),
    ],
)
def test_html_is_what_a_browser_shows(source: str, text: str) -> None:
    assert html_text(source) == text


def test_deep_and_broken_html_ends(tmp_path: Path) -> None:
    assert "x" in html_text("<div>" * 50_000 + "x")
    assert html_text("<table>" * 3_000 + "x").strip() == "x"
    assert html_text("x" + "<!--" * 100_000) == "x"


def test_html_says_its_encoding(tmp_path: Path) -> None:
    page = '<html><meta charset="iso-8859-2"><p>Łódź</p>'.encode("iso-8859-2")
    assert text_of(tmp_path, "a.html", page) == "Łódź"


def test_an_encoding_can_be_given(tmp_path: Path) -> None:
    put(tmp_path, "a.txt", "Счёт № 7".encode("cp1251"))
    frame = read_documents("a.txt", root=tmp_path, encoding="cp1251")
    assert frame["text"].to_list() == ["Счёт № 7"]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('id;note\r\n1;"two\r\nlines"\r\n2;x\r\n', [["id", "note"], ["1", "two\r\nlines"], ["2", "x"]]),
        ("a,b\n1,2\n", [["a", "b"], ["1", "2"]]),
        ('name;price\nx;"1,50"\ny;2,00\n', [["name", "price"], ["x", "1,50"], ["y", "2,00"]]),
        ("a\tb\n1\t2\n", [["a", "b"], ["1", "2"]]),
        ("sep=;\na;b\n1;2\n", [["a", "b"], ["1", "2"]]),
        ('a,b\n"x ""y""",2\n', [["a", "b"], ['x "y"', "2"]]),
        ('a,b\n1,"never closed\n', [["a", "b"], ["1", "never closed\n"]]),
        ("one\ntwo\n", []),
    ],
)
def test_csv_is_cut_where_its_rows_are_alike(text: str, rows: list[list[str]]) -> None:
    assert read_csv(text) == rows


def test_a_csv_with_a_mark(tmp_path: Path) -> None:
    data = b'\xef\xbb\xbfid;note\r\n1;"two\r\nlines"\r\n'
    assert text_of(tmp_path, "a.csv", data) == "| id | note |\n| 1 | two lines |"


def test_a_csv_byte_that_cannot_be_read_has_a_place(tmp_path: Path) -> None:
    put(tmp_path, "a.csv", b"id,name\n1,M\x81ller\n")
    error = read_documents("a.csv", root=tmp_path)["error"][0]
    assert "0x81 in line 2, column 4" in error


def test_a_mail_and_its_attachments_are_documents(tmp_path: Path) -> None:
    inner = makers.eml("Inner", attachments=[("deep.txt", "text/plain", b"deep down")])
    data = makers.eml(
        "Hello there",
        subject="Grüße",
        html="<p>Hello in HTML</p>",
        attachments=[
            ("r.pdf", "application/pdf", makers.pdf([makers.text_lines("Invoice 7")])),
            ("../../r.pdf", "application/octet-stream", b"\x00\x01\x02\x03\x04"),
            ("r.pdf", "text/plain", b"other"),
            ("fwd.eml", "application/octet-stream", inner),
        ],
    )
    put(tmp_path, "a.eml", data)
    frame = read_documents("a.eml", root=tmp_path)
    rows = {row["path"]: row for row in frame.iter_rows(named=True)}
    assert list(rows) == [
        "a.eml",
        "a.eml/r.pdf",
        "a.eml/r (2).pdf",
        "a.eml/r (3).pdf",
        "a.eml/fwd.eml",
        "a.eml/fwd.eml/deep.txt",
    ]
    assert rows["a.eml"]["text"].endswith("Subject: Grüße\n\nHello there")
    assert rows["a.eml/r.pdf"]["text"] == "Invoice 7"
    assert rows["a.eml/r (2).pdf"]["error"].startswith("not a PDF, whatever its name says; unsupported")
    assert rows["a.eml/fwd.eml/deep.txt"]["text"] == "deep down"
    assert frame["id"].n_unique() == 6


def test_a_mail_without_plain_text_shows_its_html(tmp_path: Path) -> None:
    data = (
        b"Message-ID: <1@x>\r\nFrom: a@x\r\nSubject: s\r\nContent-Type: text/html; charset=nonsense\r\n\r\n"
        b"<p>Total <b>12</b></p>"
    )
    assert text_of(tmp_path, "a", data).endswith("Total 12")


def test_a_mail_of_an_attachment_alone(tmp_path: Path) -> None:
    data = (
        b"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"
        b"--b\nContent-Type: text/plain\n\n\n--b\nContent-Type: multipart/mixed; boundary=c\n\n"
        b"--c\nContent-Type: text/plain\n\n\n--c\nContent-Type: text/csv\n\na;b\n1;2\n--c--\n--b--\n"
    )
    put(tmp_path, "a.eml", data)
    rows = list(read_documents("a.eml", root=tmp_path).iter_rows(named=True))
    assert [(row["path"], row["text"], row["error"]) for row in rows] == [
        ("a.eml", None, None),
        ("a.eml/part-1.csv", "| a | b |\n| 1 | 2 |", None),
    ]


def test_mails_in_mails_end(tmp_path: Path) -> None:
    data = makers.eml("core")
    for _ in range(6):
        data = makers.eml("shell", attachments=[("in.eml", "application/octet-stream", data)])
    put(tmp_path, "a.eml", data)
    frame = read_documents("a.eml", root=tmp_path)
    assert frame.height == 5
    assert "not looked into" in frame["error"][-1]


def test_too_many_attachments(tmp_path: Path) -> None:
    put(tmp_path, "a.eml", makers.eml("x", attachments=[(f"{n}.txt", "text/plain", b"y") for n in range(5)]))
    frame = read_documents("a.eml", root=tmp_path, limits=Limits(attachments=4))
    assert frame["error"].to_list() == ["it has 5 attachments, the limit is 4"]


@pytest.mark.parametrize(
    "text", ["From: me\nTo: you\n\nHello", "Subject: x\nDate: today\n\nText", "Note: from: to:"]
)
def test_a_letter_is_no_mail(tmp_path: Path, text: str) -> None:
    put(tmp_path, "a.txt", text.encode())
    assert read_documents("a.txt", root=tmp_path)["media_type"][0] == "text/plain"
