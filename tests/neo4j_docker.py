"""A Neo4j server in a container, through testcontainers where it is installed.

The Bolt port is bound to a fixed free one, because a container that starts again would get
another. testcontainers waits for the line that opens the HTTP interface, so HTTP stays on.
"""

import importlib
import os
import socket
from typing import Any
from urllib.parse import urlsplit

from tenure.schema.errors import Unavailable
from tenure.tests.neo4j_process import ServerFailed, free_port, wait_ready

PASSWORD = "tenure-test-pw"
SETTINGS = {
    "NEO4J_server_memory_heap_max__size": "2g",
    "NEO4J_server_memory_pagecache_size": "128m",
    "NEO4J_db_transaction_timeout": "300s",
    "NEO4J_db_lock_acquisition_timeout": "30s",
    "NEO4J_dbms_usage__report_enabled": "false",
}


class ImageMissing(Exception):
    """The engine has no such image and cannot pull it."""


def docker_engine() -> str | None:
    """Return None when a Docker engine can be used, else the reason why not."""
    try:
        importlib.import_module("testcontainers.community.neo4j")
        docker = importlib.import_module("docker")
    except ImportError as missing:
        return f"the package {missing.name!r} is not installed"
    if not _may_answer(os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")):
        return "no Docker engine answers"
    try:
        client = docker.from_env(timeout=5)
        client.ping()
        client.close()
    except docker.errors.DockerException as silent:
        return f"no Docker engine answers ({silent})"
    return None


def _may_answer(host: str) -> bool:
    address = urlsplit(host)
    if address.scheme != "unix":
        return True
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(address.path) == 0


class DockerServer:
    """The official image of one version, in a container of its own."""

    provider = "docker"
    restartable = True

    def __init__(self, version: str) -> None:
        module = importlib.import_module("testcontainers.community.neo4j")
        port = free_port()
        container: Any = module.Neo4jContainer(f"neo4j:{version}", password=PASSWORD)
        container.with_bind_ports(7687, port)
        for name, value in SETTINGS.items():
            container.with_env(name, value)
        self._container = container
        self.auth: tuple[str, str] | None = ("neo4j", PASSWORD)
        try:
            container.start()
        except importlib.import_module("docker").errors.APIError as refused:
            raise ImageMissing(f"neo4j:{version} cannot be started: {refused}") from refused
        self.uri = f"bolt://{container.get_container_host_ip()}:{port}"
        self.version = version
        self.version = self._ready()

    def stop(self) -> None:
        self._container.get_wrapped_container().stop(timeout=60)

    def kill(self) -> None:
        self._container.get_wrapped_container().kill()

    def restart(self) -> None:
        self._container.get_wrapped_container().restart(timeout=60)
        self._ready()

    def close(self) -> None:
        self._container.stop()  # testcontainers removes container and volumes

    def log_tail(self, lines: int = 30) -> str:
        output = self._container.get_wrapped_container().logs(tail=lines)
        return bytes(output).decode(errors="replace")

    def _ready(self) -> str:
        try:
            return wait_ready(self.uri, self.auth).version
        except Unavailable as mute:
            raise ServerFailed(f"neo4j:{self.version}: {mute}\n{self.log_tail()}") from mute
