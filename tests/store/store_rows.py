"""Rows for the tests of the store, with as little said as possible."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from extract.protocol.usage import Usage
from extract.store import AnswerRow, Batch, CallRow, DeadRow, RowRow, RunStart, Store

JOB, RUN = "letters", "run-1"
PAID = Usage(input=10, cache_write_5m=0, cache_write_1h=0, cache_read=90, output=20, thinking=5)


def started(run_id: str = RUN, job: str = JOB, at: float = 1_000.0, **more: Any) -> RunStart:
    return RunStart(run_id, job, at, **more)


def answer(key: str, text: str = '{"n":1}', **more: Any) -> AnswerRow:
    return AnswerRow(f"print-{key}", text, run_id=RUN, usage=PAID, cost=Decimal("0.0021"), **more)


def row(key: str, place: int = 0, state: Any = "accepted", run_id: str = RUN, **more: Any) -> RowRow:
    return RowRow(JOB, key, place, f"print-{key}", state, run_id, **more)


def call(key: str, number: int = 1, **more: Any) -> CallRow:
    given = {"usage": PAID, "cost": Decimal("0.0021"), "started_at": 1_000.0 + number, "status": 200, **more}
    return CallRow(f"{key}-{number}", RUN, key, f"print-{key}", number, "first", **given)


def dead(key: str, **more: Any) -> DeadRow:
    given = {
        "findings": [
            {"stage": "value", "path": "/n", "wire_path": "/n", "found": "x", "expected": "a number"}
        ],
        "input": {"id": key, "text": "Dear Sir"},
        "request": {"turns": [{"role": "user", "content": "Dear Sir"}]},
        "raw_reply": '{"n":"x"}',
        "attempts": 3,
        "usage": PAID,
        "cost": Decimal("0.5"),
        "first_at": 1_000.0,
        "last_at": 1_010.0,
        **more,
    }
    return DeadRow(JOB, key, more.pop("run_id", RUN), f"print-{key}", given.pop("reason", "invalid"), **given)


def accepted(*keys: str) -> Batch:
    return Batch(
        calls=[call(key) for key in keys],
        answers=[answer(key) for key in keys],
        rows=[row(key, place) for place, key in enumerate(keys)],
    )


def commit(store: Store, **parts: Any) -> None:
    """Commits a batch of these parts and waits until it is durable."""
    store.commit(Batch(**parts)).result()
