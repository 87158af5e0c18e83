"""An erasure is whole: whoever dies in the middle of it has erased all in the store, or nothing."""

import json
import uuid
from typing import Any

import pytest

from tenure import Memory
from tenure.service.artifacts.artifacts import ArtifactKeeper
from tenure.service.backend.backend import Backend
from tenure.service.stewardship import operations
from tenure.store.operations.change import Mandate
from tenure.store.operations.erase import erase
from tenure.store.port.store import WriteTx
from tenure.tests.store.builders import Open

TERMS = {"window": 8_000, "model": "m"}


class Died(Exception):
    """The process that erased is gone."""


def die(*_: Any, **__: Any) -> None:
    raise Died


@pytest.fixture
def memory(open_memory: Open) -> Memory:
    """A memory in which a session and its checkpoint name somebody of whom there is a fact."""
    memory = open_memory()
    memory.write(subject="Sam Rivera", slot="office", value="Chicago")
    session = memory.session("s1", **TERMS)
    session.on_turn_start("What about Sam Rivera?")
    session.note("decision", "ask Sam Rivera")
    session.checkpoint()
    return memory


def words_of(memory: Memory) -> str:
    """All that a session tells."""
    session = memory.session("s1")
    texts = [event.texts for event in session.events()]
    return json.dumps([texts, [row.value for row in session.checkpoints()]])


@pytest.mark.parametrize("place", [(Backend, "forget_answers"), (ArtifactKeeper, "erase_with")])
def test_whoever_dies_after_the_objects_leaves_no_text(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, place: tuple[type, str]
) -> None:
    with monkeypatch.context() as crash, pytest.raises(Died):
        crash.setattr(*place, die)
        memory.erase(entity="Sam Rivera", reason="asked for")
    assert "Sam Rivera" not in words_of(memory)
    assert memory.doctor() == ()


def test_whoever_dies_before_the_texts_has_erased_nothing(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = words_of(memory)
    with monkeypatch.context() as crash, pytest.raises(Died):
        crash.setattr(operations, "empty_texts", die)
        memory.erase(entity="Sam Rivera", reason="asked for")
    assert memory.as_of().value("Sam Rivera", "office") == "Chicago"
    assert words_of(memory) == before
    assert memory.doctor() == ()

    receipt = memory.erase(entity="Sam Rivera", reason="asked for")
    (checkpoint, *_) = memory.session("s1").checkpoints()
    assert checkpoint.object_id in receipt.object_ids
    assert "Sam Rivera" not in words_of(memory)


def test_what_is_said_while_an_erasure_looks_is_emptied_too(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    operate = operations.Steward._operate

    def operate_late(steward: Any, *work: Any) -> Any:
        memory.session("s1", resume=True).on_turn_end("Sam Rivera moves.")
        memory.session("s2", **TERMS).on_turn_start("Sam Rivera, again.")
        return operate(steward, *work)

    monkeypatch.setattr(operations.Steward, "_operate", operate_late)
    receipt = memory.erase(entity="Sam Rivera", reason="asked for")
    assert [name.split(",")[0] for name in receipt.sessions] == ["session=s1", "session=s2"]
    assert "Sam Rivera" not in words_of(memory)
    assert memory.session("s2").events()[-1].kind == "texts_erased"
    assert memory.doctor() == ()


def test_whoever_dies_while_a_session_is_erased_has_erased_nothing_of_it(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = words_of(memory)
    with monkeypatch.context() as crash, pytest.raises(Died):
        crash.setattr(operations, "empty_texts", die)
        memory.erase_session("s1", reason="asked for")
    assert words_of(memory) == before

    (checkpoint, *_) = memory.session("s1").checkpoints()
    assert memory.erase_session("s1", reason="asked for") == (checkpoint.object_id,)
    assert "Sam Rivera" not in words_of(memory)
    assert memory.doctor() == ()


def test_objects_that_taught_names_are_erased_one_by_one_in_one_transaction(
    open_memory: Open,
) -> None:
    """As a sweep hard-deletes them; an index of a server still tells of what was deleted there."""
    memory = open_memory()
    names = ["Sam Rivera", "Ana Ortiz", "Bo Li"]
    receipts = [memory.write(subject=name, slot="office", value="Reno") for name in names]

    def erase_each(tx: WriteTx) -> None:
        for number, receipt in enumerate(receipts):
            mandate = Mandate(
                operation_id=str(uuid.UUID(int=number)),
                actor="owner",
                now_us=tx.lock().last_us + 1,
                reason="case 7",
            )
            erase(tx, object_id=receipt.object_id, mandate=mandate)

    memory._backend.store.transact(memory.principal.tenant, erase_each)
    assert not memory.entities.list()
    assert memory.doctor() == ()


def test_what_was_erased_reads_as_erased_without_content(open_memory: Open) -> None:
    memory = open_memory()
    receipt = memory.write("Brunhild Ackerstaff", "office", "Turin")
    memory.erase(entity="Brunhild Ackerstaff", reason="case 3")
    explanation = memory.explain(receipt.object_id)
    erased = explanation.object
    assert (erased.contradiction_status, erased.content, erased.value) == ("erased", None, None)
    assert [(row.status, row.value) for row in explanation.rows] == [("erased", None)]
