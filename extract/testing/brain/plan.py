"""A schema as a plan to read by: what each place is called and what kind of value it takes.

Made once for a schema. Knows no document.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Literal

from extract.testing.brain.lexicon import KINDS
from extract.testing.brain.words import Meaning, forms_of, meaning, meaning_of_name, words_of

Form = Literal[
    "object", "array", "pairs", "tuple", "enum", "boolean", "integer", "number",
    "decimal", "date", "datetime", "time", "duration", "string", "null",
]  # fmt: skip

_DEPTH = 6
_PHRASE = re.compile(r"\s*(?:[,;:()\[\]\n]|\.\s|\.$|\bor\b|\boder\b|\bou\b|\bo\b|\s/\s|\s[–—-]\s|[\"“”„])\s*")
_FORMS: tuple[tuple[Form, re.Pattern[str]], ...] = (
    ("datetime", re.compile(r"date and time in ISO|YYYY-MM-DDT", re.I)),
    ("date", re.compile(r"YYYY-MM-DD", re.I)),
    ("duration", re.compile(r"duration in ISO", re.I)),
    ("time", re.compile(r"time of day as|HH:MM", re.I)),
    ("decimal", re.compile(r"decimal number written as text|decimal number as (?:a )?string", re.I)),
)
_DEFAULT = re.compile(r"If nothing else is known: (.+)\Z", re.S)
_EMPTY = re.compile(r"\bempty (?:list|if|when|for|where)\b", re.I)
_PLAIN: dict[str, Form] = {"boolean": "boolean", "integer": "integer", "number": "number"}
_FORMATS: dict[str, Form] = {
    "date": "date",
    "date-time": "datetime",
    "time": "time",
    "duration": "duration",
    "decimal": "decimal",
}


@dataclass(slots=True)
class Branch:
    """One way a value may look."""

    form: Form
    values: tuple[Any, ...] = ()
    fields: tuple[Field, ...] = ()
    item: Field | None = None


@dataclass(slots=True)
class Field:
    """A named place in the answer.

    names: what it is called by name and title; `words` adds the phrases of its description.
    kinds: the kinds of business value it can be, as `total`.
    branches: without null.
    quoted: the answer is an object of the value and the words that support it.
    scores: how surely each label seen so far speaks of it: the same labels come row after row.
    otherwise: what the schema itself asks for where the document has nothing, or None.
    """

    name: str
    names: tuple[Meaning, ...] = ()
    words: frozenset[Meaning] = frozenset()
    kinds: frozenset[str] = frozenset()
    description: str = ""
    branches: tuple[Branch, ...] = ()
    quoted: bool = False
    otherwise: Any = None
    cues: dict[Any, frozenset[str]] = field(default_factory=dict)
    scores: dict[str, int] = field(default_factory=dict)

    def branch(self, *forms: Form) -> Branch | None:
        """The first branch of one of these forms."""
        return next((branch for branch in self.branches if branch.form in forms), None)


def plan_of(schema: dict[str, Any]) -> Field:
    """The whole schema as one nameless field."""
    return _Planner(schema.get("$defs", {}), schema).field("", schema, 0)


class _Planner:
    def __init__(self, definitions: dict[str, Any], root: dict[str, Any]) -> None:
        self._definitions = definitions
        self._root = root

    def field(self, name: str, node: dict[str, Any], depth: int) -> Field:
        outer = node
        node = self._resolve(node)
        quoted = _is_quoted(node)
        if quoted:
            node = self._resolve(node["properties"]["value"])
        said = " ".join(
            str(n.get("description", "")) for n in ((outer, node) if outer is not node else (node,))
        )
        title = str(outer.get("title") or node.get("title") or "")
        names = tuple(dict.fromkeys(filter(None, (meaning_of_name(name), meaning_of_name(title)))))
        words = frozenset(filter(None, map(meaning, _phrases(said))))
        made = Field(name, names, words, _kinds(names, words), said)
        made.otherwise, made.quoted = _otherwise(said), quoted
        nodes = self._flat(node)
        made.branches = tuple(b for n in nodes if (b := self._branch(n, said, depth)).form != "null")
        for branch in made.branches:
            if branch.form == "enum":
                made.cues |= cues_of(branch.values, said)
        return made

    def _resolve(self, node: dict[str, Any]) -> dict[str, Any]:
        for _ in range(32):
            reference = node.get("$ref")
            if not isinstance(reference, str):
                return node
            target = (
                self._root if reference == "#" else self._definitions.get(reference.rsplit("/", 1)[-1], {})
            )
            node = target
        return {}

    def _flat(self, node: dict[str, Any]) -> list[dict[str, Any]]:
        node = self._resolve(node)
        if isinstance(node.get("anyOf"), list):
            return [leaf for branch in node["anyOf"] for leaf in self._flat(branch)]
        kinds = node.get("type")
        return [node | {"type": kind} for kind in kinds] if isinstance(kinds, list) else [node]

    def _branch(self, node: dict[str, Any], said: str, depth: int) -> Branch:
        kind = node.get("type")
        if "enum" in node or "const" in node:
            return Branch("enum", tuple(v for v in node.get("enum", [node.get("const")]) if v is not None))
        if depth > _DEPTH:
            return Branch("null")
        if kind == "object":
            return self._object(node, depth)
        if kind == "array":
            item = self.field("", node.get("items", {}), depth + 1)
            pairs = item.branch("object")
            is_pairs = pairs is not None and {f.name for f in pairs.fields} == {"key", "value"}
            return Branch("pairs" if is_pairs else "array", item=item)
        return Branch(_scalar(node, said))

    def _object(self, node: dict[str, Any], depth: int) -> Branch:
        properties = node.get("properties", {})
        fields = tuple(self.field(name, child, depth + 1) for name, child in properties.items())
        is_tuple = bool(fields) and all(f.name == f"item_{i}" for i, f in enumerate(fields, 1))
        return Branch("tuple" if is_tuple else "object", fields=fields)


def _is_quoted(node: dict[str, Any]) -> bool:
    return node.get("type") == "object" and set(node.get("properties", ())) == {"quote", "value"}


def _scalar(node: dict[str, Any], said: str) -> Form:
    kind = node.get("type")
    if kind == "string":
        known = _FORMATS.get(str(node.get("format", "")))
        if known is not None:
            return known
        own = str(node.get("description") or "") or said
        return next((form for form, pattern in _FORMS if pattern.search(own)), "string")
    return _PLAIN.get(str(kind), "null")


def _otherwise(said: str) -> Any:
    """A default that the description names, or the empty list where it says so."""
    named = _DEFAULT.search(said)
    if named is None:
        return [] if _EMPTY.search(said) else None
    try:
        return json.loads(named[1])
    except ValueError:
        return None


def _phrases(description: str) -> list[str]:
    return [part for part in _PHRASE.split(description) if 0 < len(part.split()) <= 6]


def _kinds(names: tuple[Meaning, ...], words: frozenset[Meaning]) -> frozenset[str]:
    """The kinds of a field: by a proper label in its name or description, else by a loose one in its name."""
    said = {*names, *words}
    proper = {kind for kind, (first, _) in KINDS.items() if said & set(first)}
    by_name = {kind for kind, (first, _) in KINDS.items() if set(names) & set(first)}
    loose = {kind for kind, (_, second) in KINDS.items() if set(names) & set(second)}
    return frozenset(by_name or proper or loose)


def cues_of(values: tuple[Any, ...], description: str) -> dict[Any, frozenset[str]]:
    """The words that speak for each value of an enum: its own, and those its description gives it."""
    cues = {}
    clauses = re.split(r"[;\n]|\.\s", description)
    for value in values:
        own = words_of(str(value).replace("_", " "))
        said = [str(value), *own, "".join(own)]
        for clause in clauses:
            words = words_of(clause)
            if own and words[: len(own)] == own:
                said += words
        cues[value] = forms_of(" ".join(said))
    return cues
