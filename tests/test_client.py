"""The client over real sockets: what goes out, what plain answers become, which address is used."""

from __future__ import annotations

import asyncio
import gzip
import json
import pickle
import socket
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

import pytest

from extract.client import Client, Line
from extract.errors import ConfigError
from extract.exchange import Call
from extract.protocol.blocks import text_block
from extract.protocol.reply import Action, Fault, Message
from extract.protocol.request import Envelope, Request
from extract.protocol.route import FIRST_PAUSE, STORM
from tests.wire_server import CLOSE, HANG, RESET, Play, Seen, WireServer, plain

T = TypeVar("T")
KEY = "sk-test-1234567890"
REPLY = {
    "id": "m1",
    "type": "message",
    "content": [{"type": "text", "text": "{}"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 3, "output_tokens": 2},
}
OK = plain(200, REPLY, {"request-id": "r1"})


def request(text: str = "row", **envelope: Any) -> Request:
    return Envelope(**({"model": "kimi-k3.1-pro"} | envelope)).request([text_block(text)])


def client(server: WireServer | str, **options: Any) -> Client:
    url = server if isinstance(server, str) else server.base_url
    return Client(url, **({"api_key": KEY, "timeout": 5.0} | options))


def talk(plays: Any, use: Callable[[Line, WireServer], Awaitable[T]], **options: Any) -> T:
    """Runs `use` with a line to a server that plays `plays`."""

    async def run() -> T:
        async with WireServer(plays) as server, client(server, **options).connect(concurrency=8) as line:
            return await use(line, server)

    return asyncio.run(run())


def once(play: Play, **options: Any) -> Call:
    async def use(line: Line, _: WireServer) -> Call:
        return await line.send(request())

    return talk([play], use, **options)


def fault(call: Call) -> Fault:
    assert isinstance(call.reply, Fault), call
    return call.reply


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Hands:
    """A clock whose hands a test moves."""

    def __init__(self, epoch: float = 1_767_614_400.0) -> None:
        self.at, self.epoch = 0.0, epoch

    def now(self) -> float:
        return self.at

    def time(self) -> float:
        return self.epoch + self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds


# what goes out -------------------------------------------------------------------------------


def test_a_request_and_its_call() -> None:
    async def use(line: Line, server: WireServer) -> tuple[Call, Seen]:
        return await line.send(request()), server.seen[0]

    call, seen = talk([OK], use)
    assert isinstance(call.reply, Message)
    assert call.reply.request_id == call.request_id == "r1"
    assert (call.status, call.streamed) == (200, False)
    assert call.latency >= 0
    assert seen.head.startswith("POST /v1/messages HTTP/1.1")
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.headers["content-type"] == "application/json"
    assert "x-api-key" not in seen.headers
    assert seen.json["messages"] == [{"role": "user", "content": [text_block("row")]}]


def test_without_a_key_none_is_sent() -> None:
    async def use(line: Line, server: WireServer) -> Seen:
        await line.send(request())
        return server.seen[0]

    assert "authorization" not in talk([OK], use, api_key="").headers


def test_the_chat_wire_has_its_own_path_and_replies() -> None:
    body = {"id": "c", "choices": [{"message": {"content": "{}"}, "finish_reason": "length"}]}

    async def use(line: Line, server: WireServer) -> tuple[Call, Seen]:
        return await line.send(request(wire="chat")), server.seen[0]

    call, seen = talk([plain(200, body)], use)
    assert seen.head.startswith("POST /v1/chat/completions ")
    assert isinstance(call.reply, Message)
    assert call.reply.stop_reason == "max_tokens"


def test_a_path_in_the_address_is_kept() -> None:
    async def run() -> str:
        async with WireServer([OK]) as server, client(f"{server.base_url}/gate/v1/").connect() as line:
            await line.send(request())
            return server.seen[0].head

    assert asyncio.run(run()).startswith("POST /gate/v1/messages ")


def test_compressed_replies_are_read() -> None:
    body = gzip.compress(json.dumps(REPLY).encode())
    assert isinstance(once(plain(200, body, {"content-encoding": "gzip"})).reply, Message)
    assert fault(once(plain(200, b"no gzip", {"content-encoding": "gzip"}))).kind == "torn"


def test_rate_limit_headers_are_told() -> None:
    call = once(plain(200, REPLY, {"X-RateLimit-Remaining": "7", "Retry-After": "1", "X-Other": "1"}))
    assert call.limits == {"x-ratelimit-remaining": "7", "retry-after": "1"}


# connections ---------------------------------------------------------------------------------


def test_one_after_another_shares_a_connection() -> None:
    async def use(line: Line, server: WireServer) -> int:
        for _ in range(5):
            await line.send(request())
        return server.connections

    assert talk([OK], use) == 1


def test_as_many_fly_as_are_sent_and_none_waits_for_a_pool() -> None:
    async def run() -> WireServer:
        gate = asyncio.Event()
        held = Play([gate, *OK.chunks])
        async with WireServer([held]) as server, client(server).connect(concurrency=4) as line:
            sends = [asyncio.create_task(line.send(request(str(index)))) for index in range(40)]
            while server.open_now < 40:
                await asyncio.sleep(0)
            gate.set()
            assert all(isinstance(call.reply, Message) for call in await asyncio.gather(*sends))
        return server

    server = asyncio.run(run())
    assert server.most_open == 40
    assert sorted(seen.json["messages"][0]["content"][0]["text"] for seen in server.seen) == sorted(
        map(str, range(40))
    )


def test_connections_are_closed_at_the_end() -> None:
    async def run() -> None:
        async with WireServer([OK]) as server:
            async with client(server).connect() as line:
                await asyncio.gather(*(line.send(request()) for _ in range(6)))
            while server.closed < server.connections:
                await asyncio.sleep(0)

    asyncio.run(asyncio.wait_for(run(), 5))


def test_a_client_serves_many_event_loops() -> None:
    async def run(used: Client) -> Call:
        async with used.connect() as line:
            return await line.send(request())

    async def run_with_server() -> tuple[Client, Call]:
        async with WireServer([OK]) as server:
            made = client(server)
            return made, await run(made)

    made, first = asyncio.run(run_with_server())
    assert isinstance(first.reply, Message)
    assert fault(asyncio.run(run(made))).kind == "connect"


def test_a_cancelled_send_leaves_the_line_fit_for_others() -> None:
    async def run() -> tuple[Call, WireServer]:
        plays = [Play([], then=HANG), OK]
        async with WireServer(plays) as server, client(server).connect() as line:
            task = asyncio.create_task(line.send(request()))
            while not server.seen:
                await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return await line.send(request()), server

    call, server = asyncio.run(run())
    assert isinstance(call.reply, Message)
    assert server.seen[1].connection == 1


# what goes wrong -----------------------------------------------------------------------------


def test_an_address_where_nobody_listens() -> None:
    url = f"http://127.0.0.1:{free_port()}"

    async def run() -> Call:
        async with client(url).connect() as line:
            return await line.send(request())

    call = asyncio.run(run())
    got = fault(call)
    assert (got.kind, got.action, got.maybe_paid) == ("connect", Action.RETRY, False)
    assert (call.status, call.address) == (None, url)


def test_a_time_out_after_sending_may_have_been_paid() -> None:
    got = fault(once(Play([], then=HANG), timeout=0.3))
    assert (got.kind, got.action, got.maybe_paid) == ("timeout", Action.RETRY, True)
    assert "0.3 s" in got.message


def test_a_body_that_does_not_end_in_time() -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"
    call = once(Play([head], then=HANG), timeout=0.3)
    assert (fault(call).kind, call.status) == ("timeout", 200)


@pytest.mark.parametrize("then", [CLOSE, RESET])
def test_a_connection_that_ends_without_an_answer(then: str) -> None:
    got = fault(once(Play([], then=then)))
    assert (got.kind, got.action, got.maybe_paid) == ("reset", Action.RETRY, True)


@pytest.mark.parametrize("then", [CLOSE, RESET])
def test_an_answer_that_is_cut(then: str) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"
    got = fault(once(Play([head], then=then)))
    assert (got.kind, got.maybe_paid) == ("torn", True)


def test_a_connection_that_was_idle_too_long_is_stale() -> None:
    async def use(line: Line, _: WireServer) -> list[Call]:
        return [await line.send(request()) for _ in range(3)]

    first, second, third = talk([OK, Play([], then=CLOSE), OK], use)
    assert isinstance(first.reply, Message)
    assert fault(second).kind == "stale"
    assert isinstance(third.reply, Message)


def test_an_idle_connection_that_the_server_closed_is_not_used() -> None:
    async def use(line: Line, server: WireServer) -> tuple[list[Call], int]:
        calls = []
        for _ in range(3):
            calls.append(await line.send(request()))
            while server.closed < server.connections:
                await asyncio.sleep(0)
        return calls, server.connections

    calls, connections = talk([Play(OK.chunks, then=CLOSE)], use)
    assert all(isinstance(call.reply, Message) for call in calls)
    assert connections == 3


def test_a_redirect_is_not_followed() -> None:
    async def use(line: Line, server: WireServer) -> tuple[Call, int]:
        return await line.send(request()), len(server.seen)

    call, requests = talk([plain(307, "", {"location": "http://127.0.0.1:1/"})], use)
    assert (fault(call).kind, fault(call).action, requests) == ("moved", Action.STOP, 1)


def test_bytes_that_are_no_http() -> None:
    assert fault(once(Play([b"SSH-2.0-OpenSSH\r\n\r\n"], then=CLOSE))).action is Action.RETRY


def test_a_wait_until_a_date_survives_a_wrong_clock() -> None:
    hands = Hands()
    hands.epoch += 600
    headers = {"date": "Mon, 05 Jan 2026 12:00:00 GMT", "retry-after": "Mon, 05 Jan 2026 12:00:20 GMT"}

    async def run() -> Call:
        async with (
            WireServer([plain(429, "", headers)]) as server,
            client(server).connect(clock=hands) as line,
        ):
            return await line.send(request())

    assert fault(asyncio.run(run())).retry_after == 20.0


def test_nothing_is_asked_twice() -> None:
    async def use(line: Line, server: WireServer) -> int:
        await line.send(request())
        return len(server.seen)

    for play in (plain(500, ""), plain(429, ""), plain(529, ""), Play([], then=RESET)):
        assert talk([play], use) == 1


# the fallback address ------------------------------------------------------------------------


def two_addresses(
    main_plays: Any, use: Callable[[Line, WireServer, WireServer, Hands], Awaitable[T]], **options: Any
) -> T:
    async def run() -> T:
        hands = Hands()
        async with WireServer(main_plays) as main, WireServer([OK]) as spare:
            made = client(main, fallback_url=spare.base_url, **options)
            async with made.connect(clock=hands) as line:
                return await use(line, main, spare, hands)

    return asyncio.run(run())


def test_a_storm_of_server_errors_moves_to_the_fallback_and_back() -> None:
    async def use(line: Line, main: WireServer, spare: WireServer, hands: Hands) -> None:
        for _ in range(STORM):
            assert (await line.send(request())).address == main.base_url
        assert (await line.send(request())).address == spare.base_url
        hands.at += FIRST_PAUSE
        assert (await line.send(request())).address == main.base_url
        assert (await line.send(request())).address == main.base_url

    two_addresses([*[plain(503, "")] * STORM, OK], use)


def test_an_address_that_cannot_be_reached_is_left_at_once() -> None:
    async def run() -> tuple[str, str, Any]:
        async with WireServer([OK]) as spare:
            made = client(f"http://127.0.0.1:{free_port()}", fallback_url=spare.base_url)
            async with made.connect() as line:
                first, second = await line.send(request()), await line.send(request())
            assert fault(first).kind == "connect"
            assert isinstance(second.reply, Message)
            return second.address, spare.base_url, spare.seen[0].headers.get("authorization")

    used, spare, key = asyncio.run(run())
    assert used == spare
    assert key == f"Bearer {KEY}"


def test_a_rate_limit_or_a_bad_request_is_no_reason_to_move() -> None:
    async def use(line: Line, main: WireServer, spare: WireServer, _: Hands) -> int:
        for _ in range(12):
            await line.send(request())
        return len(spare.seen)

    for status in (429, 400, 529):
        assert two_addresses([plain(status, "")], use) == 0


def test_nothing_goes_to_an_address_that_nobody_chose(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> tuple[int, list[str]]:
        async with WireServer([OK]) as spare:
            monkeypatch.setenv("EXTRACT_FALLBACK_URL", spare.base_url)
            async with client(f"http://127.0.0.1:{free_port()}").connect() as line:
                calls = [await line.send(request()) for _ in range(8)]
            return len(spare.seen), [fault(call).kind for call in calls]

    assert asyncio.run(run()) == (0, ["connect"] * 8)


# configuration and keys ----------------------------------------------------------------------


def test_defaults_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Client().base_url == "https://direct.evolink.ai"
    assert Client().fallback_url == "https://api.evolink.ai"
    monkeypatch.setenv("EXTRACT_BASE_URL", "https://x.example/v1")
    monkeypatch.setenv("EXTRACT_FALLBACK_URL", "https://y.example")
    monkeypatch.setenv("EXTRACT_API_KEY", KEY)
    made = Client()
    assert (made.address, made.fallback_url) == ("https://x.example", "https://y.example")
    assert made.key is not None
    assert made.key.reveal() == KEY
    assert Client(api_key="other-key").key != made.key


def test_a_copy_with_changes_goes_to_the_same_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not replace(Client(fallback_url=""), timeout=1.0).fallback_url
    assert replace(Client(), timeout=1.0).fallback_url == "https://api.evolink.ai"
    alone = Client("https://x.example")
    monkeypatch.setenv("EXTRACT_FALLBACK_URL", "https://y.example")
    assert not replace(alone, timeout=1.0).fallback_url


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"wire": "smoke"}, "'messages' or 'chat'"),
        ({"stream": "often"}, "'auto', 'always' or 'never'"),
        ({"timeout": 0}, "above zero"),
        ({"idle_timeout": float("nan")}, "above zero"),
        ({"base_url": "http://x.example", "api_key": KEY}, "not encrypted"),
        ({"fallback_url": "http://x.example", "api_key": KEY}, "not encrypted"),
        ({"base_url": "nowhere"}, "base_url"),
    ],
)
def test_what_cannot_be_is_refused_when_made(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Client(**options)


@pytest.mark.parametrize("url", [None, "https://api.anthropic.com"])
def test_a_missing_key_is_told_before_anything_is_sent(url: str | None) -> None:
    async def run() -> None:
        async with Client(url).connect():
            pass

    with pytest.raises(ConfigError, match="EXTRACT_API_KEY"):
        asyncio.run(run())


def test_the_key_is_in_no_repr_and_in_no_fault() -> None:
    made = client("http://127.0.0.1:1")
    for shown in (repr(made), str(made), repr(vars(made)), f"{made.key}"):
        assert KEY not in shown
    said = {"error": {"type": "authentication_error", "message": f"invalid key {KEY} (Bearer {KEY})"}}
    call = once(plain(401, said))
    assert KEY not in repr(call)
    assert "***" in fault(call).message


def test_a_client_travels_to_other_processes_and_stays_equal() -> None:
    made = client("http://127.0.0.1:1")
    again = pickle.loads(pickle.dumps(made))
    assert again == made
    assert again.key == made.key


def test_a_proxy_that_cannot_be_is_told_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run(made: Client) -> None:
        async with made.connect():
            pass

    with pytest.raises(ConfigError, match="proxy"):
        asyncio.run(run(client("https://x.example", proxy="gopher://127.0.0.1:1")))
    monkeypatch.setenv("HTTPS_PROXY", "gopher://127.0.0.1:1")
    with pytest.raises(ConfigError, match="HTTPS_PROXY"):
        asyncio.run(run(client("https://x.example")))
    asyncio.run(run(client("http://127.0.0.1:1")))


@pytest.mark.parametrize(
    ("stream", "envelope", "streamed"),
    [
        ("auto", {}, False),
        ("auto", {"max_tokens": 16_384}, False),
        ("auto", {"max_tokens": 16_385}, True),
        ("auto", {"effort": "xhigh"}, True),
        ("always", {}, True),
        ("never", {"effort": "max"}, False),
    ],
)
def test_long_replies_are_streamed(stream: Any, envelope: dict[str, Any], streamed: bool) -> None:  # noqa: FBT001
    assert client("http://127.0.0.1:1", stream=stream).streams(request(**envelope)) is streamed
