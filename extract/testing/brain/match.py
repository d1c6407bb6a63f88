"""Which label speaks of which field, and how surely.

Knows no values: only names and meanings.
"""

from __future__ import annotations

from collections.abc import Sequence

from extract.testing.brain.lexicon import KINDS
from extract.testing.brain.plan import Field
from extract.testing.brain.words import Meaning, label_meanings, meaning

SAME, DESCRIBED, PROPER, LOOSE, NEAR = 100, 90, 80, 60, 40

_KEPT = 4096  # labels a field remembers

_KINDS_OF: dict[Meaning, set[str]] = {}
for _kind, _tiers in KINDS.items():
    for _tier in _tiers:
        for _meaning in _tier:
            _KINDS_OF.setdefault(_meaning, set()).add(_kind)


def score(field: Field, label: str) -> int:
    """How surely a label speaks of a field; 0 when it does not."""
    known = field.scores.get(label)
    if known is None:
        if len(field.scores) >= _KEPT:
            field.scores.clear()
        known = max((_score(field, said) for said in label_meanings(label)), default=0)
        field.scores[label] = known
    return known


def _score(field: Field, said: Meaning) -> int:
    if said in field.names:
        return SAME
    if said in field.words and not _is_else(field, said):
        return DESCRIBED
    best = 0
    for kind in field.kinds:
        proper, loose = KINDS[kind]
        best = max(best, PROPER if said in proper else LOOSE if said in loose else 0)
    return best or (NEAR if _near(field, said) else 0)


def _is_else(field: Field, said: Meaning) -> bool:
    """Whether a label is of a kind, and the field of another."""
    return bool(field.kinds) and said in _KINDS_OF and not (_KINDS_OF[said] & field.kinds)


def _near(field: Field, said: Meaning) -> bool:
    """A name of two words or more and a label that differ by one, unless the label is something else."""
    if said in _KINDS_OF and not (_KINDS_OF[said] & field.kinds):
        return False
    return any(len(name & said) >= 2 and len(name ^ said) <= 1 for name in field.names)


def score_inside(parent: Field, child: Field, label: str) -> int:
    """How surely a label speaks of a field of a nested object, as `Supplier address`."""
    said = label_meanings(label)
    joined = {p | c for p in parent.names for c in child.names}
    if any(m in joined for m in said):
        return SAME
    is_name = frozenset(("name",)) in child.names
    return min(PROPER, score(parent, label)) if is_name else 0


def columns_of(fields: Sequence[Field], header: Sequence[str]) -> dict[str, int]:
    """Which column holds which field: each field its surest column, each column one field."""
    scored = sorted(
        ((score(field, text), -column, field.name) for field in fields for column, text in enumerate(header)),
        reverse=True,
    )
    found: dict[str, int] = {}
    for sure, column, name in scored:
        if sure and name not in found and -column not in found.values():
            found[name] = -column
    return found


def section_meanings(field: Field) -> frozenset[Meaning]:
    """What a heading says when the labels below it belong to a field."""
    proper = {m for kind in field.kinds for m in KINDS[kind][0]}
    return frozenset({*field.names, *field.words, *proper, meaning(field.name)} - {frozenset()})
