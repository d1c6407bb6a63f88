"""From a schema and a document to a value. (First cut.)"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read: the value for the schema, and what was thought on the way."""

    value: Any
    thought: str


def read(schema: dict[str, Any], text: str) -> Reading:
    """Fill a schema from the labelled lines of a text; what is not there is null."""
    lines = {}
    for line in text.splitlines():
        label, colon, value = line.partition(":")
        if colon and value.strip():
            lines.setdefault(re.sub(r"[\W_]+", " ", label).strip().casefold(), value.strip())
    value = {name: _value(node, lines.get(re.sub(r"[\W_]+", " ", name).casefold())) for name, node in schema.get("properties", {}).items()}
    return Reading(value, f"{len(lines)} labelled lines.")


def _value(node: dict[str, Any], raw: str | None) -> Any:
    if raw is None:
        return [] if node.get("type") == "array" else None
    kinds = [branch.get("type") for branch in node.get("anyOf", [node])]
    try:
        if "integer" in kinds:
            return int(raw)
        if "number" in kinds:
            return float(raw)
    except ValueError:
        return None
    if "boolean" in kinds:
        return {"yes": True, "true": True, "no": False, "false": False}.get(raw.casefold())
    return raw if "string" in kinds else None
