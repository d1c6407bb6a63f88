"""Pydantic's core schema → the tree of shapes.

Reads what the validator will do, not what Pydantic's JSON schema says about it. Refuses what no reply could
carry, with the path and a way out. Knows no dialect.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any

from extract.errors import ModelError
from extract.schema import containers, records, unions
from extract.schema.custom import (
    custom_note,
    input_schema,
    own_json_schema,
    standard,
    string_format,
)
from extract.schema.notes import jsonable, note_of
from extract.schema.scalars import LATER, Core, instance_form, scalar_of
from extract.schema.shape import (
    Array,
    Maybe,
    Node,
    Note,
    Pairs,
    Quoted,
    Record,
    Ref,
    Scalar,
    Shape,
    below,
    freed,
    noted,
)

EVIDENCE = "extract_evidence"
"""Where the marker `Evidence` leaves itself in a core schema."""

_LATER_NAMES = {
    **{name: name for name in ("minLength", "maxLength", "minItems", "maxItems", "pattern")},
    "ge": "minimum",
    "le": "maximum",
    "gt": "exclusiveMinimum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "max_digits": "maxDigits",
    "decimal_places": "decimalPlaces",
}
_ANYTHING = (
    "any value has no wire type; say what it holds (a model, `dict[str, str]`, a union), "
    "or take it as text with `str`"
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the model the reader is, for people, and the config that holds there."""

    path: str
    config: Mapping[str, Any]

    def into(self, step: str) -> Place:
        return Place(self.path + step, self.config)

    def under(self, config: Mapping[str, Any] | None) -> Place:
        return self if config is None else Place(self.path, config)

    def refuse(self, message: str) -> ModelError:
        return ModelError(message, self.path)


def read_shape(core: Core, name: str) -> Shape:
    """The shape of a model from its core schema. Raises `ModelError` where it has none."""
    reader = Reader()
    place = Place(name, {})
    root = reader.read(core, place)
    return reader.shape(root)


class Reader:
    """One reading of one model: collects shared definitions and warnings on the way."""

    def __init__(self) -> None:
        self.sources: dict[str, Core] = {}
        self.names: dict[str, str] = {}
        self.defs: dict[str, Node] = {}
        self.open: set[str] = set()
        self.recursive: set[str] = set()
        self.warnings: list[str] = []

    def warn(self, place: Place, message: str) -> None:
        text = f"{place.path}: {message}"
        if text not in self.warnings:
            self.warnings.append(text)

    def shape(self, root: Node) -> Shape:
        used = {
            node.target for top in (root, *self.defs.values()) for node in below(top) if isinstance(node, Ref)
        }
        defs = {name: node for name, node in self.defs.items() if name in used}
        target = root
        while isinstance(target, Ref):
            target = defs[target.target]
        wrapper = ""
        if not isinstance(target, Record) or target.array:
            wrapper = "items" if isinstance(target, Array | Pairs) else "value"
        return Shape(root, defs, wrapper, tuple(self.warnings))

    def peek(self, core: Core, place: Place) -> Node | None:
        """The node that a core schema has by its structure alone, or None."""
        try:
            return self.read(core, place)
        except ModelError:
            return None

    def read(self, core: Core, place: Place) -> Node:
        """The node of a core schema, with the notes that hang on it."""
        node = own_json_schema(self, core, place)
        if node is None:
            handler = _HANDLERS.get(core["type"])
            node = handler(self, core, place) if handler else scalar_of(core, place.config)
        if node is None:
            raise place.refuse(_NO_WIRE.get(core["type"], f"{core['type']!r} has no wire type"))
        if isinstance(node, Scalar) and "serialization" in core and not node.encoded:
            node = replace(node, core=core)
        node = noted(node, custom_note(self, core).over(note_of(core)))
        marker = (core.get("metadata") or {}).get(EVIDENCE)
        return Quoted(node) if marker is not None and marker.by == "quote" else node


def _wrapped(reader: Reader, core: Core, place: Place) -> Node:
    return reader.read(core["schema"], place)


def _after(reader: Reader, core: Core, place: Place) -> Node:
    node = reader.read(core["schema"], place)
    form = string_format(reader, core)
    if isinstance(node, Scalar) and node.json == "string" and form:
        node = replace(node, form=form)
    if isinstance(node, Scalar):
        encoded = "serialization" in core and standard(core["function"]["function"])
        node = replace(node, core=core, encoded=encoded)
    return _with_later_rules(node, core)


def _with_later_rules(node: Node, core: Core) -> Node:
    """Constraints that Pydantic checks after a validator of the author's: told, but not asked of the wire."""
    updates = (core.get("metadata") or {}).get("pydantic_js_updates") or {}
    if not isinstance(node, Scalar | Array | Pairs):
        return node
    return _later(node, ((rule, updates[name]) for name, rule in _LATER_NAMES.items() if name in updates))


def _later(node: Scalar | Array | Pairs, rules: Iterable[tuple[str, Any]]) -> Node:
    new = ((LATER + name.removeprefix(LATER), value) for name, value in rules)
    return replace(node, rules=(*node.rules, *(rule for rule in new if rule not in node.rules)))


def _before(reader: Reader, core: Core, place: Place) -> Node:
    """A before- or wrap-validator: it may take what the type does not, so the wire insists on less."""
    given = input_schema(core)
    if given is not None:
        return freed(reader.read(given, place))
    node = reader.read(core["schema"], place)
    return node if standard(core["function"]["function"]) else freed(node)


