"""The endpoint over HTTP: routes, and how a reply is put on the wire.

The only module that knows Starlette. What is answered is the service's business.
"""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from extract.errors import ConfigError
from extract.testing.endpoint import messages
from extract.testing.endpoint.ask import Wire
from extract.testing.endpoint.faults import error_body
from extract.testing.endpoint.service import Sending, Service

_PINGS = 1.0  # seconds between the pings of a stalled stream


class _Wire:
    """The ASGI app of one wire."""

    def __init__(self, service: Service, wire: Wire) -> None:
        self._service = service
        self._wire = wire

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        entry = self._service.arrive(scope["path"])
        try:
            raw = await _body(receive)
            headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
            sending = self._service.take(self._wire, headers, raw, entry)
            await _send(sending, scope, receive, send)
        finally:
            self._service.leave(entry)


async def _body(receive: Receive) -> bytes:
    message = await receive()
    if not message.get("more_body"):
        return message.get("body", b"")  # type: ignore[no-any-return]
    parts = [message["body"]]
    while message.get("more_body"):
        message = await receive()
        parts.append(message.get("body", b""))
    return b"".join(parts)


async def _send(sending: Sending, scope: Scope, receive: Receive, send: Send) -> None:
    if sending.delay:
        await asyncio.sleep(sending.delay)
    if sending.ending == "reset":
        _abort(scope)
        return
    if sending.ending == "stalled" and not sending.gap and sending.media_type != "text/event-stream":
        await _gone(receive)
        return
    sending.begun()
    if sending.media_type == "text/event-stream":
        await _stream(sending, scope, receive, send)
        return
    (body,) = sending.chunks
    await _start(sending, send, [(b"content-length", str(len(body)).encode())])
    if sending.ending == "torn":
        await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})
        _abort(scope)
        return
    await send({"type": "http.response.body", "body": body})


async def _start(sending: Sending, send: Send, more: list[tuple[bytes, bytes]]) -> None:
    headers = [(b"content-type", sending.media_type.encode()), *more]
    headers += [(name.encode(), value.encode()) for name, value in sending.headers.items()]
    await send({"type": "http.response.start", "status": sending.status, "headers": headers})


async def _stream(sending: Sending, scope: Scope, receive: Receive, send: Send) -> None:
    await _start(sending, send, [(b"cache-control", b"no-cache")])
    chunks = list(sending.chunks)
    kept = len(chunks) if sending.ending == "complete" else max(1, len(chunks) * 2 // 3)
    for chunk in chunks[:kept]:
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
        if sending.gap:
            await asyncio.sleep(sending.gap)
    if sending.ending == "stalled":
        await _ping(receive, send)
    elif sending.ending == "torn":
        _abort(scope)
    else:
        await send({"type": "http.response.body", "body": b""})


async def _ping(receive: Receive, send: Send) -> None:
    gone = asyncio.ensure_future(_gone(receive))
    try:
        while not (await asyncio.wait([gone], timeout=_PINGS))[0]:
            await send({"type": "http.response.body", "body": messages.event("ping", {}), "more_body": True})
    finally:
        gone.cancel()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _abort(scope: Scope) -> None:
    """End the connection without a goodbye. Uvicorn has no public way: the transport is on its cycle."""
    transport = scope.get("extract.transport")
    if transport is not None:
        transport.abort()


def application(service: Service) -> Any:
    """The ASGI app of a service."""
    app = Starlette(routes=_routes(service))

    async def outer(scope: Scope, receive: Receive, send: Send) -> None:
        scope["extract.transport"] = getattr(getattr(send, "__self__", None), "transport", None)
        await app(scope, receive, send)

    return outer


def _routes(service: Service) -> list[Route]:
    return [
        Route("/v1/messages", _Wire(service, "messages"), methods=["POST"]),
        *_own_routes(service),
        Route("/{path:path}", _not_found, methods=["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD"]),
    ]


async def _not_found(request: Request) -> Response:
    said = f"{request.method} {request.url.path} does not exist here; there is POST /v1/messages"
    return JSONResponse(error_body("messages", "not_found_error", said, "req_local_none"), 404)


def _own_routes(service: Service) -> list[Route]:
    """Addresses for tests: what was seen, and the knobs."""

    async def counts(_: Request) -> Response:
        return JSONResponse(service.counters.as_dict())

    async def log(_: Request) -> Response:
        return JSONResponse([entry.as_dict() for entry in service.counters.log])

    async def knobs(request: Request) -> Response:
        if request.method == "POST":
            raw = await request.body()
            try:
                change = await request.json() if raw.startswith(b"{") else raw.decode()
                service.knobs = service.knobs.with_(change)
            except (ConfigError, ValueError) as error:
                return JSONResponse({"error": str(error)}, 400)
        return JSONResponse(service.knobs.as_dict())

    async def reset(_: Request) -> Response:
        service.reset()
        return JSONResponse(service.counters.as_dict())

    async def advance(request: Request) -> Response:
        service.advance(float((await request.body()).decode()))
        return JSONResponse({"now": service.now()})

    return [
        Route("/_endpoint/counts", counts, methods=["GET"]),
        Route("/_endpoint/log", log, methods=["GET"]),
        Route("/_endpoint/knobs", knobs, methods=["GET", "POST"]),
        Route("/_endpoint/reset", reset, methods=["POST"]),
        Route("/_endpoint/advance", advance, methods=["POST"]),
    ]
