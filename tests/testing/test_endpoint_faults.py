"""The faults that the knobs make, and the limits of the account."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
import pytest

from extract.testing import LocalEndpoint
from tests.testing.asks import body, caller, chat, post, text_of


@pytest.fixture
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint() as running:
        yield running


def _row(number: int, **changes: Any) -> dict[str, Any]:
    return body(messages=[{"role": "user", "content": f"Number: {number}"}], **changes)


@pytest.mark.parametrize(
    ("knob", "status", "kind"),
    [
        ("err400", 400, "invalid_request_error"),
        ("err429", 429, "engine_overloaded_error"),
        ("err500", 500, "server_error"),
        ("err503", 503, "server_error"),
        ("err529", 529, "overloaded_error"),
        ("error200", 200, "overloaded_error"),
    ],
)
def test_errors(endpoint: LocalEndpoint, knob: str, status: int, kind: str) -> None:
    endpoint.turn(knob)
    reply = post(endpoint, body())
    assert (reply.status_code, reply.json()["error"]["type"]) == (status, kind)
    assert reply.json()["request_id"] == reply.headers["request-id"]
    said = post(endpoint, chat(), "/v1/chat/completions")
    assert (said.status_code, said.json()["error"]["type"]) == (status, kind)
    assert endpoint.counts()["by_fault"] == {knob: 2}


@pytest.mark.parametrize(("knob", "status"), [("err502", 502), ("err504", 504), ("html", 200)])
def test_pages_of_a_gateway(endpoint: LocalEndpoint, knob: str, status: int) -> None:
    endpoint.turn(knob)
    reply = post(endpoint, body())
    assert reply.status_code == status
    assert reply.headers["content-type"] == "text/html"


@pytest.mark.parametrize("asked", [body(), body(stream=True)])
@pytest.mark.parametrize("knob", ["torn", "reset"])
def test_connections_that_break(endpoint: LocalEndpoint, knob: str, asked: dict[str, Any]) -> None:
    endpoint.turn(knob)
    with pytest.raises(httpx.RemoteProtocolError):
        post(endpoint, asked)
    endpoint.turn({knob: 0})
    assert post(endpoint, asked).status_code == 200


def test_a_torn_stream_has_begun(endpoint: LocalEndpoint) -> None:
    endpoint.turn("torn")
    seen = b""
    with (
        caller(endpoint) as client,
        pytest.raises(httpx.RemoteProtocolError),
        client.stream("POST", "/v1/messages", json=body(stream=True)) as reply,
    ):
        for piece in reply.iter_raw():
            seen += piece
    assert seen.startswith(b"event: message_start")
    assert b"message_stop" not in seen


def test_an_error_event_comes_after_the_start(endpoint: LocalEndpoint) -> None:
    endpoint.turn("error200")
    events = post(endpoint, body(stream=True)).text
    assert events.index("message_start") < events.index("event: error")
    assert "overloaded_error" in events
    assert "message_stop" not in events


def test_a_stalled_stream_pings_and_a_stalled_reply_is_silent(endpoint: LocalEndpoint) -> None:
    endpoint.turn("stalled,ping=20ms")
    with caller(endpoint) as client:
        with pytest.raises(httpx.ReadTimeout):
            client.post("/v1/messages", json=body(), timeout=0.2)
        with client.stream("POST", "/v1/messages", json=body(stream=True), timeout=5) as reply:
            pings = 0
            for line in reply.iter_lines():
                pings += line == "event: ping"
                if pings == 2:
                    break


def test_answers_that_are_spoiled(endpoint: LocalEndpoint) -> None:
    good = text_of(post(endpoint, body()))

    def spoiled(knob: str) -> httpx.Response:
        endpoint.reset()
        endpoint.turn(knob)
        reply = post(endpoint, body())
        endpoint.turn({knob: 0})
        return reply

    cut = spoiled("malformed")
    assert cut.json()["stop_reason"] == "end_turn"
    assert good.startswith(text_of(cut)) and text_of(cut) != good
    short = spoiled("truncated")
    assert short.json()["stop_reason"] == "max_tokens"
    assert good.startswith(text_of(short))
    assert spoiled("refused").json()["stop_reason"] == "refusal"
    assert good in text_of(spoiled("prose")) != good
    assert text_of(spoiled("fenced")) == f"```json\n{good}\n```"
    assert json.loads(text_of(spoiled("extra"))).keys() - json.loads(good).keys() == {"confidence"}
    assert [block["type"] for block in spoiled("empty").json()["content"]] == ["thinking"]


def test_the_same_requests_get_the_same_faults_in_any_order() -> None:
    def statuses(rows: list[int], seed: int) -> dict[int, int]:
        with LocalEndpoint(f"err500=0.3,err529=0.3,seed={seed}") as endpoint, ThreadPoolExecutor(4) as pool:
            return dict(zip(rows, pool.map(lambda n: post(endpoint, _row(n)).status_code, rows), strict=True))

    rows = list(range(24))
    first = statuses(rows, seed=1)
    assert statuses(rows[::-1], seed=1) == first
    assert statuses(rows, seed=2) != first
    assert {200, 500, 529} == set(first.values())


def test_a_repeated_request_is_drawn_anew() -> None:
    with LocalEndpoint("err500=0.5") as endpoint:
        assert {post(endpoint, _row(1)).status_code for _ in range(12)} == {200, 500}


def test_a_rate_limit_says_how_long_to_wait() -> None:
    now = [0.0]
    with LocalEndpoint("rate=0.5,burst=2", now=lambda: now[0]) as endpoint:
        statuses = [post(endpoint, _row(n)).status_code for n in range(3)]
        refused = post(endpoint, _row(3))
        now[0] += 2
        after = post(endpoint, _row(3)).status_code
    assert statuses == [200, 200, 429]
    assert refused.headers["retry-after"] == "2"
    assert (refused.headers["x-ratelimit-limit"], refused.headers["x-ratelimit-remaining"]) == ("30", "0")
    assert refused.json()["error"]["type"] == "rate_limit_reached_error"
    assert (
        "reached organization max RPM: 30, please try again after 2 seconds"
        in refused.json()["error"]["message"]
    )
    assert after == 200


@pytest.mark.parametrize(("knob", "header"), [("none", None), ("7", "7"), ("date", "GMT")])
def test_the_header_of_a_429(knob: str, header: str | None) -> None:
    with LocalEndpoint(f"rate=0.1,burst=1,retry_after={knob}") as endpoint:
        post(endpoint, _row(1))
        given = post(endpoint, _row(2)).headers.get("retry-after")
    if header == "GMT":
        assert parsedate_to_datetime(str(given)).tzinfo is not None
    else:
        assert given == header


def test_a_limit_on_what_is_in_flight() -> None:
    with LocalEndpoint("concurrency=2,latency=300ms") as endpoint, ThreadPoolExecutor(5) as pool:
        replies = list(pool.map(lambda n: post(endpoint, _row(n)), range(5)))
        counts = endpoint.counts()
    refused = [reply for reply in replies if reply.status_code == 429]
    assert len(refused) == 3
    assert "reached max organization concurrency: 2, please try again after 1 seconds" in refused[0].text
    assert counts["by_status"] == {"200": 2, "429": 3}


def test_a_limit_on_tokens() -> None:
    now = [0.0]
    with LocalEndpoint("tokens_per_minute=2500", now=lambda: now[0]) as endpoint:
        assert post(endpoint, _row(1)).status_code == 200
        refused = post(endpoint, _row(2))
        now[0] += 60
        assert post(endpoint, _row(2)).status_code == 200
    assert refused.status_code == 429
    assert "reached organization max TPM: 2500" in refused.json()["error"]["message"]


def test_a_spent_balance_and_a_revoked_key() -> None:
    with LocalEndpoint("quota=1") as endpoint:
        assert [post(endpoint, _row(n)).status_code for n in range(2)] == [200, 429]
        spent = post(endpoint, _row(2))
    assert spent.json()["error"]["type"] == "exceeded_current_quota_error"
    assert "retry-after" not in spent.headers
    with LocalEndpoint("revoke=1") as endpoint:
        assert [post(endpoint, _row(n)).status_code for n in range(2)] == [200, 401]


def test_idle_connections_are_closed_when_the_knob_says_so() -> None:
    with (
        LocalEndpoint("keep_alive=50ms") as endpoint,
        socket.create_connection(
            ("127.0.0.1", int(endpoint.base_url.rpartition(":")[2])), timeout=10
        ) as connection,
    ):
        connection.sendall(b"GET /_endpoint/counts HTTP/1.1\r\nhost: x\r\n\r\n")
        seen = b""
        while piece := connection.recv(4096):
            seen += piece
    assert seen.startswith(b"HTTP/1.1 200")


def test_what_was_in_flight_is_counted() -> None:
    started = threading.Barrier(4)

    def call(number: int) -> int:
        started.wait()
        return post(endpoint, _row(number)).status_code

    with LocalEndpoint("latency=300ms") as endpoint, ThreadPoolExecutor(4) as pool:
        assert set(pool.map(call, range(4))) == {200}
        counts = endpoint.counts()
    assert counts["max_in_flight"] == 4
    assert counts["rows"] == counts["rows_answered"] == 4
