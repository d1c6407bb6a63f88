"""From a small paid sample to what all rows will take: a stratified sample, totals with an interval.

Pure arithmetic: knows nothing of rows, requests or money but as numbers. Rows are drawn by the length
of their input, more of the long ones, since they hold most of what is paid. Totals follow the length
where the sample says so (a regression), and what is left over is spread by stratum.

The interval is meant to hold nine times in ten, also where costs are skewed. Twenty rows out of a
skewed crowd look tamer than the crowd is: a textbook 90% interval held 75 to 85 times in a hundred
there. So it takes the wider 97.5% point of Student's t, and reaches further up by the skew that the
sample shows (Johnson). A kind of row that the sample never met cannot be in it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from statistics import NormalDist, fmean, variance

from extract.prices import Price
from extract.warmth import LIFETIMES

_PER_STRATUM = 4
_Z = NormalDist().inv_cdf(0.95)


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate and the 90% interval around it."""

    low: float
    value: float
    high: float

    def scaled(self, factor: float) -> Interval:
        """All three times a factor that is not negative."""
        return Interval(self.low * factor, self.value * factor, self.high * factor)


@dataclass(frozen=True, slots=True)
class Stratum:
    """Rows of about the same length, by number, and those of them that were drawn."""

    rows: tuple[int, ...]
    drawn: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """A stratified sample of rows 0 … n-1."""

    strata: tuple[Stratum, ...]

    @property
    def drawn(self) -> tuple[int, ...]:
        """The numbers of the drawn rows, in order."""
        return tuple(sorted(row for stratum in self.strata for row in stratum.drawn))


