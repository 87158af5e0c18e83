"""A Neo4j server for the tests and for developers, from wherever one can be had.

    with running_server("5.26.29") as server:
        neo4j.GraphDatabase.driver(server.uri, auth=server.auth)

Providers are tried in this order: `uri` (the server at NEO4J_URI, with NEO4J_USER and
NEO4J_PASSWORD), `docker` (an image, when a Docker engine answers), `maven` (the Community jars
from Maven Central, run by a Java of this machine). `TENURE_NEO4J_PROVIDER` forces one of them,
or `none`. What cannot be used says why in `NoServer`; what was asked for by name and is dead
raises `ServerFailed`, so that a broken server never looks like a skipped test.

Run as a script it starts a server, prints the address and waits for Ctrl-C:

    python -P -m tenure.tests.neo4j_server --version 2026.08.1
"""

import argparse
import contextlib
import os
import shutil
import signal
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from tenure.schema.errors import TenureError
from tenure.tests.fetched import FetchFailed, fetched_folder, run_fetcher
from tenure.tests.neo4j_docker import DockerServer, ImageMissing, docker_engine
from tenure.tests.neo4j_java import find_java
from tenure.tests.neo4j_process import LocalServer, ServerFailed, wait_ready

DEFAULT_VERSION = "5.26.29"
VERSIONS = (DEFAULT_VERSION, "2026.08.1")
FETCH_TIMEOUT_S = 600.0
GIVEN_TIMEOUT_S = 10.0
POM = Path(__file__).with_name("neo4j_pom.xml")


class Provider(StrEnum):
    """Where a server comes from."""

    URI = "uri"
    DOCKER = "docker"
    MAVEN = "maven"
    NONE = "none"


class NoServer(Exception):
    """There is no server to be had here; the message lists the reason of every provider."""


class Unusable(Exception):
    """One provider cannot be used on this machine, for the reason in the message."""


class Server(Protocol):
    """A running server, whoever started it."""

    uri: str
    """The Bolt address."""
    auth: tuple[str, str] | None
    """User and password, None where the server asks for none."""
    version: str
    """What the server says it is, `5.26.29`."""
    provider: str
    """The value of its `Provider`."""
    restartable: bool
    """Whether `stop`, `kill` and `restart` work: not with somebody else's server."""

    def stop(self) -> None:
        """Shut down in order; the data stay for `restart`."""

    def kill(self) -> None:
        """End at once, as by a crash; the data stay for `restart`."""

    def restart(self) -> None:
        """Start on the same data and address; return when it answers."""

    def close(self) -> None:
        """End for good and remove the data, unless the server is somebody else's."""

    def log_tail(self, lines: int = 30) -> str:
        """Return the end of the server's log, empty where it cannot be seen."""
        ...


class GivenServer:
    """The server at NEO4J_URI: never started or stopped by the tests."""

    provider = "uri"
    restartable = False

    def __init__(self, uri: str, auth: tuple[str, str] | None) -> None:
        self.uri = uri
        self.auth = auth
        try:
            self.version = wait_ready(uri, auth, timeout_s=GIVEN_TIMEOUT_S).version
        except TenureError as dead:
            raise ServerFailed(f"NEO4J_URI is set, but its server cannot be used: {dead}") from dead

    def stop(self) -> None:
        raise ServerFailed(f"{self.uri} is not ours to stop")

    def kill(self) -> None:
        raise ServerFailed(f"{self.uri} is not ours to kill")

    def restart(self) -> None:
        raise ServerFailed(f"{self.uri} is not ours to restart")

    def close(self) -> None:
        """Leave the server as it is."""

    def log_tail(self, lines: int = 30) -> str:
        return ""


def providers(environ: Mapping[str, str]) -> tuple[Provider, ...]:
    """Return the providers to try, in order.

    Raises:
        ServerFailed: TENURE_NEO4J_PROVIDER names none that exists.
    """
    forced = environ.get("TENURE_NEO4J_PROVIDER", "")
    if not forced:
        return (Provider.URI, Provider.DOCKER, Provider.MAVEN)
    if forced not in list(Provider):
        known = ", ".join(Provider)
        raise ServerFailed(f"TENURE_NEO4J_PROVIDER={forced!r}: it is one of {known}")
    return () if forced == Provider.NONE else (Provider(forced),)


