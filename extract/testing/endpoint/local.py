"""Starts and stops the local endpoint: in a thread for a `with` block, or in the foreground.

Needs the extra `endpoint`. Knows nothing of requests.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from extract.errors import ConfigError, MissingExtraError
from extract.testing.endpoint.app import application
from extract.testing.endpoint.knobs import Knobs
from extract.testing.endpoint.service import Service

if TYPE_CHECKING:
    import uvicorn

LOCAL_KEY = "local-key"
WHAT_IT_IS = "a stand-in that reads labelled lines, not a model"


class LocalEndpoint:
    """The endpoint on a free loopback port, for as long as a `with` block lasts.

    knobs: `"latency=200ms,rate=50"`, a mapping or `Knobs`; see there.
    api_key: the only key that is taken.
    now: seconds of a steady clock, for the cache and the limits; real time when left out.
    Raises MissingExtraError without the extra `endpoint`, ConfigError for a knob that does not exist.
    """

    def __init__(
        self,
        knobs: str | Mapping[str, Any] | Knobs | None = None,
        *,
        api_key: str = LOCAL_KEY,
        port: int = 0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.api_key = api_key
        self.service = Service(Knobs.parse(knobs), api_key, now)
        self._port = port
        self._socket: socket.socket | None = None
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> Self:
        """Listen; returns once connections are taken."""
        self._server = _server(self.service)
        self._socket = listen(self._port)
        self._port = self._socket.getsockname()[1]
        self._thread = threading.Thread(
            target=self._server.run, args=([self._socket],), name="extract-endpoint", daemon=True
        )
        self._thread.start()
        while not self._server.started:
            if not self._thread.is_alive():
                raise ConfigError(f"the local endpoint could not start on port {self._port}")
            time.sleep(0.002)
        return self

    def stop(self) -> None:
        """Close all connections and wait for the thread to end. Stopping twice is stopping."""
        if self._server is None or self._thread is None or self._socket is None:
            return
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(10)
        self._socket.close()
        self._server = self._thread = self._socket = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def base_url(self) -> str:
        """The address, without `/v1`."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def knobs(self) -> Knobs:
        """The knobs as they are now."""
        return self.service.knobs

    def turn(self, change: str | Mapping[str, Any]) -> Knobs:
        """Change some knobs while it runs."""
        self.service.knobs = self.service.knobs.with_(change)
        return self.service.knobs

    def counts(self) -> dict[str, Any]:
        """What it saw since the start or the last reset."""
        return self.service.counters.as_dict()

    def log(self) -> list[dict[str, Any]]:
        """The last requests one by one, oldest first."""
        return [entry.as_dict() for entry in list(self.service.counters.log)]

    def reset(self) -> None:
        """Forget counts, cache, limits and draws."""
        self.service.reset()

    def advance(self, seconds: float) -> None:
        """Turn its clock forward: cache entries age, limits refill."""
        self.service.advance(seconds)


def listen(port: int, host: str = "127.0.0.1") -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises ConfigError when the port is taken."""
    # asyncio sets TCP_NODELAY only where the protocol is named; without it each reply waits 40 ms
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise ConfigError(
            f"port {port} of {host} cannot be used ({error.strerror}); choose another with port="
        ) from None
    listener.listen(2048)
    return listener


def _server(service: Service) -> uvicorn.Server:
    try:
        import uvicorn
    except ModuleNotFoundError:
        raise MissingExtraError("starlette and uvicorn", "endpoint", "the local endpoint") from None
    config = uvicorn.Config(
        application(service),
        log_config=None,
        log_level="critical",
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_graceful_shutdown=2,
        timeout_keep_alive=service.knobs.keep_alive,  # type: ignore[arg-type] # a timer: fractions work
        ws="none",
    )
    return uvicorn.Server(config)


def serve(
    port: int = 8787,
    knobs: str | Mapping[str, Any] | Knobs | None = None,
    *,
    api_key: str = LOCAL_KEY,
) -> None:
    """Run the endpoint in the foreground until Ctrl-C; says once on standard error what it is."""
    service = Service(Knobs.parse(knobs), api_key, time.monotonic)
    server = _server(service)
    listener = listen(port)
    address = f"http://127.0.0.1:{listener.getsockname()[1]}"
    sys.stderr.write(
        f"extract serve: {address} is {WHAT_IT_IS}; Ctrl-C stops it, {address}/_endpoint/counts counts.\n"
        f"  export EXTRACT_BASE_URL={address} EXTRACT_API_KEY={api_key}\n"
    )
    sys.stderr.flush()
    with contextlib.suppress(KeyboardInterrupt), contextlib.closing(listener):
        server.run([listener])
