"""The sheet in a notebook: a row beside its document, and keys to accept, change, skip or note.

Needs the extra `notebook`. Draws nothing itself: Python gives escaped HTML and typed fields, the script shows
them and tells what was pressed; every act goes through the book to the store before it shows.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import resources
from typing import Any

import anywidget
import traitlets

from extract.errors import ExtractError, InputError
from extract.labels.book import Book, Entry
from extract.labels.pointers import at
from extract.labels.typed import Typed, places, read
from extract.run import Run
from extract.show.rows import ShownRow, document, places_of

ACTS = ("accept", "change", "skip", "note")


def _asset(name: str) -> str:
    return resources.files("extract.labels").joinpath("assets", name).read_text("utf-8")


class Sheet(anywidget.AnyWidget):
    """A sheet over the rows of a run. Made by `labels.sheet`.

    rows: the keys in their order, with their states. at: the row that is shown. row: what is shown of it.
    """

    _esm = _asset("sheet.js")
    _css = _asset("sheet.css")

    rows: Any = traitlets.List().tag(sync=True)
    at: Any = traitlets.Int(0).tag(sync=True)
    row: Any = traitlets.Dict().tag(sync=True)

    def __init__(self, run: Run, book: Book, order: Sequence[str] | None) -> None:
        super().__init__()
        self.book = book
        self._turn = 0
        self._results = run.results
        self._schema = run.results.compiled.adapter.json_schema(by_alias=True)
        entries = {entry.key: entry for entry in book.entries()}
        chosen = list(order) if order is not None else list(entries)
        if missing := [key for key in chosen if key not in entries]:
            raise InputError(f"the run has no row {missing[0]!r}")
        self.rows = [[key, entries[key].state] for key in chosen]
        self.at = next((i for i, (_, state) in enumerate(self.rows) if state == "open"), 0)
        self._show()
        self.observe(lambda _: self._show(), names="at")
        self.on_msg(self._heard)

    def __repr__(self) -> str:
        return f"Sheet of {self.book!r}"

    # -- what comes from the page --------------------------------------------------------------

    def _heard(self, _: Any, message: Any, buffers: Any) -> None:
        try:
            self.act(**message)
        except (ExtractError, TypeError) as error:
            self.send({"error": str(error)})

    def act(self, *, act: str, key: str, field: str = "", value: Any = None, note: str | None = None) -> None:
        """One act, as the page tells it: in the store when this returns, and then on the page.

        act: accept, change, skip or note. value: as it was typed or picked. Raises InputError for what the
        model refuses.
        """
        if act not in ACTS:
            raise InputError(f"act={act!r}: choose one of {', '.join(ACTS)}")
        if act == "change":
            place = next((p for p in self._places(self.book.entry(key)) if p.path == field), None)
            if place is None:
                raise InputError(f"{key!r} has no field {field!r}")
            self.book.change(key, field, read(place, value), note=note)
        elif act == "note":
            self.book.note(key, note or "")
        else:
            getattr(self.book, act)(key, note=note)
        state = self.book.entry(key).state
        self.rows = [[name, state if name == key else old] for name, old in self.rows]
        self._show()

    # -- what goes to the page -----------------------------------------------------------------

    def _show(self) -> None:
        if not self.rows:
            self.row = {}
            return
        key = self.rows[max(0, min(self.at, len(self.rows) - 1))][0]
        entry = self.book.entry(key)
        shown, place = self._results.shown(key, around=0)
        row = shown[place]
        self._turn += 1
        support = places_of(row)
        self.row = {
            "key": key,
            "turn": self._turn,  # an act that changes nothing is answered all the same
            "state": entry.state,
            "notes": list(entry.notes),
            "dead": _dead(row) if entry.value is None else "",
            "document": str(document(row, support)),
            "fields": [self._field(place, entry, support) for place in self._places(entry)],
        }

    def _places(self, entry: Entry) -> list[Typed]:
        return places(self._schema, entry.value if entry.value is not None else {})

    def _field(self, place: Typed, entry: Entry, support: Sequence[Any]) -> dict[str, Any]:
        value, answer = at(entry.value, place.path), at(entry.answer, place.path)
        return {
            "path": place.path,
            "name": place.name,
            "control": place.control,
            "options": list(place.options),
            "optional": place.optional,
            "help": place.help,
            "value": json.dumps(value, ensure_ascii=False) if place.control == "json" else value,
            "answer": json.dumps(answer, ensure_ascii=False) if place.control == "json" else answer,
            "changed": value != answer,
            "support": [str(i) for i, one in enumerate(support) if one.path == place.path],
            "flagged": any(one.path == place.path and one.status == "flagged" for one in support),
        }


def _dead(row: ShownRow) -> str:
    return f"no accepted answer: {row.reason or row.state}"
