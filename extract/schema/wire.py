"""The tree of shapes → the JSON Schema of a dialect, and the list of what that cannot carry.

With `judge` it writes the schema that replies are checked against: the same shape, without words, with
the text forms as a keyword of our own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from extract.schema.dialect import Dialect
from extract.schema.forms import form_of
from extract.schema.scalars import LATER
from extract.schema.shape import (
    BOX,
    Array,
    Either,
    Field,
    Maybe,
    Node,
    Note,
    Pairs,
    Quoted,
    Record,
    Ref,
    Scalar,
    Shape,
)
from extract.schema.words import describe, sentence

Schema: TypeAlias = dict[str, Any]
FORM = "x-form"
KEYS = "x-keys"

_QUOTE = Note(description="Words of the source that support the value, copied exactly.")
_ABSENT = Note(description="null where there is none.")
_JUDGED_FORMATS = ("date-time", "uuid", "ipv4", "ipv6", "email", "hostname")


@dataclass(frozen=True, slots=True)
class Relaxed:
    """A constraint that the wire schema cannot carry: told in words, and checked here."""

    path: str
    keyword: str
    value: Any


def wire_schema(shape: Shape, dialect: Dialect, name: str) -> tuple[Schema, tuple[Relaxed, ...]]:
    """The schema to send, and what it leaves to us."""
    writer = Writer(shape, dialect)
    return writer.root(name), tuple(dict.fromkeys(writer.relaxed))


def judge_schema(shape: Shape, dialect: Dialect) -> Schema:
    """The schema that a reply is checked against."""
    return Writer(shape, dialect, judge=True).root("")


class Writer:
    """Writes one schema."""

    def __init__(self, shape: Shape, dialect: Dialect, *, judge: bool = False) -> None:
        self.shape = shape
        self.dialect = dialect
        self.judge = judge
        self.relaxed: list[Relaxed] = []

    def root(self, name: str) -> Schema:
        node = self.shape.root
        if self.shape.wrapper:
            inner = self.write(node, name, ())
            schema = _object({self.shape.wrapper: inner}, "")
        else:
            target = self.shape.resolve(node)
            schema = self.write(target, name, (node.note,) if isinstance(node, Ref) else ())
        defs = {key: self.write(target, key, ()) for key, target in self.shape.defs.items()}
        return {**schema, "$defs": defs} if defs else schema

    def write(self, node: Node, path: str, notes: tuple[Note, ...]) -> Schema:
        """The schema of a node; `notes` are those of the field that it fills, outermost first."""
        match node:
            case Scalar():
                return self._scalar(node, path, (*notes, node.note))
            case Array():
                return self._array(node, path, (*notes, node.note))
            case Pairs():
                return self._pairs(node, path, (*notes, node.note))
            case Record():
                return self._record(node, path, (*notes, node.note))
            case Quoted():
                return self._quoted(node, path, (*notes, node.note))
            case Ref():
                return self._ref(node, (*notes, node.note))
            case Maybe() | Either():
                return self._union(node, path, (*notes, node.note))

    def _words(self, notes: tuple[Note, ...], constraints: list[str]) -> Schema:
        text = "" if self.judge else describe(notes, constraints)
        return {"description": text} if text else {}

    def _relax(self, path: str, keyword: str, value: Any) -> str:
        self.relaxed.append(Relaxed(path, keyword, value))
        return sentence(keyword, value)

    def _rules(self, node: Scalar | Array | Pairs, path: str) -> tuple[Schema, list[str]]:
        """Constraints split in two: what the dialect carries, and sentences for the rest."""
        carried: Schema = {}
        told: list[str] = []
        for keyword, value in node.rules:
            sent = None if node.free else _carried(node, keyword, value, self.dialect)
            if sent is None:
                told.append(self._relax(path, keyword.removeprefix(LATER), value))
            else:
                carried[sent[0]] = sent[1]
        return carried, told

    def _scalar(self, node: Scalar, path: str, notes: tuple[Note, ...]) -> Schema:
        carried, told = self._rules(node, path)
        form = form_of(node.form)
        sent = self._format(node)
        if sent:
            carried["format"] = sent
        elif form.words:
            self.relaxed.append(Relaxed(path, "format", node.form))
            told.insert(0, form.words)
        if self.judge:
            return self._judged(node, carried)
        enum = {} if node.values is None else {"enum": list(node.values)}
        return {"type": node.json, **self._words(notes, told), **enum, **carried}

    def _judged(self, node: Scalar, carried: Schema) -> Schema:
        if node.free:
            return {"type": node.json}
        if carried.get("format") not in (None, *_JUDGED_FORMATS):
            del carried["format"]
        form = {FORM: node.form} if form_of(node.form).check else {}
        enum = {} if node.values is None else {"enum": list(node.values)}
        return {"type": node.json, **enum, **carried, **form}

    def _format(self, node: Scalar) -> str:
        if node.free:
            return ""
        zoned = node.form in ("datetime", "date-time") and ("timezone", "aware") in node.rules
        name = "date-time" if zoned else form_of(node.form).format
        return name if name in self.dialect.formats else ""

    def _array(self, node: Array, path: str, notes: tuple[Note, ...]) -> Schema:
        carried, told = self._rules(node, path)
        if node.unique:
            told.append(self._relax(path, "uniqueItems", True))
        items = self.write(node.item, f"{path}[]", ())
        if self.judge and node.free:
            carried = {}
        return {"type": "array", **self._words(notes, told), "items": items, **carried}

    def _pairs(self, node: Pairs, path: str, notes: tuple[Note, ...]) -> Schema:
        carried, told = self._rules(node, path)
        told.append(self._relax(path, "uniqueKeys", True))
        item = _object(
            {
                "key": self.write(node.key, f"{path}{{key}}", ()),
                "value": self.write(node.value, f"{path}{{}}", ()),
            },
            "",
        )
        keys = {KEYS: _key_kind(node.key)} if self.judge else {}
        if not node.boxed:
            return {"type": "array", **self._words(notes, told), "items": item, **carried, **keys}
        entries = {"type": "array", **self._words((), told), "items": item, **carried, **keys}
        return _object({BOX: entries}, "" if self.judge else describe(notes, ()))

    def _record(self, node: Record, path: str, notes: tuple[Note, ...]) -> Schema:
        properties: dict[str, Schema] = {}
        for field in node.fields:
            here = f"{path}[{field.name}]" if node.array else f"{path}.{field.name}"
            properties[field.wire] = self._field(field, here)
        return _object(properties, "" if self.judge else describe(notes, ()))

    def _field(self, field: Field, path: str) -> Schema:
        node = Maybe(field.node) if field.absent and not isinstance(field.node, Maybe) else field.node
        notes = (field.note, _ABSENT) if field.absent else (field.note,)
        return self.write(node, path, notes)

    def _quoted(self, node: Quoted, path: str, notes: tuple[Note, ...]) -> Schema:
        """The quote stands first, so that the value is written with its support in sight."""
        quote = {"type": "string", **self._words((_QUOTE,), [])}
        parts = {"quote": quote, "value": self.write(node.inner, path, ())}
        return _object(parts, "" if self.judge else describe(notes, ()))

    def _ref(self, node: Ref, notes: tuple[Note, ...]) -> Schema:
        ref = {"$ref": f"#/$defs/{node.target}"}
        words = self._words(notes, [])
        if not words:
            return ref
        return {**ref, **words} if self.dialect.ref_words else {"anyOf": [ref], **words}

    def _union(self, node: Maybe | Either, path: str, notes: tuple[Note, ...]) -> Schema:
        branches = [self.write(branch, path, ()) for branch in _flat(node)]
        unique = [branch for i, branch in enumerate(branches) if branch not in branches[:i]]
        words = self._words(notes, [])
        if len(unique) == 1:
            only = unique[0]
            text = "\n".join(filter(None, (words.get("description"), only.get("description"))))
            return {**only, "description": text} if text else only
        return {"anyOf": unique, **words}


def _flat(node: Maybe | Either) -> list[Node]:
    """The branches of a union, unions inside it opened unless they have words of their own; null last."""
    parts = node.branches if isinstance(node, Either) else (node.inner,)
    opened: list[Node] = []
    for part in parts:
        opened.extend(_flat(part) if isinstance(part, Maybe | Either) and not part.note else [part])
    rest = [branch for branch in opened if not _is_null(branch)]
    nulls = isinstance(node, Maybe) or len(rest) < len(opened)
    return [*rest, Scalar("null")] if nulls else rest


def _key_kind(key: Node) -> str:
    """What makes two keys the same, for the judge: their text form, or that they are numbers."""
    if not isinstance(key, Scalar):
        return ""
    return key.form or ("number" if key.json == "number" else "")


def _is_null(node: Node) -> bool:
    return isinstance(node, Scalar) and node.json == "null"


def _object(properties: Mapping[str, Schema], description: str) -> Schema:
    return {
        "type": "object",
        **({"description": description} if description else {}),
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _carried(
    node: Scalar | Array | Pairs, keyword: str, value: Any, dialect: Dialect
) -> tuple[str, Any] | None:
    """The keyword and value that carry a constraint, or None."""
    if keyword == "pattern":
        return (keyword, value) if dialect.simple_patterns and _is_simple(node, value) else None
    if isinstance(node, Scalar) and node.json == "string" and node.form not in ("", "password"):
        return None
    if keyword == "minItems" and dialect.max_min_items is not None and value > dialect.max_min_items:
        return None
    if isinstance(node, Scalar) and node.json == "integer" and keyword.startswith("exclusive"):
        keyword, value = _whole(keyword, value)
    numeric = isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))
    return (keyword, value) if keyword in dialect.bounds and numeric else None


def _whole(keyword: str, value: Any) -> tuple[str, Any]:
    """An exclusive bound of a whole number as an inclusive one."""
    if keyword == "exclusiveMinimum":
        return "minimum", math.floor(value) + 1
    return "maximum", math.ceil(value) - 1


_SIMPLE_PATTERN = re.compile(
    r"\^(?:[A-Za-z0-9 _,:;@#%&=<>~'\"!/-]|\[[A-Za-z0-9_ .-]+\]|\\[d.+*()-]|[()|?*+]|\{\d+(?:,\d*)?\})*\$"
)


def _is_simple(node: Node, pattern: str) -> bool:
    """Whether a pattern means the same everywhere: anchored, no look-around, no back-reference."""
    if not isinstance(node, Scalar) or node.form:
        return False
    return bool(_SIMPLE_PATTERN.fullmatch(pattern)) and "(?" not in pattern
