"""Which service a command's requests go to: the pipeline's own, another address, or this machine."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation

import typer

from extract.budget import Budget
from extract.client import Client
from extract.errors import ConfigError
from extract.pipeline import Pipeline
from extract.prices import Prices
from extract.testing.endpoint import WHAT_IT_IS, Knobs, LocalEndpoint


@dataclass(frozen=True, slots=True)
class Service:
    """What the command line says of it.

    knobs: of the local endpoint, for offline. budget: dollars. prices: a file of them, or "listed".
    """

    base_url: str | None = None
    offline: bool = False
    knobs: str | None = None
    budget: str | None = None
    prices: str | None = None

    @contextlib.contextmanager
    def ready(self, pipeline: Pipeline) -> Iterator[Pipeline]:
        """The pipeline with that service, for as long as the block lasts.

        Raises ConfigError for options that contradict each other, PriceError for prices that cannot be read.
        """
        if self.prices is not None:
            pipeline = pipeline.using(prices=_prices(self.prices))
        if self.budget is not None:
            pipeline = pipeline.using(budget=Budget(usd=dollars(self.budget, "--budget")))
        if self.offline:
            with self._local(pipeline) as local:
                yield local
            return
        if self.knobs is not None:
            raise ConfigError("--endpoint turns the knobs of the local endpoint: give --offline too")
        yield _elsewhere(pipeline, self.base_url) if self.base_url else pipeline

    @contextlib.contextmanager
    def _local(self, pipeline: Pipeline) -> Iterator[Pipeline]:
        if self.base_url is not None:
            raise ConfigError("--offline answers from this machine: leave out --base-url")
        with LocalEndpoint(Knobs.parse(self.knobs)) as endpoint:
            typer.echo(f"extract: offline, {endpoint.base_url} is {WHAT_IT_IS}", err=True)
            yield pipeline.using(
                client=Client(endpoint.base_url, api_key=endpoint.api_key, wire=pipeline.wire)
            )


def _elsewhere(pipeline: Pipeline, base_url: str) -> Pipeline:
    if pipeline.client is None:
        return pipeline.using(client=Client(base_url))
    return pipeline.using(client=replace(pipeline.client, base_url=base_url, fallback_url=None))


def _prices(text: str) -> Prices:
    return Prices.listed() if text == "listed" else Prices.read(text)


def dollars(text: str, option: str) -> Decimal:
    """The amount that an option was given. Raises ConfigError for what is none."""
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount < 0:
        raise ConfigError(f"{option} {text}: an amount in dollars, as 2.50")
    return amount
