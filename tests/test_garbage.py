"""The collector looks less often while runs work, and as before when the last one is over."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from extract.garbage import seldom


@pytest.fixture(autouse=True)
def as_usual() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)


def test_it_waits_for_more_and_then_for_as_many_as_before() -> None:
    with seldom():
        assert gc.get_threshold() == (50_000, 10, 10)
    assert gc.get_threshold() == (700, 10, 10)


def test_the_last_of_several_brings_it_back() -> None:
    with seldom():
        with seldom():
            pass
        assert gc.get_threshold()[0] == 50_000
    assert gc.get_threshold()[0] == 700


@pytest.mark.parametrize("young", [0, 80_000])
def test_a_program_that_has_it_look_as_seldom_is_left_alone(young: int) -> None:
    gc.set_threshold(young, 10, 10)
    with seldom():
        assert gc.get_threshold()[0] == young
    assert gc.get_threshold()[0] == young


def test_what_the_program_sets_meanwhile_stays() -> None:
    with seldom():
        gc.set_threshold(2_000, 5, 5)
    assert gc.get_threshold() == (2_000, 5, 5)


def test_a_run_that_fails_brings_it_back_too() -> None:
    with pytest.raises(RuntimeError), seldom():
        raise RuntimeError
    assert gc.get_threshold()[0] == 700
