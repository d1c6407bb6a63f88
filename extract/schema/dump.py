"""A validated Python value → the model's JSON shape, along the tree of shapes.

Not Pydantic's serializer: that one follows serialization aliases, adds computed fields and drops excluded
ones, and the reply knows none of these. Raises ValueError for what has no JSON form.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from pathlib import PurePath
from re import Pattern
from typing import Any
from uuid import UUID

from pydantic import AnyUrl, RootModel, Secret, SecretBytes, SecretStr
from pydantic.networks import _BaseMultiHostUrl
from pydantic_core import SchemaSerializer, Url, to_json, to_jsonable_python

from extract.schema.decode import key_text
from extract.schema.fits import is_exactly, same
from extract.schema.shape import Array, Either, Maybe, Node, Pairs, Quoted, Record, Ref, Scalar, Shape


class MismatchError(ValueError):
    """A value that is not of the shape: the next branch of a union may take it."""


_TEXTS = (UUID, IPv4Address, IPv6Address, IPv4Network, IPv6Network, PurePath, AnyUrl, Url, Fraction)
_FORM_TYPES: dict[str, type | tuple[type, ...]] = {
    "date": date,
    "datetime": datetime,
    "time": time,
    "duration": timedelta,
    "decimal": Decimal,
    "decimal-or-nan": Decimal,
    "uuid": UUID,
    "ipv4": IPv4Address,
    "ipv6": IPv6Address,
    "ipv4interface": IPv4Interface,
    "ipv6interface": IPv6Interface,
    "ipv4network": IPv4Network,
    "ipv6network": IPv6Network,
    "ipvanyaddress": (IPv4Address, IPv6Address),
    "bytes": bytes,
    "base64": bytes,
    "hex": bytes,
}


class Dumper:
    """Turns values of one model into JSON values of its own shape."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._serializers: dict[int, SchemaSerializer] = {}

    def dump(self, value: Any) -> Any:
        return self._dump(self._shape.root, value)

    def _dump(self, node: Node, value: Any) -> Any:
        if isinstance(value, RootModel):
            value = value.root
        elif isinstance(value, Secret | SecretStr | SecretBytes):
            value = value.get_secret_value()
        match node:
            case Ref(target=target):
                return self._dump(self._shape.defs[target], value)
            case Maybe(inner=inner):
                return None if value is None and not _takes_none(inner) else self._dump(inner, value)
            case Either():
                return self._either(node, value)
            case Array():
                return self._array(node, value)
            case Pairs():
                return self._pairs(node, value)
            case Record():
                return self._record(node, value)
            case Quoted(inner=inner):
                return self._dump(inner, value)
            case Scalar():
                return self._scalar(node, value)

    def _either(self, node: Either, value: Any) -> Any:
        """The branch of exactly this class if there is one, else the first that takes the value."""
        resolved = [self._shape.resolve(branch) for branch in node.branches]
        exact = [branch for branch in resolved if isinstance(branch, Record) and type(value) is branch.cls]
        for branch in (*exact, *resolved):
            try:
                return self._dump(branch, value)
            except MismatchError:
                continue
        raise MismatchError(f"no branch of the union takes a {type(value).__name__}")

    def _array(self, node: Array, value: Any) -> Any:
        if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__"):
            raise MismatchError(f"a list is needed, not a {type(value).__name__}")
        if isinstance(value, set | frozenset) is not node.unique and node.unique:
            raise MismatchError(f"a set is needed, not a {type(value).__name__}")
        items = [self._dump(node.item, item) for item in value]
        return (
            sorted(items, key=lambda item: (str(type(item)), item if _sortable(item) else repr(item)))
            if (node.unique)
            else items
        )

    def _pairs(self, node: Pairs, value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise MismatchError(f"a dict is needed, not a {type(value).__name__}")
        return {
            key_text(self._dump(node.key, key)): self._dump(node.value, got) for key, got in value.items()
        }

    def _record(self, node: Record, value: Any) -> Any:
        if node.array:
            if not isinstance(value, tuple) or len(value) != len(node.fields):
                raise MismatchError(f"a tuple of {len(node.fields)} is needed")
            return [self._dump(field.node, item) for field, item in zip(node.fields, value, strict=True)]
        get = _getter(node, value)
        out: dict[str, Any] = {}
        for field in node.fields:
            got = get(str(field.name))
            if got is not _ABSENT:
                out[field.alias] = self._dump(field.node, got)
            elif not field.absent:
                raise MismatchError(f"{node.name} needs {field.name}")
        return out

    def _scalar(self, node: Scalar, value: Any) -> Any:
        if node.values is not None:
            return _chosen(node, value)
        if node.encoded:
            return self._serialized(node, value)
        wanted = _FORM_TYPES.get(node.form)
        if wanted is not None and not node.free and not _is_just(value, wanted):
            raise MismatchError(f"a {node.form} is needed, not a {type(value).__name__}")
        if node.form == "json":
            return to_json(value, by_alias=True, inf_nan_mode="constants").decode()
        plain = plain_json(node.form, value)
        if node.free and node.json == "string" and type(plain) in (int, float):
            return str(plain)
        if not is_exactly(node.json, plain):
            plain = self._serialized(node, value)
        if node.json == "number" and isinstance(plain, float) and plain - plain != 0:
            raise ValueError(f"{plain} has no JSON form")
        return plain

    def _serialized(self, node: Scalar, value: Any) -> Any:
        """By the serializer of a type that is not known here."""
        if node.core is None:
            raise MismatchError(f"a {node.json} is needed, not a {type(value).__name__}")
        serializer = self._serializers.setdefault(id(node), SchemaSerializer(node.core))
        plain = serializer.to_python(value, mode="json", warnings="none", fallback=_refuse)
        if node.json == "string" and isinstance(plain, int | float) and not isinstance(plain, bool):
            plain = str(plain)
        if not is_exactly(node.json, plain):
            raise MismatchError(f"a {node.json} is needed, not a {type(value).__name__}")
        return plain


_ABSENT = object()


def _refuse(value: Any) -> Any:
    raise MismatchError(f"a {type(value).__name__} has no JSON form; give its type a serializer")


def _takes_none(node: Node) -> bool:
    return isinstance(node, Scalar) and node.json == "null"


def _getter(node: Record, value: Any) -> Callable[[str], Any]:
    if node.access == "key":
        if not isinstance(value, Mapping):
            raise MismatchError(f"a dict is needed, not a {type(value).__name__}")
        return lambda name: value.get(name, _ABSENT)
    if node.cls is not None and not isinstance(value, node.cls):
        raise MismatchError(f"a {node.name} is needed, not a {type(value).__name__}")
    return lambda name: getattr(value, name, _ABSENT)


def _chosen(node: Scalar, value: Any) -> Any:
    plain = value.value if isinstance(value, Enum) else value
    if isinstance(value, Enum) and node.cls is not None and not isinstance(value, node.cls):
        raise MismatchError(f"a {node.name} is needed, not a {type(value).__name__}")
    for one in node.values or ():
        if same(plain, one):
            return one
    raise MismatchError(f"{plain!r} is none of the allowed values")


def _is_just(value: Any, wanted: Any) -> bool:
    """Of the type, and for dates not of the richer one."""
    return isinstance(value, wanted) and not (wanted is date and isinstance(value, datetime))


def _sortable(item: Any) -> bool:
    return isinstance(item, str | int | float)


def plain_json(form: str, value: Any) -> Any:
    """A Python scalar in JSON, by its type; what is not known comes back as it is."""
    match value:
        case None | bool():
            return value
        case Enum():
            return value.value
        case str():
            return str(value)
        case int():
            return int(value)
        case float():
            return float(value)
        case Decimal():
            return str(value)
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return to_jsonable_python(value, timedelta_mode="iso8601")
        case bytes() | bytearray():
            return _bytes(form, bytes(value))
        case Pattern():
            return value.pattern
        case _ if isinstance(value, (*_TEXTS, _BaseMultiHostUrl)):
            return str(value)
        case _:
            return value


def _bytes(form: str, value: bytes) -> str:
    if form.startswith("base64"):
        return urlsafe_b64encode(value).decode()
    return value.hex() if form == "hex" else value.decode()
