"""A Neo4j Community server as a process of its own, from a folder of jars.

The server gets a free port on the loopback address, a home in a temporary folder and a log
beside that home. `start` returns when a Bolt handshake and `dbms.components()` are answered.
`kill` and `restart` keep home and port, so that a crash test finds its data again; `close`
removes the data, and the log too unless the server failed.
"""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from tenure.schema.errors import Unavailable
from tenure.store.neo4j.connect import ServerFacts, connect, version_numbers
from tenure.store.port.records import Target
from tenure.tests.neo4j_java import Java

DATABASE = "neo4j"
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 60.0
EXIT_MEANINGS = {2: "the store is locked by another server", 3: "the configuration is bad"}


class ServerFailed(Exception):
    """A server that should run does not; the message holds the tail of its log."""


def free_port() -> int:
    """Return a port of the loopback address that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_ready(
    uri: str, auth: tuple[str, str] | None, *, timeout_s: float = START_TIMEOUT_S
) -> ServerFacts:
    """Return the server's facts once it answers for the default database.

    Raises:
        Unavailable: it does not in time, or what answers is no supported Neo4j.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            driver, facts = connect(Target(uri=uri, database=DATABASE), auth=auth)
        except Unavailable as absent:
            settled = absent.data.get("reason") in {"not_neo4j", "unsupported_version"}
            if settled or time.monotonic() > deadline:
                raise
            time.sleep(0.2)
        else:
            driver.close()
            return facts


class LocalServer:
    """A server of this machine's Java, started and stopped by the tests."""

    provider = "maven"
    restartable = True

    def __init__(
        self,
        version: str,
        *,
        lib: Path,
        java: Java,
        port: int | None = None,
        conf: Mapping[str, str] | None = None,
    ) -> None:
        """`conf` adds settings of `neo4j.conf`, or replaces those of the tests."""
        self.version = version
        self.auth: tuple[str, str] | None = None
        self.port = free_port() if port is None else port
        self.uri = f"bolt://127.0.0.1:{self.port}"
        self.folder = Path(tempfile.mkdtemp(prefix="tenure-neo4j-"))
        self.home = self.folder / "home"
        self.log = self.folder / "server.log"
        self.facts: ServerFacts | None = None
        self.start_seconds: float = 0.0
        self._command = launch_command(version, java=java, lib=lib, home=self.home)
        self._conf = server_conf(version, port=self.port, home=self.home) | dict(conf or {})
        self._process: subprocess.Popen[bytes] | None = None
        self._ever_ready = False
        self._ended_by_us = False

    @property
    def pid(self) -> int | None:
        """The process id while the server runs."""
        return self._process.pid if self._process is not None and self.is_running else None

    @property
    def is_running(self) -> bool:
        """Whether the process lives, ready or not."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start the server and wait until it answers.

        Raises:
            ServerFailed: it ended, or did not answer in time.
        """
        (self.home / "conf").mkdir(parents=True, exist_ok=True)
        text = "".join(f"{key}={value}\n" for key, value in sorted(self._conf.items()))
        (self.home / "conf" / "neo4j.conf").write_text(text)
        begun = time.monotonic()
        self._ended_by_us = False
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C must reach the tests alone; they stop the server
            )
        self._wait(self._process)
        self.start_seconds = time.monotonic() - begun

    def stop(self) -> None:
        """Shut the server down in order; the data stay."""
        if self._process is None or not self.is_running:
            return
        self._ended_by_us = True
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired as late:
            self.kill()
            raise ServerFailed(f"Neo4j did not stop on SIGTERM\n{self.log_tail()}") from late

    def kill(self) -> None:
        """End the server as a crash would (SIGKILL); the data stay as they are on disk."""
        if self._process is not None and self.is_running:
            self._ended_by_us = True
            self._process.kill()
            self._process.wait()

    def restart(self) -> None:
        """Start again on the same home and port, stopping first where it runs."""
        self.stop()
        self.start()

    def close(self) -> None:
        """End the server and remove its data; the log of one that failed stays.

        Raises:
            ServerFailed: it had ended by itself.
        """
        has_died = self._ever_ready and not self.is_running and not self._ended_by_us
        self.kill()  # an orderly stop takes 10 s and would only save what goes away
        is_worth_a_look = has_died or not self._ever_ready
        shutil.rmtree(self.home if is_worth_a_look else self.folder, ignore_errors=True)
        if has_died:
            raise ServerFailed(f"Neo4j {self.version} ended during the tests\n{self.log_tail()}")

    def log_tail(self, lines: int = 30) -> str:
        """Return the last lines of the log, under its path."""
        text = self.log.read_text(errors="replace") if self.log.is_file() else ""
        return "\n".join([f"-- {self.log}", *text.splitlines()[-lines:]])

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while not _port_answers(self.port):
            code = process.poll()
            if code is not None:
                meaning = EXIT_MEANINGS.get(code, "see the log")
                message = f"Neo4j {self.version} ended with {code}: {meaning}"
                raise ServerFailed(f"{message}\n{self.log_tail()}")
            if time.monotonic() > deadline:
                self.kill()
                raise ServerFailed(f"Neo4j {self.version} opened no port\n{self.log_tail()}")
            time.sleep(0.1)
        try:
            self.facts = wait_ready(self.uri, self.auth)
        except Unavailable as mute:
            self.kill()
            raise ServerFailed(f"{mute}\n{self.log_tail()}") from mute
        finally:
            self._ever_ready = self.is_running


