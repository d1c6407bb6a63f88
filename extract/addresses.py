"""Where requests may go and what proves who sends them: addresses, the key, and the rules between.

A key and documents go to the address that the user chose, and to a fallback only where that was
chosen too. Knows nothing of requests or connections.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from extract.errors import ConfigError

DEFAULT_BASE_URL = "https://direct.evolink.ai"
DEFAULT_FALLBACK_URL = "https://api.evolink.ai"
ANTHROPIC_VERSION = "2023-06-01"

_PATHS = re.compile(r"/v1(/messages|/chat/completions)?$")
_HIDDEN = "***"
# what keys look like when somebody else's words hold one
_KEY_LIKE = re.compile(r"\b(sk-[A-Za-z0-9_-]{4})[A-Za-z0-9_-]{4,}|(?i:\bbearer\s+)(?=\S*\d)[\w.~+/=-]{8,}")


class Secret:
    """A text that no repr, log or traceback shows."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself, for the header alone."""
        return self._text

    def __repr__(self) -> str:
        return f"Secret('{_HIDDEN}')"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


def read_key(text: str | None) -> Secret | None:
    """A key as it goes into a header. Raises ConfigError, without the key, where it cannot."""
    key = (text or "").strip()
    if not key:
        return None
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigError(
            "the key has a space or a letter that no key has: copy it again into EXTRACT_API_KEY"
        )
    return Secret(key)


def read_address(url: str, name: str) -> str:
    """An address as scheme://host[:port][/path], without /v1. Raises ConfigError that names `name`."""
    parts = urlsplit(url.strip())
    if parts.scheme not in ("https", "http") or not parts.hostname:
        raise ConfigError(f"{name} is an address like {DEFAULT_BASE_URL}, not {scrub(url)!r}")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ConfigError(
            f"{name} holds more than an address: the key goes into api_key=, nothing else is sent"
        )
    try:
        parts.port  # noqa: B018 - reading it is the check
    except ValueError:
        raise ConfigError(f"{name} has no port that can be: {scrub(url)!r}") from None
    return f"{parts.scheme}://{parts.netloc}{_PATHS.sub('', parts.path.rstrip('/'))}".rstrip("/")


def check_plain(address: str, name: str, *, key: Secret | None, insecure: str | None) -> None:
    """Raises ConfigError where a key would cross a network that anybody can read."""
    if key is None or address.startswith("https://") or is_loopback(address) or insecure == "allow":
        return
    raise ConfigError(
        f"{name}={address} is not encrypted and the key would be readable on the way: "
        "use https://, or Client(..., insecure='allow') where the network is your own"
    )


def is_loopback(address: str) -> bool:
    """Whether an address is this machine."""
    host = urlsplit(address).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_anthropic(address: str) -> bool:
    """Whether an address is Anthropic's own, which wants its own headers."""
    host = urlsplit(address).hostname or ""
    return host == "anthropic.com" or host.endswith(".anthropic.com")


def key_headers(address: str, key: Secret | None) -> list[tuple[str, str]]:
    """The headers that prove who asks, as this address wants them."""
    if is_anthropic(address):
        proof = [("x-api-key", key.reveal())] if key else []
        return [*proof, ("anthropic-version", ANTHROPIC_VERSION)]
    return [("authorization", f"Bearer {key.reveal()}")] if key else []


def fallback_of(
    base: str, asked: str | None, environment: Mapping[str, str], *, chosen_here: bool
) -> str | None:
    """The fallback address, or None.

    asked: what the caller wrote; an empty text turns it off. chosen_here: the base address was
    written in the call, so that a fallback in the environment was meant for another one.
    """
    if asked is not None:
        return read_address(asked, "fallback_url") if asked.strip() else None
    named = environment.get("EXTRACT_FALLBACK_URL", "").strip()
    if named and not chosen_here:
        return read_address(named, "EXTRACT_FALLBACK_URL")
    return DEFAULT_FALLBACK_URL if base == DEFAULT_BASE_URL else None


def scrub(text: str, key: Secret | None = None) -> str:
    """The text without the key and without what looks like one."""
    if key is not None:
        text = text.replace(key.reveal(), _HIDDEN)
    return _KEY_LIKE.sub(lambda found: f"{found[1] or ''}{_HIDDEN}", text)
