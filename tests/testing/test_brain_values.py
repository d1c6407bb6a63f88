"""How the endpoint's reader reads numbers, dates, choices: never what could be two things."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from extract.testing.brain import choices, dates, numbers


@pytest.mark.parametrize(
    ("text", "mark", "value"),
    [
        ("12", None, "12"),
        ("1.234,50", None, "1234.50"),
        ("1,234.50", None, "1234.50"),
        ("1 234,50", None, "1234.50"),
        ("1 234,50 €", None, "1234.50"),
        ("7 348,80", None, "7348.80"),
        ("1'234.50 CHF", None, "1234.50"),
        ("$11,840.00", None, "11840.00"),
        ("€ 50.458,00", None, "50458.00"),
        ("EUR 405.30", None, "405.30"),
        ("-708,05 €", None, "-708.05"),
        ("−3", None, "-3"),
        ("$-12.00", None, "-12.00"),
        ("100,00-", None, "-100.00"),
        ("(41.20)", None, "-41.20"),
        ("0.0840", None, "0.0840"),
        ("0,125", None, "0.125"),
        ("1.234.567", None, "1234567"),
        ("1.250", ",", "1250"),
        ("1.250", ".", "1.250"),
        ("1,460.00", None, "1460.00"),
        ("22,5", None, "22.5"),
        ("64 Std.", None, "64"),
        ("2.", None, "2"),
    ],
)
def test_a_number(text: str, mark: numbers.Mark, value: str) -> None:
    found = numbers.number_in(text, mark)
    assert found == Decimal(value)
    assert str(found) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "none",
        "1.250",
        "1,250",
        "12 of 14",
        "5x2,5",
        "12/2026",
        "see page 4 of the other document",
        "1,23.4,5",
    ],
)
def test_no_number(text: str) -> None:
    assert numbers.number_in(text, None) is None


def test_an_integer_settles_what_groups_are() -> None:
    assert numbers.number_in("1.250", None, whole=True) == 1250
    assert numbers.number_in("1,250", None, whole=True) == 1250


def test_the_mark_of_a_document() -> None:
    assert numbers.decimal_mark("1.250 and 3,50 and 4,20") == ","
    assert numbers.decimal_mark("1,250 and 3.50") == "."
    assert numbers.decimal_mark("1,250 and 3.250") is None
    assert numbers.decimal_mark("3.50 and 3,50") is None


def test_one_sign_names_the_currency() -> None:
    assert numbers.sign_of_currency("12 €, 14 €") == "EUR"
    assert numbers.sign_of_currency("12 € or $13") is None


@pytest.mark.parametrize(
    ("text", "order", "value"),
    [
        ("2026-07-31", None, "2026-07-31"),
        ("2026/07/31", None, "2026-07-31"),
        ("09.02.2026", None, "2026-02-09"),
        ("09.02.26", None, "2026-02-09"),
        ("03/31/2026", None, "2026-03-31"),
        ("15/01/2026", None, "2026-01-15"),
        ("05/05/2026", None, "2026-05-05"),
        ("01/06/2026", "day", "2026-06-01"),
        ("01/06/2026", "month", "2026-01-06"),
        ("17 March 2026", None, "2026-03-17"),
        ("February 27, 2026", None, "2026-02-27"),
        ("Feb. 3rd, 2026", None, "2026-02-03"),
        ("4 février 2026", None, "2026-02-04"),
        ("1er août 2026", None, "2026-08-01"),
        ("3 de marzo de 2026", None, "2026-03-03"),
        ("31. Mai 2026", None, "2026-05-31"),
        ("3-Mar-2026", None, "2026-03-03"),
        ("Montag, 2. März 2026", None, "2026-03-02"),
        ("Kiel, den 09.02.2026", None, "2026-02-09"),
    ],
)
def test_a_date(text: str, order: dates.Order, value: str) -> None:
    found = dates.date_in(text, order)
    assert found is not None
    assert found.isoformat() == value


@pytest.mark.parametrize(
    "text",
    ["", "soon", "01/06/2026", "31.02.2026", "1.2.3", "30 days", "02.02.2026 bis 06.02.2026", "2026-1187"],
)
def test_no_date(text: str) -> None:
    assert dates.date_in(text, None) is None


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("due 31/01/2026, issued 02/01/2026", "day"),
        ("due 01/31/2026, issued 01/02/2026", "month"),
        ("Rechnung vom 01/02/2026", "day"),
        ("issued 01/02/2026, total £4", "day"),
        ("issued 01/02/2026, total $4", "month"),
        ("issued 01/02/2026", None),
    ],
)
def test_which_comes_first(text: str, order: dates.Order) -> None:
    assert dates.date_order(text) == order


def test_times() -> None:
    assert dates.time_in("14:05") == "14:05:00"
    assert dates.time_in("2:05 pm") == "14:05:00"
    assert dates.time_in("from 9:00 to 10:00") is None
    assert dates.datetime_in("2026-07-31T14:05:09Z", None) == "2026-07-31T14:05:09Z"
    assert dates.datetime_in("31.07.2026 14:05", None) == "2026-07-31T14:05:00"
    assert dates.datetime_in("31.07.2026", None) is None
    assert dates.duration_in("PT1H30M") == "PT1H30M"
    assert dates.duration_in("1 h 30 min") == "PT1H30M"
    assert dates.duration_in("2 days") == "P2D"
    assert dates.duration_in("long") is None


@pytest.mark.parametrize(
    ("values", "said", "value"),
    [
        (("open", "in_progress"), "In progress", "in_progress"),
        (("EUR", "USD"), "eur", "EUR"),
        (("EUR", "USD"), "Euro", None),
        (("invoice", "credit_note"), "Rechnung", "invoice"),
        (("invoice", "credit_note"), "Gutschrift", "credit_note"),
        (("low", "high"), "high, please", "high"),
        (("low", "high"), "low or high", None),
        (("low", "high"), "not high", None),
        ((1, 2, 3), "2 of", 2),
        ((1, 2, 3), "4", None),
    ],
)
def test_a_choice_by_its_label(values: tuple[Any, ...], said: str, value: Any) -> None:
    assert choices.by_value(values, said) == value


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("Yes", True),
        ("ja", True),
        ("oui.", True),
        ("Sí", True),
        ("no", False),
        ("nein", False),
        ("maybe", None),
    ],
)
def test_yes_or_no(said: str, value: bool | None) -> None:  # noqa: FBT001 - a value of the table
    assert choices.yes_or_no(said) is value
