"""What the provider's cache did in one run: writes, reads, hits, and what a person should know of it.

Knows nothing of who waits for whom, of time or of prices.
"""

from __future__ import annotations

from dataclasses import dataclass

from extract.protocol.usage import Usage

_ENOUGH = 3  # replies until a sentence is said about what never came


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheReport:
    """The cache of one run, in requests and tokens.

    leads: requests sent alone. prefix_writes: replies that wrote the whole prefix.
    prefix_written, tail_written: tokens written of the prefix, and of what stands after it.
    reads, misses: replies of the requests that were not sent alone, by whether they read.
    read_tokens: tokens read from the cache, by all.
    notes: what a person should know, in sentences.
    """

    leads: int
    prefix_writes: int
    prefix_written: int
    tail_written: int
    reads: int
    misses: int
    read_tokens: int
    notes: tuple[str, ...]

    @property
    def hit_ratio(self) -> float | None:
        """The share of requests that read the prefix, of those not sent alone; None before any."""
        asked = self.reads + self.misses
        return self.reads / asked if asked else None


class CacheTally:
    """Counts replies. prefix_tokens: estimate of the prefix, until a read tells its length."""

    def __init__(self, prefix_tokens: int) -> None:
        self._estimate = prefix_tokens
        self._shortest_read: int | None = None
        self._whole: list[int] = []  # tokens of writes without a read
        self._notes: dict[str, str] = {}
        self._tail = 0
        self.leads = self.reads = self.misses = self.read_tokens = 0

    def note(self, kind: str, text: str) -> None:
        """One sentence, once."""
        self._notes.setdefault(kind, text)

    def add(self, usage: Usage, *, alone: bool) -> None:
        """One reply; alone: it was sent to warm the prefix."""
        read, wrote = usage.cache_read or 0, usage.cache_write or 0
        self.read_tokens += read
        if read:
            self._shortest_read = min(read, self._shortest_read or read)
            self._tail += wrote
        elif wrote:
            self._whole.append(wrote)
        if not alone:
            self.reads += bool(read)
            self.misses += not read

    def report(self) -> CacheReport:
        """As it stands now."""
        prefix, tail, writes = self._split()
        return CacheReport(
            leads=self.leads,
            prefix_writes=writes,
            prefix_written=prefix,
            tail_written=self._tail + tail,
            reads=self.reads,
            misses=self.misses,
            read_tokens=self.read_tokens,
            notes=(*self._notes.values(), *self._verdict()),
        )

    def _split(self) -> tuple[int, int, int]:
        """Tokens of the prefix, tokens after it, and number of writes, of those without a read."""
        size = self._shortest_read
        if size is None:  # no read told the length: a write is all prefix, or all tail when far smaller
            whole = [wrote for wrote in self._whole if wrote * 2 >= self._estimate]
            return sum(whole), sum(self._whole) - sum(whole), len(whole)
        whole = [wrote for wrote in self._whole if wrote >= size]
        return size * len(whole), sum(self._whole) - size * len(whole), len(whole)

    def _verdict(self) -> list[str]:
        """What usage says about a provider that does not cache as it was asked to."""
        if not self.leads:
            return []
        if self.read_tokens and not self._whole and not self._tail:
            return ["the provider caches by itself and reports no writes"]
        if self.reads or self.misses < _ENOUGH:
            return []
        if self._whole:
            return ["the prefix is written and never read (too short, or evicted at once): try cache=None"]
        return ["the provider did not cache the prefix: no write and no read was reported"]
