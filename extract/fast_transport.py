"""The extra `fast`: connections of our own over httptools, for `Client(transport="fast")`.

Idle connections are kept by origin and taken last in, first out. Trust, proxies and time-outs are those
of the default transport. Knows nothing of models, keys, faults or retries.
"""

from __future__ import annotations

import asyncio
import ssl
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING

import httpx

from extract.errors import ConfigError, MissingExtraError
from extract.transport import UNTRUSTED, Broken, Headers, Heads, Progress, environment_proxy, origin_of

if TYPE_CHECKING:
    from extract.fast_connection import Connection, Incoming, Shared

_NEXT_FAMILY = 0.25  # seconds until a name's next address is tried beside the first


@dataclass(slots=True)
class FastTransport:
    """httptools over asyncio.

    keep: most idle connections to an origin that are kept. connect_timeout: seconds until a connection
        stands, with its tunnel and its TLS.
    proxy: an address, or None to go by the environment (never for loopback).
    """

    keep: int
    connect_timeout: float = 10.0
    proxy: str | None = None
    _origins: dict[str, _Origin] = field(default_factory=dict)
    _addresses: dict[str, _Address] = field(default_factory=dict)
    _shared: Shared | None = None
    _trust: ssl.SSLContext | None = None
    _closed: bool = False

    def post(self, url: str, headers: Headers, body: bytes, *, progress: Progress) -> _Exchange:
        """One exchange over a free connection, or a new one."""
        address = self._addresses.get(url) or self._address(url)
        head = b"%b%d\r\n\r\n" % (address.heads.of(headers), len(body))
        return _Exchange(self, address.origin, (head, body), progress)

    def prepare(self, address: str) -> None:
        """Opens what an address needs, short of connecting. Raises ConfigError for a proxy that cannot be."""
        _library()
        self._origin(origin_of(address))

    async def aclose(self) -> None:
        """Closes the idle connections; those in use close when their exchange ends."""
        self._closed = True
        for origin in self._origins.values():
            while origin.free:
                origin.free.pop().abort()

    async def connect(self, origin: _Origin) -> Connection:
        """A new connection. Raises Broken."""
        try:
            async with asyncio.timeout(self.connect_timeout):
                return await _connect(origin, self._factory())
        except TimeoutError:
            detail = f"ConnectTimeout: not connected after {self.connect_timeout:g} s"
            raise Broken("connect", detail, sent=False) from None

    def give_back(self, origin: _Origin, connection: Connection, *, flushed: bool) -> None:
        """Keeps a connection whose exchange has ended, or closes it. flushed: all of its request is out."""
        if connection.rest() and flushed and not self._closed and len(origin.free) < self.keep:
            origin.free.append(connection)
        else:
            connection.abort()

    def _factory(self) -> Callable[[], Connection]:
        """Makes connections of this loop."""
        library = _library()
        if self._shared is None:
            self._shared = library.Shared()
        return partial(library.Connection, self._shared)

    def _address(self, url: str) -> _Address:
        origin = self._origin(origin_of(url))
        heads = Heads(partial(_head, httpx.URL(url), origin))
        address = self._addresses[url] = _Address(origin, heads)
        return address

    def _origin(self, name: str) -> _Origin:
        origin = self._origins.get(name)
        if origin is None:
            url = httpx.URL(name)
            proxy = _read_proxy(self.proxy or environment_proxy(name), name)
            trust = self._trusted() if url.scheme == "https" else None
            origin = self._origins[name] = _Origin(url, trust, proxy)
        return origin

    def _trusted(self) -> ssl.SSLContext:
        """One for all connections: reading the authorities takes longer than a request."""
        if self._trust is None:
            self._trust = httpx.create_ssl_context()
            self._trust.set_alpn_protocols(["http/1.1"])
        return self._trust


class _Exchange:
    """`async with transport.post(…) as reply`: a connection for as long as the reply is read."""

    __slots__ = ("_connection", "_origin", "_progress", "_request", "_transport")

    def __init__(
        self, transport: FastTransport, origin: _Origin, request: tuple[bytes, bytes], progress: Progress
    ) -> None:
        self._transport = transport
        self._origin = origin
        self._request = request
        self._progress = progress

    async def __aenter__(self) -> Incoming:
        connection = self._origin.take() or await self._transport.connect(self._origin)
        self._connection = connection
        try:
            return await connection.ask(self._request).head()
        except BaseException:
            self._progress.sent = connection.flushed
            connection.abort()
            raise

    async def __aexit__(self, *_: object) -> None:
        connection = self._connection
        self._progress.sent = flushed = connection.flushed
        self._transport.give_back(self._origin, connection, flushed=flushed)


