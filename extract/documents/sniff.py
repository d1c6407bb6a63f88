"""Bytes → media type. Knows nothing of names, folders or tables: a wrong extension changes nothing."""

from __future__ import annotations

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


def media_type(data: bytes) -> str:
    """The media type of a file's bytes; `application/octet-stream` for what is neither known nor text."""
    for magic, name in MAGIC:
        if data.startswith(magic):
            return _zip_type(data) if name == "application/zip" else name
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return _text_type(data)


def _zip_type(data: bytes) -> str:
    for member, name in ZIP_MEMBERS:
        if member in data:
            return name
    return "application/zip"


def _text_type(data: bytes) -> str:
    marked = data.startswith(tuple(BOMS)) or utf16_without_bom(data) is not None
    if not marked and any(byte < 32 and byte not in PLAIN_CONTROLS for byte in set(data)):
        return "application/octet-stream"
    head = data[:1024].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return "text/html" if head.startswith((b"<!doctype html", b"<html")) else "text/plain"
