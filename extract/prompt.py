"""Row → content blocks; findings → the text of a re-ask.

Nothing of a row ever stands before the shared prefix: a row is one user turn. Knows nothing of
requests, wires or tables.
"""

from __future__ import annotations

import json
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple

from extract.errors import PromptError
from extract.protocol.pages import Picture, joined, lost, page_parts, pictures_of
from extract.schema.finding import Finding

Block = dict[str, Any]
PromptFunction = Callable[[Mapping[str, Any]], str | Sequence[Block]]

DOCUMENT = "text"  # the column whose pages may be pictures, as `read_documents` gives it
_GONE = "the pictures of this document are not in the store: give the documents again, with frame="

MAX_FINDINGS = 20  # in one re-ask; more only hides the first ones


class Rendered(NamedTuple):
    """A row made ready to send.

    text: the source text of the row, which evidence is looked for in.
    """

    blocks: list[Block]
    text: str


@dataclass(frozen=True, slots=True)
class Unsendable:
    """A row that no request can be made from."""

    reason: str  # "empty", "unreadable" or "unsupported"
    found: str


class Prompt:
    """A template over columns (`"{text}"`), or a function row -> str | list of blocks.

    Where a row has `images`, as those of `read_documents` do, `{text}` stands for the whole document: its
    text, and in place of each page without text the picture of it.

    Raises PromptError for a template that cannot be read.
    """

    def __init__(self, source: str | PromptFunction) -> None:
        self._function = source if callable(source) else None
        self._parts: list[tuple[str, str | None]] = [] if callable(source) else _parse(source)
        self.columns: tuple[str, ...] = tuple(
            dict.fromkeys(name for _, name in self._parts if name is not None)
        )
        if not self._function and not self.columns:
            raise PromptError("the prompt names no column: write one in braces, as in prompt='{text}'")
        self.identity = _identity(source)
        self._around = _around(self._parts)

    def require(self, available: Iterable[str]) -> None:
        """Raises PromptError, with what is there, for a column that the table does not have."""
        names = list(available)
        for column in self.columns:
            if column not in names:
                close = get_close_matches(column, names, n=1)
                hint = f"; did you mean {{{close[0]}}}?" if close else ""
                raise PromptError(f"the prompt names {{{column}}}, the table has {', '.join(names)}{hint}")

    def render(self, row: Mapping[str, Any]) -> Rendered | Unsendable:
        """One row as content blocks, or why it cannot be sent."""
        if self._around is not None and row.get("error") is None and row.get("images") is None:
            before, column, after = self._around
            text = row.get(column)
            if type(text) is str and text.isascii() and text.strip():  # nothing can be wrong with such a row
                return Rendered([{"type": "text", "text": f"{before}{text}{after}"}], text)
        return self._rendered(row)

    def _rendered(self, row: Mapping[str, Any]) -> Rendered | Unsendable:
        """The same for any row and any prompt."""
        if error := _read_error(row, self.columns):
            return Unsendable("unreadable", error)
        if self._function:
            return self._call(row)
        values = {name: _text(row.get(name)) for name in self.columns}
        text = "\n".join(values.values())
        pictures = pictures_of(row) if DOCUMENT in values else []
        if pictures and lost(pictures):
            return Unsendable("unreadable", _GONE)
        if not pictures and not text.strip():
            return Unsendable("empty", f"{', '.join(self.columns)} is null or empty")
        return _sendable(self._blocks(values, pictures), text)

    def _blocks(self, values: Mapping[str, str], pictures: Sequence[Picture]) -> list[Block]:
        """The template filled in; in a document, pages that are pictures stand where their text would."""
        if not pictures:
            text = "".join([lead if name is None else lead + values[name] for lead, name in self._parts])
            return [{"type": "text", "text": text}]
        parts: list[str | Block] = []
        for lead, name in self._parts:
            parts.append(lead)
            if name == DOCUMENT:
                parts += page_parts(values[name], pictures)
            elif name is not None:
                parts.append(values[name])
        return joined(parts)

    def _call(self, row: Mapping[str, Any]) -> Rendered | Unsendable:
        assert self._function is not None
        try:
            made = self._function(row)
        except Exception as error:  # one odd row must not end the run; the dead letter tells
            return Unsendable("unreadable", f"the prompt function raised {type(error).__name__}: {error}")
        try:
            blocks = _made_blocks(made)
        except Exception as error:  # its generator may raise as it may
            return Unsendable("unreadable", f"the prompt function returned {type(made).__name__}: {error}")
        text = "\n".join(block["text"] for block in blocks if block.get("type") == "text")
        if not text.strip() and not any(block.get("type") == "image" for block in blocks):
            return Unsendable("empty", "the prompt function returned nothing to read")
        return _sendable(blocks, text)


