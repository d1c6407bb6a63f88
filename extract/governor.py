"""How many requests may fly now: what the user allows and what the service shows.

Pure: knows no loop, no socket and no task; whoever calls gives the time. Refusals (429, 529) are
never a row's fault. All that are refused while the same requests were in flight are one episode:
one cut, one cool-down, one lesson. The lesson is one of three:

    a ceiling, named or found   the service takes so many at once: run at exactly that, try one more seldom
    a rate                      so many (requests or tokens) a second: measured from refusal to refusal
    overload                    half as many at once, then back with the replies
"""

from __future__ import annotations

import random
import threading
from collections import deque
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from extract.errors import ConfigError
from extract.pace import Pace
from extract.protocol.reply import Action, Fault, Message, Reply
from extract.rates import GivenRate, LearnedRate, Spread
from extract.window import Window

_BACK_OFF = 0.5  # seconds, when the service does not say how long; doubles while nothing gets through
_LONGEST_BACK_OFF = 30.0
_STRESS_GAIN = 1 / 32
_FORGET = 1 / 16  # how soon estimates of tokens follow what replies used
_RATES = frozenset({"requests_per_minute", "tokens_per_minute", "per_day"})  # kinds that name a rate
_LIMITS_A_MINUTE = {
    "requests": ("x-ratelimit-limit-requests", "anthropic-ratelimit-requests-limit"),
    "tokens": ("x-ratelimit-limit-tokens", "anthropic-ratelimit-tokens-limit"),
}
_LET_LAND = 0.2  # seconds in which the other refusals of a ceiling come in


@dataclass(slots=True, eq=False)
class Permit:
    """One request that may go.

    order: how many were in flight with it when it went. estimate: tokens as they were given;
    tokens: as they were counted. sent: as far as is known; later than `at` where somebody else sends it.
    """

    at: float
    sent: float
    order: int
    estimate: float
    tokens: float
    episode: int
    probe: bool = False


class Blame(StrEnum):
    """What a refusal is taken for."""

    CEILING = "ceiling"
    RATE = "rate"
    OVERLOAD = "overload"


@dataclass(slots=True)
class _Episode:
    """Refusals that belong together. flying: in flight when the first came in, with it.

    guessed: the service did not say which limit it was. before: what was taken at the one before,
    where nothing was answered since.
    """

    blame: Blame
    flying: int
    guessed: bool = False
    before: int | None = None
    refused: int = 0

    @property
    def taken(self) -> int:
        """How many the service had taken at that moment."""
        return max(0, self.flying - self.refused)


@dataclass(slots=True)
class PaceCounts:
    """What happened so far. wasted: requests that were refused (429, 529); episodes: cool-downs."""

    admitted: int = 0
    answered: int = 0
    wasted: int = 0
    episodes: int = 0
    peak: int = 0
    blames: dict[str, int] = field(default_factory=dict)


