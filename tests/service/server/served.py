"""A server on loopback in a thread of the test: what a client really speaks to."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import uvicorn

import tenure
from tenure.schema.principal import Principal
from tenure.service.calls.table import Permit
from tenure.service.cli.serve import listening_socket
from tenure.service.server.app import build_app
from tenure.service.server.config import ServerSettings
from tenure.service.server.control import ControlFile
from tenure.service.server.keys import KeyRing

ALL_PERMITS = tuple(permit.value for permit in Permit)


class RunningServer(NamedTuple):
    """A running server: its address, its owner's memory and its keys."""

    url: str
    memory: tenure.Memory
    ring: KeyRing
    control: ControlFile

    def key(self, *permits: str, **principal: Any) -> str:
        """Return a key of a caller; without permits one that is allowed everything."""
        fields = {"tenant": self.memory.principal.tenant, **principal}
        return self.ring.create(Principal(**fields), permits or ALL_PERMITS)

    def owner_key(self) -> str:
        """Return a key that may do whatever a key can."""
        return self.key(
            user="olga",
            roles={"owner", "admin"},
            clearance="highly_restricted",
            source_kinds={"system_of_record"},
        )


@contextmanager
def serving(memory: tenure.Memory, folder: Path, **options: Any) -> Iterator[RunningServer]:
    control = ControlFile(folder / "control.db")
    with listening_socket("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        steward = Principal(tenant=memory.principal.tenant, user="steward", roles={"steward"})
        settings = ServerSettings(
            memory=memory, control=control, steward=steward, port=port, **options
        )
        config = uvicorn.Config(build_app(settings), log_level="error", access_log=False)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            yield RunningServer(f"http://127.0.0.1:{port}", memory, KeyRing(control), control)
        finally:
            server.should_exit = True
            thread.join()
            control.close()
