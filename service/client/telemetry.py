"""Spans by OpenTelemetry, under the names of its conventions for memories (GenAI, development).

`trace_memory(memory)` sends a span of each write, search, erasure and compile to the process's
tracer provider, with a child for the gathering and for each stage of a compile. Served over HTTP, a
request has a span too, in the trace that its `traceparent` names (W3C Trace Context).
`otlp_provider` makes one that speaks OTLP, as the setting `telemetry.otlp` does
for the command line. Spans hold ids, counts and codes of refusals. What was written or asked is
in none of them, unless `content` says that queries may be. All names of the conventions stand
here, for they have changed before.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Final

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from ...schema.errors import TenureError
from ..backend.backend import COMPILE, OperationSpan, RequestSpan
from ..backend.caller import backend_of
from ..backend.files import needs_extra

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider as SdkTracerProvider
    from opentelemetry.trace import TracerProvider

    from .memory import Memory

OPERATION: Final = "gen_ai.operation.name"
STORE_ID: Final = "gen_ai.memory.store.id"
RECORD_ID: Final = "gen_ai.memory.record.id"
RECORD_COUNT: Final = "gen_ai.memory.record.count"
QUERY_TEXT: Final = "gen_ai.memory.query.text"
ERROR_TYPE: Final = "error.type"
HTTP_METHOD: Final = "http.request.method"
HTTP_ROUTE: Final = "http.route"
HTTP_STATUS: Final = "http.response.status_code"
_SERVER_FAULT: Final = 500
_TRACE_CONTEXT: Final = TraceContextTextMapPropagator()
"""The trace of the caller alone: its baggage is text of others, which no span of ours repeats."""


def trace_memory(
    memory: Memory, provider: TracerProvider | None = None, *, content: bool = False
) -> None:
    """Send spans of a memory, and of all that are bound from it, to a tracer provider.

    `provider` is the process's own by default. With `content` a span also holds what was asked.
    """
    backend_of(memory).spans = OtelSpans(provider or trace.get_tracer_provider(), content=content)


def otlp_provider(address: str) -> SdkTracerProvider:
    """A provider that sends what it gets to an OTLP address over HTTP, in the background.

    `address` is that of a collector, such as `http://localhost:4318`. Whoever made it ends it
    by `shutdown()`, which sends what waits.

    Raises:
        Unavailable: `extra_missing`.
    """
    with needs_extra("otel"):
        exporters = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": "tenure"}))
    # The address is that of the collector; its path for traces is a part of the protocol.
    exporter = exporters.OTLPSpanExporter(endpoint=f"{address.rstrip('/')}/v1/traces")

    provider.add_span_processor(BatchSpanProcessor(exporter))

    return provider


class OtelSpans:
    """What a backend tells, as spans of a tracer."""

    def __init__(self, provider: TracerProvider, *, content: bool) -> None:
        self._tracer = provider.get_tracer("tenure")
        self._content = content

    @contextmanager
    def operation(self, name: str, store: str) -> Generator[OperationSpan]:
        """Last as long as an operation on the store of a tenant."""
        attributes = {OPERATION: name, STORE_ID: store}
        with self._lasting(name, SpanKind.INTERNAL, attributes) as span:
            yield _OtelSpan(span, self._content)

    def step(self, name: str) -> AbstractContextManager[object]:
        """Return what lasts as long as a step of the compile that runs."""
        return self._lasting(f"{COMPILE}.{name}", SpanKind.INTERNAL, {})

    @contextmanager
    def request(self, method: str, headers: Mapping[str, str]) -> Generator[RequestSpan]:
        """Last as long as a request over HTTP, in the trace that its headers name."""
        # A malformed `traceparent` names nothing: then the request begins a trace of its own.
        parent = _TRACE_CONTEXT.extract(headers)
        attributes = {HTTP_METHOD: method}
        with self._lasting(method, SpanKind.SERVER, attributes, parent) as span:
            yield _OtelRequest(span, method)

    @contextmanager
    def _lasting(
        self,
        name: str,
        kind: SpanKind,
        attributes: Mapping[str, str],
        parent: Context | None = None,
    ) -> Generator[trace.Span]:
        """A span, the parent of those begun meanwhile; without `parent`, of the trace so far.

        An exception's text may repeat what was written: its code alone is told.
        """
        with self._tracer.start_as_current_span(
            name,
            parent,
            kind=kind,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield span
            except BaseException as error:
                code = type(error).__qualname__
                if isinstance(error, TenureError):
                    code = error.code
                span.set_attribute(ERROR_TYPE, code)
                span.set_status(Status(StatusCode.ERROR))
                raise


class _OtelSpan:
    """One span, filled with what may be in it."""

    def __init__(self, span: trace.Span, content: bool) -> None:
        self._span = span
        self._content = content

    def records(self, object_ids: Iterable[str]) -> None:
        """Tell which objects it wrote or found: how many, and which one where it is one."""
        ids = tuple(object_ids)

        # One id tells a trace which object; of many the count is what a chart can use.
        self._span.set_attribute(RECORD_COUNT, len(ids))
        if len(ids) == 1:
            self._span.set_attribute(RECORD_ID, ids[0])

    def query(self, text: str) -> None:
        """Tell what was asked, where content was asked for."""
        if self._content:
            self._span.set_attribute(QUERY_TEXT, text)

    def figures(self, **figures: int) -> None:
        """Tell numbers of it, by name."""
        for name, figure in figures.items():
            self._span.set_attribute(f"{COMPILE}.{name}", figure)


class _OtelRequest:
    """The span of a request, filled when it is answered."""

    def __init__(self, span: trace.Span, method: str) -> None:
        self._span = span
        self._method = method

    def finish(self, route: str, status: int) -> None:
        """Tell which route answered it, by its pattern, and how.

        The address itself may hold names, and its pattern never does.
        """
        # Which route answers is known only when it has: until then the span bears the method alone.
        self._span.update_name(f"{self._method} {route}")
        self._span.set_attribute(HTTP_ROUTE, route)
        self._span.set_attribute(HTTP_STATUS, status)
        if status >= _SERVER_FAULT:
            self._span.set_status(Status(StatusCode.ERROR))
