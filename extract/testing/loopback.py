"""A small HTTP/1.1 server on a free loopback port, with the connection in the handler's hands.

The standard library's, one thread a connection: for tests of a few hundred requests, where exact bytes and
broken connections matter more than speed. Knows nothing of replies.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Exchange:
    """One request, and the way to answer it."""

    def __init__(self, handler: BaseHTTPRequestHandler, body: bytes) -> None:
        self._handler = handler
        self.method = handler.command
        self.path = handler.path
        self.body = body
        self.headers: Mapping[str, str] = {name.lower(): value for name, value in handler.headers.items()}

    def send(
        self,
        status: int,
        headers: Mapping[str, str],
        chunks: Iterable[bytes],
        *,
        torn: bool = False,
        gap: float = 0.0,
    ) -> None:
        """Send an answer in exactly these pieces; when torn, the connection ends without the body's end."""
        pieces = [chunk for chunk in chunks if chunk]
        whole = len(pieces) == 1 and not torn
        length = ("content-length", str(len(pieces[0]))) if whole else ("transfer-encoding", "chunked")
        self._handler.send_response(status)
        for name, value in [*headers.items(), length]:
            self._handler.send_header(name, value)
        self._handler.end_headers()
        for piece in pieces:
            self._handler.wfile.write(piece if whole else b"%x\r\n%s\r\n" % (len(piece), piece))
            self._handler.wfile.flush()
            if gap:
                time.sleep(gap)
        if torn:
            self.abort()
        elif not whole:
            self._handler.wfile.write(b"0\r\n\r\n")

    def abort(self) -> None:
        """End the connection now."""
        self._handler.close_connection = True
        with contextlib.suppress(OSError):
            self._handler.connection.shutdown(socket.SHUT_RDWR)


class LoopbackServer:
    """Serves until it is stopped. serve: called in a thread of its own for each request."""

    def __init__(self, serve: Callable[[Exchange], None]) -> None:
        self._serve = serve
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def base_url(self) -> str:
        """The address; there is one while it runs."""
        if self._server is None:
            raise RuntimeError("the server runs inside its `with` block only")
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def start(self) -> None:
        """Listen on a free port."""
        self._server = _Server(self._serve)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), name="extract-scripted", daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """Close all connections and wait for their threads."""
        if self._server is None or self._thread is None:
            return
        self._server.shutdown()
        self._thread.join()
        self._server.close_connections()
        self._server.server_close()
        self._server = self._thread = None


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    request_queue_size = 512

    def __init__(self, serve: Callable[[Exchange], None]) -> None:
        self.serve = serve
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _Handler)

    def opened(self, connection: socket.socket) -> None:
        self._open.add(connection)

    def closed(self, connection: socket.socket) -> None:
        self._open.discard(connection)

    def close_connections(self) -> None:
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is no error here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.opened(self.connection)

    def finish(self) -> None:
        self.server.closed(self.connection)
        with contextlib.suppress(OSError):
            super().finish()

    def do_POST(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        if len(body) == length:
            self.server.serve(Exchange(self, body))

    do_GET = do_POST  # noqa: N815 - the standard library's name

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on standard error."""
