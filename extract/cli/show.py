"""Frames of a run or a store → lines on standard output."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from extract.cli.text import plural, table

if TYPE_CHECKING:
    import polars as pl

SHOWN = 20  # rows of a table on a screen; the store has them all
TOLD = 2  # findings on one line


def show_frame(frame: pl.DataFrame, columns: Sequence[str]) -> None:
    """The first rows of a frame, and how many more there are."""
    typer.echo(table(frame.head(SHOWN).to_dicts(), columns))
    if frame.height > SHOWN:
        typer.echo(f"… and {frame.height - SHOWN:,} more")


def show_dead_letters(frame: pl.DataFrame) -> None:
    """Dead letters, each with its reason in words."""
    lines = [
        {"key": row["key"], "reason": row["reason"], "why": why(row)} for row in frame.head(SHOWN).to_dicts()
    ]
    typer.echo(table(lines, ["key", "reason", "why"], widest=100))
    if frame.height > SHOWN:
        typer.echo(f"… and {frame.height - SHOWN:,} more")


def why(row: Mapping[str, Any]) -> str:
    """What was wrong with the last reply to a row, in one line."""
    found = findings(row)
    told = "; ".join(sentence(finding) for finding in found[:TOLD])
    return told + (f"; and {plural(len(found) - TOLD, 'more finding')}" if len(found) > TOLD else "")


def findings(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The findings of a dead letter."""
    kept = row.get("findings")
    return list(json.loads(kept)) if isinstance(kept, str) else list(kept or [])


def sentence(finding: Mapping[str, Any]) -> str:
    """One finding, as `total: null is not a decimal number`."""
    place = str(finding.get("path") or "").removeprefix("/").replace("/", ".")
    found = f", found {finding['found']}" if finding.get("found") else ""
    if not finding.get("expected"):
        return f"{place}: {finding.get('found', '')}" if place else str(finding.get("found", ""))
    return f"{place or 'the answer'}: expected {finding['expected']}{found}"
