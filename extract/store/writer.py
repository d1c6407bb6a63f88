"""The one thread that owns a DuckDB connection: work in, futures out.

Knows nothing of tables. Work that may share a transaction is taken together (group commit): whatever has
queued up while the last commit was written goes into the next one.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from extract.errors import StoreError

T = TypeVar("T")
Together = Callable[[list[Any]], list[BaseException | None]]

_GROUP = 256
"""Batches in one transaction at most."""


class Writer:
    """Runs one piece of work after the other, in order of arrival."""

    def __init__(self, together: Together, name: str = "extract-store") -> None:
        self._together = together
        self._queue: queue.SimpleQueue[tuple[Any, Future[Any]] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Work by itself."""
        future: Future[T] = Future()
        self._put((work, future))
        return future

    def group(self, item: Any) -> Future[None]:
        """An item that may go together with its neighbours; done when its transaction is durable."""
        future: Future[None] = Future()
        self._put((_Grouped(item), future))
        return future

    def close(self, last: Callable[[], None]) -> None:
        """Finish what is queued, then `last`, then end the thread. Once only."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        future: Future[None] = Future()
        self._queue.put((last, future))
        self._queue.put(None)
        if not self.inside:  # the last one to drop a store can be its own thread
            self._thread.join()
            future.result()

    @property
    def inside(self) -> bool:
        """Whether the caller is the thread itself."""
        return threading.current_thread() is self._thread

    def _put(self, entry: tuple[Any, Future[Any]]) -> None:
        with self._lock:
            if self._closed:
                raise StoreError("the store is closed; open it again to go on")
            self._queue.put(entry)

    def _work(self) -> None:
        entry = self._queue.get()
        while entry is not None:
            if isinstance(entry[0], _Grouped):
                entry = self._work_group(entry)
            else:
                _run(*entry)
                del entry  # it holds its store, which may be dropped while this waits
                entry = self._queue.get()

    def _work_group(self, first: tuple[Any, Future[Any]]) -> tuple[Any, Future[Any]] | None:
        """One transaction for all grouped entries in the queue; returns the entry after them."""
        group, following = [first], None
        while len(group) < _GROUP:
            try:
                following = self._queue.get_nowait()
            except queue.Empty:
                following = _NOTHING
                break
            if following is None or not isinstance(following[0], _Grouped):
                break
            group.append(following)
            following = _NOTHING
        self._commit(group)
        return self._queue.get() if following is _NOTHING else following

    def _commit(self, group: list[tuple[Any, Future[Any]]]) -> None:
        live = [entry for entry in group if entry[1].set_running_or_notify_cancel()]
        try:
            outcomes = self._together([entry[0].item for entry in live])
        except BaseException as error:
            outcomes = [error] * len(live)
        for (_, future), outcome in zip(live, outcomes, strict=True):
            if outcome is None:
                future.set_result(None)
            else:
                future.set_exception(outcome)


class _Grouped:
    __slots__ = ("item",)

    def __init__(self, item: Any) -> None:
        self.item = item


_NOTHING: Any = object()


def _run(work: Callable[[], Any], future: Future[Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(work())
    except BaseException as error:
        future.set_exception(error)
