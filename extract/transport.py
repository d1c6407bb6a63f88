"""Bytes out, bytes in: the one seam to the network, and httpx behind it.

Each connection has a transport of its own: the cost of a request in a shared httpx pool grows with
the square of its connections, so a pool is never larger than one. Connections that are free are
taken last in, first out. Knows nothing of models, keys, faults or retries.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Generic, Protocol, TypeVar
from urllib.request import getproxies, proxy_bypass

import httpx

from extract.addresses import is_loopback
from extract.errors import ConfigError

KEEP_ALIVE = 60.0  # seconds that an idle connection is kept; gateways close theirs after 60 to 100
PROBE_AFTER, PROBE_EVERY = 60, 30  # seconds until, and between, probes of a silent connection

Headers = Sequence[tuple[str, str]]
_MANY_HEADS = 64
Head = TypeVar("Head")


class Broken(Exception):  # noqa: N818 - not an error of ours: it becomes a fault
    """The exchange ended without an answer.

    kind: a word of the fault table's `broken` rows. sent: the whole request had gone out.
    """

    def __init__(self, kind: str, detail: str, *, sent: bool) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.sent = sent


class Answer(Protocol):
    """A reply whose head has come. headers: by lower-case name."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes. Raises Broken.

        An answer may also have `async read() -> bytes`, the whole body at once.
        """
        ...


async def join_all(answer: Answer) -> bytes:
    """The whole body of an answer that has no `read`. Raises Broken."""
    return b"".join([chunk async for chunk in answer.chunks()])


class Transport(Protocol):
    """What the client needs of a network."""

    def post(
        self, url: str, headers: Headers, body: bytes, *, progress: Progress
    ) -> AbstractAsyncContextManager[Answer]:
        """One exchange. Raises Broken on entry; never follows a redirect, never asks twice."""
        ...

    async def aclose(self) -> None:
        """Closes what is open."""
        ...


@dataclass(slots=True)
class Progress:
    """How far an exchange came, for whoever has to tell after a time-out. sent: nothing is left to send."""

    sent: bool = False


TransportFactory = Callable[[int], Transport]


class Heads(Generic[Head]):
    """Headers as a library takes them, made once for each list that comes again and again."""

    def __init__(self, make: Callable[[Headers], Head]) -> None:
        self._make = make
        self._made: dict[int, tuple[Headers, Head]] = {}

    def of(self, headers: Headers) -> Head:
        known = self._made.get(id(headers))
        if known is None or known[0] is not headers:
            if len(self._made) >= _MANY_HEADS:
                self._made.clear()
            known = self._made[id(headers)] = (headers, self._make(headers))
        return known[1]


@dataclass(slots=True)
class _Slot:
    """One connection. used: requests that it carried."""

    transport: httpx.AsyncHTTPTransport
    used: int = 0


@dataclass(slots=True)
class HttpxTransport:
    """httpx, one connection a transport.

    keep: most idle connections that are kept. connect_timeout: seconds.
    proxy: an address, or None to go by the environment (never for loopback).
    """

    keep: int
    connect_timeout: float = 10.0
    proxy: str | None = None
    _free: dict[str, list[_Slot]] = field(default_factory=dict)
    _contexts: dict[str, ssl.SSLContext] = field(default_factory=dict)
    _urls: dict[str, httpx.URL] = field(default_factory=dict)
    _heads: Heads[httpx.Headers] = field(default_factory=lambda: Heads(httpx.Headers))
    _closed: bool = False

    def post(self, url: str, headers: Headers, body: bytes, *, progress: Progress) -> _HttpxExchange:
        """One exchange over a free connection, or a new one."""
        return _HttpxExchange(self, url, headers, body, progress)

    def prepare(self, address: str) -> None:
        """Opens what an address needs, short of connecting. Raises ConfigError for a proxy that cannot be."""
        origin = origin_of(address)
        try:
            self._free.setdefault(origin, []).append(_Slot(self._open(origin)))
        except (ImportError, ValueError, httpx.InvalidURL) as error:
            raise ConfigError(
                f"the proxy for {origin} cannot be used: {error}: check HTTPS_PROXY, ALL_PROXY or proxy="
            ) from None

    async def aclose(self) -> None:
        """Closes the idle connections; those in use close when their exchange ends."""
        self._closed = True
        slots = [slot for free in self._free.values() for slot in free]
        self._free.clear()
        for slot in slots:
            await slot.transport.aclose()

    async def send(
        self, slot: _Slot, url: str, headers: Headers, body: bytes, progress: Progress
    ) -> _HttpxAnswer:
        """Sends over this connection. Raises Broken."""
        request = httpx.Request(
            "POST",
            self._url(url),
            headers=self._heads.of(headers),
            stream=_Body(body, progress),
            extensions={"timeout": {"connect": self.connect_timeout}},
        )
        request.headers["content-length"] = str(len(body))
        slot.used += 1
        try:
            return _HttpxAnswer(await slot.transport.handle_async_request(request))
        except httpx.TransportError as error:
            raise _broken(error, sent=progress.sent, reused=slot.used > 1) from None

    def _url(self, url: str) -> httpx.URL:
        """The address as httpx takes it, parsed once."""
        if url not in self._urls:
            self._urls[url] = httpx.URL(url)
        return self._urls[url]

    def take(self, origin: str) -> _Slot:
        """A connection that is free, or a new one."""
        free = self._free.get(origin)
        return free.pop() if free else _Slot(self._open(origin))

    async def give_back(self, origin: str, slot: _Slot, *, whole: bool) -> None:
        """Keeps a connection for the next exchange if it can be used again, and closes it otherwise."""
        free = self._free.setdefault(origin, [])
        if whole and not self._closed and len(free) < self.keep:
            free.append(slot)
        else:
            await slot.transport.aclose()

    def _open(self, origin: str) -> httpx.AsyncHTTPTransport:
        return httpx.AsyncHTTPTransport(
            verify=self._context(origin),
            limits=httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=KEEP_ALIVE),
            proxy=self.proxy or environment_proxy(origin),
            socket_options=keep_alive_options(),
        )

    def _context(self, origin: str) -> ssl.SSLContext:
        """One a scheme for all connections: reading the authorities takes longer than a request."""
        scheme = origin.partition(":")[0]
        if scheme not in self._contexts:
            # a plain address needs no authorities; an empty context trusts nobody
            tls = scheme == "https"
            self._contexts[scheme] = (
                httpx.create_ssl_context() if tls else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            )
        return self._contexts[scheme]


class _HttpxExchange:
    """One request on its way over a connection of its own, and its answer."""

    __slots__ = ("_answer", "_asked", "_origin", "_slot", "_transport")

    def __init__(
        self, transport: HttpxTransport, url: str, headers: Headers, body: bytes, progress: Progress
    ) -> None:
        self._transport = transport
        self._origin = origin_of(url)
        self._asked = (url, headers, body, progress)

    async def __aenter__(self) -> _HttpxAnswer:
        self._slot = self._transport.take(self._origin)
        try:
            self._answer = await self._transport.send(self._slot, *self._asked)
        except BaseException:
            await self._transport.give_back(self._origin, self._slot, whole=False)
            raise
        return self._answer

    async def __aexit__(self, kind: object, *raised: object) -> None:
        whole = kind is None and self._answer.whole
        try:
            if not whole:
                await self._answer.aclose()
        finally:
            await self._transport.give_back(self._origin, self._slot, whole=whole)


class _Body(httpx.AsyncByteStream):
    """The request's bytes; notes when they have gone out, since only then can a reply be owed."""

    def __init__(self, body: bytes, progress: Progress) -> None:
        self._body = body
        self._progress = progress

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield self._body
        self._progress.sent = True


