"""`extract run`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from extract.budget import Budget
from extract.cli.inputs import read_input
from extract.cli.load import Loaded, load
from extract.cli.show import show_dead_letters, show_frame
from extract.cli.text import as_json as to_json
from extract.cli.text import plural, program
from extract.client import Client
from extract.errors import ConfigError
from extract.pipeline import DEFAULT_STORE, Pipeline
from extract.testing.endpoint import WHAT_IT_IS, Knobs, LocalEndpoint

if TYPE_CHECKING:
    from extract.run import Run


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
    """Run a pipeline and show what came of it."""
    loaded = load(target, wanted="Pipeline", accepts=lambda value: isinstance(value, Pipeline))
    settings = Settings(loaded)
    pipeline: Pipeline = loaded.value
    if budget is not None:
        pipeline = pipeline.using(budget=Budget(usd=_dollars(budget)))
    rows = settings.rows(source)
    with _service(pipeline, base_url, knobs, offline=offline) as ready:
        run = ready.run(
            rows,
            key=list(key) if key else settings.key,
            store=store or settings.store,
            into=into or settings.into,
            limit=limit,
        )
    if as_json:
        typer.echo(to_json(run.report.as_dict() | {"exit_status": run.report.exit_status}))
    else:
        _show(run, into or settings.into)
    return run.report.exit_status


class Settings:
    """What a pipeline file says about its input and output: INPUT, KEY, STORE and INTO, all optional."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self.key: str | list[str] | None = self._get("KEY")
        self.store: str = self._get("STORE") or DEFAULT_STORE
        self.into: str | None = self._get("INTO")

    def rows(self, source: str | None) -> Any:
        """The rows to run over: those of `--input`, otherwise the file's own INPUT.

        Raises ConfigError when neither says what to read.
        """
        if source is not None:
            return read_input(source)
        own = self._get("INPUT")
        if own is None:
            raise ConfigError("nothing to read: give --input, or write INPUT = … beside the pipeline")
        if isinstance(own, str | Path):
            return read_input(str(own), folder=self._loaded.folder)
        return own() if callable(own) else own

    def _get(self, name: str) -> Any:
        return getattr(self._loaded.module, name, None)


@contextlib.contextmanager
def _service(
    pipeline: Pipeline, base_url: str | None, knobs: str | None, *, offline: bool
) -> Iterator[Pipeline]:
    """The pipeline with the service that the command line asks for."""
    if not offline:
        if knobs is not None:
            raise ConfigError("--endpoint turns the knobs of the local endpoint: give --offline too")
        yield _elsewhere(pipeline, base_url) if base_url else pipeline
        return
    if base_url is not None:
        raise ConfigError("--offline answers from this machine: leave out --base-url")
    parsed = Knobs.parse(knobs)
    with LocalEndpoint(parsed) as endpoint:
        typer.echo(f"extract: offline, {endpoint.base_url} is {WHAT_IT_IS}", err=True)
        yield pipeline.using(client=Client(endpoint.base_url, api_key=endpoint.api_key, wire=pipeline.wire))


def _elsewhere(pipeline: Pipeline, base_url: str) -> Pipeline:
    if pipeline.client is None:
        return pipeline.using(client=Client(base_url))
    return pipeline.using(client=replace(pipeline.client, base_url=base_url, fallback_url=None))


def _dollars(text: str) -> Decimal:
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount < 0:
        raise ConfigError(f"--budget {text}: an amount in dollars, as 2.50")
    return amount


def _show(run: Run, into: str | None) -> None:
    place = f", table {into}" if into else ""
    if not run.accepted.is_empty():
        typer.echo(f"\n{plural(run.accepted.height, 'row')} accepted{place}")
        show_frame(run.accepted, [name for name in run.accepted.columns if not name.startswith("_")])
    if not run.dead_letters.is_empty():
        typer.echo(f"\n{plural(run.dead_letters.height, 'dead letter')}")
        show_dead_letters(run.dead_letters)
    typer.echo(f"\n{run.report}")
    if advice := _next(run, into):
        typer.echo(f"next          {advice}")


def _next(run: Run, into: str | None) -> str:
    """The next command to type."""
    report, store = run.report, _near(run.report.store)
    if report.stopped is not None or report.pending:
        return "the same command again: it goes on with the pending rows and pays for nothing twice"
    if report.dead_letters:
        return f"{program()} dead-letters {store} --show KEY"
    return f"{program()} status {store}" if into is None else f"duckdb {store} 'FROM {into}'"


def _near(store: str) -> str:
    path = Path(store)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else store
