"""Frames of a run or a store → lines on standard output."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

from extract.cli.text import cell, plural, table

if TYPE_CHECKING:
    import polars as pl

SHOWN = 20  # rows of a table on a screen; the store has them all
TOLD = 6  # findings of one dead letter in a list


def show_frame(frame: pl.DataFrame, columns: Sequence[str]) -> None:
    """The first rows of a frame, and how many more there are."""
    rows = [dict(row) for row in frame.head(SHOWN).to_dicts()]
    folder = ""
    for column in columns:
        folder = shared_folder([row[column] for row in rows])
        if folder:
            rows = [{**row, column: row[column].removeprefix(folder)} for row in rows]
            break
    typer.echo(table(rows, columns, keep=columns[:1]))
    if folder:
        typer.echo(f"(paths start with {folder})")
    _more(frame)


def show_dead_letters(frame: pl.DataFrame) -> None:
    """Dead letters, each with its reason in words."""
    rows = frame.head(SHOWN).to_dicts()
    for row in rows:
        typer.echo(f"  {cell(row['key'])}: {row['reason']}")
        told = reasons(row)
        for line in told[:TOLD]:
            typer.echo(f"      {line}")
        if len(told) > TOLD:
            typer.echo(f"      and {plural(len(told) - TOLD, 'more finding')}")
    _more(frame)


def _more(frame: pl.DataFrame) -> None:
    if frame.height > SHOWN:
        typer.echo(f"… and {frame.height - SHOWN:,} more")


def shared_folder(values: Sequence[Any]) -> str:
    """The folder that all of several paths start with, as `data/invoices/`, or nothing."""
    if len(values) < 2 or not all(isinstance(value, str) and "/" in value for value in values):
        return ""
    first, last = min(values), max(values)
    same = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return str(first[: first.rfind("/", 0, same) + 1])


def findings(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The findings of a dead letter."""
    kept = row.get("findings")
    return list(json.loads(kept)) if isinstance(kept, str) else list(kept or [])


def reasons(row: Mapping[str, Any]) -> list[str]:
    """Why a row is a dead letter: what was wrong with the answer, or with an input that was never sent."""
    found = findings(row)
    if row.get("attempts"):
        return sentences(found)
    return [str(cell(finding.get("found") or finding.get("expected"))) for finding in found]


def sentences(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Findings as a person reads them; all that is null where a value is required in one line."""
    nulls = [_place(finding) for finding in found if finding.get("found") == "null"]
    others = [_sentence(finding) for finding in found if finding.get("found") != "null"]
    return ([f"null, but required: {', '.join(nulls)}"] if nulls else []) + others


def _sentence(finding: Mapping[str, Any]) -> str:
    place, expected, found = _place(finding), finding.get("expected"), cell(finding.get("found") or None)
    if not expected:
        return f"{place}: {found}"
    return f"{place}: expected {expected}" + (f", found {found}" if finding.get("found") else "")


def _place(finding: Mapping[str, Any]) -> str:
    return str(finding.get("path") or "").removeprefix("/").replace("/", ".") or "the answer"
