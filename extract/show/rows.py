"""Rows beside their sources: the document with what was found in it, the fields, and a way through both.

Values in, one self-contained HTML text out. Documents are hostile: all text is escaped, and the page's
policy lets no script run but the one below.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from extract.markup import Markup, folded, join, tag
from extract.show.figures import field_of
from extract.show.sections import REASONS, finding_words
from extract.show.style import page

STATUS = {"found": "found in the text", "quoted": "quoted", "flagged": "not found in the text"}


@dataclass(frozen=True, slots=True)
class PageImage:
    """One page as a picture. width, height: of the page in points, which boxes are measured in; without them
    no boxes are drawn."""

    data: bytes
    media_type: str
    width: float = 0.0
    height: float = 0.0


@dataclass(frozen=True, slots=True)
class ShownRow:
    """One row as it is shown.

    state: accepted, dead or pending. text: what the values were looked for in; None where it was not kept.
    value: the answer as JSON. evidence: dicts with path, status, start, end, quote, page, box.
    findings, reply: of a dead letter. images: pages of the document, by number from 1.
    """

    key: str
    state: str
    text: str | None = None
    value: Any = None
    evidence: Sequence[Mapping[str, Any]] = ()
    reason: str | None = None
    findings: Sequence[Mapping[str, Any]] = ()
    reply: str | None = None
    images: Mapping[int, PageImage] | None = None
    facts: Sequence[tuple[str, str]] = ()


def rows_page(rows: Sequence[ShownRow], *, title: str, first: int = 0) -> str:
    """The whole page. first: the row that is shown when it opens."""
    articles = [_article(number, row, len(rows)) for number, row in enumerate(rows)]
    return page(
        title,
        tag(
            "header",
            tag("h1", title),
            tag(
                "nav",
                tag("button", "‹ row", type="button", id="before", aria_keyshortcuts="k"),
                tag("span", id="where"),
                tag("button", "row ›", type="button", id="after", aria_keyshortcuts="j"),
                aria_label="rows",
            ),
            tag("p", *_keys(), class_="keys"),
        ),
        tag("main", *articles, data_first=first),
        tag("p", id="said", role="status", aria_live="polite", class_="unseen"),
        style="rows.css",
        script="rows.js",
    )


def _keys() -> Iterator[Markup]:
    for keys, what in (
        ("j k", "next and previous row"),
        ("n p", "next and previous field"),
        ("Enter", "to its place"),
    ):
        yield join(
            (*(join((tag("kbd", key), " ")) for key in keys.split()), what, tag("span", " ", class_="apart"))
        )


def _article(number: int, row: ShownRow, total: int) -> Markup:
    places = places_of(row)
    return tag(
        "article",
        tag(
            "h2",
            tag("span", row.key, class_="key-name"),
            tag("span", row.reason or row.state, class_=f"state {row.state}"),
        ),
        tag(
            "div",
            tag(
                "section",
                tag("h3", "Document"),
                document(row, places),
                class_="doc",
                aria_label="document",
            ),
            tag(
                "section",
                tag("h3", "Fields"),
                *_fields(row, places),
                class_="fields",
                aria_label="fields",
            ),
            class_="both",
        ),
        id=f"row-{number}",
        class_="row",
        aria_label=f"row {number + 1} of {total}: {row.key}",
    )


# -- the document ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Place:
    """A piece of evidence and where it stands in the text that is shown."""

    path: str
    status: str
    start: int | None
    end: int | None
    quote: str | None
    page: int | None
    box: Sequence[float] | None


def places_of(row: ShownRow) -> list[Place]:
    """The evidence of a row, with offsets that fit the text which is shown."""
    return [_place(one, row.text) for one in row.evidence]


def _place(one: Mapping[str, Any], text: str | None) -> Place:
    """The stored offsets where they fit the text; else where the quote stands; else nowhere."""
    start, end, quote = one.get("start"), one.get("end"), one.get("quote")
    if text is not None and isinstance(start, int) and isinstance(end, int):
        if quote is not None and text[start:end] != quote:
            start = text.find(quote)
            end = start + len(quote)
        if not 0 <= start < end <= len(text):
            start = end = None
    else:
        start = end = None
    return Place(one["path"], one["status"], start, end, quote, one.get("page"), one.get("box"))


def document(row: ShownRow, places: Sequence[Place]) -> Markup:
    """The source with its evidence marked: pictures of pages, or text, or the quotes alone."""
    images = [_page_image(page, image, places) for page, image in sorted((row.images or {}).items())]
    if row.text is not None and (row.text.strip() or not images):
        return join((tag("pre", *marked(row.text, places), dir="auto", tabindex="0", class_="text"), *images))
    if images:
        return join(images)
    quotes = [
        tag(
            "li",
            tag("mark", one.quote, data_e=str(i), tabindex="-1"),
            tag("span", f" {field_of(one.path)}", class_="dim"),
        )
        for i, one in enumerate(places)
        if one.quote
    ]
    told = (
        "The text of this row was not kept. To see it whole, name the pipeline with --pipeline, "
        'or run with keep="all".'
    )
    return join((tag("p", told, class_="dim"), tag("ul", *quotes, class_="quotes") if quotes else None))


def marked(text: str, places: Sequence[Place]) -> Iterator[Markup | str]:
    """The text cut at the ends of the evidence; a piece carries the numbers of all that it supports."""
    spans = [
        (one.start, one.end, i)
        for i, one in enumerate(places)
        if one.start is not None and one.end is not None
    ]
    cuts = sorted({0, len(text), *(start for start, _, _ in spans), *(end for _, end, _ in spans)})
    for start, end in pairwise(cuts):
        here = [i for from_, to, i in spans if from_ <= start and end <= to]
        if not here:
            yield text[start:end]
            continue
        yield tag(
            "mark",
            text[start:end],
            data_e=" ".join(map(str, here)),
            title=", ".join(dict.fromkeys(field_of(places[i].path) for i in here)),
        )


def _page_image(page: int, image: PageImage, places: Sequence[Place]) -> Markup:
    source = f"data:{image.media_type};base64,{base64.b64encode(image.data).decode()}"
    boxes = [
        _box(i, one, image) for i, one in enumerate(places) if image.width and one.box and one.page == page
    ]
    return tag("div", tag("img", src=source, alt=f"page {page}"), *boxes, class_="page")


def _box(i: int, one: Place, image: PageImage) -> Markup:
    """Boxes are left, bottom, right, top in points from the lower left corner."""
    assert one.box is not None
    left, bottom, right, top = one.box
    style = (
        f"left:{100 * left / image.width:.2f}%;width:{100 * (right - left) / image.width:.2f}%;"
        f"top:{100 * (1 - top / image.height):.2f}%;height:{100 * (top - bottom) / image.height:.2f}%"
    )
    return tag("mark", data_e=str(i), class_="box", style=style, title=field_of(one.path))


# -- the fields -----------------------------------------------------------------------------------


def _fields(row: ShownRow, places: Sequence[Place]) -> Iterator[Markup]:
    if row.findings or row.state == "dead":
        yield _findings(row)
    if row.value is not None:
        by_path: dict[str, list[int]] = {}
        for i, one in enumerate(places):
            by_path.setdefault(one.path, []).append(i)
        yield _Values(places, by_path).shown(row.value, "")
    if row.reply and row.value is None:
        yield folded("last reply", tag("pre", row.reply), open=True)
    if row.facts:
        facts = [join((tag("dt", name), tag("dd", said))) for name, said in row.facts]
        yield tag("dl", *facts, class_="x-pairs facts")


def _findings(row: ShownRow) -> Markup:
    told = [
        tag("li", tag("b", field_of(one.get("path") or "")), ": ", finding_words(one)) for one in row.findings
    ]
    why = REASONS.get(row.reason or "", "no answer was accepted")
    return tag("div", tag("p", f"Dead letter: {why}."), tag("ul", *told) if told else None, class_="letter")


@dataclass(frozen=True, slots=True)
class _Values:
    """Draws a value; knows which places support which path."""

    places: Sequence[Place]
    by_path: Mapping[str, Sequence[int]]

    def shown(self, value: Any, path: str) -> Markup:
        if isinstance(value, dict) and value:
            rows = [
                self._entry(str(name), inner, f"{path}/{_escape(str(name))}") for name, inner in value.items()
            ]
            return tag("div", *rows, class_="entries")
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            return self._table(value, path)
        if isinstance(value, list) and value:
            items = [tag("li", self.shown(item, f"{path}/{i}")) for i, item in enumerate(value)]
            return tag("ul", *items, class_="items")
        return self._leaf(value, path)

    def _entry(self, name: str, value: Any, path: str) -> Markup:
        nested = isinstance(value, dict | list) and bool(value)
        return tag(
            "div",
            tag("span", name, class_="name"),
            self.shown(value, path),
            class_="entry nested" if nested else "entry",
        )

    def _table(self, items: Sequence[dict[str, Any]], path: str) -> Markup:
        columns = list(dict.fromkeys(str(name) for item in items for name in item))
        head = tag("tr", *(tag("th", name, scope="col") for name in columns))
        body = [
            tag(
                "tr",
                *(tag("td", self.shown(item.get(name), f"{path}/{i}/{_escape(name)}")) for name in columns),
            )
            for i, item in enumerate(items)
        ]
        return tag("div", tag("table", tag("thead", head), tag("tbody", *body)), class_="x-scroll")

    def _leaf(self, value: Any, path: str) -> Markup:
        said = _said(value)
        found = self.by_path.get(path, ())
        if not found:
            return tag("span", said, class_="null" if value is None or value in ([], {}) else "plain")
        status = self.places[found[0]].status
        return tag(
            "button",
            said,
            type="button",
            class_=f"field {status}",
            data_e=" ".join(map(str, found)),
            data_field=field_of(path),
            title=STATUS.get(status, status),
        )


def _said(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return value if value else "(empty)"
    return "none" if value in ([], {}) else json.dumps(value, ensure_ascii=False)


def _escape(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def text_of_request(request: str | None) -> str | None:
    """What a person wrote in the first turn of a kept request; None where there is none."""
    try:
        blocks: Iterable[Any] = json.loads(request or "null")["messages"][0]["content"]
    except (ValueError, KeyError, IndexError, TypeError):
        return None
    if isinstance(blocks, str):
        return blocks
    parts = [
        str(block.get("text")) for block in blocks if isinstance(block, dict) and block.get("type") == "text"
    ]
    return "\n".join(parts) if parts else None
