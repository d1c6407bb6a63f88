"""`extract plan`."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from extract.cli.pipelines import PipelineFile
from extract.cli.service import Service
from extract.cli.text import as_json as to_json


def command(
    *,
    target: str,
    source: str | None,
    key: Sequence[str] | None,
    store: str | None,
    limit: int | None,
    pilot: int,
    budget: str | None,
    prices: str | None,
    base_url: str | None,
    offline: bool,
    knobs: str | None,
    as_json: bool,
) -> int:
    """Run and pay for a small sample, and show what the whole would take."""
    file = PipelineFile.load(target)
    rows = file.rows(source)
    service = Service(base_url, offline, knobs, budget, prices)
    with service.ready(file.pipeline) as pipeline:
        plan = pipeline.plan(
            rows, key=list(key) if key else file.key, store=store or file.store, limit=limit, pilot=pilot
        )
    status = 4 if plan.pilot.exit_status == 4 else 0  # dead letters in a pilot are what it is there to find
    if as_json:
        typer.echo(to_json(plan.as_dict() | {"exit_status": status}))
        return status
    typer.echo(str(plan))
    if plan.pilot.stopped is not None:
        typer.echo(f"stopped       the pilot: {plan.pilot.stopped}")
    else:
        typer.echo("next          run with the same options: what the pilot answered is not paid again")
    return status
