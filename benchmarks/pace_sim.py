"""The governor against modelled servers, in virtual time: seeded, exact, seconds to run.

    python -m benchmarks.pace_sim [name …]

Each line: the wall time against the bound that the server's limit sets, and requests wasted on 429.
"""

from __future__ import annotations

import asyncio
import math
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from extract.gate import Gate
from extract.governor import Governor
from extract.pace import Pace
from extract.protocol.reply import Action, Fault, Message
from extract.protocol.usage import Usage
from extract.testing.clock import VirtualClock


@dataclass
class Server:
    """A modelled service. Times in seconds.

    rate, burst: token bucket of requests. tokens: tokens a minute, as a bucket. at_once: places.
    says: "exact", "whole" or "nothing" about how long to wait; kind: what the refusal names.
    hop: one way to the server; slow_refusal: refusals take as long as replies.
    change: at this share of the rows, limits are multiplied by `factor`.
    """

    rate: float = 0.0
    burst: float = 0.0
    tokens: float = 0.0
    at_once: int = 0
    latency: float = 0.05
    spread: float = 0.1
    slow_share: float = 0.0
    says: str = "whole"
    kind: str = "rate_limit"
    hop: float = 0.003
    slow_refusal: bool = False
    errors: float = 0.0
    overload: float = 0.0
    change: float = 0.0
    factor: float = 1.0
    window: float = 0.0
    level: float = field(default=-1.0, init=False)
    token_level: float = field(default=-1.0, init=False)
    at: float = field(default=0.0, init=False)
    flying: int = field(default=0, init=False)
    refused: int = field(default=0, init=False)
    served: int = field(default=0, init=False)
    headers: dict[str, str] = field(default_factory=dict)
    windows: dict[int, int] = field(default_factory=dict, init=False)
    calls: list[float] = field(default_factory=list, init=False)

    def take(self, now: float, tokens: float) -> float:
        """0 when taken, else seconds until there is room."""
        if self.at_once and self.flying >= self.at_once:
            return 1.0
        if self.window:
            slot = int(now // self.window)
            if self.windows.get(slot, 0) >= self.rate * self.window:
                return (slot + 1) * self.window - now
            self.windows[slot] = self.windows.get(slot, 0) + 1
            return 0.0
        passed, self.at = now - self.at, now
        if self.rate:
            size = self.burst or self.rate
            self.level = size if self.level < 0 else min(size, self.level + passed * self.rate)
        if self.tokens:
            self.token_level = (
                self.tokens
                if self.token_level < 0
                else min(self.tokens, self.token_level + passed * self.tokens / 60)
            )
        if self.rate and self.level < 1:
            return (1 - self.level) / self.rate
        if self.tokens and self.token_level < tokens:
            return (tokens - self.token_level) / (self.tokens / 60)
        self.level -= 1
        self.token_level -= tokens
        return 0.0


@dataclass(frozen=True)
class Case:
    """rows: how many; tokens: of a row, mean; pace: what the user says."""

    server: Callable[[], Server]
    rows: int
    limit: float
    pace: Pace = field(default_factory=Pace)
    tokens: int = 0
    bound: Callable[[Case, int], float] | None = None
    wasted: float = 0.03
    workers: float = 1.25


@dataclass(frozen=True)
class Result:
    """What one run gave."""

    wall: float
    bound: float
    wasted: float
    refused: int
    governor: Governor
    server: Server
    closest: int

    @property
    def ratio(self) -> float:
        """Wall time over the bound."""
        return self.wall / self.bound


async def _request(server: Server, clock: VirtualClock, rng: random.Random, tokens: float) -> Message | Fault:
    await clock.sleep(server.hop)
    server.calls.append(clock.now())
    latency = server.latency * rng.uniform(1 - server.spread, 1 + server.spread)
    if server.slow_share and rng.random() < server.slow_share:
        latency *= 100
    if server.overload and rng.random() < server.overload:
        await clock.sleep(server.hop)
        return Fault("overloaded", Action.COOL_DOWN, status=529)
    wait = server.take(clock.now(), tokens)
    if wait:
        server.refused += 1
        await clock.sleep(latency if server.slow_refusal else server.hop)
        said = {"exact": round(wait, 3) or 0.001, "whole": float(math.ceil(wait)), "nothing": None}[
            server.says
        ]
        limit = server.at_once if server.kind == "concurrency" else None
        return Fault(server.kind, Action.COOL_DOWN, status=429, retry_after=said, limit=limit)
    server.flying += 1
    await clock.sleep(latency)
    server.flying -= 1
    await clock.sleep(server.hop)
    if rng.random() < server.errors:
        return Fault("server", Action.RETRY, status=500)
    server.served += 1
    return Message([], "end_turn", Usage(input=int(tokens), output=0))


async def _drive(case: Case, clock: VirtualClock, seed: int) -> Result:
    rng = random.Random(seed)
    server = case.server()
    governor = Governor(case.pace, now=clock.now(), seed=seed)
    gate = Gate(governor, clock)
    rows = iter(range(case.rows))
    started = clock.now()

    async def worker() -> None:
        for row in rows:
            if server.change and row == int(case.rows * server.change):
                server.rate *= server.factor
                server.burst *= server.factor
                server.at_once = int(server.at_once * server.factor)
            tokens = max(1.0, rng.lognormvariate(0, 0.3) * case.tokens) if case.tokens else 1.0
            while True:
                slot = await gate.enter(case.tokens or 1.0)
                try:
                    reply = await _request(server, clock, rng, tokens)
                    slot.call = _Call(reply, server.headers)
                finally:
                    slot.leave()
                if isinstance(reply, Message):
                    break
                if reply.action is Action.RETRY:
                    await clock.sleep(rng.uniform(0, 0.5))

    count = min(case.rows, round(case.pace.concurrency * case.workers) + 1)
    await asyncio.gather(*(worker() for _ in range(count)))
    await gate.close()
    wall = clock.now() - started
    needed = len(server.calls) - server.refused
    bound = case.bound(case, needed) if case.bound else needed / case.limit
    bound += server.latency * (100 if server.slow_share else 1)
    buckets: dict[int, int] = {}
    for at in server.calls:
        buckets[int(at * 100)] = buckets.get(int(at * 100), 0) + 1
    return Result(
        wall, bound, server.refused / case.rows, server.refused, governor, server, max(buckets.values())
    )


@dataclass(frozen=True)
class _Call:
    reply: Message | Fault
    limits: dict[str, str] = field(default_factory=dict)


def run(case: Case, seed: int = 0) -> Result:
    """One run of a case."""
    clock = VirtualClock()
    return clock.run(_drive(case, clock, seed))


def _changed(case: Case, needed: int) -> float:
    server = case.server()
    return needed * (server.change / case.limit + (1 - server.change) / (case.limit * server.factor))


def _places(case: Case, needed: int) -> float:
    server = case.server()
    return math.ceil(needed / case.limit - 1) * server.latency


def _minute(case: Case, needed: int) -> float:
    return case.rows * case.tokens * math.exp(0.045) / (case.server().tokens / 60)


WIDE = Pace(concurrency=1_000)
CASES: dict[str, Case] = {
    "200/s, bucket of 1 s": Case(lambda: Server(rate=200, errors=0.02), 2_000, 200),
    "200/s, exact wait, named": Case(
        lambda: Server(rate=200, errors=0.02, says="exact", kind="requests_per_minute"), 2_000, 200
    ),
    "200/s, exact wait, named, slow 429": Case(
        lambda: Server(rate=200, says="exact", kind="requests_per_minute", slow_refusal=True), 2_000, 200
    ),
    "200/s, slow 429": Case(lambda: Server(rate=200, slow_refusal=True), 2_000, 200),
    "200/s, 1 s replies": Case(lambda: Server(rate=200, latency=1.0), 2_000, 200, pace=WIDE),
    "200/s, nothing said": Case(lambda: Server(rate=200, says="nothing"), 2_000, 200),
    "200/s, bucket of 1": Case(lambda: Server(rate=200, burst=1, says="exact"), 2_000, 200),
    "200/s, bucket of 1, whole waits": Case(lambda: Server(rate=200, burst=1), 2_000, 200),
    "200/s, bucket of 40": Case(lambda: Server(rate=200, burst=40), 2_000, 200),
    "halved": Case(lambda: Server(rate=200, change=0.5, factor=0.5), 2_000, 200, bound=_changed),
    "doubled": Case(lambda: Server(rate=200, change=0.5, factor=2), 2_000, 200, bound=_changed),
    "halved, exact": Case(
        lambda: Server(rate=200, change=0.5, factor=0.5, says="exact", kind="requests_per_minute"),
        2_000,
        200,
        bound=_changed,
    ),
    "doubled, exact": Case(
        lambda: Server(rate=200, change=0.5, factor=2, says="exact", kind="requests_per_minute"),
        2_000,
        200,
        bound=_changed,
    ),
    "1 at once": Case(
        lambda: Server(at_once=1, latency=2, says="nothing"), 60, 1, bound=_places, wasted=0.05
    ),
    "3 at once": Case(
        lambda: Server(at_once=3, latency=2, says="nothing"), 200, 3, bound=_places, wasted=0.05
    ),
    "3 at once, named": Case(
        lambda: Server(at_once=3, latency=2, kind="concurrency"), 200, 3, bound=_places, wasted=0.05
    ),
    "3 at once, waits said": Case(lambda: Server(at_once=3, latency=2), 200, 3, bound=_places, wasted=0.05),
    "500 at once": Case(
        lambda: Server(at_once=500, latency=2, says="nothing"), 10_000, 500, WIDE, bound=_places, wasted=0.05
    ),
    "1000 at once": Case(
        lambda: Server(at_once=1_000, latency=2, says="nothing"),
        20_000,
        1_000,
        WIDE,
        bound=_places,
        wasted=0.05,
    ),
    "3 at once, tripled": Case(
        lambda: Server(at_once=3, latency=2, says="nothing", change=0.3, factor=3),
        400,
        3,
        bound=_changed,
        wasted=0.05,
    ),
    "no limit": Case(lambda: Server(), 5_000, 64 / 0.056),
    "one slow in a thousand": Case(lambda: Server(rate=200, slow_share=0.001), 2_000, 200),
    "60k tokens a minute, told": Case(
        lambda: Server(tokens=60_000, kind="tokens_per_minute"),
        600,
        0,
        Pace(tokens_per_minute=60_000),
        tokens=300,
        bound=_minute,
    ),
    "60k tokens a minute, learned": Case(
        lambda: Server(tokens=60_000, kind="tokens_per_minute", says="exact"),
        600,
        0,
        tokens=300,
        bound=_minute,
    ),
    "12k a minute, told": Case(
        lambda: Server(rate=200, kind="requests_per_minute"), 2_000, 200, Pace(requests_per_minute=12_000)
    ),
    "3 a minute": Case(lambda: Server(rate=0.05, burst=3, kind="requests_per_minute"), 30, 0.05, wasted=0.2),
    "200 a minute, limit in a header": Case(
        lambda: Server(rate=200 / 60, burst=200, headers={"x-ratelimit-limit-requests": "200"}),
        600,
        200 / 60,
    ),
    "200 a minute, windows": Case(
        lambda: Server(rate=200 / 60, window=60, kind="requests_per_minute"), 1_000, 200 / 60
    ),
    "overloaded 2 %": Case(lambda: Server(overload=0.02), 2_000, 64 / 0.056, wasted=0.1),
}


def main(names: list[str]) -> None:
    """Prints a table."""
    print(f"{'case':36} {'wall':>8} {'bound':>8} {'ratio':>6} {'429':>5} {'share':>6}  peak episodes  rate")
    for name, case in CASES.items():
        if names and not any(part in name for part in names):
            continue
        for seed in range(3):
            result = run(replace(case), seed)
            governor = result.governor
            print(
                f"{name:36} {result.wall:8.2f} {result.bound:8.2f} {result.ratio:6.2f} {result.refused:5} "
                f"{result.wasted:6.1%}  {governor.counts.peak:4} {dict(governor.counts.blames)} "
                f"{governor.rates['requests'].rate:.1f} {result.closest}"
            )


if __name__ == "__main__":
    main(sys.argv[1:])
