"""The command line and the settings of a test server, without starting one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenure.tests.neo4j_java import Java
from tenure.tests.neo4j_process import LocalServer, ServerFailed, java_flags, launch_command
from tenure.tests.neo4j_process import server_conf as conf_of

HOME = Path("/h")


def _command(version: str, major: int) -> list[str]:
    return launch_command(version, java=Java(Path("/j/java"), major), lib=Path("/lib"), home=HOME)


def test_each_line_of_versions_has_its_main_class() -> None:
    assert "org.neo4j.server.CommunityEntryPoint" in _command("5.26.29", 17)
    assert "org.neo4j.server.Neo4jCommunity" in _command("2026.08.1", 25)


def test_the_heap_is_given_as_a_flag() -> None:
    assert "-Xmx2g" in _command("5.26.29", 17)


def test_flags_that_an_older_java_does_not_know_are_left_out() -> None:
    native = "--enable-native-access=ALL-UNNAMED"
    assert native not in java_flags((5, 26, 29), 17)
    assert native in java_flags((5, 26, 29), 21)
    assert "--sun-misc-unsafe-memory-access=allow" not in java_flags((2026, 8, 1), 21)
    assert "--sun-misc-unsafe-memory-access=allow" in java_flags((2026, 8, 1), 25)


def test_the_server_listens_on_the_loopback_address_only() -> None:
    conf = conf_of("5.26.29", port=4711, home=HOME)
    assert conf["server.default_listen_address"] == "127.0.0.1"
    assert conf["server.bolt.listen_address"] == "127.0.0.1:4711"
    assert conf["server.bolt.advertised_address"] == "127.0.0.1:4711"


def test_nothing_reports_home_and_no_other_door_is_open() -> None:
    conf = conf_of("2026.08.1", port=1, home=HOME)
    assert conf["dbms.usage_report.enabled"] == "false"
    assert conf["server.http.enabled"] == conf["server.https.enabled"] == "false"


def test_the_language_is_set_only_where_the_setting_exists() -> None:
    assert "db.query.default_language" not in conf_of("5.26.29", port=1, home=HOME)
    assert conf_of("2026.08.1", port=1, home=HOME)["db.query.default_language"] == "CYPHER_5"


def test_a_server_that_ends_at_once_shows_the_tail_of_its_log(tmp_path: Path) -> None:
    program = tmp_path / "java"
    program.write_text("#!/bin/sh\necho the reason\nexit 3\n")
    program.chmod(0o755)
    server = LocalServer("5.26.29", lib=tmp_path, java=Java(program, 17))
    try:
        with pytest.raises(ServerFailed, match=r"(?s)ended with 3: the configuration.*the reason"):
            server.start()
        assert server.pid is None
    finally:
        server.close()
    assert server.log_tail().endswith("the reason")
    server.log.unlink()
    server.folder.rmdir()
