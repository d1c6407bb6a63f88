"""Counts what the endpoint saw, for tests and for people.

Knows nothing of how a request is answered.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

_USAGE = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


@dataclass(slots=True)
class Entry:
    """One request, as the log keeps it."""

    number: int
    path: str
    request_id: str
    started: float
    status: int = 0
    row: str = ""
    model: str = ""
    stream: bool = False
    fault: str | None = None
    rule: str = ""
    reask: bool = False
    ended: float | None = None
    usage: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """As JSON; times are seconds of the endpoint's clock."""
        return {name: getattr(self, name) for name in self.__slots__}


class Counters:
    """Sums since the start or the last reset, and the last requests one by one.

    keep: how many requests the log holds.
    """

    def __init__(self, keep: int = 20_000) -> None:
        self._keep = keep
        self.in_flight = 0
        self.clear()

    def clear(self) -> None:
        """Start anew; what flies still flies."""
        self.requests = 0
        self.max_in_flight = self.in_flight
        self.by_status: Counter[str] = Counter()
        self.by_path: Counter[str] = Counter()
        self.by_fault: Counter[str] = Counter()
        self.by_rule: Counter[str] = Counter()
        self.unknown_fields: Counter[str] = Counter()
        self.usage: Counter[str] = Counter()
        self.rows: Counter[str] = Counter()
        self.answered: Counter[str] = Counter()
        self.cache_writes = self.cache_reads = self.reasks = self.streams = 0
        self.log: deque[Entry] = deque(maxlen=self._keep)

    def arrive(self, path: str, request_id: str, now: float) -> Entry:
        """A request has come."""
        self.requests += 1
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        self.by_path[path] += 1
        entry = Entry(self.requests, path, request_id, now)
        self.log.append(entry)
        return entry

    def leave(self, entry: Entry, now: float) -> None:
        """Its reply is sent, or its connection gone."""
        self.in_flight -= 1
        entry.ended = now

    def settle(self, entry: Entry) -> None:
        """Its status is decided: counted before it is sent, so that counts are never behind a client."""
        self.by_status[str(entry.status)] += 1
        if entry.fault:
            self.by_fault[entry.fault] += 1
        if entry.rule:
            self.by_rule[entry.rule] += 1

    def answer(self, entry: Entry, usage: dict[str, Any]) -> None:
        """A message was made for it."""
        entry.usage = usage
        for name in _USAGE:
            self.usage[name] += usage[name]
        self.usage["thinking_tokens"] += usage["output_tokens_details"]["thinking_tokens"]
        for name, tokens in usage["cache_creation"].items():
            self.usage[name] += tokens
        self.usage["web_search_requests"] += usage.get("server_tool_use", {}).get("web_search_requests", 0)
        self.cache_writes += usage["cache_creation_input_tokens"] > 0
        self.cache_reads += usage["cache_read_input_tokens"] > 0
        self.answered[entry.row] += entry.fault is None
        self.reasks += entry.reask
        self.streams += entry.stream

    def see(self, entry: Entry) -> None:
        """Its row is known now; a re-ask belongs to the row it asks about."""
        self.rows[entry.row] += 1

    def as_dict(self) -> dict[str, Any]:
        """All sums, as JSON."""
        # copies, in one step each: a test asks from its own thread while requests are counted in another
        return {
            "requests": self.requests,
            "in_flight": self.in_flight,
            "max_in_flight": self.max_in_flight,
            "by_status": dict(self.by_status),
            "by_path": dict(self.by_path),
            "by_fault": dict(self.by_fault),
            "by_rule": dict(self.by_rule),
            "unknown_fields": dict(self.unknown_fields),
            "rows": len(self.rows),
            "rows_asked_again": sum(1 for n in list(self.rows.values()) if n > 1),
            "rows_answered": sum(1 for n in list(self.answered.values()) if n),
            "rows_answered_again": sum(1 for n in list(self.answered.values()) if n > 1),
            "reasks": self.reasks,
            "streams": self.streams,
            "cache_writes": self.cache_writes,
            "cache_reads": self.cache_reads,
            "usage": dict(self.usage),
        }
