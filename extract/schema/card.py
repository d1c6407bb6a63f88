"""A compiled schema as a small box in a notebook: what is asked for, what is checked here instead.

Values in, HTML out; everything is escaped.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from extract.markup import Markup, card, folded, join, pairs, table, tag


def schema_card(
    name: str,
    dialect: str,
    fingerprint: str,
    schema: Mapping[str, Any],
    *,
    relaxed: Sequence[tuple[str, str]],
    counts: Sequence[tuple[str, str]],
    warnings: Sequence[str],
) -> str:
    """The box. relaxed: (path, keyword) of what the wire cannot carry. counts: (what, value of limit)."""
    told = f"{len(relaxed)} rules checked here instead"
    return str(
        card(
            join((name, " as a wire schema")),
            pairs([("dialect", dialect), ("fingerprint", fingerprint[:12]), *counts]),
            *(tag("p", warning) for warning in warnings),
            folded(told, table(["path", "rule"], relaxed)) if relaxed else None,
            folded("schema", tag("pre", _pretty(schema))),
        )
    )


def _pretty(schema: Mapping[str, Any]) -> Markup:
    return tag("code", json.dumps(schema, ensure_ascii=False, indent=2))
