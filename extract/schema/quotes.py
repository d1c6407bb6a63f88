"""The quotes in a reply: the words that each quoted value rests on, by the value's place in the model.

Walks a reply along the tree of shapes. Does not look for the quotes anywhere: evidence does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from extract.schema.decode import key_text
from extract.schema.fits import WIRE, Fits
from extract.schema.jsontext import pointer
from extract.schema.shape import (
    BOX,
    Array,
    Either,
    Maybe,
    Node,
    Pairs,
    Quoted,
    Record,
    Ref,
    Scalar,
    Shape,
    below,
)

Path = tuple[str | int, ...]


class Quotes:
    """Finds the quotes in replies to one model."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._fits = Fits(shape)
        self._any = any(
            isinstance(node, Quoted) for top in (shape.root, *shape.defs.values()) for node in below(top)
        )

    def of(self, wire: Any) -> dict[str, str]:
        """Pointer in the model's shape → quote, for a wire value that was accepted."""
        if not self._any:
            return {}
        value = wire[self._shape.wrapper] if self._shape.wrapper else wire
        return {pointer(path): quote for path, quote in self._walk(self._shape.root, value, ())}

    def _walk(self, node: Node, value: Any, path: Path) -> Iterator[tuple[Path, str]]:
        match node:
            case Quoted(inner=inner):
                yield path, value["quote"]
                yield from self._walk(inner, value["value"], path)
            case Ref(target=target):
                yield from self._walk(self._shape.defs[target], value, path)
            case Maybe(inner=inner):
                yield from self._walk(inner, value, path) if value is not None else ()
            case Either(branches=branches):
                fitting = next((one for one in branches if self._fits.test(one, WIRE)(value)), None)
                yield from self._walk(fitting, value, path) if fitting is not None else ()
            case Array(item=item):
                for index, one in enumerate(value):
                    yield from self._walk(item, one, (*path, index))
            case Pairs(value=inner):
                for one in value[BOX] if node.boxed else value:
                    yield from self._walk(inner, one["value"], (*path, key_text(one["key"])))
            case Record(fields=fields):
                for field in fields:
                    step = field.name if node.array else field.alias
                    got = value[field.wire]
                    if got is not None or not field.absent:
                        yield from self._walk(field.node, got, (*path, step))
            case Scalar():
                return
