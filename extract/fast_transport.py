"""The extra `fast`: pyreqwest behind the seam, for `Client(transport="fast")`.

reqwest with rustls, which trusts what the machine trusts. It asks nothing twice, follows nothing and
reads no environment of its own. Knows nothing of models, keys, faults or retries.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from extract.errors import ConfigError, MissingExtraError
from extract.transport import (
    KEEP_ALIVE,
    PROBE_AFTER,
    PROBE_EVERY,
    Broken,
    Headers,
    Heads,
    Progress,
    environment_proxy,
    origin_of,
)

if TYPE_CHECKING:
    from pyreqwest.client import Client as Session
    from pyreqwest.http import HeaderMap, Url
    from pyreqwest.request import StreamRequest
    from pyreqwest.response import Response


@dataclass(slots=True)
class FastTransport:
    """pyreqwest, one session an origin.

    keep: most idle connections that are kept. connect_timeout: seconds.
    proxy: an address, or None to go by the environment (never for loopback).
    deadline: seconds after which an exchange that nobody waits for any more is ended: the library does
        not end it by itself when its caller is cancelled.
    """

    keep: int
    connect_timeout: float = 10.0
    proxy: str | None = None
    deadline: float = 3_600.0
    _sessions: dict[str, Session] = field(default_factory=dict)
    _ways: dict[str, tuple[Session, Url]] = field(default_factory=dict)
    _heads: Heads[tuple[HeaderMap, int]] = field(default_factory=lambda: Heads(_head))

    def post(self, url: str, headers: Headers, body: bytes, *, progress: Progress) -> _Exchange:
        """One exchange over a free connection, or a new one."""
        head, first_bytes = self._heads.of(headers)
        session, parsed = self._way(url)
        asked = session.post(parsed).headers(head).body_bytes(body)
        return _Exchange(asked.streamed_read_buffer_limit(first_bytes).build_streamed(), progress)

    def prepare(self, address: str) -> None:
        """Opens what an address needs, short of connecting. Raises ConfigError for a proxy that cannot be."""
        self._session(origin_of(address))

    async def aclose(self) -> None:
        """Closes all connections."""
        sessions = list(self._sessions.values())
        self._sessions.clear()
        self._ways.clear()
        for session in sessions:
            await session.close()

    def _way(self, url: str) -> tuple[Session, Url]:
        """Who sends to an address, and the address as the library takes it, parsed once."""
        way = self._ways.get(url)
        if way is None:
            session = self._session(origin_of(url))
            way = self._ways[url] = session, _url(url)
        return way

    def _session(self, origin: str) -> Session:
        session = self._sessions.get(origin)
        if session is None:
            session = self._sessions[origin] = self._open(origin)
        return session

    def _open(self, origin: str) -> Session:
        builder: Any = _builder()
        builder = (
            builder.no_proxy()
            .follow_redirects(False)
            .referer(False)
            .http1_lower_case_headers()
            .connect_timeout(timedelta(seconds=self.connect_timeout))
            .timeout(timedelta(seconds=self.deadline + _GRACE))
            .pool_max_idle_per_host(self.keep)
            .pool_idle_timeout(timedelta(seconds=KEEP_ALIVE))
            .tcp_keepalive(timedelta(seconds=PROBE_AFTER))
            .tcp_keepalive_interval(timedelta(seconds=PROBE_EVERY))
        )
        if proxy := self.proxy or environment_proxy(origin):
            builder = builder.proxy(_proxied(proxy, origin))
        session: Session = builder.build()
        return session


_GRACE = 1.0  # seconds: the exchange's own deadline comes first, since it tells how far the try came


def _builder() -> Any:
    try:
        from pyreqwest.client import ClientBuilder
    except ImportError:
        raise MissingExtraError("pyreqwest", "fast", 'transport="fast"') from None
    return ClientBuilder()


def _url(url: str) -> Url:
    from pyreqwest.http import Url

    return Url(url)


def _head(headers: Headers) -> tuple[HeaderMap, int]:
    """Headers as the library takes them, and the bytes of a body that it waits for before it tells the head.

    Where no stream is asked for, the head may wait for the first byte, which is there with it as a rule:
    that spares a turn through the library's thread. More would hold back a stream that nobody asked for.
    """
    from pyreqwest.http import HeaderMap

    return HeaderMap(headers), 0 if ("accept", "text/event-stream") in headers else 1


_PROXIES = ("http://", "https://", "socks5://", "socks5h://")


def _proxied(proxy: str, origin: str) -> Any:
    from pyreqwest.proxy import ProxyBuilder

    try:
        if not proxy.startswith(_PROXIES):
            raise ValueError(f"its address starts with one of {', '.join(_PROXIES)}")
        return ProxyBuilder.all(proxy)
    except ValueError as error:
        raise ConfigError(
            f"the proxy for {origin} cannot be used: {error}: check HTTPS_PROXY, ALL_PROXY or proxy="
        ) from None


class _Exchange:
    """One request on its way, and its answer."""

    __slots__ = ("_progress", "_request")

    def __init__(self, request: StreamRequest, progress: Progress) -> None:
        self._request = request
        self._progress = progress

    async def __aenter__(self) -> _Answer:
        self._progress.sent = True  # it does not tell when the last byte has gone: rather one too many
        try:
            return _Answer(await self._request.__aenter__())
        except Exception as error:
            raise _broken(error) from None

    async def __aexit__(self, *raised: object) -> None:
        await self._request.__aexit__(None, None, None)


class _Answer:
    """An answer whose head has come."""

    __slots__ = ("_response", "headers", "status")

    def __init__(self, response: Response) -> None:
        self._response = response
        self.status = response.status
        self.headers: Mapping[str, str] = dict(response.headers.items())  # its names are lower-case

    async def read(self) -> bytes:
        """The whole body."""
        try:
            return bytes(await self._response.bytes())
        except Exception as error:
            raise _torn(error) from None

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes."""
        reader: Any = self._response.body_reader
        try:
            while (chunk := await reader.read_chunk()) is not None:
                yield bytes(chunk)
        except Exception as error:
            raise _torn(error) from None


# in the handshake: what waiting does not mend, unlike a connection that broke in it
_UNTRUSTED = ("invalid peer certificate", "corrupt message", "UnknownIssuer")
_IN_BODY = ("error decoding response body", "request or response body error")


def _broken(error: Exception) -> Broken:
    """What a failure on the way to an answer is."""
    said = _said(error)
    if "(Connect)" in said:
        if "tunnel error" in said or "proxy" in said:
            return Broken("proxy", said, sent=False)
        return Broken("tls" if any(word in said for word in _UNTRUSTED) else "connect", said, sent=False)
    return Broken("torn" if any(word in said for word in _IN_BODY) else "reset", said, sent=True)


def _torn(error: Exception) -> Broken:
    """What a failure within an answer is."""
    return Broken("torn", _said(error), sent=True)


def _said(error: Exception) -> str:
    """The message with its causes, without the address. Raises what is no error of the library."""
    from pyreqwest.exceptions import PyreqwestError

    if not isinstance(error, PyreqwestError):
        raise error
    details: Any = getattr(error, "details", None) or {}
    causes = [cause["message"] for cause in details.get("causes") or ()]
    shown = [cause for cause in causes if " for url (" not in cause] or [error.message]
    return f"{type(error).__name__}: {': '.join(shown)}"
