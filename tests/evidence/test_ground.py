"""A whole value against its source: rows for what stands there, findings for what does not."""

from __future__ import annotations

import dataclasses
import enum
from datetime import date
from decimal import Decimal
from ipaddress import IPv4Address
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import BaseModel, Field, TypeAdapter

from extract.evidence import Evidence, EvidenceRow, Source, align, evidence_fields, ground
from extract.schema.finding import Finding

TEXT = "Delivery note D-204\nof 7. März 2027\nHex bolts   1.250,00 kg\f2nd page: paid in\nfull, by ACME\fEnd"


def run(model: Any, value: Any, text: str = TEXT, **more: Any) -> tuple[list[EvidenceRow], list[Finding]]:
    checked = TypeAdapter(model).validate_python(value)
    return ground(checked, evidence_fields(model), Source(text), **more)


class Item(BaseModel):
    name: Annotated[str, Evidence()]
    weight: Annotated[Decimal | None, Evidence()] = Field(alias="kg")


class Note(BaseModel):
    number: Annotated[str, Evidence()]
    issued: Annotated[date, Evidence()]
    items: list[Item]
    paid: Annotated[bool | None, Evidence(by="quote")] = None
    buyer: Annotated[str, Evidence(missing="flag")] = "ACME"
    free: str = "not in the text"


GOOD = {"number": "D-204", "issued": "2027-03-07", "items": [{"name": "hex bolts", "kg": "1250"}]}


def test_everything_is_found_where_it_stands() -> None:
    rows, findings = run(Note, GOOD | {"paid": True}, quotes={"/paid": "Paid in full"})
    assert findings == []
    assert [(row.path, row.status, row.page, row.quote, row.method) for row in rows] == [
        ("/number", "found", 1, "D-204", "exact"),
        ("/issued", "found", 1, "7. März 2027", "date"),
        ("/items/0/name", "found", 1, "Hex bolts", "normalised"),
        ("/items/0/kg", "found", 1, "1.250,00", "number"),
        ("/paid", "quoted", 2, "paid in\nfull", "quote"),
        ("/buyer", "found", 2, "ACME", "exact"),
    ]
    for row in rows:
        assert row.start is not None
        assert TEXT[row.start : row.end] == row.quote


def test_what_is_not_there_is_a_finding_that_a_model_can_act_on() -> None:
    wrong = {"number": "D-205", "issued": "2027-07-03", "items": [{"name": "Bolt", "kg": "1251"}]}
    rows, findings = run(Note, wrong, wire_path=lambda path: f"/wrapped{path}")
    assert [row.path for row in rows] == ["/buyer"]
    assert [finding.path for finding in findings] == ["/number", "/issued", "/items/0/name", "/items/0/kg"]
    assert {finding.stage for finding in findings} == {"evidence"}
    assert findings[0].wire_path == "/wrapped/number"
    assert "D-205" in findings[0].found
    assert "source text" in findings[0].expected
    assert "null" not in findings[0].expected
    assert "or null" in findings[3].expected
    assert "number" in findings[3].expected


def test_none_needs_no_evidence_and_a_flagged_value_stays() -> None:
    rows, findings = run(Note, GOOD | {"items": [{"name": "bolts", "kg": None}], "buyer": "Acne"})
    assert findings == []
    assert rows[-1] == EvidenceRow("/buyer", "flagged")
    assert rows[-1].as_dict()["start"] is None
    assert [row.path for row in rows] == ["/number", "/issued", "/items/0/name", "/buyer"]


@pytest.mark.parametrize("quote", [None, "", "paid in part", "…", "\"'"])
def test_a_quote_has_to_be_given_and_to_stand_there(quote: str | None) -> None:
    rows, findings = run(Note, GOOD | {"paid": False}, quotes={"/paid": quote})
    assert "/paid" not in [row.path for row in rows]
    assert [finding.path for finding in findings] == ["/paid"]
    assert "word for word" in findings[0].expected


