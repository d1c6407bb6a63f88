"""The DuckDB store: answers, dead letters, calls, runs, and the output tables beside them."""

from __future__ import annotations

from extract.store.rows import (
    AnswerRow,
    Batch,
    CallRow,
    DeadRow,
    Keep,
    KeptRow,
    LabelRow,
    OutputRows,
    RowRow,
    RunEnd,
    RunStart,
    Sink,
    Totals,
    Unchanged,
)
from extract.store.status import read_status, status_path, write_status
from extract.store.store import Store

__all__ = [
    "AnswerRow",
    "Batch",
    "CallRow",
    "DeadRow",
    "Keep",
    "KeptRow",
    "LabelRow",
    "OutputRows",
    "RowRow",
    "RunEnd",
    "RunStart",
    "Sink",
    "Store",
    "Totals",
    "Unchanged",
    "read_status",
    "status_path",
    "write_status",
]
