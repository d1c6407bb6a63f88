"""What providers take in a schema, as data. Adding a dialect is adding a table.

The numbers come from the providers' public documentation. Knows no model and writes no schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from extract.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Limit:
    """Above `warn` providers are known to differ; above `refuse` none takes it. None: no number is known."""

    warn: int | None = None
    refuse: int | None = None


@dataclass(frozen=True, slots=True)
class Dialect:
    """One provider's rules.

    bounds: constraint keywords that may be sent. formats: values of `format` that may be sent.
    simple_patterns: whether anchored patterns without look-around may be sent.
    max_min_items: the largest `minItems` that may be sent, where only small ones are taken.
    reserved: property names that are refused. recursion: levels to unroll, 0 keeps the `$ref`.
    ref_words: whether a description may stand beside a `$ref`.
    """

    name: str
    bounds: frozenset[str] = frozenset()
    formats: frozenset[str] = frozenset()
    simple_patterns: bool = False
    max_min_items: int | None = None
    reserved: frozenset[str] = frozenset()
    unroll: int = 0
    ref_words: bool = True
    limits: Mapping[str, Limit] = field(default_factory=dict)


_RANGE = frozenset({"minimum", "maximum"})
_LENGTH = frozenset({"minLength", "maxLength"})
_ITEMS = frozenset({"minItems", "maxItems"})
_FORMATS = frozenset({"date-time", "date", "email", "hostname", "ipv4", "ipv6", "uuid"})

KIMI = Dialect(
    name="kimi",
    bounds=_RANGE | _LENGTH | _ITEMS,
    reserved=frozenset({"$defs", "$ref", "anyOf", "required", "additionalProperties"}),
    limits={
        "properties": Limit(100, 3_000),
        "depth": Limit(5, 30),
        "branches": Limit(10, 500),
        "enum_values": Limit(500, 1_000),
    },
)

ANTHROPIC = Dialect(
    name="anthropic",
    bounds=frozenset({"minItems"}),
    formats=_FORMATS | {"uri"},
    simple_patterns=True,
    max_min_items=1,
    unroll=3,
    limits={
        "optionals": Limit(refuse=24),
        "unions": Limit(refuse=16),
        "leaves": Limit(60),
        "enum_values": Limit(160),
    },
)

OPENAI = Dialect(
    name="openai",
    bounds=_RANGE | _ITEMS | {"exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
    formats=_FORMATS,
    simple_patterns=True,
    ref_words=False,
    limits={
        "properties": Limit(5_000),
        "depth": Limit(10),
        "enum_values": Limit(1_000),
    },
)

DIALECTS: Mapping[str, Dialect] = {dialect.name: dialect for dialect in (KIMI, ANTHROPIC, OPENAI)}


def dialect_of(dialect: str | Dialect) -> Dialect:
    """The dialect of a name. Raises `ConfigError` for an unknown one."""
    if isinstance(dialect, Dialect):
        return dialect
    if dialect not in DIALECTS:
        raise ConfigError(
            f"unknown dialect {dialect!r}: use one of {', '.join(DIALECTS)}, or a Dialect of your own"
        )
    return DIALECTS[dialect]
