"""Write types.md, the table of types: `python docs/reference/make_types.py`.

Every cell comes from the code: the wire from the compiler, the columns from the columns of the same model.
"""

from __future__ import annotations

import datetime as dt
import enum
import ipaddress
import json
import uuid
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AwareDatetime, BaseModel, Field, HttpUrl, Json, NaiveDatetime, create_model
from typing_extensions import TypedDict

from extract import compile_schema
from extract.errors import ModelError
from extract.schema.columns import columns_of

TARGET = Path(__file__).with_name("types.md")


class Status(enum.Enum):
    OPEN = "open"
    PAID = "paid"
    UNKNOWN = None


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Line(BaseModel):
    sku: str
    qty: int


class Tree(BaseModel):
    name: str
    below: list[Tree]


@dataclass
class Money:
    cents: int
    unit: str


class Span(NamedTuple):
    start: int
    end: int


class Extra(TypedDict):
    note: str


Amount = Annotated[Decimal, Field(max_digits=12, decimal_places=2)]

GROUPS: dict[str, list[tuple[str, Any, str]]] = {
    "Scalars": [
        ("str", str, ""),
        ("int", int, "64 bits; a larger number is refused for its row"),
        ("float", float, "NaN and infinities are refused unless the field allows them"),
        ("bool", bool, ""),
        ("bytes", bytes, ""),
        ("Decimal, max_digits=12, decimal_places=2", Amount, "exact; digits are never rounded away"),
        ("Decimal, decimal_places=2", Annotated[Decimal, Field(decimal_places=2)], "exact up to 38 digits"),
        ("Decimal", Decimal, "text, since no number of places is known; exact"),
        ("X | None", str | None, "the column is nullable; every column is"),
    ],
    "Dates and times": [
        ("date", dt.date, "years 1 to 9999"),
        ("AwareDatetime", AwareDatetime, "the instant, in UTC; the offset is not kept"),
        ("NaiveDatetime", NaiveDatetime, "a value with an offset is refused for its row"),
        ("datetime", dt.datetime, "as AwareDatetime: a value without an offset is refused for its row"),
        ("time", dt.time, "without an offset"),
        ("timedelta", dt.timedelta, "in DuckDB microseconds: `to_microseconds(x)` makes an INTERVAL"),
    ],
    "One of a list": [
        ('Literal["a", "b"]', Literal["a", "b"], "text in DuckDB, so a new value needs no migration"),
        ("Enum of strings", Status, "by value; a None member is null"),
        ("IntEnum, Literal[1, 2]", Level, "by value"),
        ('Literal["auto", 1]', Literal["auto", 1], "JSON text: no one type"),
    ],
    "Text of another kind": [
        ("UUID", uuid.UUID, ""),
        ("HttpUrl and other URLs", HttpUrl, ""),
        ("IPv4Address and its kin", ipaddress.IPv4Address, ""),
        ("Path", Path, ""),
    ],
    "Nested": [
        ("BaseModel", Line, "field names, never aliases"),
        ("dataclass", Money, ""),
        ("TypedDict", Extra, "a NotRequired key that is absent is null"),
        ("NamedTuple", Span, ""),
        ("tuple[int, str]", tuple[int, str], ""),
        ("list[X], Sequence[X], tuple[X, ...]", list[Line], ""),
        ("set[X], frozenset[X]", set[str], "sorted, so the same answer makes the same bytes"),
        ("dict[str, X]", dict[str, int], "in the order of the answer; `column['key']` in SQL"),
    ],
    "Without a column type": [
        ("int | str and other unions", int | str, "JSON text; a union of one scalar type is that type"),
        ("A | B of models", Line | Money, "JSON text with field names"),
        ("recursive model", Tree, "JSON text; at the root its fields are columns"),
        ("Json", Json, "JSON text; `Json[X]` is as X"),
        ("Any", Any, ""),
    ],
}

HEAD = """\
# Types

What becomes of a Pydantic type: on the wire, in a Polars frame and in a DuckDB table. The types come from the
model alone, never from the data. This page is made by `make_types.py` beside it; a test fails when it is
stale.

- A column or struct field has the Python name of its field, also where the wire has an alias.
- A computed field has a column. A field with `exclude=True` is asked for and has none: room to think aloud.
- A root that is no object is one column named `value`; with many rows out of one answer the columns are
  those of the item.
- A value that its column cannot hold without loss is refused for its row alone, with the name of the column.
- JSON text is a DuckDB `JSON` column and a Polars String; `compile_schema(M).columns.json_text` names such
  places. Decimals are strings in it, sets are sorted. It reads back with
  `TypeAdapter(T).validate_json(text, by_name=True, by_alias=False)`.
- Read from DuckDB, an Enum is text and a Duration a number of microseconds; the library casts them back.
"""


def wire(schema: dict[str, Any]) -> str:
    """The shape of a field in a wire schema, and what its description tells of the type, in one line."""
    field = schema["properties"]["field"]
    told = str(field.get("description", "")).replace("\n", " ")
    return f"`{_shown(field, schema.get('$defs', {}), ())}` {told}".rstrip()


def _shown(node: dict[str, Any], definitions: dict[str, Any], seen: tuple[str, ...]) -> str:
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[-1]
        return name if name in seen else _shown(definitions[name], definitions, (*seen, name))
    if "anyOf" in node:
        return " or ".join(_shown(choice, definitions, seen) for choice in node["anyOf"])
    if "enum" in node:
        return " or ".join(json.dumps(value) for value in node["enum"])
    if node["type"] == "array":
        return f"[{_shown(node['items'], definitions, seen)}, …]"
    if node["type"] == "object":
        parts = (f"{name}: {_shown(part, definitions, seen)}" for name, part in node["properties"].items())
        return "{" + ", ".join(parts) + "}"
    return str(node["type"])


def row(label: str, kind: Any, note: str) -> str:
    """One row of the table."""
    made = create_model("Row", field=(kind, ...))
    try:
        sent = wire(compile_schema(made).schema)
    except ModelError:
        sent, note = "refused before any request", "say what it may be"
        return _line(f"`{label}`", sent, "", "", note)
    columns = columns_of(made)
    polars = str(columns.polars["field"]).replace("time_unit=", "").replace("time_zone=", "")
    return _line(f"`{label}`", sent, f"`{polars}`", f"`{columns.duckdb['field']}`", note)


def _line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def page() -> str:
    """The whole page."""
    text = HEAD
    for title, rows in GROUPS.items():
        text += f"\n## {title}\n\n| Pydantic | wire | Polars | DuckDB | |\n|---|---|---|---|---|\n"
        text += "".join(row(*one) + "\n" for one in rows)
    return text


if __name__ == "__main__":
    TARGET.write_text(page(), encoding="utf-8")
