"""`extract show`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import typer

from extract.cli.pipelines import PipelineFile
from extract.cli.stores import open_store
from extract.cli.text import as_json as to_json
from extract.errors import ConfigError
from extract.show import rows_page, shown_rows
from extract.store import Store
from extract.texts import SourceTexts, model_value


def command(
    *,
    store: Path,
    key: str,
    html: Path,
    job: str | None,
    pipeline: str | None,
    source: str | None,
    as_json: bool,
) -> int:
    """One row beside its source, and the rows around it, as a page."""
    file = PipelineFile.load(pipeline) if pipeline else None
    options: dict[str, Any] = {}
    if file is not None:
        texts = SourceTexts(file.pipeline.rendering, file.rows(source), file.key)
        options = {
            "texts": texts,
            "images": texts.images,
            "value": model_value(file.pipeline.compiled),
        }
    with open_store(store) as opened:
        chosen = _job(opened, key, job)
        rows, at = shown_rows(opened, chosen, key=key, **options)
    html.write_text(rows_page(rows, title=chosen, first=at), "utf-8")
    if as_json:
        typer.echo(to_json({"store": str(store), "job": chosen, "key": rows[at].key, "html": str(html)}))
    else:
        typer.echo(f"{rows[at].key} and {len(rows) - 1} rows around it: written to {html}")
    return 0


def _job(store: Store, key: str, job: str | None) -> str:
    jobs: Sequence[str] = [str(one) for one in store.jobs()["job"]]
    if job is not None:
        if job not in jobs:
            raise ConfigError(f"{store.name} has no job {job!r}; it has {', '.join(jobs)}")
        return job
    has: Callable[[str], bool] = lambda one: any(  # noqa: E731
        known == key or known.endswith(f"/{key}") for known in store.rows(one)["key"]
    )
    found = [one for one in jobs if has(one)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise ConfigError(f"{store.name} has no row {key!r}")
    raise ConfigError(f"{key!r} is a row of several jobs, name one with --job: {', '.join(found)}")
