"""A thread of its own for an engine, so that a plain call works everywhere.

In a script, in a notebook with a running loop and inside another async program alike. Knows nothing of
what it runs.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

from extract.garbage import seldom

Result = TypeVar("Result")


class Host(Generic[Result]):
    """Runs one coroutine in a new thread with a new event loop.

    main: makes the coroutine; called inside the thread.
    """

    def __init__(self, main: Callable[[], Coroutine[Any, Any, Result]], *, name: str) -> None:
        self.result: Future[Result] = Future()
        self._main = main
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Result] | None = None
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Starts the thread and returns when its loop runs."""
        self._thread.start()
        self._ready.wait()

    def call(self, function: Callable[[], object]) -> None:
        """Runs a function inside the loop, soon; from any thread. Too late is no error."""
        if self._loop is not None and not self.result.done():
            try:
                self._loop.call_soon_threadsafe(function)
            except RuntimeError:  # the loop closed between the two lines
                return

    def cancel(self) -> None:
        """Ends the coroutine now, wherever it waits."""
        self.call(lambda: self._task.cancel() if self._task else None)

    def join(self) -> None:
        """Waits for the thread itself to end."""
        self._thread.join()

    def _run(self) -> None:
        try:
            with seldom():
                result = asyncio.run(self._watched())
            self.result.set_result(result)
        except BaseException as error:
            self.result.set_exception(error)
            self._ready.set()

    async def _watched(self) -> Result:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.create_task(self._main())
        self._ready.set()
        return await self._task
