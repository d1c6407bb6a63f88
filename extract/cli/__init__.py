"""The command line: `extract`, or `python -m extract`.

What each command takes stands here; what it does stands in a module of its own, imported when the
command is called, so that `--help` needs no table library.

Exit status: 0 every row accepted; 1 configuration wrong, nothing sent; 2 wrong use; 3 finished, some
dead letters; 4 stopped with rows pending; 5 a fault of ours; 130 a second Ctrl-C.
"""

from __future__ import annotations

import importlib
import json
import sys
import traceback
from pathlib import Path
from typing import Annotated, Any

import typer

from extract.errors import ExtractError

STATUS_HELP = (
    "Exit status: 0 every row accepted; 1 configuration wrong, nothing sent; 2 wrong use; 3 finished, some "
    "dead letters; 4 stopped with rows pending, run it again to go on; 5 a fault of ours; 130 second Ctrl-C."
)

app = typer.Typer(
    name="extract",
    help="Documents and tables into typed tables.",
    epilog=STATUS_HELP,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

PipelineArgument = Annotated[
    str, typer.Argument(metavar="PIPELINE", help="FILE.py, FILE.py:NAME or MODULE:NAME")
]
StoreArgument = Annotated[Path, typer.Argument(metavar="STORE", help="the DuckDB file of the runs")]
StoreOption = Annotated[str | None, typer.Option(metavar="F.duckdb", help="where answers are kept")]
IntoOption = Annotated[str | None, typer.Option(metavar="TABLE|F.parquet", help="the typed table")]
KeyOption = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="what names a row; give it again for more")
]
InputOption = Annotated[
    str | None,
    typer.Option(metavar="GLOB|FILE|SQL", help="documents, a table file, or a query: SELECT …"),
]
BudgetOption = Annotated[str | None, typer.Option(metavar="USD", help="stop before more is spent")]
PricesOption = Annotated[
    str | None, typer.Option(metavar="F.json|listed", help="USD per million tokens, by model")
]
UrlOption = Annotated[str | None, typer.Option(metavar="URL", help="the service, without /v1")]
OfflineOption = Annotated[
    bool, typer.Option("--offline", help="answer from this machine, without a model or a key")
]
KnobsOption = Annotated[
    str | None, typer.Option(metavar="KNOBS", help='for --offline, as "latency=200ms,rate=50"')
]
JsonOption = Annotated[bool, typer.Option("--json", help="one JSON object on standard output, nothing else")]


@app.command()
def run(
    pipeline: PipelineArgument,
    *,
    input: InputOption = None,
    key: KeyOption = None,
    store: StoreOption = None,
    into: IntoOption = None,
    limit: Annotated[int | None, typer.Option(min=0, help="the first N rows alone")] = None,
    budget: BudgetOption = None,
    confirm_above: Annotated[
        str | None, typer.Option(metavar="USD", help="plan first, and ask when it may cost more")
    ] = None,
    prices: PricesOption = None,
    base_url: UrlOption = None,
    offline: OfflineOption = False,
    endpoint: KnobsOption = None,
    json: JsonOption = False,
) -> None:
    """Run a pipeline; a second run goes on where it ended."""
    _do(
        "run",
        json=json,
        target=pipeline,
        source=input,
        key=key,
        store=store,
        into=into,
        limit=limit,
        budget=budget,
        confirm_above=confirm_above,
        prices=prices,
        base_url=base_url,
        offline=offline,
        knobs=endpoint,
    )


@app.command()
def plan(
    pipeline: PipelineArgument,
    *,
    input: InputOption = None,
    key: KeyOption = None,
    store: StoreOption = None,
    limit: Annotated[int | None, typer.Option(min=0, help="the first N rows alone")] = None,
    pilot: Annotated[int, typer.Option(min=1, metavar="N", help="rows that are run and paid for")] = 20,
    budget: BudgetOption = None,
    prices: PricesOption = None,
    base_url: UrlOption = None,
    offline: OfflineOption = False,
    endpoint: KnobsOption = None,
    json: JsonOption = False,
) -> None:
    """What a run would cost and how long it would take, from a small paid sample."""
    _do(
        "plan",
        json=json,
        target=pipeline,
        source=input,
        key=key,
        store=store,
        limit=limit,
        pilot=pilot,
        budget=budget,
        prices=prices,
        base_url=base_url,
        offline=offline,
        knobs=endpoint,
    )


