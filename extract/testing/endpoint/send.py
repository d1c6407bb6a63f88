"""Puts a reply on the wire: whole, as a stream, torn, or not at all. Plain ASGI.

What is sent is the service's business. Knows no framework.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from extract.testing.endpoint import messages
from extract.testing.endpoint.ask import Wire
from extract.testing.endpoint.service import Sending, Service

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_STREAM = "text/event-stream"


class WireApp:
    """The ASGI app of one wire."""

    def __init__(self, service: Service, wire: Wire) -> None:
        self._service = service
        self._wire: Wire = wire

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        entry = self._service.arrive(scope["path"])
        try:
            raw = await _body(receive)
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            sending = self._service.take(self._wire, headers, raw, entry)
            await _put(sending, scope, receive, send)
        finally:
            self._service.leave(entry)


async def _body(receive: Receive) -> bytes:
    parts: list[bytes] = []
    more = True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts)


async def _put(sending: Sending, scope: Scope, receive: Receive, send: Send) -> None:
    if sending.delay:
        await asyncio.sleep(sending.delay)
    if sending.ending == "reset":
        _abort(scope)
    elif sending.ending == "stalled" and sending.media_type != _STREAM:
        await _gone(receive)
    elif sending.media_type == _STREAM:
        sending.begun()
        await _stream(sending, scope, receive, send)
    else:
        sending.begun()
        await _whole(sending, scope, send)


async def _whole(sending: Sending, scope: Scope, send: Send) -> None:
    (body,) = sending.chunks
    await _start(sending, send, [(b"content-length", str(len(body)).encode())])
    if sending.ending == "torn":
        await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})
        await asyncio.sleep(0)
        _close(scope)
        return
    await send({"type": "http.response.body", "body": body})


async def _stream(sending: Sending, scope: Scope, receive: Receive, send: Send) -> None:
    await _start(sending, send, [(b"cache-control", b"no-cache")])
    chunks = list(sending.chunks)
    kept = len(chunks) if sending.ending == "complete" else max(1, len(chunks) * 2 // 3)
    for chunk in chunks[:kept]:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
        if sending.gap:
            await asyncio.sleep(sending.gap)
    if sending.ending == "stalled":
        await _ping(sending.ping, receive, send)
    elif sending.ending == "torn":
        _close(scope)
    else:
        await send({"type": "http.response.body", "body": b""})


async def _start(sending: Sending, send: Send, more: list[tuple[bytes, bytes]]) -> None:
    headers = [(b"content-type", sending.media_type.encode()), *more]
    headers += [(name.encode(), value.encode()) for name, value in sending.headers.items()]
    await send({"type": "http.response.start", "status": sending.status, "headers": headers})


async def _ping(every: float, receive: Receive, send: Send) -> None:
    gone = asyncio.ensure_future(_gone(receive))
    try:
        while not (await asyncio.wait([gone], timeout=every))[0]:
            await send({"type": "http.response.body", "body": messages.event("ping", {}), "more_body": True})
    finally:
        gone.cancel()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


# Uvicorn has no public way to end a connection in the middle: its transport is handed on in the scope.
def _abort(scope: Scope) -> None:
    """Without a goodbye: what is not sent yet is lost."""
    transport = scope.get("extract.transport")
    if transport is not None:
        transport.abort()


def _close(scope: Scope) -> None:
    """After what was sent has gone out."""
    transport = scope.get("extract.transport")
    if transport is not None:
        transport.close()
