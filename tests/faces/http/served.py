"""A server on loopback in a thread of the test: what a client really speaks to."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import uvicorn

import tenure
from tenure.faces.http.app import build_app
from tenure.faces.http.command import listening_socket
from tenure.faces.http.config import ServerSettings
from tenure.faces.http.connections import server_config
from tenure.faces.http.control import ControlFile
from tenure.faces.http.keys import KeyRing
from tenure.schema.principal import Principal
from tenure.service.calls.table import Permit

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
def serving(
    memory: tenure.Memory, folder: Path, control_name: str = "control.db", **options: Any
) -> Iterator[RunningServer]:
    control = ControlFile(folder / control_name)
    with listening_socket("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        steward = Principal(tenant=memory.principal.tenant, user="steward", roles={"steward"})
        fields = {"steward": steward, **options}
        settings = ServerSettings(memory=memory, control=control, port=port, **fields)
        server = uvicorn.Server(server_config(build_app(settings)))
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


def client(server: RunningServer, key: str = "") -> httpx2.Client:
    """A client of a server, with a key if one is given."""
    headers = {"authorization": f"Bearer {key}"} if key else {}
    return httpx2.Client(base_url=server.url, headers=headers, timeout=30, verify=False)
