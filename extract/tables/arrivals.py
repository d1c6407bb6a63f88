"""Keys of rows as they arrive: numbered where they name none, compared with all that came before.

Knows what a row holds and nothing of where rows come from.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from extract.tables.digests import Digests

_DIGEST = 16
"""Bytes that tell one key from another."""


class Occurrences:
    """Keys of rows that name none: a digest of the content, and how often it came so far."""

    def __init__(self) -> None:
        self._seen = Digests()

    def keys(self, rows: Sequence[Mapping[str, Any]]) -> list[str]:
        """Of each row: SHA-256 over the columns by name, a dash, the occurrence from 1."""
        digests = [hashlib.sha256(_canonical(row).encode("utf-8")).digest() for row in rows]
        counts = self._seen.find([digest[:_DIGEST] for digest in digests])
        keys = []
        for digest in digests:
            counts[digest[:_DIGEST]] = count = counts.get(digest[:_DIGEST], 0) + 1
            keys.append(f"{digest.hex()}-{count}")
        self._seen.note(counts)
        return keys


class Arrivals:
    """Keys of a stream that is read once."""

    def __init__(self) -> None:
        self._seen = Digests()

    def repeat(self, texts: Sequence[str], start: int) -> tuple[str, int, int] | None:
        """The first key that came before, its row then and its row now; None where all are new.

        start: the row of the first text.
        """
        digests = [hashlib.blake2b(text.encode("utf-8"), digest_size=_DIGEST).digest() for text in texts]
        known, new = self._seen.find(digests), dict[bytes, int]()
        for n, (text, digest) in enumerate(zip(texts, digests, strict=True), start):
            first = known[digest] if digest in known else new.setdefault(digest, n)
            if first != n:
                return text, first, n
        self._seen.note(new)
        return None


def _canonical(row: Mapping[str, Any]) -> str:
    return json.dumps(
        {str(name): row[name] for name in sorted(row, key=str)}, ensure_ascii=True, default=_described
    )


def _described(value: Any) -> Any:
    if isinstance(value, bytes | bytearray | memoryview):
        return ["bytes", hashlib.sha256(bytes(value)).hexdigest()]
    if isinstance(value, set | frozenset):
        return ["set", sorted(map(repr, value))]
    if hasattr(value, "to_list"):
        return value.to_list()
    return [type(value).__name__, str(value)]
