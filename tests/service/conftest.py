"""Somebody who talks to an empty store day by day."""

from collections.abc import Iterator

import pytest

from tenure.tests.service.daily_talk import Talk


@pytest.fixture
def talk() -> Iterator[Talk]:
    talk = Talk()
    with talk.store:
        yield talk
