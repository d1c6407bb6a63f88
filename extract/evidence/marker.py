"""The marker that asks for evidence, as users write it in their models.

Knows nothing of models, sources or the alignment: a schema file imports this and little else.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from extract.errors import ConfigError

__all__ = ["Evidence", "find_marker"]

By = Literal["value", "quote"]
Missing = Literal["refuse", "flag"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Ask that a value is found in the source text: `Annotated[str, Evidence()]`.

    by: "value": the value itself has to stand there, in any format of numbers, dates and white
        space. "quote": the model returns a quote beside the value and the quote has to stand there;
        for what is derived (a sum, a yes or no, a class, a translation).
    missing: "refuse": a value that is not found is a finding (re-ask, then dead letter).
        "flag": it is kept, with the status `flagged`.

    On a list, a dictionary or a nested model it asks for every value inside (by="value") or for one
    quote for the whole (by="quote"). None needs no evidence. Raises ConfigError for other words.
    """

    by: By = "value"
    missing: Missing = "refuse"

    def __post_init__(self) -> None:
        if self.by not in ("value", "quote"):
            raise ConfigError(f'Evidence(by={self.by!r}) does not exist: write by="value" or by="quote"')
        if self.missing not in ("refuse", "flag"):
            raise ConfigError(
                f'Evidence(missing={self.missing!r}) does not exist: write missing="refuse" or missing="flag"'
            )

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> dict[str, Any]:
        """Leave the marker in the core schema, where the compiler of wire schemas finds it."""
        schema = handler(source)
        return {**schema, "metadata": {**(schema.get("metadata") or {}), "extract_evidence": self}}


def find_marker(metadata: Iterable[object]) -> Evidence | None:
    """The marker among the metadata of a field or of an `Annotated`; the last one wins.

    Raises ConfigError where the class stands in the place of a marker.
    """
    found: Evidence | None = None
    for one in metadata:
        if one is Evidence:
            raise ConfigError("Annotated[…, Evidence] has no effect: write Evidence() with parentheses")
        if isinstance(one, Evidence):
            found = one
    return found
