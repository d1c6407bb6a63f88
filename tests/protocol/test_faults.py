"""The fault table, read through the replies that lead to each of its rows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from extract.protocol.fault_table import RULES
from extract.protocol.faults import broken, plain_text, read_error, read_reply
from extract.protocol.reply import Action, Fault, Message
from extract.protocol.usage import Usage

RETRY, COOL_DOWN, STOP, REQUEST, ROW = Action.RETRY, Action.COOL_DOWN, Action.STOP, Action.REQUEST, Action.ROW


def anthropic(type: str, message: str = "no") -> dict[str, Any]:
    return {"type": "error", "error": {"type": type, "message": message}, "request_id": "req_9"}


def openai(message: str, *, type: str | None = None, code: Any = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": type, "param": None, "code": code}}


def fault(status: int, body: Any, **headers: str) -> Fault:
    data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    reply = read_reply(status, named, data, now=1_000.0)
    assert isinstance(reply, Fault)
    return reply


CASES: list[tuple[int, Any, str, Action]] = [
    # the key and the account
    (401, anthropic("authentication_error"), "auth", STOP),
    (401, anthropic("invalid_authentication_error"), "auth", STOP),
    (401, openai("Incorrect API key", type="invalid_request_error", code="invalid_api_key"), "auth", STOP),
    (401, "<html><body>Unauthorized</body></html>", "auth", STOP),
    (200, anthropic("authentication_error"), "auth", STOP),
    (500, anthropic("authentication_error"), "auth", STOP),
    (403, anthropic("permission_error"), "permission", STOP),
    (403, "<html>forbidden</html>", "permission", STOP),
    (402, {"error": "pay"}, "quota", STOP),
    (403, anthropic("permission_denied_error", "usage limit for this billing cycle"), "quota", STOP),
    (
        400,
        anthropic("invalid_request_error", "Your credit balance is too low to use the API."),
        "quota",
        STOP,
    ),
    (407, "", "proxy", STOP),
    # 429 and its kinds
    (429, anthropic("rate_limit_error"), "rate_limit", COOL_DOWN),
    (429, "", "rate_limit", COOL_DOWN),
    (429, "<html>slow down</html>", "rate_limit", COOL_DOWN),
    (200, anthropic("rate_limit_error"), "rate_limit", COOL_DOWN),
    (429, anthropic("rate_limit_reached_error", "max organization concurrency: 3"), "concurrency", COOL_DOWN),
    (429, openai("Too many concurrent requests", code="429"), "concurrency", COOL_DOWN),
    (429, anthropic("rate_limit_reached_error", "organization max RPM: 3"), "requests_per_minute", COOL_DOWN),
    (
        429,
        openai("Limit: 3 requests per minute", code="rate_limit_exceeded"),
        "requests_per_minute",
        COOL_DOWN,
    ),
    (429, anthropic("rate_limit_reached_error", "organization max TPM: 9"), "tokens_per_minute", COOL_DOWN),
    (429, anthropic("rate_limit_reached_error", "organization max TPD: 9"), "per_day", STOP),
    (
        429,
        anthropic("rate_limit_reached_error", "max TPD: 9, try again after 60 seconds"),
        "per_day",
        COOL_DOWN,
    ),
    (429, anthropic("engine_overloaded_error", "overloaded"), "overloaded", COOL_DOWN),
    (529, anthropic("overloaded_error", "Overloaded"), "overloaded", COOL_DOWN),
    (529, "", "overloaded", COOL_DOWN),
    (200, anthropic("overloaded_error", "Overloaded"), "overloaded", COOL_DOWN),
    (503, anthropic("overloaded_error", "Overloaded"), "overloaded", COOL_DOWN),
    (429, anthropic("exceeded_current_quota_error", "account is suspended"), "quota", STOP),
    (429, anthropic("exceeded_current_quota_error", "check your plan"), "quota", STOP),
    (429, openai("You exceeded your current quota", type="insufficient_quota"), "quota", STOP),
    (429, openai("quota exceeded ... retry in 33.5s", type="insufficient_quota"), "rate_limit", COOL_DOWN),
    (429, openai("Quota exceeded for requests per minute"), "requests_per_minute", COOL_DOWN),
    (429, anthropic("rate_limit_error", "weekly usage limit reached"), "quota", STOP),
    (200, openai("You exceeded your current quota", code="insufficient_quota"), "quota", STOP),
    # address, path and model
    (404, anthropic("not_found_error", "model: kimi-9"), "model", STOP),
    (404, anthropic("resource_not_found_error", "Not found the model x or Permission denied"), "model", STOP),
    (404, openai("The model `x` does not exist", code="model_not_found"), "model", STOP),
    (404, "<html>nginx 404</html>", "not_found", STOP),
    (405, "", "not_found", STOP),
    (301, "", "moved", STOP),
    (400, openai("Unsupported model: x"), "model", STOP),
    # one row is too much
    (413, anthropic("request_too_large"), "too_long", ROW),
    (413, "<html>413</html>", "too_long", ROW),
    (
        400,
        anthropic("invalid_request_error", "request exceeded model token limit: 9 (requested: 10)"),
        "too_long",
        ROW,
    ),
    (400, anthropic("invalid_request_error", "prompt_tokens + max_tokens exceeds 9"), "too_long", ROW),
    (
        400,
        anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
        "too_long",
        ROW,
    ),
    (
        400,
        anthropic("invalid_request_error", "input length and `max_tokens` exceed context limit: 1 + 2 > 2"),
        "too_long",
        ROW,
    ),
    (400, openai("This model's maximum context length is 4096 tokens. However, …"), "too_long", ROW),
    (400, openai("no", code="context_length_exceeded"), "too_long", ROW),
    (
        400,
        openai("the request exceeds the available context size", type="exceed_context_size_error"),
        "too_long",
        ROW,
    ),
    (400, anthropic("invalid_request_error", "image exceeds 5 MB maximum: 6 MB"), "too_long", ROW),
    (400, anthropic("invalid_request_error", "Could not process image"), "image", ROW),
    (400, openai("The request was rejected because it was considered high risk"), "filtered", ROW),
    (400, openai("no", code="content_filter"), "filtered", ROW),
    # the request itself
    (
        400,
        anthropic("invalid_request_error", "output_config.format.schema: unsupported keyword"),
        "schema",
        STOP,
    ),
    (
        400,
        anthropic(
            "invalid_request_error", "not a valid moonshot flavored json schema, details: <At path 'a.b': x>"
        ),
        "schema",
        STOP,
    ),
    (400, openai("Invalid schema for response_format 'answer'"), "schema", STOP),
    (400, anthropic("invalid_request_error", "The compiled grammar is too large"), "schema", STOP),
    (400, anthropic("invalid_request_error", "cache_control.ttl: not supported"), "cache", STOP),
    (400, anthropic("invalid_request_error", "effort: must be low or high"), "effort", REQUEST),
    (400, openai("max_tokens is too large: 9000. This model supports at most 4096"), "max_tokens", REQUEST),
    (400, anthropic("invalid_request_error", "boom"), "refused", REQUEST),
    (422, {"detail": [{"loc": ["body"], "msg": "field required"}]}, "refused", REQUEST),
    (418, "", "refused", REQUEST),
    (200, anthropic("invalid_request_error", "boom"), "refused", REQUEST),
    # the service
    (500, anthropic("api_error"), "server", RETRY),
    (500, openai("oops", type="server_error"), "server", RETRY),
    (200, anthropic("api_error"), "server", RETRY),
    (200, anthropic("some_new_error"), "server", RETRY),
    (502, "<html><title>Bad gateway</title></html>", "unavailable", RETRY),
    (503, "", "unavailable", RETRY),
    (504, "", "timeout", RETRY),
    (524, "", "timeout", RETRY),
    (520, "", "server", RETRY),
    (408, "", "timeout", RETRY),
    (409, "", "server", RETRY),
    # 200 that is no reply
    (200, "<!DOCTYPE html><title>Sign in</title>", "malformed", RETRY),
    (200, "", "malformed", RETRY),
    (200, "[]", "malformed", RETRY),
    (200, "{}", "malformed", RETRY),
    (200, '{"type":"message","content":[{"type":"text"}]}', "malformed", RETRY),
    (200, '{"type":"message","content":"x"}', "malformed", RETRY),
    (200, '{"type":"message","content":[],"x":NaN}', "malformed", RETRY),
    (200, "[" * 100_000, "malformed", RETRY),
    (200, "unsupported model: x", "model", STOP),
]


@pytest.mark.parametrize(("status", "body", "kind", "action"), CASES)
def test_the_table(status: int, body: Any, kind: str, action: Action) -> None:
    got = fault(status, body)
    assert (got.kind, got.action) == (kind, action)
    assert got.status == status
    if action is STOP:
        assert got.advice, "a stopped run says who has to do what"


def test_every_row_of_the_table_is_reached() -> None:
    kinds = {kind for _, _, kind, _ in CASES} | {
        "connect",
        "tls",
        "proxy",
        "stale",
        "reset",
        "torn",
        "timeout",
    }
    assert kinds == {rule.kind for rule in RULES}


@pytest.mark.parametrize(
    "kind", ["connect", "proxy", "tls", "timeout", "stale", "reset", "torn", "malformed"]
)
def test_what_never_became_an_answer(kind: str) -> None:
    got = broken(kind, "it broke")
    assert got.kind == kind
    assert got.action is (STOP if kind in ("proxy", "tls") else RETRY)
    assert got.status is None


def test_rows_that_end_say_why() -> None:
    assert fault(413, "").reason == "too_long"
    assert fault(400, openai("no", code="content_filter")).reason == "refused"
    assert fault(400, anthropic("invalid_request_error", "boom")).reason == "rejected"
    assert fault(500, "").reason == "exhausted"


@pytest.mark.parametrize(
    ("message", "limit"),
    [
        ("max organization concurrency: 3, please try again after 1 seconds", 3),
        ("Concurrency limit of 50 reached", 50),
        ("You may run 12 concurrent requests", 12),
        ("too much concurrency", None),
        ("concurrency: 0", None),
    ],
)
def test_the_number_in_a_concurrency_limit(message: str, limit: int | None) -> None:
    assert fault(429, anthropic("rate_limit_reached_error", message)).limit == limit


def test_a_spent_quota_stays_one_beside_a_wait_when_its_words_settle_it() -> None:
    body = anthropic("exceeded_current_quota_error", "account is suspended due to insufficient balance")
    assert fault(429, body, retry_after="1").action is STOP


def test_a_reset_header_does_not_make_a_spent_quota_a_limit() -> None:
    body = openai("You exceeded your current quota", type="insufficient_quota")
    assert fault(429, body, x_ratelimit_reset="30").action is STOP
    assert fault(429, "", x_ratelimit_reset="30").retry_after == 30.0


def test_a_wait_beyond_reason_stops_the_run_and_says_so() -> None:
    got = fault(429, anthropic("rate_limit_error"), retry_after="86400")
    assert got.action is STOP
    assert "24.0 hours" in got.advice
    assert fault(503, "", retry_after="7200").action is STOP
    assert fault(429, "", retry_after="3600").action is COOL_DOWN


def test_the_place_in_a_refused_schema_is_in_the_advice() -> None:
    words = "not a valid moonshot flavored json schema, details: <At path 'properties.note': no>"
    got = fault(400, anthropic("invalid_request_error", words))
    assert "properties.note" in got.advice
    assert "cache='5m' or cache=None" in fault(400, anthropic("x", "cache_control.ttl: 1h")).advice


def test_a_gateways_long_words_are_shortened() -> None:
    assert len(fault(500, "x" * 100_000).message) == 200
    assert len(fault(500, anthropic("api_error", "x" * 100_000)).message) == 600


def test_html_is_shown_without_its_markup() -> None:
    page = b"<html><head><title>Bad gateway</title><style>a{}</style></head><body><h1>502</h1></body></html>"
    assert plain_text(page) == "Bad gateway 502"
    assert plain_text(b"\xff\xfe plain") == "\ufffd\ufffd plain"


@pytest.mark.parametrize(
    ("raw", "types", "message"),
    [
        (anthropic("a", "m"), ("a",), "m"),
        (openai("m", type="A", code="b"), ("a", "b"), "m"),
        ({"error": "m", "code": "c"}, ("c",), "m"),
        ({"error": {"code": 503, "status": "UNAVAILABLE", "message": "m"}}, ("unavailable",), "m"),
        ({"code": "x", "msg": "m"}, ("x",), "m"),
        ({"detail": ["m"]}, (), '["m"]'),
        ({"type": "error", "message": "m"}, (), "m"),
        ({"error": {}}, (), ""),
    ],
)
def test_the_shapes_of_error_objects(raw: Any, types: tuple[str, ...], message: str) -> None:
    error = read_error(raw)
    assert error is not None
    assert (error.types, error.message) == (types, message)


def test_request_ids_come_from_the_body_or_the_headers() -> None:
    assert fault(500, anthropic("api_error")).request_id == "req_9"
    assert fault(500, "", x_request_id="h1").request_id == "h1"
    assert fault(500, "", msh_request_id="h2").request_id == "h2"


MESSAGE = {
    "id": "m1",
    "type": "message",
    "role": "assistant",
    "model": "k",
    "content": [{"type": "thinking", "thinking": "a", "signature": "b"}, {"type": "text", "text": "{}"}],
    "stop_reason": "end_turn",
    "usage": {"input_tokens": 3, "cache_creation_input_tokens": 4},
}


def message(body: Any, **options: Any) -> Message:
    reply = read_reply(200, {"request-id": "r1"}, json.dumps(body).encode(), **options)
    assert isinstance(reply, Message)
    return reply


def test_a_message_is_read_as_it_came() -> None:
    got = message(MESSAGE, ttl="1h")
    assert got.content == MESSAGE["content"]
    assert (got.id, got.model, got.request_id, got.stop_reason) == ("m1", "k", "r1", "end_turn")
    assert got.usage == Usage(input=3, cache_write_5m=0, cache_write_1h=4)


def test_what_may_be_missing_may_be_missing() -> None:
    got = message({"type": "message", "content": None, "stop_reason": None, "usage": None})
    assert got.content == []
    assert got.stop_reason is None
    assert not got.usage.known


def test_a_byte_order_mark_is_no_fault() -> None:
    reply = read_reply(200, {}, b"\xef\xbb\xbf" + json.dumps(MESSAGE).encode())
    assert isinstance(reply, Message)


def test_chat_replies_are_read_on_their_wire() -> None:
    body = {"id": "c", "choices": [{"message": {"content": "{}"}, "finish_reason": "stop"}], "error": None}
    assert message(body, wire="chat").content == [{"type": "text", "text": "{}"}]
