"""The ways to run a session: plainly, awaited, as a stream. One engine behind them all.

Knows nothing of what a run does.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from queue import Empty, Full, Queue

from extract.host import Host
from extract.outcome import Outcome
from extract.progress import Bar, OnProgress
from extract.run import Run
from extract.session import Publish, Session

_LOOK = 0.2  # seconds between two looks at the counts
_AHEAD = 64  # batches of outcomes that a stream may be ahead of its reader

Outcomes = Queue[list[Outcome]]


def run(session: Session, on_progress: OnProgress | None) -> Run:
    """Blocks until the run is over. Ctrl-C once lands what is in flight; twice ends at once."""
    host = _start(session, _nowhere)
    try:
        with Bar(session.job) as bar:
            _wait(session, host, on_progress or bar)
    except BaseException:  # a second Ctrl-C, or `on_progress` raised
        _leave(session, host, None)
        raise
    return _end(session, host)


async def arun(session: Session, on_progress: OnProgress | None) -> Run:
    """Runs while the caller's loop goes on; cancelling it lands what is in flight first."""
    host = _start(session, _nowhere)
    watch, finished = session.watch(), asyncio.wrap_future(host.result)
    try:
        while not finished.done():
            await asyncio.wait([finished], timeout=_LOOK)
            if on_progress:
                on_progress(watch.look(time.monotonic()))
    except BaseException:  # cancelled, or `on_progress` raised
        await asyncio.to_thread(_leave, session, host, None)
        raise
    return await asyncio.to_thread(_end, session, host)


def stream(make: Callable[[], Session]) -> Iterator[Outcome]:
    """Yields outcomes as they become durable; leaving early lands what is in flight.

    make: called when somebody reads, so that a stream that nobody reads holds no store.
    """
    queue: Outcomes = Queue(maxsize=_AHEAD)
    session = make()
    host = _start(session, _into(queue))
    try:
        while not (host.result.done() and queue.empty()):
            with suppress(Empty):
                yield from queue.get(timeout=_LOOK)
    except BaseException:  # the reader left, or was interrupted
        _leave(session, host, queue)
        raise
    _end(session, host)


async def astream(make: Callable[[], Session]) -> AsyncIterator[Outcome]:
    """The same for a program that awaits."""
    queue: Outcomes = Queue(maxsize=_AHEAD)
    session = make()
    host = _start(session, _into(queue))
    try:
        while not (host.result.done() and queue.empty()):
            with suppress(Empty):
                for outcome in await asyncio.to_thread(queue.get, timeout=_LOOK):
                    yield outcome
    except BaseException:  # the reader left, or was cancelled
        await asyncio.to_thread(_leave, session, host, queue)
        raise
    await asyncio.to_thread(_end, session, host)


def _start(session: Session, publish: Publish) -> Host[None]:
    host: Host[None] = Host(lambda: session.drive(publish), name="extract-engine")
    host.start()
    return host


def _wait(session: Session, host: Host[None], show: OnProgress) -> None:
    watch, interrupted = session.watch(), False
    while not host.result.done():
        try:
            with suppress(TimeoutError):
                host.result.exception(timeout=_LOOK)
            show(watch.look(time.monotonic()))
            session.tell_status("running")
        except KeyboardInterrupt:
            if interrupted:
                host.cancel()
                raise
            interrupted = True
            host.call(lambda: session.interrupt("interrupted"))


def _end(session: Session, host: Host[None]) -> Run:
    """The run as a value; raises what broke it, after the end is noted."""
    host.join()
    failure = host.result.exception()
    try:
        run = session.close(failure)
    except Exception as error:
        raise failure or error from error  # a store that fails twice: the first time tells why
    if failure is not None:
        raise failure
    return run


def _leave(session: Session, host: Host[None], queue: Outcomes | None) -> None:
    """The caller is gone: what is in flight lands, nothing new is sent, the store is let go."""
    host.call(lambda: session.interrupt("the caller left before the end"))
    try:
        _land(host, queue)
    except BaseException:  # Ctrl-C: nobody waits for what is in flight
        host.cancel()
        _land(host, queue)
        raise
    finally:
        host.join()
        with suppress(Exception):  # what made the caller leave is what he has to hear
            session.close(host.result.exception())


def _land(host: Host[None], queue: Outcomes | None) -> None:
    while not host.result.done():
        with suppress(Empty, TimeoutError):
            queue.get(timeout=_LOOK) if queue is not None else host.result.exception(timeout=_LOOK)


async def _nowhere(outcomes: Sequence[Outcome]) -> None:
    """Nobody reads outcomes one by one."""


def _into(queue: Outcomes) -> Publish:
    """Hands durable outcomes to a reader in another thread; waits while it is far behind."""

    async def publish(outcomes: Sequence[Outcome]) -> None:
        try:
            queue.put_nowait(list(outcomes))
        except Full:
            await asyncio.to_thread(queue.put, list(outcomes))

    return publish