class _HttpxAnswer:
    """An answer of httpx. whole: its body was read to the end, so the connection can be used again."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response
        self.status = response.status_code
        self.headers = headers_of(response.headers.raw)
        self.whole = False

    async def read(self) -> bytes:
        """The whole body; what is not compressed is not passed through the layers that undo it."""
        if self.headers.get("content-encoding", "identity") != "identity":
            return b"".join([chunk async for chunk in self.chunks()])
        stream = self._response.stream
        assert isinstance(stream, httpx.AsyncByteStream)
        try:
            body = b"".join([chunk async for chunk in stream])
            await stream.aclose()
        except httpx.TransportError as error:
            raise Broken("torn", _said(error), sent=True) from None
        self.whole = True
        return body

    async def chunks(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._response.aiter_bytes():
                yield chunk
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise Broken("torn", _said(error), sent=True) from None
        self.whole = True

    async def aclose(self) -> None:
        await self._response.aclose()


def headers_of(raw: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    """By lower-case name; what stands several times is joined, as HTTP says."""
    headers: dict[str, str] = {}
    for name, value in raw:
        key, text = _lower(name), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


@lru_cache(256)  # the same few come with every reply
def _lower(name: bytes) -> str:
    return name.decode("latin-1").lower()


# in the handshake: what waiting does not mend, unlike a connection that broke in it
UNTRUSTED = ("CERTIFICATE_VERIFY_FAILED", "WRONG_VERSION_NUMBER")


def _broken(error: httpx.TransportError, *, sent: bool, reused: bool) -> Broken:
    if isinstance(error, httpx.ProxyError):
        return Broken("proxy", _said(error), sent=False)
    if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
        kind = "tls" if any(word in str(error) for word in UNTRUSTED) else "connect"
        return Broken(kind, _said(error), sent=False)
    # an idle connection that the server closed while the request was on its way
    kind = "stale" if reused and not isinstance(error, httpx.TimeoutException) else "reset"
    return Broken(kind, _said(error), sent=sent)


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".removesuffix(": ")


def origin_of(url: str) -> str:
    """Scheme, host and port of an address."""
    return "/".join(url.split("/", 3)[:3])


def environment_proxy(origin: str) -> str | None:
    """The proxy that HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY name for an address, if any."""
    scheme, _, rest = origin.partition("://")
    if is_loopback(origin) or proxy_bypass(rest):
        return None
    proxies = getproxies()
    return proxies.get(scheme) or proxies.get("all")


def keep_alive_options() -> list[tuple[int, int, int]]:
    """A reply can take minutes in which nothing moves: routers forget such connections without these."""
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, value in (("TCP_KEEPIDLE", PROBE_AFTER), ("TCP_KEEPINTVL", PROBE_EVERY)):
        number = getattr(socket, name, None)
        if number is not None:
            options.append((socket.IPPROTO_TCP, number, value))
    return options
