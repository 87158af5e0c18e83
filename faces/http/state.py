"""What every route of one app shares: its settings, with the open store, and its counters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from fastapi.routing import APIRoute
from starlette.requests import HTTPConnection

from .config import ServerSettings
from .connections import CallPace
from .credential import IdTokens
from .heavy_calls import HeavyCalls
from .metrics import RequestFigures
from .queue_order import QueueOrders
from .readiness import Readiness


@dataclass(slots=True)
class ServerState:
    """The state of one app; set up once, before the first request."""

    settings: ServerSettings
    id_tokens: IdTokens | None = None
    """Who reads the id tokens of an issuer; None without one."""
    figures: RequestFigures = field(default_factory=RequestFigures)
    """What is counted for Prometheus."""
    announce: Callable[[str], None] = print
    """Tells the person at the terminal a sentence."""
    pace: CallPace = field(init=False)
    heavy_calls: HeavyCalls = field(default_factory=HeavyCalls)
    readiness: Readiness = field(init=False)
    queue_orders: QueueOrders = field(default_factory=QueueOrders)

    def __post_init__(self) -> None:
        self.pace = CallPace(self.settings.calls_per_minute)
        self.readiness = Readiness(self.settings.memory, self.settings.steward.tenant)


def state_of(request: HTTPConnection) -> ServerState:
    """The state of the app that a request came to."""
    return cast("ServerState", request.app.state.tenure)


class HeadedRoute(APIRoute):
    """A route that answers HEAD wherever it answers GET; the server leaves the body out."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        methods = self.methods or set()
        if "GET" in methods:
            self.methods = methods | {"HEAD"}
