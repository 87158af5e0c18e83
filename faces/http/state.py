"""What every route of one app shares: its settings, its memories and its templates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection

from .config import ServerSettings
from .connections import CallPace
from .heavy_calls import HeavyCalls
from .memories import Memories
from .metrics import RequestFigures
from .queue_order import QueueOrders
from .readiness import Readiness

if TYPE_CHECKING:
    from .issuer import IdTokens


@dataclass(slots=True)
class ServerState:
    """The state of one app; set up once, before the first request."""

    settings: ServerSettings
    memories: Memories
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
        self.readiness = Readiness(self.memories, self.settings.steward.tenant)


def state_of(request: HTTPConnection) -> ServerState:
    """The state of the app that a request came to."""
    state: ServerState = request.app.state.tenure
    return state
