"""What a run will cost and how long it will take, from a small paid sample.

The pilot is a run like any other: its answers are kept and not paid again. Knows how to ask for it and
what to make of it; the arithmetic is in `plan_math`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from extract.errors import InputError
from extract.intake import table_intake
from extract.plan_math import CacheChoice, Interval, Sample, cache_choices, draw, share, total, wall_time
from extract.prices import Price
from extract.prompt import Rendered
from extract.protocol.usage import Usage
from extract.report import Report
from extract.show.cards import plan_card
from extract.store import Store

if TYPE_CHECKING:
    from extract.options import Options
    from extract.pipeline import Pipeline
    from extract.tables import Row, RowSource

SumOf = Callable[[Iterable[tuple[int, float | None]]], Interval | None]

_UNPRICED = "no prices given: tokens and time alone"


@dataclass(frozen=True, slots=True)
class Plan:
    """An estimate for a whole table, each figure with its 90% interval.

    rows: in the table. answered: already in the store. unsendable: null, empty or unreadable. to_ask:
    different requests that remain, those of the pilot included. pilot: the report of the paid sample.
    input, output: tokens of all that is asked, cached input included. cost: USD, or None without
    prices. seconds: at the pace of the pilot. dead_letters: rows. cache: what `cache=` would cost.
    A figure that the pilot says nothing of is None: it was stopped, or the service reports no usage.
    """

    rows: int
    answered: int
    unsendable: int
    to_ask: int
    pilot: Report
    input: Interval | None
    output: Interval | None
    cost: Interval | None
    seconds: Interval | None
    dead_letters: Interval | None
    cache: tuple[CacheChoice, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As JSON; intervals as low, value and high."""
        intervals = ("input", "output", "cost", "seconds", "dead_letters")
        return {
            "rows": self.rows,
            "answered": self.answered,
            "unsendable": self.unsendable,
            "to_ask": self.to_ask,
            "pilot": self.pilot.as_dict(),
            "cache": [asdict(choice) for choice in self.cache],
        } | {name: None if getattr(self, name) is None else asdict(getattr(self, name)) for name in intervals}

    def __str__(self) -> str:
        return "\n".join(f"{label:<13} {text}" for label, text in self.lines())

    def _repr_html_(self) -> str:
        return plan_card("Plan", self.lines())

    def lines(self) -> list[tuple[str, str]]:
        """The plan as (label, text), for a terminal or a page."""
        asked = f"{self.rows:,} in, {self.to_ask:,} to ask"
        asked += f", {self.answered:,} already answered" if self.answered else ""
        asked += f", {self.unsendable:,} cannot be sent" if self.unsendable else ""
        cost = _span(self.cost, " USD", digits=4) if self.cost or self.input is None else _UNPRICED
        return [
            ("rows", asked),
            ("pilot", f"{self.pilot.requests} requests, answers kept{_paid(self.pilot)}"),
            ("input", _span(self.input, " tokens")),
            ("output", _span(self.output, " tokens")),
            ("cost", cost),
            ("time", _span(self.seconds, " s")),
            ("dead letters", _span(self.dead_letters, "")),
            *(("cache", text) for text in _cache_lines(self.cache)),
        ]


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A row that has to be asked. length: tokens of its own part of the request, estimated."""

    row: Row
    fingerprint: str
    length: float


@dataclass(frozen=True, slots=True)
class _Survey:
    rows: int
    answered: int
    unsendable: int
    waiting: tuple[_Waiting, ...]


def make_plan(
    pipeline: Pipeline,
    frame: Any,
    *,
    key: str | Sequence[str] | None,
    limit: int | None,
    pilot: int,
    seed: int,
    options: Options,
) -> Plan:
    """Surveys the table, pays for the pilot, and works out the rest.

    options: of the pilot's run. Raises InputError for an input that can be read once only.
    """
    store = options.store
    survey = _survey(pipeline, table_intake(frame, key, limit).source, store)
    lengths = [waiting.length for waiting in survey.waiting]
    sample = draw(lengths, pilot, seed=seed)
    drawn = [survey.waiting[number] for number in sample.drawn]
    rows = [dict(waiting.row.values) for waiting in drawn]
    run = pipeline.run(
        rows,
        key=key if rows else None,
        store=store,
        limit=len(rows),
        keep=options.keep,
        private=options.private,
        overlap=options.overlap,
    )
    calls = _calls(store, run.id)
    return _estimate(pipeline, survey, sample, lengths, run.report, calls)


def _survey(pipeline: Pipeline, source: RowSource, target: Any) -> _Survey:
    """Which rows have to be asked, equal ones once."""
    if not source.repeatable:
        raise InputError("a plan reads the table twice: give a table or a list, not an iterator")
    if pipeline.split is not None:
        raise InputError("a plan does not cut documents: plan with split=None, or give the pieces as rows")
    rows = unsendable = 0
    waiting: dict[str, _Waiting] = {}
    for batch in source:
        for row in batch:
            rows += 1
            made = pipeline.rendering.render(row.values)
            if not isinstance(made, Rendered):
                unsendable += 1
                continue
            fingerprint = pipeline.envelope.fingerprint(made.blocks)
            length = pipeline.envelope.estimate_tokens(made.blocks) - pipeline.envelope.prefix_tokens
            waiting.setdefault(fingerprint, _Waiting(row, fingerprint, length))
    with Store.look(target) as store:
        answered = store.recall(list(waiting)).result()
    left = tuple(one for one in waiting.values() if one.fingerprint not in answered)
    return _Survey(rows, len(answered), unsendable, left)


@dataclass(slots=True)
class _Spent:
    """What one row of the pilot took."""

    usage: Usage
    latency: float = 0.0


def _calls(target: Any, run_id: str) -> dict[str, _Spent]:
    """By fingerprint, all requests of a row together."""
    with Store.look(target) as store:
        calls = store.calls(run_id=run_id)
    spent: dict[str, _Spent] = {}
    for call in calls.iter_rows(named=True):
        one = spent.setdefault(call["fingerprint"], _Spent(Usage()))
        one.usage += Usage(**call["usage"])
        one.latency += call["latency"] or 0.0
    return spent


def _estimate(
    pipeline: Pipeline,
    survey: _Survey,
    sample: Sample,
    lengths: Sequence[float],
    report: Report,
    calls: Mapping[str, _Spent],
) -> Plan:
    spent = {
        n: calls[survey.waiting[n].fingerprint]
        for n in sample.drawn
        if survey.waiting[n].fingerprint in calls
    }
    asked = len(survey.waiting)
    pace = pipeline.pace
    if not spent:
        none = None if asked else Interval(0.0, 0.0, 0.0)
        return Plan(
            survey.rows, survey.answered, survey.unsendable, asked, report, none, none, none, none, none
        )
    price = pipeline.prices.find(pipeline.model) if pipeline.prices is not None else None

    def sum_of(values: Iterable[tuple[int, float | None]]) -> Interval | None:
        known = {n: value for n, value in values if value is not None}
        return total(sample, lengths, known) if known else None

    work = total(sample, lengths, {n: one.latency for n, one in spent.items()})
    seconds = wall_time(
        work,
        concurrency=pace.concurrency if pace else 64,
        rows=asked,
        per_second=pace.requests_per_minute / 60 if pace and pace.requests_per_minute else None,
    )
    prefix = pipeline.envelope.prefix_tokens
    return Plan(
        survey.rows,
        survey.answered,
        survey.unsendable,
        asked,
        report,
        sum_of((n, one.usage.total_input) for n, one in spent.items()),
        sum_of((n, one.usage.output) for n, one in spent.items()),
        _cost(sum_of, spent, price, pipeline.cache, prefix),
        seconds,
        share(report.dead_letters, len(spent), asked),
        tuple(cache_choices(price, prefix_tokens=prefix, requests=asked, seconds=seconds.value))
        if price
        else (),
    )


def _cost(
    sum_of: SumOf, spent: Mapping[int, _Spent], price: Price | None, ttl: str | None, prefix: int
) -> Interval | None:
    """The rows as if all read the prefix from the cache, and one write of it on top."""
    if price is None:
        return None
    costs = {n: price.cost(_steady(one.usage)) for n, one in spent.items()}
    known = {n: float(cost) for n, cost in costs.items() if cost is not None}
    if len(known) < len(costs):
        return None
    rows = sum_of(known.items())
    if rows is None:
        return None
    wrote = any(one.usage.cache_write for one in spent.values())
    read = price.cache_read if price.cache_read is not None else price.input
    write = float((price.write(ttl) - read) * prefix / Decimal(1_000_000)) if wrote else 0.0
    return Interval(rows.low + write, rows.value + write, rows.high + write)


def _steady(usage: Usage) -> Usage:
    """A row that came first wrote the prefix; any other reads it."""
    if not usage.cache_write or usage.cache_read:
        return usage
    return usage._replace(cache_read=usage.cache_write, cache_write_1h=0, cache_write_5m=0)


def _span(interval: Interval | None, unit: str, *, digits: int = 0) -> str:
    if interval is None:
        return "unknown: the pilot does not tell"
    low, value, high = (f"{number:,.{digits}f}" for number in (interval.low, interval.value, interval.high))
    return f"{value}{unit} (90%: {low} to {high})"


def _paid(report: Report) -> str:
    return "" if report.cost is None else f", {report.cost:.4f} USD paid"


def _cache_lines(choices: Sequence[CacheChoice]) -> list[str]:
    lines = []
    for choice in choices:
        if choice.cost is None:
            continue
        name = "no cache" if choice.cache is None else f'cache="{choice.cache}"'
        even = f", cheaper than none from request {choice.break_even}" if choice.break_even else ""
        lines.append(f"{name}: {choice.cost:.4f} USD for the shared prefix{even}")
    return lines
