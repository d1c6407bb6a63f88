"""Opens a store that is there, to look at it. Never makes one."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path

from extract.errors import StoreError
from extract.store import Store


def existing(path: Path) -> Path:
    """The path of a store that exists. Raises StoreError, with the stores that are beside it."""
    if path.is_file():
        return path
    beside = sorted(str(one) for one in path.parent.glob("*.duckdb")) if path.parent.is_dir() else []
    close = get_close_matches(str(path), beside, n=1)
    hint = f"; did you mean {close[0]}?" if close else f"; there are {', '.join(beside)}" if beside else ""
    raise StoreError(f"there is no store {path}{hint}")


def open_store(path: Path) -> Store:
    """An existing store, opened. Raises StoreError; StoreLockedError while a run writes to it."""
    return Store.open(existing(path))
