"""One thread, in order, several commits in one transaction where they wait together."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest

from extract.errors import StoreError
from extract.store.writer import Writer


class Commits:
    """Takes groups down; `gate` holds the thread until the test has queued what it wants."""

    def __init__(self) -> None:
        self.groups: list[list[Any]] = []
        self.fails: Callable[[Any], BaseException | None] = lambda item: None

    def __call__(self, items: list[Any]) -> list[BaseException | None]:
        self.groups.append(items)
        return [self.fails(item) for item in items]


@pytest.fixture
def commits() -> Commits:
    return Commits()


def held(writer: Writer) -> tuple[threading.Event, Future[Any]]:
    gate = threading.Event()
    return gate, writer.submit(gate.wait)


def test_what_waits_together_is_committed_together(commits: Commits) -> None:
    writer = Writer(commits)
    gate, _ = held(writer)
    futures = [writer.group(n) for n in range(3)]
    between = writer.submit(lambda: "between")
    futures.append(writer.group(3))
    gate.set()
    assert [future.result(5) for future in futures] == [None] * 4
    assert between.result(5) == "between"
    assert commits.groups == [[0, 1, 2], [3]]
    writer.close(lambda: None)


def test_each_item_has_its_own_outcome(commits: Commits) -> None:
    commits.fails = lambda item: ValueError(item) if item == 1 else None
    writer = Writer(commits)
    gate, _ = held(writer)
    futures = [writer.group(n) for n in range(3)]
    gate.set()
    assert [type(future.exception(5)) for future in futures] == [type(None), ValueError, type(None)]
    writer.close(lambda: None)


def test_a_commit_that_breaks_tells_everyone_and_the_thread_goes_on(commits: Commits) -> None:
    def broken(items: list[Any]) -> list[BaseException | None]:
        raise RuntimeError("no")

    writer = Writer(broken)
    assert isinstance(writer.group(1).exception(5), RuntimeError)
    assert writer.submit(lambda: 7).result(5) == 7
    writer.close(lambda: None)


def test_work_that_raises_is_in_its_future_alone(commits: Commits) -> None:
    writer = Writer(commits)
    assert isinstance(writer.submit(lambda: 1 / 0).exception(5), ZeroDivisionError)
    assert writer.submit(lambda: 1).result(5) == 1
    writer.close(lambda: None)


def test_a_cancelled_piece_is_left_out(commits: Commits) -> None:
    writer = Writer(commits)
    gate, _ = held(writer)
    first, second, third = writer.group(1), writer.group(2), writer.submit(lambda: 3)
    assert first.cancel()
    assert third.cancel()
    gate.set()
    assert second.result(5) is None
    writer.close(lambda: None)
    assert commits.groups == [[2]]


def test_closing_finishes_what_is_queued_and_then_refuses(commits: Commits) -> None:
    writer = Writer(commits)
    gate, _ = held(writer)
    future = writer.group("last")
    order: list[str] = []
    threading.Timer(0.05, gate.set).start()
    writer.close(lambda: order.append("closed"))
    assert future.done()
    assert order == ["closed"]
    writer.close(lambda: order.append("again"))
    assert order == ["closed"]
    with pytest.raises(StoreError, match="closed"):
        writer.submit(lambda: None)


def test_many_threads_may_give_work(commits: Commits) -> None:
    writer = Writer(commits)
    results: list[Future[None]] = []

    def give(base: int) -> None:
        results.extend(writer.group(base + n) for n in range(50))

    threads = [threading.Thread(target=give, args=(base,)) for base in (0, 100, 200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    writer.close(lambda: None)
    assert all(future.done() for future in results)
    done = [item for group in commits.groups for item in group]
    assert len(done) == 150
    for base in (0, 100, 200):
        own = [item for item in done if base <= item < base + 50]
        assert own == sorted(own)