@app.command()
def redrive(
    pipeline: PipelineArgument,
    *,
    store: StoreOption = None,
    where: Annotated[
        str | None, typer.Option(metavar="SQL", help="which, as \"reason = 'invalid'\"; all open ones")
    ] = None,
    into: IntoOption = None,
    input: InputOption = None,
    model: Annotated[str | None, typer.Option(help="another model for this time")] = None,
    effort: Annotated[str | None, typer.Option(help="low, high or max")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="room for thinking and answer")] = None,
    budget: BudgetOption = None,
    prices: PricesOption = None,
    base_url: UrlOption = None,
    offline: OfflineOption = False,
    endpoint: KnobsOption = None,
    json: JsonOption = False,
) -> None:
    """Run open dead letters again, with what was changed."""
    _do(
        "redrive",
        json=json,
        target=pipeline,
        store=store,
        where=where,
        into=into,
        source=input,
        changes={"model": model, "effort": effort, "max_tokens": max_tokens},
        budget=budget,
        prices=prices,
        base_url=base_url,
        offline=offline,
        knobs=endpoint,
    )


@app.command()
def schema(
    model: Annotated[str, typer.Argument(metavar="FILE.py:MODEL", help="or MODULE:MODEL, or a pipeline")],
    *,
    dialect: Annotated[str | None, typer.Option(help="kimi (default), anthropic or openai")] = None,
    json: JsonOption = False,
) -> None:
    """What the model is asked for, and what is checked here."""
    _do("schema", json=json, target=model, dialect=dialect)


@app.command()
def status(store: StoreArgument, *, json: JsonOption = False) -> None:
    """What a store holds, also while a run writes."""
    _do("status", json=json, store=store)


@app.command()
def dead_letters(
    store: StoreArgument,
    *,
    reason: Annotated[str | None, typer.Option(help="only these, as invalid")] = None,
    show: Annotated[str | None, typer.Option(metavar="KEY", help="all that is known of one")] = None,
    export: Annotated[Path | None, typer.Option(metavar="F.jsonl", help="write them, one a line")] = None,
    json: JsonOption = False,
) -> None:
    """Rows without an accepted answer, and why."""
    _do("dead_letters", json=json, store=store, reason=reason, show=show, export=export)


@app.command()
def lineage(
    store: StoreArgument,
    key: Annotated[str, typer.Argument(metavar="KEY", help="the key of the row")],
    *,
    json: JsonOption = False,
) -> None:
    """The whole history of one row."""
    _do("lineage", json=json, store=store, key=key)


@app.command()
def report(
    store: StoreArgument,
    *,
    run: Annotated[str | None, typer.Option(metavar="ID", help="which run; the last one that asked")] = None,
    html: Annotated[Path | None, typer.Option(metavar="F.html", help="write a page")] = None,
    compare: Annotated[
        Path | None, typer.Option(metavar="STORE", help="side by side with the last run of another store")
    ] = None,
    json: JsonOption = False,
) -> None:
    """What a run did, what it cost and what went wrong."""
    _do("report", json=json, store=store, run=run, html=html, compare=compare)


@app.command()
def show(
    store: StoreArgument,
    key: Annotated[str, typer.Argument(metavar="KEY", help="the key of the row")],
    *,
    html: Annotated[Path, typer.Option(metavar="F.html", help="the page to write")],
    job: Annotated[str | None, typer.Option(help="whose row, where several jobs have it")] = None,
    pipeline: Annotated[
        str | None, typer.Option(metavar="PIPELINE", help="reads the documents again, to show them whole")
    ] = None,
    input: InputOption = None,
    json: JsonOption = False,
) -> None:
    """One row beside its document, and the rows around it."""
    _do("show", json=json, store=store, key=key, html=html, job=job, pipeline=pipeline, source=input)


@app.command()
def serve(
    *,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one")] = 8787,
    latency: Annotated[str | None, typer.Option(help="200ms, 100ms-300ms or lognormal:200ms:0.6")] = None,
    rate: Annotated[str | None, typer.Option(help="requests a second before 429")] = None,
    faults: Annotated[
        str | None, typer.Option(help='shares of faults and other knobs, as "err500=0.02,seed=7"')
    ] = None,
    api_key: Annotated[str, typer.Option(help="the only key that is taken")] = "local-key",
) -> None:
    """Serve the local endpoint: no model, no key."""
    _do("serve", json=False, port=port, latency=latency, rate=rate, faults=faults, api_key=api_key)


def _do(command: str, *, json: bool, **options: Any) -> None:
    """Call `extract.cli.<command>.command`, and make its end an exit status."""
    try:
        module = importlib.import_module(f"extract.cli.{command}_command")
        status = module.command(as_json=json, **options)
    except KeyboardInterrupt:
        status = 130
    except ExtractError as error:
        status = _failed(str(error), 1, as_json=json)
    except Exception as error:
        traceback.print_exc()
        told = f"{type(error).__name__}: {error}. This is a fault of ours: please report what stands above."
        status = _failed(told, 5, as_json=json)
    raise typer.Exit(status)


def _failed(message: str, status: int, *, as_json: bool) -> int:
    typer.echo(f"extract: {message}", err=True)
    if as_json:
        typer.echo(json.dumps({"error": message, "exit_status": status}, ensure_ascii=False))
    return status


def main() -> None:
    """The script `extract`."""
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal without UTF-8 loses a mark, not the run
    app()
