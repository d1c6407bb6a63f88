"""Which token bucket explains what was taken and what was refused.

Pure arithmetic on a short history; knows nothing of requests, pacing or time as it passes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_DEPTHS = (0.0, 0.05, 0.1, 0.2, 0.5, 1.0, 3.0, 10.0, 60.0)  # seconds' worth that a bucket may hold
_GOLDEN = (math.sqrt(5) - 1) / 2
_STEPS = 16
_FULL = 8  # requests that a refusal by a full bucket counts as
_ENOUGH = 32  # requests by which a span tells all that a span can
_FADE = 0.5  # what a span counts for after one that tells as much: limits change


@dataclass(frozen=True, slots=True)
class Bucket:
    """A token bucket: so much a second, at most `burst` saved up."""

    rate: float
    burst: float


@dataclass(frozen=True, slots=True)
class Span:
    """From empty to empty: what was taken, when. The bucket of the first span of all began full.

    taken: (seconds, amount) in order, in slots of the same length. Nothing was left at `end`.
    """

    start: float
    end: float
    taken: Sequence[tuple[float, float]]
    full: bool = False

    @property
    def amount(self) -> float:
        """All that was taken."""
        return sum(cost for _, cost in self.taken)


def fit(spans: Sequence[Span], *, grain: float = 1.0, slot: float = 0.0, depth: float = 1.0) -> Bucket:
    """The bucket that fits best.

    grain: what one request takes; a bucket with less in it is empty. slot: seconds that one entry
    of `taken` stands for. depth: seconds' worth that a bucket holds, where the history does not tell.
    """
    weights = _weights(spans, _ENOUGH * grain)
    total = sum(span.amount for span in spans)
    time = sum(span.end - span.start for span in spans)
    found: list[tuple[float, Bucket]] = []
    for seconds in sorted({*_DEPTHS, depth}):
        middle = total / (time + (seconds if spans[0].full else 0.0) + 1e-3)
        trial = _Trial(spans, weights, seconds, grain, slot)
        rate, misfit = _search(trial, middle / 8, middle * 8)
        doubt = max(0.002 * total, 0.1 * grain) * abs(math.log((seconds + 0.01) / (depth + 0.01)))
        found.append((misfit + doubt, Bucket(rate, max(grain, rate * seconds))))
    return min(found, key=lambda pair: pair[0])[1]


def _weights(spans: Sequence[Span], enough: float) -> list[float]:
    weights, weight = [], 1.0
    for span in reversed(spans):
        weights.append(weight)
        weight *= _FADE ** min(1.0, span.amount / enough)
    return weights[::-1]


@dataclass(frozen=True, slots=True)
class _Trial:
    """A bucket of a given depth against the history, for any rate."""

    spans: Sequence[Span]
    weights: Sequence[float]
    depth: float
    grain: float
    slot: float

    def __call__(self, log_rate: float) -> float:
        """The misfit of all spans."""
        rate = math.exp(log_rate)
        pairs = zip(self.spans, self.weights, strict=True)
        return sum(weight * self._misfit(span, rate) for span, weight in pairs)

    def _misfit(self, span: Span, rate: float) -> float:
        """What was taken though it would not have been there, and what would have been left at the end."""
        burst = max(self.grain, rate * self.depth)
        within = rate * self.slot
        level = burst if span.full else 0.0
        short, at = 0.0, span.start
        for when, cost in span.taken:
            level += (when - at) * rate
            most = burst + (cost if cost < within else within)
            level = (most if level > most else level) - cost
            at = when
            if level < 0:
                short -= level
                level = 0.0
        left = min(burst, level + max(0.0, span.end - at) * rate)
        return short + max(0.0, left - self.grain) + _FULL * self.grain * (left / burst) ** 2


def _search(misfit: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """The rate with the least misfit, by golden section over its logarithm."""
    left, right = math.log(low), math.log(high)
    inner = [right - _GOLDEN * (right - left), left + _GOLDEN * (right - left)]
    worth = [misfit(point) for point in inner]
    for _ in range(_STEPS):
        if worth[0] <= worth[1]:
            right = inner[1]
            inner = [right - _GOLDEN * (right - left), inner[0]]
            worth = [misfit(inner[0]), worth[0]]
        else:
            left = inner[0]
            inner = [inner[1], left + _GOLDEN * (right - left)]
            worth = [worth[1], misfit(inner[1])]
    best = 0 if worth[0] <= worth[1] else 1
    return math.exp(inner[best]), worth[best]
