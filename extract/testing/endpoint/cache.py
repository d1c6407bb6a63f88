"""A prompt cache as the documents describe it, with a clock that a test can turn.

Identity is the content from the start (model, tools, schema, system, then turn by turn). An entry can be
read once the reply of a request that wrote it has begun: requests that come before that all write. Knows
nothing of HTTP and of what the tokens cost.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

LIFETIMES = {"5m": 300.0, "1h": 3600.0}


class Boundary(NamedTuple):
    """A place where a prefix may end: the digest of all before it, and its tokens from the start."""

    digest: bytes
    tokens: int


@dataclass(slots=True)
class _Entry:
    expires: float
    lifetime: float


@dataclass(frozen=True, slots=True)
class Lookup:
    """What the cache did for one request, in tokens; `pending` is to be kept once the reply begins."""

    read: int = 0
    written: int = 0
    pending: tuple[bytes, ...] = ()


class PromptCache:
    """Prefixes that were written, by digest.

    now: seconds of any steady clock.
    capacity: entries kept; the one that was used longest ago goes first.
    """

    def __init__(self, now: Callable[[], float], capacity: int = 50_000) -> None:
        self._now = now
        self._capacity = capacity
        self._entries: OrderedDict[bytes, _Entry] = OrderedDict()

    def look(self, boundaries: Sequence[Boundary], *, writable: int, minimum: int) -> Lookup:
        """Read the longest live prefix and say what would be written.

        boundaries: from the shortest prefix to the whole request.
        writable: how many of them may be written.
        minimum: tokens below which a prefix is neither read nor written.
        """
        read = 0
        for boundary in reversed(boundaries):
            if boundary.tokens >= minimum and self._alive(boundary.digest):
                read = boundary.tokens
                break
        fresh = [b for b in boundaries[:writable] if b.tokens >= minimum and b.tokens > read]
        written = fresh[-1].tokens - read if fresh else 0
        return Lookup(read, written, tuple(b.digest for b in fresh))

    def keep(self, pending: Sequence[bytes], ttl: str) -> None:
        """Make prefixes readable: their reply has begun. ttl is "5m" or "1h"."""
        lifetime = LIFETIMES[ttl]
        for digest in pending:
            self._entries[digest] = _Entry(self._now() + lifetime, lifetime)
            self._entries.move_to_end(digest)
        while len(self._entries) > self._capacity:
            self._entries.popitem(last=False)

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()

    def _alive(self, digest: bytes) -> bool:
        entry = self._entries.get(digest)
        if entry is None:
            return False
        now = self._now()
        if entry.expires <= now:
            del self._entries[digest]
            return False
        entry.expires = now + entry.lifetime  # a read renews the lifetime, at no cost
        self._entries.move_to_end(digest)
        return True
