"""The prompt cache of the endpoint, its hours turned by hand."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from extract.testing import LocalEndpoint
from extract.testing.endpoint.cache import Boundary, PromptCache
from tests.testing.asks import body, chat, post

SYSTEM = "You read invoices. " * 80
HOUR = {"type": "ephemeral", "ttl": "1h"}


def _usage(endpoint: LocalEndpoint, text: str, **changes: Any) -> dict[str, int]:
    fields = {"system": SYSTEM, "cache_control": HOUR, **changes}
    asked = body(messages=[{"role": "user", "content": text}], **fields)
    usage = post(endpoint, asked).json()["usage"]
    split = usage["cache_creation"]
    assert sum(split.values()) == usage["cache_creation_input_tokens"]
    return {
        "in": usage["input_tokens"],
        "read": usage["cache_read_input_tokens"],
        "5m": split["ephemeral_5m_input_tokens"],
        "1h": split["ephemeral_1h_input_tokens"],
    }


def test_the_first_writes_and_the_others_read() -> None:
    with LocalEndpoint() as endpoint:
        first, second = _usage(endpoint, "Number: 1"), _usage(endpoint, "Number: 22222222")
    prefix = first["1h"]
    assert prefix > 256
    assert first == {"in": first["in"], "read": 0, "5m": 0, "1h": prefix}
    assert second == {"in": second["in"], "read": prefix, "5m": 0, "1h": 0}
    assert second["in"] > first["in"]  # its own text is longer; what is cached is the same


def test_without_a_ttl_it_is_five_minutes_and_a_read_renews_it() -> None:
    now = [0.0]
    with LocalEndpoint(now=lambda: now[0]) as endpoint:
        assert _usage(endpoint, "a", cache_control=...)["5m"] > 0
        now[0] += 299
        assert _usage(endpoint, "b", cache_control=...)["read"] > 0
        now[0] += 299
        assert _usage(endpoint, "c", cache_control=...)["read"] > 0
        now[0] += 301
        assert _usage(endpoint, "d", cache_control=...)["read"] == 0


def test_an_hour_can_pass_by_the_address_for_tests() -> None:
    with LocalEndpoint() as endpoint:
        _usage(endpoint, "a")
        endpoint.advance(3599)
        assert _usage(endpoint, "b")["read"] > 0
        endpoint.advance(3601)
        assert _usage(endpoint, "c")["1h"] > 0


def test_requests_at_once_all_write() -> None:
    with LocalEndpoint("latency=300ms") as endpoint, ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda n: _usage(endpoint, f"row {n}"), range(4)))
        after = _usage(endpoint, "later")
    assert all(usage["1h"] > 0 and usage["read"] == 0 for usage in together)
    assert after["read"] > 0
    assert after["1h"] == 0


def test_a_short_prefix_is_not_cached() -> None:
    with LocalEndpoint() as endpoint:
        for _ in range(2):
            usage = _usage(endpoint, "a", system="Short.")
            assert usage["read"] == usage["1h"] == 0


@pytest.mark.parametrize("change", [{"system": SYSTEM + "."}, {"model": "kimi-k3.1-pro-highspeed"}])
def test_another_prefix_reads_nothing(change: dict[str, Any]) -> None:
    with LocalEndpoint() as endpoint:
        _usage(endpoint, "a")
        assert _usage(endpoint, "b", **change)["read"] == 0


def test_what_is_no_part_of_the_prefix_changes_nothing() -> None:
    config = body()["output_config"] | {"effort": "high"}
    with LocalEndpoint() as endpoint:
        _usage(endpoint, "a")
        assert _usage(endpoint, "b", max_tokens=4096, temperature=1, output_config=config)["read"] > 0


def test_the_knobs_of_the_cache() -> None:
    with LocalEndpoint("cache=off") as endpoint:
        assert [_usage(endpoint, "a")[k] for k in ("read", "1h")] == [0, 0]
        endpoint.turn("cache=writes_only")
        assert all(_usage(endpoint, "a")["1h"] > 0 for _ in range(2))
        endpoint.reset()
        endpoint.turn("cache=implicit")
        first, second = _usage(endpoint, "a"), _usage(endpoint, "b")
    assert first["1h"] == first["5m"] == first["read"] == 0
    assert second["read"] > 0


def test_the_tail_is_written_when_the_knob_says_so() -> None:
    with LocalEndpoint("cache_tail=on") as endpoint:
        first, second = _usage(endpoint, "row " * 200), _usage(endpoint, "another " * 200)
    assert first["in"] == 0
    assert second["read"] > 0
    assert second["1h"] > 0


def test_counts_add_up() -> None:
    with LocalEndpoint() as endpoint:
        for text in ("a", "b", "c"):
            _usage(endpoint, text)
        counts = endpoint.counts()
    assert (counts["cache_writes"], counts["cache_reads"]) == (1, 2)
    assert counts["usage"]["ephemeral_1h_input_tokens"] == counts["usage"]["cache_creation_input_tokens"]


def test_the_chat_wire_tells_reads_alone() -> None:
    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": "Number: 1"}]
    with LocalEndpoint() as endpoint:
        usages = [
            post(endpoint, chat(messages=messages), "/v1/chat/completions").json()["usage"] for _ in range(2)
        ]
    assert [u["prompt_tokens_details"]["cached_tokens"] > 0 for u in usages] == [False, True]
    assert usages[0]["prompt_tokens"] == usages[1]["prompt_tokens"]


def test_the_oldest_entry_goes_first() -> None:
    cache = PromptCache(lambda: 0.0, capacity=2)
    for name in (b"a", b"b", b"c"):
        cache.keep([name], "5m")
    found = [cache.look([Boundary(n, 300)], writable=0, minimum=256).read for n in (b"a", b"b", b"c")]
    assert found == [0, 300, 300]
