"""How good answers are, against what people say is right.

Rows without gold, and fields that the gold of a row leaves out, count for nothing: missing is not wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from extract.errors import ConfigError, InputError
from extract.labels.chance import Interval, share
from extract.labels.scores import Pair, Score, confusion, inner, per_class, score
from extract.labels.sources import Answers, all_answers, need
from extract.labels.values import Rules, Tolerance, matches
from extract.markup import card, folded, pairs, table
from extract.show.numbers import NOTHING, count, lines_of, money, percent, short

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Evaluation:
    """What `evaluate` found.

    gold: rows that were asked for and have gold. answered: those of them with an accepted answer. correct:
    those whose every known field matches. right: the share of `correct` in `gold`; a row without an answer is
    not right.
    cost: of all answers, in USD, where it is known. scores: one a field, inner fields of lists after them.
    """

    name: str
    gold: int
    answered: int
    correct: int
    right: Interval
    cost: Decimal | None
    scores: tuple[Score, ...]
    _found: Mapping[str, Sequence[Pair]] = field(repr=False)
    _rules: Rules = field(repr=False)
    _keys: tuple[str, ...] = field(repr=False)

    @property
    def cost_per_correct(self) -> Decimal | None:
        """USD for each row that is right in all its fields, at the price of all rows that were evaluated."""
        return self.cost / self.correct if self.cost is not None and self.correct else None

    @property
    def fields(self) -> pl.DataFrame:
        """One row a field: its figures, with 95 % intervals."""
        import polars as pl

        return pl.DataFrame([_flat(one) for one in self.scores], infer_schema_length=None)

    @property
    def wrong(self) -> pl.DataFrame:
        """Every value that does not match: key, field, answer, gold (as text), in the order of the gold."""
        import polars as pl

        rows = [
            {"key": pair.key, "field": name, "answer": _text(pair.answer), "gold": _text(pair.gold)}
            for name, found in self._found.items()
            for pair in found
            if not matches(pair.answer, pair.gold, self._rules, name)
        ]
        schema = dict.fromkeys(("key", "field", "answer", "gold"), pl.String)
        return pl.DataFrame(rows, schema=schema)

    def confusion(self, name: str) -> pl.DataFrame:
        """Of a field with classes: one row a gold value, one column an answer, rows counted.

        Raises ConfigError for a field without classes.
        """
        import polars as pl

        counts = confusion(self._of(name))
        if counts is None:
            raise ConfigError(
                f"{name} has no classes (a list, a number or many texts): see .fields and .wrong"
            )
        names = sorted({one for both in counts for one in both}, key=str)
        rows = [{"gold": _named(gold), **{_named(a): counts[gold, a] for a in names}} for gold in names]
        return pl.DataFrame(rows, schema={"gold": pl.String, **dict.fromkeys(map(_named, names), pl.Int64)})

    def classes(self, name: str) -> pl.DataFrame:
        """Of a field with classes: rows, precision, recall and F1 of each."""
        import polars as pl

        counts = confusion(self._of(name))
        if counts is None:
            raise ConfigError(
                f"{name} has no classes (a list, a number or many texts): see .fields and .wrong"
            )
        columns = ["class", "rows", "precision", "recall", "f1"]
        return pl.DataFrame(per_class(counts), schema=columns, orient="row")

    def _of(self, name: str) -> Sequence[Pair]:
        if name not in self._found:
            raise ConfigError(f"there is no field {name!r}; there are {', '.join(self._found)}")
        return self._found[name]

    def lines(self) -> list[tuple[str, str]]:
        """The whole in (label, text)."""
        found = [
            ("rows", f"{count(self.gold)} with gold, {count(self.answered)} answered"),
            ("right", f"{count(self.correct)} in every field: {_between(self.right)}"),
        ]
        if self.cost_per_correct is not None:
            found.append(("cost", f"{money(self.cost)}, {money(self.cost_per_correct)} a correct row"))
        return found

    def __str__(self) -> str:
        head = [f"{label:<6} {said}" for label, said in self.lines()]
        return "\n".join([*head, "", *lines_of(COLUMNS, map(_row, self.scores))])

    def _repr_html_(self) -> str:
        scores = table(COLUMNS, [_row(one) for one in self.scores], numeric=range(1, len(COLUMNS)))
        return str(card(f"Evaluation of {self.name}", pairs(self.lines()), scores, self._wrong_table()))

    def _wrong_table(self) -> Any:
        wrong = self.wrong
        if wrong.is_empty():
            return None
        shown = table(wrong.columns, wrong.head(20).rows())
        return folded(f"{count(wrong.height)} values that do not match (the first 20)", shown)


COLUMNS = (
    "field",
    "rows",
    "exact",
    "match",
    "95 % interval",
    "precision",
    "recall",
    "F1",
    "likeness",
    "error",
)


def evaluate(
    answers: Any,
    gold: Any,
    *,
    key: str | Sequence[str] | None = None,
    fields: Collection[str] | None = None,
    tolerance: Mapping[str, Tolerance] | None = None,
    ordered: Collection[str] = (),
    seed: int = 0,
) -> Evaluation:
    """Compares answers with gold, field by field.

    answers: a run, or a table.
    gold: a table, a .jsonl or .parquet file, or what people said (`labels.book`). In a mapping or a JSON
        line, a field that is left out is unknown; null says that there is no value.
    key: columns that name a row; a run knows its own.
    fields: only these; by default all that both sides have.
    tolerance: by field ("total", "lines.amount"), how far apart numbers and dates (timedelta) may be.
    ordered: fields whose lists are compared place by place.
    seed: of the bootstrap.
    Raises InputError where no row or no field is on both sides, MissingExtraError without extra `labels`.
    """
    need("scipy", "rapidfuzz")
    said, right = all_answers(answers, gold, key=key)
    rules = Rules(tolerance or {}, frozenset(ordered))
    names = shared_fields(said, right, fields)
    verdict = verdicts(said, right, names, rules)
    if not verdict:
        raise InputError("no row is in both: do the keys mean the same on both sides?")
    found = paired(said, right, names)
    scores = []
    for name, mine in found.items():
        scores.append(score(name, mine, rules, seed=seed))
        scores += [score(path, below, rules, seed=seed) for path, below in inner(name, mine, rules).items()]
    answered = sum(key in said.rows for key in verdict)
    return Evaluation(
        said.name or "answers",
        len(verdict),
        answered,
        sum(verdict.values()),
        _right(list(verdict.values()), seed),
        _cost(said, verdict),
        tuple(scores),
        found,
        rules,
        said.keys,
    )


def shared_fields(said: Answers, right: Answers, fields: Collection[str] | None) -> list[str]:
    """Fields to compare, in the order of the answers. Raises InputError where there are none."""
    both = [name for name in said.fields if name in right.fields]
    if fields is not None:
        unknown = [name for name in fields if name not in both]
        if unknown:
            raise InputError(
                f"no field {', '.join(unknown)} on both sides; there are {', '.join(both) or 'none'}"
            )
        both = [name for name in both if name in fields]
    if not both:
        raise InputError(
            f"no field is on both sides: the answers have {', '.join(said.fields) or 'none'}, "
            f"gold has {', '.join(right.fields) or 'none'}"
        )
    return both


def paired(said: Answers, right: Answers, names: Sequence[str]) -> dict[str, list[Pair]]:
    """For each field, the rows that were answered and whose gold is known, in the order of the gold."""
    both = [(key, said.rows[key], gold) for key, gold in right.rows.items() if key in said.rows]
    found = {
        name: [Pair(key, row.get(name), gold[name]) for key, row, gold in both if name in gold]
        for name in names
    }
    return {name: pairs for name, pairs in found.items() if pairs}


def verdicts(said: Answers, right: Answers, names: Sequence[str], rules: Rules) -> dict[str, bool]:
    """For each row that was asked for and has gold, whether it is right in every field that is known."""
    found = {}
    for key, gold in right.rows.items():
        known = [name for name in names if name in gold]
        if known and said.asked(key):
            row = said.rows.get(key)
            found[key] = row is not None and all(matches(row.get(n), gold[n], rules, n) for n in known)
    return found


def _right(verdict: Sequence[bool], seed: int) -> Interval:
    import numpy as np

    each = np.array([[float(ok), 1.0] for ok in verdict], dtype=np.float64)
    return share(each, seed=seed)


def _cost(said: Answers, verdict: Mapping[str, bool]) -> Decimal | None:
    """The share of the cost that the rows with gold stand for."""
    if said.cost is None or not said.rows:
        return None
    return said.cost * sum(key in said.rows for key in verdict) / len(said.rows)


def _flat(one: Score) -> dict[str, Any]:
    row: dict[str, Any] = {"field": one.field, "kind": one.kind, "rows": one.rows}
    for name in ("exact", "match", "f1"):
        found: Interval | None = getattr(one, name)
        bounds = asdict(found) if found else dict.fromkeys(("value", "low", "high"))
        row |= {name: bounds["value"], f"{name}_low": bounds["low"], f"{name}_high": bounds["high"]}
    return row | {name: getattr(one, name) for name in ("precision", "recall", "likeness", "error")}


def _row(one: Score) -> list[str]:
    return [
        one.field,
        count(one.rows),
        percent(one.exact.value),
        percent(one.match.value),
        f"{percent(one.match.low)} to {percent(one.match.high)}",
        percent(one.precision),
        percent(one.recall),
        percent(one.f1.value if one.f1 else None),
        NOTHING if one.likeness is None else f"{one.likeness:.2f}",
        short(one.error),
    ]


def _between(found: Interval) -> str:
    return f"{percent(found.value)} (95 % interval {percent(found.low)} to {percent(found.high)})"


def _named(value: str | None) -> str:
    return "(no value)" if value is None else value


def _text(value: Any) -> str | None:
    return None if value is None else str(value)
