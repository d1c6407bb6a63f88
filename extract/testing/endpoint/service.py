"""The service without HTTP: from headers and a body to what is to be sent, and when.

Applies, in this order: key, limits, rules, the assistant's own blocks, context, faults; then answers.
Knows the clock it is given; sends nothing itself.
"""

from __future__ import annotations

import itertools
import json
import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from functools import lru_cache
from typing import Any

import jiter

from extract.testing.endpoint import messages
from extract.testing.endpoint.ask import Ask, Block, Wire
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
from extract.testing.endpoint.reply import answer
from extract.testing.endpoint.rules.dialect import dialect_problem
from extract.testing.endpoint.rules.rule import Refusal, first_broken
from extract.testing.endpoint.seals import Memory, own_turns
from extract.testing.endpoint.wires import WIRES, Wiring

Headers = Mapping[str, str]
LARGEST_BODY = 128 * 2**20


@dataclass(slots=True)
class Sending:
    """What is to be sent.

    chunks: the body; more than one when it is a stream.
    delay: seconds before the first byte; `gap` between chunks; `ping` between pings once stalled.
    ending: complete, torn, reset or stalled.
    begun: to be called when the first byte goes out.
    """

    status: int
    chunks: Iterable[bytes]
    media_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    gap: float = 0.0
    ping: float = 1.0
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
        taken = self._take(wire, headers, raw, entry)
        sending = self._problem(wire, taken, entry) if isinstance(taken, Problem) else taken
        entry.status = sending.status
        sending.headers["request-id"] = entry.request_id
        sending.headers |= self._limits.headers(self.knobs)
        self.counters.settle(entry)
        return sending

    def _take(self, wire: Wire, headers: Headers, raw: bytes, entry: Entry) -> Sending | Problem:
        problem = self._key_problem(headers) or self._limits.refuse(self.knobs)
        if problem is not None:
            return problem
        body = _parsed(headers, raw)
        if isinstance(body, Problem):
            return body
        refusal = self._refusal(WIRES[wire], body)
        if refusal is not None:
            return Problem(400, "invalid_request_error", refusal.message, rule=refusal.rule)
        if not body.keys() <= WIRES[wire].fields:
            self.counters.unknown_fields.update(body.keys() - WIRES[wire].fields)
        return self._converse(WIRES[wire].ask(body), raw, entry)

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

    def _refusal(self, wiring: Wiring, body: dict[str, Any]) -> Refusal | None:
        refusal = first_broken(wiring.rules, body)
        if refusal is not None or self.knobs.dialect != "kimi":
            return refusal
        for place, schema in wiring.schemas(body):
            problem = _dialect_problem(json.dumps(schema))
            if problem is not None:
                said = f"{place} is not a valid moonshot flavored json schema, details: <{problem}>"
                return Refusal("dialect", said)
        return None

    def _converse(self, ask: Ask, raw: bytes, entry: Entry) -> Sending | Problem:
        boundaries = ask.boundaries()
        own, changed = own_turns(ask, boundaries, self._memory)
        first = min(own, default=len(ask.turns))
        entry.model, entry.stream, entry.reask = ask.model, ask.stream, bool(own)
        entry.row = boundaries[first].digest.hex()
        self.counters.see(entry)
        problem = self._late_problem(ask, boundaries[-1].tokens, changed)
        if problem is not None:
            return problem
        random = self._draws.next(raw, self.knobs.seed)
        entry.fault = draw_fault(self.knobs, random)
        sending = self._faulty(ask, entry) or self._answer(ask, boundaries, _document(ask, first), entry)
        sending.delay = self.knobs.latency.draw(random)
        return sending

    def _late_problem(self, ask: Ask, total: int, changed: str | None) -> Problem | None:
        if changed is not None:
            return Problem(400, "invalid_request_error", changed, rule="own_blocks")
        limit, wanted = self.knobs.context, total + ask.max_tokens
        if wanted > limit:
            said = f"Invalid request: Your request exceeded model token limit: {limit} (requested: {wanted})"
            return Problem(400, "invalid_request_error", said, rule="context")
        return self._limits.refuse_tokens(self.knobs, wanted)

    def _faulty(self, ask: Ask, entry: Entry) -> Sending | None:
        """What a fault sends in place of an answer, or None."""
        if entry.fault in PROBLEMS:
            return self._problem(ask.wire, PROBLEMS[entry.fault], entry)
        if entry.fault in PAGES:
            status, title = PAGES[entry.fault]
            return Sending(status, [page(title)], "text/html")
        if entry.fault == "error200" and not ask.stream:
            return replace(self._problem(ask.wire, PROBLEMS["err529"], entry), status=200)
        return None

    def _answer(self, ask: Ask, boundaries: list[Boundary], document: list[Block], entry: Entry) -> Sending:
        wiring, total = WIRES[ask.wire], boundaries[-1].tokens
        made = answer(ask, document, entry.fault, self.knobs.search)
        lookup = self._look(boundaries, implicit=wiring.implicit)
        self._memory.keep(boundaries[-1].digest, made.blocks)
        self.counters.answer(entry, messages.usage_of(ask, total, lookup, made))
        body = wiring.body(ask, entry.number, made, wiring.usage(ask, total, lookup, made))
        sending = Sending(200, [_dump(body)], begun=lambda: self._cache.keep(lookup.pending, ask.ttl))
        if ask.stream:
            sending.media_type, sending.gap = "text/event-stream", self.knobs.event_delay
            sending.ping = self.knobs.ping
            sending.chunks = self._cut(self._events(wiring, ask, body, entry))
        if entry.fault in OF_THE_CONNECTION:
            sending.ending = str(entry.fault)
        return sending

    def _events(self, wiring: Wiring, ask: Ask, body: dict[str, Any], entry: Entry) -> Iterable[bytes]:
        events = wiring.events(ask, body)
        if entry.fault != "error200":
            return events
        _, kind, said, *_ = PROBLEMS["err529"]
        error = error_body(ask.wire, kind, said, entry.request_id)
        return [next(iter(events)), wiring.error_event(error)]

    def _look(self, boundaries: list[Boundary], *, implicit: bool) -> Lookup:
        knobs = self.knobs
        if knobs.cache == "off":
            return Lookup()
        writable = len(boundaries) - (knobs.cache_tail == "off")
        lookup = self._cache.look(boundaries, writable=writable, minimum=knobs.cache_minimum)
        if implicit or knobs.cache == "implicit":
            return replace(lookup, written=0)
        if knobs.cache == "writes_only":
            return Lookup(0, lookup.read + lookup.written, lookup.pending)
        return lookup

    def _cut(self, events: Iterable[bytes]) -> Iterable[bytes]:
        size = self.knobs.chunk
        if not size:
            return events
        whole = b"".join(events)
        return [whole[i : i + size] for i in range(0, len(whole), size)]

    def _problem(self, wire: Wire, problem: Problem, entry: Entry) -> Sending:
        entry.rule = problem.rule
        body = error_body(wire, problem.kind, problem.message, entry.request_id)
        wait = _wait_header(self.knobs.retry_after, problem) if problem.status == 429 else None
        headers = {} if wait is None else {"retry-after": wait}
        return Sending(problem.status, [_dump(body)], headers=headers)


