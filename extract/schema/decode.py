"""Between the wire shape and the model's shape, both ways; JSON values in, JSON values out.

Built once a model as plain functions; a part that is the same on both sides is not touched, and a model
that is the same altogether has no function at all. Does not judge: what does not fit stays as it is, for
the judge to find. Knows no Pydantic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from extract.schema.fits import MODEL, WIRE, Fits
from extract.schema.jsontext import write
from extract.schema.shape import (
    BOX,
    Array,
    Either,
    Field,
    Maybe,
    Node,
    Pairs,
    Quoted,
    Record,
    Ref,
    Scalar,
    Shape,
    children,
)

Turn: TypeAlias = Callable[[Any], Any]


class RepeatedKeyError(ValueError):
    """A key that stands twice in a {key, value} list."""


class Turner:
    """Makes the functions for one shape."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.fits = Fits(shape)
        self._decoded = _rewritten_defs(shape, decoding=True)
        self._encoded = _rewritten_defs(shape, decoding=False)
        self._decoders: dict[str, Turn] = {}
        self._encoders: dict[str, Turn] = {}

    def decoder(self) -> Turn | None:
        """Wire → model's shape, or None where they are the same."""
        inner = self._decode(self.shape.root)
        wrapper = self.shape.wrapper
        if not wrapper:
            return inner

        def decode(value: Any) -> Any:
            if not isinstance(value, dict) or wrapper not in value:
                return value
            return inner(value[wrapper]) if inner else value[wrapper]

        return decode

    def encoder(self) -> Turn | None:
        """Model's shape → wire, or None where they are the same."""
        inner = self._encode(self.shape.root)
        wrapper = self.shape.wrapper
        if not wrapper:
            return inner
        return lambda value: {wrapper: inner(value) if inner else value}

    def _decode(self, node: Node) -> Turn | None:
        if not _is_rewritten(node, self._decoded, decoding=True):
            return None
        match node:
            case Ref(target=target):
                return self._by_name(target, self._decoders, self._decode)
            case Maybe(inner=inner):
                return _maybe(self._decode(inner))
            case Array(item=item):
                return _each(self._decode(item))
            case Pairs():
                return _decode_pairs(node, self._decode(node.value))
            case Quoted(inner=inner):
                return _decode_quoted(self._decode(inner))
            case Record():
                return _decode_record(node, [self._decode(field.node) for field in node.fields])
            case Either(branches=branches):
                return self._either(branches, [self._decode(branch) for branch in branches], WIRE)
            case Scalar():
                return None

    def _encode(self, node: Node) -> Turn | None:
        if not _is_rewritten(node, self._encoded, decoding=False):
            return None
        match node:
            case Ref(target=target):
                return self._by_name(target, self._encoders, self._encode)
            case Maybe(inner=inner):
                return _maybe(self._encode(inner))
            case Array(item=item):
                return _each(self._encode(item))
            case Pairs():
                return _encode_pairs(node, self._encode(node.value))
            case Quoted(inner=inner):
                return _encode_quoted(self._encode(inner))
            case Record():
                return _encode_record(node, [self._encode(field.node) for field in node.fields])
            case Either(branches=branches):
                return self._either(branches, [self._encode(branch) for branch in branches], MODEL)
            case Scalar():
                return None

    def _by_name(self, name: str, table: dict[str, Turn], make: Callable[[Node], Turn | None]) -> Turn:
        """A definition's function, looked up when it runs, so that recursion works."""
        if name not in table:
            table[name] = lambda value: value
            made = make(self.shape.defs[name])
            if made is not None:
                table[name] = made
        return lambda value: table[name](value)

    def _either(self, branches: tuple[Node, ...], turns: list[Turn | None], side: str) -> Turn:
        ways = [(self.fits.test(branch, side), turn) for branch, turn in zip(branches, turns, strict=True)]
        strays = [self.fits.test(branch, WIRE) for branch in branches] if side == MODEL else []

        def turn(value: Any) -> Any:
            for fits, way in ways:
                if fits(value):
                    return way(value) if way else value
            if any(stray(value) for stray in strays):  # it would pass for a branch that it is not
                raise ValueError("a value in the wire shape stands where the model's shape is needed")
            return value

        return turn


def _is_rewritten(node: Node, defs: frozenset[str], *, decoding: bool) -> bool:
    """Whether the wire shape of a node differs from the model's."""
    match node:
        case Pairs() | Quoted():
            return True
        case Ref(target=target):
            return target in defs
        case Record(fields=fields):
            return node.array or any(
                field.wire != field.alias
                or field.absent
                or (field.by_name and not decoding)
                or _is_rewritten(field.node, defs, decoding=decoding)
                for field in fields
            )
        case _:
            return any(_is_rewritten(child, defs, decoding=decoding) for child in children(node))


def _rewritten_defs(shape: Shape, *, decoding: bool) -> frozenset[str]:
    known: frozenset[str] = frozenset()
    while True:
        more = frozenset(
            name for name, node in shape.defs.items() if _is_rewritten(node, known, decoding=decoding)
        )
        if more == known:
            return known
        known = more


