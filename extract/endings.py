"""What rows of this run ended as, for equal rows that come later: asked once, however many there are.

An accepted row is remembered until the store, which has it, was asked again; a dead one for the whole run,
since the store has no answer of it to find. Knows nothing of requests or tables.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from extract.outcome import DeadLetter, Outcome

_WHOLE = 1_000  # dead letters that are remembered with their request and reply, which are most of them


class End(NamedTuple):
    """What equal rows need to know of an outcome; the row itself, with its pictures, may go."""

    outcome: Outcome
    output: Sequence[Mapping[str, Any]]


class Endings:
    """Outcomes by fingerprint."""

    def __init__(self) -> None:
        self._died: dict[str, End] = {}
        self._landed: dict[str, End] = {}
        self._whole: deque[str] = deque()

    def add(self, fingerprint: str, end: End) -> None:
        """A row has ended, and that is durable."""
        if not isinstance(end.outcome, DeadLetter):
            self._landed[fingerprint] = end
            return
        self._died[fingerprint] = end
        self._whole.append(fingerprint)
        if len(self._whole) > _WHOLE:
            self._lighten(self._whole.popleft())

    def of(self, fingerprint: str) -> End | None:
        """How an equal row ended; of an older dead letter, without its request and reply."""
        return self._died.get(fingerprint) or self._landed.get(fingerprint)

    def store_is_asked(self) -> None:
        """From now on the store tells of what was accepted up to here."""
        self._landed.clear()

    def _lighten(self, fingerprint: str) -> None:
        letter = self._died[fingerprint].outcome
        assert isinstance(letter, DeadLetter)
        self._died[fingerprint] = End(replace(letter, request=None, raw_reply=None), ())
