"""Models, dataclasses, TypedDicts and tuples as records: which key carries which field.

Knows Pydantic's core schemas of objects, aliases and config; no dialect.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from extract.schema.notes import note_of, note_of_class
from extract.schema.scalars import Core
from extract.schema.shape import Field, Maybe, Node, Record, noted

if TYPE_CHECKING:
    from extract.schema.reading import Place, Reader

_FUNCTIONS = ("function-after", "function-before", "function-wrap")


def plain_name(name: str) -> str:
    """A name that every provider takes: letters, digits, `_`, `-` and `.`."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("_") or "Type"


def read_model(reader: Reader, core: Core, place: Place) -> Node:
    cls = core["cls"]
    place = place.under(core.get("config") or {})
    inner = core["schema"]
    if core.get("root_model"):
        return noted(reader.read(inner, place), note_of_class(cls))
    inner = _behind_functions(inner)
    _warn_if_open(reader, core, inner, place)
    fields = _fields(reader, inner["fields"].items(), place)
    return Record(plain_name(cls.__name__), fields, cls, note=note_of_class(cls))


def read_dataclass(reader: Reader, core: Core, place: Place) -> Node:
    cls = core["cls"]
    place = place.under(core.get("config") or {})
    inner = _behind_functions(core["schema"])
    _warn_if_open(reader, core, inner, place)
    fields = _fields(reader, ((f["name"], f) for f in inner["fields"] if f.get("init", True)), place)
    return Record(plain_name(cls.__name__), fields, cls, note=note_of_class(cls))


def read_typed_dict(reader: Reader, core: Core, place: Place) -> Node:
    cls = core.get("cls")
    place = place.under(core.get("config"))
    _warn_if_open(reader, core, core, place)
    fields = _fields(reader, core["fields"].items(), place, total=core.get("total", True))
    name = plain_name(getattr(cls, "__name__", "") or "Object")
    return Record(name, fields, cls, "key", note=note_of_class(cls))


def read_named_tuple(reader: Reader, core: Core, place: Place) -> Node:
    cls = core["cls"]
    place = place.under(core.get("config"))
    fields = tuple(
        Field(index, str(index), f["name"], reader.read(f["schema"], place.into(f".{f['name']}")), note_of(f))
        for index, f in enumerate(core["fields"])
    )
    return Record(plain_name(cls.__name__), fields, cls, "index", note=note_of_class(cls))


def read_tuple(reader: Reader, core: Core, place: Place) -> Node:
    fields = tuple(
        Field(index, str(index), f"item_{index + 1}", reader.read(item, place.into(f"[{index}]")))
        for index, item in enumerate(core["items_schema"])
    )
    return Record("tuple", fields, tuple, "index")


def _behind_functions(core: Core) -> Core:
    while core["type"] in _FUNCTIONS:
        core = core["schema"]
    return core


def _warn_if_open(reader: Reader, core: Core, inner: Core, place: Place) -> None:
    config = core.get("config") or {}
    behaviour = inner.get("extra_behavior") or config.get("extra_fields_behavior") or "ignore"
    if behaviour == "allow":
        reader.warn(place, "extra='allow' is closed on the wire: extra keys have no column")


def _fields(
    reader: Reader, sources: Iterable[tuple[str, Core]], place: Place, *, total: bool = True
) -> tuple[Field, ...]:
    out: list[Field] = []
    for name, source in sources:
        here = place.into(f".{name}")
        alias = _alias(name, source, here)
        if any(alias == field.alias for field in out):
            raise here.refuse(f"two fields are called {alias!r} in JSON; give one of them another alias")
        node = reader.read(source["schema"], here)
        absent = source.get("required", total) is False if source["type"] == "typed-dict-field" else False
        if absent and isinstance(node, Maybe):
            reader.warn(here, "a missing key and null look the same on the wire; null is what comes back")
        out.append(
            Field(
                name,
                alias,
                alias,
                node,
                note_of(source),
                by_name=bool(place.config.get("validate_by_name") or place.config.get("populate_by_name")),
                absent=absent,
            )
        )
    return tuple(out)


def _alias(name: str, source: Core, place: Place) -> str:
    """The one key that the reply uses: the first choice that is a plain name."""
    alias = source.get("validation_alias")
    if alias is None or place.config.get("validate_by_alias") is False:
        return name
    if isinstance(alias, str):
        return alias
    choices = alias if isinstance(alias[0], list) else [alias]
    for choice in choices:
        if len(choice) == 1 and isinstance(choice[0], str):
            return str(choice[0])
    raise place.refuse(
        "an AliasPath is no key of its own; add a plain name with AliasChoices('name', AliasPath(…))"
    )
