"""A thousand workers under one limit, in virtual time: the hub's real code (`integrations.leases`), seeded.

    python -m benchmarks.scale                 all of them, about a minute
    python -m benchmarks.scale steady deaths   some

What is modelled: workers with rows in flight, the time that words take to the hub and back, words gathered
into messages as a worker gathers them, and a service with a bucket of requests. What is not: the processor
time of messages between machines; that of the hub's own code is measured and told beside each line.
"""

from __future__ import annotations

import heapq
import itertools
import random
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from extract.budget import Purse
from extract.governor import Governor
from extract.integrations.leases import Landed, Leases, Want
from extract.pace import Pace
from extract.protocol.reply import Action, Fault, Message
from extract.protocol.usage import Usage
from extract.store import AnswerRow, Batch, CallRow, RowRow, RunStart, Store
from extract.warmth import Warmth

USAGE = Usage(input=600, output=200)
HOP = 0.001  # seconds from a worker to the hub
GATHER = 0.005  # seconds in which a worker gathers words


@dataclass
class Service:
    """A service that takes `rate` requests a second, and a burst of a second's worth."""

    rate: float
    level: float = 0.0
    at: float = 0.0
    taken: int = 0
    refused: int = 0
    by_second: dict[int, int] = field(default_factory=dict)

    def take(self, now: float) -> bool:
        """Whether a request that comes now is worked on."""
        self.level = min(self.rate, self.level + (now - self.at) * self.rate)
        self.at = now
        if self.level < 1:
            self.refused += 1
            return False
        self.level -= 1
        self.taken += 1
        self.by_second[int(now)] = self.by_second.get(int(now), 0) + 1
        return True


@dataclass
class Worker:
    """A worker: words that it has not said yet, and how many requests it has asked for."""

    name: str
    alive: bool = True
    wants: list[Want] = field(default_factory=list)
    landed: list[Landed] = field(default_factory=list)
    speaking: bool = False


