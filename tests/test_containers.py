"""The compose file and the image say what a server needs; no engine is asked but where one is."""

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from typer.testing import CliRunner

from tenure.faces.cli.main import app
from tenure.service.client.opening import place_of
from tenure.service.settings import load
from tenure.tests.neo4j_process import LocalServer
from tenure.tests.neo4j_server import DEFAULT_VERSION
from tenure.tests.source_tree import ROOT, pyproject

COMPOSE = ROOT / "docker-compose.yml"
SETTING = re.compile(r"NEO4J_[a-z]")


def _compose() -> dict[str, Any]:
    loaded = yaml.safe_load(COMPOSE.read_text())
    assert isinstance(loaded, dict)
    return loaded


def _neo4j() -> dict[str, Any]:
    service = _compose()["services"]["neo4j"]
    assert isinstance(service, dict)
    return service


def _settings() -> dict[str, str]:
    """The server's settings as `neo4j.conf` would have them."""
    return {
        name.removeprefix("NEO4J_").replace("__", "\0").replace("_", ".").replace("\0", "_"): value
        for name, value in _neo4j()["environment"].items()
        if SETTING.match(name)
    }


def _mebibytes(size: str) -> int:
    return int(size[:-1]) * {"m": 1, "g": 1024}[size[-1]]


def test_the_image_is_the_community_version_that_the_tests_run() -> None:
    assert _neo4j()["image"] == f"neo4j:{DEFAULT_VERSION}"


def test_the_settings_bound_waiting_and_send_no_report() -> None:
    settings = _settings()
    assert settings["db.transaction.timeout"] == "300s"
    assert settings["db.lock.acquisition.timeout"] == "15s"
    assert settings["dbms.usage_report.enabled"] == "false"


def test_heap_and_page_cache_fit_the_memory_of_the_container() -> None:
    settings = _settings()
    asked = sum(
        _mebibytes(settings[name])
        for name in ("server.memory.heap.max_size", "server.memory.pagecache.size")
    )
    limit = _mebibytes(_neo4j()["deploy"]["resources"]["limits"]["memory"])
    assert asked + 512 <= limit


def test_the_password_comes_from_a_secret_and_stands_nowhere() -> None:
    compose = _compose()
    assert _neo4j()["environment"]["NEO4J_AUTH_FILE"] == "/run/secrets/neo4j_auth"
    assert "NEO4J_AUTH" not in _neo4j()["environment"]
    assert compose["secrets"] == {"neo4j_auth": {"environment": "NEO4J_AUTH"}}


def test_bolt_is_open_to_this_machine_only() -> None:
    assert all(port.startswith("127.0.0.1:") for port in _neo4j()["ports"])


def test_data_survive_the_container_and_the_server_may_end_in_order() -> None:
    assert "neo4j-data:/data" in _neo4j()["volumes"]
    assert _neo4j()["stop_grace_period"] == "60s"


@pytest.mark.parametrize("kind", ["volumes", "secrets"])
def test_everything_that_a_service_mounts_is_declared(kind: str) -> None:
    compose = _compose()
    used = {
        str(mount).partition(":")[0]
        for service in compose["services"].values()
        for mount in service.get(kind, ())
    }
    assert used == set(compose[kind])


def test_every_service_has_a_memory_limit() -> None:
    for service in _compose()["services"].values():
        assert _mebibytes(service["deploy"]["resources"]["limits"]["memory"]) > 0


def test_tenure_waits_until_neo4j_is_healthy() -> None:
    waits = _compose()["services"]["tenure"]["depends_on"]
    assert waits == {"neo4j": {"condition": "service_healthy"}}


def test_tenure_signs_in_to_the_server_beside_it_with_the_secret(tmp_path: Path) -> None:
    service = _compose()["services"]["tenure"]
    env = dict(service["environment"])
    assert env["TENURE_STORE"] == "neo4j://neo4j:7687"
    assert env["TENURE_AUTH__FILE"] == "/run/secrets/neo4j_auth"
    secret = tmp_path / "secret"
    secret.write_text("neo4j/a $pass/word with blanks")
    place = place_of(load(env={**env, "TENURE_AUTH__FILE": str(secret)}).settings)
    assert (place.url, place.auth) == (env["TENURE_STORE"], ("neo4j", "a $pass/word with blanks"))


def test_tenure_is_served_on_loopback_alone_and_says_that_it_lives() -> None:
    service = _compose()["services"]["tenure"]
    server = load(env=dict(service["environment"])).settings.server
    assert service["command"] == ["serve"]
    assert (server.host, server.published_on_loopback) == ("0.0.0.0", True)
    assert service["ports"] == [f"127.0.0.1:${{TENURE_PORT:-8765}}:{server.port}"]
    assert f"127.0.0.1:{server.port}/healthz" in service["healthcheck"]["test"][-1]


