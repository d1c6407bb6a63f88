"""How often the collector of reference cycles looks while a run works.

A run makes some twenty objects a row that live until their commit and are in no cycle. At Python's own
setting the collector visits each of them several times: a tenth of the processor time, and pauses of the
event loop. While runs work it waits for more than wait for a commit at one time. Knows nothing of runs.
"""

from __future__ import annotations

import contextlib
import gc
import threading
from collections.abc import Iterator

_YOUNG = 50_000
"""New objects after which it looks. Those of rows that are committed do not count any more: what a run has on
its way at one time is fewer."""

_lock = threading.Lock()
_inside = 0
_before: tuple[int, int, int] | None = None


@contextlib.contextmanager
def seldom() -> Iterator[None]:
    """For the block, in whatever thread it runs; the last one to leave brings back what was set before.

    A program that has it look as seldom, or never, is left alone.
    """
    global _inside, _before
    with _lock:
        _inside += 1
        young, *older = gc.get_threshold()
        if _inside == 1 and 0 < young < _YOUNG:
            _before = gc.get_threshold()
            gc.set_threshold(_YOUNG, *older)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0 and _before is not None:
                if gc.get_threshold()[0] == _YOUNG:  # nobody has set it anew meanwhile
                    gc.set_threshold(*_before)
                _before = None
