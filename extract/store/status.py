"""The small JSON file beside the store that can be read while a run writes.

DuckDB lets no other process read a file that is being written; `extract status` reads this one. It is
replaced as a whole, so a reader never sees half of it. Knows nothing of what the numbers mean.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def status_path(store: str | Path) -> Path:
    """Where the status of a store lies: `<store>.status.json`."""
    path = Path(store)
    return path.with_name(path.name + ".status.json")


def write_status(store: str | Path, values: Mapping[str, Any]) -> None:
    """Replace the status of a store. Adds the PID of this process.

    Raises OSError when the folder cannot be written.
    """
    path = status_path(store)
    draft = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    text = json.dumps({"pid": os.getpid(), **values}, ensure_ascii=True, default=str, indent=1)
    try:
        draft.write_text(text + "\n", encoding="utf-8")
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
        raise


def read_status(store: str | Path) -> dict[str, Any] | None:
    """The last status of a store, or None where there is none that can be read.

    `alive` tells whether the process that wrote it still runs on this machine.
    """
    try:
        values = json.loads(status_path(store).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(values, dict):
        return None
    return {**values, "alive": _alive(values.get("pid"))}


def _alive(pid: Any) -> bool:
    if not isinstance(pid, int) or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
