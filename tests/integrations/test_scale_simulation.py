"""The simulation of many workers runs the real leases: small, seeded, the same each time."""

from __future__ import annotations

from benchmarks.scale import simulation
from extract.pace import Pace


def test_a_given_limit_is_used_and_never_refused() -> None:
    sim = simulation(workers=40, places=4, rate=50.0, pace=Pace(concurrency=400, requests_per_minute=3_000))
    sim.run(40)
    used = sum(count for second, count in sim.service.by_second.items() if second >= 10)
    assert sim.service.refused == 0 and used >= 0.95 * 30 * 50
    assert sim.leases.warmth.report.leads == 1


def test_the_places_of_dead_workers_come_back() -> None:
    sim = simulation(workers=20, places=4, rate=1_000.0, pace=Pace(concurrency=40), seed=3)
    sim.run(10)
    for worker in list(sim.workers.values())[:10]:
        sim.die(worker)
    sim.run(80)
    counts = sim.leases.counts
    assert counts.deaths == 10 and counts.lost > 0
    assert sim.leases.governor.in_flight == sim.leases.in_flight <= 40
    late = sum(count for second, count in sim.service.by_second.items() if 60 <= second < 80)
    early = sum(count for second, count in sim.service.by_second.items() if second < 10)
    assert late / 20 >= 0.7 * early / 10
