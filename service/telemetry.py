"""Spans by OpenTelemetry, under the names of its conventions for memories (GenAI, development).

`trace_memory(memory)` sends a span of each write, search, erasure and compile to the process's
tracer provider; `otlp_provider` makes one that speaks OTLP, as the setting `telemetry.otlp` does
for the command line. Spans hold ids, counts and codes of refusals. What was written or asked is
in none of them, unless `content` says that queries may be. All names of the conventions stand
here, for they have changed before.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Final

from opentelemetry import trace
from opentelemetry.trace import SpanKind, Status, StatusCode

from ..schema.errors import TenureError, Unavailable
from .backend.caller import backend_of
from .backend.spans import COMPILE, OperationSpan

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider as SdkTracerProvider
    from opentelemetry.trace import TracerProvider

    from .client.memory import Memory

OPERATION: Final = "gen_ai.operation.name"
STORE_ID: Final = "gen_ai.memory.store.id"
RECORD_ID: Final = "gen_ai.memory.record.id"
RECORD_COUNT: Final = "gen_ai.memory.record.count"
QUERY_TEXT: Final = "gen_ai.memory.query.text"
ERROR_TYPE: Final = "error.type"


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
    try:
        exporters = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as error:
        raise Unavailable(
            f"{error.name} is not installed; run: pip install 'tenure[otel]'",
            code="extra_missing",
        ) from error

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

    def operation(self, name: str, store: str) -> AbstractContextManager[OperationSpan]:
        """Return what lasts as long as an operation on the store of a tenant."""
        return self._operation(name, store)

    @contextmanager
    def _operation(self, name: str, store: str) -> Generator[OperationSpan]:
        attributes = {OPERATION: name, STORE_ID: store}

        # An exception's text may repeat what was written: its code alone is told.
        with self._tracer.start_as_current_span(
            name,
            kind=SpanKind.INTERNAL,
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            try:
                yield _OtelSpan(span, self._content)

            except TenureError as error:
                span.set_attribute(ERROR_TYPE, error.code)
                span.set_status(Status(StatusCode.ERROR))
                raise

            except BaseException as error:
                span.set_attribute(ERROR_TYPE, type(error).__qualname__)
                span.set_status(Status(StatusCode.ERROR))
                raise


class _OtelSpan:
    """One span, filled with what may stand in it."""

    def __init__(self, span: trace.Span, content: bool) -> None:
        self._span = span
        self._content = content

    def records(self, object_ids: Iterable[str]) -> None:
        """Tell which objects it wrote or found: how many, and which one where it is one."""
        ids = tuple(object_ids)

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
