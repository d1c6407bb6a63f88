"""The service without HTTP: from headers and a body to what is to be sent, and when.

Applies, in this order: key, limits, rules, the assistant's own blocks, context, faults; then answers. Knows the
clock it is given; sends nothing itself.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import jiter

from extract.testing.endpoint import messages
from extract.testing.endpoint.ask import Ask, Block, Wire, ask_of_messages
from extract.testing.endpoint.cache import Boundary, Lookup, PromptCache
from extract.testing.endpoint.counters import Counters, Entry
from extract.testing.endpoint.faults import (
    OF_THE_CONNECTION,
    PAGES,
    PROBLEMS,
    Draws,
    Problem,
    draw_fault,
    error_body,
    page,
)
from extract.testing.endpoint.knobs import Knobs
from extract.testing.endpoint.limits import Limits
from extract.testing.endpoint.reply import Answer, answer
from extract.testing.endpoint.rules.dialect import dialect_problem
from extract.testing.endpoint.rules.messages import FIELDS, RULES
from extract.testing.endpoint.rules.rule import Refusal, first_broken
from extract.testing.endpoint.seals import Memory, own_turns

Headers = Mapping[str, str]


@dataclass(slots=True)
class Sending:
    """What is to be sent.

    chunks: the body; more than one when it is a stream.
    delay: seconds before the first byte; `gap` seconds between chunks.
    ending: complete, torn, reset or stalled.
    begun: to be called when the first byte goes out.
    """

    status: int
    chunks: Iterable[bytes]
    media_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    gap: float = 0.0
    ending: str = "complete"
    begun: Callable[[], None] = lambda: None


class Service:
    """One account at one endpoint.

    api_key: the only key that is taken.
    now: seconds of a steady clock; `advance` turns it forward.
    """

    def __init__(self, knobs: Knobs, api_key: str, now: Callable[[], float]) -> None:
        self.knobs = knobs
        self.api_key = api_key
        self._base_now = now
        self._ahead = 0.0
        self.counters = Counters()
        self._limits = Limits(self.now)
        self._cache = PromptCache(self.now)
        self._memory = Memory()
        self._draws = Draws()
        self._numbers = itertools.count(1)

    def now(self) -> float:
        """Seconds of the endpoint's clock."""
        return self._base_now() + self._ahead

    def advance(self, seconds: float) -> None:
        """Turn the endpoint's clock forward, as if that time had passed."""
        self._ahead += seconds

    def reset(self) -> None:
        """Forget all that came: counts, cache, limits, draws."""
        for part in (self.counters, self._limits, self._cache, self._memory, self._draws):
            part.clear()

    def arrive(self, path: str) -> Entry:
        """A request has come; `leave` must follow."""
        entry = self.counters.arrive(path, f"req_local_{next(self._numbers):08d}", self.now())
        self._limits.in_flight = self.counters.in_flight
        return entry

    def leave(self, entry: Entry) -> None:
        """Its reply is sent, or its connection gone."""
        self.counters.leave(entry, self.now())

    def take(self, wire: Wire, headers: Headers, raw: bytes, entry: Entry) -> Sending:
        """What is to be sent for a request."""
        sending = self._take(wire, headers, raw, entry)
        entry.status = sending.status
        sending.headers["request-id"] = entry.request_id
        return sending

    def _take(self, wire: Wire, headers: Headers, raw: bytes, entry: Entry) -> Sending:
        knobs = self.knobs
        problem = self._key_problem(headers) or self._limits.refuse(knobs)
        if problem is not None:
            return self._problem(wire, problem, entry)
        body = _parsed(raw)
        if isinstance(body, Problem):
            return self._problem(wire, body, entry)
        read = self._read(wire, body)
        if isinstance(read, Problem):
            return self._problem(wire, read, entry)
        self._note_unknown(wire, body)
        return self._converse(read, raw, entry)

    def _key_problem(self, headers: Headers) -> Problem | None:
        given = None
        if self.knobs.auth in ("bearer", "either"):
            scheme, _, token = headers.get("authorization", "").partition(" ")
            given = token.strip() if scheme.lower() == "bearer" else None
        if given is None and self.knobs.auth != "bearer" and "anthropic-version" in headers:
            given = headers.get("x-api-key")
        if given == self.api_key:
            return None
        said = "API key is missing" if given is None else "API key is invalid"
        return Problem(401, "authentication_error", f"{said}; send Authorization: Bearer YOUR_API_KEY")

    def _read(self, wire: Wire, body: dict[str, Any]) -> Ask | Problem:
        refusal = first_broken(RULES, body)
        if refusal is None and self.knobs.dialect == "kimi":
            refusal = _schema_refusal(body)
        if refusal is not None:
            return Problem(400, "invalid_request_error", refusal.message, rule=refusal.rule)
        return ask_of_messages(body)

    def _note_unknown(self, wire: Wire, body: dict[str, Any]) -> None:
        if not body.keys() <= FIELDS:
            self.counters.unknown_fields.update(body.keys() - FIELDS)

    def _converse(self, ask: Ask, raw: bytes, entry: Entry) -> Sending:
        boundaries = ask.boundaries()
        total = boundaries[-1].tokens
        own, changed = own_turns(ask, boundaries, self._memory)
        first = min(own, default=len(ask.turns))
        entry.model, entry.stream, entry.reask = ask.model, ask.stream, bool(own)
        entry.row = boundaries[first].digest.hex()
        self.counters.see(entry)
        problem = self._late_problem(ask, total, changed)
        if problem is not None:
            return self._problem(ask.wire, problem, entry)
        random = self._draws.next(raw, self.knobs.seed)
        entry.fault = draw_fault(self.knobs, random)
        delay = self.knobs.latency.draw(random)
        if entry.fault in PROBLEMS:
            return replace(self._problem(ask.wire, PROBLEMS[entry.fault], entry), delay=delay)
        if entry.fault in PAGES:
            status, title = PAGES[entry.fault]
            return Sending(status, [page(title)], "text/html", delay=delay)
        sending = self._answer(ask, boundaries, _document(ask, first), entry)
        sending.delay = delay
        if entry.fault in OF_THE_CONNECTION:
            sending.ending = entry.fault
        return sending

    def _late_problem(self, ask: Ask, total: int, changed: str | None) -> Problem | None:
        if changed is not None:
            return Problem(400, "invalid_request_error", changed, rule="own_blocks")
        if total + ask.max_tokens > self.knobs.context and total > self.knobs.context - ask.max_tokens:
            said = f"Invalid request: Your request exceeded model token limit: {self.knobs.context} (requested: {total + ask.max_tokens})"
            return Problem(400, "invalid_request_error", said, rule="context")
        return self._limits.refuse_tokens(self.knobs, total + ask.max_tokens)

    def _answer(self, ask: Ask, boundaries: list[Boundary], document: list[Block], entry: Entry) -> Sending:
        made = answer(ask, document, entry.fault, self.knobs.search)
        lookup = self._look(boundaries)
        usage = messages.usage_of(ask, boundaries[-1].tokens, lookup, made)
        self._memory.keep(boundaries[-1].digest, made.blocks)
        self.counters.answer(entry, usage)
        body = messages.body_of(ask, f"msg_local_{entry.number:08d}", made, usage)
        begun = self._begun(lookup, ask.ttl)
        if ask.stream:
            chunks = self._cut(messages.events_of(body))
            return Sending(200, chunks, "text/event-stream", gap=self.knobs.event_delay, begun=begun)
        return Sending(200, [_dump(body)], begun=begun)

    def _begun(self, lookup: Lookup, ttl: str) -> Callable[[], None]:
        return lambda: self._cache.keep(lookup.pending, ttl)

    def _look(self, boundaries: list[Boundary]) -> Lookup:
        knobs = self.knobs
        if knobs.cache == "off":
            return Lookup()
        writable = len(boundaries) - (knobs.cache_tail == "off") - 0
        writable = len(boundaries) if knobs.cache_tail == "on" else len(boundaries) - 1
        lookup = self._cache.look(boundaries, writable=writable, minimum=knobs.cache_minimum)
        if knobs.cache == "implicit":
            return replace(lookup, written=0)
        return (
            Lookup(0, lookup.read + lookup.written, lookup.pending)
            if knobs.cache == "writes_only"
            else lookup
        )

    def _cut(self, events: Iterable[bytes]) -> Iterable[bytes]:
        size = self.knobs.chunk
        if not size:
            return events
        whole = b"".join(events)
        return [whole[i : i + size] for i in range(0, len(whole), size)]

    def _problem(self, wire: Wire, problem: Problem, entry: Entry) -> Sending:
        entry.rule = problem.rule
        body = error_body(wire, problem.kind, problem.message, entry.request_id)
        return Sending(problem.status, [_dump(body)], headers=self._wait_headers(problem))

    def _wait_headers(self, problem: Problem) -> dict[str, str]:
        if problem.status != 429 or self.knobs.retry_after == "none":
            return {}
        if self.knobs.retry_after not in ("auto", "date"):
            return {"retry-after": self.knobs.retry_after}
        if problem.retry_after is None:
            return {}
        return {"retry-after": f"{max(problem.retry_after, 0.001):.3f}"}


