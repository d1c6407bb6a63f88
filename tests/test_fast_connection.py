"""The extra `fast` on real sockets: what httptools and asyncio make of replies, breaks, TLS and proxies."""

from __future__ import annotations

import asyncio
import gzip
import re
import shutil
import socket
import ssl
import subprocess
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from extract.errors import ConfigError
from extract.transport import Broken, Headers, Progress
from tests.wire_server import CLOSE, HANG, RESET, Play, WireServer, plain

pytest.importorskip("httptools")

from extract import fast_connection
from extract.fast_connection import Incoming
from extract.fast_transport import FastTransport

T = TypeVar("T")
HEADERS: Headers = [("content-type", "application/json"), ("accept-encoding", "gzip, deflate")]
OK = plain(200, b"whole")
LARGE = b"x" * 40_000_000  # more than two sockets hold
Ask = Callable[..., Awaitable[tuple[int, bytes]]]


def run(job: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(job, 20))


@asynccontextmanager
async def transport(**options: Any) -> AsyncIterator[FastTransport]:
    made = FastTransport(**({"keep": 4} | options))
    try:
        yield made
    finally:
        await made.aclose()


@asynccontextmanager
async def serving(handle: Any, host: str = "127.0.0.1", **options: Any) -> AsyncIterator[int]:
    """A server that does this with each connection, and leaves none open. Yields its port."""
    tasks: set[asyncio.Task[Any]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await handle(reader, writer)
            await asyncio.Event().wait()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            writer.transport.abort()

    async with await asyncio.start_server(serve, host, 0, **options) as server:
        yield int(server.sockets[0].getsockname()[1])
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks)


def posted(over: FastTransport, server: WireServer) -> AbstractAsyncContextManager[Incoming]:
    return over.post(server.base_url, HEADERS, b"", progress=Progress())


async def ask(over: FastTransport, url: str, body: bytes = b"{}") -> tuple[int, bytes]:
    async with over.post(f"{url}/v1/messages", HEADERS, body, progress=Progress()) as reply:
        return reply.status, await reply.read()


async def broken(over: FastTransport, url: str, body: bytes = b"{}") -> Broken:
    with pytest.raises(Broken) as caught:
        await ask(over, url, body)
    return caught.value


def one_by_one(plays: Sequence[Play], requests: int, **options: Any) -> tuple[list[Any], WireServer]:
    """What a server's plays become, one after the other: (status, body), or Broken."""

    async def job() -> tuple[list[Any], WireServer]:
        got: list[Any] = []
        async with WireServer(plays) as server, transport(**options) as over:
            for _ in range(requests):
                try:
                    got.append(await ask(over, server.base_url))
                except Broken as error:
                    got.append(error)
        return got, server

    return run(job())


def raw(*pieces: bytes, then: str = "keep") -> Play:
    return Play(list(pieces), then=then)


# replies -------------------------------------------------------------------------------------

CHUNKED = (
    b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"
    b"HTTP/1.1 200 OK\r\nX-Twice: a\r\nx-empty:\r\nTransfer-Encoding: chunked\r\nX-Twice: b\r\n\r\n"
    b"5;name=value\r\nfirst\r\n00b\r\n and second\r\n0\r\nx-trailer: t\r\n\r\n"
)


async def chunks_of(*pieces: bytes) -> tuple[dict[str, str], bytes, int]:
    """A chunked reply in these pieces, twice: once read, once as a stream."""
    async with WireServer([Play(pieces)]) as server, transport() as over:
        status, body = await ask(over, server.base_url)
        async with posted(over, server) as reply:
            assert b"".join([chunk async for chunk in reply.chunks()]) == body
            assert (status, reply.status) == (200, 200)
            return dict(reply.headers), body, server.connections


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, len(CHUNKED) - 1), max_size=12, unique=True).map(sorted))
def test_a_reply_in_pieces_is_the_reply(cuts: list[int]) -> None:
    pieces = [CHUNKED[start:end] for start, end in zip([0, *cuts], [*cuts, len(CHUNKED)], strict=True)]
    headers, body, connections = run(chunks_of(*pieces))
    assert body == b"first and second"
    assert headers == {"x-twice": "a, b", "x-empty": "", "transfer-encoding": "chunked"}
    assert connections == 1


