"""Which places of a model ask for evidence: types in, a plan to walk its values by out.

Knows nothing of sources. A plan is a graph, so that models that hold themselves need no end.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import timedelta
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    NewType,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import AliasChoices, AliasPath, BaseModel, RootModel, SecretBytes, SecretStr
from pydantic.dataclasses import is_pydantic_dataclass, rebuild_dataclass
from pydantic.fields import FieldInfo
from typing_extensions import TypeAliasType, is_typeddict

from extract.errors import ModelError
from extract.evidence.marker import Evidence, find_marker

__all__ = ["EvidenceField", "EvidenceFields", "Node", "Place", "escaped", "evidence_fields"]

Kind = Literal["leaf", "object", "list", "tuple", "dict", "union", "root"]


@dataclasses.dataclass(frozen=True, slots=True)
class EvidenceField:
    """A place of a model that asks for evidence.

    path: pointer into its JSON with `*` for any item or key, and `**` for any depth of a model that
        holds itself. marker: what is asked. type: the declared type. optional: whether it may be None.
    """

    path: str
    marker: Evidence
    type: Any
    optional: bool


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A use of a type: a field, an item, an option. `name` in JSON, `key` in Python."""

    node: Node
    marker: Evidence | None = None
    name: str = "*"
    key: str = ""


@dataclasses.dataclass(slots=True, eq=False)
class Node:
    """A type. `inner` are the places in it; for a dict the key and the value."""

    kind: Kind
    type: Any
    inner: tuple[Place, ...] = ()
    live: bool = False
    recursive: bool = False


class EvidenceFields(tuple[EvidenceField, ...]):
    """The places that ask for evidence, with the plan to walk a value by. Empty, thus false, for none."""

    root: Place

    def __new__(cls, fields: Iterator[EvidenceField], root: Place) -> EvidenceFields:
        self = super().__new__(cls, tuple(fields))
        self.root = root
        return self


def evidence_fields(model: Any) -> EvidenceFields:
    """The places of a model (or of any type that Pydantic takes) that ask for evidence.

    Raises ModelError where a value that is never written as such (a yes or no, bytes, a duration, a
    secret) is asked for by value.
    """
    root = _Planner().place(model)
    name = getattr(model, "__name__", "")
    _survey(root.node, (), set())
    _check(root, name, None, set())
    return EvidenceFields(_listed(root, "", ()), root)


class _Planner:
    """Types to nodes; a type that was met before is the same node, which closes the circles."""

    def __init__(self) -> None:
        self._nodes: dict[Any, Node] = {}

    def place(
        self, annotation: Any, metadata: Sequence[Any] = (), *, name: str = "*", key: str = ""
    ) -> Place:
        plain, found = _stripped(annotation, list(metadata))
        node = self._node(plain)
        return Place(node, find_marker(found), name, key)

    def _node(self, tp: Any) -> Node:
        known = self._nodes.get(tp) if _named(tp) else None
        if known is not None:
            return known
        node = Node("leaf", tp)
        if _named(tp):
            self._nodes[tp] = node
        self._fill(node, tp)
        return node

    def _fill(self, node: Node, tp: Any) -> None:
        if isinstance(tp, TypeAliasType):
            node.kind, node.inner = "union", (self.place(tp.__value__),)
        elif isinstance(tp, type) and issubclass(tp, RootModel):
            info = tp.model_fields["root"]
            node.kind, node.inner = "root", (self.place(info.annotation, info.metadata),)
        elif isinstance(get_origin(tp), TypeAliasType):
            node.kind, node.inner = "union", (self.place(get_origin(tp).__value__[get_args(tp)]),)
        elif (fields := _fields_of(get_origin(tp) or tp)) is not None:
            node.kind = "object"
            node.inner = tuple(self.place(hint, data, name=name, key=key) for key, name, hint, data in fields)
        else:
            self._fill_generic(node, tp)

    def _fill_generic(self, node: Node, tp: Any) -> None:
        origin, args = get_origin(tp), get_args(tp)
        if origin in (Union, types.UnionType):
            node.kind, node.inner = "union", tuple(self.place(arg) for arg in args)
        elif isinstance(tp, type) and issubclass(tp, tuple) and hasattr(tp, "_fields"):
            hints = get_type_hints(tp, include_extras=True)
            node.kind = "tuple"
            node.inner = tuple(self.place(hints.get(one, Any)) for one in tp._fields)
        elif origin is tuple and args[-1:] != (...,):
            node.kind, node.inner = "tuple", tuple(self.place(arg) for arg in args)
        elif isinstance(origin, type) and issubclass(origin, Mapping) and len(args) == 2:
            node.kind, node.inner = "dict", tuple(self.place(arg) for arg in args)
        elif isinstance(origin, type) and issubclass(origin, (Sequence, Set)) and args:
            node.kind, node.inner = "list", (self.place(args[0]),)


def _named(tp: Any) -> bool:
    """Whether a type has a name by which it can hold itself."""
    return isinstance(tp, TypeAliasType) or (isinstance(tp, type) and not get_args(tp))