def _wait_header(knob: str, problem: Problem) -> str | None:
    """The `retry-after` of a 429: a whole number of seconds where it is a second or more."""
    if knob == "none":
        return None
    if knob not in ("auto", "date"):
        return knob
    wait = problem.retry_after
    if wait is None:
        return None
    if knob == "date":
        return formatdate(time.time() + math.ceil(wait), usegmt=True)
    return str(math.ceil(wait)) if wait >= 1 else f"{max(wait, 0.001):.3f}"


def _document(ask: Ask, first_own: int) -> list[Block]:
    """The turn that holds the row: the last of the user before our own first turn."""
    users = [turn for turn in ask.turns[:first_own] if turn.role == "user"]
    return users[-1].blocks if users else []


def _parsed(headers: Headers, raw: bytes) -> dict[str, Any] | Problem:
    if len(raw) > LARGEST_BODY:
        return Problem(413, "request_too_large", f"the body is larger than {LARGEST_BODY} bytes", rule="size")
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return Problem(400, "invalid_request_error", "content-type: must be application/json", rule="json")
    try:
        body = jiter.from_json(raw, allow_inf_nan=False)
    except ValueError as error:
        return Problem(400, "invalid_request_error", f"the body is no valid JSON: {error}", rule="json")
    if not isinstance(body, dict):
        return Problem(400, "invalid_request_error", "the body must be a JSON object", rule="json")
    return body


@lru_cache(maxsize=256)
def _dialect_problem(schema_text: str) -> str | None:
    return dialect_problem(json.loads(schema_text))


def _dump(body: dict[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
