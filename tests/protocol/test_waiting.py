"""How long a server asks to wait, in all the ways it says so."""

from __future__ import annotations

import pytest

from extract.protocol.waiting import asked_wait, reset_wait, wait_in_words

NOON = 1_767_614_400.0  # Mon, 05 Jan 2026 12:00:00 GMT
DATE = "Mon, 05 Jan 2026 12:00:00 GMT"
LATER = "Mon, 05 Jan 2026 12:00:20 GMT"


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": " 0.25 "}, 0.25),
        ({"retry-after": "7s"}, 7.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after": LATER}, 20.0),
        ({"retry-after": "86400"}, 86_400.0),
        ({"retry-after": "0"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e9"}, None),
        ({"retry-after": "٣"}, None),
        ({"retry-after": "Mon, 05 Jan 2026 11:00:00 GMT"}, None),
        ({"retry-after": "Mon, 99 Foo 2026 12:00:00 GMT"}, None),
        ({}, None),
    ],
)
def test_headers(headers: dict[str, str], wait: float | None) -> None:
    assert asked_wait(headers, "", now=NOON) == wait


@pytest.mark.parametrize("wrong_by", [-600.0, 0.0, 600.0, 1e8])
def test_a_date_is_read_against_the_servers_own_clock(wrong_by: float) -> None:
    headers = {"date": DATE, "retry-after": LATER}
    assert asked_wait(headers, "", now=NOON + wrong_by) == 20.0


def test_a_broken_date_header_leaves_this_machines_clock() -> None:
    assert asked_wait({"date": "yesterday", "retry-after": LATER}, "", now=NOON + 5) == 15.0


@pytest.mark.parametrize(
    ("words", "wait"),
    [
        ("please try again after 1 seconds", 1.0),
        ("please try again after 0 seconds", None),
        ("Please retry in 33.5s.", 33.5),
        ("Please try again in 20ms. Visit …", 0.02),
        ("Please try again in 6m0s.", 360.0),
        ("try again in 1h2m3s", 3723.0),
        ("quota exceeded, resets in 12 seconds", 12.0),
        ("retry after 2 minutes", 120.0),
        ("wait for about 5 sec", 5.0),
        ("reached max RPM: 3", None),
        ("try again later", None),
        ("retry in 5 bananas", None),
    ],
)
def test_words(words: str, wait: float | None) -> None:
    assert wait_in_words(words) == wait


def test_a_header_goes_before_words() -> None:
    assert asked_wait({"retry-after": "9"}, "try again in 1s", now=NOON) == 9.0
    assert asked_wait({"retry-after": "0"}, "try again in 1s", now=NOON) == 1.0


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"x-ratelimit-reset": "30"}, 30.0),
        ({"x-ratelimit-reset": str(int(NOON) + 40), "date": DATE}, 40.0),
        ({"x-ratelimit-reset": "90000"}, None),
        ({"x-ratelimit-reset": "0"}, None),
        ({"x-ratelimit-reset": "2026-01-05"}, None),
        ({}, None),
    ],
)
def test_a_reset_header_is_read_both_ways(headers: dict[str, str], wait: float | None) -> None:
    assert reset_wait(headers, now=NOON) == wait
