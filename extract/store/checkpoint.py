"""How DuckDB moves what was committed from the log into the file, so that memory does not grow with rows.

By default it does so every 16 MB and merges small groups of rows on the way: 200 to 300 MB for a moment, and
a file half as large again. It keeps what it wrote in memory besides, 165 MB for a million short rows. Here
the log grows longer, only what short runs wrote is merged, and what lies in the file is let go of. No limit
holds while a commit or a checkpoint works: one that fails for want of memory makes DuckDB give up the
database. Knows nothing of tables.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from extract.store.sql import literal

if TYPE_CHECKING:
    from extract.store.connect import Opened

_SETTINGS = {"checkpoint_threshold": "'64MB'", "max_vacuum_tasks": "0"}
_EVERY = 32  # commits between two looks at the memory
_FEW = 32  # commits that make a small group of rows; those of many short runs become one
_KEPT = 48_000_000  # bytes of the file that may stay in memory

_HELD = """
    SELECT coalesce(sum(memory_usage_bytes), 0)::BIGINT,
        coalesce(sum(memory_usage_bytes) FILTER (tag = 'BASE_TABLE'), 0)::BIGINT
    FROM duckdb_memory()
"""


class Checkpoints:
    """Of a file that the store has opened; a connection of the user's is left as it is."""

    def __init__(self, opened: Opened) -> None:
        self._con = opened.con
        self._ours = opened.path is not None and not opened.borrowed
        self._commits = 0
        if self._ours:
            # asked for once: DuckDB tells a little less each time that it is set
            self._limit = str(self._con.sql("SELECT current_setting('memory_limit')").fetchall()[0][0])
            for name, value in _SETTINGS.items():
                self._tried(f"SET {name} = {value}")

    def after_commit(self) -> None:
        """Let go of what lies in the file, now and then. Never fails."""
        self._commits += 1
        if not self._ours or self._commits % _EVERY:
            return
        held, base = self._con.execute(_HELD).fetchall()[0]
        if base > _KEPT:
            self._tried(f"SET memory_limit = '{held - base // 2}B'")
            self._tried(f"SET memory_limit = {literal(self._limit)}")

    def close(self) -> None:
        """Empty the log and give the settings back: another connection of this process may go on."""
        if not self._ours:
            return
        if self._commits <= _FEW:
            self._tried("SET max_vacuum_tasks = 1")
        self._tried("CHECKPOINT")
        for name in _SETTINGS:
            self._tried(f"RESET {name}")

    def _tried(self, statement: str) -> None:
        import duckdb

        with contextlib.suppress(duckdb.Error):
            self._con.execute(statement)