def _made_blocks(made: Any) -> list[Block]:
    """What a prompt function returned as blocks. Raises what it raises, or TypeError for what is none."""
    if made is None or isinstance(made, str):
        return [{"type": "text", "text": made or ""}]
    given = list(made)
    if not all(isinstance(block, Mapping) for block in given):
        raise TypeError("a prompt is text, or a list of content blocks")
    blocks = [{**one, "text": one.get("text") or ""} if _is_text(one) else dict(one) for one in given]
    if not all(isinstance(block["text"], str) for block in blocks if _is_text(block)):
        raise TypeError("the text of a block is no text")
    json.dumps(blocks)
    return blocks


def _is_text(block: Mapping[str, Any]) -> bool:
    return block.get("type") == "text"


def _sendable(blocks: list[Block], text: str) -> Rendered | Unsendable:
    try:
        for block in blocks:
            words = str(block.get("text") or "")
            if not words.isascii():
                words.encode()
    except UnicodeEncodeError as error:
        return Unsendable(
            "unreadable", f"half a surrogate pair at character {error.start}: not valid Unicode"
        )
    return Rendered(blocks, text)


def _read_error(row: Mapping[str, Any], columns: Sequence[str]) -> str | None:
    """The error that `read_documents` left beside a document without text."""
    error = row.get("error")
    if not isinstance(error, str) or not error or pictures_of(row):
        return None
    return error if not any(_text(row.get(name)).strip() for name in columns) else None


def _text(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else str(value)


def _parse(template: str) -> list[tuple[str, str | None]]:
    try:
        parts = list(string.Formatter().parse(template))
    except ValueError as error:
        raise PromptError(f"the prompt is no template ({error}): write a literal brace twice") from None
    for _, name, spec, conversion in parts:
        if name is not None and (name == "" or spec or conversion or set(name) & set(".[")):
            raise PromptError(
                f"{{{name}}} in the prompt: a column stands in braces by its plain name; "
                "use a function row -> str for anything more, and write a literal brace twice"
            )
    return [(lead, name) for lead, name, _, _ in parts]


def _around(parts: Sequence[tuple[str, str | None]]) -> tuple[str, str, str] | None:
    """What stands before the one column of a template, its name, and what stands after; None for others."""
    names = [name for _, name in parts if name is not None]
    if len(names) != 1 or not all(lead.isascii() for lead, _ in parts):
        return None
    place = next(place for place, (_, name) in enumerate(parts) if name is not None)
    before, after = parts[: place + 1], parts[place + 1 :]
    return "".join(lead for lead, _ in before), names[0], "".join(lead for lead, _ in after)


def _identity(source: str | PromptFunction) -> str:
    """What tells two prompts apart when a table is run again."""
    if isinstance(source, str):
        return source
    return f"{getattr(source, '__module__', '')}.{getattr(source, '__qualname__', type(source).__name__)}"


def reask_text(findings: Sequence[Finding]) -> str:
    """The user turn that tells the model what was wrong with its answer."""
    lines = ["Your answer was not accepted. What is wrong with it:"]
    for finding in findings[:MAX_FINDINGS]:
        found = f"; found {finding.found}" if finding.found else ""
        lines.append(f"- {finding.wire_path or 'the whole answer'}: expected {finding.expected}{found}")
    if len(findings) > MAX_FINDINGS:
        lines.append(f"- and {len(findings) - MAX_FINDINGS} more of the kind")
    lines.append(
        "Look at the input again and return the whole answer once more, as one JSON value without any "
        "text around it. Change what is listed; do not invent values that the input does not give."
    )
    return "\n".join(lines)
