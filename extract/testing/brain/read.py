"""From a schema and a document to a value, and to what was thought on the way.

A value that the document does not give is null, also where the schema wants one: never invented.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, NamedTuple

from extract.testing.brain.document import Document
from extract.testing.brain.fill import Filler
from extract.testing.brain.plan import Field, plan_of

_TOLD = 12


class Reading(NamedTuple):
    """What was read: the value for the schema, and what was thought on the way."""

    value: Any
    thought: str


def read(schema: dict[str, Any], text: str) -> Reading:
    """Fill a schema from the labelled lines and tables of a text."""
    filler = Filler(Document(text))
    value = filler.root(_plan(json.dumps(schema)))
    return Reading(value, _thought(filler))


@lru_cache(maxsize=64)
def _plan(schema_text: str) -> Field:
    return plan_of(json.loads(schema_text))


def _thought(filler: Filler) -> str:
    said = [f"I read {len(filler.document.lines.labelled)} labelled lines."]
    for title, names in (
        ("", filler.sources),
        ("not there: ", filler.missing),
        ("ambiguous: ", filler.ambiguous),
    ):
        if names:
            more = ", …" if len(names) > _TOLD else ""
            said.append(f"{title}{', '.join(names[:_TOLD])}{more}.")
    return " ".join(said)
