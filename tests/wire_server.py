"""A server that plays bytes: exactly these chunks, in this order, and then closes, resets or stays silent.

No HTTP library stands between a test and the socket, so that a chunk boundary in a test is one on the wire.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

CLOSE, RESET, HANG, KEEP = "close", "reset", "hang", "keep"


@dataclass(frozen=True)
class Seen:
    """One request as it arrived. connection: numbers the sockets from 0."""

    head: str
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def headers(self) -> dict[str, str]:
        lines = self.head.split("\r\n")[1:]
        return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}


@dataclass(frozen=True)
class Play:
    """What to send, and what to do then. An event among the chunks holds the rest back until it is set."""

    chunks: Sequence[bytes | asyncio.Event]
    then: str = KEEP


def plain(status: int, body: bytes | str | dict[str, Any], headers: dict[str, str] | None = None) -> Play:
    """A whole reply with its length."""
    data = (
        json.dumps(body).encode()
        if isinstance(body, dict)
        else body.encode()
        if isinstance(body, str)
        else body
    )
    fields = {"content-type": "application/json", "content-length": str(len(data)), **(headers or {})}
    return Play([_head(status, fields) + data])


def streamed(
    pieces: Iterable[bytes | asyncio.Event],
    *,
    then: str = KEEP,
    end: bool = True,
    headers: dict[str, str] | None = None,
) -> Play:
    """A chunked event stream: each piece is one chunk and one write. end: whether the last chunk is sent."""
    fields = {"content-type": "text/event-stream", "transfer-encoding": "chunked", **(headers or {})}
    chunks: list[bytes | asyncio.Event] = [_head(200, fields)]
    chunks += [_framed(piece) if isinstance(piece, bytes) else piece for piece in pieces]
    return Play([*chunks, b"0\r\n\r\n"] if end else chunks, then=then)


def _framed(piece: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(piece), piece)


def _head(status: int, fields: dict[str, str]) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"HTTP/1.1 {status} X\r\n{lines}\r\n".encode()


Handler = Callable[[Seen], Play]


@dataclass
class WireServer:
    """`async with WireServer([play, …]) as server`: one play a request, or a function of the request."""

    plays: Sequence[Play] | Handler
    seen: list[Seen] = field(default_factory=list)
    open_now: int = 0
    most_open: int = 0
    connections: int = 0
    closed: int = 0

    async def __aenter__(self) -> WireServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        self.base_url = f"http://127.0.0.1:{self.port}"
        self._tasks: set[asyncio.Task[Any]] = set()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = self.connections
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while await self._one(reader, writer, number):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            self.closed += 1
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        seen = Seen(head.strip(), b"", number)
        body = await reader.readexactly(int(seen.headers.get("content-length", "0")))
        seen = Seen(head.strip(), body, number)
        self.open_now += 1
        self.most_open = max(self.most_open, self.open_now)
        try:
            play = self._next(seen)
            for chunk in play.chunks:
                if isinstance(chunk, asyncio.Event):
                    await chunk.wait()
                    continue
                writer.write(chunk)
                await writer.drain()
                await asyncio.sleep(0)  # lets the client read it alone
        finally:
            self.open_now -= 1
        return await self._after(play.then, writer)

    def _next(self, seen: Seen) -> Play:
        self.seen.append(seen)
        if callable(self.plays):
            return self.plays(seen)
        return self.plays[min(len(self.seen), len(self.plays)) - 1]

    async def _after(self, then: str, writer: asyncio.StreamWriter) -> bool:
        if then == HANG:
            await asyncio.Event().wait()
        if then == RESET:
            raw = writer.get_extra_info("socket")
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return then == KEEP