@dataclass(slots=True)
class _Origin:
    """Whom connections go to. trust: for TLS; None is http://. free: idle ones, the last used on top."""

    url: httpx.URL
    trust: ssl.SSLContext | None
    proxy: httpx.Proxy | None
    free: list[Connection] = field(default_factory=list)

    @property
    def host(self) -> str:
        return self.url.raw_host.decode("ascii")

    @property
    def port(self) -> int:
        return self.url.port or (443 if self.trust else 80)

    def take(self) -> Connection | None:
        """The idle connection that was used last, if it still stands."""
        while self.free:
            connection = self.free.pop()
            if connection.fresh():
                return connection
            connection.abort()
        return None


@dataclass(slots=True)
class _Address:
    """What is posted to. heads: all of a request before its length, for the headers that come with it."""

    origin: _Origin
    heads: Heads[bytes]


def _head(url: httpx.URL, origin: _Origin, headers: Headers) -> bytes:
    fields = list(headers)
    if "host" not in {name.lower() for name, _ in fields}:
        fields.insert(0, ("host", url.netloc.decode("ascii")))
    target = url.raw_path.decode("ascii")
    if origin.proxy and not origin.trust:  # a proxy is told the whole address of what it may read
        target = f"{origin.url}{target}"
        fields += _proof(origin.proxy)
    lines = [f"POST {target} HTTP/1.1", *(f"{name}: {value}" for name, value in fields), "content-length: "]
    if any(set(line) & _BREAKS for line in lines):
        raise ValueError("a header of a request holds a line break")
    return "\r\n".join(lines).encode("ascii")


_BREAKS = frozenset("\r\n\0")


# connecting ----------------------------------------------------------------------------------


def _library() -> ModuleType:
    try:
        import extract.fast_connection as library
    except ImportError:
        raise MissingExtraError("httptools", "fast", 'transport="fast"') from None
    return library


async def _connect(origin: _Origin, make: Callable[[], Connection]) -> Connection:
    """A connection with all that stands between it and a request. Raises Broken, TimeoutError."""
    connection: Connection | None = None
    loop = asyncio.get_running_loop()
    open_one = loop.create_connection
    if isinstance(loop, asyncio.BaseEventLoop):  # uvloop does not know the word
        open_one = partial(open_one, happy_eyeballs_delay=_NEXT_FAMILY)
    first = origin.proxy.url if origin.proxy else origin.url
    port = first.port or (80 if origin.proxy else origin.port)
    try:
        host = first.raw_host.decode("ascii")
        _, connection = await open_one(make, host, port)
        if origin.trust:
            if origin.proxy:
                await _tunnel(connection, origin, origin.proxy)
            await connection.encrypt(origin.trust, origin.host)
        return connection
    except BaseException as error:
        if connection is not None:
            connection.abort()
        if isinstance(error, OSError | UnicodeError) and not isinstance(error, TimeoutError):
            kind = "tls" if any(word in str(error) for word in UNTRUSTED) else "connect"
            raise Broken(kind, f"{type(error).__name__}: {error}", sent=False) from None
        raise


async def _tunnel(connection: Connection, origin: _Origin, proxy: httpx.Proxy) -> None:
    """Asks a proxy to connect. Raises Broken."""
    host = f"[{origin.host}]" if ":" in origin.host else origin.host
    fields = [("host", f"{host}:{origin.port}"), *_proof(proxy)]
    lines = [f"CONNECT {host}:{origin.port} HTTP/1.1", *(f"{name}: {value}" for name, value in fields)]
    try:
        reply = await connection.ask(["\r\n".join([*lines, "", ""]).encode("ascii")]).head()
    except Broken as error:
        raise Broken(error.kind, error.detail, sent=False) from None
    if not 200 <= reply.status < 300:
        raise Broken("proxy", f"ProxyError: the proxy answers {reply.status}", sent=False)


def _proof(proxy: httpx.Proxy) -> list[tuple[str, str]]:
    if proxy.raw_auth is None:
        return []
    return [("proxy-authorization", f"Basic {b64encode(b':'.join(proxy.raw_auth)).decode()}")]


def _read_proxy(address: str | None, origin: str) -> httpx.Proxy | None:
    """Raises ConfigError for one that cannot be used."""
    if address is None:
        return None
    try:
        proxy = httpx.Proxy(address)
    except (ValueError, httpx.InvalidURL) as error:
        raise ConfigError(
            f"the proxy for {origin} cannot be used: {error}: check HTTPS_PROXY, ALL_PROXY or proxy="
        ) from None
    if proxy.url.scheme != "http":
        raise ConfigError(
            f'the proxy for {origin} is {proxy.url.scheme}://, and transport="fast" speaks to http:// ones '
            'only: use transport="httpx", or check HTTPS_PROXY, ALL_PROXY or proxy='
        )
    return proxy
