"""A quick yes to a value that fits its schema: plain functions, made once from the judge's schema.

It says yes or "ask the judge", so it can never refuse anything; a keyword that it does not know it leaves
to the judge's own validator. Knows nothing of findings or of replies.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from math import inf, isfinite
from typing import Any, TypeAlias

from extract.schema.forms import form_of
from extract.schema.jsontext import MAX_BITS, MAX_DEPTH, JsonTextError, inspect
from extract.schema.wire import FORM, Schema

Test: TypeAlias = Callable[[Any], bool]
Ways: TypeAlias = dict[type, Test | None]
"""What a place takes: by the exact type of a value, what else is to be seen (None: nothing)."""

_KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}
_BOUNDS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"})
_LENGTHS = frozenset({"minLength", "maxLength"})
_SIZES = frozenset({"minItems", "maxItems"})
_LONGEST = 2**MAX_BITS - 1
_SAFE = 2**1023  # a whole number below it has a double, as the judge wants of a number


def quick_yes(judge: Schema, part: Callable[[Schema], Test]) -> Test:
    """A test that is true only where the reader and the judge would find nothing.

    part: makes the judge's own test for keywords without sub-schemas.
    """
    defs = judge.get("$defs", {})
    root = {keyword: value for keyword, value in judge.items() if keyword != "$defs"}
    try:
        ways = _Maker(defs, part).ways(root)
    except _UnknownError:
        return _never
    fits = partial(_fits, ways)
    if _Levels(defs).of(root) <= MAX_DEPTH:
        return fits
    return lambda value: _is_readable(value) and fits(value)


class _Levels:
    """How deep what fits a schema can be at most; without end where a definition holds itself."""

    def __init__(self, defs: Mapping[str, Schema]) -> None:
        self._defs = defs
        self._named: dict[str, float] = {}

    def of(self, schema: Schema) -> float:
        if "$ref" in schema:
            return self._ref(schema["$ref"].removeprefix("#/$defs/"))
        below = [*schema.get("anyOf", ()), *schema.get("properties", {}).values()]
        below += [schema["items"]] if "items" in schema else []
        return max(map(self.of, below), default=0) + (schema.get("type") in ("object", "array"))

    def _ref(self, name: str) -> float:
        if name not in self._named:
            self._named[name] = inf  # unless it ends
            self._named[name] = self.of(self._defs[name])
        return self._named[name]


def _is_readable(value: Any) -> bool:
    try:
        inspect(value)
    except JsonTextError:
        return False
    return True


class _UnknownError(Exception):
    """A schema in a form that no model compiles to."""


def _fits(ways: Ways, value: Any) -> bool:
    kind = type(value)
    return kind in ways and ((test := ways[kind]) is None or test(value))


def _never(value: Any) -> bool:
    return False


class _Maker:
    """Makes the tests of one schema."""

    def __init__(self, defs: Mapping[str, Schema], part: Callable[[Schema], Test]) -> None:
        self._defs = defs
        self._part = part
        self._named: dict[str, Ways] = {}

    def ways(self, schema: Schema) -> Ways:
        """What a schema takes."""
        match schema:
            case {"$ref": str(ref)}:
                _only(schema, {"$ref"})
                return self._ref(ref.removeprefix("#/$defs/"))
            case {"anyOf": list(branches)}:
                _only(schema, {"anyOf"})
                return _any_of(map(self.ways, branches))
            case {"type": "object"}:
                return {dict: self._object(schema)}
            case {"type": "array"}:
                return {list: self._array(schema)}
            case {"type": str(kind)} if kind in _KINDS:
                return {python: self._scalar(schema, python, kind) for python in _KINDS[kind]}
        raise _UnknownError

    def _ref(self, name: str) -> Ways:
        """A definition is looked up when it is needed: it may hold itself."""
        if name not in self._named:
            self._named[name] = {}
            self._named[name] = self.ways(self._defs[name])
        return dict.fromkeys(self._kinds(self._defs[name]), lambda value: _fits(self._named[name], value))

    def _kinds(self, schema: Schema) -> Iterable[type]:
        if "$ref" in schema:
            return self._kinds(self._defs[schema["$ref"].removeprefix("#/$defs/")])
        if "anyOf" in schema:
            return [kind for branch in schema["anyOf"] for kind in self._kinds(branch)]
        return _KINDS[schema["type"]]

    def _object(self, schema: Schema) -> Test:
        _only(schema, {"type", "properties", "required", "additionalProperties"})
        names = schema["properties"].keys()
        if names != set(schema["required"]) or schema["additionalProperties"] is not False:
            raise _UnknownError
        fields = [(name, self.ways(inner)) for name, inner in schema["properties"].items()]

        def test(value: dict[str, Any]) -> bool:
            if len(value) != len(fields):
                return False
            try:
                for name, ways in fields:
                    item = value[name]
                    way = ways[type(item)]  # `_fits` written out: a call for each field tells
                    if way is not None and not way(item):
                        return False
            except KeyError:  # no such field, or a type that it does not take
                return False
            return True

        return test

    def _array(self, schema: Schema) -> Test:
        ways = self.ways(schema["items"])
        low, high = schema.get("minItems", 0), schema.get("maxItems", inf)
        sized = not _SIZES.isdisjoint(schema)
        rest = self._rest(schema, _SIZES | {"type", "items"})

        def test(value: list[Any]) -> bool:
            if sized and not low <= len(value) <= high:
                return False
            try:
                for item in value:
                    way = ways[type(item)]
                    if way is not None and not way(item):
                        return False
            except KeyError:
                return False
            return rest is None or rest(value)

        return test

    def _scalar(self, schema: Schema, python: type, kind: str) -> Test | None:
        """What is to be seen of a value of this Python type, beyond the type."""
        tests: list[Test] = []
        seen = {"type"}
        if kind == "number":
            tests.append(isfinite if python is float else _has_double)
        if kind == "integer" or (python in (int, float) and _BOUNDS & schema.keys()):
            tests.append(_within(schema))
            seen |= _BOUNDS
        if python is str:
            tests += _text_tests(schema)
            seen |= _LENGTHS | {"pattern", FORM}
        if python is not float and all(type(one) is python for one in schema.get("enum", ())):
            tests += [frozenset(schema["enum"]).__contains__] if "enum" in schema else []
            seen.add("enum")
        rest = self._rest(schema, seen)
        return _all_of([*tests, rest] if rest else tests)

    def _rest(self, schema: Schema, seen: Iterable[str]) -> Test | None:
        """The judge's own test for the keywords that were not seen to."""
        rest = {keyword: value for keyword, value in schema.items() if keyword not in seen}
        return self._part(rest) if rest else None


