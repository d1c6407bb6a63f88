"""Who may send how much: the pure part, under a clock that the test turns."""

from __future__ import annotations

import random

from extract import Budget, Pace
from extract.breaker import Stop
from extract.budget import Purse
from extract.governor import Governor
from extract.integrations.leases import Landed, Leases, Want
from extract.protocol.reply import Action, Fault, Message
from extract.protocol.usage import Usage
from extract.warmth import Warmth

USAGE = Usage(input=100, output=50)
ANSWER = Message([], "end_turn", USAGE)
REFUSED = Fault("overloaded", Action.COOL_DOWN, status=529, retry_after=5.0)


def leases(pace: Pace | None = None, budget: Budget | None = None, **settings: object) -> Leases:
    governor = Governor(pace or Pace(concurrency=4), now=0.0, seed=1)
    warmth = Warmth(settings.pop("ttl", None), 2_000)  # type: ignore[arg-type]
    made = Leases(governor, Purse(budget, None), warmth, ttl=None, **settings)  # type: ignore[arg-type]
    made.hear("first", -0.5, wants=[want(n) for n in range(4)])
    pump(made, -0.5, "first")  # the start opens places step by step; it is over
    made.hear("first", 0.0, landed=[Landed(n) for n in range(4)])
    made.leave("first", 0.0)
    return made


def pump(hub: Leases, now: float, *listening: str) -> set[str]:
    """All that goes within half a second to those who listen."""
    for name in listening:
        hub.listen(name, now)
    return set[str]().union(*(hub.pump(now + step / 20) for step in range(10)))


def want(ticket: int, **more: object) -> Want:
    return Want(ticket, 100, 1_000, **more)  # type: ignore[arg-type]


def test_places_are_shared_and_come_back_when_a_request_lands() -> None:
    hub = leases()
    hub.hear("a", 0.0, wants=[want(n) for n in range(3)])
    hub.hear("b", 0.0, wants=[want(n) for n in range(3)])
    assert pump(hub, 0.0, "a", "b") == {"a", "b"}
    assert (hub.take("a"), hub.take("b"), hub.take("b")) == ([0, 1, 2], [0], [])
    hub.hear("a", 1.0, landed=[Landed(0, ANSWER), Landed(1, ANSWER)])
    assert pump(hub, 1.0, "a", "b") == {"b"} and hub.take("b") == [1, 2]
    assert hub.in_flight == 4 == hub.governor.in_flight


def test_one_refusal_cools_all_workers_down() -> None:
    hub = leases()
    hub.hear("a", 0.0, wants=[want(1)])
    hub.hear("b", 0.0, wants=[want(1)])
    pump(hub, 0.0, "a", "b")
    hub.hear("a", 0.1, landed=[Landed(1, REFUSED)], wants=[want(2, again=True)])
    hub.hear("b", 0.1, landed=[Landed(1, ANSWER)], wants=[want(2)])
    assert not pump(hub, 0.1) and not pump(hub, 4.5)
    assert 5.0 <= 0.1 + hub.governor.due(100, 0.1) <= 5.5  # type: ignore[operator]
    assert pump(hub, 6.0, "a", "b") == {"a"}  # whose row was in the air before


def test_a_dead_workers_places_come_back_and_its_money_does_not() -> None:
    hub = leases(budget=Budget(requests=6), lifetime=10.0)
    hub.hear("dead", 0.0, wants=[want(n) for n in range(6)])
    pump(hub, 0.0, "dead")
    hub.hear("alive", 9.0, wants=[want(1), want(2)])
    assert not pump(hub, 9.0)
    assert pump(hub, 10.5, "alive") == {"alive"} and hub.take("alive") == [1, 2]
    assert (hub.counts.deaths, hub.counts.lost, hub.workers) == (1, 4, 1)
    assert hub.purse.spent.requests == 4
    hub.hear("alive", 11.0, landed=[Landed(1, ANSWER), Landed(2, ANSWER)], wants=[want(3)])
    pump(hub, 11.0, "alive")
    assert hub.stop is not None and hub.stop.reason == "budget" and hub.purse.spent.requests == 6
    hub.hear("dead", 12.0, landed=[Landed(0, ANSWER)])  # it was only slow: what it says is known already
    assert hub.counts.late == 1 and hub.purse.spent.requests == 6