def _port_answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def launch_command(version: str, *, java: Java, lib: Path, home: Path) -> list[str]:
    """Return the command line that the `neo4j` script would have run."""
    numbers = version_numbers(version)
    main = "Neo4jCommunity" if numbers >= (2025,) else "CommunityEntryPoint"
    return [
        str(java.program),
        *java_flags(numbers, java.major),
        "-cp",
        os.pathsep.join([f"{home}/plugins/*", f"{lib}/*"]),
        f"org.neo4j.server.{main}",
        f"--home-dir={home}",
        f"--config-dir={home}/conf",
        "--console-mode",
    ]


def java_flags(numbers: tuple[int, ...], java_major: int) -> list[str]:
    """Return the JVM's flags: without the `neo4j` script the conf's own are not applied."""
    calendar = numbers >= (2025,)
    opened = ["java.nio", "java.io", "sun.nio.ch"]
    if calendar:
        opened.append("java.util.concurrent")
    flags = [
        "-Xms512m",
        "-Xmx2g",  # a transaction of 10,000 writes exceeds what a 512m heap allows it
        "-XX:+UseG1GC",
        "-XX:-OmitStackTraceInFastThrow",
        "-XX:+DisableExplicitGC",
        "-XX:+ExitOnOutOfMemoryError",
        "-Djdk.nio.maxCachedBufferSize=1024",
        "-Dio.netty.tryReflectionSetAccessible=true",
        "-Dlog4j2.disable.jmx=true",
        "-Dlog4j.layout.jsonTemplate.maxStringLength=32768",
        *(f"--add-opens=java.base/{name}=ALL-UNNAMED" for name in opened),
    ]
    if java_major >= 21:
        flags.append("--enable-native-access=ALL-UNNAMED")
    if calendar:
        flags.append("-Dio.netty.leakDetection.level=DISABLED")
    if calendar and java_major >= 25:
        flags.append("-Dorg.neo4j.shaded.lucene9.vectorization.upperJavaFeatureVersion=25")
        flags.append("--sun-misc-unsafe-memory-access=allow")
    return flags


def server_conf(version: str, *, port: int, home: Path) -> dict[str, str]:
    """Return `neo4j.conf`; validation is strict, so one unknown key stops the start."""
    address = f"127.0.0.1:{port}"
    conf = {
        "server.default_listen_address": "127.0.0.1",
        "server.bolt.listen_address": address,
        "server.bolt.advertised_address": address,
        "server.http.enabled": "false",
        "server.https.enabled": "false",
        "server.directories.data": f"{home}/data",
        "server.directories.import": f"{home}/import",
        "server.directories.logs": f"{home}/logs",
        "server.directories.plugins": f"{home}/plugins",
        "server.directories.run": f"{home}/run",
        "server.memory.pagecache.size": "128m",
        "db.transaction.timeout": "300s",
        "db.lock.acquisition.timeout": "30s",
        # Each test fills and wipes a tenant, so that counts change by more than the threshold of
        # replanning all the time: without this the server plans every statement again each 10 s.
        "dbms.cypher.min_replan_interval": "1h",
        "dbms.usage_report.enabled": "false",
        "dbms.security.auth_enabled": "false",
    }
    if version_numbers(version) >= (2025, 6):
        conf["db.query.default_language"] = "CYPHER_5"
    return conf