def _document(ask: Ask, first_own: int) -> list[Block]:
    """The turn that holds the row: the last of the user before our own first turn."""
    users = [turn for turn in ask.turns[:first_own] if turn.role == "user"]
    return users[-1].blocks if users else []


def _parsed(raw: bytes) -> dict[str, Any] | Problem:
    try:
        body = jiter.from_json(raw, allow_inf_nan=False)
    except ValueError as error:
        return Problem(400, "invalid_request_error", f"the body is no valid JSON: {error}", rule="json")
    if not isinstance(body, dict):
        return Problem(400, "invalid_request_error", "the body must be a JSON object", rule="json")
    return body


def _schema_refusal(body: dict[str, Any]) -> Refusal | None:
    places = [("output_config.format.schema", body.get("output_config", {}).get("format", {}).get("schema"))]
    places += [
        (f"tools.{i}.input_schema", tool.get("input_schema")) for i, tool in enumerate(body.get("tools", ()))
    ]
    for place, schema in places:
        problem = None if schema is None else _dialect_problem(json.dumps(schema))
        if problem is not None:
            said = f"{place} is not a valid moonshot flavored json schema, details: <{problem}>"
            return Refusal("dialect", said)
    return None


@lru_cache(maxsize=256)
def _dialect_problem(schema_text: str) -> str | None:
    return dialect_problem(json.loads(schema_text))


def _dump(body: dict[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
