"""The report page of one run: what happened to its rows, what it cost, what went wrong.

Figures in, one self-contained HTML text out. Nothing on it moves and nothing is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from extract.markup import Markup, folded, join, pairs, table, tag
from extract.show.figures import Figures
from extract.show.numbers import NOTHING, count, moment, money, percent, seconds, share, short
from extract.show.sections import (
    answers_section,
    letters_section,
    money_section,
    requests_section,
    time_section,
)
from extract.show.style import page


def report_page(figures: Figures) -> str:
    """The whole page."""
    run = figures.run
    title = f"{run['job']}: run of {moment(run['started_at'])}"
    return page(
        title,
        tag("main", *(part for part in _parts(figures) if part)),
        tag("footer", tag("p", f"Made from {figures.store} by extract {run.get('library') or ''}.")),
    )


def _parts(figures: Figures) -> Iterable[Markup | None]:
    yield heading(figures)
    yield cards(figures)
    yield time_section(figures)
    yield requests_section(figures)
    yield money_section(figures)
    yield answers_section(figures)
    yield letters_section(figures)
    yield _asked(figures)
    yield _runs(figures)


# -- what came of it ------------------------------------------------------------------------------


def heading(figures: Figures) -> Markup:
    """The job, the run, and the outcome in a sentence."""
    run = figures.run
    told = [
        f"run {run['run_id']}",
        f"{run['model']}, effort {run['effort'] or 'of the model'}",
        f"started {moment(run['started_at'])}",
    ]
    return join(
        (
            tag("h1", run["job"]),
            tag("p", " · ".join(told), class_="sub"),
            tag("p", sentence(figures), class_="lead"),
            _meter(figures),
            _stopped(figures),
        )
    )


def sentence(figures: Figures) -> str:
    """What came of the rows, in a sentence."""
    counts = figures.counts
    rows, accepted = counts.get("rows", 0), counts.get("accepted", 0)
    dead, pending = counts.get("dead_letters", 0), counts.get("pending", 0)
    if not rows:
        return "The input had no rows."
    told = f"{count(accepted)} of {count(rows)} rows have an accepted answer ({share(accepted, rows)})"
    rest = [
        f"{count(number)} {word}"
        for number, word in ((dead, "ended as dead letters"), (pending, "are pending"))
        if number
    ]
    return told + (f"; {' and '.join(rest)}." if rest else ".")


def _meter(figures: Figures) -> Markup | None:
    counts = figures.counts
    rows = counts.get("rows", 0)
    if not rows:
        return None
    parts = [
        ("5", counts.get("accepted", 0)),
        ("bad", counts.get("dead_letters", 0)),
        ("3", counts.get("pending", 0)),
    ]
    marks = [
        tag("i", class_=f"b{tone}", style=f"width:{100 * number / rows:.2f}%")
        for tone, number in parts
        if number
    ]
    return tag("div", *marks, class_="meter", aria_hidden="true")


def _stopped(figures: Figures) -> Markup | None:
    stopped, state = figures.counts.get("stopped"), figures.run["state"]
    if stopped:
        return tag(
            "p",
            tag("b", "Stopped early: "),
            f"{stopped['message']}. {stopped['advice'] or ''}",
            class_="warn",
        )
    if state == "killed":
        return tag("p", "This run ended without saying so. Run it again to go on.", class_="warn")
    if state == "running":
        return tag("p", "This run was still going when the page was made.", class_="warn")
    return None


def cards(figures: Figures) -> Markup:
    """The figures that people look for first."""
    counts, cache = figures.counts, figures.counts.get("cache") or {}
    accepted = counts.get("accepted", 0)
    reused = counts.get("reused", 0) + counts.get("shared", 0)
    asked = sum(1 for name, _, _ in figures.kinds if name == "reask")
    per_row = figures.cost / accepted if figures.cost is not None and accepted else None
    said = [
        (
            "accepted",
            count(accepted),
            f"{count(reused)} without a request" if reused else share(accepted, counts.get("rows", 0)),
        ),
        ("dead letters", count(counts.get("dead_letters", 0)), _reasons(counts)),
        (
            "requests",
            count(figures.requests),
            _extra(counts) if asked or counts.get("retries") else "one a row",
        ),
        ("tokens", short(sum(figures.tokens.values())), f"{short(figures.thinking)} of them thinking"),
        (
            "cost",
            money(figures.cost),
            f"{money(per_row)} an accepted row" if per_row is not None else "no prices were given",
        ),
        ("cache hits", percent(cache.get("hit_ratio")), f"{short(cache.get('read_tokens', 0))} tokens read"),
        ("time", seconds(figures.seconds), _speed(figures)),
    ]
    items = [
        tag("li", tag("span", what, class_="what"), tag("b", value), tag("span", more, class_="more"))
        for what, value, more in said
    ]
    return tag("ul", *items, class_="cards")


def _reasons(counts: Mapping[str, Any]) -> str:
    return ", ".join(f"{n} {reason}" for reason, n in (counts.get("dead_by_reason") or {}).items()) or "none"


def _extra(counts: Mapping[str, Any]) -> str:
    words = (
        ("reasks", "re-asks"),
        ("retries", "retries"),
        ("doublings", "with more room"),
        ("rate_limited", "turned away"),
    )
    return ", ".join(f"{count(counts[name])} {word}" for name, word in words if counts.get(name)) or NOTHING


def _speed(figures: Figures) -> str:
    if not figures.seconds or not figures.spans:
        return "nothing was sent"
    return f"{short(figures.spans.done[-1] / figures.seconds)} rows a second"


# -- what was asked -------------------------------------------------------------------------------


def _asked(figures: Figures) -> Markup:
    run = figures.run
    prefix = json.loads(run["prefix"] or "{}")
    examples = prefix.get("examples") or []
    settings = [
        ("model", run["model"]),
        ("effort", run["effort"] or NOTHING),
        ("max_tokens", count(run["max_tokens"])),
        ("key", ", ".join(run["key_columns"] or []) or "a digest of all columns"),
        ("into", run["into"] or NOTHING),
        ("library", run.get("library") or NOTHING),
    ]
    return tag(
        "section",
        tag("h2", "As it was asked"),
        pairs(settings),
        tag("h3", "System text"),
        tag("pre", prefix.get("system") or "none"),
        folded(f"{len(examples)} examples", tag("pre", pretty(examples))) if examples else None,
        folded("Wire schema", tag("pre", pretty(json.loads(run["schema_text"] or "null")))),
    )


def pretty(value: Any) -> str:
    """JSON for people."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def _runs(figures: Figures) -> Markup:
    rows = []
    for run in figures.others[:50]:
        counts = json.loads(run["counts"] or "{}")
        cost = counts.get("cost_usd")
        rows.append(
            [
                run["run_id"],
                run["job"],
                run["state"],
                *(
                    count(counts.get(name))
                    for name in ("rows", "accepted", "dead_letters", "pending", "requests")
                ),
                money(cost),
            ]
        )
    columns = ["run", "job", "state", "rows", "accepted", "dead", "pending", "requests", "cost"]
    return tag(
        "section",
        tag("h2", "Runs in this store"),
        table(columns, rows, caption="newest first", numeric=range(3, 9)),
    )
