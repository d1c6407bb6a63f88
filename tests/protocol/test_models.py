"""What each model takes, and what is refused before it is sent."""

from __future__ import annotations

from typing import Any

import pytest

from extract.errors import RequestError
from extract.protocol.models import CARDS, CONTEXT, card, check_request_features, similar


@pytest.mark.parametrize("model", ["kimi-k3.1-pro", "kimi-k3.1-pro-highspeed"])
@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        ("low", "low"),
        ("high", "high"),
        ("max", "max"),
        ("medium", "high"),
        ("xhigh", "max"),
        ("minimal", "low"),
        ("none", "low"),
    ],
)
def test_effort_aliases_become_what_the_model_does(model: str, asked: str, sent: str) -> None:
    assert card(model).effort(asked) == sent


def test_the_older_model_takes_its_one_effort_alone() -> None:
    assert card("kimi-k3").effort("max") == "max"
    with pytest.raises(RequestError, match="takes effort 'max', not 'low'"):
        card("kimi-k3").effort("low")


def test_an_unknown_effort_names_those_that_are_taken() -> None:
    with pytest.raises(RequestError, match="'low', 'high', 'max'"):
        card("kimi-k3.1-pro").effort("extreme")


def test_an_unknown_model_gets_a_row_that_refuses_nothing() -> None:
    row = card("some-model")
    assert not row.known
    assert row.effort("anything") == "anything"
    for wire in ("messages", "chat"):
        check_request_features(row, wire=wire, effort="x", max_tokens=CONTEXT * 2, schema=True, cache="1h")


def test_a_slip_of_the_pen_is_noticed() -> None:
    assert similar("kimi-k3.1-por") == "kimi-k3.1-pro"
    assert similar("kimi-k3.1-pro") is None
    assert similar("gpt-x") is None


@pytest.mark.parametrize(
    ("model", "features", "says"),
    [
        ("kimi-k3", {"wire": "messages", "effort": "max", "schema": True}, r"Client\(wire='chat'\)"),
        ("kimi-k3", {"wire": "messages", "effort": "max", "cache": "1h"}, "set cache=None"),
        ("kimi-k3", {"wire": "messages", "effort": "max", "stop_sequences": ("x",)}, "no stop_sequences"),
        ("kimi-k3.1-pro", {"wire": "messages", "cache": "2h"}, "'1h', '5m' or None"),
        ("kimi-k3.1-pro", {"wire": "smoke"}, "'messages' or 'chat'"),
        ("kimi-k3.1-pro", {"wire": "messages", "max_tokens": 0}, "at least 1"),
        ("kimi-k3.1-pro", {"wire": "messages", "max_tokens": True}, "whole number"),
        ("kimi-k3.1-pro", {"wire": "messages", "max_tokens": CONTEXT + 1}, "has room for"),
        ("kimi-k3.1-pro", {"wire": "messages", "schema": True, "stop_sequences": ("}",)}, "cut its JSON"),
        ("kimi-k3.1-pro", {"wire": "messages", "stop_sequences": tuple("abcdef")}, "at most 5"),
        ("kimi-k3.1-pro", {"wire": "messages", "stop_sequences": ("ü" * 17,)}, "at most 32 bytes"),
        ("kimi-k3.1-pro", {"wire": "chat", "web_search": True}, "wire='messages'"),
    ],
)
def test_what_a_model_would_refuse_is_refused_here(model: str, features: dict[str, Any], says: str) -> None:
    with pytest.raises(RequestError, match=says):
        check_request_features(card(model), **features)


def test_what_the_models_take_passes() -> None:
    check_request_features(card("kimi-k3"), wire="chat", effort="max", schema=True, cache="1h")
    for model in CARDS.keys() - {"kimi-k3"}:
        check_request_features(
            card(model),
            wire="messages",
            effort="none",
            max_tokens=CONTEXT,
            schema=True,
            cache="5m",
            web_search=True,
        )
