"""Numbers are found by value, in any format, as whole tokens and with their sign."""

from __future__ import annotations

from decimal import Decimal

import pytest

from extract.evidence.numbers import Number, NumberIndex

Value = int | float | Decimal


def find(value: Value, text: str) -> str | None:
    hit = NumberIndex(text).find(value)
    return text[hit[0] : hit[1]] if hit else None


@pytest.mark.parametrize(
    ("value", "text", "there"),
    [
        (42, "of 42 pieces", "42"),
        (Decimal("2718.28"), "EUR 2.718,28", "2.718,28"),
        (2718.28, "$2,718.28.", "2,718.28"),
        (Decimal("2718.280"), "2 718,28 kr", "2 718,28"),
        (2718.28, "2\u202f718,28 €", "2\u202f718,28"),
        (2718.28, "CHF 2'718.28", "2'718.28"),
        (2718.28, "2’718.28", "2’718.28"),
        (Decimal("9876543.21"), "9 876 543,21", "9 876 543,21"),
        (876543, "12 876 543", "876 543"),
        (2718281, "27,18,281", "27,18,281"),
        (2.718, "2.718", "2.718"),
        (2718, "2.718", "2.718"),
        (0.75, "about .75 of it", "75"),
        (75, "page....75", "75"),
        (75, "Nr.75", "75"),
        (6.02e23, "6.02e23 parts", "6.02"),
        (Decimal("0.075"), "7,5 % VAT", "7,5"),
        (7.5, "7,5 % VAT", "7,5"),
        (0.2, "twenty: 20 percent", "20"),
        (0, "0,00", "0,00"),
        (7, "007", "007"),
        (2024, "on 05.11.2024", "2024"),
        (11, "2024-11-05", "11"),
        (31, "Q-31", "31"),
        (16, "8-16 h", "16"),
        (8, "8x16", "8"),
        (16, "8x16", "16"),
        (16, "16kWh", "16"),
        (42, "第42条", "42"),
        (42, "٤٢", "٤٢"),
        (42, "４２", "４２"),
        (50, "7,50,9", "50"),
        (300, "100,00\u00a0300,00", "300,00"),
        (12345678901234567891, "12345678901234567891", "12345678901234567891"),
        (25, "25,- EUR", "25"),
        (25, "USD25", "25"),
        (25, "CA$25", "25"),
        (25, "the 25th", "25"),
    ],
)
def test_found(value: Value, text: str, there: str) -> None:
    assert find(value, text) == there


@pytest.mark.parametrize(
    "text",
    ["-42.5", "−42,50", "-€42.50", "€ -42.50", "- 42,5", "(42.50)", "(EUR 42,50)", "42.50-", "42,5- EUR"],
)
def test_negative(text: str) -> None:
    assert find(Decimal("-42.5"), text) in ("42.5", "42.50", "42,5", "42,50")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12, "128, 12.50, 0.12, 112"),
        (42.5, "-42.50"),
        (-42, "Q-42, 8-42, 42"),
        (42, "B42, 42b7, _42, x_42_, REF42"),
        (1, "1½ hours"),
        (6.02, "6.02e23"),
        (12, "12\u00a0345"),
        (345, "12\u00a0345"),
        (2, "1.2.3"),
        (1234, "12 34, 1 2345, 123 4"),
        (1234, "01 234"),
        (1, "100%"),
        (75, "about .75 of it"),
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (Decimal("sNaN"), "sNaN"),
        (102, "10²"),
        (5, ""),
    ],
)
def test_not_found(value: Value, text: str) -> None:
    assert find(value, text) is None


def test_the_first_of_several_wins() -> None:
    hit = NumberIndex("30 3 0.3 300 3.0 3,00").find(3)
    assert hit is not None
    assert hit[:2] == (3, 4)


def test_numbers_without_arithmetic() -> None:
    assert Number.of(Decimal("1E+999999")) == (False, "1", 999_999)
    assert Number.of(-0.0) == (False, "", 0)
    assert Number.of(1200) == Number.of(Decimal("1.2E+3")) == Number.of(1.2e3)


@pytest.mark.parametrize(
    "text",
    ["7" * 300_000, "7." * 150_000, "7,7.7'" * 50_000, "777 " * 75_000, "." * 300_000, "7\u00a0" * 150_000],
)
def test_hostile_texts_come_to_an_end(text: str) -> None:
    assert find(12, text) is None
    assert find(-7, text) is None
