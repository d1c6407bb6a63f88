"""What people say of answers: kept in the store at once, one act after the other, nothing overwritten.

Knows the store and the output model; draws nothing. The sheet in a notebook calls the same functions.
"""

from __future__ import annotations

import getpass
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import ValidationError
from pydantic_core import to_jsonable_python

from extract.errors import ConfigError, InputError
from extract.labels.pointers import at, placed
from extract.labels.sources import Answers, value_fields
from extract.markup import card, pairs, table
from extract.run import Run
from extract.show.numbers import count
from extract.store import LabelRow
from extract.texts import model_value

if TYPE_CHECKING:
    import polars as pl

Act = Literal["accept", "change", "skip", "note"]


@dataclass(frozen=True)
class Entry:
    """One row as it stands: the model's answer and what people made of it.

    answer, value: JSON data in the model's shape, before and after changes; None where there is none.
    state: open, accepted, changed or skipped. fingerprint: of the request that brought the answer.
    """

    key: str
    answer: Any
    value: Any
    state: str
    notes: tuple[str, ...]
    changed: tuple[str, ...]
    fingerprint: str | None


class Book:
    """The labels of a run's rows. Made by `labels.book`."""

    def __init__(self, run: Run, who: str | None = None) -> None:
        self._run, self._results = run, run.results
        self.who = who or _me()
        with self._results.opened() as store:  # kept here, since a later run takes its rows in the store over
            rows = store.rows(self._results.job, run_id=run.id)
        self._rows: dict[str, str | None] = dict(rows.select("key", "fingerprint").iter_rows())

    # -- looking -------------------------------------------------------------------------------

    def entries(self, keys: Sequence[str] | None = None) -> list[Entry]:
        """The rows of the run in its order, or those of some keys, with everybody's last words."""
        wanted = self._rows if keys is None else {key: self._rows[key] for key in keys if key in self._rows}
        read = model_value(self._results.compiled)
        with self._results.opened() as store:
            answers = store.recall([one for one in wanted.values() if one]).result()
            acts = store.labels(self._results.job)
        said: dict[str, list[dict[str, Any]]] = {}
        for act in acts.iter_rows(named=True):
            said.setdefault(act["key"], []).append(act)
        return [
            _entry(key, read(answers[of].answer) if of in answers else None, said.get(key, ()), of)
            for key, of in wanted.items()
        ]

    def entry(self, key: str) -> Entry:
        """One row. Raises InputError for a key that the run does not have."""
        found = self.entries([key])
        if not found:
            raise InputError(f"the run has no row {key!r}")
        return found[0]

    @property
    def history(self) -> pl.DataFrame:
        """Every act: who, when, what before, what after, in order."""
        with self._results.opened() as store:
            return store.labels(self._results.job)

    # -- saying --------------------------------------------------------------------------------

    def accept(self, key: str, *, note: str | None = None) -> Self:
        """The row is right as it stands. Raises InputError for a row without an answer."""
        entry = self.entry(key)
        if entry.value is None:
            raise InputError(f"{key!r} has no answer to accept: give it one with change({key!r}, '', value)")
        return self._keep(entry, "", "accept", entry.value, entry.value, note)

    def change(self, key: str, field: str, value: Any, *, note: str | None = None) -> Self:
        """A field is another value. The row as a whole has to stay valid for the output model.

        field: its name, or a JSON pointer ("/lines/0/amount"); "" for the whole row.
        value: as Python or as JSON has it. Raises InputError, with the model's words, for what it refuses.
        """
        entry = self.entry(key)
        path = field if not field or field.startswith("/") else "/" + field.replace(".", "/")
        base = {} if entry.value is None else entry.value
        self._valid(key, whole := placed(base, path, to_jsonable_python(value)))
        return self._keep(entry, path, "change", at(base, path), at(self._read(whole), path), note)

    def skip(self, key: str, *, note: str | None = None) -> Self:
        """Nobody can tell: the row is no gold."""
        return self._keep(self.entry(key), "", "skip", None, None, note)

    def note(self, key: str, text: str) -> Self:
        """Words beside a row."""
        return self._keep(self.entry(key), "", "note", None, None, text)

    def _valid(self, key: str, value: Any) -> None:
        try:
            self._read(value)
        except ValidationError as error:
            told = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()[:3])
            raise InputError(f"{key!r} would not be valid any more: {told}") from error

    def _read(self, value: Any) -> Any:
        """Plain data as the model itself would write it."""
        adapter = self._results.compiled.adapter
        made = adapter.validate_json(json.dumps(value, ensure_ascii=False), strict=True)
        return json.loads(adapter.dump_json(made, by_alias=True))

    def _keep(self, entry: Entry, path: str, act: Act, before: Any, after: Any, note: str | None) -> Self:
        row = LabelRow(
            self._results.job,
            entry.key,
            path,
            act,
            _json(before) if act in ("accept", "change") else None,
            _json(after) if act in ("accept", "change") else None,
            note,
            self.who,
            time.time(),
            self._run.id,
            entry.fingerprint,
        )
        with self._results.opened() as store:
            store.label([row]).result()
        return self

    # -- using ---------------------------------------------------------------------------------

    def reviewed(self) -> dict[str, Any]:
        """The rows that somebody accepted or changed: key → value of the output model."""
        adapter = self._results.compiled.adapter
        return {
            entry.key: adapter.validate_json(_json(entry.value), strict=True)
            for entry in self.entries()
            if entry.state in ("accepted", "changed")
        }

    def as_answers(self) -> Answers:
        """For `evaluate`, `agreement` and `compare`."""
        rows = {key: value_fields(value) for key, value in self.reviewed().items()}
        names = tuple(self._results.columns.names)
        return Answers(rows, self._results.key.columns, name=f"labels by {self.who}", fields=names)

    def frame(self) -> pl.DataFrame:
        """The reviewed rows as a table: key, state, the typed columns, note."""
        import polars as pl

        values, entries = self.reviewed(), {entry.key: entry for entry in self.entries()}
        columns = self._results.columns
        made = columns.frame([row for value in values.values() for row in columns.rows(value)])
        keys = [key for key, value in values.items() for _ in columns.rows(value)]
        left = pl.DataFrame(
            {
                "key": keys,
                "state": [entries[key].state for key in keys],
                "note": ["\n".join(entries[key].notes) or None for key in keys],
            },
            schema={"key": pl.String, "state": pl.String, "note": pl.String},
        )
        taken = {name: f"{name}_" for name in made.columns if name in left.columns}
        return pl.concat([left, made.rename(taken)], how="horizontal")

    def export(self, path: str | Path) -> Path:
        """Writes the reviewed rows to .parquet (typed columns) or .jsonl (as `evaluate` reads it as gold)."""
        path = Path(path)
        if path.suffix == ".parquet":
            self.frame().write_parquet(path)
        elif path.suffix in (".jsonl", ".ndjson"):
            path.write_text("".join(line + "\n" for line in self._lines()), "utf-8")
        else:
            raise ConfigError(f"{path}: labels are written to .jsonl or .parquet")
        return path

    def _lines(self) -> list[str]:
        names = self._results.key.columns
        rows = {key: to_jsonable_python(value_fields(value)) for key, value in self.reviewed().items()}
        return [_json({**_key_fields(names, key), **fields}) for key, fields in rows.items()]

    def examples(self, keys: Sequence[str] | None = None, *, most: int = 8) -> list[tuple[str, Any]]:
        """Reviewed rows as (input, answer) pairs for `Pipeline(examples=…)`: those that were changed first.

        Raises InputError where the texts of the rows are not at hand any more (an input read once only).
        """
        values = self.reviewed()
        order = sorted(
            (
                entry
                for entry in self.entries()
                if entry.key in values and (keys is None or entry.key in keys)
            ),
            key=lambda entry: entry.state != "changed",
        )
        chosen = [entry.key for entry in order[:most]]
        prompts = self._results.prompts(chosen)
        if missing := [key for key in chosen if key not in prompts]:
            raise InputError(
                f"the input of {', '.join(missing[:3])} is not at hand any more: run over it again"
            )
        return [(prompts[key], values[key]) for key in chosen]

    # -- shown ---------------------------------------------------------------------------------

    def counts(self) -> dict[str, int]:
        """How many rows are in which state."""
        found = dict.fromkeys(("open", "accepted", "changed", "skipped"), 0)
        for entry in self.entries():
            found[entry.state] += 1
        return found

    def __repr__(self) -> str:
        return f"Labels of {self._results.job}: " + ", ".join(f"{n} {s}" for s, n in self.counts().items())

    def _repr_html_(self) -> str:
        last = self.history.tail(8).select("key", "act", "field", "after", "who").rows()
        told = [(state, count(number)) for state, number in self.counts().items()]
        acts = table(["key", "act", "field", "value", "who"], last, caption="last acts") if last else None
        return str(card(f"Labels of {self._results.job}", pairs(told), acts))


def book(run: Run, *, who: str | None = None) -> Book:
    """The labels of a run's rows: look at them, accept, change, export.

    who: whose words these are; by default the user of this machine.
    """
    return Book(run, who)


def _me() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container may have users without a name
        return "unknown"


def _entry(key: str, answer: Any, acts: Sequence[Mapping[str, Any]], fingerprint: str | None) -> Entry:
    """Acts of people who looked at another answer count too: what they said is right stays right."""
    value, state = answer, "open"
    notes: list[str] = []
    changed: list[str] = []
    for act in acts:
        if act["note"]:
            notes.append(act["note"])
        if act["act"] == "accept":
            state = "changed" if changed else "accepted"
            value = json.loads(act["after"])
        elif act["act"] == "change":
            value = placed({} if value is None else value, act["field"], json.loads(act["after"]))
            state = "changed"
            changed.append(act["field"])
        elif act["act"] == "skip":
            state = "skipped"
    return Entry(key, answer, value, state, tuple(notes), tuple(dict.fromkeys(changed)), fingerprint)


def _key_fields(names: Sequence[str], key: str) -> dict[str, Any]:
    if len(names) == 1:
        return {names[0]: key}
    return dict(zip(names, json.loads(key), strict=True)) if names else {"key": key}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
