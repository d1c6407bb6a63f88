"""Which rows a person should look at first.

Reads a run and what is known of its rows; changes nothing.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from extract.errors import ConfigError
from extract.labels.scores import CLASSES, class_of
from extract.labels.sources import Answers, answers_of
from extract.labels.values import Rules, matches
from extract.run import Run
from extract.store import Store

if TYPE_CHECKING:
    import polars as pl

By = Literal["dead", "flagged", "agreement", "reasked", "rare"]
WEIGHTS: dict[str, float] = {"dead": 4.0, "flagged": 2.0, "agreement": 2.0, "reasked": 1.0, "rare": 1.0}
Reasons = dict[str, list[tuple[float, str]]]


def queue(
    run: Run,
    *,
    by: Sequence[By] = ("dead", "flagged", "agreement", "reasked", "rare"),
    others: Sequence[Any] = (),
) -> pl.DataFrame:
    """Keys of a run, those that need a look first, then the rest: key, score, why.

    by: what makes a row worth a look. dead: it has no answer. flagged: a value was not found in the source.
        agreement: `others` answer differently. reasked: the model had to be asked again. rare: a class that
        few rows have.
    others: other runs or tables of the same rows, for `agreement`.
    Rows that somebody accepted or changed already come last. Raises ConfigError for an unknown reason.
    """
    import polars as pl

    if unknown := [name for name in by if name not in WEIGHTS]:
        raise ConfigError(f"by={', '.join(unknown)}: choose from {', '.join(WEIGHTS)}")
    said = answers_of(run)
    with run.results.opened() as store:
        rows = store.rows(run.results.job, run_id=run.id)
        found: Reasons = {key: [] for key in rows["key"]}
        finders: dict[str, Callable[[], None]] = {
            "dead": lambda: _dead(rows, found),
            "flagged": lambda: _flagged(store, run.id, found),
            "reasked": lambda: _reasked(store, run.results.job, found),
            "agreement": lambda: _differing(said, others, found),
            "rare": lambda: _rare(said, found),
        }
        for name in by:
            finders[name]()
        acts = store.labels(run.results.job)
    seen = set(acts.filter(acts["act"].is_in(["accept", "change"]))["key"])
    table = [(key, sum(w for w, _ in why), "; ".join(told for _, told in why)) for key, why in found.items()]
    table.sort(key=lambda row: (row[0] in seen, -row[1]))
    return pl.DataFrame(table, schema={"key": pl.String, "score": pl.Float64, "why": pl.String}, orient="row")


def _add(found: Reasons, key: str, name: str, told: str, share: float = 1.0) -> None:
    if key in found:
        found[key].append((WEIGHTS[name] * share, told))


def _dead(rows: pl.DataFrame, found: Reasons) -> None:
    for row in rows.filter(rows["state"] == "dead").iter_rows(named=True):
        _add(found, row["key"], "dead", f"no answer: {row['reason']}")


def _flagged(store: Store, run_id: str, found: Reasons) -> None:
    for key, evidence in store.answers_of(run_id).select("key", "evidence").iter_rows():
        missing = [span["path"] for span in json.loads(evidence or "[]") if span["status"] == "flagged"]
        if missing:
            _add(found, key, "flagged", f"not found in the source: {', '.join(missing)}")


def _reasked(store: Store, job: str, found: Reasons) -> None:
    calls, runs = store.calls(), list(store.runs(job)["run_id"])
    times = Counter(calls.filter((calls["kind"] == "reask") & calls["run_id"].is_in(runs))["key"])
    for key, number in times.items():
        _add(found, key, "reasked", f"asked again {number} times" if number > 1 else "asked again once")


def _differing(said: Answers, others: Sequence[Any], found: Reasons) -> None:
    for source in others:
        other = answers_of(source, key=said.keys or None)
        for key, row in said.rows.items():
            if key not in other.rows:
                continue
            shared = [name for name in row if name in other.rows[key]]
            apart = [name for name in shared if not matches(row[name], other.rows[key][name], Rules(), name)]
            if apart:
                told = f"{other.name or 'the other'} differs in {', '.join(apart)}"
                _add(found, key, "agreement", told, len(apart) / len(shared))


def _rare(said: Answers, found: Reasons) -> None:
    """A class is rare by how few rows have it; fields with many different values have no classes."""
    for name in said.fields:
        values = {key: row.get(name) for key, row in said.rows.items()}
        if any(isinstance(value, list | dict) for value in values.values()):
            continue
        counts = Counter(class_of(value) for value in values.values())
        if not 1 < len(counts) <= CLASSES or len(values) < 2 * len(counts):
            continue
        for key, value in values.items():
            share = counts[class_of(value)] / len(values)
            if share <= 0.1:
                _add(found, key, "rare", f"{name} {value}: {_rows(counts[class_of(value)])}", 1 - share)


def _rows(number: int) -> str:
    return "the only row" if number == 1 else f"{number} rows"
