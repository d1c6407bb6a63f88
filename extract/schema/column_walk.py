"""From a Python type to column shapes, by way of the core schema that Pydantic makes of it.

The core schema has generics, forward references, aliases and `Annotated` resolved already. This module
does not know Polars or DuckDB, and it sees types alone, never a value.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from operator import attrgetter, itemgetter
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import SchemaSerializer

from extract.schema.column_nodes import (
    WRAPPERS,
    Node,
    attribute_getter,
    choice_of,
    decimal_under,
    definitions_of,
    entries_of,
    extras_of,
    inner_of,
    item_getter,
    may_miss,
    refs_of,
)
from extract.schema.column_scalars import SCALARS, Choice, Number, Scalar
from extract.schema.column_types import (
    Custom,
    Entries,
    Fields,
    Items,
    JsonText,
    Pairs,
    Part,
    Served,
    Shape,
    Unwrapped,
    entries,
)

__all__ = ["Walk", "walk"]

_MAX_PRECISION = 38
_SCALARS = {
    "str": "str",
    "int": "int",
    "float": "float",
    "bool": "bool",
    "bytes": "bytes",
    "date": "date",
    "time": "time",
    "timedelta": "timedelta",
    "uuid": "uuid",
    "url": "spelled",
    "multi-host-url": "spelled",
}
_LISTS = frozenset({"list", "deque", "generator", "set", "frozenset"})
_SETS = frozenset({"set", "frozenset"})
_MAPPINGS = frozenset({"dict", "counter"})
_OBJECTS = frozenset({"model", "dataclass", "typed-dict", "named-tuple", "call"})
_AROUND = frozenset(kind for kind, key in WRAPPERS.items() if key == "schema" and kind != "nullable")
_NOTHING = frozenset({"none", "missing-sentinel"})
_NAIVE_NOTE = (
    "`datetime` is stored in UTC and a value without an offset is refused: "
    "say AwareDatetime, or NaiveDatetime for times without an offset"
)


class Walk:
    """The columns of a type, the places that are JSON text, and notes for the author of the model."""

    def __init__(self, schema: Node) -> None:
        self._definitions = {d["ref"]: d for d in definitions_of(schema)}
        self._recursive = frozenset(r for r in self._definitions if r in self._reach(r))
        self._schema = schema
        self._attribute = attribute_getter if may_miss(schema) else attrgetter
        self.json_text: list[str] = []
        self.notes: list[str] = []

    def parts(self, *, many: bool) -> tuple[Part, ...]:
        """One part a column; a root that is no object is the one column `value`."""
        start = self._start(many=many)
        root = self._root(start)
        if root["type"] in _OBJECTS:
            return tuple(self._fields(root, ""))
        return (Part("value", self._shape(start, "value"), lambda value: value),)

    def extras(self, *, many: bool) -> Callable[[Any], Collection[str]]:
        """Reads what a value of the root holds beyond its columns."""
        return extras_of(self._root(self._start(many=many)))

    # ------------------------------------------------------------ the root

    def _start(self, *, many: bool) -> Node:
        """The node of one row."""
        root = self._root(self._schema)
        if not many or root["type"] not in (*_LISTS, "tuple"):
            return self._schema
        items: Node | list[Node] = root.get("items_schema", {"type": "any"})
        return items[0] if isinstance(items, list) else items

    def _root(self, node: Node) -> Node:
        """Through what wraps an object without making it nullable or another type."""
        while True:
            if node["type"] == "definition-ref":
                node = self._definitions[node["schema_ref"]]
            elif node.get("root_model") or node["type"] in _AROUND:
                node = node["schema"]
            else:
                return node

    def _reach(self, ref: str) -> set[str]:
        """Every definition that can be come to from the inside of this one."""
        seen: set[str] = set()
        todo = list(refs_of(self._definitions[ref]))
        while todo:
            name = todo.pop()
            if name not in seen and name in self._definitions:
                seen.add(name)
                todo += refs_of(self._definitions[name])
        return seen

    # ------------------------------------------------------------ one node

    def _shape(self, node: Node, path: str) -> Shape:
        kind = node["type"]
        if kind == "definition-ref":
            ref = node["schema_ref"]
            return self._json(path) if ref in self._recursive else self._shape(self._definitions[ref], path)
        if kind in _SCALARS:
            return SCALARS[_SCALARS[kind]]
        if kind in _OBJECTS:
            return self._object(node, path)
        if kind in _LISTS:
            return self._items(node, path)
        if kind in _MAPPINGS:
            return self._pairs(node, path)
        if kind in WRAPPERS:
            return self._wrapper(node, path)
        special: dict[str, Callable[[Node, str], Shape]] = {
            "datetime": self._datetime,
            "decimal": self._decimal,
            "enum": self._members,
            "literal": self._members,
            "union": self._union,
            "tagged-union": self._union,
            "tuple": self._tuple,
            "chain": self._chain,
            "json": self._parsed,
            "none": lambda node, path: SCALARS["str"],
        }
        return special.get(kind, self._custom)(node, path)

    def _json(self, path: str) -> Shape:
        self.json_text.append(path)
        return JsonText()

    def _wrapper(self, node: Node, path: str) -> Shape:
        kind = node["type"]
        inner = node[WRAPPERS[kind]]
        if kind in ("lax-or-strict", "json-or-python") and self._instance(inner):
            return self._custom(node, path)
        number = decimal_under(node)
        shape = self._shape(inner, path) if number is None else self._decimal(number, path)
        own = kind.startswith("function-") and node.get("serialization")
        return Served(shape, self._serializer(node)) if own else shape

    def _instance(self, node: Node) -> bool:
        """Does only an instance of some class pass here? Then its columns are its serializer's affair."""
        if node["type"] == "is-instance":
            return True
        if node["type"] in ("json-or-python", "lax-or-strict"):
            return self._instance(node[WRAPPERS[node["type"]]])
        return node["type"] == "union" and any(self._instance(choice_of(c)) for c in node["choices"])

    def _datetime(self, node: Node, path: str) -> Shape:
        constraint = node.get("tz_constraint")
        if constraint == "naive":
            return SCALARS["naive"]
        if constraint is None:
            self.notes.append(f"{path}: {_NAIVE_NOTE}")
        return SCALARS["aware"]

    def _decimal(self, node: Node, path: str) -> Shape:
        scale, digits = node.get("decimal_places"), node.get("max_digits")
        if scale is None or scale > _MAX_PRECISION or (digits or 0) > _MAX_PRECISION:
            return SCALARS["spelled"]
        return Number(max(digits or _MAX_PRECISION, scale, 1), scale)

    def _members(self, node: Node, path: str) -> Shape:
        return _of_values(_values(node)) or self._json(path)

    # ------------------------------------------------------------ several types in one place

    def _union(self, node: Node, path: str) -> Shape:
        choices = node["choices"]
        choices = list(choices.values()) if isinstance(choices, dict) else [choice_of(c) for c in choices]
        choices = [c for c in choices if c["type"] not in _NOTHING]
        if len(choices) == 1:
            return self._shape(choices[0], path)
        return self._one_type(choices) or self._json(path)

    def _one_type(self, choices: list[Node]) -> Shape | None:
        """A union of one scalar type is that type; strings and choices of strings are text."""
        shapes = [self._scalar(choice) for choice in choices]
        first = shapes[0] if shapes else None
        if all(shape is first for shape in shapes):
            return first
        if not all(shape is SCALARS["str"] or isinstance(shape, Choice) for shape in shapes):
            return None
        values = [value for shape in shapes if isinstance(shape, Choice) for value in shape.values]
        return SCALARS["str"] if SCALARS["str"] in shapes else Choice(tuple(dict.fromkeys(values)))

    def _scalar(self, node: Node) -> Shape | None:
        """The shape of a scalar or of a choice of strings; None for all else, which is not looked into."""
        while node["type"] in WRAPPERS or node["type"] == "definition-ref":
            ref = node.get("schema_ref")
            if ref in self._recursive or node.get("serialization"):
                return None
            node = self._definitions[ref] if ref else node[WRAPPERS[node["type"]]]
        if node["type"] in ("enum", "literal"):
            return _of_values(_values(node))
        return SCALARS.get(_SCALARS.get(node["type"], ""))

    def _chain(self, node: Node, path: str) -> Shape:
        return self._shape(node["steps"][-1], path)

    def _parsed(self, node: Node, path: str) -> Shape:
        return self._shape(node["schema"], path) if "schema" in node else self._json(path)

    # ------------------------------------------------------------ lists, mappings, tuples

    def _items(self, node: Node, path: str) -> Shape:
        item = self._shape(node.get("items_schema", {"type": "any"}), f"{path}[]")
        return Items(item, ordered=node["type"] not in _SETS)

    def _pairs(self, node: Node, path: str) -> Shape:
        key = self._shape(node.get("keys_schema", {"type": "any"}), f"{path}[].key")
        value = {"type": "int"} if node["type"] == "counter" else node.get("values_schema", {"type": "any"})
        make = entries if isinstance(key, Fields | Items | Pairs | Entries) else Pairs
        return make(key, self._shape(value, f"{path}[].value"))

    def _tuple(self, node: Node, path: str) -> Shape:
        items, variadic = node["items_schema"], node.get("variadic_item_index")
        if variadic is not None and len(items) == 1:
            return Items(self._shape(items[0], f"{path}[]"))
        if variadic is not None or not items:
            return self._json(path)
        names = [f"item_{index}" for index in range(1, len(items) + 1)]
        shapes = [self._shape(item, f"{path}.{name}") for name, item in zip(names, items, strict=True)]
        parts = (Part(n, s, itemgetter(i)) for i, (n, s) in enumerate(zip(names, shapes, strict=True)))
        return Fields(tuple(parts))

    # ------------------------------------------------------------ objects

    def _object(self, node: Node, path: str) -> Shape:
        if node.get("root_model"):
            inner = self._shape(node["schema"], path)
            return inner if isinstance(inner, JsonText) else Unwrapped(inner)
        # Neither DuckDB nor Arrow has a struct without fields.
        parts = tuple(self._fields(node, path))
        return Fields(parts, extras_of(node)) if parts else self._json(path)

    def _fields(self, node: Node, path: str) -> Iterator[Part]:
        for name, schema, get in self._members_of(node):
            yield Part(name, self._shape(schema, f"{path}.{name}" if path else name), get)

    def _members_of(self, node: Node) -> Iterator[tuple[str, Node, Callable[[Any], Any]]]:
        """Name, schema and getter of each field that the author has not excluded, then computed fields."""
        inner = inner_of(node)
        for name, entry in entries_of(inner):
            if entry.get("serialization_exclude") is True or entry.get("init_only"):
                continue
            yield (
                name,
                entry["schema"],
                item_getter(name) if node["type"] == "typed-dict" else self._attribute(name),
            )
        for entry in inner.get("computed_fields", ()):
            yield entry["property_name"], entry["return_schema"], attrgetter(entry["property_name"])

    # ------------------------------------------------------------ types of the user's own

    def _custom(self, node: Node, path: str) -> Shape:
        if node["type"] in ("any", *_NOTHING) or (shape := self._by_json_schema(node)) is None:
            return self._json(path)
        return Custom(shape, self._serializer(node))

    def _by_json_schema(self, node: Node) -> Scalar | None:
        names = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
        try:
            schema = GenerateJsonSchema().generate(self._whole(node), mode="serialization")
        except Exception:
            return None
        name = names.get(schema.get("type", ""))
        return SCALARS[name] if name else None

    def _serializer(self, node: Node) -> Callable[[Any], Any]:
        serializer = SchemaSerializer(self._whole(node))
        return lambda value: serializer.to_python(value, mode="json", by_alias=False)

    def _whole(self, node: Node) -> Any:
        if not self._definitions or node["type"] == "definitions":
            return node
        return {"type": "definitions", "schema": node, "definitions": list(self._definitions.values())}


def walk(model: Any) -> Walk:
    """The walk over the core schema of anything that a TypeAdapter takes."""
    adapter = model if isinstance(model, TypeAdapter) else TypeAdapter(model)
    schema: Any = adapter.core_schema
    return Walk(schema)


def _values(node: Node) -> list[Any]:
    """The values of an enum or a literal; null makes the column nullable and is no value."""
    members = node.get("members") or node.get("expected") or []
    values = [getattr(member, "value", member) for member in members]
    return [value for value in values if value is not None]


def _of_values(values: list[Any]) -> Shape | None:
    """The column of a closed list of values, if they are of one kind."""
    kinds = {type(value) for value in values}
    if not values:
        return SCALARS["str"]
    if all(issubclass(kind, str) for kind in kinds):
        return Choice(tuple(dict.fromkeys(map(str.__str__, values))))
    names = {bool: "bool", int: "int", float: "float"}
    return SCALARS[names[kind]] if len(kinds) == 1 and (kind := kinds.pop()) in names else None