def test_one_worker_writes_the_cache_for_all() -> None:
    hub = leases(ttl="1h")
    for worker in "abc":
        hub.hear(worker, 0.0, wants=[want(1, prefix="p"), want(2, prefix="p")])
    assert pump(hub, 0.0, *"abc") == {"a"} and hub.take("a") == [1]
    hub.hear("a", 0.5, begun=[1])
    pump(hub, 0.5, *"abc")
    assert hub.in_flight == 4  # a place each, as many as there are


def test_a_worker_that_leaves_and_a_want_that_is_taken_back_cost_nothing() -> None:
    hub = leases(Pace(concurrency=1), Budget(requests=2))
    hub.hear("a", 0.0, wants=[want(1), want(2), want(3)])
    pump(hub, 0.0, "a")
    hub.hear("a", 0.0, landed=[Landed(2)])
    hub.hear("a", 0.0, landed=[Landed(1)])
    assert hub.purse.spent.requests == 0
    hub.hear("b", 0.0, wants=[want(1)])
    hub.leave("a", 0.0)
    assert pump(hub, 0.0, "b") == {"b"} and hub.workers == 1


def test_a_stop_of_one_is_a_stop_of_all() -> None:
    hub = leases()
    hub.stop = Stop("key", "401")
    hub.hear("b", 0.0, wants=[want(1)])
    assert not pump(hub, 0.0, "b")


def test_who_does_not_listen_gets_nothing_and_holds_nobody_up() -> None:
    hub = leases()
    hub.hear("deaf", 0.0, wants=[want(1), want(2)])
    hub.hear("b", 0.0, wants=[want(1)])
    assert pump(hub, 0.0, "b") == {"b"} and hub.take("b") == [1]
    hub.hear("b", 1.0, wants=[want(2)])
    assert not pump(hub, 1.0)  # it took tickets and has not asked for more
    assert pump(hub, 1.0, "deaf", "b") == {"deaf", "b"}


def test_whatever_workers_do_the_limit_and_the_budget_hold() -> None:
    for seed in range(6):
        rng, now = random.Random(seed), 0.0
        hub = leases(Pace(concurrency=5, requests_per_minute=600), Budget(requests=60), lifetime=3.0)
        held: dict[str, list[int]] = {name: [] for name in "abcd"}
        sent: list[float] = []
        for ticket in range(600):
            now += rng.expovariate(40)
            name = rng.choice(sorted(held))
            if rng.random() < 0.02:
                # it died: a new one takes its rows, under another name
                held[f"worker {ticket}"] = []
                del held[name]
                continue
            landed = [Landed(held[name].pop(), rng.choice([ANSWER, REFUSED, None]))] if held[name] else []
            hub.hear(name, now, landed=landed, wants=[want(ticket)])
            hub.listen(name, now)
            for glad in hub.pump(now):
                tickets = hub.take(glad)
                sent += [now] * len(tickets)
                held.get(glad, []).extend(tickets)  # or they went to one that is dead by now
            assert hub.governor.in_flight == hub.in_flight <= 5
            assert hub.purse.spent.requests + hub.purse.reserved.requests <= 60
            if hub.stop is not None:
                break
        assert all(sum(at <= other < at + 60 for other in sent) <= 600 for at in sent)


def test_tickets_of_a_slow_worker_count_until_they_are_sent() -> None:
    hub = leases(Pace(concurrency=50, requests_per_minute=120))
    hub.hear("slow", 10.0, wants=[want(n) for n in range(2)])
    hub.listen("slow", 10.0)
    assert hub.pump(10.0) == hub.pump(10.6) == {"slow"} and hub.take("slow") == [0, 1]
    hub.hear("b", 11.0, wants=[want(n) for n in range(2)])
    hub.listen("b", 11.0)
    assert not hub.pump(11.8)  # two a second, and these two may be sent at this moment
    hub.listen("slow", 12.0)  # now they were
    assert not hub.pump(12.9) and 0.1 < hub.due(12.9) < 0.2
    assert hub.pump(13.1) == {"b"}
