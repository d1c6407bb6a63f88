"""Whether the shared prefix stands in the provider's cache: who sends first, who waits.

Send one, then fan out. Knows nothing of sockets, tasks or prices; whoever calls gives the time.

    cold ──ask: lead──> warming ──started or replied──> open
     ^                     │ failed: the next one leads    │ unused for the lifetime, or reads stopped
     └─────────────────────┴───────────────────────────────┘

Measured, never assumed: what the usage of replies says decides, and whether the provider renews the
lifetime with each use is learned at the first time that it would have run out.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from extract.cache_tally import CacheReport, CacheTally
from extract.protocol.usage import Usage

LIFETIMES = {"1h": 3_600.0, "5m": 300.0}  # seconds
SHORTEST = 256  # tokens; nothing shorter is cached anywhere that was measured
_SILENCE = 3  # replies without a read until the prefix counts as gone
_NEVER = float("-inf")


class Turn(StrEnum):
    """What a request may do now."""

    LEAD = "lead"  # send, alone: the others wait for this one
    GO = "go"  # send
    WAIT = "wait"  # another one leads


@dataclass(slots=True, eq=False)
class Ask:
    """A request that asked for its turn. `renewal`: it leads though the prefix was warm before."""

    turn: Turn
    at: float
    renewal: bool = False


@dataclass(slots=True)
class _Entry:
    """The entry in the provider's cache, as far as it can be known from here.

    It was made after `sent` and before `by`; last found by a request sent at `used`.
    """

    sent: float = _NEVER
    by: float = _NEVER
    used: float = _NEVER


class Warmth:
    """The prefix of one run.

    ttl: "1h", "5m", or None: nothing is cached on purpose and nobody waits.
    prefix_tokens: estimate of its length; nobody waits for one that is too short to be cached.
    """

    def __init__(self, ttl: str | None, prefix_tokens: int) -> None:
        self._ttl = LIFETIMES.get(ttl or "", 0.0)
        self._tally = CacheTally(prefix_tokens)
        self._holds = self._ttl > 0 and prefix_tokens >= SHORTEST
        self._open = not self._holds
        self._leader: Ask | None = None
        self._entry = _Entry()
        self._renews: bool | None = None
        self._silent = 0
        self._rewarmed = _NEVER
        self._digest: str | None = None
        if self._ttl and not self._holds:
            self._tally.note(
                "short", f"the shared prefix (about {prefix_tokens} tokens) is too short to be cached"
            )

    @property
    def report(self) -> CacheReport:
        """What the cache did so far."""
        return self._tally.report()

    # asking ------------------------------------------------------------------------------------

    def ask(self, now: float, *, prefix: str | None = None) -> Ask:
        """A request is about to be sent.

        prefix: digest of its shared prefix. Raises ValueError when it is not the first one's.
        """
        if prefix != self._digest:
            self._same(prefix)
        if not self._holds:
            return Ask(Turn.GO, now)
        if self._leader is not None or (self._open and self._wavers(now)):
            return Ask(Turn.WAIT, now)
        if self._open and not self._expired(now):
            if now > self._entry.used:
                self._entry.used = now
            return Ask(Turn.GO, now)
        renewal = self._open and now - self._entry.used < self._ttl
        self._open = False
        self._tally.leads += 1
        self._leader = Ask(Turn.LEAD, now, renewal)
        return self._leader

    def wake_at(self, now: float) -> float | None:
        """When those that wait should ask again by themselves; None: when a leader comes back."""
        return self._entry.by + self._ttl if self._leader is None and self._wavers(now) else None

    def _same(self, prefix: str | None) -> None:
        if prefix is not None and self._digest not in (None, prefix):
            raise ValueError("the shared prefix changed during the run; this is a fault of the library")
        self._digest = prefix or self._digest

    def _expired(self, now: float) -> bool:
        if now - self._entry.used >= self._ttl:
            return True
        return self._renews is not True and now >= self._entry.by + self._ttl

    def _wavers(self, now: float) -> bool:
        """An entry that use does not renew runs out somewhere in this span; wait for its end."""
        if self._renews is True or now - self._entry.used >= self._ttl:
            return False
        return self._entry.sent + self._ttl <= now < self._entry.by + self._ttl

    # replies -----------------------------------------------------------------------------------

    def started(self, ask: Ask, now: float) -> bool:
        """The reply to this request began to stream; True when those that wait may go now."""
        if ask is not self._leader:
            return False
        self._warm(ask, now)
        return True

    def settle(self, ask: Ask, usage: Usage | None, now: float) -> bool:
        """The request ended; True when those that wait should ask again.

        usage: of its reply; None when there was none: the next one leads.
        """
        leads = ask is self._leader
        if usage is None:
            self._leader = None if leads else self._leader
            return leads
        if leads:
            self._warm(ask, now)
        self._tally.add(usage, alone=ask.turn is Turn.LEAD)
        if self._holds:
            self._learn(ask, usage, now)
        return leads

    def _warm(self, ask: Ask, now: float) -> None:
        self._leader = None
        self._open = True
        self._silent = 0
        self._entry = _Entry(ask.at, now, max(self._entry.used, ask.at))

    def _learn(self, ask: Ask, usage: Usage, now: float) -> None:
        if usage.cache_read:
            self._silent = 0
            self._renews = True if ask.renewal else self._renews
        elif usage.cache_write:
            self._renews = False if ask.renewal else self._renews
        elif ask.turn is Turn.GO and ask.at >= self._entry.by:
            self._miss(now)

    def _miss(self, now: float) -> None:
        """Reads that stop warm the prefix anew, once a lifetime; where none ever came nobody waits again."""
        self._silent += 1
        if self._silent < _SILENCE or self._leader is not None:
            return
        if not self._tally.reads:
            self._holds = False
            self._open = True
        elif now - self._rewarmed >= self._ttl:
            self._rewarmed = now
            self._open = False
            self._entry.used = _NEVER
            self._tally.note("stopped", "reads of the cached prefix stopped (evicted?): it was warmed again")
