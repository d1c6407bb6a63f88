"""Unions: which branches a value may take, and a warning where no reply could tell two apart.

Knows core schemas of unions; a branch is read by the reader.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from extract.schema.scalars import Core
from extract.schema.shape import Array, Either, Maybe, Node, Pairs, Quoted, Record, Ref, Scalar

if TYPE_CHECKING:
    from extract.schema.reading import Place, Reader


def read_union(reader: Reader, core: Core, place: Place) -> Node:
    branches, labels = [], []
    for choice in core["choices"]:
        inner, label = choice if isinstance(choice, tuple) else (choice, "")
        branches.append(reader.read(inner, place))
        labels.append(str(label))
    if len(branches) == 1:
        return branches[0]
    _warn_of_twins(reader, branches, place)
    if any(isinstance(branch, Array) for branch in branches):
        branches = [replace(one, boxed=True) if isinstance(one, Pairs) else one for one in branches]
    return Either(tuple(branches), tuple(labels))


def read_tagged(reader: Reader, core: Core, place: Place) -> Node:
    branches: dict[str, Node] = {}
    seen: dict[str, str] = {}
    for tag, choice in core["choices"].items():
        if not isinstance(choice, Mapping):
            continue
        key = str(choice.get("schema_ref") or choice.get("ref") or id(choice))
        if key not in seen:
            seen[key] = str(tag)
            branches[str(tag)] = reader.read(choice, place)
    if len(branches) == 1:
        return next(iter(branches.values()))
    return Either(tuple(branches.values()), tuple(branches))


def _warn_of_twins(reader: Reader, branches: list[Node], place: Place) -> None:
    """Two objects with the same keys and types: no reply can say which one it means."""
    seen: dict[Any, str] = {}
    for node in branches:
        record = reader.defs.get(node.target) if isinstance(node, Ref) else node
        if not isinstance(record, Record):
            continue
        look = _look(record)
        if look in seen:
            reader.warn(
                place,
                f"{seen[look]} and {record.name} take the same objects, so the first one wins; "
                "give each a Literal field that tells them apart",
            )
        seen.setdefault(look, record.name)


def _look(node: Node) -> Any:
    """What of a node a reader of the wire can tell apart."""
    match node:
        case Scalar():
            return (node.json, node.form, node.values)
        case Record():
            return ("record", frozenset((f.alias, _look(f.node)) for f in node.fields))
        case Array():
            return ("array", _look(node.item))
        case Pairs():
            return ("pairs", _look(node.value))
        case Maybe():
            return ("maybe", _look(node.inner))
        case Quoted():
            return ("quoted", _look(node.inner))
        case Either():
            return ("either", frozenset(map(_look, node.branches)))
        case Ref():
            return ("ref", node.target)
