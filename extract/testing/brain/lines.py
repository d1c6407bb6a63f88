"""Finds labelled values in a text: `label: value`, two columns, pairs side by side, a value on the next line.

Knows no schema; a heading above labels becomes their section.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from extract.testing.brain.words import unspaced

LABEL_LENGTH, LABEL_WORDS = 64, 8
_GAP = re.compile(r"(?: {2,}|\t+)")
_WIDE = 3  # columns this far apart are not one value
_FRAME = re.compile(r"^[\s│┃║|>*•·\-–—#]+(?=\S)|[\s│┃║|]+$")
_COLON = re.compile(r"^(?P<label>[^:]*?[^\W\d_][^:]*?)\s?:(?P<value>\s.*|$)", re.S)
_TIGHT = re.compile(r"^(?P<label>[^\W\d_][\w .'’-]{0,40}[^\W\d_.]):(?P<value>[^\s/:].*)$")
_LEADER = re.compile(r"\s?[.·_]{4,}\s?|\s?\.(?:\s\.){3,}\s?")
_PIPE = re.compile(r"\s*[|│┃║]\s*")
_RULE = re.compile(r"[\s\-=_*+|:.─━═┌┐└┘├┤┬┴┼]+")
_MARKUP = str.maketrans({"*": "", "`": ""})
_LETTER = re.compile(r"[^\W\d_]")


class Labelled(NamedTuple):
    """One labelled value.

    line: the whole line that it stands in, for quotes.
    section: the heading above it, or the empty string.
    """

    label: str
    value: str
    line: str
    section: str = ""


class Lines(NamedTuple):
    """A text read line by line."""

    labelled: list[Labelled]
    headings: list[str]


_LONGEST = 2_000  # characters: no labelled line is longer, and a hostile one must not take long


def read_lines(text: str) -> Lines:
    """All labelled values of a text, in its order, and its headings."""
    labelled: list[Labelled] = []
    headings: list[str] = []
    section = waiting = ""
    for raw in text.splitlines():
        line = _FRAME.sub("", raw[:_LONGEST].translate(_MARKUP)).strip()
        if not line or _RULE.fullmatch(line):
            waiting = "" if not line else waiting
            continue
        pairs = list(_pairs(line))
        if pairs:
            labelled += [Labelled(label, value, raw.strip(), section) for label, value in pairs if value]
            waiting = pairs[-1][0] if not pairs[-1][1] else ""
            section = waiting or section
        elif waiting:
            labelled.append(Labelled(waiting, line, raw.strip(), section))
            waiting = ""
        elif _is_heading(raw, line):
            section = unspaced(line).lstrip("# ").strip()
            headings.append(section)
    return Lines(labelled, headings)


def _pairs(line: str) -> Iterator[tuple[str, str]]:
    """The label and value pairs of one line; a value may be empty when it is yet to come."""
    segments = _segments(_PIPE.sub("    ", _LEADER.sub("    ", line)))
    if len(segments) == 2 and not any(":" in text for text, _ in segments) and _is_label(segments[0][0]):
        yield segments[0][0], segments[1][0]
        return
    label: str | None = None
    value: list[str] = []
    before = ""
    for text, gap in segments:
        found = _split(text, before)
        if found is not None:
            if label is not None:
                yield label, " ".join(value)
            label, first = found
            value = [first] if first else []
        elif label is not None and (not value or gap < _WIDE):
            value.append(text)
        before = text
    if label is not None:
        yield label, " ".join(value)


def _segments(line: str) -> list[tuple[str, int]]:
    """The parts of a line that stand apart, each with the width of the gap before it."""
    found, gap, at = [], 0, 0
    for match in _GAP.finditer(line):
        found.append((line[at : match.start()], gap))
        gap, at = (_WIDE if "\t" in match.group() else len(match.group())), match.end()
    found.append((line[at:], gap))
    return [(text.strip(), width) for text, width in found if text.strip()]


def _split(text: str, before: str) -> tuple[str, str] | None:
    """Label and value of one part, where it has a label: in it, or in the part before."""
    if text.startswith(": ") or text == ":":
        return (before, text[1:].strip()) if _is_label(before) else None
    match = _COLON.match(text) or _TIGHT.match(text)
    if match is None or not _is_label(match["label"]):
        return None
    return match["label"].strip(), match["value"].strip()


def _is_label(text: str) -> bool:
    words = text.split()
    return (
        0 < len(words) <= LABEL_WORDS
        and len(text) <= LABEL_LENGTH
        and _LETTER.search(text) is not None
        and not text.endswith((",", ";"))
    )


def _is_heading(raw: str, line: str) -> bool:
    words = unspaced(line).split()
    short = len(words) <= 4 and line[-1] not in ".,;!?" and _LETTER.search(line) is not None
    return raw.lstrip().startswith("#") or (short and not _GAP.search(line))
