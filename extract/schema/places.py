"""Where something is, on both sides: wire pointer → model pointer, Pydantic location → both.

Walks the tree of shapes beside the value. Knows no schema and no finding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from extract.schema.decode import key_text
from extract.schema.fits import MODEL, Fits
from extract.schema.shape import BOX, Array, Either, Maybe, Node, Pairs, Quoted, Record, Ref, Scalar, Shape

Part = str | int
NOWHERE = object()


@dataclass(frozen=True, slots=True)
class Spot:
    """One place. `node`: the shape that stands there, or None. `likely`: no better branch was passed by."""

    model: tuple[Part, ...]
    wire: tuple[Part, ...]
    node: Node | None
    likely: bool = True


class Places:
    """Finds places in one shape."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self._fits = Fits(shape)

    def of_wire(self, parts: Sequence[Part], value: Any = NOWHERE) -> Spot:
        """The place of a wire pointer; with the wire value, keys of dicts are named."""
        wire = list(parts)
        model: list[Part] = []
        node: Node | None = self.shape.root
        if self.shape.wrapper and wire and wire[0] == self.shape.wrapper:
            value = step(value, wire[0])
            wire = wire[1:]
        while wire and node is not None:
            node = self._open(node, wire[0])
            took, gone, node = _down_wire(node, wire, value)
            for part in wire[:took]:
                value = step(value, part)
            model.extend(gone)
            wire = wire[took:]
        return Spot((*model, *wire), tuple(parts), node)

    def _open(self, node: Node, part: Part) -> Node:
        """The node behind references and unions that has this part."""
        node = self.shape.resolve(node)
        if isinstance(node, Maybe):
            return self._open(node.inner, part)
        if isinstance(node, Either):
            branches = [self._open(branch, part) for branch in node.branches]
            return next((branch for branch in branches if _has(branch, part)), node)
        return node

    def of_location(self, location: Sequence[Part], model_value: Any, wire_value: Any) -> Spot:
        """The place of a Pydantic error, whose location names the branches of unions."""
        return _Walk(self, model_value, wire_value, labelled=True).to(location)

    def of_model(self, parts: Sequence[Part], model_value: Any, wire_value: Any) -> Spot:
        """The place of a pointer in the model's shape."""
        return _Walk(self, model_value, wire_value, labelled=False).to(parts)


class _Walk:
    """Follows keys of the model's shape down both values."""

    def __init__(self, places: Places, model_value: Any, wire_value: Any, *, labelled: bool) -> None:
        self.places = places
        self.labelled = labelled
        self.value = model_value
        self.wire_value = wire_value
        self.model: list[Part] = []
        self.wire: list[Part] = []
        self.likely = True
        wrapper = places.shape.wrapper
        if wrapper:
            self._take_wire(wrapper)

    def to(self, location: Sequence[Part]) -> Spot:
        node: Node | None = self.places.shape.root
        rest = list(location)
        while node is not None and rest:
            node = self._behind(node, rest)
            if rest and node is not None:
                node = self._down(node, rest)
        return Spot(tuple(self.model), tuple(self.wire), node, self.likely)

    def _behind(self, node: Node, rest: list[Part]) -> Node | None:
        """Through references, null and unions; a union's label is taken off the location."""
        while True:
            node = self.places.shape.resolve(node)
            if isinstance(node, Maybe):
                node = node.inner
            elif isinstance(node, Quoted):
                self._take_wire("value")
                node = node.inner
            elif isinstance(node, Either) and node.labels and rest:
                node = self._branch(node, str(rest.pop(0)) if self.labelled else "")
            else:
                return node

    def _branch(self, node: Either, label: str) -> Node:
        fitting = [branch for branch in node.branches if self.places._fits.test(branch, MODEL)(self.value)]
        named = [
            branch
            for branch, name in zip(node.branches, node.labels, strict=True)
            if label and (label == name or _is_called(self.places.shape.resolve(branch), label))
        ]
        both = [branch for branch in named if branch in fitting]
        if named and fitting and not both:
            self.likely = False
        return (both or named or fitting or list(node.branches))[0]

    def _down(self, node: Node, rest: list[Part]) -> Node | None:
        part = rest.pop(0)
        match node:
            case Record(fields=fields):
                field = next((f for f in fields if part in (f.alias, f.name) or part == str(f.name)), None)
                if field is None:
                    return self._take(part, part, None)
                return self._take(field.name if node.array else field.alias, field.wire, field.node)
            case Array(item=item):
                return self._take(part, part, item)
            case Pairs():
                return self._pair(node, str(part), rest)
            case _:
                rest.clear()
                return node

    def _pair(self, node: Pairs, key: str, rest: list[Part]) -> Node:
        if node.boxed:
            self._take_wire(BOX)
        index = next(
            (
                number
                for number, item in enumerate(self.wire_value if isinstance(self.wire_value, list) else ())
                if isinstance(item, dict) and key_text(item.get("key")) == key
            ),
            0,
        )
        self._take_wire(index)
        if rest and rest[0] == "[key]":
            rest.clear()
            self.model.append(key)
            self._take_wire("key")
            return node.key
        self.model.append(key)
        self.value = step(self.value, key)
        self._take_wire("value")
        return node.value

    def _take(self, model: Part, wire: Part, node: Node | None) -> Node | None:
        self.model.append(model)
        self.value = step(self.value, model)
        self._take_wire(wire)
        return node

    def _take_wire(self, part: Part) -> None:
        self.wire.append(part)
        self.wire_value = step(self.wire_value, part)


