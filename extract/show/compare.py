"""Two runs side by side: what differs in what was asked, and in what came of it.

Figures in, one self-contained HTML text out.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable
from typing import Any

from extract.markup import Markup, join, table, tag
from extract.show.figures import Figures
from extract.show.numbers import count, moment, money, percent, seconds
from extract.show.report_page import pretty, sentence
from extract.show.sections import requests_section, time_section
from extract.show.style import page

Reading = tuple[str, Callable[[Figures], float | None], Callable[[Any], str], int]


def _count_of(name: str) -> Callable[[Figures], float | None]:
    return lambda figures: figures.counts.get(name)


def _share(name: str) -> Callable[[Figures], float | None]:
    return lambda figures: (
        figures.counts.get(name, 0) / figures.counts["rows"] if figures.counts.get("rows") else None
    )


def _per_row(figures: Figures) -> float | None:
    accepted = figures.counts.get("accepted", 0)
    return float(figures.cost) / accepted if figures.cost is not None and accepted else None


def _supported(figures: Figures) -> float | None:
    total = sum(sum(found.values()) for found in figures.evidence.values())
    return 1 - sum(found["flagged"] for found in figures.evidence.values()) / total if total else None


# name, how it is read, how it is written, and which way is better: 1 more, -1 less, 0 neither
READINGS: tuple[Reading, ...] = (
    ("rows", _count_of("rows"), count, 0),
    ("accepted", _count_of("accepted"), count, 1),
    ("share accepted", _share("accepted"), percent, 1),
    ("dead letters", _count_of("dead_letters"), count, -1),
    ("pending", _count_of("pending"), count, -1),
    ("requests", lambda f: f.requests, count, -1),
    ("re-asks", _count_of("reasks"), count, -1),
    ("retries", _count_of("retries"), count, -1),
    ("turned away", _count_of("rate_limited"), count, -1),
    ("tokens", lambda f: sum(f.tokens.values()), count, -1),
    ("of them thinking", lambda f: f.thinking, count, 0),
    ("cost", lambda f: None if f.cost is None else float(f.cost), money, -1),
    ("cost an accepted row", _per_row, money, -1),
    ("cache hits", lambda f: (f.counts.get("cache") or {}).get("hit_ratio"), percent, 1),
    ("median latency", lambda f: f.latencies.get("median"), seconds, -1),
    ("99 % latency", lambda f: f.latencies.get("99 %"), seconds, -1),
    ("time", lambda f: f.seconds, seconds, -1),
    ("values with evidence", _supported, percent, 1),
)


def compare_page(one: Figures, other: Figures) -> str:
    """The whole page: figures, what was asked differently, and below each run's own report."""
    names = (_name(one), _name(other))
    return page(
        f"{names[0]} and {names[1]}",
        tag(
            "main",
            tag("h1", f"{one.run['job']}: two runs"),
            tag("p", tag("b", names[0]), f": {sentence(one)}"),
            tag("p", tag("b", names[1]), f": {sentence(other)}"),
            tag("section", tag("h2", "Figures"), _figures(one, other, names)),
            tag("section", tag("h2", "Dead letters by reason"), _reasons(one, other, names)),
            _charts(one, names[0]),
            _charts(other, names[1]),
            tag("section", tag("h2", "Asked differently"), _asked(one, other, names)),
        ),
    )


def _charts(figures: Figures, name: str) -> Markup:
    """Over time, and requests, of one of the two."""
    shown = [part for part in (time_section(figures), requests_section(figures)) if part]
    return tag("section", tag("h2", name), *shown) if shown else Markup("")


def _name(figures: Figures) -> str:
    return f"{figures.store.rsplit('/', 1)[-1]} ({figures.run['model']}, {moment(figures.run['started_at'])})"


def _figures(one: Figures, other: Figures, names: tuple[str, str]) -> Markup:
    rows = []
    for name, read, write, better in READINGS:
        a, b = read(one), read(other)
        if a is None and b is None:
            continue
        rows.append([name, write(a), write(b), _change(a, b, better)])
    return table(["", *names, "change"], rows, caption="the second against the first", numeric=(1, 2, 3))


def _change(a: float | None, b: float | None, better: int) -> Markup | str:
    if a is None or b is None or a == b:
        return "same" if a == b else "–"
    change = (b - a) / a if a else None
    told = "new" if change is None else f"{change:+.0%}" if abs(change) >= 0.005 else "about the same"
    tone = {1: "good", -1: "worse", 0: None}[better * (1 if b > a else -1)]
    word = {"good": " better", "worse": " worse", None: ""}[tone]
    return tag("span", told + word, class_=tone)


def _reasons(one: Figures, other: Figures, names: tuple[str, str]) -> Markup:
    a, b = (figures.counts.get("dead_by_reason") or {} for figures in (one, other))
    rows = [[reason, count(a.get(reason, 0)), count(b.get(reason, 0))] for reason in sorted({*a, *b})]
    if not rows:
        return tag("p", "Neither run left any.")
    return table(["reason", *names], rows, numeric=(1, 2))


def _asked(one: Figures, other: Figures, names: tuple[str, str]) -> Markup:
    parts = []
    for title, read in (
        ("Model and settings", _settings),
        ("System text and examples", _prefix),
        ("Wire schema", _schema),
    ):
        a, b = read(one).splitlines(), read(other).splitlines()
        if a == b:
            parts.append(tag("p", tag("b", title), ": the same"))
            continue
        lines = difflib.unified_diff(a, b, *names, lineterm="", n=2)
        shown = [tag("span", line + "\n", class_=_tone(line)) for line in lines]
        parts.append(join((tag("h3", title), tag("pre", *shown))))
    return join(parts)


def _tone(line: str) -> str | None:
    if line.startswith("+") and not line.startswith("+++"):
        return "good"
    return "worse" if line.startswith("-") and not line.startswith("---") else None


def _settings(figures: Figures) -> str:
    names = ("job", "model", "effort", "max_tokens", "into", "key_columns", "library")
    return "\n".join(f"{name}: {figures.run.get(name)}" for name in names)


def _prefix(figures: Figures) -> str:
    prefix = json.loads(figures.run["prefix"] or "{}")
    return f"{prefix.get('system') or ''}\n{pretty(prefix.get('examples') or [])}"


def _schema(figures: Figures) -> str:
    return pretty(json.loads(figures.run["schema_text"] or "null"))