def is_required(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether a missing server is a failure rather than a skip."""
    return environ.get("TENURE_REQUIRE_NEO4J", "") not in {"", "0"}


def wanted_version(environ: Mapping[str, str] = os.environ) -> str:
    """Return the version that the tests are run against."""
    return environ.get("TENURE_NEO4J_VERSION") or DEFAULT_VERSION


Starter = Callable[[str, Mapping[str, str]], Server]


def find_server(
    version: str = DEFAULT_VERSION,
    *,
    environ: Mapping[str, str] = os.environ,
    starters: Mapping[Provider, Starter] | None = None,
) -> Server:
    """Return a server that answers; the caller closes it.

    A server at NEO4J_URI has the version it has.

    Raises:
        NoServer: no provider can be used; lists every reason.
        ServerFailed: one that should work does not.
    """
    starters = STARTERS if starters is None else starters
    reasons: list[str] = []
    for provider in providers(environ):
        try:
            return starters[provider](version, environ)
        except Unusable as unusable:
            reasons.append(f"{provider}: {unusable}")
    why = "; ".join(reasons) or "TENURE_NEO4J_PROVIDER=none"
    raise NoServer(f"no Neo4j {version} for this test: {why}")


@contextlib.contextmanager
def running_server(version: str = DEFAULT_VERSION) -> Iterator[Server]:
    """Find a server and close it at the end."""
    server = find_server(version)
    try:
        yield server
    finally:
        server.close()


def start_given(version: str, environ: Mapping[str, str]) -> Server:
    """Use the server at NEO4J_URI."""
    uri = environ.get("NEO4J_URI", "")
    if not uri:
        raise Unusable("NEO4J_URI is not set")
    password = environ.get("NEO4J_PASSWORD")
    user = environ.get("NEO4J_USER") or environ.get("NEO4J_USERNAME") or "neo4j"
    return GivenServer(uri, None if password is None else (user, password))


def start_docker(version: str, environ: Mapping[str, str]) -> Server:
    """Start the image of the version."""
    engine = docker_engine()
    if engine is not None:
        raise Unusable(engine)
    try:
        return DockerServer(version)
    except ImageMissing as missing:
        raise Unusable(str(missing)) from missing


def start_maven(version: str, environ: Mapping[str, str]) -> Server:
    """Run the jars of the version."""
    server = local_server(version, environ=environ)
    with contextlib.ExitStack() as undo:
        undo.callback(server.close)
        server.start()
        undo.pop_all()
    return server


STARTERS: Mapping[Provider, Starter] = {
    Provider.URI: start_given,
    Provider.DOCKER: start_docker,
    Provider.MAVEN: start_maven,
}


def local_server(
    version: str,
    *,
    environ: Mapping[str, str] = os.environ,
    port: int | None = None,
    conf: Mapping[str, str] | None = None,
) -> LocalServer:
    """Return a server of this machine that is not started yet.

    Raises:
        Unusable: there is no Java for it, or its jars cannot be fetched.
    """
    java = find_java(version, environ=environ)
    if isinstance(java, str):
        raise Unusable(java)
    return LocalServer(version, lib=server_jars(version), java=java, port=port, conf=conf)


def server_jars(version: str, *, root: Path | None = None) -> Path:
    """Return the folder of the version's jars, fetching them on first use.

    Raises:
        Unusable: they are not there, and cannot be fetched.
    """

    def fill(folder: Path) -> None:
        maven = shutil.which("mvn")
        if maven is None:
            raise FetchFailed("`mvn` is not installed")
        shutil.copy(POM, folder / "pom.xml")
        wanted = (f"-Dneo4j.version={version}", f"-Dtenure.lib={folder / 'lib'}")
        run_fetcher([maven, "-B", "-q", "package", *wanted], cwd=folder, timeout_s=FETCH_TIMEOUT_S)
        torn = [jar.name for jar in folder.glob("lib/*.jar") if not zipfile.is_zipfile(jar)]
        if torn:
            raise FetchFailed(f"broken archives: {', '.join(sorted(torn))}")

    def is_whole(folder: Path) -> bool:
        kernel = folder / "lib" / f"neo4j-kernel-{version}.jar"
        return kernel.is_file() and (folder / "lib" / f"neo4j-{version}.jar").is_file()

    try:
        return fetched_folder(f"neo4j-{version}", fill, is_whole, root=root) / "lib"
    except FetchFailed as failed:
        raise Unusable(str(failed)) from failed


def main(arguments: list[str] | None = None) -> int:
    """Start a server for a developer and keep it until Ctrl-C or SIGTERM."""
    parser = argparse.ArgumentParser(description="Start a Neo4j Community server for development.")
    parser.add_argument("--version", default=wanted_version(), help="default: %(default)s")
    parser.add_argument("--fetch", action="store_true", help="only fetch the jars")
    options = parser.parse_args(arguments)
    if options.fetch:
        sys.stdout.write(f"{server_jars(options.version)}\n")
        return 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with running_server(options.version) as server:
            login = "no password" if server.auth is None else "/".join(server.auth)
            sys.stdout.write(
                f"Neo4j {server.version} ({server.provider}) at {server.uri}, {login}\n"
                f"export NEO4J_URI={server.uri}\n"
                "Ctrl-C stops it and removes its data.\n"
            )
            sys.stdout.flush()
            signal.pause()
    except KeyboardInterrupt:
        return 0
    except (NoServer, ServerFailed, Unusable) as failure:
        sys.stderr.write(f"{failure}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
