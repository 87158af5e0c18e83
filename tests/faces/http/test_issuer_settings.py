"""The OIDC issuer of the settings file is the one whose tokens `tenure serve` takes."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tenure.faces.cli.main import app
from tenure.faces.http import command

ISSUER = """
[server.oidc]
issuer = "https://login.example"
audience = "tenure"
jwks_url = "https://login.example/keys"
tenant = "acme"
roles_claim = "groups"
roles = { "memory-stewards" = "steward" }
"""


def test_serve_takes_the_issuer_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tenure.toml").write_text('store = "team.db"\n' + ISSUER, encoding="utf-8")
    seen: list[Any] = []
    monkeypatch.setattr(command, "_serve", lambda settings, *_: seen.append(settings))

    assert (
        CliRunner()
        .invoke(app, ["--config", "tenure.toml", "write", "Sam Rivera", "office", "Rome"])
        .exit_code
        == 0
    )
    outcome = CliRunner().invoke(
        app, ["--config", "tenure.toml", "--level", "2", "serve", "--port", "0"]
    )
    assert outcome.exit_code == 0, outcome.output
    (settings,) = seen
    assert settings.oidc.issuer == "https://login.example"
    assert settings.oidc.roles == {"memory-stewards": "steward"}
    assert settings.oidc.user_claim == "sub"


def test_an_issuer_without_its_keys_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = ISSUER.replace('jwks_url = "https://login.example/keys"\n', "")
    Path("tenure.toml").write_text('store = "team.db"\n' + lines, encoding="utf-8")
    outcome = CliRunner().invoke(app, ["--config", "tenure.toml", "serve", "--port", "0"])
    assert outcome.exit_code == 1
    assert "jwks_url" in outcome.output
