"""What `into=` means: a table of the store, a table of another DuckDB file, a Parquet file or folder.

Pure. Knows nothing of how any of them is written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from extract.errors import ConfigError

_OTHER = re.compile(r"(?s)^(?P<file>.+\.(?:duckdb|ddb|db)):(?P<table>.+)$")


@dataclass(frozen=True, slots=True)
class DuckTable:
    """A table. file: another database file, or None for the store's own. schema: None for the default."""

    folds_case: ClassVar[bool] = True
    table: str
    file: Path | None = None
    schema: str | None = None


@dataclass(frozen=True, slots=True)
class ParquetFile:
    """One Parquet file, replaced as a whole when the run ends."""

    path: Path


@dataclass(frozen=True, slots=True)
class ParquetFolder:
    """A folder of Parquet files, replaced as a whole when the run ends."""

    path: Path


Target = DuckTable | ParquetFile | ParquetFolder


def beside(target: Target, suffix: str) -> Target:
    """The target of a table that goes with another: its name with a suffix."""
    if isinstance(target, DuckTable):
        return replace(target, table=f"{target.table}_{suffix}")
    path = target.path
    return replace(target, path=path.with_name(f"{path.stem}_{suffix}{path.suffix}"))


def parse_into(into: str | Path | Target | None) -> Target | None:
    """Read `into=`.

    `"invoices"` is a table of the store, taken as one name whatever characters it has;
    `"other.duckdb:invoices"` a table of another DuckDB file (endings .duckdb, .ddb, .db);
    `"out.parquet"` a Parquet file; `"out/"` (or an existing folder given as a Path) a Parquet folder.
    A `DuckTable` says schema and file apart. Raises ConfigError for an empty name.
    """
    if into is None or isinstance(into, DuckTable | ParquetFile | ParquetFolder):
        return into
    text = str(into)
    if not text.strip():
        raise ConfigError("into= is empty: give a table name, a .parquet file, a folder ending in /, or None")
    if text.lower().endswith((".parquet", ".pq")):
        return ParquetFile(Path(text))
    if text.endswith(("/", "\\")) or (isinstance(into, Path) and into.is_dir()):
        return ParquetFolder(Path(text))
    if isinstance(into, Path):
        raise ConfigError(f"into={text!r}: a path ends in .parquet, or in / for a folder of Parquet files")
    other = _OTHER.match(text)
    return DuckTable(other["table"], Path(other["file"])) if other else DuckTable(text)
