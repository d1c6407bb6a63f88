"""Fills a plan from a document, place by place; what is not found is None.

Where two labels of the same standing give different values, neither is taken.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from extract.testing.brain import choices, numbers
from extract.testing.brain.document import Document
from extract.testing.brain.lexicon import KINDS, SIGNS, SUMMARY_WORDS
from extract.testing.brain.lines import Labelled
from extract.testing.brain.match import PROPER, columns_of, score, score_inside, section_meanings
from extract.testing.brain.plan import Branch, Field
from extract.testing.brain.scalars import SCALARS, read_scalar
from extract.testing.brain.tables import Table
from extract.testing.brain.words import forms_of, label_meanings

_LIST = re.compile(r"\s*[;\n]\s*|,\s+|\s+(?:and|und|et|y)\s+")
_PARTS = re.compile(r"\s*;\s*|,\s+|\s+[x×/]\s+|\s+")
_PAIR = re.compile(r"\s*([^=:;,]+?)\s*[=:]\s*([^=:;,]+?)\s*(?:[;,]|$)")


class Found(NamedTuple):
    """A value and the line that it stands in."""

    value: Any
    line: str = ""


NOTHING = Found(None)
UNQUOTED = {"quote": "", "value": None}


@dataclass(slots=True)
class Filler:
    """One reading of one document.

    sources: what each found value was found by, and what was left open, for the thinking.
    """

    document: Document
    unique: frozenset[str] = frozenset()
    sources: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    ambiguous: list[str] = field(default_factory=list)

    def root(self, plan: Field) -> Any:
        """The whole answer; the root is always an object."""
        names = Counter(_leaf_names(plan))
        self.unique = frozenset(name for name, count in names.items() if count == 1)
        branch = plan.branch("object", "tuple")
        return self._fields(branch.fields, ()) if branch else None

    def _fields(self, fields: Sequence[Field], parents: tuple[Field, ...]) -> dict[str, Any]:
        return {f.name: _shown(f, self._find(f, parents)) for f in fields}

    def _find(self, field: Field, parents: tuple[Field, ...]) -> Found:
        for branch in field.branches:
            found = self._structure(field, branch, parents)
            if found.value is not None:
                return found
        if any(branch.form in SCALARS for branch in field.branches):
            found = self._scalar(field, parents)
            if found.value is not None or field.name in self.ambiguous:
                return found
        self.missing.append(field.name)
        return Found(field.otherwise)

    def _structure(self, field: Field, branch: Branch, parents: tuple[Field, ...]) -> Found:
        match branch.form:
            case "object":
                return self._object(field, branch, parents)
            case "array":
                return self._array(field, branch, parents)
            case "pairs":
                return self._pairs(field, branch)
            case "tuple":
                return self._tuple(field, branch, parents)
        return NOTHING

    def _scalar(self, field: Field, parents: tuple[Field, ...]) -> Found:
        best, line, labels = self._labelled(field, parents)
        if len(best) > 1:
            self.ambiguous.append(field.name)
            return NOTHING
        if best:
            self.sources.append(f"{field.name} from '{labels[0]}'")
            return Found(best[0], line)
        return self._unlabelled(field)

    def _labelled(self, field: Field, parents: tuple[Field, ...]) -> tuple[list[Any], str, list[str]]:
        """The values of the surest labels that fit the field, each once."""
        scored = sorted(self._scores(field, parents), key=lambda pair: -pair[0])
        values: list[Any] = []
        labels: list[str] = []
        line, standing = "", 0
        for sure, label in scored:
            if values and sure < standing:
                break
            value = read_scalar(field, label.value, self.document)
            if value is not None and not any(value == v and type(value) is type(v) for v in values):
                values.append(value)
                labels.append(label.label)
                line, standing = line or label.line, sure
        return values, line, labels

    def _scores(self, field: Field, parents: tuple[Field, ...]) -> Iterator[tuple[int, Labelled]]:
        for label in self.document.lines.labelled:
            sure = self._score(field, parents, label)
            if sure:
                yield sure, label

    def _score(self, field: Field, parents: tuple[Field, ...], label: Labelled) -> int:
        own = score(field, label.label)
        if not parents:
            return own
        parent = parents[-1]
        inside = score_inside(parent, field, label.label)
        if own and self.document.section_is(label.section, section_meanings(parent)):
            return max(inside, own + 1)
        return max(inside, own if own >= PROPER and field.name in self.unique else 0)

    def _unlabelled(self, field: Field) -> Found:
        """What needs no label: a constant, a currency by its sign, a class by its words."""
        branch = field.branch("enum")
        if branch is None:
            return NOTHING
        if len(branch.values) == 1:
            return Found(branch.values[0])
        if set(branch.values) <= set(SIGNS.values()) or "currency" in field.kinds:
            code = numbers.sign_of_currency(self.document.text)
            return Found(code, self._line_with(code)) if code in branch.values else NOTHING
        value = choices.by_words(field.cues, self.document.words, self.document.title_words)
        if value is None:
            return NOTHING
        self.sources.append(f"{field.name} by its words")
        return Found(value, self._line_of_cues(field.cues[value]))

    def _line_with(self, code: str | None) -> str:
        sign = next((sign for sign, known in SIGNS.items() if known == code), "")
        return next((line.strip() for line in self.document.text.splitlines() if sign in line), "")

    def _line_of_cues(self, cue: frozenset[str]) -> str:
        lines = [line.strip() for line in self.document.text.splitlines() if line.strip()]
        return max(lines, key=lambda line: len(cue & forms_of(line)), default="")

    def _object(self, field: Field, branch: Branch, parents: tuple[Field, ...]) -> Found:
        value = self._fields(branch.fields, (*parents, field))
        constants = {f.name for f in branch.fields if (b := f.branch("enum")) and len(b.values) == 1}
        filled = any(v is not None and v != UNQUOTED for name, v in value.items() if name not in constants)
        return Found(value) if filled else NOTHING

    def _array(self, field: Field, branch: Branch, parents: tuple[Field, ...]) -> Found:
        item = branch.item
        if item is None:
            return NOTHING
        row = item.branch("object")
        if row is not None:
            return self._rows(field, row)
        values: list[Any] = []
        for _, label in sorted(self._scores(field, parents), key=lambda pair: -pair[0])[:1]:
            parts = [part for part in _LIST.split(label.value) if part]
            values = [v for part in parts if (v := read_scalar(item, part, self.document)) is not None]
            if values:
                return Found([_shown(item, Found(v, label.line)) for v in values], label.line)
        return self._named(item)

    def _named(self, item: Field) -> Found:
        """The values of a list of classes that the text names with all of their words."""
        classes = item.branch("enum")
        named = [v for v in classes.values if choices.is_named(v, self.document.words)] if classes else []
        lines = [self._line_of_cues(forms_of(str(v).replace("_", " "))) for v in named]
        shown = [_shown(item, Found(v, line)) for v, line in zip(named, lines, strict=True)]
        return Found(shown, lines[0]) if shown else NOTHING

    def _rows(self, field: Field, row: Branch) -> Found:
        def is_header(texts: Sequence[str]) -> bool:
            return len(columns_of(row.fields, texts)) >= min(2, len(row.fields))

        tables = self.document.tables(is_header)
        if not tables:
            return NOTHING
        best = max(tables, key=lambda t: (len(columns_of(row.fields, t.header)), len(t.rows)))
        rows = list(self._items(best, row))
        if not rows:
            return NOTHING
        self.sources.append(f"{field.name or 'rows'} from a table of {len(rows)}")
        return Found(rows, best.lines[0])

    def _items(self, table: Table, row: Branch) -> Iterator[dict[str, Any]]:
        places = columns_of(row.fields, table.header)
        numeric = {
            f.name for f in row.fields if f.branch("integer", "number", "decimal") and f.name in places
        }
        for cells, line in zip(table.rows, table.lines, strict=True):
            if _is_summary(cells):
                continue
            item = {f.name: self._cell(f, places, cells) for f in row.fields}
            odd = any(item[name] is None and _says(cells[places[name]]) for name in numeric)
            if not odd and (not numeric or any(item[name] is not None for name in numeric)):
                yield {f.name: _shown(f, Found(item[f.name], line)) for f in row.fields}

    def _cell(self, field: Field, places: dict[str, int], cells: tuple[str, ...]) -> Any:
        if field.name not in places:
            constant = field.branch("enum")
            return constant.values[0] if constant and len(constant.values) == 1 else None
        return read_scalar(field, cells[places[field.name]], self.document)

    def _pairs(self, field: Field, branch: Branch) -> Found:
        inner = branch.item.branch("object") if branch.item else None
        if inner is None:
            return NOTHING
        value_field = next(f for f in inner.fields if f.name == "value")
        found: list[tuple[str, str, str]] = []
        wanted = section_meanings(field)
        for label in self.document.lines.labelled:
            if score(field, label.label):
                found += [(key, value, label.line) for key, value in _PAIR.findall(label.value)]
            elif self.document.section_is(label.section, wanted):
                found.append((label.label, label.value, label.line))
        read = {key: Found(read_scalar(value_field, said, self.document), line) for key, said, line in found}
        pairs = [
            {"key": key, "value": _shown(value_field, one)}
            for key, one in read.items()
            if one.value is not None
        ]
        return Found(pairs, found[0][2]) if pairs else NOTHING

    def _tuple(self, field: Field, branch: Branch, parents: tuple[Field, ...]) -> Found:
        for _, label in sorted(self._scores(field, parents), key=lambda pair: -pair[0]):
            parts = [part for part in _PARTS.split(label.value.strip("()[] ")) if part]
            if len(parts) != len(branch.fields):
                continue
            values = {
                f.name: _shown(f, Found(read_scalar(f, part, self.document), label.line))
                for f, part in zip(branch.fields, parts, strict=True)
            }
            return Found(values, label.line)
        return NOTHING


def _shown(field: Field, found: Found) -> Any:
    """A found value as the schema wants it: beside its line where a quote is asked for."""
    if not field.quoted:
        return found.value
    return {"quote": found.line, "value": found.value} if found.value is not None else dict(UNQUOTED)


def _is_summary(cells: Iterable[str]) -> bool:
    """Whether a row sums up others: its first words are a total, a tax, a carry."""
    first = next((cell for cell in cells if cell and not cell[0].isdigit()), "")
    totals = {m for kind in ("subtotal", "tax", "total") for tier in KINDS[kind] for m in tier}
    return any(m in totals or m <= SUMMARY_WORDS for m in label_meanings(first))


def _says(cell: str) -> bool:
    """Whether a cell says anything: a dash or n/a does not."""
    return cell.strip(" -–—").casefold() not in ("", "n/a", "n.a.", "k.a.")


def _leaf_names(plan: Field) -> Iterator[str]:
    for branch in plan.branches:
        for child in branch.fields:
            yield child.name
            yield from _leaf_names(child)
