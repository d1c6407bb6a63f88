"""`extract redrive`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from extract.cli.ending import show_run
from extract.cli.inputs import read_input
from extract.cli.pipelines import PipelineFile
from extract.cli.service import Service
from extract.cli.stores import existing


def command(
    *,
    target: str,
    store: str | None,
    where: str | None,
    into: str | None,
    source: str | None,
    changes: dict[str, Any],
    budget: str | None,
    prices: str | None,
    base_url: str | None,
    offline: bool,
    knobs: str | None,
    as_json: bool,
) -> int:
    """Run open dead letters again, with what was changed."""
    file = PipelineFile.load(target)
    kept = existing(Path(store or file.store))
    service = Service(base_url, offline, knobs, budget, prices)
    with service.ready(file.pipeline) as pipeline:
        run = pipeline.redrive(
            kept,
            where=where,
            into=into or file.into,
            frame=read_input(source) if source else None,
            **{name: value for name, value in changes.items() if value is not None},
        )
        return show_run(run, into or file.into, as_json=as_json)
