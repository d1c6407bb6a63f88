"""What a worker hands back for a block: one row a row, whatever became of it.

Knows tables and outcomes, and no Ray.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from extract.outcome import Accepted, DeadLetter, Outcome
from extract.pipeline import Pipeline
from extract.tables import Layout, RowSource, evidence_column
from extract.tables.keys import key_of
from extract.tables.own import EVIDENCE, evidence_of

if TYPE_CHECKING:
    import polars as pl

OUTCOME, REASON = "_outcome", "_reason"
REPEATED = "another block has a row with this key; give key= columns that tell all rows apart"


def block_frame(
    pipeline: Pipeline,
    frame: pl.DataFrame,
    key: Sequence[str],
    source: RowSource | None,
    outcomes: Mapping[str, Outcome],
    stopped: str | None,
    *,
    repeated: Collection[str] = (),
) -> pl.DataFrame:
    """Key, model columns, `_outcome` and `_reason`, in the order of the input.

    source: the rows of the block; None where their keys cannot be told apart: then all are pending.
    stopped: why rows without an outcome have none. repeated: keys that another block has.
    """
    import polars as pl

    layout = _layout(pipeline, frame, key)
    keys = [row.key for batch in source for row in batch] if source is not None else []
    accepted = _accepted(pipeline, layout, keys, outcomes)
    rest = frame.select(key).with_row_index("#").with_columns(pl.col("#").cast(pl.Int64))
    if source is not None:
        told = [_told(outcomes.get(one), REPEATED if one in repeated else stopped) for one in keys]
        rest = rest.with_columns(
            pl.Series(OUTCOME, [outcome for outcome, _ in told], dtype=pl.String),
            pl.Series(REASON, [reason for _, reason in told], dtype=pl.String),
        ).filter(pl.col(OUTCOME) != "accepted")
    else:
        rest = rest.with_columns(pl.lit("pending").alias(OUTCOME), pl.lit(stopped, pl.String).alias(REASON))
    whole = pl.concat([accepted, rest], how="diagonal").sort("#", maintain_order=True)
    plain = pipeline.columns.to_duckdb(whole.drop("#"))
    return plain.select(*layout.names, OUTCOME, REASON)


def _layout(pipeline: Pipeline, frame: pl.DataFrame, key: Sequence[str]) -> Layout:
    extra = (evidence_column(),) if pipeline.judge.wants_evidence else ()
    return Layout(key_of(key, frame.schema), pipeline.columns, pipeline.compiled.many, extra)


def _accepted(
    pipeline: Pipeline, layout: Layout, keys: Sequence[str], outcomes: Mapping[str, Outcome]
) -> pl.DataFrame:
    import polars as pl

    made: list[tuple[int, str, int, dict[str, Any], Any]] = []
    for place, key in enumerate(keys):
        outcome = outcomes.get(key)
        if isinstance(outcome, Accepted):
            evidence = evidence_of(outcome.evidence)
            rows = pipeline.columns.rows(outcome.value)
            made.extend((place, key, item, row, evidence) for item, row in enumerate(rows))
    extra = {EVIDENCE: [one[4] for one in made]} if layout.extra else {}
    table = layout.frame([one[1] for one in made], [one[2] for one in made], [one[3] for one in made], extra)
    return table.with_columns(
        pl.Series("#", [one[0] for one in made], dtype=pl.Int64),
        pl.lit("accepted").alias(OUTCOME),
        pl.lit(None, pl.String).alias(REASON),
    )


def _told(outcome: Outcome | None, stopped: str | None) -> tuple[str, str | None]:
    if isinstance(outcome, Accepted):
        return "accepted", None
    if isinstance(outcome, DeadLetter):
        return "dead", outcome.reason
    return "pending", stopped
