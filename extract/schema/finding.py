"""A finding: one thing that is wrong with a reply, told to a person and to the model.

Knows nothing of how it was found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Stage = Literal["message", "json", "schema", "decode", "value", "evidence"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong with a reply.

    stage: the stage of the judge that saw it.
    path: JSON pointer in the model's shape, for people ("" is the whole answer).
    wire_path: JSON pointer in the shape that the model was asked for; the re-ask tells this one.
    found: what stands there, shortened; empty when nothing does.
    expected: what should stand there, in words that a model can act on.
    """

    stage: Stage
    path: str
    wire_path: str
    found: str
    expected: str

    def __str__(self) -> str:
        found = f", found {self.found}" if self.found else ""
        return f"{self.path or '(whole answer)'}: expected {self.expected}{found}"

    def as_dict(self) -> dict[str, Any]:
        """As JSON, for the store."""
        return {
            "stage": self.stage,
            "path": self.path,
            "wire_path": self.wire_path,
            "found": self.found,
            "expected": self.expected,
        }


_SHORT = 120


def shorten(text: str, limit: int = _SHORT) -> str:
    """A long text with its middle taken out, so that a finding stays one line."""
    if len(text) <= limit:
        return text
    half = (limit - 1) // 2
    return f"{text[:half]}…{text[-half:]}"
