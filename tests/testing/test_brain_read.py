"""The endpoint's reader on documents: what stands there, where it stands, and nothing else."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from extract import Evidence, compile_schema
from extract.testing.brain import read
from extract.testing.brain.lines import read_lines


def _read(model: Any, text: str) -> dict[str, Any]:
    value = read(compile_schema(model).schema, text).value
    assert isinstance(value, dict)
    return value


class Line(BaseModel):
    item: str
    quantity: int
    price: Decimal
    amount: Decimal


class Bill(BaseModel):
    number: str = Field(description="Invoice number (Rechnungsnummer, numéro de facture, número de factura)")
    issued: date
    due: date | None
    supplier: str
    currency: Literal["EUR", "USD", "GBP"]
    net: Decimal | None
    tax: Decimal | None
    total: Decimal
    lines: list[Line]


GERMAN = """\
Müller & Söhne GmbH                                Seite 1/2
R E C H N U N G
Rechnungs-Nr.: 2026/17          Rechnungsdatum: 3. März 2026
Lieferant:     Müller & Söhne GmbH
Zahlbar bis:   offen
Währung: EUR

Pos  Artikel                    Menge     Einzelpreis      Betrag
1    Schrauben M6, verzinkt     1.250            0,04       50,00
2    Dübel                         10            1,20       12,00
                                            Übertrag        62,00

Rechnungs-Nr.: 2026/17                             Seite 2/2
Pos  Artikel                    Menge     Einzelpreis      Betrag
3    Bohrer, lang,                  1           18,00       18,00
     gehärtet
     Zwischensumme:                                         80,00 €
     MwSt. 19 %:                                            15,20 €
     Gesamtbetrag:                                          95,20 €
