"""The sections of the report page: over time, tokens and cost, answers, dead letters.

Figures in, markup out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from extract.markup import Markup, folded, join, table, tag
from extract.show.charts import Axis, Series, bars, lines, ranks
from extract.show.figures import Figures, Letter, Spans, field_of
from extract.show.numbers import count, money, seconds, share, short

NAMES = {
    "input": "input, not cached",
    "cache_read": "read from the cache",
    "cache_write_1h": "written to the cache, 1h",
    "cache_write_5m": "written to the cache, 5m",
    "output": "output",
}
KINDS = {
    "first": "first requests",
    "reask": "re-asks",
    "retry": "retries",
    "doubled": "with more room",
    "warm": "to warm the cache",
}
REASONS = {
    "refused": "the model would not answer",
    "truncated": "the answer did not fit, also with more room",
    "invalid": "the answer stayed wrong after the last re-ask",
    "unsupported": "a value was not found in the source",
    "too_long": "the row does not fit the model's context",
    "rejected": "the server refused the request of this row",
    "unreadable": "the input could not be read; nothing was sent",
    "empty": "the input is empty; nothing was sent",
    "exhausted": "retries ran out",
}


# -- over time ------------------------------------------------------------------------------------


def time_section(figures: Figures) -> Markup | None:
    """What happened when."""
    spans = figures.spans
    if spans is None:
        return None
    axis = Axis(
        [_clock(spans.width * i, spans.width) for i in range(len(spans.ended))],
        "time since the first request",
    )
    return _section(
        "Over time",
        _rows_chart(spans, axis),
        _rate_chart(spans, axis),
        _flight_chart(spans, axis),
        _cache_chart(spans, axis),
    )


def _clock(at: float, width: float) -> str:
    if width < 1:
        return f"{at:.2f} s" if at < 10 else f"{at:.1f} s"
    minutes, rest = divmod(int(at), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}" if minutes >= 60 else f"{minutes}:{rest:02d}"


def _rows_chart(spans: Spans, axis: Axis) -> Markup:
    done = spans.done
    half = next((i for i, number in enumerate(done) if number * 2 >= done[-1]), 0)
    said = f"{count(done[-1])} rows had an outcome at the end, half of them after {axis.labels[half]}."
    return lines("Rows with an outcome", said, axis, [Series("rows", done)], form=short)


def _rate_chart(spans: Spans, axis: Axis) -> Markup:
    rate = [number / spans.width for number in spans.ended]
    said = f"Up to {short(max(rate))} rows a second, {short(sum(rate) / len(rate))} on average."
    return bars("Rows a second", said, axis, [Series("rows a second", rate)])


def _flight_chart(spans: Spans, axis: Axis) -> Markup:
    away = sum(spans.turned_away)
    told = (
        f"{count(away)} requests were turned away for a rate limit or overload"
        if away
        else "None was turned away"
    )
    said = f"At most {max(spans.in_flight)} requests flew at once. {told}."
    series = [Series("requests in flight", spans.in_flight)]
    if away:
        series.append(Series("turned away (429, 529)", spans.turned_away, "bad"))
    return lines("In flight and cool-downs", said, axis, series)


def _cache_chart(spans: Spans, axis: Axis) -> Markup:
    hits, misses = sum(spans.hits), sum(spans.misses)
    said = f"{share(hits, hits + misses)} of {count(hits + misses)} replies read the prefix from the cache."
    return bars(
        "Cache hits", said, axis, [Series("hits", spans.hits, "2"), Series("misses", spans.misses, "3")]
    )


def _latency_chart(figures: Figures) -> Markup | None:
    if not figures.latency_bars:
        return None
    told = ", ".join(f"{name} {seconds(value)}" for name, value in figures.latencies.items())
    axis = Axis(
        [label for label, _ in figures.latency_bars], "seconds from sending to the end of the reply", shown=4
    )
    values = [number for _, number in figures.latency_bars]
    return bars(
        "Latency of replies",
        f"{told[:1].upper()}{told[1:]}.",
        axis,
        [Series("replies", values, "6")],
        form=count,
    )


def _section(title: str, *parts: Markup | None) -> Markup | None:
    shown = [part for part in parts if part]
    if not shown:
        return None
    return tag("section", tag("h2", title), tag("div", *shown, class_="charts"))


# -- tokens and money -----------------------------------------------------------------------------


def requests_section(figures: Figures) -> Markup | None:
    """How long replies took, why requests were sent, what went wrong."""
    if not figures.requests:
        return None
    rows = [
        (KINDS.get(kind, kind), float(number), _with_cost(number, cost))
        for kind, number, cost in figures.kinds
    ]
    faults = [(kind, float(number), count(number)) for kind, number in figures.faults]
    return _section(
        "Requests",
        _latency_chart(figures),
        ranks("Why they were sent", _cost_sentence(figures), rows, tone="3"),
        ranks(
            "What went wrong on the way",
            "Requests that brought no message, by fault. Rows do not fail for these alone.",
            faults,
            tone="bad",
        )
        if faults
        else None,
    )


def _with_cost(number: int, cost: Decimal | None) -> str:
    return count(number) if cost is None else f"{count(number)} · {money(cost)}"


def money_section(figures: Figures) -> Markup | None:
    """Tokens and their cost by category."""
    if not figures.requests:
        return None
    tokens = [
        (NAMES[name], float(number), short(number)) for name, number in figures.tokens.items() if number
    ]
    total = sum(figures.tokens.values())
    told = f"{count(total)} in all, {count(figures.thinking)} of the output is thinking."
    return _section("Tokens and cost", ranks("Tokens by category", told, tokens), _cost_by_category(figures))


def _cost_by_category(figures: Figures) -> Markup | None:
    price = json.loads(figures.run.get("settings") or "{}").get("price")
    if not price:
        return None
    costs = {
        name: number * float(price[name]) / 1e6
        for name, number in figures.tokens.items()
        if number and price.get(name) is not None
    }
    rows = [(NAMES[name], cost, money(f"{cost:.9f}")) for name, cost in costs.items()]
    saved = (figures.counts.get("costs_usd") or {}).get("saved_by_cache")
    told = f"The cache saved {money(saved)}." if saved else "At the prices that were given."
    return ranks("Cost by category", told, rows, tone="5")


def _cost_sentence(figures: Figures) -> str:
    if figures.cost is None:
        return "No prices were given for this model: give prices= to see what they cost."
    return f"{money(figures.cost)} in all."


# -- answers --------------------------------------------------------------------------------------


def answers_section(figures: Figures) -> Markup | None:
    """What had to be asked again, and how values are supported."""
    asked = [(name, float(number), count(number)) for name, number in figures.asked_again[:12]]
    return _section(
        "Answers",
        ranks("Re-asks by field", "How often the model was told that a field was wrong.", asked, tone="3")
        if asked
        else None,
        _coverage(figures),
    )


def _coverage(figures: Figures) -> Markup | None:
    if not figures.evidence:
        return None
    rows = []
    for name, found in figures.evidence.items():
        total = sum(found.values())
        rows.append(
            [
                name,
                *(count(found[status]) for status in ("found", "quoted", "flagged")),
                share(total - found["flagged"], total),
            ]
        )
    totals = sum(sum(found.values()) for found in figures.evidence.values())
    flagged = sum(found["flagged"] for found in figures.evidence.values())
    supported = share(totals - flagged, totals)
    said = f"{supported} of {count(totals)} values that ask for evidence stand in their source."
    return tag(
        "figure",
        tag("figcaption", tag("b", "Evidence"), tag("span", said)),
        table(["field", "found", "quoted", "flagged", "supported"], rows, numeric=range(1, 5)),
    )


def letters_section(figures: Figures) -> Markup | None:
    """Rows without an answer, by reason, with examples."""
    if not figures.letters:
        return None
    chart = ranks(
        "Dead letters by reason",
        "Rows that no answer was accepted for.",
        [
            (f"{reason}: {REASONS.get(reason, '')}", float(n), count(n))
            for reason, (n, _) in figures.letters.items()
        ],
        tone="bad",
    )
    examples = [_reason(reason, n, some) for reason, (n, some) in figures.letters.items()]
    return tag("section", tag("h2", "Dead letters"), tag("div", chart, class_="charts"), *examples)


def _reason(reason: str, number: int, examples: Sequence[Letter]) -> Markup:
    left = number - len(examples)
    more = f"and {count(left)} more: extract dead-letters STORE --reason {reason}"
    return join(
        (
            tag("h3", f"{reason} ({count(number)})"),
            tag("div", *(_example(letter) for letter in examples), class_="letters"),
            tag("p", more, class_="dim") if left else None,
        )
    )


def _example(letter: Letter) -> Markup:
    found = [
        tag("li", tag("b", field_of(one.get("path") or "")), ": ", finding_words(one))
        for one in letter.findings[:6]
    ]
    return tag(
        "div",
        tag("h4", letter.key),
        tag("p", f"{letter.attempts} request{'' if letter.attempts == 1 else 's'}", class_="dim"),
        tag("ul", *found) if found else None,
        folded("last reply", tag("pre", letter.reply)) if letter.reply else None,
        class_="letter",
    )


def finding_words(finding: Mapping[str, Any]) -> str:
    """A finding without its place."""
    found, expected = finding.get("found"), finding.get("expected")
    if not expected:
        return str(found or "")
    return f"expected {expected}" + (f", found {found}" if found else "")