def draw(lengths: Sequence[float], size: int, *, seed: int = 0) -> Sample:
    """A sample of so many rows, by the length of their input; all rows where there are no more.

    The same lengths, size and seed give the same sample.
    """
    rng = random.Random(seed)
    groups = _cut(lengths, max(1, min(size, len(lengths)) // _PER_STRATUM))
    shares = _shares([len(group) for group in groups], min(size, len(lengths)))
    pairs = zip(groups, shares, strict=True)
    return Sample(tuple(Stratum(tuple(group), tuple(rng.sample(group, share))) for group, share in pairs))


def _cut(lengths: Sequence[float], count: int) -> list[list[int]]:
    """Groups of rising length that hold about as much length each; a little of each row counts the same."""
    order = sorted(range(len(lengths)), key=lambda row: lengths[row])
    base = (fmean(lengths) if lengths else 0.0) or 1.0
    whole = sum(lengths) + base * len(lengths)
    groups: list[list[int]] = [[] for _ in range(count)]
    passed = 0.0
    for row in order:
        groups[min(count - 1, int(passed / whole * count))].append(row)
        passed += lengths[row] + base
    return [group for group in groups if group]


def _shares(sizes: Sequence[int], total: int) -> list[int]:
    """The same number of each group, as far as it has them; the rest goes to those that have more."""
    shares = [0] * len(sizes)
    while total > 0:
        open_ = [group for group, size in enumerate(sizes) if shares[group] < size]
        for group in reversed(open_):  # the long rows first
            if total:
                shares[group] += 1
                total -= 1
    return shares


def total(sample: Sample, lengths: Sequence[float], values: Mapping[int, float]) -> Interval:
    """The sum of a measure over all rows, from its values for drawn rows.

    values: by row; a drawn row without one counts as not drawn. Raises ValueError without any.
    """
    strata = _met(sample, values)
    line = _regress(strata, lengths, values)
    fitted = [line(length) for length in lengths]
    error = {row: values[row] - fitted[row] for stratum in strata for row in stratum.drawn}
    value, spread = sum(fitted), 0.0
    freedom = 0.0
    for stratum in strata:
        errors = [error[row] for row in stratum.drawn]
        value += len(stratum.rows) * fmean(errors)
        part = _variance(stratum, errors)
        spread += part
        freedom += part * part / max(1, len(errors) - 1)
    paid = sum(values[row] for stratum in strata for row in stratum.drawn)
    half = _student(spread * spread / freedom - 1 if freedom else 60.0) * math.sqrt(spread)
    up = half * (1 + _skew(strata, error))
    return Interval(max(min(paid, value), value - half), max(paid, value), max(paid, value) + up)


def _met(sample: Sample, values: Mapping[int, float]) -> list[Stratum]:
    """Strata with values alone; one that has none joins its neighbour."""
    met: list[Stratum] = []
    waiting: tuple[int, ...] = ()
    for stratum in sample.strata:
        rows = (*waiting, *stratum.rows)
        drawn = tuple(row for row in stratum.drawn if row in values)
        if drawn:
            met.append(Stratum(rows, drawn))
            waiting = ()
        elif met:
            met[-1] = Stratum((*met[-1].rows, *rows), met[-1].drawn)
        else:
            waiting = rows
    if not met:
        raise ValueError("no row of the sample has a value")
    return met


@dataclass(frozen=True, slots=True)
class _Line:
    base: float
    slope: float

    def __call__(self, length: float) -> float:
        return self.base + self.slope * length


def _regress(strata: Sequence[Stratum], lengths: Sequence[float], values: Mapping[int, float]) -> _Line:
    """Least squares, each drawn row standing for as many as it was drawn from. Never falling."""
    points = [
        (lengths[row], values[row], len(stratum.rows) / len(stratum.drawn))
        for stratum in strata
        for row in stratum.drawn
    ]
    weight = sum(point[2] for point in points)
    middle = sum(x * w for x, _, w in points) / weight
    height = sum(y * w for _, y, w in points) / weight
    width = sum((x - middle) ** 2 for x, _, _ in points)
    rise = sum((x - middle) * (y - height) for x, y, _ in points)
    slope = max(0.0, rise / width) if width and len(points) > 2 else 0.0
    return _Line(height - slope * middle, slope)


def _variance(stratum: Stratum, errors: Sequence[float]) -> float:
    """Of the stratum's total; nothing where every row was drawn."""
    rows, drawn = len(stratum.rows), len(errors)
    if drawn >= rows:
        return 0.0
    spread = variance(errors) if drawn > 1 else errors[0] ** 2
    return rows * rows * (1 - drawn / rows) * spread / drawn


def _skew(strata: Sequence[Stratum], error: Mapping[int, float]) -> float:
    """How much further up than down the truth may lie: Johnson's correction, for the sample's skew."""
    points = [
        (error[row], len(stratum.rows) / len(stratum.drawn)) for stratum in strata for row in stratum.drawn
    ]
    weight = sum(w for _, w in points)
    middle = sum(x * w for x, w in points) / weight
    spread = math.sqrt(sum(w * (x - middle) ** 2 for x, w in points) / weight)
    cube = spread**3
    if not cube:  # no spread, or one too small for its cube to be a number
        return 0.0
    third = sum(w * (x - middle) ** 3 for x, w in points) / weight / cube
    point = _student(len(points) - 1.0)
    return max(0.0, third) * (1 + 2 * point**2) / (6 * math.sqrt(len(points)) * point)


def _student(freedom: float) -> float:
    """The 97.5% point of Student's t (Hill's expansion, cut off below two degrees of freedom)."""
    z = NormalDist().inv_cdf(0.975)
    n = max(2.0, freedom)
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
    )


def share(hits: int, of: int, population: int) -> Interval:
    """How many of all rows will be such, from so many among those drawn (Wilson)."""
    if of <= 0:
        return Interval(0.0, 0.0, float(population))
    rate, z2 = hits / of, _Z * _Z
    middle = (rate + z2 / (2 * of)) / (1 + z2 / of)
    reach = _Z / (1 + z2 / of) * math.sqrt(rate * (1 - rate) / of + z2 / (4 * of * of))
    rest = max(0, population - of)
    low, high = max(0.0, middle - reach), min(1.0, middle + reach)
    return Interval(hits + low * rest if hits else 0.0, hits + rate * rest, hits + high * rest)


def wall_time(work: Interval, *, concurrency: int, rows: int, per_second: float | None = None) -> Interval:
    """Seconds for all rows.

    work: the sum of all requests' latencies. concurrency: requests at a time. per_second: rows that
    the account's limits let through, where they are known.
    """
    least = rows / per_second if per_second else 0.0
    spread = work.scaled(1 / max(1, min(concurrency, rows)))
    return Interval(max(spread.low, least), max(spread.value, least), max(spread.high, least))


@dataclass(frozen=True, slots=True)
class CacheChoice:
    """What the shared prefix costs in a run, by `cache=`; None where a price is not known.

    break_even: requests in one lifetime from which on it costs less than no cache; None: never.
    """

    cache: str | None
    cost: Decimal | None
    break_even: int | None


def cache_choices(price: Price, *, prefix_tokens: int, requests: int, seconds: float) -> list[CacheChoice]:
    """The shared prefix written for an hour, for five minutes, and sent as plain input, for one run.

    A lifetime that ends is paid for again, as if use did not renew it.
    """
    plain = CacheChoice(None, prefix_tokens * requests * price.input / 1_000_000, None)
    return [*(_cached(price, ttl, prefix_tokens, requests, seconds) for ttl in LIFETIMES), plain]


def _cached(price: Price, ttl: str, prefix_tokens: int, requests: int, seconds: float) -> CacheChoice:
    write = price.cache_write_1h if ttl == "1h" else price.cache_write_5m
    if write is None or price.cache_read is None:
        return CacheChoice(ttl, None, None)
    writes = min(requests, max(1, math.ceil(seconds / LIFETIMES[ttl])))
    cost = prefix_tokens * (writes * write + (requests - writes) * price.cache_read) / 1_000_000
    gain = price.input - price.cache_read  # of each request after the first
    if gain <= 0:
        return CacheChoice(ttl, cost, None)
    return CacheChoice(ttl, cost, max(1, math.ceil((write - price.cache_read) / gain)))
