"""What a wire schema counts against a dialect's limits, and where.

Counts the finished schema, each definition once. Knows no model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any

from extract.errors import ModelError
from extract.schema.dialect import Dialect, Limit
from extract.schema.wire import Schema


@dataclass(frozen=True, slots=True)
class Count:
    """A number, the place with the most of it, and the dialect's limits (None: no number is known)."""

    value: int
    path: str = ""
    warn: int | None = None
    refuse: int | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """properties, depth (object and array levels), branches of the widest union, properties with a union,
    optional properties, enum values, leaf properties, and the size in bytes."""

    properties: Count
    depth: Count
    branches: Count
    unions: Count
    optionals: Count
    enum_values: Count
    leaves: Count
    size: Count

    def as_dict(self) -> dict[str, dict[str, Any]]:
        """As JSON, for `extract schema --json`."""
        return asdict(self)

    def over(self) -> Iterator[tuple[str, Count]]:
        """The counts above the number where providers are known to differ."""
        for item in fields(self):
            count: Count = getattr(self, item.name)
            if count.warn is not None and count.value > count.warn:
                yield item.name.replace("_", " "), count


@dataclass(slots=True)
class _Tally:
    properties: int = 0
    unions: int = 0
    optionals: int = 0
    enum_values: int = 0
    leaves: int = 0
    branches: int = 0
    widest: str = ""
    longest: str = ""
    longest_size: int = 0
    depth: int = 0
    deepest: str = ""


def count(schema: Schema, text: str, dialect: Dialect, name: str) -> Counts:
    """Count a schema. Raises `ModelError` with the path where a limit that all agree on is broken."""
    tally = _Tally()
    defs = schema.get("$defs", {})
    bare = {key: value for key, value in schema.items() if key != "$defs"}
    itself = frozenset(key for key, target in defs.items() if target == bare)
    _walk(bare, name, tally)
    for key, target in defs.items():
        _walk(target, key, tally)
    _deepen(bare, name, 0, itself, defs, tally)
    values = {
        "properties": (tally.properties, name),
        "depth": (tally.depth, tally.deepest),
        "branches": (tally.branches, tally.widest),
        "unions": (tally.unions, name),
        "optionals": (tally.optionals, name),
        "enum_values": (tally.enum_values, tally.longest or name),
        "leaves": (tally.leaves, name),
        "size": (len(text.encode()), name),
    }
    return Counts(**{key: _checked(key, value, path, dialect) for key, (value, path) in values.items()})


def _checked(key: str, value: int, path: str, dialect: Dialect) -> Count:
    limit = dialect.limits.get(key, Limit())
    if limit.refuse is not None and value > limit.refuse:
        raise ModelError(
            f"{value} {key.replace('_', ' ')}, and {dialect.name} takes at most {limit.refuse}; "
            "split the model, or take fields out",
            path,
        )
    return Count(value, path, limit.warn, limit.refuse)


def _walk(schema: Schema, path: str, tally: _Tally) -> None:
    enum = schema.get("enum", ())
    tally.enum_values += len(enum)
    if len(enum) > tally.longest_size:
        tally.longest, tally.longest_size = path, len(enum)
    branches = schema.get("anyOf", ())
    if len(branches) > tally.branches:
        tally.branches, tally.widest = len(branches), path
    for branch in branches:
        _walk(branch, path, tally)
    if "items" in schema:
        _walk(schema["items"], f"{path}[]", tally)
    for key, part in schema.get("properties", {}).items():
        tally.properties += 1
        tally.unions += len(part.get("anyOf", ())) > 1
        tally.optionals += key not in schema["required"]
        tally.leaves += _is_leaf(part)
        _walk(part, f"{path}.{key}", tally)


def _is_leaf(part: Schema) -> bool:
    branches = part.get("anyOf") or [part]
    return all(branch.get("type") not in ("object", "array") and "$ref" not in branch for branch in branches)


def _deepen(
    schema: Schema, path: str, depth: int, seen: frozenset[str], defs: dict[str, Schema], tally: _Tally
) -> None:
    """Depth of objects and arrays, through references, each target once on a way."""
    target = schema.get("$ref", "").removeprefix("#/$defs/")
    if target and target not in seen:
        _deepen(defs[target], path, depth, seen | {target}, defs, tally)
    if schema.get("type") in ("object", "array"):
        depth += 1
        if depth > tally.depth:
            tally.depth, tally.deepest = depth, path
    for branch in schema.get("anyOf", ()):
        _deepen(branch, path, depth, seen, defs, tally)
    if "items" in schema:
        _deepen(schema["items"], f"{path}[]", depth, seen, defs, tally)
    for key, part in schema.get("properties", {}).items():
        _deepen(part, f"{path}.{key}", depth, seen, defs, tally)
