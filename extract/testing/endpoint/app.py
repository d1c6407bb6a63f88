"""The endpoint's addresses, as a Starlette app (extra `endpoint`).

Beside the two wires there is `/_endpoint/…` for tests: what was seen, and the knobs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from extract.errors import ConfigError, MissingExtraError
from extract.testing.endpoint.faults import error_body
from extract.testing.endpoint.send import Receive, Scope, Send, WireApp
from extract.testing.endpoint.service import Service

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    Handler = Callable[[Request], Awaitable[Response]]

_ADDRESSES = "POST /v1/messages, POST /v1/chat/completions, GET /v1/models"
_PATHS = ("/v1/messages", "/v1/chat/completions", "/v1/models")
_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
_MODELS = ("kimi-k3.1-pro", "kimi-k3.1-pro-highspeed", "kimi-k3")


def application(service: Service) -> Callable[[Scope, Receive, Send], Awaitable[None]]:
    """The ASGI app of a service. Raises MissingExtraError without Starlette."""
    try:
        from starlette.applications import Starlette
        from starlette.routing import Route
    except ModuleNotFoundError:
        raise MissingExtraError("starlette and uvicorn", "endpoint", "the local endpoint") from None
    app = Starlette(
        routes=[
            Route("/v1/messages", WireApp(service, "messages"), methods=["POST"]),
            Route("/v1/chat/completions", WireApp(service, "chat"), methods=["POST"]),
            *(Route(path, handler, methods=methods) for path, handler, methods in _handlers(service)),
        ]
    )

    async def outer(scope: Scope, receive: Receive, send: Send) -> None:
        scope["extract.transport"] = getattr(getattr(send, "__self__", None), "transport", None)
        await app(scope, receive, send)

    return outer


def _handlers(service: Service) -> list[tuple[str, Handler, list[str]]]:
    from starlette.responses import JSONResponse

    async def counts(_: Request) -> Response:
        return JSONResponse(service.counters.as_dict())

    async def log(_: Request) -> Response:
        return JSONResponse([entry.as_dict() for entry in service.counters.log])

    async def knobs(request: Request) -> Response:
        if request.method == "POST":
            try:
                service.knobs = service.knobs.with_(await _change(request))
            except (ConfigError, ValueError) as error:
                return JSONResponse({"error": str(error)}, 400)
        return JSONResponse(service.knobs.as_dict())

    async def reset(_: Request) -> Response:
        service.reset()
        return JSONResponse(service.counters.as_dict())

    async def advance(request: Request) -> Response:
        service.advance(float((await request.body()).decode()))
        return JSONResponse({"now": service.now()})

    async def models(_: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": name, "object": "model"} for name in _MODELS]})

    async def other(request: Request) -> Response:
        said = f"{request.method} {request.url.path} does not exist here; there is {_ADDRESSES}"
        status = 405 if request.url.path in _PATHS else 404
        return JSONResponse(error_body("messages", "not_found_error", said, "req_local_none"), status)

    return [
        ("/v1/models", models, ["GET"]),
        ("/_endpoint/counts", counts, ["GET"]),
        ("/_endpoint/log", log, ["GET"]),
        ("/_endpoint/knobs", knobs, ["GET", "POST"]),
        ("/_endpoint/reset", reset, ["POST"]),
        ("/_endpoint/advance", advance, ["POST"]),
        ("/{path:path}", other, _METHODS),
    ]


async def _change(request: Request) -> Any:
    raw = await request.body()
    return await request.json() if raw.startswith(b"{") else raw.decode()
