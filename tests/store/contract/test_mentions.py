"""Mentions of an observed text: links that are found, merged, moved and erased like the rest."""

from typing import Any

import pytest

from tenure import EntityRef, InvalidInput, Memory
from tenure.resolution.extract import Mention, MentionSource
from tenure.schema.claim import MentionLink
from tenure.schema.errors import Fault
from tenure.schema.vocabulary import EntityState
from tenure.store.port.store import Point, RecordKind, Store
from tenure.store.port.tables import MENTIONS
from tenure.tests.store.builders import ALL, TENANT, Open, Say, add, commit, entity
from tenure.tests.store.contract.test_port_erasure import erase
from tenure.tests.support.refusals import refused

TEXT = "Sam Rivera asked you whether the Order Service is down."


@pytest.fixture
def memory(open_memory: Open) -> Memory:
    opened = open_memory()
    opened.vocabulary.define_slot("noted", description="what was noted")
    return opened


def say(memory: Memory, name: str, type: str = "unknown", value: str = "x", **more: Any) -> str:
    told = memory.write(EntityRef(name=name, type=type), "noted", value, **more)
    return str(told.entity)


def observed(memory: Memory, text: str, speaker: str = "Ann Lee", **more: Any) -> str:
    return str(memory.observe(text, speaker, **more)[0].object_id)


def linked(memory: Memory, object_id: str) -> dict[str, str]:
    return {link.surface: link.entity for link in memory.explain(object_id).mentions}


def around(memory: Memory, entity: str, **at: Any) -> set[str]:
    view = memory.as_of(**at)
    return {fact.object_id for fact in view.neighbourhood(entity, hops=1).facts}


def test_an_observation_is_linked_to_whom_its_names_mean(memory: Memory) -> None:
    sam, service = say(memory, "Sam Rivera", "person"), say(memory, "Order Service", "system")
    known = len(memory.entities.list())
    object_id = observed(memory, TEXT)
    assert linked(memory, object_id) == {"Sam Rivera": sam, "Order Service": service}
    for one in memory.explain(object_id).mentions:
        assert TEXT[one.start : one.end] == one.surface
    assert len(memory.entities.list()) == known + 1  # the speaker
    assert memory.doctor() == ()


def test_an_observation_is_found_around_whom_it_mentions(memory: Memory) -> None:
    sam = say(memory, "Sam Rivera", "person")
    before = memory.as_of().tx
    object_id = observed(memory, TEXT)
    assert object_id in around(memory, sam)
    assert object_id not in around(memory, sam, tx=before)
    page = memory.entities.get(sam)
    assert object_id in {fact.object_id for fact in page.neighbours.facts}
    envelope = memory.compile("code_generation", "What do we know?", entities=(sam,))
    trace = envelope.trace
    met = {each.object_id for each in trace.compiled_objects}
    met |= {each.object_id for each in trace.omitted_objects}
    assert object_id in met


def test_what_is_about_an_entity_comes_before_what_mentions_it(memory: Memory) -> None:
    sam = say(memory, "Sam Rivera", "person")
    seen = [observed(memory, f"Sam Rivera said {word}.") for word in ("yes", "no")]
    facts = memory.as_of().neighbourhood(sam, hops=1, limit=2).facts
    assert seen[1] in {fact.object_id for fact in facts}
    assert seen[0] not in {fact.object_id for fact in facts}
    assert any(fact.slot == "noted" for fact in facts)


def test_a_mention_stays_with_its_own_side_of_an_unmerge(memory: Memory) -> None:
    left, right = say(memory, "Alpha", "system"), say(memory, "Omega", "system")
    first = observed(memory, "They restarted Omega today.")
    merged = memory.entities.merge(left, right)
    second = observed(memory, "They restarted Alpha today.")
    assert {first, second} <= around(memory, merged.canonical_id)
    memory.entities.unmerge(merged.merge_id)
    assert linked(memory, first) == {"Omega": right}
    assert first in around(memory, right)
    assert first not in around(memory, left)
    assert second in around(memory, left)


def test_an_ambiguous_mention_waits_once_and_is_decided_once(memory: Memory) -> None:
    sam = say(memory, "Sam Rivera (Chicago)", "person")
    memory.entities.add_alias(sam, "Sam Rivera")
    other = say(memory, "Sam Rivera (Boston)", "person")
    memory.entities.add_alias(other, "Sam Rivera")
    first = observed(memory, "We met Sam Rivera.")
    second = observed(memory, "We met Sam Rivera again.")
    (case,) = memory.reviews.list()
    assert case.mention == "Sam Rivera"
    assert case.object_id == first
    (waiting,) = linked(memory, first).values()
    assert waiting not in (sam, other)
    assert linked(memory, second) == {"Sam Rivera": waiting}
    assert any(
        "We met [Sam Rivera]" in text for text in memory.reviews.get(case.review_id).snippets
    )
    memory.reviews.accept(case.review_id, entity=sam, remember="no")
    assert linked(memory, second) == {"Sam Rivera": sam}
    assert {first, second} <= around(memory, sam)


