"""Pydantic's scalar types as nodes: which JSON type, which text form, which constraints.

A table and a few readers; knows core schemas of leaves, and no dialect.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from pathlib import PurePath
from typing import Any

from pydantic_core import to_jsonable_python

from extract.schema.shape import Either, JsonType, Node, Rules, Scalar

Core = Mapping[str, Any]

LATER = "later:"
"""Marks a constraint that holds only after the model has changed the value, so never on the wire."""

_BOUNDS = {"ge": "minimum", "le": "maximum", "gt": "exclusiveMinimum", "lt": "exclusiveMaximum"}
_TEXT = {"min_length": "minLength", "max_length": "maxLength", "pattern": "pattern"}
_DIGITS = {"max_digits": "maxDigits", "decimal_places": "decimalPlaces"}
_NUMBER = {**_BOUNDS, "multiple_of": "multipleOf"}
_FLAGS = {"to_lower": "lower case", "to_upper": "upper case", "ascii_only": "ASCII only"}

_IP_FORMS = {
    IPv4Interface: "ipv4interface",
    IPv6Interface: "ipv6interface",
    IPv4Address: "ipv4",
    IPv6Address: "ipv6",
    IPv4Network: "ipv4network",
    IPv6Network: "ipv6network",
}


def rules_of(core: Core, names: Mapping[str, str]) -> Rules:
    """The constraints of a core schema under their JSON Schema names, in a fixed order."""
    found = ((names[key], _plain(core[key])) for key in names if core.get(key) is not None)
    return tuple((name, value) for name, value in found if value not in (_ENDLESS, -_ENDLESS))


_ENDLESS = float("inf")


def _plain(value: Any) -> Any:
    """The value of a constraint in JSON."""
    if isinstance(value, re.Pattern):
        return value.pattern
    return value if isinstance(value, str | int | float) else to_jsonable_python(value)


def scalar_of(core: Core, config: Core) -> Node | None:
    """The node of a leaf, or None if this is no leaf that is known by its type alone."""
    reader = _READERS.get(core["type"])
    return reader(core, config) if reader else None


def _text(core: Core, config: Core) -> Scalar:
    names = dict(_TEXT)
    limits = {**{k: config[f"str_{k}"] for k in ("min_length", "max_length") if f"str_{k}" in config}, **core}
    rules = rules_of(limits, names)
    if core.get("strip_whitespace", config.get("str_strip_whitespace")):
        # the model measures after stripping, so the wire must not measure before it
        rules = tuple((f"{LATER}{key}" if key == "maxLength" else key, value) for key, value in rules)
    flags = tuple(
        ("letters", word) for flag, word in _FLAGS.items() if core.get(flag, config.get(f"str_{flag}"))
    )
    return Scalar("string", rules=rules + flags)


def _integer(core: Core, config: Core) -> Scalar:
    return Scalar("integer", rules=rules_of(core, _NUMBER))


def _number(core: Core, config: Core) -> Scalar:
    return Scalar("number", rules=rules_of(core, _NUMBER))


def _decimal(core: Core, config: Core) -> Scalar:
    finite = not core.get("allow_inf_nan", config.get("allow_inf_nan") or False)
    rules = rules_of(core, {**_DIGITS, **_NUMBER})
    return Scalar("string", "decimal" if finite else "decimal-or-nan", rules)


def _moment(form: str) -> Any:
    def read(core: Core, config: Core) -> Scalar:
        zone = core.get("tz_constraint")
        rules = rules_of(core, _BOUNDS)
        if zone is not None:
            rules += (("timezone", zone if isinstance(zone, str) else f"an offset of {zone} seconds"),)
        if core.get("now_op"):
            rules += (("when", f"in the {core['now_op']}"),)
        return Scalar("string", form, rules)

    return read


def _bytes(core: Core, config: Core) -> Scalar:
    mode = config.get("val_json_bytes", "utf8")
    names = {"min_length": "minBytes", "max_length": "maxBytes"}
    return Scalar("string", {"utf8": "bytes", "base64": "base64", "hex": "hex"}[mode], rules_of(core, names))


def _uuid(core: Core, config: Core) -> Scalar:
    version = core.get("version")
    return Scalar("string", "uuid", (("uuidVersion", version),) if version else ())


def _url(core: Core, config: Core) -> Scalar:
    schemes = core.get("allowed_schemes")
    rules = rules_of(core, {"max_length": "maxUrl"})
    return Scalar("string", "uri", rules + ((("schemes", tuple(schemes)),) if schemes else ()))


def _null(core: Core, config: Core) -> Scalar:
    return Scalar("null")


def _boolean(core: Core, config: Core) -> Scalar:
    return Scalar("boolean")


_READERS: dict[str, Any] = {
    "str": _text,
    "int": _integer,
    "float": _number,
    "bool": _boolean,
    "none": _null,
    "decimal": _decimal,
    "date": _moment("date"),
    "datetime": _moment("datetime"),
    "time": _moment("time"),
    "timedelta": _moment("duration"),
    "bytes": _bytes,
    "uuid": _uuid,
    "url": _url,
    "multi-host-url": _url,
}


def instance_form(cls: Any) -> str:
    """The text form of a standard class that Pydantic reads from a string, or ""."""
    if not isinstance(cls, type):
        return ""
    if issubclass(cls, PurePath):
        return "path"
    if issubclass(cls, re.Pattern):
        return "regex"
    return next((form for kind, form in _IP_FORMS.items() if issubclass(cls, kind)), "")


def json_type(value: Any) -> JsonType | None:
    """The JSON type that a literal value has, or None."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float) and value - value == 0:
        return "number"
    return "string" if isinstance(value, str) else None


def bare_value(value: Any) -> Any:
    """A literal as plain JSON: the value of an enum member, without its subclass."""
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, bool):
        return value
    return next((kind(value) for kind in (int, float, str) if isinstance(value, kind)), value)


def choice_of(values: list[Any], *, name: str = "", cls: Any = None) -> Node | None:
    """One enum a JSON type, joined by a union; None if a value is no JSON scalar."""
    groups: dict[JsonType, list[Any]] = {}
    for value in map(bare_value, values):
        kind = json_type(value)
        if kind is None or isinstance(value, Decimal):
            return None
        if not any(type(old) is type(value) and old == value for old in groups.setdefault(kind, [])):
            groups[kind].append(value)
    nodes = tuple(
        Scalar(kind, values=None if kind == "null" else tuple(found), name=name, cls=cls)
        for kind, found in groups.items()
    )
    return nodes[0] if len(nodes) == 1 else Either(nodes)
