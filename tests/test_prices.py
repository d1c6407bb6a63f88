"""Prices: what is known is multiplied exactly, what is not known stays unknown."""

from __future__ import annotations

import sys
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extract.errors import MissingExtraError, PriceError
from extract.prices import Price, Prices, prices_for
from extract.protocol.usage import Usage

PRO = Price.of(input=2, output=10, cache_read="0.2", cache_write_5m=2, cache_write_1h=4, web_search="0.01")
COUNTS = st.integers(min_value=0, max_value=2_000_000)


def test_all_five_categories_and_searches_are_priced() -> None:
    usage = Usage(
        input=1_000_000,
        cache_write_5m=100_000,
        cache_write_1h=10_000,
        cache_read=500_000,
        output=200_000,
        thinking=150_000,
        web_searches=3,
    )

    assert PRO.cost(usage) == Decimal("2") + Decimal("0.2") + Decimal("0.04") + Decimal("0.1") + 2 + Decimal(
        "0.03"
    )


@given(st.lists(st.tuples(COUNTS, COUNTS, COUNTS, COUNTS, COUNTS), min_size=1, max_size=5))
def test_the_cost_of_a_sum_is_the_sum_of_the_costs(counts: list[tuple[int, int, int, int, int]]) -> None:
    usages = [Usage(a, b, c, d, e) for a, b, c, d, e in counts]

    assert PRO.cost(Usage.total(usages)) == sum(PRO.cost(usage) or 0 for usage in usages)


def test_thinking_is_a_part_of_the_output_and_not_paid_twice() -> None:
    assert PRO.cost(Usage(input=0, output=10, thinking=10)) == PRO.cost(Usage(input=0, output=10))


@pytest.mark.parametrize("usage", [Usage(), Usage(input=5), Usage(output=5), Usage(cache_read=5)])
def test_usage_that_was_not_told_has_no_cost(usage: Usage) -> None:
    assert PRO.cost(usage) is None


def test_a_category_without_price_has_no_cost_unless_nothing_fell_into_it() -> None:
    bare = Price.of(input=1, output=1)

    assert bare.cost(Usage(input=10, output=10)) == Decimal("0.00002")
    assert bare.cost(Usage(input=10, output=10, cache_read=0, web_searches=0)) == Decimal("0.00002")
    assert bare.cost(Usage(input=10, output=10, cache_read=1)) is None
    assert bare.cost(Usage(input=10, output=10, web_searches=1)) is None


def test_what_the_cache_saved_is_against_plain_input() -> None:
    usage = Usage(input=100, cache_read=900, cache_write_1h=0, output=10)

    assert PRO.cost_uncached(usage) == PRO.cost(Usage(input=1_000, output=10))
    assert PRO.cost_uncached(Usage()) is None


def test_a_model_without_price_gives_none_and_never_another_models() -> None:
    prices = Prices({"kimi-k3.1-pro": {"input": 2, "output": 10}})

    assert prices_for("kimi-k3.1-pro", prices) == Price.of(input=2, output=10)
    assert prices_for("kimi-k3.1-pro-highspeed", prices) is None
    assert prices_for("kimi-k3.1-pro", None) is None


def test_one_price_serves_any_model_and_named_ones_go_first() -> None:
    prices = Prices({"dear": {"input": 9, "output": 9}}, input=1, output=2)

    assert prices.find("dear") == Price.of(input=9, output=9)
    assert prices.find("anything") == Price.of(input=1, output=2)
    assert list(prices) == ["dear"] and len(prices) == 1 and prices["dear"].input == 9
    assert repr(prices) == "Prices(dear, any model)"


def test_sources_are_laid_over_each_other() -> None:
    prices = Prices.listed() | Prices({"kimi-k3": {"input": "2.5", "output": 12}})

    assert prices["kimi-k3"].input == Decimal("2.5")
    assert prices["kimi-k3.1-pro"].cache_write_1h == 4


def test_the_listed_prices_know_two_models_and_guess_no_third() -> None:
    assert set(Prices.listed()) == {"kimi-k3.1-pro", "kimi-k3"}


@pytest.mark.parametrize(
    "amounts",
    [
        {"input": -1, "output": 1},
        {"input": "two", "output": 1},
        {"input": True, "output": 1},
        {"input": "NaN", "output": 1},
        {"input": "Infinity", "output": 1},
        {"input": 1},
        {"output": 1},
        {"input": 1, "output": 1, "writes": 3},
    ],
)
def test_what_is_no_price_is_refused(amounts: dict[str, object]) -> None:
    with pytest.raises(PriceError):
        Prices(**amounts)  # type: ignore[arg-type]


def test_prices_come_from_files(tmp_path: Path) -> None:
    toml = tmp_path / "prices.toml"
    toml.write_text('["some/model-1.5"]\ninput = "0.15"\noutput = 0.6\ncache_read = 0.015\n')
    json = tmp_path / "prices.json"
    json.write_text('{"some/model-1.5": {"input": 0.15, "output": 0.6, "cache_read": 0.015}}')

    assert Prices.read(toml)["some/model-1.5"] == Prices.read(str(json))["some/model-1.5"]
    assert Prices.read(toml)["some/model-1.5"].as_dict() == {
        "input": "0.15",
        "output": "0.6",
        "cache_read": "0.015",
    }


@pytest.mark.parametrize(
    "text", ["", "[]", '{"m": 3}', '{"m": {"input": 1}}', '{"m": {"input": 1, "output": "x"}}']
)
def test_a_bad_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "prices.json"
    path.write_text(text)

    with pytest.raises(PriceError, match=r"prices\.json"):
        Prices.read(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PriceError, match=r"nowhere\.toml"):
        Prices.read(tmp_path / "nowhere.toml")


def test_without_the_extra_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices.data_snapshot", None)

    with pytest.raises(MissingExtraError, match="genai-prices"):
        Prices.genai("kimi-k3")


def test_with_the_extra_flat_prices_are_taken_and_tiers_left_out() -> None:
    pytest.importorskip("genai_prices")
    prices = Prices.genai("kimi-k3", "claude-sonnet-4-5", "no-such-model-anywhere")

    assert list(prices) == ["kimi-k3"]
    assert prices["kimi-k3"].output > prices["kimi-k3"].input > 0
