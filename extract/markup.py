"""HTML as values: text is escaped when it becomes markup, and markup is never escaped twice.

The one seam through which anything gets into a page. Knows nothing of runs, rows or charts.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "col"})
_ODD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Markup(str):
    """HTML that may go into a page as it is. Made by `tag`, `text` and `join`."""

    __slots__ = ()

    def __add__(self, other: str) -> Markup:
        return Markup(str(self) + str(text(other)))


def text(value: Any) -> Markup:
    """Anything as text of a page; markup stays as it is.

    Characters that do not show (control characters, lone surrogates, those that turn the direction of
    writing) become one visible character each, so that offsets into a text stay true.
    """
    if isinstance(value, Markup):
        return value
    shown = "" if value is None else str(value)
    return Markup(html.escape(_ODD.sub(_visible, shown), quote=True))


def _visible(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd"


def join(parts: Iterable[Any], between: str = "") -> Markup:
    """Several parts as one; None is left out."""
    return Markup(str(text(between)).join(text(part) for part in parts if part is not None))


def tag(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """One element. Children that are no markup are escaped; None is left out.

    attributes: `class_` is `class`, `data_path` is `data-path`; True stands alone, None and False are
    left out.
    """
    told = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup(f"<{name}{told}>")
    return Markup(f"<{name}{told}>{join(children)}</{name}>")


def _attribute(key: str, value: Any) -> str:
    if value is None or value is False:
        return ""
    name = key.rstrip("_").replace("_", "-")
    return f" {name}" if value is True else f' {name}="{text(value)}"'


def table(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], *, caption: str = "", numeric: Iterable[int] = ()
) -> Markup:
    """A table with a caption. The first cell of a row is its heading.

    numeric: columns, from 0, that are set flush right.
    """
    right = frozenset(numeric)

    def cell(kind: str, index: int, value: Any, **more: Any) -> Markup:
        return tag(kind, value, class_="num" if index in right else None, **more)

    head = tag("tr", *(cell("th", i, name, scope="col") for i, name in enumerate(columns)))
    body = [
        tag(
            "tr",
            *(
                cell("td", i, value) if i else cell("th", i, value, scope="row")
                for i, value in enumerate(row)
            ),
        )
        for row in rows
    ]
    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption) if caption else None,
            tag("thead", head),
            tag("tbody", *body),
        ),
        class_="x-scroll",
        tabindex="0",
        role="region",
        aria_label=caption or "table",
    )


def pairs(rows: Iterable[tuple[str, Any]]) -> Markup:
    """Labels and what they say, one under the other."""
    return tag("dl", *(join((tag("dt", label), tag("dd", value))) for label, value in rows), class_="x-pairs")


def folded(label: Any, *children: Any, open: bool = False) -> Markup:
    """Something that opens with a click."""
    return tag("details", tag("summary", label), *children, open=open)


def card(title: Any, *children: Any) -> Markup:
    """A small box for a notebook, light and dark with the page around it."""
    return tag(
        "section",
        tag("style", Markup(CARD_CSS)),
        tag("h4", title),
        *children,
        class_="x-card",
    )


def rows_of(mapping: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """What a mapping says, without what it says nothing of."""
    return [(name, value) for name, value in mapping.items() if value not in (None, "", [], {})]


# Notebooks bring their own colours: currentColor and transparency follow light and dark alike.
CARD_CSS = """
.x-card{border:1px solid color-mix(in srgb,currentColor 22%,transparent);border-radius:6px;
padding:.6em .9em;margin:.3em 0;max-width:60em;line-height:1.45;color:inherit;background:transparent}
.x-card h4{margin:0 0 .4em;font-size:1em;font-weight:600}
.x-card .x-pairs{display:grid;grid-template-columns:max-content 1fr;gap:.1em 1em;margin:0}
.x-card dt{opacity:.7;font-weight:400}.x-card dd{margin:0;overflow-wrap:anywhere}
.x-card .x-scroll{overflow-x:auto;margin:.4em 0}
.x-card table{border-collapse:collapse;font-size:.95em;margin:0}
.x-card caption{text-align:left;opacity:.7;padding:.2em 0}
.x-card tr,.x-card tr:hover{background:none!important}
.x-card th,.x-card td{text-align:left!important;padding:.15em .8em .15em 0!important;
background:none!important;vertical-align:top;white-space:normal;
border:0;border-bottom:1px solid color-mix(in srgb,currentColor 14%,transparent)}
.x-card th{font-weight:500}
.x-card .num{text-align:right!important;font-variant-numeric:tabular-nums}
.x-card pre{white-space:pre-wrap;overflow-wrap:anywhere;max-height:24em;overflow:auto;margin:.4em 0;
background:transparent;color:inherit;font-size:.9em}
.x-card summary{cursor:pointer;opacity:.8}
.x-card .x-meter{display:flex;height:.6em;border-radius:3px;overflow:hidden;margin:.2em 0 .5em;
background:color-mix(in srgb,currentColor 12%,transparent)}
.x-card .x-meter i{display:block;height:100%}
.x-card .ok{background:#2e9e6b}.x-card .dead{background:#d5573b}.x-card .open{background:#c9a227}
"""