"""


def test_a_german_bill_over_two_pages() -> None:
    bill = _read(Bill, GERMAN)
    assert bill["lines"] == [
        {"item": "Schrauben M6, verzinkt", "quantity": 1250, "price": "0.04", "amount": "50.00"},
        {"item": "Dübel", "quantity": 10, "price": "1.20", "amount": "12.00"},
        {"item": "Bohrer, lang, gehärtet", "quantity": 1, "price": "18.00", "amount": "18.00"},
    ]
    del bill["lines"]
    assert bill == {
        "number": "2026/17",
        "issued": "2026-03-03",
        "due": None,
        "supplier": "Müller & Söhne GmbH",
        "currency": "EUR",
        "net": "80.00",
        "tax": "15.20",
        "total": "95.20",
    }


FORMS = {
    "english": [
        "Invoice number: A-1",
        "Invoice date: 3 March 2026",
        "Supplier: Acme",
        "Currency: EUR",
        "Total due: 12.50",
    ],
    "french": [
        "Facture n° : A-1",
        "Date de facture : 3 mars 2026",
        "Fournisseur : Acme",
        "Devise : EUR",
        "Total TTC : 12,50 €",
    ],
    "spanish": [
        "Factura n.º: A-1",
        "Fecha de factura: 3 de marzo de 2026",
        "Proveedor: Acme",
        "Moneda: EUR",
        "Total factura: 12,50",
    ],
    "columns": [
        "Rechnungsnummer  A-1",
        "Rechnungsdatum  03.03.2026",
        "Lieferant  Acme",
        "Währung  EUR",
        "Gesamtbetrag  12,50 EUR",
    ],
    "markdown": [
        "**Invoice No.:** A-1",
        "- Date: 2026-03-03",
        "- Vendor: Acme",
        "- Currency: EUR",
        "- Total: 12.50",
    ],
    "tabs": [
        "Invoice number\tA-1",
        "Invoice date\t2026-03-03",
        "Supplier\tAcme",
        "Currency\tEUR",
        "Total\t12.50",
    ],
    "pipes": [
        "| Invoice number | A-1 |",
        "| Date | 2026-03-03 |",
        "| Supplier | Acme |",
        "| Currency | EUR |",
        "| Total | 12.50 |",
    ],
    "leaders": [
        "Invoice number ........ A-1",
        "Date ..... 2026-03-03",
        "Supplier .... Acme",
        "Currency .... EUR",
        "Total .... 12.50",
    ],
    "below": [
        "Invoice number:",
        "A-1",
        "Date:",
        "2026-03-03",
        "Supplier:",
        "Acme",
        "Currency:",
        "EUR",
        "Total:",
        "12.50",
    ],
    "beside": [
        "N° de facture / Invoice no: A-1   Date: 2026-03-03",
        "From: Acme",
        "Currency: EUR    TOTAL (incl. VAT): 12.50",
    ],
}


@pytest.mark.parametrize("form", FORMS)
def test_the_same_in_many_forms(form: str) -> None:
    bill = _read(Bill, "\n".join(FORMS[form]))
    found = {name: bill[name] for name in ("number", "issued", "supplier", "currency", "total")}
    wanted = {
        "number": "A-1",
        "issued": "2026-03-03",
        "supplier": "Acme",
        "currency": "EUR",
        "total": "12.50",
    }
    assert found == wanted


def test_what_is_no_bill_gives_nothing() -> None:
    letter = (
        "Dear Ms Thiele,\n\nthank you for your letter of 26 May. Please do not pay 40 EUR.\n\nKind regards"
    )
    assert set(map(str, _read(Bill, letter).values())) == {"None"}


def test_two_totals_that_differ_are_none() -> None:
    assert _read(Bill, "Total: 12.50\nTotal: 13.50")["total"] is None
    assert _read(Bill, "Total: 12.50\nTotal: 12.50")["total"] == "12.50"


def test_what_was_paid_already_is_not_the_total() -> None:
    text = "Total TTC : 10 513,80 €\nAcompte : -3 000,00 €\nNet à payer : 7 513,80 €"
    assert _read(Bill, text)["total"] == "10513.80"
    assert _read(Bill, "Net à payer : 7 513,80 €")["total"] == "7513.80"


def test_a_net_total_is_no_total() -> None:
    bill = _read(Bill, "Total HT : 10,00 €")
    assert (bill["net"], bill["total"]) == ("10.00", None)


def test_a_currency_by_its_sign_alone() -> None:
    assert _read(Bill, "Total: 12,50 €")["currency"] == "EUR"
    assert _read(Bill, "Total: 12,50 € or $13")["currency"] is None


class Topic(Enum):
    BILLING = "billing"
    OUTAGE = "outage"
    OTHER = "other"


class Ticket(BaseModel):
    topic: Topic = Field(
        description=(
            "billing: money, charges, refunds and invoices. outage: something is down, slow or shows errors."
        )
    )
    urgent: bool | None
    stars: Literal[1, 2, 3, 4, 5] | None = None
    tags: list[str] | None = None


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("I was charged twice, please refund me", "billing"),
        ("The whole site is down and shows an error", "outage"),
        ("Topic: other\nI was charged twice", "other"),
        ("I was charged while the site was down", None),
        ("Hello there", None),
    ],
)
def test_a_class_by_its_words(text: str, topic: str | None) -> None:
    assert _read(Ticket, text)["topic"] == topic


def test_labelled_scalars() -> None:
    ticket = _read(Ticket, "Urgent: yes\nRating: 4 / 5\nStars: 4\nTags: login, password; reset")
    assert ticket["urgent"] is True
    assert ticket["stars"] == 4
    assert ticket["tags"] == ["login", "password", "reset"]


class Address(BaseModel):
    city: str | None
    zip_code: str | None


class Company(BaseModel):
    name: str
    address: Address | None
    vat_id: str | None


class Contract(BaseModel):
    supplier: Company
    customer: Company
    size: tuple[float, float] | None
    rates: dict[str, Decimal] | None


def test_nested_objects_by_label_and_by_section() -> None:
    contract = _read(
        Contract,
        "Supplier\nName: Acme\nVAT ID: DE1\n\nCustomer\nName: Bolt\nCity: Kiel\n\n"
        "Customer VAT ID: FR2\nSize: 2.5 x 3.5\nRates: standard=19, reduced=7",
    )
    assert contract["supplier"] == {"name": "Acme", "vat_id": "DE1", "address": None}
    assert contract["customer"]["name"] == "Bolt"
    assert contract["customer"]["vat_id"] == "FR2"
    assert contract["size"] == {"item_1": 2.5, "item_2": 3.5}
    assert contract["rates"] == [{"key": "standard", "value": "19"}, {"key": "reduced", "value": "7"}]


def test_a_table_with_pipes_and_a_root_that_is_a_list() -> None:
    text = (
        "| Item | Qty | Price | Amount |\n|---|--:|--:|--:|\n| Ink | 2 | 4.00 | 8.00 |\n| Total | | | 8.00 |"
    )
    (rows,) = _read(list[Line], text).values()
    assert rows == [{"item": "Ink", "quantity": 2, "price": "4.00", "amount": "8.00"}]


def test_words_between_rows_are_no_rows() -> None:
    text = (
        "Item            Qty    Price    Amount\nInk               2     4.00      8.00\n"
        "paid in cash     on     14       days\n\nPaper             1     5.00      5.00\n"
    )
    (rows,) = _read(list[Line], text).values()
    assert [row["item"] for row in rows] == ["Ink", "Paper"]


class Shape(BaseModel):
    kind: Literal["circle", "square"]
    note: str = Field("none", description="A remark.")
    parts: list[str] = Field(description="Parts. Empty list if there are none.")


def test_what_the_schema_itself_asks_for_where_nothing_is() -> None:
    shape = _read(Shape, "Kind: circle")
    assert shape == {"kind": "circle", "note": "none", "parts": []}


class Quoted(BaseModel):
    total: Annotated[Decimal, Evidence(by="quote")]
    mood: Annotated[Literal["happy", "angry"], Evidence(by="quote")]


def test_quotes_are_lines_of_the_text() -> None:
    text = "Dear all,\nwe are happy today.\nTotal: 12.50 EUR"
    value = read(compile_schema(Quoted).schema, text).value
    assert value == {
        "total": {"quote": "Total: 12.50 EUR", "value": "12.50"},
        "mood": {"quote": "we are happy today.", "value": "happy"},
    }
    assert read(compile_schema(Quoted).schema, "?").value["total"] == {"quote": "", "value": None}


def test_the_thinking_says_what_was_found_and_what_was_not() -> None:
    thought = read(compile_schema(Bill).schema, "Total: 12.50\nNet: 1\nNet: 2").thought
    assert "total from 'Total'" in thought
    assert "number" in thought.partition("not there")[2]
    assert "ambiguous: net" in thought


@pytest.mark.parametrize(
    ("line", "pairs"),
    [
        ("Total: 5", [("Total", "5")]),
        ("Total : 5", [("Total", "5")]),
        ("Total:5", [("Total", "5")]),
        ("No: A-1   Date: 2026", [("No", "A-1"), ("Date", "2026")]),
        ("Invoice      : KC-1", [("Invoice", "KC-1")]),
        ("│ Kind  :  big │", [("Kind", "big")]),
        ("at 10:30 we met", []),
        ("see https://example.org/a", []),
        ("a sentence with, many words and then one colon: and more", []),
        ("----: ----", []),
    ],
)
def test_labels(line: str, pairs: list[tuple[str, str]]) -> None:
    assert [(found.label, found.value) for found in read_lines(line).labelled] == pairs


def test_a_text_of_any_kind_does_no_harm() -> None:
    for text in ("", "\x00", "|", "||||\n|:-|", ":", "a:\n" * 50, "1,2,3.4.5 €$ " * 40, "﻿Total: 1"):
        read(compile_schema(Bill).schema, text)
