"""Rows as a store holds them, ready to be shown.

Reads the store; the text of a document comes from whoever has it, or from what the store kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from extract.errors import ConfigError
from extract.show.numbers import NOTHING, count, moment, money
from extract.show.rows import PageImage, ShownRow, text_of_request
from extract.store import Store

if TYPE_CHECKING:
    import polars as pl

Texts = Callable[[Sequence[str]], Mapping[str, str]]
Value = Callable[[str], Any]
Images = Callable[[Sequence[str]], Mapping[str, Mapping[int, PageImage]]]
AROUND = 100
"""Rows on one page: so many before and after the one that was asked for. A page has to open quickly."""


def shown_rows(
    store: Store,
    job: str,
    *,
    run_id: str | None = None,
    key: str | None = None,
    texts: Texts | None = None,
    images: Images | None = None,
    value: Value = json.loads,
    around: int = AROUND,
) -> tuple[list[ShownRow], int]:
    """Rows of a job in input order, and the place of `key` among them.

    texts: keys → the text that values were looked for in. images: keys → pictures of pages.
    value: an accepted answer as plain JSON data in the model's shape. around: how many rows before and
    after it.
    Raises ConfigError for a key that is not there.
    """
    rows = store.rows(job, run_id=run_id).rows(named=True)
    at = _place(rows, key, job)
    start = max(0, at - around)
    near = rows[start : at + around + 1]
    keys = [row["key"] for row in near]
    held = _Held(store, job, near, texts(keys) if texts else {}, images(keys) if images else {}, value)
    return [held.shown(row) for row in near], at - start


def _place(rows: Sequence[Mapping[str, Any]], key: str | None, job: str) -> int:
    if not rows:
        raise ConfigError(f"there are no rows of {job} to show")
    if key is None:
        return 0
    found = [i for i, row in enumerate(rows) if row["key"] == key]
    found = found or [i for i, row in enumerate(rows) if row["key"].endswith(f"/{key}")]
    if len(found) != 1:
        some = ", ".join(row["key"] for row in rows[:5])
        raise ConfigError(f"{job} has {len(found) or 'no'} rows {key!r}; the first keys are {some}")
    return found[0]


class _Held:
    """All that a store knows of some rows, read with a few queries."""

    def __init__(
        self,
        store: Store,
        job: str,
        rows: Sequence[Mapping[str, Any]],
        texts: Mapping[str, str],
        images: Mapping[str, Mapping[int, PageImage]],
        value: Value,
    ) -> None:
        keys = {row["key"] for row in rows}
        self._texts, self._images, self._value = texts, images, value
        runs = {str(row["run_id"]) for row in rows}
        self._answers = {
            row["key"]: row
            for run in runs
            for row in store.answers_of(run).iter_rows(named=True)
            if row["key"] in keys
        }
        self._dead = _by_key(store.dead_letters(job, status="open"), keys)
        self._kept = _by_key(store.kept(job), keys)

    def shown(self, row: Mapping[str, Any]) -> ShownRow:
        """One row."""
        return replace(self._shown(row), images=self._images.get(row["key"]))

    def _shown(self, row: Mapping[str, Any]) -> ShownRow:
        key, state = row["key"], row["state"]
        answer, dead = self._answers.get(key), self._dead.get(key)
        kept = self._kept.get(key) or dead or {}
        text = self._texts.get(key)
        text = text_of_request(kept.get("request")) if text is None else text
        if state == "accepted" and answer is not None:
            evidence = json.loads(answer["evidence"] or "[]")
            return ShownRow(
                key, state, text, self._value(answer["answer"]), evidence, facts=_answer_facts(answer)
            )
        if dead is None:
            return ShownRow(key, state, text)
        return ShownRow(
            key,
            state,
            text,
            value=_json(dead["raw_reply"]),
            reason=dead["reason"],
            findings=json.loads(dead["findings"] or "[]"),
            reply=dead["raw_reply"],
            facts=_dead_facts(dead),
        )


def _by_key(frame: pl.DataFrame, keys: set[str]) -> dict[str, dict[str, Any]]:
    return {row["key"]: row for row in frame.iter_rows(named=True) if row["key"] in keys}


def _json(text: str | None) -> Any:
    try:
        found = json.loads(text or "null")
    except ValueError:
        return None
    return found if isinstance(found, dict | list) else None


def _answer_facts(answer: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        ("model", answer["model"] or NOTHING),
        ("answered", moment(answer["finished_at"])),
        ("request", answer["request_id"] or NOTHING),
    ]


def _dead_facts(dead: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        ("requests", count(dead["attempts"])),
        ("last tried", moment(dead["last_at"])),
        ("stop reason", dead["stop_reason"] or NOTHING),
        ("cost", money(dead["cost"])),
    ]


__all__ = ["Texts", "shown_rows"]
