"""What the log says of an envelope whose quality is outside its targets."""

import logging

import pytest

import tenure


def test_the_log_names_the_metrics_that_alert(
    memory: tenure.Memory, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="tenure.compile")
    query = "Which report names the harbour tariff of Lisbon?"
    envelope = memory.compile(
        "analytical_reporting", query, evidence=["The report of room 3 is blue."]
    )
    memory.flush()
    assert "signal_density" in envelope.quality.alerts
    (record,) = caplog.records
    assert "signal_density" in record.message
    assert vars(record)["alerts"]["signal_density"] == 0.0
    assert vars(record)["envelope_id"] == envelope.envelope_id

    caplog.clear()
    text = "The harbour tariff of Lisbon is in report 7."
    right = memory.compile("analytical_reporting", query, evidence=[text])
    memory.flush()
    assert "signal_density" not in right.quality.alerts
    assert not any("signal_density" in line.message for line in caplog.records)


def test_a_log_that_is_not_kept_costs_no_measure(
    memory: tenure.Memory, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, logger="tenure.compile")
    memory.compile("analytical_reporting", "tariff", evidence=["The room is blue."])
    memory.flush()
    assert not caplog.records
