"""`extract dead-letters`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from extract.cli.show import findings, sentences, show_dead_letters
from extract.cli.stores import open_store
from extract.cli.text import as_json as to_json
from extract.cli.text import cell, plural
from extract.errors import ConfigError
from extract.outcome import REASONS

LONG = ("input", "request", "raw_reply")


def command(*, store: Path, reason: str | None, show: str | None, export: Path | None, as_json: bool) -> int:
    """List dead letters, show one, or write them to a file."""
    if reason is not None and reason not in REASONS:
        raise ConfigError(f"--reason {reason}: a reason is one of {', '.join(REASONS)}")
    with open_store(store) as opened:
        frame = opened.dead_letters(reason=reason, key=show, status=None if show else "open")
        keys = [] if not show or not frame.is_empty() else [str(key) for key in opened.dead_letters()["key"]]
    rows = [_told(row) for row in frame.to_dicts()]
    if show is not None and not rows:
        raise ConfigError(f"{store} has no dead letter {show!r}{_known(keys)}")
    if export is not None:
        export.write_text("".join(to_json(row) + "\n" for row in rows), encoding="utf-8")
    if as_json:
        typer.echo(to_json({"store": str(store), "dead_letters": rows}))
    elif export is not None:
        typer.echo(f"{plural(len(rows), 'dead letter')} written to {export}")
    elif show is not None:
        for row in rows:
            _show(row)
    else:
        typer.echo(f"{store}: {plural(len(rows), 'open dead letter')}")
        if rows:
            show_dead_letters(frame)
    return 0


def _known(keys: list[str]) -> str:
    return f"; there are {', '.join(keys[:5])}{' …' if len(keys) > 5 else ''}" if keys else ""


def _told(row: dict[str, Any]) -> dict[str, Any]:
    """A dead letter with its JSON texts read, for machines and for people alike."""
    return {name: _read(value) if name in {"findings", *LONG} else value for name, value in row.items()}


def _read(value: Any) -> Any:
    try:
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _show(row: dict[str, Any]) -> None:
    typer.echo(f"{row['key']}: {row['reason']} ({row['status']})")
    for line in sentences(findings(row)):
        typer.echo(f"  - {line}")
    for name, value in row.items():
        if name not in {"key", "reason", "status", "findings", *LONG} and value is not None:
            typer.echo(f"{name:<13} {cell(value)}")
    for name in LONG:
        typer.echo(f"\n{name}\n{_block(row[name])}")


def _block(value: Any) -> str:
    """A kept value as a person reads it: text as text, the rest as JSON."""
    if value is None:
        return "  (not kept)"
    if isinstance(value, dict) and all(isinstance(inner, str | None) for inner in value.values()):
        return "\n".join(f"  [{name}]\n{_indented(inner or '')}" for name, inner in value.items())
    return _indented(value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False))


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in _printable(text).splitlines())


def _printable(text: str) -> str:
    """Documents are hostile: no control sequence of theirs reaches the terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else " " for c in text)
