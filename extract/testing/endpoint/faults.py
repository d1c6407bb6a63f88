"""Draws which request gets which fault, and writes error bodies.

The draw follows from the seed, the content of the request and how often that content came, so a run
can be repeated in any order. Knows nothing of sockets.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from random import Random
from typing import Any, NamedTuple

from extract.testing.endpoint.ask import Wire
from extract.testing.endpoint.knobs import Knobs


class Problem(NamedTuple):
    """A status other than 200, with the error that its body tells."""

    status: int
    kind: str
    message: str
    retry_after: float | None = None
    rule: str = ""


PROBLEMS: dict[str, Problem] = {
    "err400": Problem(400, "invalid_request_error", "this request is refused, as the knob err400 asks"),
    "err429": Problem(
        429, "engine_overloaded_error", "The engine is currently overloaded, please try again later"
    ),
    "err500": Problem(500, "server_error", "Internal server error"),
    "err503": Problem(503, "server_error", "Service unavailable"),
    "err529": Problem(529, "overloaded_error", "Overloaded"),
}
PAGES = {"err502": (502, "Bad Gateway"), "err504": (504, "Gateway Time-out"), "html": (200, "Just a moment")}
OF_THE_CONNECTION = ("torn", "reset", "stalled")
OF_THE_CONTENT = ("malformed", "truncated", "refused", "prose", "fenced", "extra", "empty", "redacted")

_OPENAI_KINDS = {"authentication_error": "invalid_authentication_error"}


class Draws:
    """One draw a request; remembers how often each content came."""

    def __init__(self) -> None:
        self._seen: Counter[bytes] = Counter()

    def next(self, body: bytes, seed: int) -> Random:
        """The random numbers of this request."""
        digest = hashlib.blake2b(body, digest_size=12).digest()
        count = self._seen[digest]
        self._seen[digest] = count + 1
        return Random(f"{seed}/{digest.hex()}/{count}")

    def clear(self) -> None:
        """Forget what came."""
        self._seen.clear()


def draw_fault(knobs: Knobs, random: Random) -> str | None:
    """The fault of one request, or None."""
    at = random.random()
    for name, share in knobs.shares().items():
        if at < share:
            return name
        at -= share
    return None


def error_body(wire: Wire, kind: str, message: str, request_id: str) -> dict[str, Any]:
    """The documented error body of a wire."""
    if wire == "chat":
        return {"error": {"message": message, "type": _OPENAI_KINDS.get(kind, kind)}}
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": request_id}


def page(title: str) -> bytes:
    """What a gateway answers in place of the service."""
    return f"<!DOCTYPE html><html><head><title>{title}</title></head><body>{title}</body></html>".encode()
