"""Usage: five categories that do not overlap, where unknown is not zero."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extract.protocol.usage import Usage, read_usage


def test_the_documented_shape() -> None:
    raw = {
        "input_tokens": 1,
        "cache_creation_input_tokens": 50,
        "cache_read_input_tokens": 4,
        "output_tokens": 5,
        "output_tokens_details": {"thinking_tokens": 2},
        "cache_creation": {"ephemeral_5m_input_tokens": 20, "ephemeral_1h_input_tokens": 30},
        "server_tool_use": {"web_search_requests": 1},
    }
    usage = read_usage(raw)
    assert usage == Usage(1, 20, 30, 4, 5, 2, 1)
    assert usage.cache_write == 50
    assert usage.total_input == 55


@pytest.mark.parametrize("ttl", ["1h", "5m", None])
@pytest.mark.parametrize(
    "split", [{}, {"cache_creation": None}, {"cache_creation": {"ephemeral_5m_input_tokens": 0}}]
)
def test_writes_that_are_not_split_go_to_the_lifetime_that_was_asked_for(
    ttl: Any, split: dict[str, Any]
) -> None:
    usage = read_usage({"cache_creation_input_tokens": 9, **split}, ttl=ttl)
    assert (usage.cache_write_5m, usage.cache_write_1h) == ((0, 9) if ttl == "1h" else (9, 0))


@pytest.mark.parametrize("raw", [None, [], "x", 5, {}, {"input_tokens": None, "output_tokens": "7"}])
def test_what_was_not_told_is_unknown(raw: Any) -> None:
    usage = read_usage(raw)
    assert usage == Usage()
    assert not usage.known
    assert usage.total_input is None


def test_sums_keep_what_nobody_told_unknown() -> None:
    total = Usage.total([Usage(input=1), Usage(input=2, output=3), Usage()])
    assert total == Usage(input=3, output=3)
    assert total.as_dict()["cache_read"] is None


TOKENS = st.one_of(st.none(), st.integers(0, 10**9))
USAGES = st.builds(Usage, *[TOKENS] * 7)


@given(USAGES, USAGES)
def test_a_sum_is_the_sum_of_each_category_and_unknown_where_nobody_told(one: Usage, other: Usage) -> None:
    for name, sum_ in (one + other).as_dict().items():
        told = [tokens for tokens in (getattr(one, name), getattr(other, name)) if tokens is not None]
        assert sum_ == (sum(told) if told else None)


@given(USAGES)
def test_all_input_is_what_is_known_of_it(usage: Usage) -> None:
    known = [tokens for tokens in usage[:4] if tokens is not None]
    assert usage.total_input == (sum(known) if known else None)
