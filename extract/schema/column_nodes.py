"""Reading Pydantic's core schema: what stands under a node, and how to get at a field's value.

Knows the node types of pydantic-core and nothing of columns.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from pydantic import RootModel

from extract.schema.column_json import MISSING

Node = dict[str, Any]
WRAPPERS = {
    "default": "schema",
    "nullable": "schema",
    "function-before": "schema",
    "function-after": "schema",
    "function-wrap": "schema",
    "custom-error": "schema",
    "definitions": "schema",
    "lax-or-strict": "strict_schema",
    "json-or-python": "python_schema",
}
_OPAQUE = frozenset({"metadata", "default", "config", "cls", "serialization", "expected", "members"})


def choice_of(choice: Any) -> Node:
    """A choice of a union, without its label."""
    node: Node = choice[0] if isinstance(choice, tuple) else choice
    return node


def _below(node: Any) -> Iterator[Any]:
    """What stands directly under a node. Field names are no keywords: a field may be called `metadata`."""
    if isinstance(node, list | tuple):
        yield from node
    elif isinstance(node, dict):
        for key, value in node.items():
            if key in ("fields", "choices") and isinstance(value, dict):
                yield from value.values()
            elif key not in _OPAQUE:
                yield value


def definitions_of(node: Any) -> Iterator[Node]:
    """Every shared definition, wherever it stands."""
    if isinstance(node, dict) and node.get("type") == "definitions":
        yield from node["definitions"]
    for below in _below(node):
        yield from definitions_of(below)


def refs_of(node: Any) -> Iterator[str]:
    """The name of every definition that is pointed at from here."""
    if isinstance(node, dict) and node.get("type") == "definition-ref":
        yield node["schema_ref"]
    for below in _below(node):
        yield from refs_of(below)


def inner_of(node: Node) -> Node:
    """The fields of an object, below its own validators."""
    inner: Node = node if node["type"] == "typed-dict" else node.get("schema", node)
    if node["type"] == "call":
        inner = node["arguments_schema"]
    while inner["type"] in WRAPPERS:
        inner = inner[WRAPPERS[inner["type"]]]
    return inner


def decimal_under(node: Node) -> Node | None:
    """The decimal node below the validators of a field, with the digits that the field asks for.

    Behind a validator Pydantic checks digits by a function and tells of them in the metadata alone.
    """
    digits: dict[str, Any] = {}
    while node["type"] in WRAPPERS:
        updates = (node.get("metadata") or {}).get("pydantic_js_updates") or {}
        digits.update({key: updates[key] for key in ("max_digits", "decimal_places") if key in updates})
        node = node[WRAPPERS[node["type"]]]
    return {**node, **digits} if node["type"] == "decimal" else None


def entries_of(inner: Node) -> Iterator[tuple[str, Node]]:
    """Name and entry of each field."""
    fields: Any = inner.get("fields", inner.get("arguments_schema", ()))
    if isinstance(fields, Mapping):
        yield from fields.items()
    else:
        yield from ((entry["name"], entry) for entry in fields)


def unrooted(value: Any) -> Any:
    """The value in a RootModel, or the value itself."""
    while RootModel in type(value).__mro__:  # isinstance takes ten times as long here: Pydantic's metaclass
        value = value.root
    return value


def may_miss(node: Any) -> bool:
    """Whether a field under this node can be MISSING."""
    if isinstance(node, dict) and (node.get("type") == "missing-sentinel" or node.get("default") is MISSING):
        return True
    return any(map(may_miss, _below(node)))


def attribute_getter(name: str) -> Callable[[Any], Any]:
    """Reads a field of a model; one that is MISSING is null."""

    def get(value: Any) -> Any:
        found = getattr(value, name)
        return None if found is MISSING else found

    return get


def item_getter(name: str) -> Callable[[Any], Any]:
    """Reads a key of a TypedDict; one that is not there is null."""

    def get(value: Any) -> Any:
        return value.get(name)

    return get


def extras_of(node: Node) -> Callable[[Any], Collection[str]]:
    """What a value of this type holds beyond its fields."""
    if node["type"] == "model":
        return lambda value: getattr(value, "__pydantic_extra__", None) or ()
    if node["type"] == "typed-dict":
        known = set(node["fields"])
        return lambda value: [key for key in value if key not in known]
    return lambda value: []
