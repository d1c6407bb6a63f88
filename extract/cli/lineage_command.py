"""`extract lineage`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from extract.cli.show import reasons
from extract.cli.stores import open_store
from extract.cli.text import as_json as to_json
from extract.cli.text import cell, table
from extract.errors import ConfigError

CALL_COLUMNS = ["started_at", "kind", "status", "stop_reason", "fault", "latency", "cost", "request_id"]
SPAN_COLUMNS = ["path", "status", "method", "page", "quote"]


def command(*, store: Path, key: str, as_json: bool) -> int:
    """All that a store knows of one row, in every job that has it."""
    with open_store(store) as opened:
        jobs = [str(job) for job in opened.jobs()["job"]]
        frames = {job: opened.lineage(job, key) for job in jobs}
    found = {
        job: {name: frame.to_dicts() for name, frame in parts.items()}
        for job, parts in frames.items()
        if not parts["row"].is_empty()
    }
    if not found:
        raise ConfigError(f"{store} has no row {key!r}")
    if as_json:
        typer.echo(to_json({"store": str(store), "key": key, "jobs": found}))
        return 0
    for job, parts in found.items():
        _show(job, key, parts)
    return 0


def _show(job: str, key: str, parts: dict[str, list[dict[str, Any]]]) -> None:
    row = parts["row"][0]
    reused = ", answered earlier" if row.get("reused") else ""
    typer.echo(f"{cell(key)} in {job}: {row['state']}{reused}, last seen by run {row['run_id']}")
    if parts["calls"]:
        typer.echo(f"\nrequests\n{table(parts['calls'], CALL_COLUMNS)}")
    for entry in parts["answer"]:
        typer.echo(f"\nanswer of {cell(entry['finished_at'])} by {entry['model']}, {entry['request_id']}")
        typer.echo(_pretty(entry["answer"]))
        if spans := json.loads(entry.get("evidence") or "[]"):
            typer.echo(f"\nfound in the document\n{table(spans, SPAN_COLUMNS)}")
    for entry in parts["dead_letter"]:
        typer.echo(f"\ndead letter: {entry['reason']} ({entry['status']}), {entry['attempts']} requests")
        for line in reasons(entry):
            typer.echo(f"  - {line}")


def _pretty(answer: str) -> str:
    return json.dumps(json.loads(answer), indent=1, ensure_ascii=False)
