"""A second opinion on compiled schemas: what each dialect's documentation says, checked without our code."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

WORDS = {
    "type",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "enum",
    "anyOf",
    "$ref",
    "description",
}
EXTRA = {
    "kimi": {"minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"},
    "anthropic": {"minItems", "format", "pattern"},
    "openai": {
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minItems", "maxItems", "format", "pattern"),
    },
}
RESERVED = {"$defs", "$ref", "anyOf", "required", "additionalProperties"}
JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def lint(schema: dict[str, Any], dialect: str) -> list[str]:
    """What is wrong with a schema by the rules of a dialect; empty when nothing is."""
    return list(_lint(schema, dialect))


def nodes(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every node of a schema that stands in schema position."""
    yield path, schema
    for key, part in schema.get("properties", {}).items():
        yield from nodes(part, f"{path}/{key}")
    for key, part in schema.get("$defs", {}).items():
        yield from nodes(part, f"{path}/$defs/{key}")
    for index, part in enumerate(schema.get("anyOf", ())):
        yield from nodes(part, f"{path}/anyOf/{index}")
    if "items" in schema:
        yield from nodes(schema["items"], f"{path}/items")


def keywords(schema: dict[str, Any]) -> set[str]:
    """All keywords in use."""
    return {key for _, node in nodes(schema) for key in node}


def _lint(schema: dict[str, Any], dialect: str) -> Iterator[str]:
    if schema.get("type") != "object":
        yield "the root is no object"
    for name in schema.get("$defs", {}):
        if not re.fullmatch(r"[A-Za-z0-9_.-]+", name):
            yield f"odd definition name {name!r}"
    for path, node in nodes(schema):
        for fault in _node(node, schema, dialect, is_root=path == ""):
            yield f"{path or '(root)'}: {fault}"


def _node(node: dict[str, Any], root: dict[str, Any], dialect: str, *, is_root: bool) -> Iterator[str]:
    allowed = WORDS | EXTRA[dialect] | ({"$defs"} if is_root else set())
    for key in node.keys() - allowed:
        yield f"keyword {key}"
    if "$ref" in node or "anyOf" in node:
        if node.keys() - {"$ref", "anyOf", "description"}:
            yield f"{sorted(node)} beside each other"
        if dialect == "openai" and "$ref" in node and len(node) > 1:
            yield "words beside $ref"
        if node.get("$ref", "").removeprefix("#/$defs/") not in {*root.get("$defs", {}), ""}:
            yield f"{node['$ref']} resolves to nothing"
    elif not isinstance(node.get("type"), str):
        yield "no type"
    yield from _object(node, dialect) if node.get("type") == "object" else ()
    if "enum" in node:
        kinds = {JSON_TYPES.get(type(value), "?") for value in node["enum"]}
        if kinds != {node["type"]} or not node["enum"]:
            yield f"an enum of {kinds} under {node['type']}"


def _object(node: dict[str, Any], dialect: str) -> Iterator[str]:
    if node.get("additionalProperties") is not False:
        yield "an open object"
    if list(node.get("required", ())) != list(node.get("properties", ())):
        yield "a property that is not required"
    if dialect == "kimi" and RESERVED & node["properties"].keys():
        yield f"reserved names {RESERVED & node['properties'].keys()}"