def test_a_reply_byte_by_byte() -> None:
    assert run(chunks_of(*[bytes([byte]) for byte in CHUNKED]))[1] == b"first and second"


@pytest.mark.parametrize(
    ("head", "end"),
    [
        (b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok", "keep"),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok", "keep"),
        (b"HTTP/1.1 200 OK\r\n\r\nok", CLOSE),
        (b"HTTP/1.0 200 OK\r\n\r\nok", CLOSE),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", CLOSE),
    ],
)
def test_a_connection_that_ends_is_not_used_again(head: bytes, end: str) -> None:
    got, server = one_by_one([raw(head, then=end)], 3)
    assert got == [(200, b"ok")] * 3
    assert server.connections == 3


def test_replies_without_a_body_and_an_older_server_that_keeps_its_connection() -> None:
    old = raw(b"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nok")
    got, server = one_by_one([raw(b"HTTP/1.1 204 No Content\r\n\r\n"), old, old], 3)
    assert got == [(204, b""), (200, b"ok"), (200, b"ok")]
    assert server.connections == 1


def test_an_upgrade_that_nobody_asked_for_is_an_answer() -> None:
    head = b"HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nbytes of something else"
    got, server = one_by_one([raw(head), OK], 2)
    assert got == [(101, b""), (200, b"whole")]
    assert server.connections == 2


