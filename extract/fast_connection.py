"""One HTTP/1.1 connection of the extra `fast`: httptools reads, asyncio carries, a future waits.

httptools (llhttp) says what is a head, a body, an end, and whether a connection stays; here its words
become an `Incoming`. Nothing runs between a reply's bytes and whoever waits for them but the event loop.
Knows nothing of addresses, pools, models or retries.
"""

from __future__ import annotations

import asyncio
import select
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from math import inf
from typing import cast

import httpx
from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from extract.transport import KEEP_ALIVE, Broken, headers_of, keep_alive_options

_LONGEST_HEAD = 100 * 1024  # bytes, as httpx has it
_ONE_GO = 64 * 1024  # bytes that a socket's own buffer takes
_READ = 64 * 1024  # bytes that are read from a socket at once
_HELD = 256 * 1024  # bytes of a body that wait for a slow reader; then the socket waits


class Incoming:
    """An answer whose body may still be on its way. status: 0 until its head has come."""

    __slots__ = (
        "_broken",
        "_connection",
        "_live",
        "_most",
        "_parts",
        "_size",
        "_waiter",
        "headers",
        "status",
        "whole",
    )

    def __init__(self, connection: Connection) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.whole = False
        self._connection = connection
        self._parts: list[bytes] = []
        self._size = 0
        self._most: float = _HELD
        self._live = False
        self._broken: tuple[str, str, bool] | None = None
        self._waiter: asyncio.Future[None] | None = None

    async def head(self) -> Incoming:
        """Itself, when its head has come. Raises Broken."""
        while not self.status:
            await self._more()
        return self

    async def read(self) -> bytes:
        """The whole body. Raises Broken."""
        if not self.whole:
            self._most = inf
            self._connection.resume()
        while not self.whole:
            await self._more()
        body = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        return self._decoded(body) if self._encoding else body

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes. Raises Broken."""
        return self._decoded_chunks() if self._encoding else self._raw_chunks()

    def _more(self) -> asyncio.Future[None]:
        """To be awaited: something more has come, be it an end. Raises Broken."""
        if self._broken is not None:
            kind, detail, sent = self._broken
            raise Broken(kind, detail, sent=sent)
        self._waiter = waiter = self._connection.loop.create_future()
        return waiter

    # what the connection tells

    def add(self, part: bytes) -> None:
        """A part of the body."""
        self._parts.append(part)
        self._size += len(part)
        if self._size > self._most:
            self._connection.hold()
        if self._live:
            self.wake()

    def fail(self, kind: str, detail: str, *, sent: bool) -> None:
        """What waits for more waits in vain."""
        self._broken = self._broken or (kind, detail, sent)
        self.wake()

    def wake(self) -> None:
        """Whoever waits looks again."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def _raw_chunks(self) -> AsyncIterator[bytes]:
        self._live = True
        while True:
            if self._parts:
                chunk = b"".join(self._parts)
                self._parts.clear()
                self._size = 0
                self._connection.resume()
                yield chunk
            elif self.whole:
                return
            else:
                await self._more()

    # httpx undoes what a server compressed: the two transports read the same

    @property
    def _encoding(self) -> dict[str, str] | None:
        found = self.headers.get("content-encoding", "identity")
        return None if found == "identity" else {"content-encoding": found}

    def _decoded(self, body: bytes) -> bytes:
        try:
            return httpx.Response(self.status, headers=self._encoding, content=body).content
        except httpx.DecodingError as error:
            raise _undecodable(error) from None

    async def _decoded_chunks(self) -> AsyncIterator[bytes]:
        response = httpx.Response(self.status, headers=self._encoding, stream=_Stream(self._raw_chunks()))
        try:
            async for chunk in response.aiter_bytes():
                yield chunk
        except httpx.DecodingError as error:
            raise _undecodable(error) from None


class _Stream(httpx.AsyncByteStream):
    """Chunks as httpx takes them."""

    def __init__(self, chunks: AsyncIterator[bytes]) -> None:
        self._chunks = chunks

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._chunks


