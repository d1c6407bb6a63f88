"""Streamed replies over real sockets: the chunks of a test are the chunks on the wire."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from extract import exchange
from extract.client import Client
from extract.exchange import Call
from extract.protocol.blocks import text_block
from extract.protocol.reply import Action, Fault, Message
from extract.protocol.request import Envelope
from tests.streams import DONE, chunk, end, event, start, stream, text, thinking
from tests.wire_server import CLOSE, HANG, RESET, Play, WireServer, plain, streamed

WHOLE = stream(start(), thinking(0, "hm ", "漢"), text(1, '{"n":', "1}"), end())
BLOCKS = [
    {"type": "thinking", "thinking": "hm 漢", "signature": "sig"},
    {"type": "text", "text": '{"n":1}'},
]


async def send(server: WireServer, on_start: Callable[[], None] | None = None, **options: Any) -> Call:
    wire = options.pop("wire", "messages")
    made = Client(server.base_url, api_key="k", stream="always", **({"timeout": 5.0} | options))
    request = Envelope("kimi-k3.1-pro", wire=wire).request([text_block("row")])
    async with made.connect() as line:
        return await line.send(request, on_start=on_start)


def once(play: Play, **options: Any) -> Call:
    async def run() -> Call:
        async with WireServer([play]) as server:
            return await send(server, **options)

    return asyncio.run(asyncio.wait_for(run(), 10))


def fault(call: Call) -> Fault:
    assert isinstance(call.reply, Fault), call
    return call.reply


def message(call: Call) -> Message:
    assert isinstance(call.reply, Message), call
    return call.reply


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 10_000])
def test_chunks_of_every_size(size: int) -> None:
    pieces = [WHOLE[index : index + size] for index in range(0, len(WHOLE), size)]
    call = once(streamed(pieces, headers={"request-id": "r1"}))
    assert message(call).content == BLOCKS
    assert (call.streamed, call.status, call.request_id) == (True, 200, "r1")


def test_a_stream_that_ends_with_its_connection() -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\r\n"
    assert message(once(Play([head, WHOLE[:50], WHOLE[50:]], then=CLOSE))).content == BLOCKS


def test_the_request_asks_for_a_stream_that_nothing_holds_back() -> None:
    async def run() -> tuple[Any, dict[str, str]]:
        async with WireServer([streamed([WHOLE])]) as server:
            await send(server)
            return server.seen[0].json, server.seen[0].headers

    body, headers = asyncio.run(run())
    assert body["stream"] is True
    assert headers["accept"] == "text/event-stream"
    assert headers["accept-encoding"] == "identity"


def test_the_start_is_told_while_the_rest_is_still_to_come() -> None:
    async def run() -> tuple[Call, int]:
        begun, told = asyncio.Event(), []

        def on_start() -> None:
            told.append(1)
            begun.set()

        play = streamed([event("ping"), start(), begun, stream(text(0, "{}"), end())])
        async with WireServer([play]) as server:
            return await send(server, on_start), len(told)

    call, told = asyncio.run(asyncio.wait_for(run(), 10))
    assert message(call).content == [text_block("{}")]
    assert told == 1


def test_connections_are_used_again_after_a_stream() -> None:
    async def run() -> int:
        async with WireServer([streamed([WHOLE])]) as server:
            made = Client(server.base_url, api_key="k", stream="always")
            request = Envelope("kimi-k3.1-pro").request([text_block("row")])
            async with made.connect() as line:
                for _ in range(4):
                    message(await line.send(request))
            return server.connections

    assert asyncio.run(run()) == 1


# streams that end badly ----------------------------------------------------------------------


@pytest.mark.parametrize("then", [CLOSE, RESET])
@pytest.mark.parametrize("kept", [1, 3, 5, 7])
def test_a_stream_that_is_cut_is_torn(then: str, kept: int) -> None:
    events = [start(), *thinking(0, "hm"), *text(1, "{}"), *end()]
    got = fault(once(streamed(events[:kept], then=then, end=False)))
    assert (got.kind, got.action, got.maybe_paid) == ("torn", Action.RETRY, True)
    assert got.usage.input == 7


@pytest.mark.parametrize("then", [CLOSE, RESET])
def test_an_accident_after_the_last_event_changes_nothing(then: str) -> None:
    assert message(once(streamed([WHOLE], then=then, end=False))).content == BLOCKS


def test_nothing_of_a_torn_try_is_in_the_next() -> None:
    async def run() -> list[Call]:
        plays = [streamed([start(), *text(0, "torn part")[:2]], then=CLOSE, end=False), streamed([WHOLE])]
        async with WireServer(plays) as server:
            return [await send(server), await send(server)]

    torn, whole = asyncio.run(run())
    assert fault(torn).kind == "torn"
    assert message(whole).content == BLOCKS


def test_an_error_event_after_200() -> None:
    failed = event("error", error={"type": "overloaded_error", "message": "Overloaded"})
    got = fault(once(streamed([start(), failed])))
    assert (got.kind, got.action) == ("overloaded", Action.COOL_DOWN)


# streams that do not end ---------------------------------------------------------------------


def test_silence_ends_a_try() -> None:
    got = fault(once(streamed([start()], then=HANG, end=False), idle_timeout=0.05))
    assert (got.kind, got.message, got.maybe_paid) == ("timeout", "no byte for 0.05 s", True)
    assert got.usage.input == 7


def test_no_head_at_all_ends_a_try() -> None:
    got = fault(once(Play([], then=HANG), timeout=0.3))
    assert (got.kind, got.maybe_paid) == ("timeout", True)


class Dripping(WireServer):
    """Sends its last chunk again and again, a little apart, for ever."""

    async def _after(self, then: str, writer: asyncio.StreamWriter) -> bool:
        while True:
            ping = event("ping") if then == "ping" else b": still here\n\n"
            if then == "delta":
                delta = {"type": "text_delta", "text": "x"}
                ping = event("content_block_delta", index=0, delta=delta)
            writer.write(b"%x\r\n%s\r\n" % (len(ping), ping))
            await writer.drain()
            await asyncio.sleep(0.01)


def drip(then: str, **options: Any) -> Fault:
    async def run() -> Call:
        play = streamed([start(), text(0)[0]], then=then, end=False)
        async with Dripping([play]) as server:
            return await send(server, **options)

    return fault(asyncio.run(asyncio.wait_for(run(), 10)))


@pytest.mark.parametrize("what", ["ping", "comment"])
def test_pings_are_no_progress(what: str) -> None:
    got = drip(what, timeout=0.15, idle_timeout=3.0)
    assert (got.kind, got.message) == ("timeout", "no step forward for 0.15 s")


def test_even_a_stream_that_goes_on_has_a_deadline() -> None:
    got = drip("delta", timeout=3.0, idle_timeout=3.0, deadline=0.15)
    assert (got.kind, got.message) == ("timeout", "not whole after 0.15 s")


def test_a_server_that_does_not_close_after_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "_DRAIN", 0.02)
    assert message(once(streamed([WHOLE], then=HANG, end=False))).content == BLOCKS


# other answers to the same request -----------------------------------------------------------


def test_a_server_that_does_not_stream() -> None:
    body = {"type": "message", "content": [text_block("{}")], "stop_reason": "end_turn"}
    call = once(plain(200, body))
    assert message(call).content == [text_block("{}")]
    assert not call.streamed


def test_a_stream_under_another_content_type() -> None:
    assert message(once(plain(200, WHOLE, {"content-type": "application/json"}))).content == BLOCKS


def test_an_error_in_the_form_of_a_stream() -> None:
    failed = event("error", error={"type": "invalid_request_error", "message": "prompt is too long"})
    call = once(plain(400, failed, {"content-type": "text/event-stream"}))
    assert (fault(call).kind, call.status) == ("too_long", 400)


def test_html_in_place_of_a_stream() -> None:
    page = plain(200, "<html><title>Sign in</title></html>", {"content-type": "text/html"})
    assert fault(once(page)).kind == "malformed"
    assert fault(once(plain(200, "<html>", {"content-type": "text/event-stream"}))).kind == "torn"


def test_a_chat_stream() -> None:
    pieces = [
        chunk({"content": "{"}),
        chunk({"content": "}"}),
        chunk({}, "stop"),
        chunk(usage={"prompt_tokens": 2}),
    ]
    got = message(once(streamed([*pieces, DONE]), wire="chat"))
    assert got.content == [text_block("{}")]
    assert (got.stop_reason, got.usage.input) == ("end_turn", 2)