class Governor:
    """The state of one account at one address.

    now: seconds, of the clock that all other calls use. seed: of the spread after a cool-down.
    """

    def __init__(self, pace: Pace, *, now: float, seed: int | None = None) -> None:
        self.pace = pace
        self.counts = PaceCounts()
        self.in_flight = 0
        self.window = Window(pace.concurrency, now)
        self._requests, self._tokens = LearnedRate(now), LearnedRate(now)
        self.rates = {"requests": self._requests, "tokens": self._tokens}
        self._spread: Spread | None = None  # after a cool-down
        self._rng = random.Random(seed)
        self._given = {
            unit: GivenRate(limit, now)
            for unit, limit in (("requests", pace.requests_per_minute), ("tokens", pace.tokens_per_minute))
            if limit is not None
        }
        self._episode = _Episode(Blame.OVERLOAD, 0)
        self._number = 0
        self._cool_until: float | None = None
        self._fruitless = 0  # episodes since something that went after the last one was answered
        self._answered_since = 0  # replies since the last episode, of whatever went
        self._strikes = 0  # ceilings that came down at once again
        self._orders: deque[int] = deque(maxlen=64)
        self._waiting_since: float | None = None
        self._stress = 1.0  # the share of refusals among the last replies; at first the worst is assumed
        self._used = 0.0
        self._planned = 0.0

    # going -------------------------------------------------------------------------------------

    def begin(self, now: float) -> None:
        """A run starts: what came before is no lack of progress of this one."""
        if self.in_flight == 0:
            self._waiting_since = None

    def admit(self, tokens: float, now: float) -> Permit | None:
        """A permit for one request of about so many tokens; None: ask again when `due`, or after a reply."""
        if self._waiting_since is None:
            self._waiting_since = now
        window, flying = self.window, self.in_flight
        if self._cooling(now) or not window.room(flying, now):
            return None
        counted = self._counted(tokens)
        if self._rate_wait(counted, now) > 0:
            return None
        self._take(counted, now)
        probe = flying >= window.places and window.is_probe(flying)
        self.in_flight = order = flying + 1
        self.counts.admitted += 1
        if order > self.counts.peak:
            self.counts.peak = order
        return Permit(now, now, order, tokens, counted, self._number, probe)

    def due(self, tokens: float, now: float) -> float | None:
        """Seconds until `admit` may succeed by itself; None when a reply has to come first."""
        if self._cool_until is not None and now < self._cool_until:
            return self._cool_until - now
        wait = self._rate_wait(self._counted(tokens), now)
        if self.in_flight < self.window.places:
            return wait
        opens = self.window.due(now)
        return None if opens is None else max(wait, opens)

    def postpone(self, permit: Permit, now: float) -> None:
        """The request was not sent before now: limits that were given count it from now on."""
        for unit, bucket in self._given.items():
            bucket.postpone(_cost(unit, permit.tokens), permit.sent, now)
        permit.sent = now

    def _counted(self, tokens: float) -> float:
        """An estimate, corrected by how estimates turned out so far."""
        factor = self._used / self._planned if self._planned > 0 else 1.0
        return max(1.0, tokens * factor)

    def _rate_wait(self, tokens: float, now: float) -> float:
        longest = self._spread.wait(now) if self._spread is not None else 0.0
        for unit, given in self._given.items():
            longest = max(longest, given.wait(_cost(unit, tokens), now))
        if self._requests.bucket is not None:  # nothing is learned in most runs
            longest = max(longest, self._requests.wait(1.0, now))
        if self._tokens.bucket is not None:
            longest = max(longest, self._tokens.wait(tokens, now))
        return longest

    def _take(self, tokens: float, now: float) -> None:
        for unit, given in self._given.items():
            given.take(_cost(unit, tokens), now)
        self._requests.take(1.0, now)
        self._tokens.take(tokens, now)
        if self._spread is not None:
            self._spread.take(now)

    def _cooling(self, now: float) -> bool:
        if self._cool_until is None:
            return False
        if now < self._cool_until:
            return True
        self._cool_until = None
        self._reconsider()
        for rate in self.rates.values():
            rate.resume(now)
        self._spread = Spread(now)
        self.window.restart(self.in_flight, now)
        return False

    # coming back -------------------------------------------------------------------------------

    def settle(
        self, permit: Permit, reply: Reply | None, now: float, *, limits: Mapping[str, str] | None = None
    ) -> None:
        """The request ended. reply: None when it was given up without one.

        limits: the rate-limit headers that came with it, by lower-case name.
        """
        if isinstance(reply, Message):
            self._answer(permit, reply, now)
        elif isinstance(reply, Fault) and reply.action is Action.COOL_DOWN:
            self._hear(limits or {})
            self._refuse(permit, reply, now)
        else:
            self.window.on_gone(probe=permit.probe)
            if isinstance(reply, Fault) and reply.action in (Action.ROW, Action.REQUEST):
                self._progress(now)
        self.in_flight -= 1

    def _answer(self, permit: Permit, reply: Message, now: float) -> None:
        self.counts.answered += 1
        self._answered_since += 1
        self._stress -= self._stress * _STRESS_GAIN
        self._orders.append(permit.order)
        if permit.episode == self._number:
            self._fruitless = 0
        self.window.on_reply(probe=permit.probe)
        self._correct(permit, reply)
        self._progress(now)

    def _progress(self, now: float) -> None:
        self._waiting_since = now if self.in_flight > 1 else None

    def _correct(self, permit: Permit, reply: Message) -> None:
        used = (reply.usage.total_input or 0) + (reply.usage.output or 0)
        if not used:
            return
        self._used += (used - self._used) * _FORGET
        self._planned += (permit.estimate - self._planned) * _FORGET
        if "tokens" in self._given:
            self._given["tokens"].correct(permit.tokens - used, permit.sent)
        self._tokens.give_back(permit.tokens - used, permit.at)

    def _hear(self, limits: Mapping[str, str]) -> None:
        """Limits a minute, where the refusal brings them: the first guess of a rate."""
        for unit, names in _LIMITS_A_MINUTE.items():
            said = next((limits[name] for name in names if limits.get(name, "").isdecimal()), "0")
            if int(said):
                self.rates[unit].told(float(said))

    # refusals ----------------------------------------------------------------------------------

    def _refuse(self, permit: Permit, fault: Fault, now: float) -> None:
        self.counts.wasted += 1
        self.window.on_gone(probe=permit.probe)
        self._give_back(permit)
        self._stress += (1.0 - self._stress) * _STRESS_GAIN
        named = fault.kind == "concurrency" or fault.limit is not None
        if permit.probe and (named or fault.retry_after is None):
            self.window.refuse_probe()  # told what it was sent for: nobody has to wait
            return
        if permit.episode == self._number:
            self._open_episode(permit, fault, now)
        if permit.episode == self._number - 1:
            self._episode.refused += 1
        if self._episode.blame is not Blame.CEILING:
            self._cool(fault, now)
            return
        taken, limit = self._episode.taken, fault.limit or self._episode.taken
        self.window.set_ceiling(min(taken, limit), named=fault.limit is not None)
        self._cool_until = max(now + _LET_LAND, self._cool_until or now)
        if taken < max(1, limit) or (fault.retry_after is not None and not named):
            self._cool(fault, now)  # a wait frees no place that own requests hold, but those of others

    def _give_back(self, permit: Permit) -> None:
        self._requests.give_back(1.0, permit.at)
        self._tokens.give_back(permit.tokens, permit.at)

    def _open_episode(self, permit: Permit, fault: Fault, now: float) -> None:
        blame = self._blame(permit, fault)
        before = self._episode.taken if self._number and not self._answered_since else None
        guessed = fault.kind not in _RATES and fault.status != 529
        self._episode = _Episode(blame, self.in_flight, guessed, before)
        self._number += 1
        self._fruitless += 1
        self._answered_since = 0
        self.counts.episodes += 1
        self.counts.blames[blame.value] = self.counts.blames.get(blame.value, 0) + 1
        if blame is Blame.CEILING:
            self._open_ceiling(permit)
        elif blame is Blame.RATE:
            self._open_rate(permit, fault, now)
        else:
            self.window.cut((self.in_flight - 1) * (1 - self._stress / 2))

    def _open_ceiling(self, permit: Permit) -> None:
        if permit.probe:
            self.window.refuse_probe()
            return
        short_lived = self.window.held < 2 * self.window.ceiling
        fell = self.in_flight - 1 < 0.9 * self.window.ceiling - 1
        self._strikes = self._strikes + 1 if short_lived and fell else 0

    def _open_rate(self, permit: Permit, fault: Fault, now: float) -> None:
        if self.in_flight <= self.window.ceiling and self._episode.guessed:
            self.window.drop_ceiling()  # there was room below it
        unit = "tokens" if fault.kind == "tokens_per_minute" else "requests"
        self.rates[unit].refused(permit.at)
        for bucket in self._given.values():
            bucket.drain(now)

    def _blame(self, permit: Permit, fault: Fault) -> Blame:
        """What the service says; and where it says nothing, what fits what was seen."""
        if fault.kind == "overloaded" or fault.status == 529:
            return Blame.OVERLOAD
        if fault.kind == "concurrency" or fault.limit is not None or permit.probe:
            return Blame.CEILING
        if fault.kind in _RATES or fault.retry_after is not None:
            return Blame.RATE
        return self._blame_unsaid(self.in_flight - 1)

    def _blame_unsaid(self, others: int) -> Blame:
        """Neither kind nor wait: a ceiling, unless more were taken before or it never holds."""
        if not others or self._strikes >= 2:
            self.window.drop_ceiling()
            return Blame.RATE
        above = sum(order > others for order in self._orders)
        no_ceiling = self.window.ceiling > self.window.cap
        return Blame.RATE if no_ceiling and above > max(2, others // 10) else Blame.CEILING

    def _reconsider(self) -> None:
        """A wait in vain: no more were taken than before it, and nothing was answered. So it is a ceiling."""
        now, before = self._episode, self._episode.before
        if now.blame is Blame.RATE and now.guessed and before is not None and 0 < now.taken <= before:
            for rate in self.rates.values():
                rate.dismiss()
            self.window.set_ceiling(now.taken)
            now.blame = Blame.CEILING

    def _cool(self, fault: Fault, now: float) -> None:
        """One wait for all, at least what was asked for; spread so that runs do not come back together."""
        overload = self._episode.blame is Blame.OVERLOAD
        first = _BACK_OFF * (max(self._stress, 0.1) if overload else 1.0)
        back_off = min(first * 2.0 ** min(self._fruitless - 1, 10), _LONGEST_BACK_OFF)
        if fault.retry_after is None:
            wait = back_off * self._rng.uniform(0.5, 1.0)
        else:
            vain = min(_BACK_OFF / 16 * 2.0 ** min(self._fruitless - 1, 10), _LONGEST_BACK_OFF / 4)
            wait = max(fault.retry_after, vain if self._fruitless > 1 else 0.0) + self._rng.uniform(
                0.0, min(0.05 * fault.retry_after, 1.0)
            )
        self._cool_until = max(self._cool_until or now, now + wait)

    # stopping ----------------------------------------------------------------------------------

    def stalled(self, now: float) -> str | None:
        """Why the run should stop with rows pending: nothing was answered for `no_progress` seconds, or
        the service asks for a wait beyond that. None while all is well."""
        if self._waiting_since is None:
            return None
        end = self._waiting_since + self.pace.no_progress
        if self._cool_until is not None and self._cool_until > max(end, now):
            return f"the service asks to wait {self._cool_until - now:,.0f} s, longer than no_progress"
        if now < end:
            return None
        return f"no request was answered for {now - self._waiting_since:,.0f} s"


def _cost(unit: str, tokens: float) -> float:
    """What one request takes of a limit."""
    return tokens if unit == "tokens" else 1.0


_shared: dict[tuple[str, str, Hashable], Governor] = {}
_shared_lock = threading.Lock()


def governor_for(pace: Pace, *, address: str, key: Hashable = None, now: float) -> Governor:
    """The governor of a run: its own, or the one of all with the same name, address and key.

    Raises ConfigError when those that share a name do not give the same numbers.
    """
    if pace.name is None:
        return Governor(pace, now=now)
    with _shared_lock:
        governor = _shared.setdefault((pace.name, address, key), Governor(pace, now=now))
    if governor.pace != pace:
        raise ConfigError(
            f"Pace.shared({pace.name!r}): {pace} here, {governor.pace} elsewhere; give the same"
        )
    return governor