def _undecodable(error: httpx.DecodingError) -> Broken:
    return Broken("torn", f"DecodingError: {error}", sent=True)


class Shared:
    """What the connections of one event loop have in common, for speed.

    room: what is read goes there first. Bytes made for each reading, as `asyncio.Protocol` has them, are a
        quarter of a megabyte before they shrink: 13 µs.

    Requests of one turn of the loop are written together at its end: the kernel's long way through TCP then
    does not push out of the processor's caches what each row needs of Python in between.
    """

    def __init__(self) -> None:
        self.room = memoryview(bytearray(_READ))
        self._asking: list[Connection] = []

    def write_soon(self, connection: Connection) -> None:
        """Lets it write when this turn of the loop is over."""
        if not self._asking:
            connection.loop.call_soon(self._write_all)
        self._asking.append(connection)

    def _write_all(self) -> None:
        asking, self._asking = self._asking, []
        for connection in asking:
            connection.write()


class Connection(asyncio.BufferedProtocol):
    """A socket, one exchange at a time. `ask`, read the reply, then `rest` or `abort`."""

    def __init__(self, shared: Shared) -> None:
        self._shared, self._room = shared, shared.room
        self.loop = asyncio.get_running_loop()
        self.open = False
        self._request: Sequence[bytes] = ()  # not written yet
        self._reply: Incoming | None = None
        self._parser = HttpResponseParser(self)
        self._raw: list[tuple[bytes, bytes]] = []
        self._asked = self._heard = 0
        self._keeps = self._held = self._blocked = False
        self._idle_since = 0.0

    def ask(self, request: Sequence[bytes]) -> Incoming:
        """Takes a request, to be written at the end of this turn of the loop. Its reply is to be awaited."""
        self._reply = reply = Incoming(self)
        self._asked += 1
        self._heard = 0
        self._keeps = False
        self._request = request
        self._shared.write_soon(self)
        return reply

    @property
    def flushed(self) -> bool:
        """Whether all that was written has left for the kernel."""
        if self._request or self._blocked or self._socket.get_write_buffer_size():
            return False
        return self._transport is self._socket or not self._transport.get_write_buffer_size()

    def rest(self) -> bool:
        """Ends an exchange. Returns whether another one can follow, if all of this one's request is out."""
        reply, self._reply = self._reply, None
        if self._held:
            self.resume()
        self._idle_since = self.loop.time()
        return self.open and self._keeps and reply is not None and reply.whole

    def fresh(self) -> bool:
        """Whether it can still be used: not too old, and nothing came, not even an end."""
        return self.open and self.loop.time() - self._idle_since < KEEP_ALIVE and not self._readable()

    def abort(self) -> None:
        """Closes at once, whatever is on its way."""
        self.open, self._reply, self._request = False, None, ()
        self._transport.abort()
        self._socket.abort()

    async def encrypt(self, context: ssl.SSLContext, host: str) -> None:
        """TLS from here on. Raises OSError."""
        self._reply, self._asked, self._parser = None, 0, HttpResponseParser(self)
        if not self.open:
            raise ConnectionResetError("closed before the handshake")
        tls = await self.loop.start_tls(self._socket, self, context, server_hostname=host)
        if tls is None:  # the connection was lost in the last step of the handshake
            raise ConnectionResetError("closed in the handshake")
        tls.set_write_buffer_limits(high=1, low=0)
        self._transport = tls

    def write(self) -> None:
        """Writes the request that waits, unless nobody wants its reply any more."""
        if not self.open:
            self._lost("closed before the request left")
            return
        try:
            self._send(b"".join(self._request))
            self._request = ()
        except RuntimeError as error:  # of one that is closing; the others of this turn go all the same
            self._lost(f"{type(error).__name__}: {error}")

    def _send(self, whole: bytes) -> None:
        if self._transport is self._socket or len(whole) < _ONE_GO:
            self._transport.write(whole)
            return
        # TLS tells of what it holds back, not of what the socket below it holds: so the last byte
        # follows alone, and is held back for as long as the others are not out
        self._transport.write(memoryview(whole)[:-1])
        self._transport.write(whole[-1:])

    def hold(self) -> None:
        """Reads no more until `resume`."""
        self._held = True
        self._transport.pause_reading()

    def resume(self) -> None:
        """Reads on."""
        if self._held:
            self._held = False
            self._transport.resume_reading()

    # what asyncio tells

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket is there."""
        self._transport = self._socket = cast("asyncio.Transport", transport)
        self._socket.set_write_buffer_limits(high=0)  # so that `pause_writing` tells of every byte that waits
        sock = transport.get_extra_info("socket")
        for option in keep_alive_options():
            sock.setsockopt(*option)
        self._readable = _readable(sock.fileno())
        self.open = True

    def pause_writing(self) -> None:
        """Something waits to be sent."""
        self._blocked = True

    def resume_writing(self) -> None:
        """All is sent."""
        self._blocked = False

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where to read to."""
        return self._room

    def buffer_updated(self, nbytes: int) -> None:
        """Bytes of a reply, or of something that nobody asked for."""
        reply = self._reply
        if reply is None:
            self.abort()
            return
        if not reply.status:
            self._heard += nbytes
        try:
            self._parser.feed_data(self._room[:nbytes])
        except (HttpParserError, HttpParserUpgrade) as error:
            self._lost(f"{type(error).__name__}: {error}")
        if not reply.status and self._heard > _LONGEST_HEAD:
            self._lost(f"a head of more than {_LONGEST_HEAD} bytes")

    def eof_received(self) -> None:
        """The server will send no more: the end of a body that has no other."""
        reply = self._reply
        if reply is not None and reply.status and _ends_with_connection(reply):
            reply.whole = True
            reply.wake()
        self._lost("the server closed the connection")

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone."""
        if exc is None:
            self.eof_received()
        else:
            self._lost(f"{type(exc).__name__}: {exc}")

    def _lost(self, detail: str) -> None:
        self.open = False
        reply = self._reply
        if reply is None or reply.whole:
            return
        if reply.status:
            reply.fail("torn", detail, sent=True)
            return
        # a kept connection that the server closed while the request was on its way
        stale = self._asked > 1 and not self._heard
        reply.fail("stale" if stale else "reset", detail, sent=self.flushed)

    # what httptools tells

    def on_message_begin(self) -> None:
        """A reply begins; behind a whole one, nobody asked for it."""
        if self._reply is None or self._reply.whole:
            self.open = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, or a trailer, which nobody needs."""
        if self._reply is not None and not self._reply.status:
            self._raw.append((name, value))

    def on_headers_complete(self) -> None:
        """A head; those before the last one only say that there is more to come."""
        status, raw, self._raw = self._parser.get_status_code(), self._raw, []
        reply = self._reply
        if reply is not None and (status >= 200 or status == 101) and not reply.status:
            reply.status, reply.headers = status, headers_of(raw)
            reply.wake()

    def on_body(self, body: bytes) -> None:
        """A part of a body."""
        if self._reply is not None and not self._reply.whole:
            self._reply.add(body)

    def on_message_complete(self) -> None:
        """The end of a reply."""
        reply = self._reply
        if reply is not None and reply.status:
            reply.whole = True
            self._keeps = self._parser.should_keep_alive()
            reply.wake()


def _ends_with_connection(reply: Incoming) -> bool:
    headers = reply.headers
    return "content-length" not in headers and "chunked" not in headers.get("transfer-encoding", "").lower()


def _readable(number: int) -> Callable[[], Sequence[object]]:
    """Whether a socket has something to read, which the event loop may not have seen yet."""
    if not hasattr(select, "poll"):
        return lambda: select.select([number], [], [], 0)[0]
    poll = select.poll()
    poll.register(number, select.POLLIN)
    return partial(poll.poll, 0)
