"""`extract report`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from extract.cli.stores import open_store
from extract.cli.text import as_json as to_json
from extract.cli.text import table
from extract.show import Figures, compare_page, figures_of, report_page
from extract.show.numbers import count, money, percent, seconds
from extract.show.report_page import sentence

COLUMNS = ["run", "job", "state", "rows", "accepted", "dead_letters", "pending", "requests", "cost_usd"]


def command(*, store: Path, run: str | None, html: Path | None, compare: Path | None, as_json: bool) -> int:
    """What one run did: a page, or its figures in the terminal."""
    figures = _figures(store, run)
    other = _figures(compare, None) if compare else None
    if html is not None:
        html.write_text(compare_page(figures, other) if other else report_page(figures), "utf-8")
    if as_json:
        typer.echo(to_json({"store": str(store), **_told(figures), "html": html and str(html)}))
        return 0
    _show(figures)
    if other:
        typer.echo("")
        _show(other)
    if html is not None:
        typer.echo(f"\nwritten to {html}")
    return 0


def _figures(store: Path, run: str | None) -> Figures:
    with open_store(store) as opened:
        return figures_of(opened, run)


def _told(figures: Figures) -> dict[str, Any]:
    return {
        "run": figures.run["run_id"],
        "job": figures.run["job"],
        "state": figures.run["state"],
        "counts": figures.counts,
        "latency_seconds": figures.latencies,
        "faults": dict(figures.faults),
        "reasks_by_field": dict(figures.asked_again),
        "evidence": {name: dict(found) for name, found in figures.evidence.items()},
    }


def _show(figures: Figures) -> None:
    typer.echo(f"{figures.run['job']}, run {figures.run['run_id']}: {sentence(figures)}")
    hits = (figures.counts.get("cache") or {}).get("hit_ratio")
    rows = [
        ("requests", ", ".join(f"{count(number)} {kind}" for kind, number, _ in figures.kinds) or "none"),
        ("cost", "unknown: no prices given" if figures.cost is None else money(figures.cost)),
        ("cache hits", percent(hits)),
        ("latency", ", ".join(f"{name} {seconds(value)}" for name, value in figures.latencies.items())),
        ("time", seconds(figures.seconds)),
        ("faults", ", ".join(f"{count(number)} {kind}" for kind, number in figures.faults)),
        ("re-asked", ", ".join(f"{name} {count(number)}" for name, number in figures.asked_again[:6])),
    ]
    for label, said in rows:
        if said:
            typer.echo(f"{label:<13} {said}")
    if len(figures.others) > 1:
        typer.echo(
            f"\nruns of this store, newest first\n{table([_run(one) for one in figures.others], COLUMNS)}"
        )


def _run(run: dict[str, Any]) -> dict[str, Any]:
    counts = json.loads(run["counts"] or "{}")
    return {"run": run["run_id"], **{name: run[name] for name in ("job", "state")}, **counts}
