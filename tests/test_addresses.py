"""Addresses, keys, and where a key may go."""

from __future__ import annotations

import pytest

from extract.addresses import (
    DEFAULT_BASE_URL,
    DEFAULT_FALLBACK_URL,
    Secret,
    check_plain,
    fallback_of,
    is_loopback,
    key_headers,
    read_address,
    read_key,
    scrub,
)
from extract.errors import ConfigError

KEY = Secret("sk-test-1234567890")


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("https://x.example", "https://x.example"),
        ("https://x.example/", "https://x.example"),
        ("https://x.example/v1", "https://x.example"),
        ("https://x.example/v1/messages", "https://x.example"),
        ("https://x.example/v1/chat/completions/", "https://x.example"),
        ("https://x.example/api/v1/", "https://x.example/api"),
        (" http://127.0.0.1:8080 ", "http://127.0.0.1:8080"),
        ("http://[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_addresses_are_brought_into_one_form(given: str, used: str) -> None:
    assert read_address(given, "base_url") == used


@pytest.mark.parametrize(
    "given",
    [
        "",
        "x.example",
        "ftp://x.example",
        "https://",
        "https://x.example:port",
        "https://me:secret@x.example",
        "https://x.example?key=secret",
        "https://x.example#a",
    ],
)
def test_what_is_no_address_is_refused_by_name(given: str) -> None:
    with pytest.raises(ConfigError, match="base_url") as caught:
        read_address(given, "base_url")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("http://localhost:1", True),
        ("http://127.8.9.1", True),
        ("http://[::1]", True),
        ("http://a.localhost", True),
        ("http://localhost.evil.example", False),
        ("http://127.0.0.1.evil.example", False),
        ("http://10.0.0.1", False),
        ("https://x.example", False),
    ],
)
def test_loopback(address: str, here: bool) -> None:  # noqa: FBT001
    assert is_loopback(address) is here


def test_a_key_goes_unencrypted_to_this_machine_alone() -> None:
    check_plain("http://127.0.0.1:80", "base_url", key=KEY, insecure=None)
    check_plain("https://x.example", "base_url", key=KEY, insecure=None)
    check_plain("http://x.example", "base_url", key=None, insecure=None)
    check_plain("http://x.example", "base_url", key=KEY, insecure="allow")
    with pytest.raises(ConfigError, match="insecure='allow'"):
        check_plain("http://x.example", "base_url", key=KEY, insecure=None)


def test_the_service_and_anthropic_prove_the_key_in_their_own_ways() -> None:
    assert key_headers("https://x.example", KEY) == [("authorization", f"Bearer {KEY.reveal()}")]
    assert key_headers("https://x.example", None) == []
    assert key_headers("https://api.anthropic.com", KEY) == [
        ("x-api-key", KEY.reveal()),
        ("anthropic-version", "2023-06-01"),
    ]
    assert key_headers("https://api.anthropic.com.evil.example", KEY)[0][0] == "authorization"


NAMED = {"EXTRACT_FALLBACK_URL": "https://spare.example"}


def test_a_fallback_exists_for_the_default_address_or_when_it_was_chosen() -> None:
    assert fallback_of(DEFAULT_BASE_URL, None, {}, chosen_here=False) == DEFAULT_FALLBACK_URL
    assert fallback_of("https://x.example", None, {}, chosen_here=True) is None
    assert fallback_of("https://x.example", None, NAMED, chosen_here=False) == "https://spare.example"
    assert (
        fallback_of("https://x.example", "https://y.example/v1", {}, chosen_here=True) == "https://y.example"
    )


def test_a_fallback_in_the_environment_is_not_for_an_address_in_the_call() -> None:
    assert fallback_of("https://x.example", None, NAMED, chosen_here=True) is None


def test_an_empty_fallback_turns_it_off() -> None:
    assert fallback_of(DEFAULT_BASE_URL, "", NAMED, chosen_here=False) is None


def test_keys() -> None:
    assert read_key(None) is None
    assert read_key("  ") is None
    assert read_key(" k-1\n") == Secret("k-1")
    for bad in ("a b", "a\nb", "schlüssel"):
        with pytest.raises(ConfigError) as caught:
            read_key(bad)
        assert bad not in str(caught.value)


def test_a_secret_shows_in_no_form() -> None:
    for shown in (repr(KEY), str(KEY), f"{KEY}", f"{[KEY]}"):
        assert "1234567890" not in shown
    assert hash(KEY) == hash(Secret(KEY.reveal()))
    assert KEY.reveal() != KEY


def test_scrubbing() -> None:
    assert scrub(f"bad key {KEY.reveal()}!", KEY) == "bad key ***!"
    assert scrub("bad key sk-prod-abcdefghijkl") == "bad key sk-prod***"
    assert scrub("Authorization: Bearer abc123def456") == "Authorization: ***"
    assert scrub("bearer authentication is required") == "bearer authentication is required"
