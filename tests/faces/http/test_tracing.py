"""Spans of a served memory: a request goes on with the trace that its caller names."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx2
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

import tenure
from tenure.service.client.telemetry import trace_memory
from tenure.tests.faces.http.served import serving

CANARY = "canary-4711"
TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
NAMED = {"traceparent": f"00-{TRACE}-{CALLER}-01", "baggage": f"user={CANARY}"}


class Traced(NamedTuple):
    """A server that is traced, a client of it, and what was traced."""

    http: httpx2.Client
    exporter: InMemorySpanExporter

    def spans(self, *, requests: int = 1) -> dict[str, ReadableSpan]:
        """What ended, by name; that of a request ends a moment after its answer is read."""
        deadline_s = time.monotonic() + 10
        while True:
            spans = {span.name: span for span in self.exporter.get_finished_spans()}
            ended = [span for span in spans.values() if span.kind is SpanKind.SERVER]
            if len(ended) >= requests or time.monotonic() > deadline_s:
                return spans
            time.sleep(0.01)


@pytest.fixture
def traced(tmp_path: Path) -> Iterator[Traced]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with tenure.connect(str(tmp_path / "team.db")) as memory:
        trace_memory(memory, provider)
        with serving(memory, tmp_path) as server:
            headers = {"authorization": f"Bearer {server.owner_key()}"}
            with httpx2.Client(base_url=server.url, headers=headers) as http:
                yield Traced(http, exporter)
    provider.shutdown()


def parent_id(span: ReadableSpan) -> str:
    assert span.parent is not None
    return f"{span.parent.span_id:016x}"


def own_id(span: ReadableSpan) -> str:
    assert span.context is not None
    return f"{span.context.span_id:016x}"


def test_a_call_goes_on_with_the_trace_of_its_caller(traced: Traced) -> None:
    fact = {"subject": f"Sam {CANARY}", "slot": "office", "value": CANARY}
    key = {"idempotency-key": "first"}
    traced.http.post("/v1/write", json=fact, headers=NAMED | key).raise_for_status()

    spans = traced.spans()
    request, write = spans["POST /v1/write"], spans["upsert_memory"]
    assert request.kind is SpanKind.SERVER
    assert dict(request.attributes or {}) == {
        "http.request.method": "POST",
        "http.route": "/v1/write",
        "http.response.status_code": 200,
    }
    assert parent_id(request) == CALLER
    assert parent_id(write) == own_id(request)
    traces = {span.context.trace_id for span in spans.values() if span.context is not None}
    assert {f"{trace:032x}" for trace in traces} == {TRACE}
    assert all(CANARY not in span.to_json() for span in spans.values())


def test_the_stages_of_a_compile_over_http_stand_in_that_trace_too(traced: Traced) -> None:
    question = {"task": "conversation", "query": f"Where is {CANARY}?"}
    traced.http.post("/v1/compile", json=question, headers=NAMED).raise_for_status()
    spans = traced.spans()
    compiled = spans["tenure.compile"]
    stages = [span for name, span in spans.items() if name.startswith("tenure.compile.")]
    assert len(stages) == 11
    assert {parent_id(span) for span in stages} == {own_id(compiled)}
    assert parent_id(compiled) == own_id(spans["POST /v1/compile"])
    assert all(CANARY not in span.to_json() for span in spans.values())


def test_a_header_that_names_no_trace_begins_one(traced: Traced) -> None:
    traced.http.get("/v1/version", headers={"traceparent": "00-not-a-trace"}).raise_for_status()
    traced.http.get(f"/{CANARY}", headers={"host": f"{CANARY}.example"})
    spans = traced.spans(requests=2)
    assert spans["GET /v1/version"].parent is None
    assert (spans["GET none"].attributes or {})["http.response.status_code"] == 421
    assert all(CANARY not in span.to_json() for span in spans.values())


def test_a_refusal_is_no_fault_of_the_server(traced: Traced) -> None:
    answer = traced.http.post("/v1/compile", json={"task": CANARY}, headers=NAMED)
    assert answer.status_code == 422
    spans = traced.spans()
    assert spans["POST /v1/compile"].status.status_code is StatusCode.UNSET
    assert (spans["tenure.compile"].attributes or {})["error.type"] == "unknown_vocabulary"
    assert all(CANARY not in span.to_json() for span in spans.values())
