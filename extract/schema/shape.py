"""The tree between a Pydantic model and its wire schema: what a value looks like, nothing else.

One tree feeds everything (wire schema, decoder, encoder, counts, findings), so they cannot disagree. A
node says how a value looks in the model's own JSON and what Python object it becomes. It does not know
dialects, descriptions in words, or JSON Schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

JsonType = Literal["string", "integer", "number", "boolean", "null"]
Rules: TypeAlias = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Note:
    """What the author says about a place: the part of the prompt that stands in the schema."""

    title: str = ""
    description: str = ""
    examples: tuple[Any, ...] = ()
    default: tuple[Any, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.title or self.description or self.examples or self.default)

    def over(self, inner: Note) -> Note:
        """This note, with what it leaves open taken from an inner one."""
        return Note(
            self.title or inner.title,
            self.description or inner.description,
            self.examples or inner.examples,
            self.default or inner.default,
        )


NO_NOTE = Note()
BOX = "entries"
"""The property of a boxed dict on the wire."""


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """A string, number, boolean or null. `form` names the text form (`date`, `decimal`, `base64`, …).

    rules: constraints of the model, by their JSON Schema keyword where there is one.
    free: a before-validator reads it first, so only its JSON type may be insisted on.
    core: the pydantic-core schema, for serialising a type that is not known here; with `encoded` always
    (Pydantic's own encoded types, whose value is not what stands in the text).
    """

    json: JsonType
    form: str = ""
    rules: Rules = ()
    values: tuple[Any, ...] | None = None
    note: Note = NO_NOTE
    free: bool = False
    name: str = ""
    cls: Any = None
    core: Any = None
    encoded: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Array:
    """A JSON array of one kind of item; `unique` for sets."""

    item: Node
    rules: Rules = ()
    unique: bool = False
    note: Note = NO_NOTE
    free: bool = False
    cls: Any = list


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """A dict: a JSON object with free keys in the model's shape, a list of {key, value} on the wire.

    boxed: on the wire the list stands in an object of its own, since the dict is in a union with lists,
    and an empty one must be told from an empty list.
    """

    key: Node
    value: Node
    rules: Rules = ()
    note: Note = NO_NOTE
    free: bool = False
    boxed: bool = False


@dataclass(frozen=True, slots=True)
class Field:
    """One property. `name`: in Python; `alias`: in the model's JSON; `wire`: what the reply calls it.

    absent: the key may be missing in the model's shape (`NotRequired`); on the wire that is null.
    """

    name: str | int
    alias: str
    wire: str
    node: Node
    note: Note = NO_NOTE
    by_name: bool = False
    absent: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """A closed object: model, dataclass, TypedDict; with `array`, a tuple (an array in the model's shape)."""

    name: str
    fields: tuple[Field, ...]
    cls: Any = None
    access: Literal["attribute", "key", "index"] = "attribute"
    note: Note = NO_NOTE

    @property
    def array(self) -> bool:
        return self.access == "index"


@dataclass(frozen=True, slots=True, eq=False)
class Either:
    """A union. `labels`: what Pydantic calls the branches in the place of an error."""

    branches: tuple[Node, ...]
    labels: tuple[str, ...] = ()
    note: Note = NO_NOTE


@dataclass(frozen=True, slots=True, eq=False)
class Maybe:
    """A value or null."""

    inner: Node
    note: Note = NO_NOTE


@dataclass(frozen=True, slots=True, eq=False)
class Ref:
    """A named shape that is used in several places or in itself."""

    target: str
    note: Note = NO_NOTE


@dataclass(frozen=True, slots=True, eq=False)
class Quoted:
    """A value that rests on words of the source: on the wire {quote, value}, in the model the value."""

    inner: Node
    note: Note = NO_NOTE


Node: TypeAlias = Scalar | Array | Pairs | Record | Either | Maybe | Ref | Quoted


@dataclass(frozen=True, slots=True)
class Shape:
    """A whole model. `wrapper`: the property that carries a root which is no object, or ""."""

    root: Node
    defs: Mapping[str, Node]
    wrapper: str = ""
    warnings: tuple[str, ...] = field(default=())

    def resolve(self, node: Node) -> Node:
        """The node itself, behind references."""
        while isinstance(node, Ref):
            node = self.defs[node.target]
        return node


def children(node: Node) -> Iterator[Node]:
    """The nodes directly below; a reference has none."""
    match node:
        case Array(item=item):
            yield item
        case Pairs(key=key, value=value):
            yield key
            yield value
        case Record(fields=fields):
            yield from (f.node for f in fields)
        case Either(branches=branches):
            yield from branches
        case Maybe(inner=inner) | Quoted(inner=inner):
            yield inner


def below(node: Node) -> Iterator[Node]:
    """The node and everything under it, references not followed."""
    yield node
    for child in children(node):
        yield from below(child)


def noted(node: Node, note: Note) -> Node:
    """The node with an outer note laid over its own."""
    return replace(node, note=note.over(node.note)) if note else node


def freed(node: Node) -> Node:
    """The node as a before-validator leaves it: of values, only their JSON type is insisted on."""
    match node:
        case Array(item=item):
            return replace(node, item=freed(item), free=True)
        case Maybe(inner=inner) | Quoted(inner=inner):
            return replace(node, inner=freed(inner))
        case Either(branches=branches):
            return replace(node, branches=tuple(map(freed, branches)))
        case Pairs(value=value):
            return replace(node, value=freed(value), free=True)
        case Scalar():
            return replace(node, free=True)
        case _:
            return node
