"""What of inputs and replies may reach the store: `keep=` and `private=`.

Pure. Knows nothing of DuckDB. With a private column neither its value nor the rendered request, the raw
reply and the values in findings are kept, for every row that has the column.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, get_args

from extract.errors import ConfigError
from extract.store.rows import AnswerRow, CallRow, DeadRow, Keep, KeptRow

_HIDDEN = "(private)"


@dataclass(frozen=True, slots=True)
class Policy:
    """keep: whose inputs and replies are kept. private: columns that never reach the store."""

    keep: Keep = "dead_letters"
    private: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.keep not in get_args(Keep):
            raise ConfigError(f"keep={self.keep!r}: choose one of {', '.join(map(repr, get_args(Keep)))}")

    def dead(self, row: DeadRow) -> DeadRow:
        """A dead letter as it may be written; structured parts become JSON text."""
        return replace(
            row,
            findings=_json([self._finding(finding) for finding in row.findings]),  # type: ignore[arg-type]
            input=self._input(row.input, kept=self.keep != "nothing"),
            request=self._exchange(row.request, kept=self.keep != "nothing"),
            raw_reply=self._exchange(row.raw_reply, kept=self.keep != "nothing"),
        )

    def kept(self, row: KeptRow) -> KeptRow | None:
        """What `keep="all"` writes for an accepted row; None when it is not to be written."""
        if self.keep != "all":
            return None
        return replace(
            row,
            input=self._input(row.input, kept=True),
            request=self._exchange(row.request, kept=True),
            raw_reply=self._exchange(row.raw_reply, kept=True),
        )

    def evidence(self, evidence: str | None) -> str | None:
        """Evidence (JSON) without the words of the source where a column is private."""
        if evidence is None or not self.private:
            return evidence
        return _json([{**one, "quote": None} for one in json.loads(evidence)])

    def fault(self, fault: str | None) -> str | None:
        """A fault's first word alone where the server's message could repeat a private value."""
        return fault if fault is None or not self.private else fault.split(maxsplit=1)[0].rstrip(":")

    def hidden_faults(self, calls: Sequence[CallRow]) -> dict[str, list[str | None]]:
        """The column of faults where they may not stay as they are."""
        return {"fault": [self.fault(call.fault) for call in calls]} if self.private else {}

    def hidden_evidence(self, answers: Sequence[AnswerRow]) -> dict[str, list[str | None]]:
        """The column of evidence where it may not stay as it is."""
        return {"evidence": [self.evidence(answer.evidence) for answer in answers]} if self.private else {}

    def paid(
        self, calls: Sequence[CallRow], answers: Sequence[AnswerRow]
    ) -> tuple[Sequence[CallRow], Sequence[AnswerRow]]:
        """Requests and answers as they may be written."""
        if not self.private:
            return calls, answers
        return (
            [call._replace(fault=self.fault(call.fault)) for call in calls],
            [answer._replace(evidence=self.evidence(answer.evidence)) for answer in answers],
        )

    def _input(self, values: Mapping[str, Any] | None, *, kept: bool) -> Any:
        if values is None or not kept:
            return None
        return _json({name: value for name, value in values.items() if name not in self.private})

    def _exchange(self, value: Any, *, kept: bool) -> str | None:
        if value is None or not kept or self.private:
            return None
        return value if isinstance(value, str) else _json(digest_images(value))

    def _finding(self, finding: Mapping[str, Any]) -> Mapping[str, Any]:
        if not self.private:
            return finding
        # A path in the model's shape can hold the answer's own dict keys, and the words of a user's
        # validator can hold values: only what the schema alone decides stays.
        schema = finding.get("stage") == "schema"
        wire_path = finding.get("wire_path", "")
        return {
            "stage": finding.get("stage"),
            "path": wire_path,
            "wire_path": wire_path,
            "found": _HIDDEN,
            "expected": finding.get("expected") if schema else _HIDDEN,
        }


def _json(value: Any) -> str:
    """JSON text of anything: what JSON has no word for becomes text, binaries their digest."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)
    except (TypeError, ValueError, RecursionError):
        return _json_of_oddities(value)


def _json_of_oddities(value: Any) -> str:
    """NaN, infinities and keys that are no text; a structure that never ends becomes its `repr`."""
    try:
        return json.dumps(_finite(value), ensure_ascii=False, default=_plain)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(f"{type(value).__name__} that has no JSON")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(name): _finite(item) for name, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def _plain(value: Any) -> Any:
    if isinstance(value, bytes | bytearray | memoryview):
        data = bytes(value)
        return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence | set | frozenset) and not isinstance(value, str):
        return list(value)
    to_list = getattr(value, "to_list", None)
    return to_list() if callable(to_list) else str(value)


def digest_images(request: Any) -> Any:
    """A request for people: image bytes replaced by their digest, everything else unchanged."""
    if isinstance(request, Mapping):
        if request.get("type") == "base64" and isinstance(request.get("data"), str):
            return {**request, "data": _digest_base64(request["data"])}
        return {name: digest_images(value) for name, value in request.items()}
    if isinstance(request, list | tuple):
        return [digest_images(value) for value in request]
    return request


def _digest_base64(data: str) -> str:
    try:
        raw = base64.b64decode(data)
    except ValueError:
        raw = data.encode("utf-8", "backslashreplace")
    return f"sha256:{hashlib.sha256(raw).hexdigest()} ({len(raw)} bytes)"
