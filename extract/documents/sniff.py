"""Bytes → media type. A wrong extension changes nothing: a name only tells kinds of plain text apart.

Knows nothing of folders or tables.
"""

from __future__ import annotations

import re
from pathlib import PurePath

from extract.documents.text import BOMS, utf16_without_bom

MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"PK\x03\x04", "application/zip"),
    (b"PK\x05\x06", "application/zip"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (b"\x1f\x8b", "application/gzip"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (b"PAR1", "application/vnd.apache.parquet"),
    (b"{\\rtf", "application/rtf"),
)

# Office files are ZIP archives; the first member tells them apart well enough for a message.
ZIP_MEMBERS: tuple[tuple[bytes, str], ...] = (
    (b"word/", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    (b"xl/", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    (b"ppt/", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
)

PLAIN_CONTROLS = frozenset(b"\t\n\r\f\x0b\x1a\x1b")  # of the C0 range, what text files really hold


TEXT_NAMES = {  # what the bytes of a text cannot tell
    ".csv": "text/csv",
    ".tsv": "text/csv",
    ".md": "text/markdown",
    ".markdown": "text/markdown",
    ".htm": "text/html",
    ".html": "text/html",
    ".eml": "message/rfc822",
}

NAMES = {  # what a name promises, for a message when the bytes are something else
    ".pdf": "PDF",
    ".docx": "Word document",
    ".xlsx": "Excel workbook",
    ".pptx": "PowerPoint presentation",
    ".png": "picture",
    ".jpg": "picture",
    ".jpeg": "picture",
    ".gif": "picture",
    ".webp": "picture",
    ".bmp": "picture",
    ".tif": "picture",
    ".tiff": "picture",
    ".txt": "text",
    ".html": "HTML page",
    ".csv": "CSV",
    ".eml": "mail",
}

_MAIL_HEAD = re.compile(
    rb"^(?:from|to|subject|date|received|mime-version|message-id|return-path|delivered-to|content-type"
    rb"|reply-to|cc|x-[\w-]+)[ \t]*:",
    re.IGNORECASE,
)


def media_type(data: bytes, name: str = "") -> str:
    """The media type of a file's bytes; `application/octet-stream` for what is neither known nor text."""
    for magic, found in MAGIC:
        if data.startswith(magic):
            return _zip_type(data) if found == "application/zip" else found
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[:2] == b"BM" and data[6:10] == bytes(4) and len(data) > 26:
        return "image/bmp"
    if data[4:8] == b"ftyp" and data[8:12] in {b"heic", b"heix", b"hevc", b"mif1", b"heim"}:
        return "image/heic"
    if b"%PDF-" in data[:1024]:  # readers skip what stands before it
        return "application/pdf"
    return _text_type(data, PurePath(name).suffix.lower())


def mislabelled(name: str, kind: str) -> str:
    """The start of a message for a file that is not what its name says; nothing where it is."""
    promised = NAMES.get(PurePath(name).suffix.lower())
    binary = not kind.startswith(("text/", "message/"))
    return f"not a {promised}, whatever its name says; " if promised and binary else ""


def _zip_type(data: bytes) -> str:
    for member, name in ZIP_MEMBERS:
        if member in data:
            return name
    return "application/zip"


def _text_type(data: bytes, suffix: str) -> str:
    marked = data.startswith(tuple(BOMS)) or utf16_without_bom(data) is not None
    if not marked and any(byte < 32 and byte not in PLAIN_CONTROLS for byte in set(data)):
        return "application/octet-stream"
    head = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if head.startswith((b"<!doctype html", b"<html")):
        return "text/html"
    return "message/rfc822" if _is_mail(data) else TEXT_NAMES.get(suffix, "text/plain")


def _is_mail(data: bytes) -> bool:
    """Whether it begins as mails do: lines of a head, three that only mails have, then a blank line."""
    head = re.split(rb"\r?\n\r?\n", data[:65_536].lstrip(b"\xef\xbb\xbf"), maxsplit=1)[0]
    lines = [line for line in head.splitlines() if line[:1] not in {b" ", b"\t", b""}]
    names = {line.partition(b":")[0].strip().lower() for line in lines if _MAIL_HEAD.match(line)}
    telling = names & {b"mime-version", b"message-id", b"received", b"return-path", b"delivered-to"}
    return bool(telling) and len(names) >= 3 and all(b":" in line for line in lines)
