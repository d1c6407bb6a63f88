"""Dates and times are found in the formats of seven languages, and only where they stand."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, timezone

import pytest

from extract.evidence.dates import DateIndex
from extract.evidence.normalise import Folded


def find(value: date | time, text: str) -> str | None:
    hit = DateIndex(Folded(text)).find(value)
    return text[hit[0] : hit[1]] if hit else None


@pytest.mark.parametrize(
    "written",
    [
        "2027-10-24",
        "2027/10/24",
        "20271024",
        "24.10.2027",
        "24. 10. 2027",
        "24.10.27",
        "24/10/2027",
        "10/24/2027",
        "24-10-2027",
        "24-Oct-27",
        "24OCT2027",
        "24 October 2027",
        "24th of October, 2027",
        "October 24, 2027",
        "Oct. 24th, 2027",
        "24. Oktober 2027",
        "24. Okt. 2027",
        "24 octobre 2027",
        "24 oct. 2027",
        "24 de octubre de 2027",
        "24 ottobre 2027",
        "24 de outubro de 2027",
        "24 oktober 2027",
        "24\u00a0Oc-\ntober\n2027",
        "2027年10月24日",
        "２４．１０．２０２７",
    ],
)
def test_found_in_many_formats(written: str) -> None:
    assert find(date(2027, 10, 24), f"12 30 items, due {written}; 5 left.") == written
    assert find(date(2027, 10, 23), written) is None


@pytest.mark.parametrize(
    ("day", "text"),
    [
        (date(2027, 3, 1), "1er mars 2027"),
        (date(2027, 3, 1), "1º de março de 2027"),
        (date(2027, 3, 1), "1. März 2027"),
        (date(2027, 3, 1), "1 Ma\u0308rz 2027"),
        (date(2027, 8, 1), "1 août 2027"),
        (date(1961, 8, 1), "1.8.61"),
        (date(2027, 4, 3), "03/04/2027"),
        (date(2027, 3, 4), "03/04/2027"),
        (date(2027, 3, 4), "1. 2. 4.3.2027"),
    ],
)
def test_found(day: date, text: str) -> None:
    assert find(day, text)


@pytest.mark.parametrize(
    "text",
    [
        "24.10.20271",
        "124.10.2027",
        "3.24.10.2027",
        "24.10.2027.1",
        "10.24.2027",
        "24 October",
        "24 October 20:27",
        "24 Smarch 2027",
        "24 octopus 2027",
        "October 2027",
        "24.10.",
    ],
)
def test_not_found(text: str) -> None:
    assert find(date(2027, 10, 24), text) is None


MOMENT = datetime(2027, 10, 24, 15, 45)


@pytest.mark.parametrize(
    "written",
    [
        "2027-10-24T15:45:00",
        "2027-10-24 15:45",
        "24.10.2027, 15:45 Uhr",
        "24.10.2027 um 15.45 Uhr",
        "24/10/2027 3:45 pm",
        "October 24, 2027 at 3:45 p.m.",
        "24.10.2027 15h45",
        "15:45, 24 October 2027",
        "15:45 Uhr am 24.10.2027",
        "2027-10-24T15:45:00.000Z",
        "2027-10-24T15:45+02:00",
    ],
)
def test_a_moment_is_a_date_with_its_time(written: str) -> None:
    assert find(MOMENT, written)
    assert find(MOMENT.replace(hour=3), written) is None


def test_offsets_speak_only_where_both_are_known() -> None:
    aware = MOMENT.replace(tzinfo=UTC)
    assert find(aware, "2027-10-24 15:45")
    assert find(aware, "2027-10-24T15:45Z")
    assert find(aware, "2027-10-24T15:45+02:00") is None
    assert find(MOMENT.replace(tzinfo=timezone(timedelta(hours=2))), "2027-10-24T15:45+0200")


def test_a_midnight_needs_no_time() -> None:
    assert find(datetime(2027, 10, 24), "on 24.10.2027")
    assert find(datetime(2027, 10, 24, 1), "on 24.10.2027") is None


@pytest.mark.parametrize(
    ("clock", "text"),
    [
        (time(9, 5), "09:05-17:30"),
        (time(17, 30), "09:05-17:30"),
        (time(17), "5 pm"),
        (time(0), "12 am"),
        (time(17), "um 17 Uhr"),
        (time(17, 30, 15, 250_000), "17:30:15.25"),
    ],
)
def test_times(clock: time, text: str) -> None:
    assert find(clock, text)


@pytest.mark.parametrize("text", ["17:305", "1:17:30", "25:30", "13 pm", "17:30:15", "ratio 1.17:30"])
def test_no_times(text: str) -> None:
    assert find(time(17, 30), text) is None


@pytest.mark.parametrize(
    "text",
    [
        "1" * 300_000,
        "1." * 150_000,
        "01.01.2027 " * 20_000,
        "1-" * 150_000,
        "31 december " * 20_000,
        "12:" * 90_000,
    ],
)
def test_hostile_texts_come_to_an_end(text: str) -> None:
    assert find(datetime(2028, 2, 29, 13, 5), text) is None