class Simulation:
    """One hub, many workers, one service."""

    def __init__(self, *, workers: int, places: int, pace: Pace, rate: float, seed: int = 0) -> None:
        self.rng = random.Random(seed)
        self.now = 0.0
        self.service = Service(rate, level=rate)
        governor = Governor(pace, now=0.0, seed=seed)
        self.leases = Leases(governor, Purse(None, None), Warmth("1h", 2_000), ttl="1h", lifetime=30.0)
        self.workers = {str(n): Worker(str(n)) for n in range(workers)}
        self.messages = 0
        self.spent = 0.0  # seconds of processor time in the hub's code
        self.leads = 0
        self._places = places
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._tickets = itertools.count(1)
        self._pump_at = float("inf")
        for worker in self.workers.values():
            for _ in range(places):
                self.at(self.rng.uniform(0, 1.0), lambda w=worker: self.ask(w))
            self.leases.listen(worker.name, 0.0)
            self.at(self.rng.uniform(0, 7.5), lambda w=worker: self.live(w))

    def at(self, when: float, what: Callable[[], None]) -> None:
        """Something happens later."""
        heapq.heappush(self._events, (when, next(self._order), what))

    def run(self, until: float) -> None:
        """Turns the clock."""
        while self._events and self._events[0][0] <= until:
            self.now, _, what = heapq.heappop(self._events)
            what()
        self.now = until

    # a worker ----------------------------------------------------------------------------------

    def ask(self, worker: Worker, *, again: bool = False) -> None:
        """A row wants to be sent."""
        worker.wants.append(Want(next(self._tickets), 600, 8_192, "prefix", again))
        self.speak(worker)

    def speak(self, worker: Worker) -> None:
        """Words go out together, a moment later."""
        if not worker.speaking and worker.alive:
            worker.speaking = True
            self.at(self.now + GATHER + HOP, lambda: self.hear(worker))

    def live(self, worker: Worker) -> None:
        """The sign of life: a worker that hears nothing asks again."""
        if worker.alive:
            self.messages += 1
            self.listen(worker)
            self.at(self.now + 7.5, lambda: self.live(worker))

    def listen(self, worker: Worker) -> None:
        """Ready for tickets."""
        if worker.alive:
            self.spend(lambda: self.leases.listen(worker.name, self.now))
            self.pump()

    def send(self, worker: Worker, ticket: int) -> None:
        """A request arrives at the service."""
        if not worker.alive:
            return
        if self.service.take(self.now):
            reply: Any = Message([], "end_turn", USAGE)
            took = self.rng.lognormvariate(0.9, 0.4)  # two and a half seconds, some ten
        else:
            reply = Fault("rate_limit", Action.COOL_DOWN, status=429, retry_after=1.0)
            took = 0.05
        self.at(self.now + took, lambda: self.land(worker, ticket, reply))

    def land(self, worker: Worker, ticket: int, reply: Any) -> None:
        """An answer came; the next row wants to be sent."""
        if worker.alive:
            worker.landed.append(Landed(ticket, reply))
            self.ask(worker, again=isinstance(reply, Fault))

    def die(self, worker: Worker) -> None:
        """Killed: nothing is heard of it any more. Another takes its rows."""
        worker.alive = False
        fresh = Worker(f"{worker.name}'")
        self.workers[fresh.name] = fresh
        for _ in range(self._places):
            self.at(self.now + 10.0, lambda: self.ask(fresh))
        self.at(self.now + 10.0, lambda: self.live(fresh))

    # the hub -----------------------------------------------------------------------------------

    def spend(self, what: Callable[[], Any]) -> Any:
        """Runs the hub's code and takes its time."""
        began = time.perf_counter()
        made = what()
        self.spent += time.perf_counter() - began
        return made

    def hear(self, worker: Worker) -> None:
        """One message arrives."""
        worker.speaking = False
        if not worker.alive:
            return
        self.messages += 1
        wants, worker.wants = worker.wants, []
        landed, worker.landed = worker.landed, []
        self.spend(lambda: self.leases.hear(worker.name, self.now, wants=wants, landed=landed))
        self.pump()

    def pump(self) -> None:
        """Tickets go out; the next look is when something is due."""
        for name in sorted(self.spend(lambda: self.leases.pump(self.now))):
            self.messages += 1  # one question and its answer
            for ticket in self.leases.take(name):
                self.at(self.now + 2 * HOP, lambda w=self.workers[name], t=ticket: self.send(w, t))
            self.at(self.now + 2 * HOP, lambda w=self.workers[name]: self.listen(w))
        due = self.now + max(self.spend(lambda: self.leases.due(self.now)), 0.0005)
        if due < self._pump_at or self._pump_at <= self.now:
            self._pump_at = due
            self.at(due, self._look)

    def _look(self) -> None:
        if self.now >= self._pump_at:
            self._pump_at = float("inf")
            self.pump()

    def told(self, since: float) -> str:
        """Share of the limit, refusals, messages, processor time: from `since` on."""
        seconds = self.now - since
        served = sum(count for second, count in self.service.by_second.items() if second >= since)
        share = served / (self.service.rate * seconds)
        sent = self.service.taken + self.service.refused
        return (
            f"{share:.1%} of the limit used, {self.service.refused / sent:.2%} refused, "
            f"a request: {self.messages / sent:.2f} calls to the hub, {self.spent / sent * 1e6:.0f} µs there"
        )


def simulation(**settings: Any) -> Simulation:
    """A thousand workers, eight rows each, a limit of a thousand requests a second."""
    given: dict[str, Any] = {"workers": 1_000, "places": 8, "rate": 1_000.0}
    return Simulation(**given | {"pace": Pace(concurrency=6_000)} | settings)


