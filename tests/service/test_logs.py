"""Logs go to standard error, in the form that was asked for, without content and secrets."""

import json
import logging
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tenure.service.logs import MASK, configure, redact

LOG = logging.getLogger("tenure.tests")


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    logger = logging.getLogger("tenure")
    logger.handlers = []
    logger.setLevel(logging.NOTSET)
    logger.propagate = True


def test_a_service_logs_json(capsys: pytest.CaptureFixture[str]) -> None:
    configure(level="info", as_json=True)
    LOG.info("written", extra={"tenant": "acme", "ms": 3, "content": "my salary"})

    shown = capsys.readouterr()
    assert shown.out == ""
    line = json.loads(shown.err)
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "written",
        "level": "info",
        "logger": "tenure.tests",
        "tenant": "acme",
        "ms": 3,
        "content": MASK,
    }


def test_the_command_line_logs_lines(capsys: pytest.CaptureFixture[str]) -> None:
    configure(level="warning", as_json=False)
    LOG.info("quiet")
    LOG.warning("loud", extra={"op": "write"})

    shown = capsys.readouterr().err
    assert "quiet" not in shown
    assert "loud" in shown
    assert "write" in shown


def test_a_failure_is_logged_with_its_traceback_and_without_its_secret(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure(as_json=True)
    try:
        raise ValueError("the key is AKIAQX7ZP3LMN4RTVW2K")
    except ValueError:
        LOG.exception("failed")

    line = json.loads(capsys.readouterr().err)
    assert line["event"] == "failed"
    assert line["exception"] == MASK


def test_the_driver_logs_with_a_service_and_is_silent_on_the_command_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    driver = logging.getLogger("neo4j.pool")
    configure(as_json=False)
    driver.warning("Unable to retrieve routing information")
    assert capsys.readouterr().err == ""

    configure(as_json=True)
    driver.warning("Unable to retrieve routing information")
    assert json.loads(capsys.readouterr().err)["logger"] == "neo4j.pool"


def test_a_line_that_cannot_be_said_stops_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    configure(as_json=True)
    LOG.warning("%d of", "three")
    assert "--- Logging error ---" in capsys.readouterr().err


def test_a_command_that_logs_nothing_does_not_load_the_logger() -> None:
    script = (
        "import sys; from tenure.service.logs import configure; configure(as_json=False); "
        "sys.exit('structlog' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-P", "-c", script], check=False).returncode == 0


def test_secrets_are_masked_by_name_and_by_form() -> None:
    fields = redact(
        {
            "event": "the key is AKIAQX7ZP3LMN4RTVW2K",
            "Password": "x",
            "nested": {"token": "x", "tenant": "acme"},
            "values": ["a"],
            "ids": ["a", "AKIAQX7ZP3LMN4RTVW2K"],
            "ms": 3,
        },
    )
    assert fields == {
        "event": MASK,
        "Password": MASK,
        "nested": {"token": MASK, "tenant": "acme"},
        "values": MASK,
        "ids": ["a", MASK],
        "ms": 3,
    }
