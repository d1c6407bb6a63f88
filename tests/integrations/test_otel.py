"""Spans and metrics as the OpenTelemetry SDK collects them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from pydantic import BaseModel

from extract import Client, Pipeline, Prices
from extract.integrations.otel import instrument
from extract.testing import ScriptedReplies


class Slip(BaseModel):
    """One till slip."""

    shop: str
    total: int


class Collected:
    def __init__(self) -> None:
        self.exporter, self.reader = InMemorySpanExporter(), InMemoryMetricReader()
        self.tracers = TracerProvider()
        self.tracers.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.meters = MeterProvider([self.reader])

    @property
    def spans(self) -> list[Any]:
        return sorted(self.exporter.get_finished_spans(), key=lambda span: span.start_time)

    def points(self, name: str) -> list[Any]:
        data = self.reader.get_metrics_data()
        assert data is not None
        metrics = [m for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics]
        return [point for metric in metrics if metric.name == name for point in metric.data.data_points]


@pytest.fixture
def collected() -> Iterator[Collected]:
    found = Collected()
    leave = instrument(tracer_provider=found.tracers, meter_provider=found.meters)
    yield found
    leave()
    found.meters.shutdown()
    found.tracers.shutdown()


def message(text: str, **usage: int) -> dict[str, Any]:
    counts = {"input_tokens": 10, "cache_read_input_tokens": 300, "cache_creation_input_tokens": 40}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "kimi-k3.1-pro",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "usage": {**counts, "output_tokens": 20, "output_tokens_details": {"thinking_tokens": 5}, **usage},
    }


GOOD, BAD = '{"shop": "Alma", "total": 7}', '{"shop": "Alma", "total": "secret 7"}'


def run(script: ScriptedReplies, rows: int = 1, **settings: Any) -> Any:
    work = Pipeline(Slip, client=Client(script.base_url, api_key="k"), **settings)
    return work.run([{"id": n, "text": f"slip {n}"} for n in range(rows)], key="id", store=":memory:")


def test_one_trace_a_run_one_span_a_request_findings_as_events(collected: Collected) -> None:
    with ScriptedReplies([message(BAD), 500, message(GOOD)]) as script:
        run(script)
    root, bad, failed, good = collected.spans
    assert root.name == "extract Slip" and root.parent is None
    assert {span.context.trace_id for span in collected.spans} == {root.context.trace_id}
    assert all(span.parent.span_id == root.context.span_id for span in (bad, failed, good))
    assert bad.name == "chat kimi-k3.1-pro" and bad.kind.name == "CLIENT"
    assert [dict(event.attributes) for event in bad.events] == [
        {"extract.finding.stage": "schema", "extract.finding.path": "/total"}
    ]
    assert (failed.status.status_code, failed.attributes["http.response.status_code"]) == (
        StatusCode.ERROR,
        500,
    )
    assert failed.attributes["error.type"] and not failed.events
    assert good.status.is_ok and not good.events and good.attributes["extract.kind"] == "retry"
    assert root.attributes["extract.accepted"] == 1 and root.attributes["extract.requests"] == 3
    assert root.start_time <= bad.start_time <= bad.end_time <= root.end_time


def test_the_names_are_those_of_the_conventions(collected: Collected) -> None:
    with ScriptedReplies([message(GOOD)]) as script:
        run(script)
        port = int(script.base_url.rsplit(":", 1)[1])
    told = dict(collected.spans[1].attributes)
    assert (
        told.items()
        >= {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "127.0.0.1",
            "gen_ai.request.model": "kimi-k3.1-pro",
            "gen_ai.request.max_tokens": 8_192,
            "gen_ai.output.type": "json",
            "gen_ai.response.id": "msg_1",
            "gen_ai.response.model": "kimi-k3.1-pro",
            "gen_ai.response.finish_reasons": ("end_turn",),
            "gen_ai.usage.input_tokens": 350,  # with what was read from the cache and written to it
            "gen_ai.usage.cache_read.input_tokens": 300,
            "gen_ai.usage.cache_creation.input_tokens": 40,
            "gen_ai.usage.output_tokens": 20,
            "gen_ai.usage.reasoning.output_tokens": 5,
            "server.address": "127.0.0.1",
            "server.port": port,
        }.items()
    )


def test_metrics_count_tokens_time_rows_and_cost(collected: Collected) -> None:
    with ScriptedReplies([message(GOOD)]) as script:
        run(script, prices=Prices.listed())
    tokens = {
        point.attributes["gen_ai.token.type"]: point.sum
        for point in collected.points("gen_ai.client.token.usage")
    }
    assert tokens == {"input": 350, "output": 20}
    (duration,) = collected.points("gen_ai.client.operation.duration")
    assert duration.count == 1 and duration.sum > 0
    (rows,) = collected.points("extract.rows")
    assert (rows.value, dict(rows.attributes)) == (1, {"extract.outcome": "accepted"})
    assert collected.points("extract.cost")[0].value > 0


def test_no_text_of_rows_or_answers_leaves(collected: Collected) -> None:
    with ScriptedReplies([message(BAD)] * 3) as script:
        found = run(script)
    assert found.report.dead_letters == 1
    told = " ".join(span.to_json() for span in collected.spans)
    assert "secret" not in told and "slip 0" not in told and "Alma" not in told
    assert len(collected.spans[-1].events) == 1
    (rows,) = collected.points("extract.rows")
    assert rows.attributes["extract.reason"] == "invalid"


def test_a_stopped_run_is_an_error_and_a_span_around_is_the_parent(collected: Collected) -> None:
    tracer = collected.tracers.get_tracer("app")
    with ScriptedReplies([401]) as script, tracer.start_as_current_span("nightly"):
        run(script)
    nightly, root, _ = collected.spans
    assert root.parent.span_id == nightly.context.span_id
    assert root.status.status_code is StatusCode.ERROR and root.attributes["error.type"] == "key"


def test_without_a_provider_nothing_happens(tmp_path: Path) -> None:
    leave = instrument()
    try:
        with ScriptedReplies([message(GOOD)]) as script:
            assert run(script).report.accepted == 1
    finally:
        leave()
