"""HTML → text that a person would see: no scripts, styles, comments or hidden parts; tables stay tables.

Reads with the standard library's tolerant parser. Knows nothing of files and fetches nothing.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

from extract.documents import grid
from extract.documents.document import Document, Settings, document_of
from extract.documents.text import declared_encoding, decode

_UNSEEN = frozenset({"script", "style", "template", "noscript", "head", "svg", "iframe", "object", "select"})
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_BLOCKS = frozenset(
    {"address", "article", "aside", "blockquote", "body", "dd", "details", "div", "dl", "dt", "fieldset"}
    | {"figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr"}
    | {"html", "legend", "li", "main", "nav", "ol", "p", "pre", "section", "summary", "table", "tr", "ul"}
)
_CLOSED_BY = {  # end tags that HTML lets one leave out
    "li": {"li"},
    "p": _BLOCKS,
    "td": {"td", "th", "tr", "tbody", "tfoot", "thead"},
    "th": {"td", "th", "tr", "tbody", "tfoot", "thead"},
    "tr": {"tr", "tbody", "tfoot", "thead"},
    "dt": {"dt", "dd"},
    "dd": {"dt", "dd"},
    "option": {"option"},
    "head": _BLOCKS,
}
_HIDDEN = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*hidden|(?<!-)font-size\s*:\s*0(?![.\d]*[1-9])", re.I
)
_DEEPEST = 2_000  # open tags; more is no page that anybody wrote


def load(data: bytes, settings: Settings) -> Document:
    """An HTML page as the text that a browser shows."""
    return document_of([html_text(decode(data, settings.encoding or declared_encoding(data)))])


def html_text(source: str) -> str:
    """The visible text of an HTML source."""
    reader = _Reader()
    reader.feed(_without_comments(source))
    reader.close()
    return reader.text()


def _without_comments(source: str) -> str:
    """Comments taken out at once: the parser looks for the end of each to the end of the page.

    One that is never closed hides the rest, as in a browser, unless it stands in a script.
    """
    pieces, at = [], 0
    while (start := source.find("<!--", at)) >= 0:
        end = source.find("-->", start + 4)
        if end < 0:
            break
        pieces.append(source[at:start])
        at = end + 3
    rest = source[at:]
    shown, opened, hidden = rest.partition("<!--")
    if opened and "</script" in hidden.lower():
        shown = rest.replace("<!--", "")
    return "".join([*pieces, shown])


class _Table:
    """A table being read: rows of cells, each a list of pieces."""

    def __init__(self) -> None:
        self.rows: list[list[list[str]]] = []

    def texts(self) -> list[list[str]]:
        return [["".join(cell) for cell in row] for row in self.rows]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[tuple[str, bool]] = []  # tag, and whether it hides what is in it
        self._hidden = 0
        self._pieces: list[str] = []
        self._tables: list[_Table] = []
        self._title: list[str] | None = None
        self._pre = 0

    # what the parser calls -----------------------------------------------------------------------

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "title" and self._title is None:
            self._title = []
        while self._open and tag in _CLOSED_BY.get(self._open[-1][0], ()):
            self._close(self._open.pop())
        self._start(tag)
        if tag in _VOID:
            return
        if len(self._open) < _DEEPEST:
            hides = tag in _UNSEEN or _is_hidden(dict(attrs))
            self._open.append((tag, hides))
            self._hidden += hides

    def handle_endtag(self, tag: str) -> None:
        if not any(name == tag for name, _ in self._open[-50:]):
            return
        while self._open:
            one = self._open.pop()
            self._close(one)
            if one[0] == tag:
                return

    def handle_data(self, data: str) -> None:
        if self._title is not None and self._open and self._open[-1][0] == "title":
            self._title.append(data)
        if self._hidden:
            return
        self._put(data if self._pre else re.sub(r"\s+", " ", data))

    # what is made of it --------------------------------------------------------------------------

    def _start(self, tag: str) -> None:
        if self._hidden:
            return
        if tag == "table":
            self._tables.append(_Table())
        elif tag == "tr" and self._tables:
            self._tables[-1].rows.append([])
        elif tag in {"td", "th"} and self._tables:
            if not self._tables[-1].rows:
                self._tables[-1].rows.append([])
            self._tables[-1].rows[-1].append([])
        elif tag == "br" or tag in _BLOCKS:
            self._put("\n")
            if tag == "li":
                self._put("- ")
            self._pre += tag == "pre"

    def _close(self, one: tuple[str, bool]) -> None:
        tag, hides = one
        self._hidden -= hides
        if self._hidden or hides:
            return
        if tag == "table" and self._tables:
            made = self._tables.pop()
            self._put(f"\n{_shown(made)}\n")
        elif tag in _BLOCKS and tag != "tr":
            self._put("\n")
            self._pre -= tag == "pre" and self._pre > 0

    def _put(self, text: str) -> None:
        if self._tables and self._tables[-1].rows and self._tables[-1].rows[-1]:
            self._tables[-1].rows[-1][-1].append(text)
        else:
            self._pieces.append(text)

    def text(self) -> str:
        while self._tables:  # never closed
            made = self._tables.pop()
            self._put(f"\n{_shown(made)}\n")
        title = "".join(self._title or ()).strip()
        body = _tidy("".join(self._pieces))
        return body if not title or title in body[:400] else f"{title}\n\n{body}"


def _shown(table: _Table) -> str:
    """Tables that only place things on a page are text; others stay tables."""
    rows = [row for row in table.texts() if any(cell.strip() for cell in row)]
    nested = any("\n| " in cell for row in rows for cell in row)
    if nested or all(len(row) < 2 for row in rows):
        return "\n".join(cell for row in rows for cell in row)
    return grid.as_text(rows)


def _is_hidden(attributes: dict[str, str | None]) -> bool:
    return (
        "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or bool(_HIDDEN.search(attributes.get("style") or ""))
    )


def _tidy(text: str) -> str:
    lines = [line.strip() for line in text.replace("\xa0", " ").split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
