"""The governor against modelled services in virtual time: how near the bound, and what was wasted.

The models and the cases are those of `benchmarks/pace_sim.py`; other seeds than the ones it prints.
"""

from __future__ import annotations

import pytest

from benchmarks.pace_sim import CASES, run

TARGETS = {  # wall time against the bound, share of rows wasted on refusals
    "200/s, bucket of 1 s": (1.15, 0.03),
    "200/s, exact wait, named": (1.15, 0.03),
    "200/s, 1 s replies": (1.15, 0.03),
    "200/s, nothing said": (1.15, 0.04),
    "200/s, bucket of 40": (1.4, 0.03),
    "halved": (1.25, 0.03),
    "doubled": (1.25, 0.03),
    "halved, exact": (1.25, 0.03),
    "doubled, exact": (1.25, 0.03),
    "1 at once": (1.1, 0.05),
    "3 at once": (1.1, 0.05),
    "3 at once, named": (1.1, 0.05),
    "3 at once, waits said": (1.1, 0.05),
    "one slow in a thousand": (1.15, 0.03),
    "60k tokens a minute, told": (1.15, 0.0),
    "60k tokens a minute, learned": (1.15, 0.05),
    "12k a minute, told": (1.15, 0.0),
    "200 a minute, windows": (1.15, 0.03),
    "no limit": (1.15, 0.0),
}


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("seed", [11, 12])
def test_the_limit_is_met(name: str, seed: int) -> None:
    result = run(CASES[name], seed)
    most, wasted = TARGETS[name]

    assert result.ratio <= most
    assert result.wasted <= wasted
    assert result.server.served == CASES[name].rows


@pytest.mark.slow
@pytest.mark.parametrize("name", ["500 at once", "1000 at once"])
def test_a_wide_ceiling_is_met(name: str) -> None:
    result = run(CASES[name], 11)

    assert result.ratio <= 1.1
    assert result.wasted <= 0.05
    assert result.server.served == CASES[name].rows


def test_overload_now_and_then_loses_no_row() -> None:
    result = run(CASES["overloaded 2 %"], 11)

    assert result.server.served == CASES["overloaded 2 %"].rows


def test_the_same_seed_is_the_same_run() -> None:
    first, second = (run(CASES["halved"], 5) for _ in range(2))

    assert (first.wall, first.refused) == (second.wall, second.refused)
