"""Bytes of a text file → text, by one rule that can be told in four lines.

1. A byte order mark decides (UTF-8, UTF-16, UTF-32); without one, what the caller knows.
2. Otherwise, what is valid UTF-8 is UTF-8; NULs in every second place are UTF-16 without a mark.
3. Otherwise it is Windows-1252, the encoding of old office programs in the west.
4. What fits none of them is an error, never text with replacement characters in it.

Line ends become a plain newline; everything else stays as it was. Knows nothing of files.
"""

from __future__ import annotations

import codecs
import re

BOMS: dict[bytes, str] = {  # UTF-32 before UTF-16: the mark of the one begins with that of the other
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}


def decode(data: bytes, encoding: str | None = None) -> str:
    """The text of a file.

    encoding: of a file without a byte order mark, where it is known; the rule above where not.
    Raises ValueError, with the reason for people, for bytes that are no text.
    """
    for candidate in _candidates(data, encoding):
        try:
            return data.decode(candidate).replace("\r\n", "\n").replace("\r", "\n")
        except UnicodeDecodeError as error:
            failed = error
    raise ValueError(f"not readable as text: {_place(data, failed)}; save the file as UTF-8")


def _place(data: bytes, failed: UnicodeDecodeError) -> str:
    before = data[: failed.start]
    line, column = before.count(b"\n") + 1, failed.start - (before.rfind(b"\n") + 1) + 1
    tried = (
        "neither UTF-8 nor Windows-1252"
        if failed.encoding in {"cp1252", "charmap"}
        else f"no {failed.encoding}"
    )
    return f"the byte 0x{data[failed.start]:02x} in line {line}, column {column} is {tried}"


def count_pages(text: str) -> int:
    """Pages of a text: form feeds part them; one after the last page adds none."""
    return text.rstrip().count("\f") + 1


def utf16_without_bom(data: bytes) -> str | None:
    """The byte order of UTF-16 text that came without a mark, or None: Latin text has a NUL in each unit."""
    sample = data[:4096]
    pairs = len(sample) // 2
    if pairs == 0 or len(data) % 2:
        return None
    low, high = sample[0::2].count(0), sample[1::2].count(0)
    if low == 0 and high * 2 > pairs:
        return "utf-16-le"
    if high == 0 and low * 2 > pairs:
        return "utf-16-be"
    return None


def declared_encoding(data: bytes) -> str | None:
    """The encoding that an HTML page names in its head, if it is one that is known."""
    found = re.search(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", data[:4096], re.IGNORECASE)
    name = found[1].decode("ascii") if found else ""
    try:
        return codecs.lookup(name).name if name else None
    except LookupError:
        return None


def _candidates(data: bytes, known: str | None) -> tuple[str, ...]:
    for mark, encoding in BOMS.items():
        if data.startswith(mark):
            return (encoding,)
    if known is not None:
        return (known,)
    if wide := utf16_without_bom(data):
        return (wide,)
    return ("utf-8", "cp1252")