@pytest.mark.parametrize("more", [b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nwrong", b"garbage", b"H"])
def test_what_follows_a_reply_is_never_the_next(more: bytes) -> None:
    got, server = one_by_one([raw(*OK.chunks, more), raw(*OK.chunks)], 3)  # type: ignore[arg-type]
    assert got == [(200, b"whole")] * 3
    together, other = one_by_one([raw(b"".join([*OK.chunks, more])), OK], 3)  # type: ignore[list-item]
    assert together == got
    assert server.connections == other.connections == 2


def test_what_a_server_compresses_is_read_as_httpx_reads_it() -> None:
    plays = [
        plain(200, gzip.compress(b"whole"), {"content-encoding": "gzip"}),
        plain(200, zlib.compress(b"whole"), {"content-encoding": "deflate"}),
        plain(200, zlib.compress(b"whole")[2:-4], {"content-encoding": "deflate"}),
        plain(200, b"whole", {"content-encoding": "identity"}),
        plain(200, b"whole", {"content-encoding": "unheard-of"}),
    ]
    got, server = one_by_one(plays, 5)
    assert got == [(200, b"whole")] * 5
    assert server.connections == 1


def test_a_compressed_stream() -> None:
    async def job(body: bytes) -> bytes:
        play = plain(200, body, {"content-encoding": "gzip"})
        async with WireServer([play]) as server, transport() as over, posted(over, server) as reply:
            return b"".join([chunk async for chunk in reply.chunks()])

    assert run(job(gzip.compress(b"whole"))) == b"whole"
    with pytest.raises(Broken, match="DecodingError"):
        run(job(b"no gzip"))


# requests ------------------------------------------------------------------------------------


def test_a_request_on_the_wire() -> None:
    async def job() -> tuple[list[str], int]:
        async with WireServer([OK]) as server, transport() as over:
            url = f"{server.base_url}/päth/v1?q=a b"
            async with over.post(url, [("Host", "x.example"), *HEADERS], b"body", progress=Progress()):
                pass
            await ask(over, server.base_url)
            assert [seen.body for seen in server.seen] == [b"body", b"{}"]
            return [seen.head for seen in server.seen], server.port

    (given_host, own_host), port = run(job())
    lines = ["Host: x.example", *(f"{name}: {value}" for name, value in HEADERS), "content-length: 4"]
    assert given_host.split("\r\n") == ["POST /p%C3%A4th/v1?q=a%20b HTTP/1.1", *lines]
    assert own_host.split("\r\n")[:2] == ["POST /v1/messages HTTP/1.1", f"host: 127.0.0.1:{port}"]


def test_a_header_with_a_line_break_is_not_sent() -> None:
    over = FastTransport(1)
    with pytest.raises(ValueError, match="line break"):
        over.post("http://127.0.0.1:1", [("x", "a\r\nb: c")], b"", progress=Progress())


def test_an_address_of_version_6() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.writelines(OK.chunks)  # type: ignore[arg-type]
        writer.close()

    async def job() -> int:
        async with serving(serve, "::1") as port, transport() as over:
            assert await ask(over, f"http://[::1]:{port}") == (200, b"whole")
            return port

    seen: list[str] = []
    try:
        port = run(job())
    except OSError:
        pytest.skip("no IPv6 here")
    assert f"host: [::1]:{port}\r\n" in seen[0]


# breaks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("play", "kind"),
    [
        (raw(b"SSH-2.0-OpenSSH\r\n", then=CLOSE), "reset"),
        (raw(b"HTTP/1.1 200 OK\r\ncontent-le", then=CLOSE), "reset"),
        (raw(b"HTTP/1.1 100 Continue\r\n\r\n", then=CLOSE), "reset"),
        (raw(b"HTTP/1.1 200 OK\r\nx: " + b"y" * 200_000, then=HANG), "reset"),
        (raw(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\ntransfer-encoding: chunked\r\n\r\n"), "reset"),
        (raw(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok", then=CLOSE), "torn"),
        (raw(b"HTTP/1.1 200 OK\r\n\r\nok", then=RESET), "torn"),
        (raw(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n", then=CLOSE), "torn"),
        (raw(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nok\r\n", then=HANG), "torn"),
    ],
)
def test_what_breaks_tells_how_far_it_came(play: Play, kind: str) -> None:
    (first, second), server = one_by_one([play, OK], 2)
    assert (first.kind, first.sent) == (kind, True)
    assert second == (200, b"whole")
    assert server.connections == 2


def test_a_break_within_a_head_is_no_stale_connection() -> None:
    plays = [OK, raw(then=CLOSE), OK, raw(b"HTTP/1.1 2", then=CLOSE)]
    (_, stale, _, begun), _ = one_by_one(plays, 4)
    assert (stale.kind, begun.kind) == ("stale", "reset")


def test_what_came_before_a_break_is_read_first() -> None:
    async def job() -> list[bytes]:
        head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
        play = raw(head, b"2\r\nok\r\n", then=RESET)
        got = []
        async with WireServer([play]) as server, transport() as over, posted(over, server) as reply:
            chunks = reply.chunks()
            got.append(await anext(chunks))
            with pytest.raises(Broken):
                await anext(chunks)
        return got

    assert run(job()) == [b"ok"]


def test_a_cancelled_read_closes_and_the_next_exchange_is_clean() -> None:
    half = raw(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf", then=HANG)

    async def job() -> tuple[list[int], tuple[int, bytes]]:
        async with WireServer([half, half, OK]) as server, transport() as over:
            for read in (Incoming.read, first_chunk_and_more):
                begun = asyncio.Event()
                task = asyncio.create_task(reading(over, server.base_url, begun, read))
                await begun.wait()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            last = await ask(over, server.base_url)
            return [seen.connection for seen in server.seen], last

    async def reading(over: FastTransport, url: str, begun: asyncio.Event, read: Any) -> None:
        async with over.post(url, HEADERS, b"", progress=Progress()) as reply:
            begun.set()
            await read(reply)

    async def first_chunk_and_more(reply: Any) -> None:
        async for _ in reply.chunks():
            pass

    assert run(job()) == ([0, 1, 2], (200, b"whole"))


def test_a_reply_that_nobody_read_to_its_end_takes_its_connection_with_it() -> None:
    half = raw(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf", then=HANG)

    async def job() -> list[int]:
        async with WireServer([half, OK]) as server, transport() as over:
            async with posted(over, server) as reply:
                assert reply.status == 200
            await ask(over, server.base_url)
            return [seen.connection for seen in server.seen]

    assert run(job()) == [0, 1]


# what was sent -------------------------------------------------------------------------------


@asynccontextmanager
async def deaf(then: Callable[[asyncio.StreamWriter], None], **options: Any) -> AsyncIterator[str]:
    """A server that reads a request's head and no more, and then does something."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        then(writer)

    async with serving(serve, **options) as port:
        yield f"{'https' if 'ssl' in options else 'http'}://localhost:{port}"


def test_a_request_that_has_not_left_was_not_sent() -> None:
    async def job() -> Broken:
        async with deaf(lambda writer: writer.transport.abort()) as url, transport() as over:
            return await broken(over, url, LARGE)

    got = run(job())
    assert (got.kind, got.sent) == ("reset", False)


def test_a_request_that_is_given_up_in_the_turn_it_was_asked_in_never_leaves() -> None:
    async def job() -> tuple[bool, int]:
        async with WireServer([OK]) as server, transport() as over:
            await ask(over, server.base_url)
            (origin,) = over._origins.values()
            connection = origin.free.pop()
            connection.ask([b"POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n"])
            left = connection.flushed
            connection.abort()
            await asyncio.sleep(0.02)
            return left, len(server.seen)

    assert run(job()) == (False, 1)


def test_one_that_cannot_be_written_to_holds_up_no_other_of_its_turn() -> None:
    async def job() -> tuple[Broken, tuple[int, bytes]]:
        async with WireServer([OK, OK, OK]) as server, transport() as over:
            await asyncio.gather(ask(over, server.base_url), ask(over, server.base_url))
            (origin,) = over._origins.values()
            origin.free[-1]._transport.write_eof()
            return await asyncio.gather(broken(over, server.base_url, b""), ask(over, server.base_url))

    got, whole = run(job())
    assert (got.kind, got.sent, whole) == ("stale", False, (200, b"whole"))


def test_a_time_out_tells_whether_the_request_had_left() -> None:
    async def job(body: bytes) -> bool:
        progress, asked = Progress(), asyncio.Event()
        async with deaf(lambda _: asked.set()) as url, transport() as over:
            exchange = over.post(url, HEADERS, body, progress=progress)
            task = asyncio.create_task(exchange.__aenter__())
            await asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        return progress.sent

    assert run(job(b"small")) is True
    assert run(job(LARGE)) is False


def test_an_answer_that_comes_before_the_request_has_left() -> None:
    too_large = plain(413, b"too large").chunks

    async def job() -> tuple[tuple[int, bytes], list[bool]]:
        kept = []
        async with deaf(lambda writer: writer.writelines(too_large)) as url, transport() as over:  # type: ignore[arg-type]
            got = await ask(over, url, LARGE)
            kept.append(any(origin.free for origin in over._origins.values()))
        return got, kept

    assert run(job()) == ((413, b"too large"), [False])


def test_megabytes_each_way() -> None:
    async def job() -> tuple[int, bytes]:
        def echo(seen: Any) -> Play:
            return plain(200, seen.body)

        async with WireServer(echo) as server, transport() as over:
            return await ask(over, server.base_url, LARGE)

    assert run(job()) == (200, LARGE)


def test_a_slow_reader_makes_the_server_wait() -> None:
    async def job() -> tuple[int, int, bytes]:
        async with WireServer([plain(200, LARGE), OK]) as server, transport() as over:
            async with posted(over, server) as reply:
                while server.open_now and not reply._connection._held:
                    await asyncio.sleep(0)
                waiting = server.open_now
                held = reply._size
                got = [chunk async for chunk in reply.chunks()]
            assert await ask(over, server.base_url) == (200, b"whole")
            assert server.connections == 1
        return waiting, held, b"".join(got)

    waiting, held, body = run(job())
    assert waiting == 1
    assert held <= fast_connection._HELD + 256 * 1024
    assert body == LARGE


# the pool ------------------------------------------------------------------------------------


def test_no_more_idle_connections_are_kept_than_asked_for() -> None:
    async def job() -> tuple[int, int]:
        gate = asyncio.Event()
        async with WireServer([Play([gate, *OK.chunks])]) as server, transport(keep=2) as over:
            asked = [asyncio.create_task(ask(over, server.base_url)) for _ in range(5)]
            while server.open_now < 5:
                await asyncio.sleep(0)
            gate.set()
            await asyncio.gather(*asked)
            while server.closed < 3:
                await asyncio.sleep(0)
            await ask(over, server.base_url)
            return server.connections, server.closed

    assert run(job()) == (5, 3)


def test_old_connections_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_connection, "KEEP_ALIVE", 0.0)
    got, server = one_by_one([OK], 3)
    assert got == [(200, b"whole")] * 3
    assert server.connections == 3


def test_a_connection_in_use_closes_when_its_exchange_ends() -> None:
    async def job() -> None:
        async with WireServer([OK]) as server:
            over = FastTransport(4)
            async with posted(over, server) as reply:
                await over.aclose()
                assert await reply.read() == b"whole"
            while not server.closed:
                await asyncio.sleep(0)

    run(job())


# TLS -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ssl.SSLContext]:
    """A certificate for localhost that nobody vouches for, and a server's context with it."""
    if not shutil.which("openssl"):
        pytest.skip("needs openssl to make a certificate")
    folder = tmp_path_factory.mktemp("tls")
    key, cert = folder / "key.pem", folder / "cert.pem"
    command = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost"]
    made = [*command.split(), *names, "-keyout", str(key), "-out", str(cert)]
    subprocess.run(made, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    return cert, context


@pytest.fixture
def trusted(certificate: tuple[Path, ssl.SSLContext], monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """The server's context, with its certificate among the trusted ones."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    return certificate[1]


@asynccontextmanager
async def tls_server(context: ssl.SSLContext) -> AsyncIterator[tuple[str, list[Any]]]:
    """Echoes each body, over TLS. Yields its address and what was asked."""
    seen: list[Any] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = re.search(rb"content-length: (\d+)", head)
            body = await reader.readexactly(int(length[1]) if length else 0)
            seen.append((writer, body))
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)

    async with serving(serve, ssl=context) as port:
        yield f"https://localhost:{port}", seen


def test_a_trusted_certificate_and_one_connection_for_all(trusted: ssl.SSLContext) -> None:
    async def job() -> tuple[list[tuple[int, bytes]], list[Any]]:
        async with tls_server(trusted) as (url, seen), transport() as over:
            over.prepare(url)
            return [await ask(over, url, body) for body in (b"a", b"", LARGE[:5_000_000], b"b")], seen

    got, seen = run(job())
    assert got == [(200, b"a"), (200, b""), (200, LARGE[:5_000_000]), (200, b"b")]
    assert len({writer for writer, _ in seen}) == 1


def test_an_unknown_certificate(certificate: tuple[Path, ssl.SSLContext]) -> None:
    async def job() -> tuple[Broken, list[Any]]:
        async with tls_server(certificate[1]) as (url, seen), transport() as over:
            return await broken(over, url), seen

    got, seen = run(job())
    assert (got.kind, got.sent, seen) == ("tls", False, [])


def test_a_certificate_for_another_name(trusted: ssl.SSLContext) -> None:
    async def job() -> Broken:
        async with tls_server(trusted) as (url, _), transport() as over:
            return await broken(over, url.replace("localhost", "127.0.0.1"))

    assert run(job()).kind == "tls"


def test_a_handshake_that_breaks_or_never_ends() -> None:
    async def job(*, hang: bool) -> Broken:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            if hang:
                await reader.read()
            writer.close()

        async with serving(serve) as port, transport(connect_timeout=0.2) as over:
            return await broken(over, f"https://localhost:{port}")

    for hang in (False, True):
        got = run(job(hang=hang))
        assert (got.kind, got.sent) == ("connect", False)


def test_behind_tls_too_it_is_known_what_has_left(trusted: ssl.SSLContext) -> None:
    async def job(body: bytes) -> Broken:
        async with deaf(lambda writer: writer.transport.abort(), ssl=trusted) as url, transport() as over:
            return await broken(over, url, body)

    assert run(job(LARGE)).sent is False
    assert run(job(b"small")).sent is True


# proxies -------------------------------------------------------------------------------------


@asynccontextmanager
async def proxy_server() -> AsyncIterator[tuple[str, list[str]]]:
    """A proxy that tunnels. Yields its address and the heads that it was sent."""
    heads: list[str] = []

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65_536):
            writer.write(data)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        host, _, port = heads[-1].split()[1].rpartition(":")
        there, out = await asyncio.open_connection(host, int(port))
        writer.write(b"HTTP/1.1 200 Connection established\r\nvia: test\r\n\r\n")
        try:
            await asyncio.gather(pipe(reader, out), pipe(there, writer))
        finally:
            out.transport.abort()

    async with serving(serve) as port:
        yield f"127.0.0.1:{port}", heads


def test_a_tunnel_for_what_is_encrypted(trusted: ssl.SSLContext) -> None:
    async def job() -> list[str]:
        async with tls_server(trusted) as (url, seen), proxy_server() as (proxy, heads):
            async with transport(proxy=f"http://us%40er:pass@{proxy}") as over:
                assert [await ask(over, url, body) for body in (b"a", b"b")] == [(200, b"a"), (200, b"b")]
            host = url.removeprefix("https://")
            assert len(seen) == 2
            return [head.replace(host, "HOST") for head in heads]

    assert run(job()) == [
        "CONNECT HOST HTTP/1.1\r\nhost: HOST\r\nproxy-authorization: Basic dXNAZXI6cGFzcw==\r\n\r\n"
    ]


def test_a_break_behind_a_new_tunnel_is_no_stale_connection(trusted: ssl.SSLContext) -> None:
    async def job() -> Broken:
        async with (
            deaf(lambda writer: writer.close(), ssl=trusted) as url,
            proxy_server() as (proxy, _),
            transport(proxy=f"http://{proxy}") as over,
        ):
            return await broken(over, url)

    assert run(job()).kind == "reset"


def test_a_proxy_is_told_the_whole_address_of_what_it_may_read() -> None:
    async def job() -> str:
        async with WireServer([OK]) as proxy:
            async with transport(proxy=f"http://user:pass@127.0.0.1:{proxy.port}") as over:
                assert await ask(over, "http://x.example:81/gate") == (200, b"whole")
            return proxy.seen[0].head

    lines = run(job()).split("\r\n")
    assert lines[:2] == ["POST http://x.example:81/gate/v1/messages HTTP/1.1", "host: x.example:81"]
    assert "proxy-authorization: Basic dXNlcjpwYXNz" in lines


@pytest.mark.parametrize(
    ("play", "kind"),
    [
        (plain(407, b"who are you?"), "proxy"),
        (raw(b"HTTP/1.1 502 Bad Gateway\r\n\r\n", then=CLOSE), "proxy"),
        (raw(then=CLOSE), "reset"),
        (raw(then=HANG), "connect"),
        (raw(b"HTTP/1.1 200 OK\r\n\r\nbytes that nobody asked for", then=CLOSE), "connect"),
    ],
)
def test_a_proxy_that_opens_no_tunnel(play: Play, kind: str) -> None:
    async def job() -> Broken:
        async with (
            WireServer([play]) as proxy,
            transport(proxy=proxy.base_url, connect_timeout=0.3) as over,
        ):
            return await broken(over, "https://x.example")

    got = run(job())
    assert (got.kind, got.sent) == (kind, False)


def test_a_proxy_where_nobody_listens() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        proxy = f"http://127.0.0.1:{probe.getsockname()[1]}"

    async def job() -> Broken:
        async with transport(proxy=proxy) as over:
            return await broken(over, "https://x.example")

    assert run(job()).kind == "connect"


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "https://127.0.0.1:1"])
def test_a_proxy_that_only_the_default_can_use(proxy: str) -> None:
    with pytest.raises(ConfigError, match='transport="httpx"'):
        FastTransport(1, proxy=proxy).prepare("https://x.example")
