"""Traces and metrics for OpenTelemetry: one trace a run, one span a request, findings as its events.

Off until `instrument()` is called, and without effect until the program configures a provider. No text of
a row or of an answer is ever exported. Knows nothing of how a run works: it listens (`extract.observe`).

The names are those of the GenAI semantic conventions, written out here since their package deprecates them
in place.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from extract.errors import MissingExtraError
from extract.observe import CallEnded, Event, RowEnded, RunBegan, RunEnded, listen
from extract.outcome import DeadLetter
from extract.protocol.reply import Fault, Message
from extract.protocol.usage import Usage
from extract.schema.finding import Finding

try:
    from opentelemetry import metrics, trace
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import Span, SpanKind, Status, StatusCode, TracerProvider
except ImportError as error:
    raise MissingExtraError("opentelemetry-api", "otel", "extract.integrations.otel") from error

_SCOPE = "extract"
_TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864)
_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)


def instrument(
    *, tracer_provider: TracerProvider | None = None, meter_provider: MeterProvider | None = None
) -> Callable[[], None]:
    """From now on every run of this process is traced and measured.

    tracer_provider, meter_provider: by default those that the program has configured globally.

    The span of a run becomes a child of the span that is current where the run is started; without one it
    is a trace of its own. Returns a function that ends it.
    """
    tracer = trace.get_tracer(_SCOPE, tracer_provider=tracer_provider)
    meter = metrics.get_meter(_SCOPE, meter_provider=meter_provider)
    return listen(_Telemetry(tracer, _Instruments.of(meter)))


@dataclass(frozen=True, slots=True)
class _Instruments:
    """What is measured."""

    tokens: Any
    duration: Any
    rows: Any
    cost: Any

    @classmethod
    def of(cls, meter: Any) -> _Instruments:
        return cls(
            meter.create_histogram(
                "gen_ai.client.token.usage",
                unit="{token}",
                description="Tokens of one request; input includes cache reads and writes",
                explicit_bucket_boundaries_advisory=_TOKENS,
            ),
            meter.create_histogram(
                "gen_ai.client.operation.duration",
                unit="s",
                description="Time from sending a request until its reply was whole",
                explicit_bucket_boundaries_advisory=_SECONDS,
            ),
            meter.create_counter("extract.rows", unit="{row}", description="Rows with an outcome"),
            meter.create_counter(
                "extract.cost", unit="USD", description="Cost of requests, where it is known"
            ),
        )


@dataclass(slots=True)
class _Run:
    """A run under way.

    waiting: the last request of each row, whose findings are not known yet; when it ended; whether it
    brought a message.
    """

    span: Span
    waiting: dict[str, tuple[Span, int, bool]] = field(default_factory=dict)


class _Telemetry:
    """Listens to runs."""

    def __init__(self, tracer: Any, instruments: _Instruments) -> None:
        self._tracer, self._instruments = tracer, instruments
        self._runs: dict[str, _Run] = {}
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        with self._lock:
            if isinstance(event, RunBegan):
                self._begin(event)
            elif (run := self._runs.get(event.run_id)) is not None:
                if isinstance(event, CallEnded):
                    self._call(run, event)
                elif isinstance(event, RowEnded):
                    self._row(run, event)
                else:
                    self._end(run, event)

    def _begin(self, event: RunBegan) -> None:
        attributes: dict[str, Any] = {
            "extract.run.id": event.run_id,
            "extract.job": event.job,
            "gen_ai.request.model": event.model,
        }
        if event.rows is not None:
            attributes["extract.rows"] = event.rows
        span = self._tracer.start_span(
            f"extract {event.job}", kind=SpanKind.INTERNAL, attributes=attributes, start_time=_nano(event.at)
        )
        self._runs[event.run_id] = _Run(span)

    def _call(self, run: _Run, event: CallEnded) -> None:
        self._let_go(run, event.key, event.about)
        call, model = event.call, event.request.envelope.model
        shared = _shared(event)
        span = self._tracer.start_span(
            f"chat {model}",
            context=trace.set_span_in_context(run.span),
            kind=SpanKind.CLIENT,
            attributes=shared | _asked(event) | _answered(event),
            start_time=_nano(call.started_at),
        )
        if isinstance(call.reply, Fault):
            span.set_status(Status(StatusCode.ERROR, call.reply.kind))
            shared = shared | {"error.type": call.reply.kind}
        ended = _nano(call.started_at + call.latency)
        run.waiting[event.key] = span, ended, isinstance(call.reply, Message)
        self._measure(event, shared)

    def _measure(self, event: CallEnded, shared: dict[str, Any]) -> None:
        instruments, usage = self._instruments, event.call.reply.usage
        instruments.duration.record(event.call.latency, shared)
        for kind, count in (("input", usage.total_input), ("output", usage.output)):
            if count is not None:
                instruments.tokens.record(count, shared | {"gen_ai.token.type": kind})
        if event.cost is not None:
            instruments.cost.add(float(event.cost), shared)

    def _row(self, run: _Run, event: RowEnded) -> None:
        outcome = event.outcome
        dead = isinstance(outcome, DeadLetter)
        self._let_go(run, outcome.key, outcome.findings if isinstance(outcome, DeadLetter) else ())
        state = {"extract.outcome": "dead_letter" if dead else "accepted"}
        reason = {"extract.reason": outcome.reason} if isinstance(outcome, DeadLetter) else {}
        self._instruments.rows.add(1, state | reason)

    def _let_go(self, run: _Run, key: str, findings: Iterable[Finding]) -> None:
        """Ends the span of a row's last request: by now it is known what was found."""
        waiting = run.waiting.pop(key, None)
        if waiting is None:
            return
        span, end, judged = waiting
        for finding in findings if judged else ():
            attributes = {"extract.finding.stage": finding.stage, "extract.finding.path": finding.path}
            span.add_event("extract.finding", attributes, timestamp=end)
        span.end(end_time=end)

    def _end(self, run: _Run, event: RunEnded) -> None:
        for key in list(run.waiting):
            self._let_go(run, key, ())
        counts = ("accepted", "reused", "dead_letters", "pending", "requests")
        run.span.set_attributes({f"extract.{name}": event.report[name] for name in counts})
        if event.failure is not None:
            run.span.record_exception(event.failure)
        if why := event.stopped or (type(event.failure).__name__ if event.failure else None):
            run.span.set_attribute("error.type", why)
            run.span.set_status(Status(StatusCode.ERROR, why))
        run.span.end(end_time=_nano(event.at))
        del self._runs[event.run_id]


