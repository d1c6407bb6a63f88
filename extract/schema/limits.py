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

NAMES = {
    "properties": "properties",
    "depth": "levels of nesting",
    "branches": "branches in one union",
    "unions": "properties that are unions (one that may be null counts)",
    "optionals": "optional properties",
    "enum_values": "enum values",
    "leaves": "leaf properties",
    "size": "bytes",
}


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
                yield NAMES[item.name], count


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


def count(schema: Schema, text: str, dialect: Dialect, name: str) -> Counts:
    """Count a schema. Raises `ModelError` with the path where a limit that all agree on is broken."""
    tally = _Tally()
    defs = schema.get("$defs", {})
    bare = {key: value for key, value in schema.items() if key != "$defs"}
    itself = frozenset(key for key, target in defs.items() if target == bare)
    _walk(bare, name, tally)
    for key, target in defs.items():
        _walk(target, key, tally)
    depth, way = _Depths(defs, itself).of(bare)
    values = {
        "properties": (tally.properties, name),
        "depth": (depth, name + way),
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
            f"{value} {NAMES[key]}, and {dialect.name} takes at most {limit.refuse}; "
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
    for key, part in schema.get("properties", {}).items():
        tally.properties += 1
        tally.unions += len(part.get("anyOf", ())) > 1
        tally.optionals += key not in schema["required"]
        tally.leaves += _is_leaf(part)
    for part, step in _parts(schema):
        _walk(part, path + step, tally)


def _is_leaf(part: Schema) -> bool:
    branches = part.get("anyOf") or [part]
    return all(branch.get("type") not in ("object", "array") and "$ref" not in branch for branch in branches)


class _Depths:
    """Levels of objects and arrays below a schema, through references, each target once on a way."""

    def __init__(self, defs: dict[str, Schema], root: frozenset[str]) -> None:
        self._defs = defs
        self._open = set(root)
        self._known: dict[str, tuple[int, str]] = {}

    def of(self, schema: Schema) -> tuple[int, str]:
        """The number of levels, and the way down to the last of them."""
        target = schema.get("$ref", "").removeprefix("#/$defs/")
        if target:
            return self._of_target(target)
        here = schema.get("type") in ("object", "array")
        levels, way = max((self._step(part, step) for part, step in _parts(schema)), default=(0, ""))
        return levels + here, way

    def _step(self, part: Schema, step: str) -> tuple[int, str]:
        levels, way = self.of(part)
        return levels, step + way if levels else ""

    def _of_target(self, target: str) -> tuple[int, str]:
        if target in self._open:
            return 0, ""
        if target not in self._known:
            self._open.add(target)
            self._known[target] = self.of(self._defs[target])
            self._open.discard(target)
        return self._known[target]


def _parts(schema: Schema) -> Iterator[tuple[Schema, str]]:
    for branch in schema.get("anyOf", ()):
        yield branch, ""
    if "items" in schema:
        yield schema["items"], "[]"
    for key, part in schema.get("properties", {}).items():
        yield part, f".{key}"
