"""What a run did, in figures: values in, text out. Counts nothing itself; the pages are drawn by `show`."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Any

from extract.breaker import Stop
from extract.cache_tally import CacheReport
from extract.errors import ConfigError
from extract.prices import Price
from extract.protocol.usage import Usage
from extract.show import figures_of, report_page
from extract.show.cards import report_card
from extract.store import Store
from extract.store.connect import MEMORY


@dataclass(slots=True)
class Tally:
    """The running counts of one run; the engine adds, everyone else reads.

    requests: sent over the wire, failed ones included. retries, reasks, doublings, rate_limited:
    requests among them by why they were sent, or refused for a limit.
    reused: accepted rows whose answer had been paid for before this run.
    shared: accepted rows that took the answer of an equal row in this run.
    left_dead: dead letters of an earlier run that were not asked again.
    read_all: the input was read to its end, so that `rows` is all there are.
    usage: of all requests; again_usage: of those that were not the first of their row; dead_usage: of
    rows that ended as dead letters. shared_usage, reused_usage: what was not used since an equal row,
    or an earlier run, had paid for the answer.
    """

    rows: int = 0
    accepted: int = 0
    reused: int = 0
    shared: int = 0
    dead: Counter[str] = field(default_factory=Counter)
    left_dead: int = 0
    read_all: bool = False
    in_flight: int = 0
    requests: int = 0
    retries: int = 0
    reasks: int = 0
    doublings: int = 0
    rate_limited: int = 0
    usage: Usage = field(default_factory=Usage)
    again_usage: Usage = field(default_factory=Usage)
    dead_usage: Usage = field(default_factory=Usage)
    shared_usage: Usage = field(default_factory=Usage)
    reused_usage: Usage = field(default_factory=Usage)
    cost: Decimal | None = None

    @property
    def dead_letters(self) -> int:
        """Rows that ended as dead letters, of this run or left from an earlier one."""
        return sum(self.dead.values())

    @property
    def done(self) -> int:
        """Rows with an outcome."""
        return self.accepted + self.dead_letters


@dataclass(frozen=True, slots=True)
class Costs:
    """Where the money of a run went, in USD; None without a price.

    per_accepted: of the whole cost, for each accepted row that was asked. again: requests that were not
    the first of their row. saved_by_cache: against no cache at all; saved_by_sharing: equal rows asked
    once; saved_by_resume: answers of earlier runs.
    """

    per_accepted: Decimal | None = None
    again: Decimal | None = None
    dead_letters: Decimal | None = None
    saved_by_cache: Decimal | None = None
    saved_by_sharing: Decimal | None = None
    saved_by_resume: Decimal | None = None

    @classmethod
    def of(cls, tally: Tally, price: Price | None) -> Costs:
        """The costs behind a tally."""
        if price is None:
            return cls()
        asked = tally.accepted - tally.reused - tally.shared
        plain = price.cost_uncached(tally.usage)
        return cls(
            tally.cost / asked if tally.cost is not None and asked else None,
            price.cost(tally.again_usage),
            price.cost(tally.dead_usage),
            plain - tally.cost if plain is not None and tally.cost is not None else None,
            price.cost(tally.shared_usage),
            price.cost(tally.reused_usage),
        )

    def as_dict(self) -> dict[str, str | None]:
        """As JSON, amounts as decimal strings."""
        return {name: _money(amount) for name, amount in asdict(self).items()}


@dataclass(frozen=True, slots=True)
class Report:
    """Counts, tokens, cost and time of one run.

    whole: how many rows there are is known, also where the run stopped.
    missing: rows of earlier runs that are gone from the input. total: the same sums of the whole store.
    """

    run_id: str
    rows: int
    accepted: int
    reused: int
    shared: int
    dead_letters: int
    dead_by_reason: dict[str, int]
    left_dead: int
    pending: int
    requests: int
    retries: int
    reasks: int
    doublings: int
    rate_limited: int
    usage: Usage
    cost: Decimal | None
    costs: Costs
    cache: CacheReport
    seconds: float
    stopped: Stop | None
    store: str
    whole: bool = True
    missing: int = 0
    missing_dropped: bool = False
    total: dict[str, Any] = field(default_factory=dict)

    @property
    def exit_status(self) -> int:
        """0 all accepted, 3 some dead letters, 4 stopped with rows pending, or before all were read."""
        if self.pending or (self.stopped is not None and not self.whole):
            return 4
        return 3 if self.dead_letters else 0

    def as_dict(self) -> dict[str, Any]:
        """As JSON, with costs as decimal strings."""
        return {
            "run_id": self.run_id,
            "rows": self.rows,
            "accepted": self.accepted,
            "reused": self.reused,
            "shared": self.shared,
            "dead_letters": self.dead_letters,
            "dead_by_reason": self.dead_by_reason,
            "left_dead": self.left_dead,
            "pending": self.pending,
            "requests": self.requests,
            "retries": self.retries,
            "reasks": self.reasks,
            "doublings": self.doublings,
            "rate_limited": self.rate_limited,
            "usage": self.usage.as_dict(),
            "cost_usd": _money(self.cost),
            "costs_usd": self.costs.as_dict(),
            "cache": {**asdict(self.cache), "hit_ratio": self.cache.hit_ratio},
            "seconds": round(self.seconds, 3),
            "stopped": None
            if self.stopped is None
            else {
                "reason": self.stopped.reason,
                "message": self.stopped.message,
                "advice": self.stopped.advice,
            },
            "missing": self.missing,
            "missing_dropped": self.missing_dropped,
            "store": self.store,
            "total": self.total,
        }

    def html(self) -> str:
        """The report as one self-contained page, made from the store's file.

        Raises ConfigError for a store in memory (`run.html()` has it still), StoreError when it is in use.
        """
        if self.store == MEMORY:
            raise ConfigError("this store lives in memory: call html() of the run, not of its report")
        with Store.open(self.store) as store:
            return report_page(figures_of(store, self.run_id))

    def _repr_html_(self) -> str:
        return report_card(self)

    def __str__(self) -> str:
        return "\n".join(f"{label:<13} {text}" for label, text in self.lines())

    def lines(self) -> list[tuple[str, str]]:
        """The report as (label, text), for a terminal or a page."""
        found = [
            ("rows", _rows_line(self)),
            ("requests", _requests_line(self)),
            ("tokens", _tokens_line(self.usage)),
            ("cache", _cache_line(self)),
            ("cost", _cost_line(self)),
            ("time", f"{self.seconds:.1f} s"),
            ("store", self.store),
        ]
        if self.stopped is not None:
            found.append(("stopped", str(self.stopped)))
        return [(label, text) for label, text in found if text]


def _rows_line(report: Report) -> str:
    parts = [f"{report.rows} in", f"{report.accepted} accepted"]
    if report.reused:
        parts[-1] += f" ({report.reused} already answered)"
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(report.dead_by_reason.items()))
    parts.append(f"{report.dead_letters} dead letters" + (f" ({reasons})" if reasons else ""))
    if report.pending:
        parts.append(f"{report.pending} pending")
    if report.missing:
        done = "dropped" if report.missing_dropped else "kept"
        parts.append(f"{report.missing} of earlier runs no longer in the input ({done})")
    return ", ".join(parts)


def _requests_line(report: Report) -> str:
    if not report.requests:
        return "none sent: every answer was in the store" if report.rows else "none sent"
    extra = [
        f"{count} {word}"
        for count, word in (
            (report.reasks, "re-asks"),
            (report.retries, "retries"),
            (report.doublings, "with more room"),
            (report.rate_limited, "turned away by a rate limit"),
        )
        if count
    ]
    return f"{report.requests} sent" + (f" ({', '.join(extra)})" if extra else "")


def _tokens_line(usage: Usage) -> str:
    named = [
        ("input", usage.input),
        ("cache read", usage.cache_read),
        ("cache write 1h", usage.cache_write_1h),
        ("cache write 5m", usage.cache_write_5m),
        ("output", usage.output),
    ]
    told = [f"{count:,} {name}" for name, count in named if count is not None]
    if usage.thinking:
        told[-1] += f" ({usage.thinking:,} thinking)"
    return " · ".join(told)


def _cache_line(report: Report) -> str:
    cache, ratio = report.cache, report.cache.hit_ratio
    seen = cache.reads + cache.misses
    hits = "" if ratio is None else f"{ratio:.0%} of {seen} requests read the shared prefix"
    return "; ".join(part for part in (hits, *cache.notes) if part)


def _cost_line(report: Report) -> str:
    if report.cost is None:
        return "" if not report.requests else "unknown: no prices given for this model"
    parts = [f"{_money(report.cost)} USD"]
    named = (
        (report.costs.per_accepted, "an accepted row"),
        (report.costs.again, "for retries and re-asks"),
        (report.costs.dead_letters, "for dead letters"),
        (report.costs.saved_by_cache, "saved by the cache"),
        (report.costs.saved_by_sharing, "saved on equal rows"),
        (report.costs.saved_by_resume, "saved on rows answered earlier"),
    )
    parts += [f"{_money(amount)} {what}" for amount, what in named if amount]
    return " · ".join(parts)


def _money(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount:.6f}".rstrip("0").rstrip(".")
