"""`extract dead-letters`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from extract.cli.show import reasons, show_dead_letters
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
    typer.echo(f"{cell(row['key'])}: {row['reason']} ({row['status']})")
    for line in reasons(row):
        typer.echo(f"  - {line}")
    typer.echo("")
    for name, value in row.items():
        if name not in {"key", "reason", "status", "findings", *LONG} and value is not None:
            typer.echo(f"{name:<13} {cell(value)}")
    for name in LONG:
        typer.echo(f"\n{name}\n{indented(kept_text(row[name]), '  ')}")


def kept_text(value: Any) -> str:
    """A kept input, request or reply as a person reads it: text as text, turns as turns, the rest as JSON."""
    if value is None:
        return "(not kept)"
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict) and isinstance(value.get("messages"), list):
        return _turns(value)
    if isinstance(value, dict):
        return "\n".join(_field(name, inner) for name, inner in value.items())
    return printable(json.dumps(value, indent=1, ensure_ascii=False, default=str))


def _turns(request: dict[str, Any]) -> str:
    """A conversation, its shared settings on the first line."""
    shared = {name: value for name, value in request.items() if name != "messages"}
    turns = [
        _field(str(turn.get("role")), "\n".join(_said(block) for block in _blocks(turn)))
        for turn in request["messages"]
    ]
    return "\n".join([cell(shared), *turns])


def _blocks(turn: dict[str, Any]) -> list[Any]:
    content = turn.get("content")
    return content if isinstance(content, list) else [content]


def _said(block: Any) -> str:
    if not isinstance(block, dict):
        return str(block)
    kind = str(block.get("type"))
    said = block.get(kind)
    return (
        said if kind == "text" and isinstance(said, str) else f"[{kind}] {said if said is not None else ''}"
    )


def _field(name: str, value: Any) -> str:
    if isinstance(value, str) and "\n" in value.strip():
        return f"{name}:\n{indented(printable(value), '    ')}"
    return f"{name}: {cell(value)}"


def indented(text: str, by: str) -> str:
    """Every line of a text moved to the right."""
    return "\n".join(by + line for line in text.rstrip().split("\n"))


def printable(text: str) -> str:
    """Documents are hostile: no control sequence of theirs reaches the terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else " " for c in text)
