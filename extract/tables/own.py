"""Columns of our own in an output table: evidence, and where a row came from.

Knows the shape of what the engine hands over (an entry with `outcome` and `item`), not how it was made.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from extract.store.sql import clean, quote
from extract.tables.layout import Extra

_FIELDS = {
    "path": "VARCHAR",
    "status": "VARCHAR",
    "start": "BIGINT",
    "end": "BIGINT",
    "page": "BIGINT",
    "quote": "VARCHAR",
    "box": "DOUBLE[]",
}
EVIDENCE = "_evidence"


def evidence_column(*, private: Sequence[str] = ()) -> Extra:
    """The column `_evidence`: structs that tell where each value stands in the source.

    private: with any private column the words of the source are left out.
    """
    import polars as pl

    plain: dict[str, Any] = {"VARCHAR": pl.String, "BIGINT": pl.Int64, "DOUBLE[]": pl.List(pl.Float64)}
    struct = pl.Struct({name: plain[kind] for name, kind in _FIELDS.items()})
    stored = ", ".join(f"{quote(name)} {kind}" for name, kind in _FIELDS.items())

    def value(entry: Any, index: int) -> list[dict[str, Any]]:
        spans = evidence_of(getattr(entry.outcome, "evidence", ()))
        return [{**span, "quote": None} for span in spans] if private else spans

    return Extra(EVIDENCE, pl.List(struct), f"STRUCT({stored})[]", value)


def evidence_of(evidence: str | Sequence[Mapping[str, Any]] | None) -> list[dict[str, Any]]:
    """Evidence as the column takes it, from the judge's dicts or from their JSON in the store."""
    spans = json.loads(evidence) if isinstance(evidence, str) else evidence or ()
    return [{name: _fit(span.get(name)) for name in _FIELDS} for span in spans]


def _fit(value: Any) -> Any:
    if isinstance(value, str):
        return clean(value)
    return [float(side) for side in value] if isinstance(value, list | tuple) else value


def provenance_columns(*, run_id: str, model: str, now: Callable[[], float]) -> tuple[Extra, ...]:
    """Where a row came from: `_run_id, _answer_id, _model, _finished_at, _request_id`.

    run_id: the run that wrote the row. model: the model asked. now: seconds since the epoch. The answer id
    is the fingerprint that joins `extract.answers`, where the run is that paid for it.
    """
    import polars as pl

    def finished(entry: Any, index: int) -> datetime:
        return datetime.fromtimestamp(now(), UTC)

    return (
        Extra("_run_id", pl.String(), "VARCHAR", lambda entry, index: run_id),
        Extra("_answer_id", pl.String(), "VARCHAR", lambda entry, index: entry.item.fingerprint),
        Extra("_model", pl.String(), "VARCHAR", lambda entry, index: model),
        Extra("_finished_at", pl.Datetime("us", "UTC"), "TIMESTAMP WITH TIME ZONE", finished),
        Extra(
            "_request_id",
            pl.String(),
            "VARCHAR",
            lambda entry, index: _fit(getattr(entry.outcome, "request_id", None)),
        ),
    )
