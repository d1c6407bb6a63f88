"""Columns of an output table that are ours: where values stand in the source.

Knows their types and what fills them; nothing of where the table lies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from extract.tables import Extra

if TYPE_CHECKING:
    import polars as pl

EVIDENCE = "_evidence"
_STORED = (
    'STRUCT("path" VARCHAR, "status" VARCHAR, "start" BIGINT, "end" BIGINT, "page" BIGINT, '
    '"quote" VARCHAR, "box" DOUBLE[])[]'
)


def evidence_dtype() -> pl.DataType:
    """A list with one entry a value: path, status, place and quote; box in points, or null."""
    import polars as pl

    place = pl.Int64()
    return pl.List(
        pl.Struct(
            {
                "path": pl.String(),
                "status": pl.String(),
                "start": place,
                "end": place,
                "page": place,
                "quote": pl.String(),
                "box": pl.List(pl.Float64()),
            }
        )
    )


def evidence_column() -> Extra:
    """`_evidence`: filled from the outcome of a row."""
    return Extra(EVIDENCE, evidence_dtype(), _STORED, _evidence_of)


def _evidence_of(entry: Any, index: int) -> list[dict[str, Any]]:
    """The evidence of one outcome; each item of a list keeps that of the whole row."""
    return list(entry.outcome.evidence)
