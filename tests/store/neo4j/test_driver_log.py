"""What the driver logs of a call: the statement, and nothing of what somebody said."""

from __future__ import annotations

import logging
import secrets
from dataclasses import replace

import neo4j
import pytest

from tenure import connect
from tenure.schema.principal import OWNER
from tenure.store.neo4j.calls import GivenValues
from tenure.tests.neo4j_fixtures import wipe
from tenure.tests.neo4j_server import Server


def test_values_given_to_a_statement_count_themselves_and_say_no_more() -> None:
    values = GivenValues(text="QUOKKAROAD 7", rows=[1])
    assert repr(values) == "<2 values>"
    assert values == {"text": "QUOKKAROAD 7", "rows": [1]}


@pytest.mark.integration
def test_a_log_of_the_driver_holds_statements_and_no_words_of_a_write(
    neo4j_server: Server, neo4j_driver: neo4j.Driver, caplog: pytest.LogCaptureFixture
) -> None:
    tenant = f"test-{secrets.token_hex(8)}"
    caplog.set_level(logging.DEBUG, logger="neo4j")
    owner = replace(OWNER, tenant=tenant)
    try:
        with connect(neo4j_server.uri, auth=neo4j_server.auth, principal=owner) as memory:
            memory.write("Ann Lee", "office", "QUOKKAROAD 7")
            assert memory.as_of().value("Ann Lee", "office") == "QUOKKAROAD 7"
            assert memory.as_of().search("QUOKKAROAD").hits
    finally:
        wipe(neo4j_driver, tenant)

    assert "C: RUN" in caplog.text
    assert "QUOKKAROAD" not in caplog.text.upper()
