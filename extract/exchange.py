"""One exchange with an address: its time-outs, its bytes read, its reply made.

Three clocks end a try: no byte (`idle_timeout`, streams alone), no step forward (`timeout`; a ping is
none), and the whole try (`deadline`). Knows nothing of rows, keys or which address to use next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from extract.clock import Clock
from extract.deadlines import Deadline, Deadlines
from extract.protocol.faults import broken, read_reply, request_id_of
from extract.protocol.reply import Reply
from extract.protocol.request import Request
from extract.protocol.stream import Assembler, first_data, looks_like_events
from extract.transport import Answer, Broken, Progress, join_all

_DRAIN = 1.0  # seconds for what may follow a stream's last event, so that the connection can be kept
_LIMIT_HEADERS = ("x-ratelimit-", "anthropic-ratelimit-", "retry-after")
_NO_LIMITS: Mapping[str, str] = {}


class Call(NamedTuple):
    """One request that was sent, and what came.

    address: who was asked. status: None where no answer began. started_at: seconds since 1970.
    latency: seconds until the reply was whole. limits: the rate-limit headers, by lower-case name.
    """

    reply: Reply
    address: str
    status: int | None
    request_id: str | None
    started_at: float
    latency: float
    streamed: bool
    limits: Mapping[str, str] = _NO_LIMITS


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds that a try may take: see `Client`."""

    timeout: float
    idle: float
    deadline: float


class Exchange:
    """One try of one request."""

    def __init__(
        self,
        request: Request,
        patience: Patience,
        clock: Clock,
        deadlines: Deadlines,
        *,
        on_start: Callable[[], None] | None = None,
    ) -> None:
        self.request = request
        self.progress = Progress()
        self._patience = patience
        self._clock = clock
        self._deadlines = deadlines
        self._on_start = on_start
        self._assembler: Assembler | None = None
        self._status: int | None = None
        self._headers: Mapping[str, str] = {}
        self._started_at, self._began = clock.time(), clock.now()
        self._ended: float | None = None
        self._limit = "timeout"
        self._loop_began = self._loop_stepped = deadlines.now()

    def timer(self) -> Deadline:
        """The time-out around the try; its end moves while a stream goes on."""
        self._timer = Deadline(self._deadlines, self._next_end(idle=False))
        return self._timer

    async def read(self, answer: Answer) -> Reply:
        """The reply in an answer whose head has come. Raises Broken."""
        self._status, self._headers = answer.status, answer.headers
        kind = answer.headers.get("content-type", "")
        if 200 <= answer.status < 300 and kind.startswith("text/event-stream"):
            return await self._read_stream(answer)
        read = getattr(answer, "read", None)
        body = await (read() if read is not None else join_all(answer))
        self._ended = self._clock.now()
        if looks_like_events(body):
            if 200 <= answer.status < 300:
                assembler = self._assemble()
                assembler.feed(body)
                return assembler.close()
            body = first_data(body)
        envelope = self.request.envelope
        now = self._clock.time()
        return read_reply(
            answer.status, answer.headers, body, wire=envelope.wire, ttl=envelope.cache, now=now
        )

    def timed_out(self) -> Reply:
        """The reply where time ran out: whole all the same, or a fault."""
        if self._assembler is not None:
            return self._assembler.cut("timeout", self._said())
        return broken(
            "timeout",
            self._said(),
            status=self._status,
            request_id=request_id_of(self._headers),
            maybe_paid=self.progress.sent,
        )

    def broke(self, error: Broken) -> Reply:
        """The reply where the connection broke: whole all the same, or a fault."""
        if self._assembler is not None:
            return self._assembler.cut(error.kind, error.detail)
        request_id = request_id_of(self._headers)
        return broken(
            error.kind, error.detail, status=self._status, request_id=request_id, maybe_paid=error.sent
        )

    def call(self, reply: Reply, address: str) -> Call:
        """What is told of the try."""
        ended = self._ended if self._ended is not None else self._clock.now()
        limits = {name: value for name, value in self._headers.items() if name.startswith(_LIMIT_HEADERS)}
        return Call(
            reply,
            address,
            self._status,
            reply.request_id or request_id_of(self._headers),
            self._started_at,
            ended - self._began,
            self._assembler is not None,
            limits,
        )

    def _assemble(self) -> Assembler:
        envelope = self.request.envelope
        self._assembler = Assembler(
            envelope.wire, ttl=envelope.cache, request_id=request_id_of(self._headers)
        )
        return self._assembler

    async def _read_stream(self, answer: Answer) -> Reply:
        assembler = self._assemble()
        stepped = 0
        async for chunk in answer.chunks():
            if assembler.finished:
                continue  # drained to its end, so that the connection can be kept
            assembler.feed(chunk)
            if assembler.started and self._on_start is not None:
                self._on_start()
                self._on_start = None
            if assembler.finished:
                self._finish()
            else:
                self._wait_on(stepped=assembler.progress > stepped)
                stepped = assembler.progress
        self._ended = self._ended if self._ended is not None else self._clock.now()
        return assembler.close()

    def _finish(self) -> None:
        self._ended = self._clock.now()
        self._timer.move(self._deadlines.now() + _DRAIN)

    def _wait_on(self, *, stepped: bool) -> None:
        if stepped:
            self._loop_stepped = self._deadlines.now()
        self._timer.move(self._next_end(idle=True))

    def _next_end(self, *, idle: bool) -> float:
        """The loop's time at which the try ends unless something comes."""
        patience = self._patience
        end, self._limit = self._loop_stepped + patience.timeout, "timeout"
        if (whole := self._loop_began + patience.deadline) < end:
            end, self._limit = whole, "deadline"
        if idle and (silent := self._deadlines.now() + patience.idle) < end:
            end, self._limit = silent, "idle"
        return end

    def _said(self) -> str:
        """Which of the three clocks ran out."""
        patience = self._patience
        return {
            "timeout": f"no step forward for {patience.timeout:g} s",
            "deadline": f"not whole after {patience.deadline:g} s",
            "idle": f"no byte for {patience.idle:g} s",
        }[self._limit]