def _shared(event: CallEnded) -> dict[str, Any]:
    """What spans and metrics have in common."""
    where = urlsplit(event.call.address)
    host = where.hostname or ""
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _provider(host),
        "gen_ai.request.model": event.request.envelope.model,
        "server.address": host,
        "server.port": where.port or (443 if where.scheme == "https" else 80),
    }


def _provider(host: str) -> str:
    known = {"anthropic.com": "anthropic", "moonshot.ai": "moonshot_ai", "openai.com": "openai"}
    return next((name for end, name in known.items() if host == end or host.endswith(f".{end}")), host)


def _asked(event: CallEnded) -> dict[str, Any]:
    return {
        "gen_ai.request.max_tokens": event.request.max_tokens,
        "gen_ai.output.type": "json",
        "extract.key": event.key,
        "extract.attempt": event.number,
        "extract.kind": event.kind,
    }


def _answered(event: CallEnded) -> dict[str, Any]:
    reply, status = event.call.reply, event.call.status
    told: dict[str, Any] = {"http.response.status_code": status, **_usage(reply.usage)}
    told["extract.request_id"] = event.call.request_id
    if isinstance(reply, Message):
        told |= {"gen_ai.response.id": reply.id, "gen_ai.response.model": reply.model}
        if reply.stop_reason:
            told["gen_ai.response.finish_reasons"] = (reply.stop_reason,)
    else:
        told["error.type"] = reply.kind
    return {name: value for name, value in told.items() if value is not None}


def _usage(usage: Usage) -> dict[str, int | None]:
    """Input includes what was written to the cache and read from it, which the service counts apart."""
    return {
        "gen_ai.usage.input_tokens": usage.total_input,
        "gen_ai.usage.cache_read.input_tokens": usage.cache_read,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write,
        "gen_ai.usage.output_tokens": usage.output,
        "gen_ai.usage.reasoning.output_tokens": usage.thinking,
    }


def _nano(seconds: float) -> int:
    return int(seconds * 1e9)
