"""`extract schema`."""

from __future__ import annotations

import json
from dataclasses import is_dataclass
from typing import Any, get_origin

import typer
from pydantic import BaseModel

from extract.cli.load import load
from extract.cli.text import as_json as to_json
from extract.cli.text import cell, plural, table
from extract.pipeline import Pipeline
from extract.schema.compile import CompiledSchema, compile_schema


def command(*, target: str, dialect: str | None, as_json: bool) -> int:
    """Compile a model, or the model of a pipeline, and show what came of it."""
    loaded = load(target, wanted="model", accepts=_is_model)
    compiled = _compiled(loaded.value, dialect)
    told = _told(compiled)
    if as_json:
        typer.echo(to_json(told))
    else:
        _show(loaded.name, told)
    return 0


def _is_model(value: Any) -> bool:
    if isinstance(value, type) and get_origin(value) is None:
        own = issubclass(value, BaseModel) and value is not BaseModel
        return own or is_dataclass(value) or hasattr(value, "__required_keys__")
    return isinstance(value, Pipeline) or get_origin(value) is not None


def _compiled(value: Any, dialect: str | None) -> CompiledSchema[Any]:
    if isinstance(value, Pipeline):
        return value.compiled if dialect is None else compile_schema(value.output, dialect=dialect)
    return compile_schema(value, dialect=dialect or "kimi")


def _told(compiled: CompiledSchema[Any]) -> dict[str, Any]:
    relaxed = [{"path": r.path, "keyword": r.keyword, "value": r.value} for r in compiled.relaxed]
    return {
        "dialect": compiled.dialect,
        "fingerprint": compiled.fingerprint,
        "schema": compiled.schema,
        "relaxed": relaxed,
        "counts": compiled.counts.as_dict(),
        "warnings": list(compiled.warnings),
    }


def _show(name: str, told: dict[str, Any]) -> None:
    typer.echo(json.dumps(told["schema"], indent=2, ensure_ascii=False))
    typer.echo(f"\n{name} in dialect {told['dialect']}, fingerprint {told['fingerprint'][:16]}")
    relaxed = told["relaxed"]
    typer.echo(
        f"\n{plural(len(relaxed), 'rule')} told in words and checked here, since the dialect cannot carry it"
    )
    if relaxed:
        rows = [{**rule, "path": rule["path"] or "(root)", "value": cell(rule["value"])} for rule in relaxed]
        typer.echo(table(rows, ["path", "keyword", "value"]))
    typer.echo("\ncounts against the limits of the dialect")
    rows = [{"what": what.replace("_", " "), **count} for what, count in told["counts"].items()]
    typer.echo(table(rows, ["what", "value", "warn", "refuse", "path"]))
    for warning in told["warnings"]:
        typer.echo(f"warning: {warning}")