def _maybe(inner: Turn | None) -> Turn | None:
    if inner is None:
        return None
    return lambda value: None if value is None else inner(value)


def _each(inner: Turn | None) -> Turn | None:
    if inner is None:
        return None
    return lambda value: [inner(item) for item in value] if isinstance(value, list) else value


def key_text(value: Any) -> str:
    """The key that a model's JSON object has for a key of the wire."""
    return value if isinstance(value, str) else write(value)


def _decode_pairs(node: Pairs, inner: Turn | None) -> Turn:
    def decode(value: Any) -> Any:
        if node.boxed and isinstance(value, dict):
            value = value.get(BOX)
        if not isinstance(value, list) or not all(isinstance(item, dict) and "key" in item for item in value):
            return value
        out: dict[str, Any] = {}
        for item in value:
            key = key_text(item["key"])
            if key in out:
                raise RepeatedKeyError(f"the key {key!r} stands twice")
            got = item.get("value")
            out[key] = inner(got) if inner else got
        return out

    return decode


def key_reader(node: Node) -> Turn:
    """The wire's key for a key of a model's JSON object."""
    if not isinstance(node, Scalar) or node.json == "string":
        return lambda key: key
    kind = node.json

    def read(key: str) -> Any:
        try:
            return (
                int(key)
                if kind == "integer"
                else float(key)
                if kind == "number"
                else {"true": True}.get(key, False)
            )
        except ValueError:
            return key

    return read


def _encode_pairs(node: Pairs, inner: Turn | None) -> Turn:
    read = key_reader(node.key)

    def encode(value: Any) -> Any:
        if isinstance(value, list):
            raise ValueError("a list stands where the model has a dict")
        if not isinstance(value, dict):
            return value
        pairs = [{"key": read(key), "value": inner(got) if inner else got} for key, got in value.items()]
        return {BOX: pairs} if node.boxed else pairs

    return encode


def _decode_quoted(inner: Turn | None) -> Turn:
    def decode(value: Any) -> Any:
        if not isinstance(value, dict) or "value" not in value:
            return value
        return inner(value["value"]) if inner else value["value"]

    return decode


def _encode_quoted(inner: Turn | None) -> Turn:
    return lambda value: {"quote": "", "value": inner(value) if inner else value}


def _decode_record(node: Record, turns: list[Turn | None]) -> Turn:
    if node.array:
        return _decode_tuple(node, turns)
    ways = {field.wire: (field, turn) for field, turn in zip(node.fields, turns, strict=True)}

    def decode(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        out: dict[str, Any] = {}
        for key, got in value.items():
            field, turn = ways.get(key, (None, None))
            if field is None:
                out[key] = got
            elif got is not None or not _absent(field):
                out[field.alias] = turn(got) if turn else got
        return out

    return decode


def _absent(field: Field) -> bool:
    """Whether null on the wire means that the key is not there."""
    return field.absent and not isinstance(field.node, Maybe)


def _decode_tuple(node: Record, turns: list[Turn | None]) -> Turn:
    ways = list(zip(node.fields, turns, strict=True))

    def decode(value: Any) -> Any:
        if not isinstance(value, dict) or any(field.wire not in value for field, _ in ways):
            return value
        return [turn(value[field.wire]) if turn else value[field.wire] for field, turn in ways]

    return decode


def _encode_record(node: Record, turns: list[Turn | None]) -> Turn:
    if node.array:
        return _encode_tuple(node, turns)
    ways = {field.alias: (field, turn) for field, turn in zip(node.fields, turns, strict=True)}
    by_name = {str(field.name): field.alias for field in node.fields if field.by_name}
    missing = [field for field in node.fields if field.absent]

    def encode(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        given = _by_alias(value, by_name, ways)
        out: dict[str, Any] = {field.wire: None for field in missing if field.alias not in given}
        for key, got in given.items():
            field, turn = ways.get(key, (None, None))
            out[field.wire if field else key] = turn(got) if turn else got
        return out

    return encode


def _by_alias(
    value: dict[str, Any], by_name: Mapping[str, str], aliases: Mapping[str, Any]
) -> dict[str, Any]:
    """The same object with Python names replaced by aliases, where the model takes both."""
    return {
        by_name[key] if key in by_name and key not in aliases and by_name[key] not in value else key: got
        for key, got in value.items()
    }


def _encode_tuple(node: Record, turns: list[Turn | None]) -> Turn:
    ways = list(zip(node.fields, turns, strict=True))

    def encode(value: Any) -> Any:
        if isinstance(value, dict):
            raise ValueError("an object stands where the model has a tuple")
        if not isinstance(value, list):
            return value
        out = {
            field.wire: turn(got) if turn else got for (field, turn), got in zip(ways, value, strict=False)
        }
        out.update({f"item_{index + 1}": value[index] for index in range(len(ways), len(value))})
        return out

    return encode
