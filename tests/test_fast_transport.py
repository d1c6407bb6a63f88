"""The extra `fast` in httpx's place: what is tested of the one holds for the other."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable
from types import ModuleType

import pytest

from extract import Client
from extract.errors import ConfigError, MissingExtraError
from tests import test_client, test_client_stream, test_transport
from tests.wire_server import plain

pytest.importorskip("httptools")


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXTRACT_TRANSPORT", "fast")


def holding_for_both(module: ModuleType) -> list[Callable[[], None]]:
    """Tests that need nothing given."""
    found = [value for name, value in vars(module).items() if name.startswith("test_")]
    return [test for test in found if not inspect.signature(test).parameters]


@pytest.mark.parametrize(
    "test",
    [
        pytest.param(test, id=test.__name__)
        for module in (test_client, test_client_stream, test_transport)
        for test in holding_for_both(module)
    ],
)
def test_what_holds_for_httpx(test: Callable[[], None]) -> None:
    test()


def test_headers_that_come_twice_are_lower_case() -> None:
    call = test_client.once(plain(429, {"error": {"message": "slow"}}, {"Retry-After": "3"}))
    assert call.limits == {"retry-after": "3"}


def test_a_proxy_of_a_kind_that_cannot_be() -> None:
    async def run() -> None:
        async with Client("https://x.example", api_key="k", proxy="gopher://127.0.0.1:1").connect():
            pass

    with pytest.raises(ConfigError, match="proxy"):
        asyncio.run(run())


def test_a_name_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXTRACT_TRANSPORT", "carrier-pigeon")

    async def run() -> None:
        async with Client("http://127.0.0.1:1").connect():
            pass

    with pytest.raises(ConfigError, match="EXTRACT_TRANSPORT"):
        asyncio.run(run())


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "extract.fast_connection", None)

    async def run() -> None:
        async with Client("http://127.0.0.1:1", transport="fast").connect():
            pass

    with pytest.raises(MissingExtraError, match=r"extract-pipelines\[fast\]"):
        asyncio.run(run())
