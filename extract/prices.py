"""What tokens cost: prices as data, and usage times price.

Knows nothing of requests, budgets or where a price was found. An unknown price gives no cost: it is
never guessed, and no price is used that the user did not ask for.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from importlib import import_module
from pathlib import Path
from typing import Any

from extract.errors import MissingExtraError, PriceError
from extract.protocol.usage import Usage

Amount = Decimal | int | float | str
_MILLION = Decimal(1_000_000)
_ZERO = Decimal(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """USD per million tokens of one model, by category; None where it is not known.

    web_search: USD per server-side search.
    """

    input: Decimal
    output: Decimal
    cache_read: Decimal | None = None
    cache_write_5m: Decimal | None = None
    cache_write_1h: Decimal | None = None
    web_search: Decimal | None = None

    @classmethod
    def of(cls, **amounts: Amount | None) -> Price:
        """A price from numbers or their text; raises PriceError for what is no amount of money."""
        known = {f.name for f in fields(cls)}
        if strange := sorted(set(amounts) - known):
            raise PriceError(f"a price has no {', '.join(strange)}: use {', '.join(sorted(known))}")
        if missing := [name for name in ("input", "output") if amounts.get(name) is None]:
            raise PriceError(f"a price needs {' and '.join(missing)}, in USD per million tokens")
        return cls(**{name: _amount(name, value) for name, value in amounts.items() if value is not None})

    def cost(self, usage: Usage) -> Decimal | None:
        """USD of this usage; None when the usage, or the price of a category in it, is not known."""
        if usage.input is None or usage.output is None:
            return None
        prices = (self.input, self.cache_write_5m, self.cache_write_1h, self.cache_read, self.output)
        total = _ZERO
        for count, price in zip(usage, prices, strict=False):  # the first five of a usage, in its order
            if count:
                if price is None:
                    return None
                total += count * price / _MILLION
        if usage.web_searches:
            return None if self.web_search is None else total + usage.web_searches * self.web_search
        return total

    def cost_uncached(self, usage: Usage) -> Decimal | None:
        """What the same tokens would have cost with no cache at all; None as for `cost`."""
        plain = Usage(input=usage.total_input, output=usage.output, web_searches=usage.web_searches)
        return self.cost(plain) if usage.input is not None else None

    def write(self, ttl: str | None) -> Decimal:
        """The price of input that is written to the cache for so long; of plain input where unknown."""
        written = {"1h": self.cache_write_1h, "5m": self.cache_write_5m}.get(ttl or "")
        return self.input if written is None else written

    def as_dict(self) -> dict[str, str]:
        """The known amounts as text, for the store and for JSON."""
        amounts = ((f.name, getattr(self, f.name)) for f in fields(self))
        return {name: str(amount) for name, amount in amounts if amount is not None}


class Prices(Mapping[str, Price]):
    """Prices by model id, in USD per million tokens.

    `Prices(input=2, output=10, cache_read="0.2")` is one price for whatever model is used;
    `Prices({"kimi-k3.1-pro": {"input": 2, "output": 10}})` tells models apart; both together: the
    amounts are for models that are not named. `Prices.listed()`, `Prices.read(path)` and
    `Prices.genai()` are other sources. A model that is not found has no price.
    """

    def __init__(
        self,
        models: Mapping[str, Price | Mapping[str, Amount | None]] | None = None,
        **amounts: Amount | None,
    ) -> None:
        self._models = {name: _price(name, price) for name, price in (models or {}).items()}
        self._any = Price.of(**amounts) if amounts else None

    def __getitem__(self, model: str) -> Price:
        return self._models[model]

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)

    def __or__(self, other: Prices) -> Prices:
        """Both; where both know a model, the right one stands."""
        both = Prices(self._models | other._models)
        both._any = other._any or self._any
        return both

    def __repr__(self) -> str:
        names = [*self._models, *(["any model"] if self._any else [])]
        return f"Prices({', '.join(names) or 'none'})"

    def find(self, model: str) -> Price | None:
        """The price of a model, or None."""
        return self._models.get(model, self._any)

    @classmethod
    def listed(cls) -> Prices:
        """Prices as listed publicly in November 2026, unverified: your account may have others.

        They are used when you ask for them, never by themselves.
        """
        return cls(_LISTED)

    @classmethod
    def read(cls, path: str | Path) -> Prices:
        """Prices from a .json or .toml file: a table a model, with the names of `Price` as keys.

        Raises PriceError that names the file and the model.
        """
        path = Path(path)
        try:
            raw = _parse(path)
        except (OSError, ValueError) as error:
            raise PriceError(f"{path}: cannot be read as prices: {error}") from error
        if not isinstance(raw, dict):
            raise PriceError(f"{path}: must be a table of models, each with input, output, …")
        try:
            return cls(raw)
        except PriceError as error:
            raise PriceError(f"{path}: {error}") from error

    @classmethod
    def genai(cls, *models: str, provider: str | None = None) -> Prices:
        """Prices of these models from the data in the package `genai-prices` (extra `prices`).

        A model that it does not know, or prices in tiers, is left out. Raises
        MissingExtraError when the package is not installed.
        """
        found = {name: _genai_price(name, provider) for name in models}
        return cls({name: price for name, price in found.items() if price is not None})


def prices_for(model: str, prices: Prices | None) -> Price | None:
    """The price of a model in what the user gave; None gives token figures alone."""
    return None if prices is None else prices.find(model)


_LISTED: dict[str, dict[str, Amount | None]] = {
    "kimi-k3.1-pro": {
        "input": "2",
        "output": "10",
        "cache_read": "0.2",
        "cache_write_5m": "2",
        "cache_write_1h": "4",
    },
    "kimi-k3": {
        "input": "3",
        "output": "15",
        "cache_read": "0.3",
        "cache_write_5m": "3",
        "cache_write_1h": "6",
    },
}


_GENAI = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write_5m": "cache_write_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
}


def _amount(name: str, value: Any) -> Decimal:
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        raise PriceError(f"{name}={value!r} is no amount in USD") from None
    if isinstance(value, bool) or not amount.is_finite() or amount < 0:
        raise PriceError(f"{name}={value!r} must be an amount in USD, zero or more")
    return amount


def _price(model: str, price: Any) -> Price:
    if isinstance(price, Price):
        return price
    if not isinstance(price, Mapping):
        raise PriceError(f"{model}: must be a table with input, output, …, not {price!r}")
    try:
        return Price.of(**price)
    except PriceError as error:
        raise PriceError(f"{model}: {error}") from error


def _parse(path: Path) -> Any:
    text = path.read_text("utf-8")
    return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text, parse_float=Decimal)


def _genai_price(model: str, provider: str | None) -> Price | None:
    try:
        data = import_module("genai_prices.data_snapshot")
    except ImportError:
        raise MissingExtraError("genai-prices", "prices", "Prices.genai") from None
    try:
        found = data.get_snapshot().find_provider_model(model, None, provider, None)[1]
    except LookupError:
        return None
    listed = found.get_prices(datetime.now(UTC))
    amounts = {ours: getattr(listed, theirs, None) for ours, theirs in _GENAI.items()}
    searches = getattr(listed, "web_searches_kcount", None)
    flat = all(isinstance(value, Decimal | None) for value in (*amounts.values(), searches))
    if not flat or amounts["input"] is None or amounts["output"] is None:
        return None  # prices in tiers by length: one figure would be wrong for some rows
    return Price.of(**amounts, web_search=None if searches is None else searches / 1_000)
