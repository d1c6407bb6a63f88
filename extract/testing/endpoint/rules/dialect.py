"""Which JSON Schemas are taken: the dialect that the model's maker documents.

Written anew from those documents, not taken from the compiler: the two check each other. Knows nothing of
requests; a problem is told as `At path 'properties.note': …`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from extract.testing.endpoint.rules.rule import is_number

KEYWORDS = frozenset(
    (
        *(
            "type",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "enum",
            "anyOf",
            "$ref",
            "$defs",
        ),
        *("title", "description", "default", "minimum", "maximum", "minLength", "maxLength"),
        *("minItems", "maxItems"),
    )
)
TYPES = frozenset(("object", "array", "string", "integer", "number", "boolean", "null"))
RESERVED_NAMES = frozenset(("$defs", "$ref", "anyOf", "required", "additionalProperties"))
PROPERTIES, DEPTH, BRANCHES, ENUM_ITEMS = 3_000, 30, 500, 1_000
_BESIDE = frozenset(("anyOf", "$ref", "title", "description"))
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems")


@dataclass(slots=True)
class _Walk:
    """One pass over a schema; the counts go up as it walks."""

    root: dict[str, Any]
    properties: int = 0
    enum_items: int = 0

    def node(self, node: Any, path: str, depth: int) -> Iterator[str]:
        """All problems at this node and below."""
        if not isinstance(node, dict):
            yield _at(path, "a schema must be an object, boolean schemas are not supported")
            return
        yield from self._keywords(node, path)
        if "anyOf" in node or "$ref" in node:
            yield from self._joined(node, path, depth)
            return
        yield from self._plain(node, path)
        yield from self._values(node, path)
        yield from self._object(node, path, depth)
        if "items" in node:
            yield from self.node(node["items"], _join(path, "items"), depth + 1)
        elif node.get("type") == "array":
            yield _at(path, "an array needs items")
        if depth > DEPTH:
            yield _at(path, f"nested deeper than {DEPTH} levels")

    def _keywords(self, node: dict[str, Any], path: str) -> Iterator[str]:
        for keyword in node:
            if keyword not in KEYWORDS:
                yield _at(path, f"unsupported keyword '{keyword}'")
        if path and "$defs" in node:
            yield _at(path, "$defs is supported at the root only")

    def _joined(self, node: dict[str, Any], path: str, depth: int) -> Iterator[str]:
        if "anyOf" in node and "type" in node:
            yield _at(
                path, "when using anyOf, type should be defined in anyOf items instead of the parent schema"
            )
        allowed = _BESIDE | ({"$defs"} if not path else frozenset())
        for keyword in node.keys() & KEYWORDS - allowed - {"type"}:
            yield _at(path, f"'{keyword}' is not supported beside anyOf or $ref")
        if "$ref" in node:
            if "type" in node:
                yield _at(path, "when using $ref, type should be defined in the referenced schema")
            yield from self._reference(node["$ref"], path)
        branches = node.get("anyOf", [{"type": "null"}])
        if not isinstance(branches, list) or not 1 <= len(branches) <= BRANCHES:
            yield _at(path, f"anyOf must have 1 to {BRANCHES} branches")
            return
        for i, branch in enumerate(branches):
            yield from self.node(branch, _join(path, f"anyOf.{i}"), depth)

    def _reference(self, reference: Any, path: str) -> Iterator[str]:
        name = reference.removeprefix("#/$defs/") if isinstance(reference, str) else ""
        if reference != "#" and name not in self.root.get("$defs", {}):
            yield _at(path, f"$ref {reference!r} must point to a definition in $defs")

    def _plain(self, node: dict[str, Any], path: str) -> Iterator[str]:
        kind = node.get("type")
        kinds = kind if isinstance(kind, list) else [kind]
        if "type" not in node:
            yield _at(path, "type is not defined")
        elif not kinds or not all(isinstance(k, str) and k in TYPES for k in kinds):
            yield _at(path, f"unknown type {kind!r}")
        for keyword in ("minimum", "maximum"):
            if keyword in node and not is_number(node[keyword]):
                yield _at(path, f"{keyword} must be a number")
        for keyword in _COUNTS:
            if keyword in node and not (type(node[keyword]) is int and node[keyword] >= 0):
                yield _at(path, f"{keyword} must be an integer of zero or more")

    def _values(self, node: dict[str, Any], path: str) -> Iterator[str]:
        if "enum" not in node:
            return
        values = node["enum"]
        if not isinstance(values, list) or not values:
            yield _at(path, "enum must be an array that is not empty")
            return
        self.enum_items += len(values)
        if len({_kind(v) for v in values} - {"null"}) > 1 or (
            None in values and not isinstance(node.get("type"), list)
        ):
            yield _at(path, "all enum values must have one type")
        if self.enum_items > ENUM_ITEMS:
            yield _at(path, f"more than {ENUM_ITEMS} enum values in the schema")

    def _object(self, node: dict[str, Any], path: str, depth: int) -> Iterator[str]:
        properties = node.get("properties", {})
        if not isinstance(properties, dict):
            yield _at(path, "properties must be an object")
            return
        for name in node.get("required") or ():
            if name not in properties:
                yield _at(path, f"required name {name!r} is not in properties")
        self.properties += len(properties)
        if self.properties > PROPERTIES:
            yield _at(path, f"more than {PROPERTIES} properties in the schema")
        for name, child in properties.items():
            if name in RESERVED_NAMES:
                yield _at(_join(path, f"properties.{name}"), f"property name '{name}' is reserved")
            yield from self.node(child, _join(path, f"properties.{name}"), depth + 1)
        more = node.get("additionalProperties", False)
        if not isinstance(more, bool):
            yield from self.node(more, _join(path, "additionalProperties"), depth + 1)

    def definitions(self) -> Iterator[str]:
        """Problems in $defs, and definitions that no value can end."""
        definitions = self.root.get("$defs", {})
        if not isinstance(definitions, dict):
            yield _at("$defs", "must be an object")
            return
        for name, node in definitions.items():
            if "/" in name:
                yield _at(f"$defs.{name}", "a definition name must not contain '/'")
            yield from self.node(node, f"$defs.{name}", 1)
        if not _ends(self.root, self.root, frozenset()):
            yield _at("", "infinite recursion: no value can end it")


def dialect_problem(schema: Any) -> str | None:
    """The first thing that the dialect does not take, or None."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return _at("", "the root must have type object")
    walk = _Walk(schema)
    problem = next(walk.node(schema, "", 1), None)
    return problem if problem is not None else next(walk.definitions(), None)


def _ends(node: Any, root: dict[str, Any], seen: frozenset[str]) -> bool:
    """Whether some finite value fits: a required property that needs itself has none."""
    if not isinstance(node, dict):
        return True
    reference = node.get("$ref")
    if isinstance(reference, str):
        if reference in seen:
            return False
        target = root if reference == "#" else root.get("$defs", {}).get(reference.removeprefix("#/$defs/"))
        return _ends(target, root, seen | {reference})
    if isinstance(node.get("anyOf"), list):
        return any(_ends(branch, root, seen) for branch in node["anyOf"])
    if node.get("type") == "array" and node.get("minItems"):
        return _ends(node.get("items"), root, seen)
    properties = node.get("properties")
    if not isinstance(properties, dict):
        return True
    return all(_ends(properties.get(name), root, seen) for name in node.get("required") or ())


def _kind(value: Any) -> str:
    if is_number(value):
        return "number"
    return "null" if value is None else type(value).__name__


def _join(path: str, step: str) -> str:
    return f"{path}.{step}" if path else step


def _at(path: str, problem: str) -> str:
    return f"At path '{path}': {problem}"
