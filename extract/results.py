"""The rows of one run as typed tables, read from the store when somebody asks.

Knows nothing of how they were made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from extract.errors import StoreError
from extract.garbage import seldom
from extract.schema.column_json import MisfitError
from extract.schema.column_nodes import unrooted
from extract.schema.columns import Columns
from extract.schema.compile import CompiledSchema
from extract.show import Figures, ShownRow, figures_of, shown_rows
from extract.show.held import AROUND
from extract.store import Store
from extract.tables import Key, Layout, evidence_column
from extract.tables.bulk import frame_of_values
from extract.tables.explode import exploded
from extract.tables.own import EVIDENCE, evidence_of
from extract.texts import SourceTexts, model_value

if TYPE_CHECKING:
    import polars as pl


_AT_ONCE = 10_000  # rows that are laid out at a time
_READ = ("key", "fingerprint", "answer", "evidence", "cost")  # of the answers, by the methods below
SMALL = 20_000  # rows of a run that are held as they stood at its end


@dataclass(frozen=True)
class Held:
    """Answers and dead letters of a run as they stood at its end.

    The store tells of each row where it stands now: a later run over the same rows takes them over.
    """

    answers: pl.DataFrame
    letters: pl.DataFrame

    @classmethod
    def of(cls, store: Store, job: str, run_id: str) -> Held:
        """What the store says of a run now."""
        return cls(store.answers_of(run_id, _READ), _letters(store, job, run_id))


@dataclass(frozen=True)
class Results:
    """Where the rows of a run are, and what they are.

    target: what the store was opened with, or the open store itself where it lives in memory.
    count: accepted rows. held: the rows themselves, of a run that is small enough.
    texts: makes the texts of rows again from the input, where that is still there.
    """

    target: Any
    job: str
    run_id: str
    compiled: CompiledSchema[Any]
    columns: Columns
    key: Key
    count: int = 0
    held: Held | None = None
    evidence: bool = False
    texts: SourceTexts | None = None

    def accepted(self) -> pl.DataFrame:
        """Key and typed columns of the accepted rows, in the order of the input."""
        extra = (evidence_column(),) if self.evidence else ()
        many = self.compiled.many
        layout = Layout(self.key, self.columns, many, extra)
        return self._table(layout, _items if many else _itself, self.columns.rows)

    def exploded(self, field: str) -> pl.DataFrame:
        """The items of a list field of the accepted rows: key, `index`, the item's columns."""
        found = exploded(self.compiled.model, field)
        assert found is not None
        layout = Layout(self.key, found.columns, many=True)
        return self._table(layout, lambda value: list(getattr(value, field, None) or ()), found.items)

    def _table(
        self,
        layout: Layout,
        items_of: Callable[[Any], Sequence[Any]],
        rows_of: Callable[[Any], list[dict[str, Any]]],
    ) -> pl.DataFrame:
        """What each accepted value holds for the table, beside its key and place.

        items_of: the values that are rows of it. rows_of: the same as rows; it says what does not fit.
        """
        import polars as pl

        columns = ("key", "answer", "evidence") if layout.extra else ("key", "answer")
        with seldom():
            parts = [
                self._part(layout, items_of, rows_of, answers)
                for part in self._answers(*columns)
                for answers in part.iter_slices(_AT_ONCE)
            ]
        return pl.concat([layout.empty(), *parts])

    def _part(
        self,
        layout: Layout,
        items_of: Callable[[Any], Sequence[Any]],
        rows_of: Callable[[Any], list[dict[str, Any]]],
        answers: pl.DataFrame,
    ) -> pl.DataFrame:
        values = list(map(self.compiled.load, answers["answer"].to_list()))
        items: list[Sequence[Any]]
        try:
            items = list(map(items_of, values))
            columns = frame_of_values(layout.columns, list(chain.from_iterable(items)))
        except MisfitError:
            items = list(map(rows_of, values))
            columns = layout.columns.frame(list(chain.from_iterable(items)))
        counts = list(map(len, items))
        places = list(chain.from_iterable(map(range, counts)))
        keys, extra = _repeated(answers["key"].to_list(), counts), {}
        if layout.extra:
            extra[EVIDENCE] = _repeated(map(evidence_of, answers["evidence"].to_list()), counts)
        return layout.beside_key(keys, places, columns, extra)

    def dead_letters(self) -> pl.DataFrame:
        """The dead letters of this run's rows, also those left from earlier runs, in input order."""
        if self.held is not None:
            return self.held.letters
        with self._store() as store:
            return _letters(store, self.job, self.run_id)

    def seen(self) -> frozenset[str]:
        """Keys of the rows that have an outcome."""
        accepted = (key for part in self._answers("key") for key in part["key"])
        return frozenset([*accepted, *self.dead_letters()["key"]])

    def values(self) -> dict[str, Any]:
        """The accepted values by key, in the order of the input."""
        answers = (row for part in self._answers("key", "answer") for row in part.iter_rows())
        return {key: self.compiled.load(answer) for key, answer in answers}

    def paid(self) -> Decimal | None:
        """What the rows of this run have cost in all, now and before; None where nothing is known."""
        answered = {
            one: cost for part in self._answers("fingerprint", "cost") for one, cost in part.iter_rows()
        }
        known = [cost for cost in (*answered.values(), *self.dead_letters()["cost"]) if cost is not None]
        return sum(known, Decimal(0)) if known else None

    def prompts(self, keys: Sequence[str]) -> dict[str, Any]:
        """The user turns of rows, made again from the input as far as it is at hand: text, or blocks."""
        made = self.texts.rendered(keys) if self.texts else {}
        return {key: _as_prompt(one.blocks) for key, one in made.items()}

    def figures(self) -> Figures:
        """What the store tells of the run."""
        with self._store() as store:
            return figures_of(store, self.run_id)

    def shown(self, key: str | None, *, around: int = AROUND) -> tuple[list[ShownRow], int]:
        """Rows ready to be shown, and the place of `key` among them."""
        with self._store() as store:
            return shown_rows(
                store,
                self.job,
                run_id=self.run_id,
                key=key,
                texts=self.texts,
                images=self.texts.images if self.texts else None,
                value=model_value(self.compiled),
                around=around,
            )

    def _answers(self, *columns: str) -> Iterator[pl.DataFrame]:
        """Columns of the accepted answers, in the order of the input, a bounded number at a time.

        Raises StoreError behind the last where they are not whole.
        """
        if self.held is not None:
            yield from self.held.answers.select(columns).iter_slices(_AT_ONCE)
            return
        found = 0
        with self._store() as store:
            for part in store.answers_in_parts(self.run_id, columns):
                found += part.height
                yield part
        if found != self.count:
            raise StoreError(
                f"{self.count - found:,} of the {self.count:,} rows of run {self.run_id} were taken "
                f"over by a later run: read a large run before its rows are run again, or write it with into="
            )

    @contextmanager
    def opened(self) -> Iterator[Store]:
        """The run's store, for as long as the block lasts."""
        with self._store() as store:
            yield store

    @contextmanager
    def _store(self) -> Iterator[Store]:
        with Store.look(self.target) as store:
            yield store


def _itself(value: Any) -> tuple[Any]:
    return (value,)


def _items(answer: Any) -> Sequence[Any]:
    """The items of a root that is a list; MisfitError for a set, whose order `Columns.rows` makes."""
    items = unrooted(answer)
    if not isinstance(items, list | tuple):
        raise MisfitError("has no order")
    return items


def _repeated(values: Iterable[Any], counts: Sequence[int]) -> list[Any]:
    """Each value as often as it is counted."""
    return list(chain.from_iterable(map(repeat, values, counts)))


def _letters(store: Store, job: str, run_id: str) -> pl.DataFrame:
    letters = store.dead_letters(job, status="open")
    if letters.is_empty():
        return letters
    dead = store.rows(job, run_id=run_id, state="dead")
    return letters.join(dead.select("key"), on="key", how="semi", maintain_order="left")


def _as_prompt(blocks: list[Any]) -> Any:
    only = blocks[0] if len(blocks) == 1 else {}
    return only["text"] if only.get("type") == "text" else blocks
