"""Compiled envelopes are found again, by whom they belong to, and say when they were erased."""

from collections.abc import Iterator

import pytest

from tenure import Memory, NotFound, Principal, connect
from tenure.service.reading.envelopes import StoredEnvelope
from tenure.tests.support.refusals import refused

TASK = "code_generation"


class Ticking:
    """A clock that moves a second a call."""

    def __init__(self) -> None:
        self.now = 1_780_000_000_000_000

    def __call__(self) -> int:
        self.now += 1_000_000
        return self.now


@pytest.fixture
def memory() -> Iterator[Memory]:
    with connect(":memory:", clock=Ticking()) as opened:
        yield opened


def ids(found: tuple[StoredEnvelope, ...]) -> list[str]:
    return [each.envelope_id for each in found]


def test_the_newest_envelope_stands_first_with_what_it_was_for(memory: Memory) -> None:
    memory.write(subject="Sam", slot="office", value="Rome")
    first = memory.compile(TASK, "office of Sam")
    second = memory.compile("data_extraction", "title of Sam", project="nova")
    found = memory.envelopes.list()
    assert ids(found) == [second.envelope_id, first.envelope_id]
    assert (found[0].task, found[0].query, found[0].project) == (
        "data_extraction", "title of Sam", "nova")  # fmt: skip
    assert found[1].digest == first.digest
    assert found[1].objects == 2
    assert abs(found[1].tokens - first.tokens) < 20
    assert memory.replay(found[1]).text == first.text
    assert memory.envelopes.get(first.envelope_id).digest == first.digest
    assert ids(memory.envelopes.list(limit=1)) == [second.envelope_id]
    assert memory.envelopes.list(limit=0) == ()


def test_envelopes_are_found_by_object_session_task_and_time(memory: Memory) -> None:
    rome = memory.write(subject="Sam", slot="office", value="Rome")
    in_s1 = memory.bind(Principal(roles=frozenset({"owner"}), session="s1"))
    first = in_s1.compile(TASK, "office of Sam")
    memory.write(subject="Ann", slot="office", value="Oslo")
    second = memory.compile("data_extraction", "Oslo")
    listed = memory.envelopes.list
    assert ids(listed(object_id=rome.object_id)) == [first.envelope_id]
    assert listed(object_id="nothing") == ()
    assert ids(listed(session="s1")) == [first.envelope_id]
    assert ids(listed(task="data_extraction")) == [second.envelope_id]
    late = listed()[0].tx
    assert ids(listed(since=late)) == [second.envelope_id]
    assert ids(listed(until=late)) == [first.envelope_id]
    assert listed(since=late, until=late) == ()


def test_a_caller_sees_its_own_envelopes_alone(memory: Memory) -> None:
    ann = memory.bind(Principal(user="ann"))
    bob = memory.bind(Principal(user="bob"))
    mine = ann.compile(TASK, "x")
    assert ids(ann.envelopes.list()) == [mine.envelope_id]
    assert bob.envelopes.list() == ()
    with pytest.raises(NotFound, match="no envelope"):
        bob.envelopes.get(mine.envelope_id)
    assert ids(memory.envelopes.list()) == [mine.envelope_id]


def test_an_envelope_that_held_something_erased_says_so(memory: Memory) -> None:
    rome = memory.write(subject="Sam", slot="office", value="Rome")
    ann = memory.bind(Principal(user="ann"))
    envelope = ann.compile(TASK, "office of Sam")
    other = ann.compile(TASK, "nothing")
    memory.erase(rome.object_id, reason="case 1")
    assert [(e.envelope_id, e.erased) for e in memory.envelopes.list()] == [
        (other.envelope_id, False),
        (envelope.envelope_id, True),
    ]
    assert ids(ann.envelopes.list()) == [other.envelope_id]
    assert [e.erased for e in memory.envelopes.list(object_id=rome.object_id)] == [True]
    assert ids(memory.envelopes.list(task=TASK)) == [other.envelope_id]
    for ask in (
        lambda: memory.envelopes.get(envelope.envelope_id),
        lambda: memory.replay(envelope.envelope_id),
        lambda: memory.replay(memory.envelopes.list()[1]),
    ):
        with refused(NotFound, "erased", match="erased"):
            ask()
    with refused(NotFound, "unknown_object"):
        memory.replay("0" * 64)
