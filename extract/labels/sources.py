"""Values by key, from whatever holds them: a run, a table, a file, what people said.

Knows how to read and nothing of what the values are compared for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from extract.errors import InputError, MissingExtraError
from extract.run import Run
from extract.tables import read_rows


@dataclass(frozen=True)
class Answers:
    """Values of fields by key. A field that a row does not have is not known for it; None is a value.

    seen: keys that were asked for, with or without an answer. keys: columns that make the key, where they
    are known. cost: what the answers cost, in USD.
    """

    rows: Mapping[str, Mapping[str, Any]]
    keys: tuple[str, ...] = ()
    cost: Decimal | None = None
    name: str = ""
    fields: tuple[str, ...] = ()
    seen: frozenset[str] | None = None

    def asked(self, key: str) -> bool:
        """Whether the row was asked for. Of a table that says no more, every row that it has."""
        return key in (self.rows if self.seen is None else self.seen)


def answers_of(source: Any, *, key: str | Sequence[str] | None = None, name: str = "") -> Answers:
    """Reads a run, a table as `Pipeline.run` takes it, or a .jsonl or .parquet file.

    key: columns that name a row; a run knows its own. Raises InputError for a table without a key.
    """
    if isinstance(source, Answers):
        return source
    if isinstance(source, Run):
        return _of_run(source, name)
    if hasattr(source, "as_answers"):  # what people said
        made: Answers = source.as_answers()
        return made
    if isinstance(source, str | Path):
        source = _read_file(Path(source))
    names = (key,) if isinstance(key, str) else tuple(key or ())
    if not names:
        raise InputError("which column names a row? Give key= where neither side is a run")
    rows = {
        row.key: {column: plain(value) for column, value in row.values.items() if not _own(column, names)}
        for batch in read_rows(source, key=names)
        for row in batch
    }
    return Answers(rows, names, name=name, fields=_fields(rows))


def all_answers(*sources: Any, key: str | Sequence[str] | None = None) -> list[Answers]:
    """Reads several; a table without a key takes that of a run among them."""
    known = [answers_of(one) if _knows_its_key(one) else None for one in sources]
    keys = key or next((one.keys for one in known if one is not None and one.keys), None)
    return [done or answers_of(one, key=keys) for one, done in zip(sources, known, strict=True)]


def _knows_its_key(source: Any) -> bool:
    return isinstance(source, Run | Answers) or hasattr(source, "as_answers")


def _own(column: str, keys: Sequence[str]) -> bool:
    return column in keys or column.startswith("_")


def _of_run(run: Run, name: str) -> Answers:
    results = run.results
    rows = {key: value_fields(value) for key, value in results.values().items()}
    seen = results.seen()
    names = tuple(results.columns.names)
    return Answers(rows, results.key.columns, results.paid(), name or f"run {run.id}", names, seen)


def value_fields(value: Any) -> dict[str, Any]:
    """A validated value as fields. What is no model is one field called `value`."""
    shown = plain(value)
    return shown if isinstance(shown, dict) else {"value": shown}


def plain(value: Any) -> Any:
    """Plain Python: models become dicts, sets sorted lists, enums their values; dates and Decimals stay."""
    if isinstance(value, BaseModel):
        return {name: plain(getattr(value, name)) for name in type(value).model_fields}
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, set | frozenset):
        return sorted((plain(inner) for inner in value), key=repr)
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if hasattr(value, "__dataclass_fields__") and not isinstance(value, type):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    return value


def _fields(rows: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for row in rows.values() for name in row))


def _read_file(path: Path) -> Any:
    """The rows of a file. Of JSON lines, a field that a line leaves out stays unknown."""
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    if path.suffix == ".parquet":
        import polars as pl

        return pl.read_parquet(path)
    if path.suffix in (".jsonl", ".ndjson"):
        return list(_lines(path))
    raise InputError(f"{path}: labels are read from .jsonl and .parquet")


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InputError(f"{path}, line {number}: {error}") from error
        if not isinstance(row, dict):
            raise InputError(f"{path}, line {number}: expected an object with a key and fields")
        yield row


def need(*modules: str) -> None:
    """Raises MissingExtraError that says what to install, unless these modules are there."""
    for module in modules:
        if find_spec(module) is None:
            raise MissingExtraError(module, "labels", "comparing answers with labels")
