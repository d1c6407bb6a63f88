"""One request, one call: key, headers, time-outs, streams and the fallback address.

`Client` is configuration and can be used in any number of event loops; `client.connect()` opens a
`Line` in one of them, which sends. Nothing is asked twice here: what a fault asks for is done by
whoever holds the rows. Knows nothing of rows, models' answers or prices.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Literal

from extract.addresses import (
    DEFAULT_BASE_URL,
    Secret,
    check_plain,
    fallback_of,
    is_anthropic,
    key_headers,
    read_address,
    read_key,
    scrub,
)
from extract.clock import Clock, SystemClock
from extract.deadlines import Deadlines
from extract.errors import ConfigError
from extract.exchange import Call, Exchange, Patience
from extract.fast_transport import FastTransport
from extract.protocol.models import Wire
from extract.protocol.reply import Fault, Reply
from extract.protocol.request import Request
from extract.protocol.route import Route
from extract.transport import Answer, Broken, HttpxTransport, Progress, Transport, TransportFactory

__all__ = ["Call", "Client", "Line", "Streaming"]

Streaming = Literal["auto", "always", "never"]
Carrier = Literal["httpx", "fast"]

# A plain reply shows no life until it is whole. At 30 to 50 tokens a second, the slow end of what
# models do, 16k tokens take 5 to 9 minutes: near the default time-out, and longer than many
# gateways keep a silent connection. Shorter ones come plain: a stream costs about twice the work.
STREAM_ABOVE = 16_384
_LONG_EFFORT = "max"

_STORM_STATUS = frozenset({500, 502, 503, 504})


@dataclass(frozen=True)
class Client:
    """Where requests go, and how. Raises ConfigError for an address or a key that cannot be.

    base_url: the address without /v1; default EXTRACT_BASE_URL, then the service's own.
    api_key: default EXTRACT_API_KEY. Shown nowhere.
    fallback_url: used while the base address cannot be reached or answers 5xx alone. Default: the
        service's own fallback for the service's own address, EXTRACT_FALLBACK_URL where the base
        address was not written here, none otherwise; "" for none.
    wire: "messages", or "chat" for chat completions.
    stream: "auto" streams replies that can be long, "always", "never".
    timeout: seconds for a plain reply; for a stream, seconds without a step forward.
    connect_timeout: seconds to reach the address. idle_timeout: seconds of a stream without a byte.
    deadline: seconds for one try in all, streamed ones too.
    proxy: an address; default is what HTTPS_PROXY and NO_PROXY say (never for loopback).
    insecure: "allow" lets a key go over http:// to another machine.
    transport: what carries the bytes: "httpx", "fast" (the extra `fast`), or what makes a transport,
        once a connection, from the number of requests at a time. Default EXTRACT_TRANSPORT, then "httpx".
    """

    base_url: str | None = None
    api_key: str | Secret | None = field(default=None, kw_only=True)
    fallback_url: str | None = field(default=None, kw_only=True)
    wire: Wire = field(default="messages", kw_only=True)
    stream: Streaming = field(default="auto", kw_only=True)
    timeout: float = field(default=600.0, kw_only=True)
    connect_timeout: float = field(default=10.0, kw_only=True)
    idle_timeout: float = field(default=120.0, kw_only=True)
    deadline: float = field(default=3_600.0, kw_only=True)
    proxy: str | None = field(default=None, kw_only=True, repr=False)
    insecure: Literal["allow"] | None = field(default=None, kw_only=True)
    transport: Carrier | TransportFactory | None = field(default=None, kw_only=True, repr=False)

    def __post_init__(self) -> None:
        chosen_here = self.base_url is not None
        asked = self.base_url or os.environ.get("EXTRACT_BASE_URL") or DEFAULT_BASE_URL
        base = read_address(asked, "base_url" if chosen_here else "EXTRACT_BASE_URL")
        given = self.api_key.reveal() if isinstance(self.api_key, Secret) else self.api_key
        key = read_key(given if given is not None else os.environ.get("EXTRACT_API_KEY"))
        fallback = fallback_of(base, self.fallback_url, os.environ, chosen_here=chosen_here)
        check_plain(base, "base_url", key=key, insecure=self.insecure)
        if fallback:
            check_plain(fallback, "fallback_url", key=key, insecure=self.insecure)
        _check_choices(self)
        if fallback is None and self.fallback_url is not None:
            fallback = ""  # turned off, and so it stays when the client is copied with changes
        for name, value in (("base_url", base), ("api_key", key), ("fallback_url", fallback)):
            object.__setattr__(self, name, value)

    @property
    def address(self) -> str:
        """The base address, as it is used."""
        return str(self.base_url)

    @property
    def key(self) -> Secret | None:
        """The key, wrapped."""
        return self.api_key if isinstance(self.api_key, Secret) else None

    @property
    def is_anthropic(self) -> bool:
        """Whether requests go to Anthropic's own address, which wants its own headers and dialect."""
        return is_anthropic(self.address)

    def check(self) -> None:
        """Raises ConfigError where requests would certainly be refused for want of a key."""
        if self.key is None and (self.address == DEFAULT_BASE_URL or self.is_anthropic):
            raise ConfigError(
                f"{self.address} needs a key: set EXTRACT_API_KEY or api_key=, or try without one: --offline"
            )

    def streams(self, request: Request) -> bool:
        """Whether this request is asked for as a stream."""
        if self.stream != "auto":
            return self.stream == "always"
        return request.max_tokens > STREAM_ABOVE or request.envelope.effort == _LONG_EFFORT

    @asynccontextmanager
    async def connect(self, *, concurrency: int = 64, clock: Clock | None = None) -> AsyncIterator[Line]:
        """Opens what sends, in this event loop; closes its connections at the end.

        concurrency: requests that will fly at a time, at most. More are sent all the same.
        """
        self.check()
        chosen = self.transport or os.environ.get("EXTRACT_TRANSPORT") or "httpx"
        transport = self._carrier(chosen, concurrency) if isinstance(chosen, str) else chosen(concurrency)
        line = Line(self, transport, clock or SystemClock())
        try:
            yield line
        finally:
            line.close()
            await transport.aclose()

    def _carrier(self, name: str, concurrency: int) -> Transport:
        transport: HttpxTransport | FastTransport
        if name == "httpx":
            transport = HttpxTransport(concurrency, connect_timeout=self.connect_timeout, proxy=self.proxy)
        elif name == "fast":
            transport = FastTransport(concurrency, connect_timeout=self.connect_timeout, proxy=self.proxy)
        else:
            raise ConfigError(f"transport (EXTRACT_TRANSPORT) is 'httpx' or 'fast', not {name!r}")
        for address in filter(None, (self.base_url, self.fallback_url)):
            transport.prepare(address)
        return transport