def _only(schema: Schema, keywords: set[str]) -> None:
    if schema.keys() - keywords:
        raise _UnknownError


def _any_of(branches: Iterable[Ways]) -> Ways:
    merged: Ways = {}
    for branch in branches:
        for kind, test in branch.items():
            merged[kind] = _either(merged[kind], test) if kind in merged else test
    return merged


def _either(*tests: Test | None) -> Test | None:
    told = [test for test in tests if test is not None]
    return (lambda value: any(test(value) for test in told)) if len(told) == len(tests) else None


def _all_of(tests: list[Test]) -> Test | None:
    if len(tests) < 2:
        return tests[0] if tests else None
    first, rest = tests[0], _all_of(tests[1:])
    return lambda value: first(value) and (rest is None or rest(value))


def _has_double(value: int) -> bool:
    return -_SAFE < value < _SAFE


def _within(schema: Schema) -> Test:
    """Within its bounds; without any, no longer than a reply may be read with."""
    low, high = max(schema.get("minimum", -inf), -_LONGEST), min(schema.get("maximum", inf), _LONGEST)
    if schema.keys().isdisjoint(("exclusiveMinimum", "exclusiveMaximum")):
        return lambda value: low <= value <= high
    above, below = schema.get("exclusiveMinimum", -inf), schema.get("exclusiveMaximum", inf)
    return lambda value: low <= value <= high and above < value < below


def _text_tests(schema: Schema) -> list[Test]:
    tests: list[Test] = []
    if _LENGTHS & schema.keys():
        low, high = schema.get("minLength", 0), schema.get("maxLength", inf)
        tests.append(lambda text: low <= len(text) <= high)
    if "pattern" in schema:
        search = re.compile(schema["pattern"]).search
        tests.append(lambda text: search(text) is not None)
    if check := form_of(schema.get(FORM, "")).check:
        tests.append(check)
    return tests
