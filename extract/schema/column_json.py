"""A value as JSON text, for the parts of a model that have no one column type.

The text keeps what the value says: field names as in Python, decimals as strings with their digits,
whole numbers of any size, sets sorted. It knows nothing of columns.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import json
import uuid
from collections.abc import Iterator, Mapping, Set
from enum import Enum
from typing import Any

import pydantic_core
from pydantic import BaseModel, RootModel

__all__ = ["MISSING", "MisfitError", "json_text", "short"]

_SHORT = 80
MISSING: object = getattr(pydantic_core, "MISSING", object())


class MisfitError(ValueError):
    """A value that its column cannot hold without loss. `path` names the place: `lines[2].total`."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.reason = reason
        self.path = path

    def under(self, part: str) -> MisfitError:
        """The same fault, seen from one level further up."""
        joint = "" if not self.path or self.path.startswith("[") else "."
        return MisfitError(self.reason, f"{part}{joint}{self.path}")


def short(value: Any) -> str:
    """A value for a message, cut to one line."""
    try:
        text = str(value) if isinstance(value, Exception) else repr(value)
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= _SHORT else f"{text[:_SHORT]}…"


def json_text(value: Any) -> str:
    """JSON text of a validated value; MisfitError where JSON would lose something of it."""
    try:
        text = json.dumps(_jsonable(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode()
    except MisfitError:
        raise
    except UnicodeEncodeError:
        raise MisfitError("a lone surrogate is no text") from None
    except RecursionError:
        raise MisfitError("is nested too deeply for JSON text") from None
    except (ValueError, TypeError) as error:
        raise MisfitError(f"has no JSON text: {short(error)}") from error
    return text


def _jsonable(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return _jsonable(value.value)
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if (fields := _fields(value)) is not None:
        return {name: _jsonable(item) for name, item in fields if item is not MISSING}
    if isinstance(value, RootModel):
        return _jsonable(value.root)
    if isinstance(value, Mapping):
        return {_key(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, Set):
        return sorted(map(_jsonable, value), key=lambda item: json.dumps(item, sort_keys=True))
    if isinstance(value, list | tuple):
        return [_jsonable(item) for item in value]
    return _leaf(value)


def _fields(value: Any) -> Iterator[tuple[str, Any]] | None:
    if isinstance(value, BaseModel) and not isinstance(value, RootModel):
        if value.model_extra:
            raise MisfitError(f"no field takes {short(sorted(value.model_extra))}")
        fields = type(value).model_fields.items()
        return ((name, getattr(value, name)) for name, field in fields if not field.exclude)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
    return None


def _key(key: Any) -> str:
    plain = _jsonable(key)
    if isinstance(plain, str):
        return plain
    if isinstance(plain, bool | int | float):
        return json.dumps(plain, allow_nan=False)
    raise MisfitError(f"the key {short(key)} has no JSON text")


def _leaf(value: Any) -> Any:
    if isinstance(value, decimal.Decimal | uuid.UUID):
        return str(value)
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if hasattr(value, "get_secret_value"):
        return _jsonable(value.get_secret_value())
    # UnicodeDecodeError and PydanticSerializationError are ValueErrors: json_text names them.
    return pydantic_core.to_jsonable_python(value, by_alias=False)