def _stripped(annotation: Any, metadata: list[Any]) -> tuple[Any, list[Any]]:
    """A type without its wrappings, and all metadata of them, the outermost last."""
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            annotation, *found = get_args(annotation)
            metadata = found + metadata
        elif isinstance(annotation, NewType):
            annotation = annotation.__supertype__
        elif str(origin).rpartition(".")[2] in ("Required", "NotRequired", "ReadOnly", "Final"):
            annotation = get_args(annotation)[0]
        else:
            return annotation, metadata


Declared = tuple[str, str, Any, Sequence[Any]]  # name in Python, name in JSON, type, metadata


def _fields_of(tp: Any) -> list[Declared] | None:
    """The fields of a model, a dataclass or a typed dictionary; None for other types."""
    infos: dict[str, FieldInfo] | None = None
    if not isinstance(tp, type):
        return None
    if issubclass(tp, BaseModel):
        tp.model_rebuild(raise_errors=False)
        infos = tp.model_fields
    elif is_pydantic_dataclass(tp):
        rebuild_dataclass(tp, raise_errors=False)
        infos = tp.__pydantic_fields__
    elif dataclasses.is_dataclass(tp):
        infos = None
    elif not is_typeddict(tp):
        return None
    if infos is not None:
        return [(key, _json_name(key, [info]), info.annotation, info.metadata) for key, info in infos.items()]
    hints = get_type_hints(tp, include_extras=True)
    names = (
        [one.name for one in dataclasses.fields(tp) if one.init] if dataclasses.is_dataclass(tp) else hints
    )
    return [
        (key, _json_name(key, _stripped(hints[key], [])[1]), hints[key], ())
        for key in names
        if get_origin(hints[key]) is not ClassVar
    ]


def _json_name(key: str, metadata: Sequence[Any]) -> str:
    for info in metadata:
        if isinstance(info, FieldInfo):
            alias = info.validation_alias or info.alias
            while isinstance(alias, (AliasChoices, AliasPath)):
                first = alias.choices[0] if isinstance(alias, AliasChoices) else alias.path[0]
                alias = first if isinstance(first, AliasPath) else str(first)
            return alias or key
    return key


def _listed(place: Place, path: str, above: tuple[Node, ...]) -> Iterator[EvidenceField]:
    node = place.node
    if place.marker:
        yield EvidenceField(path, place.marker, node.type, _optional(node))
    if node in above or not node.live:
        return
    inside = f"{path}/**" if node.recursive else path
    for number, inner in enumerate(node.inner):
        yield from _listed(inner, inside + _segment(node, inner, number), (*above, node))


def _segment(node: Node, inner: Place, number: int) -> str:
    if node.kind == "object":
        return f"/{escaped(inner.name)}"
    if node.kind == "tuple":
        return f"/{number}"
    return "/*" if node.kind in ("list", "dict") else ""


def escaped(name: str) -> str:
    """A name as one step of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def _optional(node: Node) -> bool:
    if node.kind == "union":
        return any(_optional(inner.node) for inner in node.inner)
    return node.type in (None, type(None))


def _survey(node: Node, above: tuple[Node, ...], seen: set[Node]) -> None:
    """Find the types that hold themselves, and those with a marker anywhere inside."""
    if node in above:
        node.recursive = True
    if node in seen:
        return
    seen.add(node)
    node.live = any(place.marker for inside in _reach(node) for place in inside.inner)
    for inner in node.inner:
        _survey(inner.node, (*above, node), seen)


def _reach(node: Node) -> set[Node]:
    reached, waiting = {node}, [node]
    while waiting:
        for inner in waiting.pop().inner:
            if inner.node not in reached:
                reached.add(inner.node)
                waiting.append(inner.node)
    return reached


def _check(place: Place, path: str, above: Evidence | None, seen: set[tuple[Node, Evidence | None]]) -> None:
    """Refuse what no text can show, with its place in the model."""
    node, marker = place.node, place.marker or above
    asked = marker if marker and marker.by == "value" else None
    if asked and (unfit := _unfit(node.type)):
        whole = "" if place.marker else " (asked for by a marker around it)"
        raise ModelError(
            f"Evidence(){whole} cannot find {unfit} in a text: "
            'mark the field with Evidence(by="quote"), and the model returns the words that support it',
            path,
        )
    if (node, asked) in seen:
        return
    seen.add((node, asked))
    for number, inner in enumerate(node.inner):
        is_key = node.kind == "dict" and number == 0
        step = {"object": f".{inner.key}", "list": "[]", "dict": "{}", "tuple": f"[{number}]"}.get(
            node.kind, ""
        )
        _check(inner, path + step, None if is_key else asked, seen)


def _unfit(tp: Any) -> str:
    if get_origin(tp) is Literal:
        return "true or false" if any(isinstance(one, bool) for one in get_args(tp)) else ""
    for unfit, words in _UNFIT.items():
        if isinstance(tp, type) and issubclass(tp, unfit):
            return words
    return ""


_UNFIT = {
    bool: "true or false",
    bytes: "bytes",
    timedelta: "a duration",
    SecretStr: "a secret (nor keep it as one)",
    SecretBytes: "a secret (nor keep it as one)",
}
