"""The seam to the network: certificates, proxies, and another transport in its place."""

from __future__ import annotations

import asyncio
import json
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from extract.client import Client
from extract.exchange import Call
from extract.protocol.blocks import text_block
from extract.protocol.reply import Action, Fault, Message
from extract.protocol.request import Envelope
from extract.transport import Answer, Broken, Headers, Progress, environment_proxy
from tests.wire_server import CLOSE, Play, WireServer

REQUEST = Envelope("kimi-k3.1-pro").request([text_block("row")])


async def send(client: Client) -> Call:
    async with client.connect() as line:
        return await line.send(REQUEST)


# certificates --------------------------------------------------------------------------------


@pytest.mark.skipif(not shutil.which("openssl"), reason="needs openssl to make a certificate")
def test_a_certificate_that_nobody_vouches_for_stops_the_run(tmp_path: Path) -> None:
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=localhost",
    ]
    subprocess.run([*command, "-keyout", str(key), "-out", str(cert)], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    reached: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.append(await reader.read(1))
        writer.close()

    async def run() -> Call:
        server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
        async with server:
            port = server.sockets[0].getsockname()[1]
            return await send(Client(f"https://localhost:{port}", api_key="k-12345678"))

    reply = asyncio.run(run()).reply
    assert isinstance(reply, Fault)
    assert (reply.kind, reply.action, reply.maybe_paid) == ("tls", Action.STOP, False)
    assert reached == []


def test_a_plain_server_at_an_https_address_stops_the_run() -> None:
    async def run() -> Call:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read(1)
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            writer.close()

        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            return await send(Client(f"https://127.0.0.1:{port}", api_key="k-12345678"))

    reply = asyncio.run(run()).reply
    assert isinstance(reply, Fault)
    assert (reply.kind, reply.action) == ("tls", Action.STOP)


# proxies -------------------------------------------------------------------------------------


def test_proxies_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert environment_proxy("https://x.example") is None
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", "inside.example")
    assert environment_proxy("https://x.example") == "http://proxy.example:3128"
    assert environment_proxy("https://inside.example") is None
    assert environment_proxy("https://127.0.0.1:8000") is None
    assert environment_proxy("https://localhost:8000") is None
    assert environment_proxy("http://x.example") is None
    monkeypatch.setenv("ALL_PROXY", "http://all.example")
    assert environment_proxy("http://x.example") == "http://all.example"


def test_a_proxy_that_refuses_stops_the_run() -> None:
    refusal = Play([b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n"], then=CLOSE)

    async def run() -> tuple[Call, WireServer]:
        async with WireServer([refusal]) as proxy:
            client = Client("https://x.example", api_key="k-12345678", proxy=proxy.base_url)
            return await send(client), proxy

    call, proxy = asyncio.run(run())
    assert isinstance(call.reply, Fault)
    assert (call.reply.kind, call.reply.action) == ("proxy", Action.STOP)
    assert proxy.seen[0].head.startswith("CONNECT x.example:443")
    assert "k-12345678" not in proxy.seen[0].head


# another transport ---------------------------------------------------------------------------


class Canned:
    """An answer out of memory."""

    def __init__(self, status: int, body: bytes) -> None:
        self.status = status
        self.headers: Mapping[str, str] = {"content-type": "application/json"}
        self._body = body

    async def chunks(self) -> AsyncIterator[bytes]:
        yield self._body


class InMemory:
    """A transport without a network."""

    def __init__(self, concurrency: int) -> None:
        self.concurrency = concurrency
        self.closed = False
        self.bodies: list[bytes] = []

    @asynccontextmanager
    async def post(
        self, url: str, headers: Headers, body: bytes, *, progress: Progress
    ) -> AsyncIterator[Answer]:
        self.bodies.append(body)
        progress.sent = True
        if len(self.bodies) > 1:
            raise Broken("reset", "gone", sent=True)
        yield Canned(200, json.dumps({"type": "message", "content": [text_block("{}")]}).encode())

    async def aclose(self) -> None:
        self.closed = True


def test_another_transport_takes_the_networks_place() -> None:
    made: list[InMemory] = []

    def factory(concurrency: int) -> InMemory:
        made.append(InMemory(concurrency))
        return made[-1]

    async def run() -> list[Call]:
        client = Client("http://127.0.0.1:1", api_key="k", transport=factory)
        async with client.connect(concurrency=3) as line:
            return [await line.send(REQUEST), await line.send(REQUEST)]

    first, second = asyncio.run(run())
    assert isinstance(first.reply, Message)
    assert isinstance(second.reply, Fault)
    assert (second.reply.kind, second.reply.maybe_paid) == ("reset", True)
    assert made[0].closed
    assert made[0].concurrency == 3
    assert made[0].bodies == [REQUEST.body(), REQUEST.body()]