def test_a_mention_that_the_caller_states_wins_and_may_be_new(memory: Memory) -> None:
    service = say(memory, "Order Service", "system")
    text = "Nova replaces Order Service."
    nova = EntityRef(name="Nova", type="project")
    at = text.index("Order")
    object_id = observed(memory, text, mentions=[(0, 4, nova), (at, at + 5, service)])
    found = linked(memory, object_id)
    assert set(found) == {"Nova", "Order"}
    assert found["Order"] == service
    assert memory.as_of().entity("Nova").type == "project"


@pytest.mark.parametrize(
    "stated",
    [[(0, 99, "Nova")], [(4, 4, "Nova")], [(0, 4, "Nova"), (2, 6, "Nova")], [(0, 3, "you")]],
)
def test_a_stated_mention_that_does_not_fit_is_refused(memory: Memory, stated: Any) -> None:
    with refused(InvalidInput, "bad_mention"):
        memory.observe("Nova runs.", "Ann Lee", mentions=stated)
    assert memory.entities.list() == ()


def test_a_pronoun_names_nobody(memory: Memory) -> None:
    ann = say(memory, "Ann Lee", "person")
    memory.entities.add_alias(ann, "You")
    assert linked(memory, observed(memory, "You told me that they know Your plan.")) == {}


class Loud:
    """Takes every word of four letters for a person."""

    name, version = "loud", "1"

    def extract(self, text: str, *, scope: Any = None, as_of: int = 0) -> tuple[Mention, ...]:
        words = [word.strip(".") for word in text.split()]
        return tuple(
            Mention(text.index(w), text.index(w) + 4, w, "person", MentionSource.MODEL, None, 0.5)
            for w in words
            if len(w) == 4
        )


def test_a_model_finds_names_and_makes_nobody(open_memory: Open) -> None:
    memory = open_memory(mentions=Loud())
    memory.vocabulary.define_slot("noted", description="what was noted")
    nova = say(memory, "nova", "project")
    object_id = observed(memory, "They said nova will move.")
    assert linked(memory, object_id) == {"nova": nova}
    assert {e.name for e in memory.entities.list()} == {"nova", "Ann Lee"}


def test_erasing_an_entity_takes_the_texts_that_mention_it(memory: Memory) -> None:
    sam = say(memory, "Sam Rivera", "person")
    object_id, other = observed(memory, TEXT), observed(memory, "Nobody was named here.")
    receipt = memory.erase(entity=sam, reason="asked to")
    assert object_id in receipt.object_ids
    assert other not in receipt.object_ids
    assert memory.as_of().search("asked whether down").hits == ()
    assert memory.doctor() == ()


def test_erasing_a_text_leaves_whom_it_mentioned(memory: Memory) -> None:
    sam = say(memory, "Sam Rivera", "person")
    object_id = observed(memory, TEXT)
    memory.erase(object_id, reason="asked to")
    assert object_id not in around(memory, sam)
    assert memory.as_of().value(sam, "noted") == "x"
    assert memory.doctor() == ()


def test_links_are_read_exported_and_refused_without_a_claim(store: Store) -> None:
    commit(store, [Say(object_id="t", slot=None, subject=None, text="Sam and Sam")], tx=10)
    links = tuple(MentionLink(object_id="t", entity_id="e1", start=at, end=at + 3) for at in (0, 8))
    add(store, tx=11, entities=(entity("e1"),), mentions=links)
    with store.reading(TENANT) as reader:
        assert reader.find(MENTIONS, "object_id", ["t", "nothing"]) == links
        assert tuple(reader.records(RecordKind.MENTION)) == links
        found = reader.around(["e1"], sight=ALL, point=Point(5, 20), limit=9)
        assert [v.row.claim.object_id for v in found.versions] == ["t"]
    with store.writing(TENANT) as tx:
        tx.lock()
        assert tx.objects_of(["e1"]) == ("t",)
    with pytest.raises(Fault):
        add(
            store,
            tx=12,
            mentions=(MentionLink(object_id="nothing", entity_id="e1", start=0, end=1),),
        )
    erase(store, 20, objects=("t",))
    with store.writing(TENANT) as tx:
        tx.lock()
        assert tx.objects_of(["e1"]) == ()
    assert entity("e1").state is EntityState.ACTIVE
