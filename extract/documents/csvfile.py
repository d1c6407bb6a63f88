"""CSV → text. The delimiter is what cuts the rows alike; line breaks in quotes stay inside their row."""

from __future__ import annotations

import csv
import io
from collections import Counter

from extract.documents import grid
from extract.documents.document import Document, Settings, document_of
from extract.documents.text import decode

DELIMITERS = ",;\t|"
_LOOKED_AT = 64  # rows that tell the delimiter


def load(data: bytes, settings: Settings) -> Document:
    """A CSV file as a table; what is no table stays the text that it is."""
    text = decode(data, settings.encoding)
    rows = read_csv(text)
    return document_of([grid.as_text(rows) if rows else text])


def read_csv(text: str) -> list[list[str]]:
    """The rows of a CSV text, the header first; none for a text that no delimiter cuts."""
    head, _, rest = text.partition("\n")
    if head.lower().startswith("sep=") and len(head) == 5:  # as spreadsheets write it
        return _cut(rest, head[4])
    delimiter = max(DELIMITERS, key=lambda mark: _evenness(text, mark))
    return _cut(text, delimiter) if _evenness(text, delimiter) > 0 else []


def _cut(text: str, delimiter: str) -> list[list[str]]:
    csv.field_size_limit(max(len(text), 131_072))
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        return [row for row in rows if row]
    except csv.Error:
        loose = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        return [row for row in loose if row]


def _evenness(text: str, delimiter: str) -> float:
    """Cells that rows of the commonest width have together."""
    sample = text[:65_536]
    widths = Counter(len(row) for row in _cut(sample, delimiter)[:_LOOKED_AT])
    width, count = widths.most_common(1)[0] if widths else (0, 0)
    return float((width - 1) * count) if width > 1 else 0.0
