"""JSON pointers into plain data: read a place, make a copy with another value there.

Pure. Knows nothing of models.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from extract.errors import InputError


def parts(path: str) -> list[str]:
    """The steps of a pointer."""
    return [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")[1:]]


def at(value: Any, path: str) -> Any:
    """What stands there; None where nothing does."""
    for step in parts(path):
        if isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            return None
    return value


def placed(value: Any, path: str, new: Any) -> Any:
    """A copy with another value there. Raises InputError for a place that the value does not have."""
    steps = parts(path)
    return _placed(value, steps, new, path) if steps else new


def _placed(value: Any, steps: list[str], new: Any, path: str) -> Any:
    step, rest = steps[0], steps[1:]
    if isinstance(value, dict):
        inner = value.get(step) if not rest else value.get(step, {})
        return {**value, step: _placed(inner, rest, new, path) if rest else new}
    if isinstance(value, list) and step.isdigit() and int(step) <= len(value):
        place = int(step)  # one past the end adds an item
        inner = value[place] if place < len(value) else {}
        return [*value[:place], _placed(inner, rest, new, path) if rest else new, *value[place + 1 :]]
    raise InputError(f"there is no {path} in this answer")


def fields_of(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every place that holds no other: (pointer, value)."""
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            yield from fields_of(inner, f"{path}/{str(name).replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list) and value and isinstance(value[0], dict | list):
        for place, inner in enumerate(value):
            yield from fields_of(inner, f"{path}/{place}")
    else:
        yield path, value
