"""Progress of a run: a snapshot as data, and a bar on standard error where a person watches.

Knows nothing of how the figures come about.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from tqdm.auto import tqdm

from extract.report import Tally


@dataclass(frozen=True, slots=True)
class Progress:
    """A run at one moment.

    total: rows in, where known before the end. rate: rows a second over the last half minute.
    seconds: since the start. left: estimated seconds to the end, or None.
    """

    total: int | None
    done: int
    accepted: int
    dead_letters: int
    in_flight: int
    requests: int
    rate: float
    seconds: float
    left: float | None


OnProgress = Callable[[Progress], None]

_WINDOW = 30.0  # seconds: long enough to be calm, short enough to see a cool-down


class Watch:
    """Makes snapshots of a tally; call `look` as often as you like."""

    def __init__(self, tally: Tally, total: int | None, now: float) -> None:
        self._tally, self._total, self._start = tally, total, now
        self._seen: deque[tuple[float, int]] = deque([(now, 0)])

    def look(self, now: float) -> Progress:
        """The run as it is now. now: seconds on the clock that it was started with."""
        tally = self._tally
        self._seen.append((now, tally.done))
        while len(self._seen) > 2 and self._seen[1][0] < now - _WINDOW:
            self._seen.popleft()
        then, before = self._seen[0]
        rate = (tally.done - before) / (now - then) if now > then else 0.0
        left = (self._total - tally.done) / rate if self._total is not None and rate > 0 else None
        return Progress(
            self._total,
            tally.done,
            tally.accepted,
            tally.dead_letters,
            tally.in_flight,
            tally.requests,
            rate,
            now - self._start,
            left,
        )


class Bar:
    """A progress bar on standard error, a widget in a notebook, nothing where nobody watches."""

    def __init__(self, label: str) -> None:
        watched = sys.stderr.isatty() or "ipykernel" in sys.modules
        self._bar: Any = tqdm(desc=label, unit=" rows", disable=not watched, file=None, leave=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        self._bar.close()

    def __call__(self, progress: Progress) -> None:
        """Draws one snapshot."""
        if self._bar.disable:
            return
        self._bar.total = progress.total
        self._bar.n = progress.done
        self._bar.set_postfix_str(
            f"{progress.accepted} accepted, {progress.dead_letters} dead, {progress.in_flight} in flight",
            refresh=False,
        )
        self._bar.refresh()
