"""`extract run`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from extract.cli.confirm import confirmed
from extract.cli.ending import show_run
from extract.cli.pipelines import PipelineFile
from extract.cli.service import Service, dollars


def command(
    *,
    target: str,
    source: str | None,
    key: Sequence[str] | None,
    store: str | None,
    into: str | None,
    limit: int | None,
    budget: str | None,
    confirm_above: str | None,
    prices: str | None,
    base_url: str | None,
    offline: bool,
    knobs: str | None,
    as_json: bool,
) -> int:
    """Run a pipeline over its rows and show what came of it."""
    file = PipelineFile.load(target)
    rows = file.rows(source)
    service = Service(base_url, offline, knobs, budget, prices)
    above = None if confirm_above is None else dollars(confirm_above, "--confirm-above")
    where: dict[str, Any] = {
        "key": list(key) if key else file.key,
        "store": store or file.store,
        "limit": limit,
    }
    with service.ready(file.pipeline) as pipeline:
        if above is not None:
            allowed = confirmed(pipeline, rows, above=above, as_json=as_json, **where)
            if allowed is None:
                return 4
            pipeline = allowed
        run = pipeline.run(rows, into=into or file.into, **where)
        return show_run(run, into or file.into, as_json=as_json)
