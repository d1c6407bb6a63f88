"""Lists, sets, tuples, dicts, and values out of a fixed few: literals, enums, JSON in a text.

Knows core schemas of these; what they hold is read by the reader.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from extract.schema import records
from extract.schema.custom import inner_json_schema
from extract.schema.notes import note_of_class
from extract.schema.scalars import Core, choice_of, rules_of
from extract.schema.shape import Array, Node, Pairs, Ref, Scalar, noted

if TYPE_CHECKING:
    from extract.schema.reading import Place, Reader

_ITEMS = {"min_length": "minItems", "max_length": "maxItems"}


def read_array(kind: type, *, unique: bool = False) -> Callable[[Reader, Core, Place], Node]:
    def read(reader: Reader, core: Core, place: Place) -> Node:
        item = core.get("items_schema") or {"type": "any"}
        return Array(reader.read(item, place.into("[]")), rules_of(core, _ITEMS), unique=unique, cls=kind)

    return read


def read_tuple(reader: Reader, core: Core, place: Place) -> Node:
    items = core["items_schema"]
    variadic = core.get("variadic_item_index")
    if variadic is None:
        return records.read_tuple(reader, core, place)
    if len(items) > 1:
        raise place.refuse("a tuple with a fixed and an open part; use a model with a list field")
    return Array(reader.read(items[0], place.into("[]")), rules_of(core, _ITEMS), cls=tuple)


def read_dict(reader: Reader, core: Core, place: Place) -> Node:
    key = reader.read(core.get("keys_schema") or {"type": "str"}, place.into("{key}"))
    value = reader.read(core.get("values_schema") or {"type": "any"}, place.into("{}"))
    _check_key(reader, key, place)
    return Pairs(key, value, rules_of(core, _ITEMS))


def _check_key(reader: Reader, key: Node, place: Place) -> None:
    while isinstance(key, Ref):
        key = reader.defs[key.target]
    good = isinstance(key, Scalar) and key.json != "null"
    if isinstance(key, Scalar) and key.values is not None and key.json != "string" and key.cls is None:
        good = False  # Pydantic compares Literal[1] with the text "1" and never takes it
    if not good:
        raise place.refuse("keys must be text, numbers, dates or an Enum; use a list of models instead")


def read_literal(reader: Reader, core: Core, place: Place) -> Node:
    node = choice_of(list(core["expected"]))
    if node is None:
        raise place.refuse("a Literal may hold strings, whole numbers, true, false and null")
    return node


def read_enum(reader: Reader, core: Core, place: Place) -> Node:
    cls = core["cls"]
    node = choice_of([member.value for member in core["members"]], name=cls.__name__, cls=cls)
    if node is None:
        raise place.refuse(f"the values of {cls.__name__} must be strings, numbers, true, false or null")
    return noted(node, note_of_class(cls))


def read_json(reader: Reader, core: Core, place: Place) -> Node:
    """`Json[T]` is text that holds JSON, so text it stays; what it must hold is told in words."""
    held = inner_json_schema(reader, core)
    return Scalar("string", "json", (("contentSchema", held),) if held else ())
