"""What a run may spend: reserve before a request, settle after it.

Knows nothing of time, of sockets or of what a request asks for. A reservation is an upper estimate:
its input, and as output twice the 99th percentile of what was seen, at most `max_tokens`.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from decimal import Decimal

from extract.errors import ConfigError, PriceError
from extract.prices import Price
from extract.protocol.usage import Usage

_LEARN_FROM = 20
_REMEMBER = 2_000
_MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits of one run; what is None is not limited.

    usd: dollars; needs a price.
    tokens: tokens of all five categories.
    requests: requests that the service worked on; one that it turned away (429, 529) or failed without
        billing it (5xx) is none.

    Raises ConfigError for a limit that is not above zero.
    """

    usd: Decimal | float | str | None = None
    tokens: int | None = None
    requests: int | None = None

    def __post_init__(self) -> None:
        if self.usd is not None:
            object.__setattr__(self, "usd", Decimal(str(self.usd)))
        for name in ("usd", "tokens", "requests"):
            limit = getattr(self, name)
            if limit is not None and not limit > 0:
                raise ConfigError(f"Budget({name}={limit}): a budget must be above zero")

    @property
    def limited(self) -> bool:
        """Whether there is any limit."""
        return (self.usd, self.tokens, self.requests) != (None, None, None)


@dataclass(frozen=True, slots=True)
class Spent:
    """An amount in all three currencies."""

    usd: Decimal = Decimal(0)
    tokens: int = 0
    requests: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.usd + other.usd, self.tokens + other.tokens, self.requests + other.requests)

    def __sub__(self, other: Spent) -> Spent:
        return Spent(self.usd - other.usd, self.tokens - other.tokens, self.requests - other.requests)


_NOTHING = Spent()


@dataclass(slots=True, eq=False)
class Reservation:
    """What one request in flight holds of the budget."""

    amount: Spent
    input_estimate: int


_FREE = Reservation(_NOTHING, 0)  # what each request holds where there is no limit


class Purse:
    """The money of one run: what is spent, what is reserved, what may still fly.

    price: of the run's model; None when unknown. Raises PriceError for a budget in dollars then.
    spent: what earlier runs on the same budget paid.
    """

    def __init__(self, budget: Budget | None, price: Price | None, *, spent: Spent | None = None) -> None:
        self._budget = budget or Budget()
        self._limited = self._budget.limited
        self._price = price
        if self._budget.usd is not None and price is None:
            raise PriceError(
                "a budget in USD needs the price of the model: give prices=Prices(input=…, output=…) with "
                "your prices, Prices.listed() for the public ones, or a budget in tokens or requests"
            )
        self.spent = spent or Spent()
        self.reserved = Spent()
        self.in_flight = 0
        self.unpriced = 0  # requests whose usage or price was not known and that count as reserved
        self._outputs = Percentile()
        self._input_ratio = Percentile()

    @property
    def exhausted(self) -> bool:
        """Nothing is in flight and nothing more may be sent: the run ends with rows pending."""
        return self.in_flight == 0 and not self._left(self.spent)

    def reserve(
        self, input_tokens: int, max_tokens: int, *, ttl: str | None = None, web_searches: int = 0
    ) -> Reservation | None:
        """Holds the upper estimate of one request; None when it must wait for others to settle.

        input_tokens: estimate of the whole input. max_tokens: bound of the output.
        ttl: cache lifetime that the request asks for. web_searches: the most that it may do.
        """
        if not self._limited:
            self.in_flight += 1
            return _FREE
        amount = self._estimate(input_tokens, max_tokens, ttl, web_searches)
        held = self.spent + self.reserved
        alone = self.in_flight == 0 and self._left(self.spent)
        if not alone and not self._covers(held + amount):
            return None
        self.reserved += amount
        self.in_flight += 1
        return Reservation(amount, input_tokens)

    def settle(self, reservation: Reservation, usage: Usage | None) -> Spent:
        """Puts what was used in the place of what was held, and returns it.

        usage: None when nothing was billed (turned away, never sent); an unknown usage, or one
            without a price, counts as reserved. Without a limit nothing is counted.
        """
        self.in_flight -= 1
        if not self._limited:
            if usage is not None and usage.output is not None:
                self._outputs.add(usage.output)
            return _NOTHING
        self.reserved -= reservation.amount
        paid = _NOTHING if usage is None else self._paid(reservation, usage)
        self.spent += paid
        return paid

    def likely_output(self, max_tokens: int) -> float:
        """Output tokens that a request will hardly exceed: the 99th percentile seen, or `max_tokens`."""
        seen = self._outputs.value
        return max_tokens if seen is None else min(max_tokens, seen)

    def _paid(self, reservation: Reservation, usage: Usage) -> Spent:
        held = reservation.amount
        tokens = _sum(usage.total_input, usage.output)
        cost = self._price.cost(usage) if self._price else Decimal(0)
        if tokens is None or cost is None:
            self.unpriced += 1
        else:
            self._learn(reservation, usage)
        return Spent(held.usd if cost is None else cost, held.tokens if tokens is None else tokens, 1)

    def _learn(self, reservation: Reservation, usage: Usage) -> None:
        self._outputs.add(usage.output or 0)
        if reservation.input_estimate > 0:
            self._input_ratio.add((usage.total_input or 0) / reservation.input_estimate)

    def _estimate(self, input_tokens: int, max_tokens: int, ttl: str | None, web_searches: int) -> Spent:
        seen = self._outputs.value
        output = max_tokens if seen is None else min(max_tokens, math.ceil(2 * seen))
        ratio = self._input_ratio.value
        entered = input_tokens if ratio is None else math.ceil(input_tokens * min(max(ratio, 0.25), 4.0))
        return Spent(self._cost(entered, output, ttl, web_searches), entered + output, 1)

    def _cost(self, entered: int, output: int, ttl: str | None, web_searches: int) -> Decimal:
        if self._price is None:
            return Decimal(0)
        dearest = max(self._price.input, self._price.write(ttl))
        searches = web_searches * (self._price.web_search or Decimal(0))
        return (entered * dearest + output * self._price.output) / _MILLION + searches

    def _covers(self, held: Spent) -> bool:
        pairs = self._pairs(held)
        return all(limit is None or amount <= limit for amount, limit in pairs)

    def _left(self, spent: Spent) -> bool:
        return all(limit is None or amount < limit for amount, limit in self._pairs(spent))

    def _pairs(self, spent: Spent) -> tuple[tuple[Decimal | int, Decimal | int | None], ...]:
        budget = self._budget
        usd = None if budget.usd is None else Decimal(budget.usd)
        return (spent.usd, usd), (spent.tokens, budget.tokens), (spent.requests, budget.requests)


class Percentile:
    """The 99th percentile of the last two thousand values; None until there are enough to say.

    Found anew when a twentieth of the values is new: sorting them for each costs more than it tells.
    """

    def __init__(self) -> None:
        self._last: deque[float] = deque(maxlen=_REMEMBER)
        self._new = 0
        self._found: float | None = None

    @property
    def value(self) -> float | None:
        """By nearest rank."""
        count = len(self._last)
        if count >= _LEARN_FROM and (self._found is None or self._new * 20 >= count):
            self._found = sorted(self._last)[math.ceil(0.99 * count) - 1]
            self._new = 0
        return self._found

    def add(self, value: float) -> None:
        """One more."""
        self._last.append(value)
        self._new += 1


def _sum(left: int | None, right: int | None) -> int | None:
    return None if left is None or right is None else left + right