def test_the_image_runs_commands_that_exist() -> None:
    stage = dict(_final_stage())
    words = json.loads(stage["ENTRYPOINT"]) + json.loads(stage["CMD"])
    assert words == ["tenure", "--help"]
    result = CliRunner().invoke(app, words[1:])
    assert result.exit_code == 0
    assert "  serve " in result.stdout


def test_the_health_check_logs_in_with_the_secret(tmp_path: Path) -> None:
    check = _neo4j()["healthcheck"]
    assert (check["interval"], check["start_period"]) == ("15s", "40s")
    kind, command = check["test"]
    assert kind == "CMD-SHELL"
    secret = tmp_path / "secret"
    secret.write_text("neo4j/a $pass/word with blanks")  # a secret has no line end
    shell = tmp_path / "cypher-shell"
    shell.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    shell.chmod(0o755)
    line = command.replace("$$", "$").replace("/run/secrets/neo4j_auth", shlex.quote(str(secret)))
    run = subprocess.run(
        ["sh", "-c", line],
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.splitlines() == ["-u", "neo4j", "-p", "a $pass/word with blanks", "RETURN 1"]


def test_the_compose_client_accepts_the_file() -> None:
    docker = shutil.which("docker")
    if docker is None:
        pytest.skip("`docker` is not installed")
    client = [docker, "compose"]
    if subprocess.run([*client, "version"], capture_output=True, check=False).returncode:
        pytest.skip("`docker compose` does not work here")
    run = subprocess.run(
        [*client, "-f", str(COMPOSE), "--profile", "service", "config", "--quiet"],
        env={**os.environ, "NEO4J_AUTH": "neo4j/a-test-password"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.integration
def test_a_real_server_accepts_every_setting_of_the_compose_file(
    local_neo4j: Callable[[Mapping[str, str]], LocalServer],
) -> None:
    server = local_neo4j(_settings())
    try:
        server.start()  # validation is strict: an unknown name or a bad value ends the server
        assert server.is_running
    finally:
        server.close()


def _instructions() -> list[tuple[str, str]]:
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in lines]


def _final_stage() -> list[tuple[str, str]]:
    found = _instructions()
    last = max(at for at, (word, _) in enumerate(found) if word == "FROM")
    return found[last:]


def test_each_stage_starts_from_a_pinned_python_that_the_package_supports() -> None:
    bases = [value for word, value in _instructions() if word == "FROM"]
    assert len(bases) == 2
    for base in bases:
        found = re.match(r"python:3\.(\d+)-slim-\w+( AS \w+)?$", base)
        assert found is not None
        assert int(found[1]) >= 11


def test_the_service_runs_as_nobody_special_outside_the_sources() -> None:
    stage = dict(_final_stage())
    assert stage["USER"] == "tenure"
    assert stage["WORKDIR"] == "/var/lib/tenure"
    assert "PYTHONSAFEPATH=1" in stage["ENV"]
    assert "COPY" in stage
    assert stage["COPY"] == "--from=build /wheels /wheels"
    assert stage["ENTRYPOINT"] == '["tenure"]'


LOCKED_EXTRAS = ("media", "neo4j", "s3", "server")
"""What the image carries beside the core."""


def _locked() -> dict[str, tuple[Version, int]]:
    """Version and number of hashes by normalised name."""
    pins: dict[str, tuple[Version, int]] = {}
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8").replace("\\\n", " ")
    for line in text.splitlines():
        if line and not line.lstrip().startswith("#"):
            pin, *hashes = line.split("--hash=sha256:")
            name, _, version = pin.partition(";")[0].strip().partition("==")
            pins[canonicalize_name(name)] = (Version(version), len(hashes))
    return pins


def test_every_package_of_the_image_is_pinned_by_version_and_hash() -> None:
    pins = _locked()
    assert all(hashes > 0 for _, hashes in pins.values())
    project = pyproject()["project"]
    stated = list(project["dependencies"])
    for extra in LOCKED_EXTRAS:
        stated += project["optional-dependencies"][extra]
    for requirement in map(Requirement, stated):
        version, _ = pins[canonicalize_name(requirement.name)]
        assert version in requirement.specifier, f"{requirement}: run `make lock`"


def test_the_image_installs_what_is_pinned_and_nothing_else() -> None:
    runs = [value for word, value in _final_stage() if word == "RUN"]
    assert "--require-hashes -r /tmp/requirements.lock" in runs[0]
    assert "--no-deps --no-index /wheels/tenure-*.whl" in runs[0]
    for extra in LOCKED_EXTRAS:
        assert extra in pyproject()["project"]["optional-dependencies"]
        assert f"--extra {extra}" in (ROOT / "Makefile").read_text(encoding="utf-8")