@pytest.mark.parametrize("quote", ["“Paid in full, by ACME”", "...paid in full...", " paid\tin full "])
def test_a_quote_may_wear_quotation_marks_and_dots(quote: str) -> None:
    rows, findings = run(Note, GOOD | {"paid": True}, quotes={"/paid": quote})
    assert findings == []
    assert rows[4].status == "quoted"


class Tree(BaseModel):
    label: Annotated[str, Evidence()]
    kids: list[Tree] = []


@dataclasses.dataclass
class Pair:
    low: Annotated[int, Evidence()]
    high: int


class Kind(enum.Enum):
    RED = "red"
    TWO = 2


SHAPES: list[tuple[Any, Any, list[str]]] = [
    (
        Tree,
        {"label": "a", "kids": [{"label": "b", "kids": [{"label": "c"}]}]},
        ["/label", "/kids/0/label", "/kids/0/kids/0/label"],
    ),
    (Annotated[list[str], Evidence()], ["a", "b"], ["/0", "/1"]),
    (Annotated[dict[str, list[int]], Evidence()], {"x/y": [1, 2]}, ["/x~1y/0", "/x~1y/1"]),
    (dict[Annotated[str, Evidence()], int], {"red": 9}, ["/red"]),
    (Pair, {"low": 1, "high": 99}, ["/low"]),
    (Annotated[Pair, Evidence()], {"low": 1, "high": 2}, ["/low", "/high"]),
    (Annotated[int, Evidence()] | str, "zzz", []),
    (Annotated[int, Evidence()] | str, 2, [""]),
    (list[Tree] | Pair, [{"label": "a"}], ["/0/label"]),
    (tuple[str, Annotated[str, Evidence()]], ["zzz", "b"], ["/1"]),
    (Annotated[set[str], Evidence()], {"c", "a"}, ["/0", "/1"]),
    (Annotated[Kind, Evidence()], "red", [""]),
    (Annotated[Kind, Evidence()], 2, [""]),
    (Annotated[Literal["red", "blue"], Evidence()], "red", [""]),
    (Annotated[list, Evidence()], ["a", {"k": ["b"]}], ["/0", "/1/k/0"]),
    (Annotated[UUID, Evidence()], "9f1c2d3e-0000-4000-8000-000000000001", [""]),
    (Annotated[IPv4Address, Evidence()], "10.1.2.3", [""]),
]


@pytest.mark.parametrize(("model", "value", "expected"), SHAPES)
def test_shapes(model: Any, value: Any, expected: list[str]) -> None:
    text = "a b c red 1 2 9F1C2D3E-0000-4000-8000-000000000001 10.1.2.3"
    rows, findings = run(model, value, text)
    assert [row.path for row in rows] == expected
    assert findings == []
    rows, findings = run(model, value, "nothing of it")
    assert rows == []
    assert [finding.path for finding in findings] == expected


def test_a_model_without_markers_costs_nothing() -> None:
    class Free(BaseModel):
        word: str

    assert run(Free, {"word": "zzz"}) == ([], [])


def test_pages_and_boxes() -> None:
    class Boxes:
        def box(self, start: int, end: int) -> tuple[float, float, float, float] | None:
            return (float(start), 0.0, float(end), 12.5)

    source = Source("one two three", pages=[0, 4, 8], boxes=Boxes())
    rows, _ = ground(["three", "one"], evidence_fields(list[Annotated[str, Evidence()]]), source)
    assert [(row.page, row.box) for row in rows] == [(3, (8.0, 0.0, 13.0, 12.5)), (1, (0.0, 0.0, 3.0, 12.5))]
    assert Source("a\fb\fc").page(4) == 3
    assert Source("plain").page(2) == 1
    assert Source("cover one", pages=[6]).page(0) == 1


@pytest.mark.parametrize("value", [None, True, False, b"12", object(), float("nan"), [], ""])
def test_what_stands_nowhere(value: object) -> None:
    assert align(value, Source("None True 12 nan []")) is None


def test_the_first_place_wins() -> None:
    span = align("two", Source("one two, two"))
    assert span is not None
    assert (span.start, span.end, span.page, span.quote) == (4, 7, 1, "two")
