"""`extract run`."""

from __future__ import annotations

from collections.abc import Sequence

from extract.cli.ending import show_run
from extract.cli.pipelines import PipelineFile
from extract.cli.service import Service


def command(
    *,
    target: str,
    source: str | None,
    key: Sequence[str] | None,
    store: str | None,
    into: str | None,
    limit: int | None,
    budget: str | None,
    base_url: str | None,
    offline: bool,
    knobs: str | None,
    as_json: bool,
) -> int:
    """Run a pipeline over its rows and show what came of it."""
    file = PipelineFile.load(target)
    rows = file.rows(source)
    service = Service(base_url, offline, knobs, budget)
    with service.ready(file.pipeline) as pipeline:
        run = pipeline.run(
            rows,
            key=list(key) if key else file.key,
            store=store or file.store,
            into=into or file.into,
            limit=limit,
        )
        return show_run(run, into or file.into, as_json=as_json)
