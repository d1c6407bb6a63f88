"""What a store tells of one run, as figures: counts, times, tokens, findings.

Reads the store's tables and draws nothing. Long runs are gathered into a few dozen spans of time, so a
page stays small however many requests there were.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from extract.errors import ConfigError
from extract.store import Store

if TYPE_CHECKING:
    import polars as pl

BINS = 48
EXAMPLES = 3
CATEGORIES = ("input", "cache_read", "cache_write_1h", "cache_write_5m", "output")
TURNED_AWAY = (429, 529)


@dataclass(frozen=True, slots=True)
class Spans:
    """A run cut into equal spans of time; every list has one number a span.

    width: of one span, in seconds. done: rows with an outcome since the start. in_flight: the most requests
    that flew at once. turned_away: requests refused for a rate limit or overload. hits, misses:
    replies by whether they read the cache.
    """

    width: float
    ended: Sequence[int]
    in_flight: Sequence[int]
    turned_away: Sequence[int]
    hits: Sequence[int]
    misses: Sequence[int]

    @property
    def done(self) -> list[int]:
        """Rows with an outcome since the start."""
        sums, total = [], 0
        for ended in self.ended:
            total += ended
            sums.append(total)
        return sums


@dataclass(frozen=True, slots=True)
class Letter:
    """One dead letter as an example."""

    key: str
    attempts: int
    findings: Sequence[dict[str, Any]]
    reply: str


@dataclass(frozen=True)
class Figures:
    """Everything that the report page says of one run.

    run: its row of `runs`. counts: as the run's report told them, or as the store holds them for a run
    that was killed. others: the runs of the same store, newest first. spans: None for a run that sent
    nothing. latencies: quantile → seconds. kinds: requests by why they were sent, with their cost.
    faults: requests by what went wrong. asked_again: re-asks by field. evidence: by field, how values
    are supported; letters: by reason, how many and some of them; both of the job as it stands now.
    """

    store: str
    run: dict[str, Any]
    counts: dict[str, Any]
    others: Sequence[dict[str, Any]]
    seconds: float
    spans: Spans | None
    tokens: dict[str, int]
    thinking: int
    cost: Decimal | None
    kinds: Sequence[tuple[str, int, Decimal | None]]
    latencies: dict[str, float]
    latency_bars: Sequence[tuple[str, int]]
    faults: Sequence[tuple[str, int]]
    asked_again: Sequence[tuple[str, int]]
    evidence: dict[str, Counter[str]]
    letters: dict[str, tuple[int, list[Letter]]]
    total: dict[str, Any] = field(default_factory=dict)

    @property
    def requests(self) -> int:
        """Requests that the run sent."""
        return sum(number for _, number, _ in self.kinds)


def figures_of(store: Store, run_id: str | None = None) -> Figures:
    """The figures of a run. run_id: by default the last one that sent a request, or else the last.

    Raises ConfigError for a store without runs and for a run that is not there.
    """
    runs = store.runs().to_dicts()
    run = _run(runs, run_id, store)
    calls = store.calls(run_id=run["run_id"])
    latest = next(one["run_id"] for one in reversed(runs) if one["job"] == run["job"])
    answers, rows = store.answers_of(latest), store.rows(run["job"])
    letters = store.dead_letters(run["job"], status="open")
    costs = calls["cost"].drop_nulls()
    usage = calls.unnest("usage") if calls.height else calls
    return Figures(
        store=store.name,
        run=run,
        counts=json.loads(run["counts"]) if run["counts"] else _counted(rows),
        others=runs[::-1],
        seconds=_lasted(run, calls),
        spans=_spans(calls, rows) if calls.height else None,
        tokens={name: _sum(usage, name) for name in CATEGORIES},
        thinking=_sum(usage, "thinking"),
        cost=sum(costs, Decimal(0)) if costs.len() else None,
        kinds=_kinds(calls),
        latencies=_quantiles(calls),
        latency_bars=_latency_bars(calls),
        faults=_faults(calls),
        asked_again=_asked_again(calls),
        evidence=_evidence(answers),
        letters=_letters(letters, set(rows.filter(rows["state"] == "dead")["key"])),
    )


def _run(runs: Sequence[dict[str, Any]], run_id: str | None, store: Store) -> dict[str, Any]:
    if not runs:
        raise ConfigError(f"{store.name} holds no run yet")
    if run_id is None:
        sent = set(store.calls()["run_id"].unique())
        return next((run for run in reversed(runs) if run["run_id"] in sent), runs[-1])
    found = [run for run in runs if str(run["run_id"]).startswith(run_id)]
    if len(found) != 1:
        known = ", ".join(str(run["run_id"]) for run in runs[-5:])
        raise ConfigError(f"{store.name} has {len(found)} runs {run_id!r}; the last ones are {known}")
    return found[0]


def _counted(rows: pl.DataFrame) -> dict[str, Any]:
    states = Counter(rows["state"])
    dead = Counter(
        reason for reason, state in zip(rows["reason"], rows["state"], strict=True) if state == "dead"
    )
    return {
        "rows": rows.height,
        "accepted": states["accepted"],
        "dead_letters": states["dead"],
        "pending": states["pending"],
        "dead_by_reason": dict(dead),
    }


def _lasted(run: dict[str, Any], calls: pl.DataFrame) -> float:
    end = run["finished_at"] or (calls["started_at"].max() if calls.height else None)
    started = run["started_at"]
    both = isinstance(end, datetime) and isinstance(started, datetime)
    return max(0.0, (end - started).total_seconds()) if both else 0.0


def _sum(frame: pl.DataFrame, name: str) -> int:
    return int(frame[name].fill_null(0).sum()) if name in frame.columns else 0


# -- over time ------------------------------------------------------------------------------------


def _spans(calls: pl.DataFrame, rows: pl.DataFrame) -> Spans:
    """Times count from the first request: what happens before it is preparation."""
    import polars as pl

    start = pl.col("started_at").min()
    timed = calls.select(
        "key",
        "status",
        begin=(pl.col("started_at") - start).dt.total_microseconds() / 1e6,
        latency=pl.col("latency").fill_null(0.0),
        read=pl.col("usage").struct.field("cache_read").fill_null(0) > 0,
        told=pl.col("usage").struct.field("input").is_not_null(),
    ).with_columns(end=pl.col("begin") + pl.col("latency"))
    length = max(1e-6, float(timed["end"].max() or 0))  # type: ignore[arg-type]
    width = length / BINS
    pending = set(rows.filter(rows["state"] == "pending")["key"])
    ended = timed.filter(~pl.col("key").is_in(pending)).group_by("key").agg(pl.col("end").max())
    away = timed.filter(pl.col("status").is_in(TURNED_AWAY))
    told = timed.filter("told")
    return Spans(
        width,
        _binned(ended["end"], width),
        _flying(timed, width),
        _binned(away["end"], width),
        _binned(told.filter("read")["end"], width),
        _binned(told.filter(~pl.col("read"))["end"], width),
    )


def _binned(times: pl.Series, width: float) -> list[int]:
    bins = [0] * BINS
    for span, number in Counter((times / width).cast(int).clip(0, BINS - 1).to_list()).items():
        bins[span] = number
    return bins


def _flying(timed: pl.DataFrame, width: float) -> list[int]:
    """The most requests in flight at once, span by span."""
    import polars as pl

    events = pl.concat(
        [
            timed.select(at="begin", step=pl.lit(1)),
            timed.select(at="end", step=pl.lit(-1)),
        ]
    ).sort("at", "step", descending=[False, True])
    levels = events.select(
        span=(pl.col("at") / width).cast(pl.Int64).clip(0, BINS - 1), level=pl.col("step").cum_sum()
    )
    most = dict(levels.group_by("span").agg(pl.col("level").max()).iter_rows())
    left = dict(levels.group_by("span", maintain_order=True).agg(pl.col("level").last()).iter_rows())
    found, current = [], 0
    for span in range(BINS):
        found.append(max(current, most.get(span, 0)))
        current = left.get(span, current)
    return found


# -- requests -------------------------------------------------------------------------------------


def _kinds(calls: pl.DataFrame) -> list[tuple[str, int, Decimal | None]]:
    import polars as pl

    grouped = calls.group_by("kind").agg(pl.len(), pl.col("cost").sum(), known=pl.col("cost").count())
    rows = sorted(grouped.iter_rows(), key=lambda row: -row[1])
    return [(kind, number, cost if known else None) for kind, number, cost, known in rows]


def _quantiles(calls: pl.DataFrame) -> dict[str, float]:
    import polars as pl

    seen = calls.filter(pl.col("status") == 200)["latency"].drop_nulls()
    if not seen.len():
        return {}
    names = {"median": 0.5, "90 %": 0.9, "99 %": 0.99, "longest": 1.0}
    return {name: float(seen.quantile(at, "linear") or 0) for name, at in names.items()}


def _latency_bars(calls: pl.DataFrame) -> list[tuple[str, int]]:
    """Counts of replies by latency; the spans grow by a fixed factor, since latencies have long tails."""
    import polars as pl

    seen = calls.filter(pl.col("status") == 200)["latency"].drop_nulls()
    if not seen.len():
        return []
    low, high = max(1e-3, float(seen.min() or 0)), max(2e-3, float(seen.max() or 0))  # type: ignore[arg-type]
    size = 16
    factor = max(1.02, (high / low) ** (1 / size))
    edges = [low * factor**i for i in range(size + 1)]
    places = seen.map_elements(
        lambda value: min(size - 1, max(0, int(math.log(max(value, low) / low) / math.log(factor)))),
        return_dtype=pl.Int64,
    )
    found = Counter(places.to_list())
    return [(_seconds(edges[i]), found[i]) for i in range(size)]


def _seconds(value: float) -> str:
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.1f} s"


def _faults(calls: pl.DataFrame) -> list[tuple[str, int]]:
    kinds = (str(fault).split(":", 1)[0] for fault in calls["fault"].drop_nulls())
    return Counter(kinds).most_common()


def _asked_again(calls: pl.DataFrame) -> list[tuple[str, int]]:
    """How many re-asks were about a field; the place in a list does not count."""
    found: Counter[str] = Counter()
    for about in calls["about"].drop_nulls():
        found.update({field_of(path) for path in json.loads(about)})
    return found.most_common()


def field_of(path: str) -> str:
    """A JSON pointer as a field: `/lines/3/amount` is `lines.amount`."""
    parts = [part for part in path.strip("/").split("/") if part and not part.isdigit()]
    return ".".join(part.replace("~1", "/").replace("~0", "~") for part in parts) or "(whole answer)"


# -- answers --------------------------------------------------------------------------------------


def _evidence(answers: pl.DataFrame) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = {}
    for spans in answers["evidence"].drop_nulls():
        for span in json.loads(spans):
            found.setdefault(field_of(span["path"]), Counter())[span["status"]] += 1
    return found


def _letters(letters: pl.DataFrame, keys: set[str]) -> dict[str, tuple[int, list[Letter]]]:
    found: dict[str, tuple[int, list[Letter]]] = {}
    mine = (row for row in letters.iter_rows(named=True) if row["key"] in keys)
    for row in mine:
        number, examples = found.get(row["reason"], (0, []))
        if len(examples) < EXAMPLES:
            examples.append(_letter(row))
        found[row["reason"]] = (number + 1, examples)
    return dict(sorted(found.items(), key=lambda item: -item[1][0]))


def _letter(row: dict[str, Any]) -> Letter:
    return Letter(row["key"], row["attempts"], json.loads(row["findings"] or "[]"), row["raw_reply"] or "")
