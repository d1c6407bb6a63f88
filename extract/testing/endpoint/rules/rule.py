"""A rule of the contract, and how a table of them is applied.

Knows no rule itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the documents.

    name: short, for counts and tests.
    says: what the documents say, in a sentence.
    broken: the first thing in a request that breaks it, as `place: what must be`, or None.
    """

    name: str
    says: str
    broken: Callable[[Body], str | None]


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that is not taken: by which rule, and what the error message says."""

    rule: str
    message: str


def first_broken(rules: Iterable[Rule], body: Body) -> Refusal | None:
    """The first rule of the table that the request breaks, or None."""
    for rule in rules:
        problem = rule.broken(body)
        if problem is not None:
            return Refusal(rule.name, problem)
    return None


def is_int(value: Any) -> bool:
    """A JSON integer: true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """A JSON number."""
    return isinstance(value, int | float) and not isinstance(value, bool)
