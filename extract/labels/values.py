"""Two values of a field: are they the same, nearly the same, how far apart?

Pure. Knows nothing of rows, runs or statistics.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

from extract.labels.assign import best_pairs

Kind = Literal["text", "number", "date", "bool", "list", "object", "nothing"]
Tolerance = float | Decimal | timedelta
TIES = 1e-12


@dataclass(frozen=True)
class Rules:
    """When two values count as the same.

    tolerance: by field, how far numbers (a number) and dates (a timedelta) may be apart.
    ordered: fields whose lists are compared place by place instead of by best assignment.
    """

    tolerance: Mapping[str, Tolerance] = field(default_factory=dict)
    ordered: frozenset[str] = frozenset()


def kind_of(values: Iterable[Any]) -> Kind:
    """What a field holds, by the values that are seen of it."""
    kinds = {_kind(value) for value in values if value is not None}
    if not kinds:
        return "nothing"
    if len(kinds) == 1:
        return kinds.pop()
    typed = kinds - {"text"}  # the other side may be JSON, where dates and Decimals are text
    return typed.pop() if len(typed) == 1 and typed < {"number", "date"} else "text"


def _kind(value: Any) -> Kind:
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int | float | Decimal):
        return "number"
    if isinstance(value, date):
        return "date"
    if isinstance(value, list | tuple):
        return "list"
    return "object" if isinstance(value, Mapping) else "text"


def same(one: Any, other: Any) -> bool:
    """The very same value; a Decimal or a date may be text on one side, as JSON has it."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return all(same(one[name], other[name]) for name in one.keys() & other.keys())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    one, other = _alike(one, other)
    return not _bools(one, other) and bool(one == other)


def _bools(one: Any, other: Any) -> bool:
    return isinstance(one, bool) != isinstance(other, bool)


def matches(one: Any, other: Any, rules: Rules, name: str = "") -> bool:
    """The same once spelling is set aside: case, width and kind of characters, white space, number format.

    Within the field's tolerance counts as well. Lists match when every item has its partner, in any order.
    """
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        shared = one.keys() & other.keys()
        return all(matches(one[key], other[key], rules, _below(name, key)) for key in shared)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) == len(pairs(one, other, rules, name))
    one, other = _alike(one, other)
    if one is None or other is None or _bools(one, other):
        return one is None and other is None
    within = rules.tolerance.get(name)
    if within is not None and (apart := distance(one, other)) is not None:
        return apart <= _size(within) * (1 + TIES)
    return bool(plain_form(one) == plain_form(other))


def pairs(one: Any, other: Any, rules: Rules, name: str = "") -> list[tuple[int, int]]:
    """Items of two lists that match, paired so that as many as possible do."""
    if name in rules.ordered:
        both = enumerate(zip(one, other, strict=False))
        return [(i, i) for i, (a, b) in both if matches(a, b, rules, name)]
    return [(i, j) for i, j in aligned(one, other, rules, name) if matches(one[i], other[j], rules, name)]


def aligned(one: Any, other: Any, rules: Rules, name: str = "") -> list[tuple[int, int]]:
    """Items of two lists that belong together, alike or not, by the best assignment of all to all."""
    if name in rules.ordered:
        return [(i, i) for i in range(min(len(one), len(other)))]
    return best_pairs([[likeness(a, b, rules, name) for b in other] for a in one])


def likeness(one: Any, other: Any, rules: Rules, name: str = "") -> float:
    """From 0, nothing in common, to 1, the same; of an object, the mean over its fields."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        shared = sorted(one.keys() & other.keys())
        found = [likeness(one[key], other[key], rules, _below(name, key)) for key in shared]
        return sum(found) / len(found) if found else 0.0
    if matches(one, other, rules, name):
        return 1.0
    if isinstance(one, str) and isinstance(other, str):
        return 0.9 * text_likeness(one, other)  # never as good as a match
    return 0.0


def text_likeness(one: str, other: str) -> float:
    """How alike two texts are, from 0 to 1: the share of characters that need no change."""
    from rapidfuzz import fuzz

    return float(fuzz.ratio(plain_form(one), plain_form(other))) / 100


def distance(one: Any, other: Any) -> float | None:
    """How far two numbers, or two dates in days, are apart; None for what has no distance."""
    one, other = _alike(one, other)
    if isinstance(one, datetime) and isinstance(other, datetime):
        return abs((_naive(one) - _naive(other)).total_seconds()) / 86_400
    if isinstance(one, date) and isinstance(other, date):
        return float(abs((_day(one) - _day(other)).days))
    if _kind(one) == _kind(other) == "number":
        return float(abs(Decimal(str(one)) - Decimal(str(other))))
    return None


def plain_form(value: Any) -> Any:
    """A value without what spelling adds."""
    if isinstance(value, str):
        return " ".join(unicodedata.normalize("NFKC", value).casefold().split())
    if isinstance(value, Mapping):
        return {name: plain_form(inner) for name, inner in value.items()}
    return [plain_form(inner) for inner in value] if isinstance(value, list | tuple) else value


def _below(name: str, key: str) -> str:
    return f"{name}.{key}" if name else key


def _size(tolerance: Tolerance) -> float:
    return tolerance.total_seconds() / 86_400 if isinstance(tolerance, timedelta) else float(tolerance)


def _alike(one: Any, other: Any) -> tuple[Any, Any]:
    """Both as what the more telling side is: a text is read as the number or date that the other one is."""
    if isinstance(one, str) and not isinstance(other, str):
        return _read(one, other), other
    if isinstance(other, str) and not isinstance(one, str):
        return one, _read(other, one)
    if isinstance(one, Decimal) and isinstance(other, float):
        return one, Decimal(str(other))
    if isinstance(other, Decimal) and isinstance(one, float):
        return Decimal(str(one)), other
    return one, other


def typed_as(kind: Kind, value: Any) -> Any:
    """A text read as the number or date that its field holds elsewhere."""
    like = {"number": Decimal(0), "date": date.min}.get(kind)
    return _read(value, like) if isinstance(value, str) and like is not None else value


def _read(text: str, like: Any) -> Any:
    try:
        if isinstance(like, datetime):
            return datetime.fromisoformat(text)
        if isinstance(like, date):
            return date.fromisoformat(text)
        if isinstance(like, int | float | Decimal) and not isinstance(like, bool):
            return Decimal(text.strip())
    except (ValueError, InvalidOperation):
        pass
    return text


def _naive(value: datetime) -> datetime:
    return value.replace(tzinfo=None) - (value.utcoffset() or timedelta(0))


def _day(value: date) -> date:
    return value.date() if isinstance(value, datetime) else value
