"""Many workers under one limit and one budget: who may send how much, for how long.

Pure: knows no socket, no task and no Ray; whoever calls gives the time. The governor, the purse and the
warmth are those of a run in one process. A worker says what it wants and what became of what it had; a
worker that is silent for a lifetime is taken for dead, and its places in the air come back. Its money does
not: what it had in flight may have been paid.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from extract.breaker import Stop
from extract.budget import Purse, Reservation
from extract.clearance import BROKE, billed
from extract.client import Call
from extract.governor import Governor, Permit
from extract.protocol.reply import Message, Reply
from extract.protocol.usage import UNKNOWN
from extract.warmth import Ask, Turn, Warmth

_SOON = 0.005  # seconds from leave to sending that change nothing


@dataclass(frozen=True, slots=True)
class Want:
    """A request that a worker would send. ticket: its number there. tokens: estimate of its input.

    prefix: digest of what all requests share. again: its row was in the air before.
    """

    ticket: int
    tokens: int
    max_tokens: int
    prefix: str | None = None
    again: bool = False


@dataclass(frozen=True, slots=True)
class Landed:
    """What became of a request. reply: without its content; None where it was not sent.

    limits: the rate-limit headers that came with it.
    """

    ticket: int
    reply: Reply | None = None
    limits: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, ticket: int, call: Call | None) -> Landed:
        """With no more than has to be known elsewhere."""
        if call is None:
            return cls(ticket)
        reply = call.reply
        bare = reply._replace(content=[]) if isinstance(reply, Message) else reply
        return cls(ticket, bare, dict(call.limits))


@dataclass(slots=True, eq=False)
class _Lease:
    """A want on its way to leave, or gone."""

    worker: str
    want: Want
    held: Reservation | None = None
    ask: Ask | None = None
    permit: Permit | None = None


@dataclass(slots=True)
class LeaseCounts:
    """What happened so far. lost: requests of workers that died; late: reports from such."""

    granted: int = 0
    landed: int = 0
    lost: int = 0
    late: int = 0
    deaths: int = 0


@dataclass(slots=True)
class _Worker:
    seen: float
    listening: bool = False
    granted: list[int] = field(default_factory=list)


class Leases:
    """One limit, one budget, one warm prefix for all.

    ttl: the cache lifetime that requests ask for. lifetime: seconds of silence until a worker counts as dead.
    """

    def __init__(
        self, governor: Governor, purse: Purse, warmth: Warmth, *, ttl: str | None, lifetime: float = 30.0
    ) -> None:
        self.governor, self.purse, self.warmth = governor, purse, warmth
        self.stop: Stop | None = None
        self.counts = LeaseCounts()
        self.lifetime = lifetime
        self._ttl = ttl
        self._line: deque[_Lease] = deque()
        self._out: dict[tuple[str, int], _Lease] = {}
        self._workers: dict[str, _Worker] = {}
        self._unsent: dict[str, list[_Lease]] = {}  # tickets that a worker may not have sent yet
        self._look_at = 0.0  # when it is time to see who is silent

    @property
    def in_flight(self) -> int:
        """Requests that were let go and have not landed."""
        return len(self._out)

    @property
    def workers(self) -> int:
        """Workers that are alive, as far as is known."""
        return len(self._workers)

    # what workers say --------------------------------------------------------------------------

    def hear(
        self,
        worker: str,
        now: float,
        *,
        wants: Sequence[Want] = (),
        begun: Sequence[int] = (),
        landed: Sequence[Landed] = (),
    ) -> None:
        """A sign of life of a worker. begun: tickets whose reply has begun to stream."""
        self._workers.setdefault(worker, _Worker(now)).seen = now
        for ticket in begun:
            lease = self._out.get((worker, ticket))
            if lease is not None and lease.ask is not None:
                self.warmth.started(lease.ask, now)
        for one in landed:
            self._land(worker, one, now)
        for want in wants:
            (self._line.appendleft if want.again else self._line.append)(_Lease(worker, want))

    def listen(self, worker: str, now: float) -> None:
        """A worker is ready to send, and has sent what it was given before.

        Tickets are for those alone: whoever is slow gets no heap of them. Until a worker is heard of again
        its last ones count against a limit as if they were sent at this moment: they may be.
        """
        known = self._workers.setdefault(worker, _Worker(now))
        if not known.granted:
            self._hold_back(self._unsent.pop(worker, ()), now)
        known.seen, known.listening = now, True

    def leave(self, worker: str, now: float) -> None:
        """A worker is done; what it still wanted or held is given back."""
        self._forget(worker, now)

    def take(self, worker: str) -> list[int]:
        """Tickets that may be sent now; each is given once. The worker has to listen again for more."""
        known = self._workers.get(worker)
        if known is None:
            return []
        granted, known.granted, known.listening = known.granted, [], False
        return granted

    def _land(self, worker: str, landed: Landed, now: float) -> None:
        lease = self._out.pop((worker, landed.ticket), None)
        if lease is None:
            if not self._unwant(worker, landed.ticket, now):
                self.counts.late += 1
            return
        self.counts.landed += 1
        self._settle(lease, landed, now)

    def _unwant(self, worker: str, ticket: int, now: float) -> bool:
        """A want that is taken back before it was granted."""
        for lease in self._line:
            if (lease.worker, lease.want.ticket) == (worker, ticket):
                self._line.remove(lease)
                self._settle(lease, Landed(lease.want.ticket), now)
                return True
        return False

    def _settle(self, lease: _Lease, landed: Landed, now: float, *, lost: bool = False) -> None:
        usage = UNKNOWN if lost else None if landed.reply is None else billed(landed.reply)
        if lease.permit is not None:
            self.governor.settle(lease.permit, landed.reply, now, limits=landed.limits)
        if lease.held is not None:
            self.purse.settle(lease.held, usage)
        if lease.ask is not None:
            self.warmth.settle(lease.ask, usage if usage and usage.known else None, now)

    # who may go --------------------------------------------------------------------------------

    def pump(self, now: float) -> set[str]:
        """Lets go what may go now; returns the workers that have tickets to take."""
        self._bury(now)
        for leases in self._unsent.values():
            self._hold_back(leases, now)
        glad: set[str] = set()
        while (place := self._first()) is not None and self._admit(self._line[place], now):
            lease = self._line[place]
            del self._line[place]
            self._out[lease.worker, lease.want.ticket] = lease
            self._workers[lease.worker].granted.append(lease.want.ticket)
            self._unsent.setdefault(lease.worker, []).append(lease)
            self.counts.granted += 1
            glad.add(lease.worker)
        if self.stop is None and (why := self.governor.stalled(now)):
            self.stop = Stop("no_progress", why, "Run the same again later; nothing is paid twice.")
        return glad

    def _hold_back(self, leases: Sequence[_Lease], now: float) -> None:
        """They are sent now at the earliest, as far as a limit is concerned."""
        for lease in leases:
            if lease.permit is not None and now - lease.permit.sent > _SOON:
                self.governor.postpone(lease.permit, now)

    def _first(self) -> int | None:
        """The place in the line of the first whose worker listens."""
        if self.stop is not None:
            return None
        ready = (n for n, lease in enumerate(self._line) if self._workers[lease.worker].listening)
        return next(ready, None)

    def _admit(self, lease: _Lease, now: float) -> bool:
        """Money, turn, place: what the head of the line has it keeps."""
        want = lease.want
        if lease.held is None:
            lease.held = self.purse.reserve(want.tokens, want.max_tokens, ttl=self._ttl)
            if lease.held is None:
                if self.purse.in_flight == 0:
                    self.stop = BROKE
                return False
        if lease.ask is None:
            ask = self.warmth.ask(now, prefix=want.prefix)
            if ask.turn is Turn.WAIT:
                return False
            lease.ask = ask
        tokens = want.tokens + self.purse.likely_output(want.max_tokens)
        lease.permit = self.governor.admit(tokens, now)
        return lease.permit is not None

    def due(self, now: float) -> float:
        """Seconds until `pump` should be called again, if nothing is heard before."""
        waits = [self.lifetime / 4]
        if (place := self._first()) is not None:
            head = self._line[place]
            if head.ask is not None:
                wait = self.governor.due(head.want.tokens, now)
                waits += [] if wait is None else [wait]
            elif (wake := self.warmth.wake_at(now)) is not None:
                waits.append(wake - now)
        return max(0.0, min(waits))

    # who died ----------------------------------------------------------------------------------

    def _bury(self, now: float) -> None:
        if now < self._look_at:
            return
        self._look_at = now + self.lifetime / 8
        silent = [name for name, one in self._workers.items() if now - one.seen > self.lifetime]
        for name in silent:
            self.counts.deaths += 1
            self._forget(name, now)

    def _forget(self, worker: str, now: float) -> None:
        self._workers.pop(worker, None)
        self._hold_back(self._unsent.pop(worker, ()), now)
        for key in [key for key in self._out if key[0] == worker]:
            self.counts.lost += 1
            self._settle(self._out.pop(key), Landed(key[1]), now, lost=True)
        mine = [lease for lease in self._line if lease.worker == worker]
        for lease in mine:
            self._line.remove(lease)
            self._settle(lease, Landed(lease.want.ticket), now)
