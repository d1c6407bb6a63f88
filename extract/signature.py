"""What made the rows of a table, in a few words, so that two makings never mix in it.

Pure but for one look into the store.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extract.errors import ChangedError, ConfigError

if TYPE_CHECKING:
    from extract.pipeline import Pipeline
    from extract.store import Store


def signature_of(pipeline: Pipeline) -> dict[str, Any]:
    """Everything that changes what is asked; pace, retries and addresses are not in it."""
    envelope = pipeline.envelope
    return {
        "schema": pipeline.compiled.fingerprint,
        "model": envelope.model,
        "effort": envelope.effort,
        "max_tokens": envelope.max_tokens,
        "system": _digest(envelope.system),
        "prompt": _digest(pipeline.rendering.identity),
        "examples": _digest(envelope.examples),
        "tools": _digest(envelope.tools),
        "wire": envelope.wire,
        "split": None if pipeline.split is None else repr(pipeline.split),
    }


def check_change(store: Store, signature: Mapping[str, Any], into: Any, on_change: str) -> Any:
    """The table to write: `into`, or a new one beside it for another signature.

    Raises ChangedError when `on_change` is "stop" and something changed.
    """
    if on_change not in ("stop", "rerun", "new_table"):
        raise ConfigError(f"on_change={on_change!r}: choose 'stop', 'rerun' or 'new_table'")
    if into is None:
        return None  # no table, no mixing: answers are told apart by their fingerprints
    changed = _changes(store.job_signature(str(into)), signature)
    rows = store.totals(str(into)).accepted if changed else 0
    if not rows or on_change == "rerun":
        return into  # a table without rows mixes with nothing
    if on_change == "new_table":
        return _beside(str(into), _digest(sorted(signature.items()))[:8])
    raise ChangedError(
        f"{into} was filled with another {', '.join(changed)}; going on would ask {rows} rows again. "
        f"Nothing was sent. Choose on_change='rerun' to ask and replace them, on_change='new_table' for "
        f"a table beside it, or another into="
    )


def _changes(before: Mapping[str, Any] | None, now: Mapping[str, Any]) -> list[str]:
    if not before:
        return []
    return [name for name in now if before.get(name) != now[name]]


def _beside(into: str, mark: str) -> str:
    """The same place with a name of its own."""
    if into.endswith("/"):
        return f"{into.rstrip('/')}_{mark}/"
    path = Path(into)
    if path.suffix in (".parquet", ".pq"):
        return str(path.with_name(f"{path.stem}_{mark}{path.suffix}"))
    return f"{into}_{mark}"


def _digest(value: Any) -> str:
    return hashlib.sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()
