"""What a command shows of a finished run, and its exit status."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from extract.cli.show import show_dead_letters, show_frame
from extract.cli.text import as_json as to_json
from extract.cli.text import plural, program

if TYPE_CHECKING:
    from extract.run import Run


def show_run(run: Run, into: str | None, *, as_json: bool) -> int:
    """Show a run: its rows, its dead letters, its counts, the next command to type."""
    status = run.report.exit_status
    if as_json:
        typer.echo(to_json(run.report.as_dict() | {"into": into, "exit_status": status}))
        return status
    if not run.accepted.is_empty():
        place = f", table {into}" if into else ""
        typer.echo(f"\n{plural(run.accepted.height, 'row')} accepted{place}")
        show_frame(run.accepted, [name for name in run.accepted.columns if not name.startswith("_")])
    if not run.dead_letters.is_empty():
        typer.echo(f"\n{plural(run.dead_letters.height, 'dead letter')}")
        show_dead_letters(run.dead_letters)
    typer.echo(f"\n{run.report}")
    typer.echo(f"next          {_next(run, into)}")
    return status


def _next(run: Run, into: str | None) -> str:
    """The next command to type."""
    report, store = run.report, _near(run.report.store)
    if report.exit_status == 4:
        return "the same command again: it goes on with the pending rows and pays for nothing twice"
    if report.dead_letters:
        return f"{program()} dead-letters {store} --show KEY"
    return f"duckdb {store} 'FROM {into}'" if into and into.isidentifier() else f"{program()} status {store}"


def _near(store: str) -> str:
    path = Path(store)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else store
