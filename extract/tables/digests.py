"""What came before in a stream that is read once: a number for each digest, in bounded memory.

A dictionary takes 170 bytes an entry; beyond a size the entries go to a temporary file, which SQLite makes
and removes. Knows nothing of rows or keys.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from extract.errors import InputError

_HELD = 50_000
_CACHE = "-16000"  # kB
_ASKED = 1_000
"""Parameters of one statement; SQLite takes no more than some tens of thousands."""


class Digests:
    """Numbers by digest. Methods may be called from one thread after the other."""

    def __init__(self) -> None:
        self._held: dict[bytes, int] = {}
        self._file: sqlite3.Connection | None = None

    def find(self, digests: Sequence[bytes]) -> dict[bytes, int]:
        """The numbers of the digests that are known."""
        if self._file is None:
            return {digest: self._held[digest] for digest in digests if digest in self._held}
        found: dict[bytes, int] = {}
        for at in range(0, len(digests), _ASKED):
            asked = digests[at : at + _ASKED]
            marks = ", ".join("?" * len(asked))
            found.update(
                self._file.execute(f"SELECT digest, number FROM seen WHERE digest IN ({marks})", asked)
            )
        return found

    def note(self, numbers: Mapping[bytes, int]) -> None:
        """Set the numbers of some digests. Raises InputError where the temporary file finds no room."""
        if self._file is None:
            self._held.update(numbers)
            if len(self._held) > _HELD:
                self._file = _temporary()
                numbers, self._held = self._held, {}
        if self._file is not None:
            try:
                self._file.executemany("INSERT OR REPLACE INTO seen VALUES (?, ?)", numbers.items())
            except sqlite3.OperationalError as error:
                raise InputError(
                    f"no room for the temporary file that tells repeated keys of a long stream ({error}): "
                    f"name a folder in SQLITE_TMPDIR, or give a frame, which can be read twice"
                ) from error


def _temporary() -> sqlite3.Connection:
    """A database without a name: in memory while it is small, in a temporary file then."""
    file = sqlite3.connect("", isolation_level=None, check_same_thread=False)
    for setting in ("journal_mode = OFF", "synchronous = OFF", f"cache_size = {_CACHE}"):
        file.execute(f"PRAGMA {setting}")
    file.execute("CREATE TABLE seen (digest BLOB PRIMARY KEY, number INTEGER) WITHOUT ROWID")
    file.execute("BEGIN")  # never ended: to end it after each row takes eight times as long
    return file
