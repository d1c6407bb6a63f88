"""Which rows a run is about: those of a table, or the dead letters of an earlier run.

Knows tables and the store's dead letters; nothing of requests.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from extract.errors import ConfigError, InputError
from extract.store import Store
from extract.tables import Key, Row, RowSource, read_rows

if TYPE_CHECKING:
    import polars as pl

_BATCH = 256


@dataclass(frozen=True, slots=True)
class Intake:
    """The rows of one run.

    partial: rows that are not here may well be in the source.
    job, signature: of the work that the rows belong to, where the run continues one.
    redriven: for dead letters, key → the fingerprint of the request that they died of.
    """

    source: RowSource
    partial: bool = False
    job: str | None = None
    signature: Mapping[str, Any] | None = None
    redriven: Mapping[str, str] | None = None


def table_intake(frame: Any, key: str | Sequence[str] | None, limit: int | None) -> Intake:
    """All rows of a table, or its first ones. Raises InputError for a table that cannot be run."""
    return Intake(read_rows(_first_rows(frame, limit), key=key), partial=limit is not None)


def _first_rows(frame: Any, limit: int | None) -> Any:
    """The table without the rows beyond `limit`, which are outside the run."""
    if limit is None:
        return frame
    if limit < 0:
        raise ConfigError(f"limit={limit}: must not be below zero")
    if isinstance(frame, Sequence):
        return frame[:limit]
    for name in ("head", "limit"):  # frames of Polars and pandas; relations of DuckDB
        if callable(method := getattr(frame, name, None)):
            return method(limit)
    if hasattr(frame, "slice"):  # Arrow tables
        return frame.slice(0, limit)
    return islice(frame, limit)


@dataclass(frozen=True, slots=True)
class Letters:
    """Open dead letters of one job, ready to be run again. options: of the run before, as it noted them."""

    intake: Intake
    into: str | None
    options: Mapping[str, Any]


def letter_intake(
    target: Any,
    *,
    job: str | None,
    label: str,
    needs: Sequence[str],
    where: Any = None,
    frame: Any = None,
) -> Letters:
    """The open dead letters of a store.

    job: whose; by default the only one there is, or the one that is named as the pipeline is.
    needs: columns that the prompt names.
    where: an SQL condition or a Polars expression over the columns of `dead_letters`.
    frame: the input again, for a store that did not keep the rows.
    Raises ConfigError for a job that is not there, InputError for rows that were not kept.
    """
    store = Store.open(target)
    try:
        job = _choose(store, job, label)
        letters = store.dead_letters(job, status="open")
        known = store.jobs().filter(job=job).row(0, named=True)
        run = store.runs(job).row(-1, named=True)
        signature = store.job_signature(job)
    finally:
        store.close()
    letters = _filtered(letters, where)
    settings = json.loads(run["settings"] or "{}")
    key = Key.from_json(settings.get("key", []))
    given = _given_rows(frame, key) if frame is not None else {}
    rows = [_row(place, letter, given, needs) for place, letter in enumerate(letters.iter_rows(named=True))]
    columns = tuple(dict.fromkeys(name for row in rows for name in row.values))
    source = RowSource(key, columns, len(rows), True, lambda: _batches(rows))
    redriven = {letter["key"]: letter["fingerprint"] for letter in letters.iter_rows(named=True)}
    intake = Intake(source, True, job, signature, redriven)
    return Letters(intake, known["into"], settings.get("options", {}))


def key_before(store: Store, job: str, key: Key) -> Key:
    """The key as the last run of this job had it: an input without a row tells no dtypes."""
    runs = store.runs(job)
    noted = json.loads(runs.row(-1, named=True)["settings"] or "{}") if runs.height else {}
    before = Key.from_json(noted.get("key", []))
    return before if before.columns == key.columns else key


def _choose(store: Store, job: str | None, label: str) -> str:
    names = store.jobs()["job"].to_list()
    wanted = job if job is not None else label
    if wanted in names:
        return wanted
    if job is None and len(names) == 1:
        return str(names[0])
    there = ", ".join(map(repr, names)) or "nothing"
    raise ConfigError(f"{store.name} holds no work named {wanted!r}, but {there}: say which with into=")


def _filtered(letters: pl.DataFrame, where: Any) -> pl.DataFrame:
    import polars as pl

    if where is None:
        return letters
    return letters.filter(pl.sql_expr(where) if isinstance(where, str) else where)


def _given_rows(frame: Any, key: Key) -> dict[str, Mapping[str, Any]]:
    source = read_rows(frame, key=key.columns or None)
    return {row.key: row.values for batch in source for row in batch}


def _row(
    place: int, letter: Mapping[str, Any], given: Mapping[str, Mapping[str, Any]], needs: Sequence[str]
) -> Row:
    kept = letter["input"]
    values = given.get(letter["key"]) or (json.loads(kept) if kept else None)
    if values is None or not all(column in values for column in needs):
        raise InputError(
            f"the input of row {letter['key']!r} was not kept whole (keep='nothing' or private=): "
            f"give the table again with frame="
        )
    return Row(place, letter["key"], values)


def _batches(rows: Sequence[Row]) -> Iterator[list[Row]]:
    for start in range(0, len(rows), _BATCH):
        yield list(rows[start : start + _BATCH])