def step(value: Any, part: Part) -> Any:
    """What stands one step down, or NOWHERE."""
    if isinstance(value, dict):
        return value.get(part, NOWHERE)
    if isinstance(value, list):
        index = int(part) if isinstance(part, int) or part.isdigit() else -1
        return value[index] if 0 <= index < len(value) else NOWHERE
    return NOWHERE


_CONTAINERS = ("list[", "set[", "frozenset[", "tuple[", "dict[", "deque[")
_SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "none"}


def _is_called(node: Node, label: str) -> bool:
    """Whether Pydantic's label of a branch (`Card`, `constrained-int`, `list[str]`) may mean this node."""
    match node:
        case Record(cls=cls, array=False):
            return label == getattr(cls, "__name__", "")
        case Array() | Pairs() | Record():
            return label.startswith(_CONTAINERS) and label.startswith("dict[") is isinstance(node, Pairs)
        case Scalar(json=json, values=values, form=form):
            word = "literal" if values is not None else form.partition("-")[0] or _SCALARS[json]
            return not label.startswith(_CONTAINERS) and word in _words(label)
        case _:
            return False


def _words(label: str) -> list[str]:
    return "".join(letter if letter.isalnum() else " " for letter in label).split()


def _has(node: Node, part: Part) -> bool:
    number = isinstance(part, int) or part.isdigit()
    match node:
        case Record(fields=fields):
            return any(part == field.wire for field in fields)
        case Pairs(boxed=True):
            return part == BOX
        case Array() | Pairs():
            return number
        case Quoted():
            return part in ("quote", "value")
        case _:
            return False


def _down_wire(node: Node, wire: Sequence[Part], value: Any) -> tuple[int, list[Part], Node | None]:
    """How many wire parts one step takes, what they are in the model's shape, and what stands there."""
    part = wire[0]
    match node:
        case Record(fields=fields):
            field = next((f for f in fields if part == f.wire), None)
            if field is None:
                return 1, [part], None
            return 1, [field.name if node.array else field.alias], field.node
        case Array(item=item):
            return 1, [part], item
        case Pairs(boxed=True):
            return 1, [], replace(node, boxed=False)
        case Pairs():
            item = step(value, part)
            key: Part = key_text(item["key"]) if isinstance(item, dict) and "key" in item else part
            side = wire[1] if len(wire) > 1 else ""
            return min(len(wire), 2), [key], node.key if side == "key" else node.value
        case Quoted(inner=inner):
            return 1, [], inner
        case Ref() | Maybe() | Either() | Scalar():
            return 1, [part], None
