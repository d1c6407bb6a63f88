"""A list field of the output model as a table of its own.

Pure. Knows the model and nothing of tables that exist.
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from extract.errors import ConfigError
from extract.schema.columns import columns_of
from extract.tables.output import Exploded


def exploded(model: Any, field: str | None) -> Exploded | None:
    """The field `field` of a model, exploded; None for no field.

    Raises ConfigError for a field that is not there or is no list, with the lists that are.
    """
    if field is None:
        return None
    lists = dict(_lists(model))
    if field not in lists:
        close = get_close_matches(field, lists, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        there = ", ".join(map(repr, lists)) or "none"
        raise ConfigError(f"explode={field!r}: the lists of the output model are {there}{hint}")
    return Exploded(field, columns_of(lists[field]))


def _lists(model: Any) -> Iterator[tuple[str, Any]]:
    """The list fields of a model, with the type of an item."""
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return
    for name, info in model.model_fields.items():
        for option in (info.annotation, *get_args(info.annotation)):
            if get_origin(option) is list:
                yield name, get_args(option)[0]
                break