def _check_choices(client: Client) -> None:
    if client.wire not in ("messages", "chat"):
        raise ConfigError(f"wire is 'messages' or 'chat', not {client.wire!r}")
    if client.stream not in ("auto", "always", "never"):
        raise ConfigError(f"stream is 'auto', 'always' or 'never', not {client.stream!r}")
    for name in ("timeout", "connect_timeout", "idle_timeout", "deadline"):
        value = getattr(client, name)
        if not value > 0:
            raise ConfigError(f"{name} is a number of seconds above zero, not {value!r}")


class Line:
    """Sends requests in one event loop. Made by `Client.connect`."""

    def __init__(self, client: Client, transport: Transport, clock: Clock) -> None:
        self._client = client
        self._transport = transport
        self._clock = clock
        self._deadlines = Deadlines()
        self._route = Route(client.address, client.fallback_url or None)
        self._heads: dict[tuple[str, bool], list[tuple[str, str]]] = {}
        self._patience = Patience(client.timeout, client.idle_timeout, client.deadline)

    @property
    def address(self) -> str:
        """The address that the next request goes to."""
        return self._route.leading

    async def send(self, request: Request, *, on_start: Callable[[], None] | None = None) -> Call:
        """Sends one request, once. Faults are values; only a cancellation is raised.

        on_start: called when the model begins to answer, where the reply is streamed.
        """
        address = self._route.choose(self._clock.now())
        exchange = Exchange(request, self._patience, self._clock, self._deadlines, on_start=on_start)
        posted = self._post(request, address, exchange.progress)
        try:
            with exchange.timer():
                async with posted as answer:
                    reply = await exchange.read(answer)
        except TimeoutError:
            reply = exchange.timed_out()
        except Broken as error:
            reply = exchange.broke(error)
        except asyncio.CancelledError:
            self._route.abandoned(address)
            raise
        call = exchange.call(self._scrubbed(reply), address)
        self._learn(call)
        return call

    def close(self) -> None:
        """Lets go of what is no connection."""
        self._deadlines.close()

    def _post(
        self, request: Request, address: str, progress: Progress
    ) -> AbstractAsyncContextManager[Answer]:
        streamed = self._client.streams(request)
        url, head = address + request.envelope.path, self._head(address, streamed=streamed)
        return self._transport.post(url, head, request.body(stream=streamed), progress=progress)

    def _head(self, address: str, *, streamed: bool) -> list[tuple[str, str]]:
        head = self._heads.get((address, streamed))
        if head is None:
            head = self._heads[address, streamed] = _head(address, self._client.key, streamed=streamed)
        return head

    def _learn(self, call: Call) -> None:
        reply = call.reply
        if call.status is None and isinstance(reply, Fault) and reply.kind == "connect":
            self._route.failed(call.address, self._clock.now(), connected=False)
        elif call.status in _STORM_STATUS:
            self._route.failed(call.address, self._clock.now(), connected=True)
        elif call.status is not None:
            self._route.answered(call.address)
        else:
            self._route.abandoned(call.address)

    def _scrubbed(self, reply: Reply) -> Reply:
        if not isinstance(reply, Fault) or not reply.message:
            return reply
        return replace(reply, message=scrub(reply.message, self._client.key))


def _head(address: str, key: Secret | None, *, streamed: bool) -> list[tuple[str, str]]:
    host = address.partition("://")[2].partition("/")[0]
    # a compressed stream is held back until a block is full
    accept = [("accept", "text/event-stream"), ("accept-encoding", "identity")]
    plain = [("accept", "application/json"), ("accept-encoding", "gzip, deflate")]
    fixed = [("host", host), ("content-type", "application/json"), ("user-agent", "extract-pipelines")]
    return [*fixed, *(accept if streamed else plain), *key_headers(address, key)]
