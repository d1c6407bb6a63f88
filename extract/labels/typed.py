"""What a field may hold, for a person who changes it: choices, a switch, a number, a date, text.

Reads the model's own JSON schema. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from extract.errors import InputError

Control = Literal["choice", "choices", "switch", "integer", "number", "decimal", "date", "text", "json"]
Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Typed:
    """One place that can be changed.

    control: how it is asked for. options: of a choice. optional: it may have no value. help: the
    model's own words about it.
    """

    path: str
    name: str
    control: Control
    options: tuple[Any, ...] = ()
    optional: bool = False
    help: str = ""


def places(schema: Schema, value: Any) -> list[Typed]:
    """The places of a value, in the order of the model. schema: `TypeAdapter.json_schema()`."""
    return list(_places(schema, schema, value, "", ""))


def _places(root: Schema, node: Schema, value: Any, path: str, name: str) -> Iterator[Typed]:
    node, optional = _plain(root, node)
    properties = node.get("properties")
    if properties and not (value is None and path):
        held = value if isinstance(value, Mapping) else {}
        for key, inner in properties.items():
            step = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
            yield from _places(root, inner, held.get(key), step, f"{name}.{key}" if name else key)
        return
    if isinstance(value, list) and value and isinstance(value[0], dict):
        for place, item in enumerate(value):
            yield from _places(root, node.get("items", {}), item, f"{path}/{place}", f"{name}[{place + 1}]")
        return
    control, options = _control(root, node)
    yield Typed(path, name or "answer", control, options, optional, str(node.get("description", "")))


def _plain(root: Schema, node: Schema) -> tuple[Schema, bool]:
    """A schema without references and without the branch for null."""
    optional, described = False, node.get("description")
    while True:
        if "$ref" in node:
            node = root.get("$defs", {}).get(str(node["$ref"]).rsplit("/", 1)[-1], {})
            continue
        branches = [one for one in node.get("anyOf", ()) if one.get("type") != "null"]
        if len(branches) < len(node.get("anyOf", ())):
            optional = True
        if len(branches) != 1:
            break
        node = branches[0]
    return ({**node, "description": described} if described else node), optional


def _control(root: Schema, node: Schema) -> tuple[Control, tuple[Any, ...]]:
    if "const" in node:
        return "choice", (node["const"],)
    if "enum" in node:
        return "choice", tuple(node["enum"])
    if {one.get("type") for one in node.get("anyOf", ())} - {"null"} == {"number", "string"}:
        return "decimal", ()
    match node.get("type"):
        case "boolean":
            return "switch", (True, False)
        case "integer":
            return "integer", ()
        case "number":
            return "number", ()
        case "string":
            return ("date" if node.get("format") == "date" else "text"), ()
        case "array":
            item, _ = _plain(root, node.get("items", {}))
            return ("choices", tuple(item["enum"])) if "enum" in item else ("json", ())
    return "json", ()


def read(place: Typed, said: Any) -> Any:
    """What a person typed or picked, as JSON data. Raises InputError for what is no such value."""
    if said is None or (isinstance(said, str) and not said.strip()):
        if not place.optional and place.control != "text":
            raise InputError(f"{place.name} needs a value")
        return None if place.optional else ""
    if not isinstance(said, str):
        return said
    try:
        if place.control == "integer":
            return int(said)
        if place.control == "number":
            return float(said)
        return json.loads(said) if place.control == "json" else said.strip()
    except ValueError:
        raise InputError(f"{place.name}: {said!r} is no {place.control}") from None
