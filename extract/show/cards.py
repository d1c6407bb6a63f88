"""The small views of a notebook: what a run, a report, a dead letter or an estimate says, in a box.

Values in, HTML out; everything is escaped, light and dark follow the notebook.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from extract.markup import Markup, card, folded, join, pairs, table, tag
from extract.show.figures import field_of
from extract.show.numbers import count
from extract.show.sections import finding_words

if TYPE_CHECKING:
    from extract.report import Report

SOME = 5
"""Dead letters in a small view; `run.dead_letters` has them all."""

_FRAME = "width:100%;height:640px;border:1px solid color-mix(in srgb,currentColor 22%,transparent)"


class Page(str):
    """A page as text. A notebook shows it in a frame of its own, which may run nothing but the page's
    own script and reach nothing of the notebook."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(
            tag(
                "iframe",
                sandbox="allow-scripts",
                src=f"data:text/html;charset=utf-8;base64,{base64.b64encode(self.encode()).decode()}",
                style=_FRAME,
                title="rows beside their documents",
            )
        )


def report_card(report: Report) -> str:
    """Counts, tokens, cost and time of a run."""
    return str(card("Report", _meter(report), pairs(report.lines())))


def run_card(report: Report, letters: Sequence[Mapping[str, Any]]) -> str:
    """A run: its report and some of its dead letters."""
    left = report.dead_letters - len(letters)
    shown = (
        [folded(f"{count(report.dead_letters)} dead letters", letters_table(letters), _more(left))]
        if letters
        else []
    )
    return str(
        card(join(("Run ", tag("code", report.run_id))), _meter(report), pairs(report.lines()), *shown)
    )


def letters_table(letters: Sequence[Mapping[str, Any]]) -> Markup:
    """Dead letters as a table: key, reason, what was found wrong."""
    rows = [[row["key"], row["reason"], _wrong(row.get("findings"))] for row in letters]
    return table(["key", "reason", "what is wrong"], rows)


def plan_card(title: str, lines: Sequence[tuple[str, str]]) -> str:
    """An estimate before a run, as (label, text)."""
    return str(card(title, pairs(lines)))


def _more(left: int) -> Markup | None:
    return tag("p", f"and {count(left)} more in run.dead_letters") if left > 0 else None


def _wrong(findings: Any) -> Markup:
    found = json.loads(findings) if isinstance(findings, str) else findings or []
    told = [join((tag("b", field_of(one.get("path") or "")), ": ", finding_words(one))) for one in found[:3]]
    return join(told, tag("br"))


def _meter(report: Report) -> Markup | None:
    if not report.rows:
        return None
    parts = (("ok", report.accepted), ("dead", report.dead_letters), ("open", report.pending))
    marks = [
        tag("i", class_=tone, style=f"width:{100 * number / report.rows:.1f}%", title=f"{number}")
        for tone, number in parts
        if number
    ]
    return tag("div", *marks, class_="x-meter", aria_hidden="true")
