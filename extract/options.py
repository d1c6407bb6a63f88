"""What a run takes beside its table, checked; and what of it the store remembers for a re-drive.

Knows nothing of how a run goes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from extract.errors import ConfigError
from extract.store import Keep
from extract.tables import RowSource
from extract.tables.rows_in import did_you_mean


@dataclass(frozen=True, slots=True)
class Options:
    """What `Pipeline.run` takes beside the table; described there."""

    store: Any = "extract.duckdb"
    into: Any = None
    keep: Keep = "dead_letters"
    private: tuple[str, ...] = ()
    on_change: Literal["stop", "rerun", "new_table"] = "stop"
    on_missing: Literal["keep", "drop"] = "keep"
    explode: str | None = None
    provenance: Literal["none", "columns"] = "none"
    overlap: Literal["refuse", "allow"] = "refuse"
    replicate: int = 0

    def __post_init__(self) -> None:
        for name, allowed in (("on_missing", ("keep", "drop")), ("provenance", ("none", "columns"))):
            if getattr(self, name) not in allowed:
                raise ConfigError(f"{name}={getattr(self, name)!r}: choose one of {', '.join(allowed)}")
        if self.explode is not None and self.into is None:
            raise ConfigError(
                f"explode={self.explode!r} makes a table beside the output table: give into= too"
            )

    def as_json(self) -> dict[str, Any]:
        """What a re-drive of the dead letters has to go on with, for the store."""
        return {name: getattr(self, name) for name in _KEPT}

    @classmethod
    def again(cls, store: Any, into: Any, kept: Mapping[str, Any]) -> Options:
        """For a re-drive. kept: `as_json` of the run that the letters came from."""
        known = {name: value for name, value in kept.items() if name in _KEPT}
        return cls(store, into, on_change="rerun", **{**known, "private": tuple(known.get("private", ()))})


_KEPT = ("keep", "private", "explode", "provenance", "overlap", "replicate")


def check_private(private: Sequence[str], source: RowSource) -> None:
    """Raises ConfigError for a private column that would protect nothing."""
    for name in private:
        if name in source.key.columns:
            raise ConfigError(
                f"private=[{name!r}] is the key, which the store needs as it is; give key= another column"
            )
        if name not in source.columns:
            raise ConfigError(f"private=[{name!r}] is no column{did_you_mean(name, source.columns)}")
