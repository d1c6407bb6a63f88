"""From the text beside a label to a value of the form that a field takes; None when it is not of that form.

Never guesses: what could be read in two ways is None.
"""

from __future__ import annotations

from typing import Any

from extract.testing.brain import choices, dates, numbers
from extract.testing.brain.document import Document
from extract.testing.brain.plan import Branch, Field

_ORDER = (
    "enum", "boolean", "integer", "number", "decimal", "datetime", "date", "time", "duration", "string",
)  # fmt: skip
SCALARS = frozenset(_ORDER)


def read_scalar(field: Field, said: str, document: Document) -> Any:
    """The first form of a field that the text has, the narrow ones before plain text."""
    for branch in sorted(
        (b for b in field.branches if b.form in SCALARS), key=lambda b: _ORDER.index(b.form)
    ):
        value = _read(field, branch, said, document)
        if value is not None:
            return value
    return None


def _read(field: Field, branch: Branch, said: str, document: Document) -> Any:
    match branch.form:
        case "enum":
            value = choices.by_value(branch.values, said)
            return choices.by_cues(field.cues, said) if value is None else value
        case "boolean":
            return choices.yes_or_no(said)
        case "integer" | "number" | "decimal":
            return _number(branch.form, said, document)
        case "date":
            day = dates.date_in(said, document.order)
            return day.isoformat() if day else None
        case "datetime":
            return dates.datetime_in(said, document.order)
        case "time":
            return dates.time_in(said)
        case "duration":
            return dates.duration_in(said)
    return said or None


def _number(form: str, said: str, document: Document) -> Any:
    number = numbers.number_in(said, document.mark, whole=form == "integer")
    if number is None:
        return None
    if form == "decimal":
        return format(number, "f")
    if form == "integer":
        return int(number) if number == int(number) else None
    return int(number) if number == int(number) and "." not in str(number) else float(number)
