"""`--zone`: the dates that are asked count in it, and times are shown in it; UTC without it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tenure.faces.cli.main import app
from tenure.service.visual.zone import READING_ZONE

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def command(*words: str) -> Result:
        token = READING_ZONE.set(READING_ZONE.get())
        try:
            return CliRunner().invoke(app, ["--store", str(tmp_path / "z.db"), *words])
        finally:
            READING_ZONE.reset(token)

    start = "2026-05-09[Europe/Berlin]"
    assert command("write", "Vera Stolz", "office", "Turin", "--from", start).exit_code == 0
    return command


@pytest.mark.parametrize(
    ("zone", "since"),
    [
        ("Europe/Berlin", "from 2026-05-09\n"),
        ("America/New_York", "from 2026-05-08 18:00:00-04:00\n"),
        ("Asia/Tokyo", "from 2026-05-09 07:00:00+09:00\n"),
    ],
)
def test_times_are_shown_in_the_zone_and_the_output_names_it(
    run: Run, zone: str, since: str
) -> None:
    output = run("--zone", zone, "get", "Vera Stolz", "office").output
    assert since in output
    assert output.endswith(f"times in {zone}\n")


def test_without_a_zone_times_are_in_utc_and_say_so(run: Run) -> None:
    output = run("get", "Vera Stolz", "office").output
    assert "from 2026-05-08 22:00:00Z\n" in output
    assert "times in" not in output


@pytest.mark.parametrize(
    ("zone", "day", "value"),
    [
        ("Europe/Berlin", "2026-05-09", "Turin"),
        ("Europe/Berlin", "2026-05-08", "unknown"),
        ("Pacific/Auckland", "2026-05-09", "unknown"),
        ("America/New_York", "2026-05-09", "Turin"),
        ("UTC", "2026-05-08", "unknown"),
    ],
)
def test_a_day_that_is_asked_is_a_day_of_the_zone(
    run: Run, zone: str, day: str, value: str
) -> None:
    output = run("--zone", zone, "get", "Vera Stolz", "office", "--valid", day).output
    assert output.startswith(f"Vera Stolz · office: {value}\n")


def test_json_stays_in_utc_and_a_written_date_does_not_move(run: Run) -> None:
    run("--zone", "Europe/Berlin", "write", "Ivo Kraan", "office", "Ghent", "--from", "2026-05-09")
    answer = run("--zone", "Europe/Berlin", "--json", "get", "Ivo Kraan", "office").output
    assert json.loads(answer)["valid_from"] == "2026-05-09T00:00:00Z"


def test_a_zone_that_does_not_exist_is_refused(run: Run) -> None:
    result = run("--zone", "Europe/Atlantis", "get", "Vera Stolz", "office")
    assert result.exit_code != 0
    assert "there is no time zone 'Europe/Atlantis'" in result.stderr
