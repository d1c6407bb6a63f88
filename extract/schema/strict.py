"""Pydantic, strict, from JSON: the validator that replies go through.

The model's own core schema with strictness set on every leaf, except behind before- and wrap-validators:
what those return is Python, which strict mode refuses (a `str` for a Decimal), while the wire schema has
already seen the JSON. Sets are read as lists first, so that a double is an error and not lost.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic_core import PydanticCustomError, SchemaValidator

from extract.schema.scalars import Core

_LEAVES = frozenset(
    {
        *("bool", "int", "float", "str", "bytes", "date", "time", "datetime", "timedelta", "decimal", "uuid"),
        *("enum", "list", "tuple", "dict", "union", "tagged-union", "lax-or-strict", "fraction", "complex"),
        *("model", "dataclass", "typed-dict", "set", "frozenset", "deque", "url", "multi-host-url"),
    }
)
_ALWAYS_STRICT = frozenset({"url", "multi-host-url"})
_LAX_BELOW = frozenset({"function-before", "function-wrap"})
_LAX = "?"
_ONE = (
    "schema",
    "values_schema",
    "keys_schema",
    "strict_schema",
    "lax_schema",
    "json_schema",
    "python_schema",
)


def strict_validator(core: Core) -> SchemaValidator:
    """The validator of a model's core schema, strict where that means something."""
    # nested models would otherwise bring their own validators, which are not strict
    return SchemaValidator(_strict(core, lax=False), _use_prebuilt=False)


def _strict(core: Core, *, lax: bool) -> Any:
    kind = core["type"]
    if kind == "definition-ref":
        return {**core, "schema_ref": core["schema_ref"] + _LAX} if lax else core
    out = dict(core)
    if kind in _LEAVES and (not lax or kind in _ALWAYS_STRICT):
        out["strict"] = True
    inner_lax = lax or kind in _LAX_BELOW
    for key in _ONE:
        if key in out:
            out[key] = _strict(out[key], lax=inner_lax)
    shape = _SHAPES.get(kind)
    if shape is not None:
        shape(out, lax=inner_lax)
    return _no_doubles(out) if kind in ("set", "frozenset") else out


def _items(out: dict[str, Any], *, lax: bool) -> None:
    items = out.get("items_schema")
    if isinstance(items, list):
        out["items_schema"] = [_strict(item, lax=lax) for item in items]
    elif items is not None:
        out["items_schema"] = _strict(items, lax=lax)


def _fields(out: dict[str, Any], *, lax: bool) -> None:
    def one(field: Mapping[str, Any]) -> dict[str, Any]:
        return {**field, "schema": _strict(field["schema"], lax=lax)}

    fields = out["fields"]
    if isinstance(fields, Mapping):
        out["fields"] = {name: one(field) for name, field in fields.items()}
    else:
        out["fields"] = [one(field) for field in fields]


def _choices(out: dict[str, Any], *, lax: bool) -> None:
    def one(choice: Any) -> Any:
        if isinstance(choice, tuple):
            return (_strict(choice[0], lax=lax), choice[1])
        return _strict(choice, lax=lax) if isinstance(choice, Mapping) else choice

    choices = out["choices"]
    if isinstance(choices, Mapping):
        out["choices"] = {tag: one(choice) for tag, choice in choices.items()}
    else:
        out["choices"] = [one(choice) for choice in choices]


def _steps(out: dict[str, Any], *, lax: bool) -> None:
    """Only the first step of a chain sees JSON; the others see what it made."""
    out["steps"] = [_strict(step, lax=lax or index > 0) for index, step in enumerate(out["steps"])]


def _definitions(out: dict[str, Any], *, lax: bool) -> None:
    """Each definition twice: what stands behind a before-validator refers to the lax one."""
    sources = out["definitions"]
    lax_twins = [{**_strict(item, lax=True), "ref": item["ref"] + _LAX} for item in sources]
    out["definitions"] = [*(_strict(item, lax=False) for item in sources), *lax_twins]


def _no_doubles(core: dict[str, Any]) -> dict[str, Any]:
    """A set as a list and then a set: the same constraints, and a double is an error."""
    make: Callable[[Any], Any] = set if core["type"] == "set" else frozenset

    def unite(items: list[Any]) -> Any:
        if not isinstance(items, list):
            return items
        try:
            united = make(items)
        except TypeError:
            raise PydanticCustomError(
                "set_item_not_hashable", "items of a set that Python can hash"
            ) from None
        if len(united) < len(items):
            double = next(item for index, item in enumerate(items) if item in items[:index])
            raise PydanticCustomError(
                "set_double", "each item once ({double} stands twice)", {"double": str(double)}
            )
        return united

    kept = ("items_schema", "min_length", "max_length", "fail_fast", "strict", "ref", "metadata")
    items = {"type": "list", **{key: core[key] for key in kept if key in core and key != "ref"}}
    after = {"type": "function-after", "schema": items, "function": {"type": "no-info", "function": unite}}
    return {**after, "ref": core["ref"]} if "ref" in core else after


_SHAPES: dict[str, Callable[..., None]] = {
    **dict.fromkeys(("list", "set", "frozenset", "deque", "tuple", "generator"), _items),
    **dict.fromkeys(("model-fields", "typed-dict", "dataclass-args", "named-tuple"), _fields),
    **dict.fromkeys(("union", "tagged-union"), _choices),
    "chain": _steps,
    "definitions": _definitions,
}
