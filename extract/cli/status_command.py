"""`extract status`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from extract.cli.stores import existing, open_store
from extract.cli.text import as_json as to_json
from extract.cli.text import cell, plural, table
from extract.errors import StoreLockedError
from extract.store import Totals, read_status


def command(*, store: Path, as_json: bool) -> int:
    """What a store holds; while a run writes to it, what that run last said of itself."""
    live = read_status(store)
    try:
        found = _held(store)
    except StoreLockedError:
        if live is None:
            raise
        found = {"store": str(store), "writing": live}
    if as_json:
        typer.echo(to_json(found))
    elif "writing" in found:
        _show_live(found["writing"], store)
    else:
        _show(found)
    return 0


def _held(path: Path) -> dict[str, Any]:
    with open_store(existing(path)) as store:
        jobs = [str(job) for job in store.jobs()["job"]]
        totals = {job: _by_name(store.totals(job)) for job in jobs}
        runs = store.runs().tail(5).select("run_id", "job", "started_at", "finished_at", "model", "into")
        return {"store": str(path), "jobs": totals, "last_runs": runs.to_dicts()}


def _by_name(totals: Totals) -> dict[str, Any]:
    return {**asdict(totals), "usage": totals.usage.as_dict()}


def _show_live(live: dict[str, Any], store: Path) -> None:
    told = "a run writes to it" if live.get("alive") else "in use; the last run that told of itself said"
    typer.echo(f"{store}: {told}")
    for name, value in live.items():
        if name != "alive":
            typer.echo(f"{name:<14}{cell(value)}")


def _show(found: dict[str, Any]) -> None:
    typer.echo(f"{found['store']}: {plural(len(found['jobs']), 'job')}")
    columns = ["job", "accepted", "dead", "pending", "requests", "answers", "runs", "cost_usd"]
    rows = [
        {**totals, "job": job, "requests": totals["calls"], "cost_usd": totals["cost"]}
        for job, totals in found["jobs"].items()
    ]
    typer.echo(table(rows, columns))
    typer.echo("\nlast runs")
    typer.echo(table(found["last_runs"], ["started_at", "job", "model", "into", "run_id"]))
