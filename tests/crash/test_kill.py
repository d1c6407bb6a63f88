"""What is left when a process is killed, cut off, locked out or interrupted."""

from __future__ import annotations

import importlib.util
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from extract import errors
from extract.testing import LocalEndpoint

NIGHTLY = Path(__file__).with_name("nightly.py")
ROWS, CONCURRENCY = 2_000, 16


def _load() -> Any:
    spec = importlib.util.spec_from_file_location("nightly", NIGHTLY)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["nightly"] = module
    spec.loader.exec_module(module)
    return module


nightly = _load()


@pytest.fixture
def endpoint() -> Iterator[LocalEndpoint]:
    with LocalEndpoint("latency=20ms") as server:
        yield server


def start(endpoint: LocalEndpoint, store: Path, rows: int = ROWS) -> subprocess.Popen[str]:
    """The nightly job in a process of its own, once it is about to run."""
    arguments = [str(store), endpoint.base_url, endpoint.api_key, str(rows), str(CONCURRENCY)]
    job = subprocess.Popen(
        [sys.executable, str(NIGHTLY), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert job.stdout is not None and job.stdout.readline() == "ready\n"
    return job


def wait_for_requests(job: subprocess.Popen[str], endpoint: LocalEndpoint, count: int) -> None:
    """Until the endpoint has seen so many requests."""
    until = time.monotonic() + 60
    while endpoint.counts()["requests"] < count:
        assert job.poll() is None, job.communicate()
        assert time.monotonic() < until, "the job did not get going"
        time.sleep(0.005)


def table(store: Path) -> list[tuple[int, int, str]]:
    with duckdb.connect(str(store)) as con:
        return con.sql("SELECT id, number, product FROM tickets ORDER BY id").fetchall()


@pytest.mark.slow
def test_killed_twenty_times_nothing_is_lost_and_little_is_paid_twice(
    endpoint: LocalEndpoint, tmp_path: Path
) -> None:
    store, chance, kills = tmp_path / "s.duckdb", random.Random(7), 20
    for kill in range(kills):
        job = start(endpoint, store)
        wait_for_requests(job, endpoint, min(ROWS, kill * 90 + chance.randrange(1, 90)))
        job.kill()
        job.communicate()
    last = start(endpoint, store)
    out, err = last.communicate(timeout=120)
    assert last.returncode == 0, err
    assert out.startswith(f"{ROWS} ")
    assert table(store) == [(n, n, f"Lamp {n}") for n in range(ROWS)]
    repeated = endpoint.counts()["requests"] - ROWS
    assert repeated <= kills * CONCURRENCY
    with duckdb.connect(str(store)) as con:
        assert con.sql("SELECT count(*), count(DISTINCT key) FROM extract.rows").fetchall() == [(ROWS, ROWS)]


@pytest.mark.slow
def test_killed_once_the_next_run_goes_on(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    job = start(endpoint, store, 300)
    wait_for_requests(job, endpoint, 150)
    job.kill()
    job.communicate()
    out, err = start(endpoint, store, 300).communicate(timeout=60)
    assert out.startswith("300 "), err
    assert len(table(store)) == 300
    assert endpoint.counts()["requests"] <= 300 + CONCURRENCY


def test_a_second_run_on_the_same_store_sends_nothing(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    job = start(endpoint, store)
    try:
        wait_for_requests(job, endpoint, 20)
        second = nightly.pipeline(endpoint.base_url, "another-key", 4)
        with pytest.raises(errors.StoreLockedError, match=rf"s\.duckdb.*{job.pid}"):
            second.run(nightly.rows(5), key="id", store=store)
        assert "another-key" not in str(endpoint.log())
    finally:
        job.kill()
        job.communicate()


@pytest.mark.slow
def test_ctrl_c_once_lands_what_is_in_flight(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    job = start(endpoint, store)
    wait_for_requests(job, endpoint, 100)
    job.send_signal(signal.SIGINT)
    out, err = job.communicate(timeout=60)
    assert job.returncode == 4, err
    accepted, requests = map(int, out.split())
    assert accepted == requests == endpoint.counts()["requests"] < ROWS
    assert "Run the same again" in err
    again, _ = start(endpoint, store, accepted).communicate(timeout=60)
    assert again == f"{accepted} 0\n"


def test_ctrl_c_twice_ends_at_once(tmp_path: Path) -> None:
    with LocalEndpoint("latency=30s") as slow:
        job = start(slow, tmp_path / "s.duckdb")
        wait_for_requests(job, slow, 1)
        job.send_signal(signal.SIGINT)
        time.sleep(0.5)
        job.send_signal(signal.SIGINT)
        _, err = job.communicate(timeout=20)
    assert job.returncode in (-signal.SIGINT, 130) and "KeyboardInterrupt" in err


@pytest.mark.slow
def test_a_torn_log_loses_no_more_than_its_tail(endpoint: LocalEndpoint, tmp_path: Path) -> None:
    store = tmp_path / "s.duckdb"
    job = start(endpoint, store, 300)
    wait_for_requests(job, endpoint, 200)
    job.kill()
    job.communicate()
    log = store.with_name(store.name + ".wal")
    assert log.exists()
    os.truncate(log, log.stat().st_size - 7)
    out, err = start(endpoint, store, 300).communicate(timeout=60)
    assert out.startswith("300 "), err
    assert len(table(store)) == 300
