"""Spans: their names, what stands in them, and that nothing which was written ever does."""

# nightly, or when these change: service/client/telemetry.py tests/adapter_env.py
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from tenure import ContextBudgetExhausted, InvalidInput, Memory, NotFound, Principal, connect
from tenure.service.client.telemetry import trace_memory
from tenure.tests.adapter_env import environment, run_in

CANARY = "canary-4711"
STEPS = [
    *("gather", "normalize", "resolve", "gate", "validate", "rank"),
    *("rescue", "convert", "contain", "order", "emit"),
]
NAMES = {
    *("upsert_memory", "search_memory", "delete_memory", "tenure.compile"),
    *(f"tenure.compile.{step}" for step in STEPS),
}


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def provider(exporter: InMemorySpanExporter) -> Iterator[TracerProvider]:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    yield provider
    provider.shutdown()


@pytest.fixture
def memory(provider: TracerProvider) -> Iterator[Memory]:
    with connect(":memory:") as memory:
        trace_memory(memory, provider)
        yield memory


def use_everything(memory: Memory) -> None:
    """Let the canary through every traced operation, and through refusals."""
    receipt = memory.write(f"Sam {CANARY}", "office", f"Room {CANARY}")
    memory.observe(f"I moved to {CANARY}.", speaker=f"Sam {CANARY}")
    memory.as_of().search(f"office {CANARY}")
    memory.compile("conversation", query=f"Where does Sam {CANARY} work?")
    with pytest.raises(InvalidInput):
        memory.write(f"Sam {CANARY}", "office", CANARY, valid_from=f"never {CANARY}")
    with pytest.raises(NotFound):
        memory.erase(entity=f"Nobody {CANARY}", reason=CANARY)
    memory.write(object_id=receipt.object_id, op="retract")
    memory.erase(receipt.object_id, reason=CANARY)


def spans_by_name(exporter: InMemorySpanExporter) -> dict[str, list[ReadableSpan]]:
    spans: dict[str, list[ReadableSpan]] = {}
    for span in exporter.get_finished_spans():
        spans.setdefault(span.name, []).append(span)
    return spans


def test_nothing_that_was_written_or_asked_stands_in_a_span(
    memory: Memory, exporter: InMemorySpanExporter
) -> None:
    use_everything(memory)
    assert spans_by_name(exporter).keys() == NAMES
    assert all(CANARY not in span.to_json() for span in exporter.get_finished_spans())


def test_spans_bear_the_names_of_the_conventions(
    memory: Memory, exporter: InMemorySpanExporter
) -> None:
    receipt = memory.write("Sam Rivera", "office", "Chicago")
    memory.bind(Principal(user="ann")).as_of().search("office")
    envelope = memory.compile("conversation", query="Where does Sam Rivera work?")
    memory.erase(entity="Sam Rivera", reason="asked for")

    spans = spans_by_name(exporter)
    (write,), (search,) = spans["upsert_memory"], spans["search_memory"]
    (compiled,), (erasure,) = spans["tenure.compile"], spans["delete_memory"]
    assert dict(write.attributes or {}) == {
        "gen_ai.operation.name": "upsert_memory",
        "gen_ai.memory.store.id": "default",
        "gen_ai.memory.record.id": receipt.object_id,
        "gen_ai.memory.record.count": 1,
    }
    assert search.name == "search_memory"
    assert (search.attributes or {})["gen_ai.memory.record.count"] == 1
    objects = len(envelope.trace.compiled_objects)
    assert (compiled.attributes or {})["tenure.compile.objects"] == objects > 0
    assert (compiled.attributes or {})["tenure.compile.tokens"] == envelope.tokens
    assert (erasure.attributes or {})["gen_ai.operation.name"] == "delete_memory"


def test_each_step_of_a_compile_is_a_child_of_its_span_in_their_order(
    memory: Memory, exporter: InMemorySpanExporter
) -> None:
    memory.write("Sam Rivera", "office", "Chicago")
    exporter.clear()
    memory.compile("conversation", query="Where does Sam Rivera work?")

    *steps, compiled = exporter.get_finished_spans()
    assert [span.name for span in steps] == [f"tenure.compile.{step}" for step in STEPS]
    assert compiled.context is not None
    for span in steps:
        assert span.parent is not None
        assert span.parent.span_id == compiled.context.span_id


def test_a_step_that_fails_is_told_by_its_code(
    memory: Memory, exporter: InMemorySpanExporter
) -> None:
    with pytest.raises(ContextBudgetExhausted):
        memory.compile("conversation", query=CANARY, user_request="go on " * 9_000)
    *_, failed, compiled = exporter.get_finished_spans()
    assert (failed.attributes or {})["error.type"] == (compiled.attributes or {})["error.type"]
    assert failed.name.startswith("tenure.compile.")
    assert failed.events == ()


def test_a_retraction_is_a_deletion(memory: Memory, exporter: InMemorySpanExporter) -> None:
    receipt = memory.write("Sam Rivera", "office", "Chicago")
    memory.write(object_id=receipt.object_id, op="retract")
    assert [span.name for span in exporter.get_finished_spans()] == [
        "upsert_memory",
        "delete_memory",
    ]


def test_a_refusal_is_told_by_its_code(memory: Memory, exporter: InMemorySpanExporter) -> None:
    with pytest.raises(NotFound):
        memory.erase("nothing", reason="asked for")
    (span,) = exporter.get_finished_spans()
    assert span.status.status_code is StatusCode.ERROR
    assert (span.attributes or {})["error.type"] == "unknown_object"
    assert span.events == ()
    assert span.status.description is None


def test_what_was_asked_is_told_where_content_is_asked_for(
    memory: Memory, provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    trace_memory(memory, provider, content=True)
    memory.as_of().search("office of Sam")
    (span,) = exporter.get_finished_spans()
    assert (span.attributes or {})["gen_ai.memory.query.text"] == "office of Sam"


COLLECTOR = """
import gzip, json, sys, threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tenure import connect
from tenure.service.client.telemetry import otlp_provider, trace_memory

bodies, paths = [], []

class Collector(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        bodies.append(gzip.decompress(body) if self.headers.get("content-encoding") else body)
        paths.append(self.path)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass

server = HTTPServer(("127.0.0.1", 0), Collector)
threading.Thread(target=server.serve_forever, daemon=True).start()
provider = otlp_provider(f"http://127.0.0.1:{server.server_port}")
with connect(":memory:") as memory:
    trace_memory(memory, provider)
    memory.write("Sam Rivera", "office", sys.argv[1])
    memory.as_of().search(sys.argv[1])
provider.shutdown()

names = []
for body in bodies:
    for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
        names += [span.name for scope in resource.scope_spans for span in scope.spans]
leaks = sum(sys.argv[1].encode() in body for body in bodies)
print(json.dumps({"names": names, "paths": sorted(set(paths)), "leaks": leaks}))
"""


@pytest.mark.nightly
def test_a_collector_gets_them_over_otlp(tmp_path: Path) -> None:
    script = tmp_path / "collector.py"
    script.write_text(COLLECTOR, encoding="utf-8")
    run = run_in(environment("otel"), str(script), CANARY, folder=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert json.loads(re.findall(r"^\{.*\}$", run.stdout, re.M)[-1]) == {
        "names": ["upsert_memory", "search_memory"],
        "paths": ["/v1/traces"],
        "leaks": 0,
    }
