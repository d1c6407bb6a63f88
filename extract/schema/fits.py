"""Which branch of a union a JSON value belongs to, on either side.

Looks at types, keys and enum values; bounds and text forms are the judge's. Knows no Pydantic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from extract.schema.forms import form_of
from extract.schema.shape import BOX, Array, Either, Maybe, Node, Pairs, Quoted, Record, Ref, Scalar, Shape

WIRE: Literal["wire"] = "wire"
MODEL: Literal["model"] = "model"
Test: TypeAlias = Callable[[Any], bool]


def is_exactly(kind: str, value: Any) -> bool:
    """Whether a JSON value has a JSON type, with `true` no integer and `1.0` no integer."""
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case _:
            return value is None


def same(value: Any, literal: Any) -> bool:
    """Whether a JSON value is a literal, type and all: `true` is no 1, and `1.0` is no 1."""
    if isinstance(value, bool) or isinstance(literal, bool):
        return value is literal
    return bool(value == literal) and (isinstance(literal, float) or not isinstance(value, float))


class Fits:
    """Makes tests for the nodes of one shape."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self._named: dict[tuple[str, str], Test] = {}

    def test(self, node: Node, side: str) -> Test:
        match node:
            case Scalar():
                return _scalar(node)
            case Array(item=item):
                inner = self.test(item, side)
                return lambda value: isinstance(value, list) and all(map(inner, value))
            case Maybe(inner=wrapped):
                inside = self.test(wrapped, side)
                return lambda value: value is None or inside(value)
            case Either(branches=branches):
                tests = [self.test(branch, side) for branch in branches]
                return lambda value: any(test(value) for test in tests)
            case Pairs():
                return self._pairs(node, side)
            case Record():
                return self._record(node, side)
            case Quoted(inner=quoted):
                return self._quoted(quoted, side)
            case Ref(target=target):
                return self._ref(target, side)

    def _quoted(self, node: Node, side: str) -> Test:
        test = self.test(node, side)
        if side == MODEL:
            return test
        return lambda value: _is_object_of(value, "quote", "value") and test(value["value"])

    def _ref(self, target: str, side: str) -> Test:
        if (target, side) not in self._named:
            self._named[target, side] = lambda value: True
            self._named[target, side] = self.test(self.shape.defs[target], side)
        return lambda value: self._named[target, side](value)

    def _pairs(self, node: Pairs, side: str) -> Test:
        inner = self.test(node.value, side)
        if side == MODEL:
            return lambda value: isinstance(value, dict) and all(map(inner, value.values()))
        key = self.test(node.key, side)
        if node.boxed:
            return lambda value: _is_object_of(value, BOX) and _are_pairs(value[BOX], key, inner)
        return lambda value: _are_pairs(value, key, inner)

    def _record(self, node: Record, side: str) -> Test:
        tests = [self.test(field.node, side) for field in node.fields]
        if node.array and side == MODEL:
            return lambda value: (
                isinstance(value, list)
                and len(value) == len(tests)
                and all(test(item) for test, item in zip(tests, value, strict=True))
            )
        ways = [
            (field.wire if side == WIRE else field.alias, field.absent, test)
            for field, test in zip(node.fields, tests, strict=True)
        ]
        known = {key for key, _, _ in ways}

        def test_record(value: Any) -> bool:
            if not isinstance(value, dict) or not known >= value.keys():
                return False
            return all(
                (absent and value.get(key) is None) or (key in value and test(value[key]))
                for key, absent, test in ways
            )

        return test_record


def _is_object_of(value: Any, *keys: str) -> bool:
    return isinstance(value, dict) and value.keys() == set(keys)


def _are_pairs(value: Any, key: Test, inner: Test) -> bool:
    return isinstance(value, list) and all(
        _is_object_of(item, "key", "value") and key(item["key"]) and inner(item["value"]) for item in value
    )


def _scalar(node: Scalar) -> Test:
    kind, values = node.json, node.values
    if values is not None and not node.free:
        return lambda value: any(same(value, one) for one in values)
    check = None if node.free else form_of(node.form).check
    if kind == "string" and check is not None:
        return lambda value: isinstance(value, str) and check(value)
    return lambda value: is_exactly(kind, value)