def settles(sim: Simulation, since: int, rate: float) -> str:
    """Seconds until what is used over ten seconds is within a tenth of the limit."""
    for second in range(since, int(sim.now) - 10):
        used = sum(sim.service.by_second.get(one, 0) for one in range(second, second + 10))
        if abs(used / (10 * rate) - 1) <= 0.1:
            return f"{second - since} s"
    return "never"


def known() -> str:
    """The limit is given: nothing is refused."""
    sim = simulation(pace=Pace(concurrency=6_000, requests_per_minute=60_000))
    sim.run(60)
    return sim.told(10)


def steady() -> str:
    """The limit is not known: it is learned from refusals."""
    sim = simulation()
    sim.run(60)
    return f"{sim.told(10)}; learned in {settles(sim, 0, 1_000)}"


def change() -> str:
    """The limit is halved, then lifted to twice that."""
    sim = simulation()
    sim.run(30)
    sim.service.rate = 500.0
    sim.run(60)
    down = settles(sim, 30, 500)
    sim.service.rate = 1_000.0
    sim.run(150)
    return f"halved: settled in {down}; lifted again: in {settles(sim, 60, 1_000)}"


def deaths() -> str:
    """A hundred workers die at once; others take their rows ten seconds later."""
    sim = simulation()
    sim.run(30)
    for worker in sim.rng.sample(list(sim.workers.values()), 100):
        sim.die(worker)
    before = sim.leases.in_flight
    sim.run(90)
    counts = sim.leases.counts
    return (
        f"{counts.deaths} dead with {counts.lost} of {before} in flight, which came back after 30 s; "
        f"{sim.told(30)}"
    )


def cache() -> str:
    """The shared prefix is written once, not once a worker."""
    sim = simulation()
    sim.run(20)
    return f"{sim.leases.warmth.report.leads} of {sim.service.taken:,} requests led the others"


def store() -> str:
    """What the one writer takes: rows as a run commits them, and looking them up again."""
    rows, batch = 100_000, 250
    text = '{"customer":"ROW-000001","category":"billing","amount":17.5,"urgent":true}'
    with tempfile.TemporaryDirectory() as place, Store.open(Path(place) / "s.duckdb") as kept:
        kept.begin(RunStart("r", "Ticket", 0.0)).result()
        began = time.perf_counter()
        for start in range(0, rows, batch):
            keys = [str(n) for n in range(start, start + batch)]
            prints = [f"{n:064x}" for n in range(start, start + batch)]
            pairs = list(zip(keys, prints, strict=True))
            calls = [CallRow(f"r-{k}", "r", k, f, 1, "first", 200, f"req-{k}", usage=USAGE) for k, f in pairs]
            answers = [AnswerRow(f, text, "kimi", "r", usage=USAGE) for f in prints]
            done = [RowRow("Ticket", k, int(k), f, "accepted", "r") for k, f in pairs]
            kept.commit(Batch(calls, answers, done)).result()
        took = time.perf_counter() - began
        began = time.perf_counter()
        for start in range(0, 20_000, 256):
            kept.recall([f"{n:064x}" for n in range(start, start + 256)]).result()
        found = (time.perf_counter() - began) / 20_000
        kept.with_connection(lambda con: con.execute("CHECKPOINT"))
        size = (Path(place) / "s.duckdb").stat().st_size / rows
    return (
        f"{rows / took:,.0f} rows a second committed by one writer, {size:.0f} bytes a row on disk, "
        f"{found * 1e6:.0f} µs to find an answer again"
    )


RUNS: dict[str, Callable[[], str]] = {
    "known": known,
    "steady": steady,
    "change": change,
    "deaths": deaths,
    "cache": cache,
    "store": store,
}


def main(names: list[str]) -> None:
    """Runs some by name."""
    for name in names or RUNS:
        began = time.perf_counter()
        said = RUNS[name]()
        print(f"{name:8} {said} ({time.perf_counter() - began:.0f} s)", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
