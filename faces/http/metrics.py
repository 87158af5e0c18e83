"""Figures for Prometheus, at a port of their own that answers loopback alone.

They count requests by route, method and status, never by tenant, user or entity: a figure must not
say who is known here. The route is its pattern, so that no id of an address becomes a label.

The heap of the process: memory that was freed is found again instead of asked for anew.

The C library gives threads heaps of their own, eight for each core, and what one of them freed no
other takes. Forty threads that answer calls in turn so hold many times what they use. Python's
lock lets one of them run at a time, and one heap costs a call no more CPU.
"""

from __future__ import annotations

import ctypes
import platform
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, URLPath
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, NoMatchFound, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .config import LOOPBACK, host_name

if TYPE_CHECKING:
    from ...service.backend.backend import Backend

_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_NO_ROUTE: Final = "none"
_METHODS: Final = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"})


class CacheFigures(Collector):
    """What the caches of one server take, asked for when Prometheus asks."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def collect(self) -> Iterator[Metric]:
        """Yield what each cache takes and what it may take, by its name."""
        used = GaugeMetricFamily(
            "tenure_cache_bytes", "What a cache takes in memory.", labels=("cache",)
        )
        bound = GaugeMetricFamily(
            "tenure_cache_bound_bytes", "What a cache may take in memory.", labels=("cache",)
        )
        for name, size in sorted(self._backend.used_bytes().items()):
            used.add_metric((name,), size)
            bound.add_metric((name,), self._backend.caches.most_bytes(name))
        yield used
        yield bound


class RequestFigures:
    """What one server counts."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "tenure_requests",
            "Requests by route, method and status.",
            ("route", "method", "status"),
            registry=self.registry,
        )
        self.seconds = Histogram(
            "tenure_request_seconds",
            "How long the answers of a route took.",
            ("route",),
            buckets=_BUCKETS,
            registry=self.registry,
        )


class CountedRoute(Route):
    """A route whose pattern its requests are counted under.

    FastAPI puts the route into the scope of a request, and Starlette's own does not.
    """

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Tell whether a request is meant, and say so in its scope."""
        match, child_scope = super().matches(scope)
        return match, {**child_scope, "route": self}


class LiteralRoutes(BaseRoute):
    """Routes whose paths have no parameters, found in one step.

    A router tries its routes one after another, each by a pattern: with a hundred calls that is a
    tenth of what a read of one fact costs.
    """

    def __init__(self, routes: Iterable[CountedRoute]) -> None:
        self.routes = {route.path: route for route in routes}

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Tell whether a request is meant, and for which route."""
        if scope["type"] != "http":
            return Match.NONE, {}

        path = str(scope["path"]).removeprefix(scope.get("root_path", ""))
        route = self.routes.get(path)
        return (Match.NONE, {}) if route is None else route.matches(scope)

    def url_path_for(self, name: str, /, **path_params: Any) -> URLPath:
        """Decline to name an address: the table of calls does.

        Raises:
            NoMatchFound: always.
        """
        raise NoMatchFound(name, path_params)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer by the route that was found."""
        route: CountedRoute = scope["route"]
        await route.handle(scope, receive, send)


class Meter:
    """Counts every request that passes, and tells whoever traces of it."""

    def __init__(
        self, app: ASGIApp, figures: RequestFigures, backend: Backend, *, port: int | None
    ) -> None:
        self._app = app
        self._figures = figures
        self._backend = backend
        self._port = port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        if self._port is not None and (scope.get("server") or (None, None))[1] == self._port:
            await self._answer_figures(scope, receive, send)
            return

        # A method that a stranger made up would be a row of its own for good.
        method = scope["method"] if scope["method"] in _METHODS else "other"
        start_s = time.perf_counter()
        statuses: list[int] = []

        async def counting_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])
            await send(message)

        # The threads that answer inherit the context, so that what the call does is a part of it.
        with self._backend.span_of_request(method, Headers(scope=scope)) as span:
            try:
                await self._app(scope, receive, counting_send)
            finally:
                route = getattr(scope.get("route"), "path", _NO_ROUTE)
                status = statuses[0] if statuses else 500
                self._figures.requests.labels(route, method, str(status)).inc()
                self._figures.seconds.labels(route).observe(time.perf_counter() - start_s)
                if span is not None:
                    span.finish(route, status)

    async def _answer_figures(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = Response("GET /metrics", status_code=404)
        if host_name(Headers(scope=scope).get("host", "")) not in LOOPBACK:
            response = Response("figures are for this machine alone", status_code=421)
        elif scope["path"] == "/metrics" and scope["method"] in ("GET", "HEAD"):
            body = await run_in_threadpool(generate_latest, self._figures.registry)
            response = Response(body, media_type=CONTENT_TYPE_LATEST)
        await response(scope, receive, send)


_M_ARENA_MAX: Final = -8
"""The name of the setting in `malloc.h`."""
_HEAPS: Final = 1


def share_heap() -> bool:
    """Let all threads share one heap, before they begin; tell whether the C library knows how."""
    if platform.libc_ver()[0] != "glibc":
        return False
    return bool(ctypes.CDLL(None).mallopt(_M_ARENA_MAX, _HEAPS))
