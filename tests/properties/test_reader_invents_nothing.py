"""Whatever the document: each value that the endpoint's reader returns stands in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from extract import compile_schema
from extract.testing.brain import read


class Line(BaseModel):
    item: str
    quantity: int | None
    amount: Decimal


class Bill(BaseModel):
    number: str
    issued: date | None
    due: date | None
    supplier: str
    total: Decimal
    tax: float | None
    tags: list[str]
    lines: list[Line]


SCHEMA = compile_schema(Bill).schema

LABELS = ("Invoice number", "Rechnungsnummer", "Date", "Fällig am", "Supplier", "Fournisseur", "Total")
OTHERS = ("MwSt. 19 %", "Tags", "Total HT", "Net à payer", "Item", "Note", "Page", "")
labels = st.sampled_from(LABELS + OTHERS)
values = st.one_of(
    st.from_regex(r"[A-Z]{1,2}-[0-9]{1,5}", fullmatch=True),
    st.from_regex(r"-?[0-9]{1,3}([.,][0-9]{3})?([.,][0-9]{2})? ?(EUR|€)?", fullmatch=True),
    st.dates(date(1990, 1, 1), date(2035, 1, 1)).map(lambda day: day.strftime("%d.%m.%Y")),
    st.text(alphabet="abc XYZ äé,.:/|-€12", max_size=20),
)
lines = st.one_of(
    st.tuples(labels, st.sampled_from([": ", " : ", "    ", "\t", " | "]), values).map("".join),
    st.tuples(values, values, values).map("    ".join),
    st.just("Item          Quantity      Amount"),
    st.text(alphabet="abc XYZ.:|-", max_size=30),
)
documents = st.lists(lines, max_size=14).map("\n".join)


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
    elif value is not None:
        yield value


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def _stands_in(value: Any, text: str) -> bool:
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        year, month, day = value.split("-")
        return value in text or f"{day}.{month}.{year}" in text
    if isinstance(value, str) and not re.fullmatch(r"-?\d+(\.\d+)?", value):
        return set(re.findall(r"\w+", value)) <= set(re.findall(r"\w+", text))  # a cell may go over two lines
    shown = _digits(format(Decimal(str(value)), "f")).rstrip("0").lstrip("0")
    return shown in _digits(text)


@settings(max_examples=100, deadline=None)
@given(documents)
def test_every_value_stands_in_the_document(document: str) -> None:
    value = read(SCHEMA, document).value
    invented = [leaf for leaf in _leaves(value) if not _stands_in(leaf, document)]
    assert not invented
