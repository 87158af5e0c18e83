"""Logs go to standard error, in the form that was asked for, without content and secrets."""

from __future__ import annotations

import json

import pytest
import structlog

from tenure.service.logs import MASK, configure, redact


@pytest.fixture(autouse=True)
def restored() -> object:
    yield
    structlog.reset_defaults()


def test_a_service_logs_json(capsys: pytest.CaptureFixture[str]) -> None:
    configure(level="info", as_json=True)
    structlog.get_logger().info("written", tenant="acme", ms=3, content="my salary")
    shown = capsys.readouterr()
    assert shown.out == ""
    held = json.loads(shown.err)
    assert held | {"timestamp": ""} == {
        "event": "written",
        "level": "info",
        "tenant": "acme",
        "ms": 3,
        "content": MASK,
        "timestamp": "",
    }


def test_the_command_line_logs_lines(capsys: pytest.CaptureFixture[str]) -> None:
    configure(level="warning", as_json=False)
    structlog.get_logger().info("quiet")
    structlog.get_logger().warning("loud", op="write")
    shown = capsys.readouterr().err
    assert "quiet" not in shown
    assert "loud" in shown


def test_secrets_are_masked_by_name_and_by_form() -> None:
    held = redact(
        None,
        "info",
        {
            "event": "the key is AKIAQX7ZP3LMN4RTVW2K",
            "Password": "x",
            "nested": {"token": "x", "tenant": "acme"},
            "values": ["a"],
            "ids": ["a", "AKIAQX7ZP3LMN4RTVW2K"],
            "ms": 3,
        },
    )
    assert held == {
        "event": MASK,
        "Password": MASK,
        "nested": {"token": MASK, "tenant": "acme"},
        "values": MASK,
        "ids": ["a", MASK],
        "ms": 3,
    }
