"""What the client libraries can do at best: a loop, one strict validation, nothing else.

python -m benchmarks.limits --kind httpx|httpx-many|aiohttp|pyreqwest|httptools|protocol
"""

from __future__ import annotations

import asyncio
import collections
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

import jiter

from benchmarks.work import KEY, MODEL, SCHEMA, SYSTEM, Ticket, contend, many, options

HEADERS = {"authorization": f"Bearer {KEY}", "content-type": "application/json", "accept": "application/json"}
_REQUEST = {
    "model": MODEL,
    "max_tokens": 1_024,
    "system": SYSTEM,
    "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
    "cache_control": {"type": "ephemeral"},
    "messages": [{"role": "user", "content": "@"}],
}
_BEFORE, _AFTER = (part.encode() for part in json.dumps(_REQUEST).split('"@"'))
Send = Callable[[bytes], Awaitable[bytes]]
Close = Callable[[], Awaitable[Any]]


def body(text: str) -> bytes:
    """The constant part serialised once."""
    return _BEFORE + json.dumps(text).encode() + _AFTER


def read(reply: bytes) -> Ticket:
    """The envelope once, the answer strictly."""
    return Ticket.model_validate_json(jiter.from_json(reply)["content"][0]["text"], strict=True)


async def httpx_one(url: str, places: int) -> tuple[Send, Close]:
    """One client, as everybody uses it."""
    import httpx

    limits = httpx.Limits(max_connections=places, max_keepalive_connections=places)
    client = httpx.AsyncClient(limits=limits, timeout=120, headers=HEADERS, trust_env=False)

    async def send(data: bytes) -> bytes:
        return (await client.post(url, content=data)).content

    return send, client.aclose


async def httpx_many(url: str, places: int) -> tuple[Send, Close]:
    """A transport for each connection."""
    import ssl

    import httpx

    one = httpx.Limits(max_connections=1, max_keepalive_connections=1)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    transports = [httpx.AsyncHTTPTransport(verify=context, limits=one) for _ in range(places)]
    free = list(transports)
    address = httpx.URL(url)

    async def send(data: bytes) -> bytes:
        transport = free.pop()
        try:
            request = httpx.Request("POST", address, headers=HEADERS, content=data)
            reply = await transport.handle_async_request(request)
            return await reply.aread()
        finally:
            free.append(transport)

    async def close() -> None:
        for transport in transports:
            await transport.aclose()

    return send, close


async def aiohttp_one(url: str, places: int) -> tuple[Send, Close]:
    """aiohttp."""
    import aiohttp

    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=places), headers=HEADERS)

    async def send(data: bytes) -> bytes:
        async with session.post(url, data=data) as reply:
            return await reply.read()

    return send, session.close


async def pyreqwest_one(url: str, places: int) -> tuple[Send, Close]:
    """pyreqwest."""
    from pyreqwest.client import ClientBuilder

    client = ClientBuilder().default_headers(HEADERS).pool_max_idle_per_host(places).build()

    async def send(data: bytes) -> bytes:
        reply = await client.post(url).body_bytes(data).build().send()
        return bytes(await reply.bytes())

    return send, client.close


async def httptools_ours(url: str, places: int) -> tuple[Send, Close]:
    """The transport of our extra `fast`, alone."""
    from extract.fast_transport import FastTransport
    from extract.transport import Progress

    transport = FastTransport(places)
    headers = list(HEADERS.items())

    async def send(data: bytes) -> bytes:
        async with transport.post(url, headers, data, progress=Progress()) as reply:
            return await reply.read()

    return send, transport.aclose


class _Wire(asyncio.Protocol):
    """The least that can be called HTTP: one request, one answer with a length."""

    def __init__(self) -> None:
        self.transport: Any = None
        self.held = b""
        self.answer: asyncio.Future[bytes] | None = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.held += data
        end = self.held.find(b"\r\n\r\n")
        found = re.search(rb"content-length: *(\d+)", self.held[: max(end, 0)])
        if end >= 0 and found and len(self.held) >= end + 4 + int(found[1]) and self.answer:
            reply, self.held = self.held[end + 4 :], b""
            self.answer.set_result(reply)


async def protocol_one(url: str, places: int) -> tuple[Send, Close]:
    """A hand-written protocol: what Python can do at all."""
    loop = asyncio.get_running_loop()
    host, port = url.split("/")[2].split(":")
    head = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())
    free: collections.deque[_Wire] = collections.deque()
    opened: list[_Wire] = []

    async def send(data: bytes) -> bytes:
        if free:
            wire = free.pop()
        else:
            _, wire = await loop.create_connection(_Wire, host, int(port))
            opened.append(wire)
        start = f"POST /v1/messages HTTP/1.1\r\nhost: {host}\r\n{head}content-length: {len(data)}\r\n\r\n"
        wire.answer = loop.create_future()
        wire.transport.writelines([start.encode(), data])
        reply = await wire.answer
        free.append(wire)
        return reply

    async def close() -> None:
        for wire in opened:
            wire.transport.close()

    return send, close


KINDS = {
    "httpx": httpx_one,
    "httpx-many": httpx_many,
    "aiohttp": aiohttp_one,
    "pyreqwest": pyreqwest_one,
    "httptools": httptools_ours,
    "protocol": protocol_one,
}


async def start() -> tuple[Callable[[str], Awaitable[Ticket]], Close]:
    """The asked-for loop."""
    told = options()
    send, close = await KINDS[told.kind](told.base + "/v1/messages", told.concurrency)

    async def ask(text: str) -> Ticket:
        return read(await send(body(text)))

    return ask, close


if __name__ == "__main__":
    contend(f"limit {options().kind}", many(start))
