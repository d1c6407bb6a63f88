"""A shape made fit for a dialect: reserved names get a `_`, recursion is kept, unrolled or refused.

Works on the tree alone, so that decoder, encoder and counts see exactly what the wire schema says.
"""

from __future__ import annotations

from dataclasses import replace

from extract.errors import ModelError
from extract.schema.dialect import Dialect
from extract.schema.shape import (
    Array,
    Either,
    Field,
    Maybe,
    Node,
    Note,
    Pairs,
    Quoted,
    Record,
    Ref,
    Scalar,
    Shape,
    below,
    children,
)

_ENDS_HERE = Note(description="Always empty: nesting ends here.")


def adapt(shape: Shape, dialect: Dialect, name: str) -> Shape:
    """The shape as the dialect takes it. Raises `ModelError` for recursion that cannot end."""
    _refuse_endless(shape, name)
    root = _renamed(shape.root, dialect)
    defs = {key: _renamed(node, dialect) for key, node in shape.defs.items()}
    shape = replace(shape, root=root, defs=defs)
    loops = recursive_names(shape)
    return _Unroller(shape, dialect.unroll, loops).shape() if loops and dialect.unroll else shape


def recursive_names(shape: Shape) -> frozenset[str]:
    """The definitions that can be reached from themselves."""
    direct = {
        name: {node.target for node in below(top) if isinstance(node, Ref)}
        for name, top in shape.defs.items()
    }
    loops = set()
    for name in direct:
        seen: set[str] = set()
        todo = list(direct[name])
        while todo:
            target = todo.pop()
            if target not in seen:
                seen.add(target)
                todo.extend(direct[target])
        if name in seen:
            loops.add(name)
    return frozenset(loops)


def _renamed(node: Node, dialect: Dialect) -> Node:
    match node:
        case Record(fields=fields):
            taken: set[str] = {field.wire for field in fields if field.wire not in dialect.reserved}
            return replace(node, fields=tuple(_rename(field, dialect, taken) for field in fields))
        case Array(item=item):
            return replace(node, item=_renamed(item, dialect))
        case Pairs(key=key, value=value):
            return replace(node, key=_renamed(key, dialect), value=_renamed(value, dialect))
        case Either(branches=branches):
            return replace(node, branches=tuple(_renamed(branch, dialect) for branch in branches))
        case Maybe(inner=inner) | Quoted(inner=inner):
            return replace(node, inner=_renamed(inner, dialect))
        case _:
            return node


def _rename(field: Field, dialect: Dialect, taken: set[str]) -> Field:
    wire = field.wire
    if wire in dialect.reserved:
        while wire in dialect.reserved or wire in taken:
            wire += "_"
        taken.add(wire)
    return replace(field, wire=wire, node=_renamed(field.node, dialect))


def _refuse_endless(shape: Shape, name: str) -> None:
    """A value of the root must be able to end; every property is asked for, so defaults do not help."""
    ends: set[str] = set()
    while True:
        more = {key for key, node in shape.defs.items() if key not in ends and _ends(node, ends)}
        if not more:
            break
        ends |= more
    for key, node in [(name, shape.root), *shape.defs.items()]:
        if not _ends(node, ends) and not isinstance(node, Ref):
            raise ModelError(
                "no value of it can ever end; make the recursive field Optional, or a list that may be empty",
                _culprit(node, key, ends),
            )


def _ends(node: Node, ends: set[str]) -> bool:
    match node:
        case Ref(target=target):
            return target in ends
        case Maybe():
            return True
        case Array(rules=rules) | Pairs(rules=rules):
            return dict(rules).get("minItems", 0) < 1 or all(_ends(child, ends) for child in children(node))
        case Either(branches=branches):
            return any(_ends(branch, ends) for branch in branches)
        case Record(fields=fields):
            return all(field.absent or _ends(field.node, ends) for field in fields)
        case Quoted(inner=inner):
            return _ends(inner, ends)
        case Scalar():
            return True


def _culprit(node: Node, path: str, ends: set[str]) -> str:
    if isinstance(node, Record):
        for field in node.fields:
            if not field.absent and not _ends(field.node, ends):
                return _culprit(field.node, f"{path}.{field.name}", ends)
    return path


class _CutError(Exception):
    """The depth is used up: the nearest place that can do without this branch must."""


class _Unroller:
    """Replaces each recursive reference by what it stands for, a bounded number of times."""

    def __init__(self, shape: Shape, levels: int, loops: frozenset[str]) -> None:
        self.source = shape
        self.levels = levels
        self.loops = loops

    def shape(self) -> Shape:
        root = self.node(self.source.root, {})
        defs = {key: node for key, node in self.source.defs.items() if key not in self.loops}
        defs = {key: self.node(node, {}) for key, node in defs.items()}
        used = {n.target for top in (root, *defs.values()) for n in below(top) if isinstance(n, Ref)}
        warning = f"{', '.join(sorted(self.loops))}: nested at most {self.levels} levels deep in this dialect"
        return replace(
            self.source,
            root=root,
            defs={key: node for key, node in defs.items() if key in used},
            warnings=(*self.source.warnings, warning),
        )

    def node(self, node: Node, depth: dict[str, int]) -> Node:
        match node:
            case Ref():
                return self._expand(node, depth)
            case Maybe():
                return self._maybe(node, depth)
            case Either():
                return self._either(node, depth)
            case Array():
                return self._array(node, depth)
            case Pairs():
                return self._pairs(node, depth)
            case Record(fields=fields):
                return replace(node, fields=tuple(replace(f, node=self.node(f.node, depth)) for f in fields))
            case Quoted(inner=inner):
                return replace(node, inner=self.node(inner, depth))
            case Scalar():
                return node

    def _expand(self, node: Ref, depth: dict[str, int]) -> Node:
        if node.target not in self.loops:
            return node
        used = depth.get(node.target, 0)
        if used >= self.levels:
            raise _CutError
        target = self.node(self.source.defs[node.target], {**depth, node.target: used + 1})
        return replace(target, note=node.note.over(target.note))

    def _maybe(self, node: Maybe, depth: dict[str, int]) -> Node:
        try:
            return replace(node, inner=self.node(node.inner, depth))
        except _CutError:
            return Scalar("null", note=node.note)

    def _either(self, node: Either, depth: dict[str, int]) -> Node:
        kept: list[Node] = []
        labels: list[str] = []
        for index, branch in enumerate(node.branches):
            try:
                kept.append(self.node(branch, depth))
            except _CutError:
                continue
            labels.extend(node.labels[index : index + 1])
        if not kept:
            raise _CutError
        return replace(node, branches=tuple(kept), labels=tuple(labels))

    def _array(self, node: Array, depth: dict[str, int]) -> Node:
        try:
            return replace(node, item=self.node(node.item, depth))
        except _CutError:
            if dict(node.rules).get("minItems", 0):
                raise
            return replace(node, item=Scalar("null"), rules=(("maxItems", 0),), note=_ENDS_HERE)

    def _pairs(self, node: Pairs, depth: dict[str, int]) -> Node:
        try:
            return replace(node, value=self.node(node.value, depth))
        except _CutError:
            if dict(node.rules).get("minItems", 0):
                raise
            return replace(node, value=Scalar("null"), rules=(("maxItems", 0),), note=_ENDS_HERE)