def _plain(reader: Reader, core: Core, place: Place) -> Node:
    given = input_schema(core)
    if given is None:
        raise place.refuse(
            "a plain validator says nothing about its input; add WithJsonSchema({...}) or "
            "PlainValidator(..., json_schema_input_type=str)"
        )
    node = freed(reader.read(given, place))
    return replace(node, core=core) if isinstance(node, Scalar) else node


def _default(reader: Reader, core: Core, place: Place) -> Node:
    node = reader.read(core["schema"], place)
    value = core.get("default")
    if not isinstance(value, str | int | float | Decimal | date | Enum) or _is_tag(node):
        return node
    return noted(node, Note(default=jsonable((value,))))


def _is_tag(node: Node) -> bool:
    return isinstance(node, Scalar) and node.values is not None and len(node.values) == 1


def _nullable(reader: Reader, core: Core, place: Place) -> Node:
    return Maybe(reader.read(core["schema"], place))


def _json_or_python(reader: Reader, core: Core, place: Place) -> Node:
    node = reader.read(core["json_schema"], place)
    form = instance_form(core["python_schema"].get("cls"))
    return replace(node, form=form) if isinstance(node, Scalar) and form else node


def _strict_side(reader: Reader, core: Core, place: Place) -> Node:
    return reader.read(core["strict_schema"], place)


def _chain(reader: Reader, core: Core, place: Place) -> Node:
    """The first step sees the reply; what later ones ask for is told in words."""
    first, *others = core["steps"]
    node = reader.read(first, place)
    for step in others:
        leaf = scalar_of(step.get("schema", step), place.config)
        if isinstance(leaf, Scalar) and isinstance(node, Scalar) and leaf.json == node.json:
            node = _later(node, leaf.rules)
    return node


def _definitions(reader: Reader, core: Core, place: Place) -> Node:
    reader.sources.update({source["ref"]: source for source in core["definitions"]})
    return reader.read(core["schema"], place)


def _reference(reader: Reader, core: Core, place: Place) -> Node:
    ref = core["schema_ref"]
    if ref in reader.names:
        name = reader.names[ref]
        if name in reader.open:
            reader.recursive.add(name)
    else:
        name = _named(reader, ref, place)
    node = reader.defs.get(name)
    if name not in reader.recursive and node is not None and not isinstance(node, Record) and not _long(node):
        return node
    return Ref(name)


def _named(reader: Reader, ref: str, place: Place) -> str:
    source = reader.sources[ref]
    cls = source.get("cls")
    name = _fresh(records.plain_name(getattr(cls, "__name__", "") or _ref_name(ref)), reader)
    reader.names[ref] = name
    reader.open.add(name)
    node = reader.read(source, place)
    reader.open.discard(name)
    reader.defs[name] = node
    return name


def _long(node: Node) -> bool:
    return isinstance(node, Scalar) and node.values is not None and len(node.values) > 1


def _fresh(name: str, reader: Reader) -> str:
    taken = set(reader.names.values())
    number = 2
    unique = name
    while unique in taken:
        unique, number = f"{name}_{number}", number + 1
    return unique


def _ref_name(ref: str) -> str:
    return re.split(r"[:\[]", ref, maxsplit=1)[0].rsplit(".", 1)[-1]


_NO_WIRE = {
    "any": _ANYTHING,
    "generator": "a lazy Iterable would be checked after it is accepted; use list[...]",
    "is-instance": "an arbitrary class has no JSON form; add WithJsonSchema and a validator, or use a model",
    "callable": "a function has no JSON form; take the field out, or use a Literal of names",
    "is-subclass": "a class has no JSON form; use a Literal of names",
    "complex": "a complex number has no JSON form; use a model with two float fields",
    "missing-sentinel": "MISSING has no JSON form; use Optional with a default of None",
    "call": "arguments of a function have no wire type; use a model",
    "arguments": "arguments of a function have no wire type; use a model",
    "arguments-v3": "arguments of a function have no wire type; use a model",
}

_HANDLERS: dict[str, Callable[[Reader, Core, Place], Node]] = {
    "function-after": _after,
    "function-before": _before,
    "function-wrap": _before,
    "function-plain": _plain,
    "custom-error": _wrapped,
    "default": _default,
    "nullable": _nullable,
    "json-or-python": _json_or_python,
    "lax-or-strict": _strict_side,
    "chain": _chain,
    "union": unions.read_union,
    "tagged-union": unions.read_tagged,
    "list": containers.read_array(list),
    "deque": containers.read_array(list),
    "set": containers.read_array(set, unique=True),
    "frozenset": containers.read_array(frozenset, unique=True),
    "tuple": containers.read_tuple,
    "dict": containers.read_dict,
    "frozendict": containers.read_dict,
    "ordered-dict": containers.read_dict,
    "counter": containers.read_dict,
    "literal": containers.read_literal,
    "enum": containers.read_enum,
    "json": containers.read_json,
    "definitions": _definitions,
    "definition-ref": _reference,
    "model": records.read_model,
    "dataclass": records.read_dataclass,
    "typed-dict": records.read_typed_dict,
    "named-tuple": records.read_named_tuple,
}
