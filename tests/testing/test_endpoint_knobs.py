"""The knobs: how they are written, and what is refused."""

from __future__ import annotations

from random import Random

import pytest

from extract.errors import ConfigError
from extract.testing import Delay, Knobs


def test_text_and_mapping_say_the_same() -> None:
    text = Knobs.parse("latency=200ms, rate=50,err500=0.02,cache=off,seed=7")
    assert text == Knobs.parse({"latency": "0.2s", "rate": 50, "err500": 0.02, "cache": "off", "seed": 7})
    assert text.latency == Delay("fixed", 0.2)


def test_a_share_without_a_value_is_all() -> None:
    assert Knobs.parse("prose").prose == 1.0


def test_knobs_survive_their_own_json() -> None:
    for latency in ("200ms", "100ms-300ms", "normal:200ms:50ms", "lognormal:200ms:0.6"):
        knobs = Knobs.parse(f"latency={latency},torn=0.5,retry_after=none")
        assert Knobs.parse(knobs.as_dict()) == knobs


def test_nothing_is_the_default() -> None:
    assert Knobs.parse(None) == Knobs.parse("") == Knobs()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("latancy=1s", "did you mean 'latency'"),
        ("zzz=1", "there are latency"),
        ("latency=fast", "no number"),
        ("rate=-1", "zero or more"),
        ("cache=maybe", "on, off, implicit, writes_only"),
        ("err500=0.7,err529=0.4", "more than 1"),
    ],
)
def test_what_is_no_knob_is_told(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Knobs.parse(text)


def test_delays_stay_in_their_range_and_follow_the_seed() -> None:
    delay = Delay.parse("100ms-300ms")
    draws = [delay.draw(Random(1)) for _ in range(3)]
    assert draws[0] == draws[1] == draws[2]
    assert all(0.1 <= delay.draw(Random(n)) <= 0.3 for n in range(50))
    assert all(Delay.parse("normal:10ms:1s").draw(Random(n)) >= 0 for n in range(50))
