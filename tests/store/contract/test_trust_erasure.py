"""What is erased is gone from every byte that a store keeps, and names go on by who uses them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tenure import InvalidInput, Memory, NotFound, Principal
from tenure.schema.values import whole_repr
from tenure.tests.store.builders import Open
from tenure.tests.support.refusals import refused

Bytes = Callable[[Memory], bytes]
WHY = {"why_it_matters": "so that the letter arrives"}

ALL_OF_TENANT = """
MATCH (n) WHERE n.tenant_id = $tenant OPTIONAL MATCH (n)-[r]->()
RETURN properties(n) AS node, properties(r) AS edge
"""


@pytest.fixture
def stored_bytes(request: pytest.FixtureRequest, tmp_path: Path) -> Bytes:
    """A function that returns everything that a store keeps, in lower case."""

    def of(memory: Memory) -> bytes:
        memory.flush()
        if "neo4j" in request.node.name:
            driver = request.getfixturevalue("neo4j_driver")
            answer = driver.execute_query(ALL_OF_TENANT, tenant=memory.principal.tenant)
            return repr([record.data() for record in answer.records]).lower().encode()

        files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
        return b"".join(files).lower()

    return of


def test_an_erased_entity_is_in_no_byte_of_the_store(
    open_memory: Open, stored_bytes: Bytes, tmp_path: Path
) -> None:
    memory = open_memory(artifacts=str(tmp_path / "originals"))
    nadia = {"name": "Nadia Rivera", "type": "person", "external_ids": {"crm": "crm-zanzibar"}}
    paths = {"source_origin": "user://zanzibar", "update_path": "user://zanzibar/ask"}
    first = memory.write(
        nadia, "office", "zanzibar street", **paths, idempotency_key="key of zanzibar"
    )
    # A namesake keeps her name in its receipt, as a candidate that it was compared with.
    other = memory.write(
        {"name": "Nadja Rivera", "type": "person"}, "office", "Oslo", idempotency_key="other"
    )
    assert other.resolution is not None
    assert "Nadia Rivera" in whole_repr(other.resolution.candidates)
    memory.compile("analytical_reporting", "where does Nadia Rivera sit?")
    session = memory.session("s1", model="claude-opus-4-1")
    session.on_turn_start("Please call Nadia Rivera.")
    memory.artifacts.put("Nadia of zanzibar", origin="file://zanzibar.txt")
    assert b"nadia" in stored_bytes(memory)

    (artifact,) = memory.artifacts.list()
    memory.artifacts.erase(artifact.address, reason="asked to")
    memory.erase(entity=first.entity, reason="asked to")
    left = stored_bytes(memory)
    assert b"nadia" not in left
    assert b"zanzibar" not in left
    assert b"nadja" in left
    again = memory.write(
        {"name": "Nadja Rivera", "type": "person"}, "office", "Oslo", idempotency_key="other"
    )
    assert (again.replayed, again.object_id) == (True, other.object_id)
    assert memory.doctor() == ()


def test_a_name_that_only_an_erased_write_used_goes_with_it(
    memory: Memory, stored_bytes: Bytes
) -> None:
    sam = {"name": "Sam Rivera", "type": "person", "aliases": ["Zanzibar Sam"]}
    first = memory.write(sam, "office", "Rome")
    memory.write("Sam Rivera", "manager", "Eve Park")
    assert memory.as_of().entity(first.entity).aliases == ("Sam Rivera", "Zanzibar Sam")

    memory.erase(first.object_id, reason="asked to")
    page = memory.as_of().entity("Sam Rivera")
    assert (page.entity_id, page.aliases) == (first.entity, ("Sam Rivera",))
    assert b"zanzibar" not in stored_bytes(memory)
    assert memory.write("Sam Rivera", "office", "Oslo").entity == first.entity
    assert memory.doctor() == ()


def test_an_entity_without_a_name_is_shown_by_its_id(memory: Memory, stored_bytes: Bytes) -> None:
    first = memory.write("Zanzibar Sam", "office", "Rome")
    by_id = memory.write(first.entity, "manager", "Eve Park")
    memory.erase(first.object_id, reason="asked to")

    # The sentence of the write by id says the name, so the name goes on as its word.
    assert memory.as_of().entity(first.entity).name == "Zanzibar Sam"
    memory.erase(by_id.object_id, reason="asked to")
    memory.write(first.entity, "manager", "Ada Lind")
    assert b"zanzibar" not in stored_bytes(memory)
    assert memory.as_of().entity(first.entity).name == (first.entity or "")[:8]
    with pytest.raises(NotFound):
        memory.as_of().entity("Zanzibar Sam")
    # Whoever uses that name from now on means somebody new.
    assert memory.write("Zanzibar Sam", "office", "Oslo").entity != first.entity
    assert memory.doctor() == ()


def test_a_name_goes_on_as_the_word_of_who_uses_it_too(memory: Memory) -> None:
    tenant = memory.principal.tenant
    ann, bob = (memory.bind(Principal(tenant=tenant, user=user)) for user in ("ann", "bob"))
    first = memory.write("Sam Rivera", "office", "Rome")
    own: dict[str, Any] = {"scope": {"user": "ann"}}
    ann.write("Sam Rivera", "manager", "Eve Park", **own)
    memory.write(first.entity, "office", "Oslo", valid_from="2020-01-01T00:00:00Z")

    memory.erase(first.object_id, reason="asked to")
    assert ann.as_of().entity(first.entity).name == "Sam Rivera"
    assert bob.as_of().entity(first.entity).name == (first.entity or "")[:8]


def test_a_name_that_was_taken_back_gives_way(memory: Memory) -> None:
    typo = memory.write({"name": "Sam Riviera", "external_ids": {"crm": "7"}}, "office", "Rome")
    memory.write({"name": "Sam Rivera", "external_ids": {"crm": "7"}}, "manager", "Eve Park")
    assert memory.as_of().entity(typo.entity).name == "Sam Riviera"
    memory.write(object_id=typo.object_id, op="retract")
    assert memory.as_of().entity(typo.entity).name == "Sam Rivera"


def test_session_texts_that_repeat_an_erased_object_are_emptied(
    memory: Memory, stored_bytes: Bytes
) -> None:
    said = memory.write(content="The zanzibar vault opens at noon.", **WHY)
    session = memory.session("s1", model="claude-opus-4-1")
    session.on_turn_start("Remember: the zanzibar vault opens at noon.")
    session.on_turn_end("It opens at noon.")
    session.on_turn_start("What is for lunch?")

    receipt = memory.erase(said.object_id, reason="asked to")
    assert len(receipt.sessions) == 1
    left = stored_bytes(memory)
    assert b"zanzibar" not in left
    assert b"for lunch" in left


def test_an_erasure_lists_what_names_an_entity_in_words_of_its_own(memory: Memory) -> None:
    named = memory.write({"name": "Nadia Zorblatt", "type": "person"}, "office", "Oslo")
    memory.entities.add_alias(str(named.entity), "N. Zorblatt")
    observed = memory.observe("Lunch with Nadia Zorblatt.", source_origin="doc://m/1")[0]
    tenant = memory.principal.tenant
    bob = memory.bind(Principal(tenant=tenant, user="bob", roles=frozenset({"member"})))

    texts = [
        memory.write(content=words, source_origin="doc://m/2", **WHY)
        for words in (
            "The meeting with nadia\nzorblatt ran late.",
            "N. Zorblatt was there too.",
            "A Zorblatt, and a Nadia of another name.",
        )
    ]
    said = {"content": "Nadia Zorblatt told me", "layer": "user"}
    private = bob.write("Sam Rivera", "email", "sam@x.example", **said)
    memory.write("Sam Rivera", "office", "Rome")

    receipt = memory.erase(entity=named.entity, reason="asked to")
    assert set(receipt.object_ids) == {named.object_id, observed.object_id}
    naming = [texts[0].object_id, texts[1].object_id, private.object_id]
    assert receipt.independent == tuple(sorted(naming))


REFERRING = {
    "Ask Mrs Zorblatt, she has the key.": "listed",
    "Frau Dr. Zorblatt kommt um sechs.": "listed",
    "N. Zorblatt was there.": "listed",
    "Zorblatt, Nadia: two cups.": "listed",
    "Write to NZ@mail.example for it.": "erased",
    "Staff 52b-1771 left.": "erased",
    "Staff 52B1771 left.": "erased",
    "Invoice 40213 is paid.": "listed",
    "Call +49 (30) 55501234 at six.": "erased",
    "Call 030/5550-1234 at six.": "erased",
    "Call 030 5550 1235 at six.": "",
    "Ask the desk, info@mail.example.": "listed",
    "The Zorblatt bridge is closed.": "",
    "Mrs Zorblattova has the key.": "",
    "Ask B. Zorblatt.": "",
}
"""Texts about a person without a link, and what an erasure of that person makes of each."""


@pytest.mark.parametrize("is_known_first", [True, False])
def test_an_erasure_finds_texts_that_refer_to_a_person_without_a_link(
    memory: Memory, is_known_first: bool
) -> None:
    ids = {
        "email": "nz@mail.example",
        "staff": "52b-1771",
        "phone": "+49 30 5550 1234",
        "badge": "40213",
    }
    person = {"name": "Nadia Zorblatt", "type": "person"}
    desk = person | {"external_ids": {"email": "info@mail.example", "staff": "52b-1771"}}
    writes: list[dict[str, Any]] = [
        {"subject": said, "slot": "office", "value": "Oslo"}
        for said in (person | {"external_ids": ids}, desk)
    ]
    texts = [{"content": words, "source_origin": "doc://m/2", **WHY} for words in REFERRING]
    writes = [*writes, *texts] if is_known_first else [*texts, *writes]
    written = {write.get("content"): memory.write(**write).object_id for write in writes}

    receipt = memory.erase(entity="Nadia Zorblatt", reason="asked to")
    kinds = {"listed": receipt.independent, "erased": receipt.object_ids}
    for words, becomes in REFERRING.items():
        found = [kind for kind, ids in kinds.items() if written[words] in ids]
        assert found == ([becomes] if becomes else []), words


def test_an_erasure_takes_along_who_waits_to_be_that_person_alone(memory: Memory) -> None:
    known = memory.write({"name": "Nadia Zorblatt", "type": "person"}, "office", "Oslo")
    pending = memory.write({"name": "N. Zorblatt", "type": "person"}, "phone", "5550177")
    assert memory.reviews.list()
    receipt = memory.erase(entity=known.entity, reason="case 3")
    assert receipt.entity_ids == tuple(sorted((str(known.entity), str(pending.entity))))
    assert pending.object_id in receipt.object_ids
    assert memory.reviews.list() == () and memory.doctor() == ()


def test_the_receipt_of_an_erasure_names_who_had_received_what_is_erased(memory: Memory) -> None:
    fact = memory.write({"name": "Nadia Zorblatt", "type": "person"}, "office", "Oslo")
    tenant = memory.principal.tenant
    for user, session in (("ann", "s1"), ("nadia.zorblatt", "s2")):
        reader = memory.bind(Principal(tenant=tenant, user=user, session=session))
        reader.compile("analytical_reporting", "Where does Nadia Zorblatt sit?")
    memory.compile("analytical_reporting", "What is for lunch?")

    receipt = memory.erase(entity=fact.entity, reason="case 3")
    assert receipt.envelopes == tuple(row.envelope_id for row in receipt.recipients)
    rows = {row.session: row for row in receipt.recipients}
    # The user who is erased is not kept by name.
    assert {session: row.user for session, row in rows.items()} == {"s1": "ann", "s2": None}
    row = rows["s1"]
    assert row.object_ids == (fact.object_id,)
    assert row.task == "analytical_reporting" and row.tokens and row.tx and row.valid


def test_an_erasure_takes_the_facts_of_no_namesake_for_its_own(memory: Memory) -> None:
    first, second = (
        memory.write(
            {"name": "Nadia Zorblatt", "type": "person", "external_ids": {"hr": number}},
            "office",
            "Oslo",
        )
        for number in ("1", "2")
    )
    assert first.entity != second.entity
    assert memory.erase(entity=first.entity, reason="asked to").independent == ()


def test_an_entity_whose_names_were_erased_takes_the_next_one_from_anybody(memory: Memory) -> None:
    page = {"name": "notes one", "type": "document", "external_ids": {"record": "notes/1"}}
    agents = {"source_origin": "agent://notes"}
    first = memory.write(page, "record", {"v": 1}, **agents)
    memory.erase(first.object_id, reason="asked to")
    assert memory.entities.list("document") == ()

    again = memory.write(page, "record", {"v": 2}, **agents)
    assert again.entity == first.entity
    other = page | {"name": "notes of somebody else"}
    memory.write(other, "record", {"v": 3}, **agents)
    (document,) = memory.entities.list("document")
    assert document.aliases == ("notes one",)
    assert document.external_ids == {"record": "notes/1"}


def test_an_erasure_empties_the_envelopes_whose_request_names_the_entity(
    memory: Memory, stored_bytes: Bytes
) -> None:
    memory.write("Oslo Office", "office", "Oslo", valid_from="2026-01-01T00:00:00Z")

    def ask(query: str, **further: Any) -> str:
        # Each at another instant, so that equal requests are two envelopes.
        return memory.compile("analytical_reporting", query, **further).envelope_id

    # Before anybody knew her, in another spelling, as a goal, in what was given as evidence.
    naming_ids = [
        ask("Who is NADIA-RIVERA in Oslo?"),
        ask("Who is Nádia Rivera in Oslo?"),
        ask("Who sits in Oslo?", goal="a desk for Nadia Rivera"),
        ask("Who sits in Oslo?", evidence=["Mail of crm-zanzibar: a desk, please."]),
        ask("What does nadia like?"),
    ]
    kept_ids = [ask("What of Nadiaville?"), ask("Will it rain in Oslo?")]
    nadia = {"name": "Nadia Rivera", "aliases": ["Nadia", "Will"], "type": "person"}
    memory.write({**nadia, "external_ids": {"crm": "crm-zanzibar"}}, "office", "Rome")
    naming_ids.append(ask("Where is the office of Will?"))
    memory.flush()

    receipt = memory.erase(entity="Nadia Rivera", reason="case 17")
    assert set(naming_ids) <= set(receipt.envelopes)
    assert not set(kept_ids) & set(receipt.envelopes)
    for envelope_id in naming_ids:
        with refused(NotFound, "erased"):
            memory.replay(envelope_id)
    for envelope_id in kept_ids:
        assert memory.replay(envelope_id).envelope_id == envelope_id
    # The name of a place that begins as she was called is another word.
    file_bytes = stored_bytes(memory).replace(b"nadiaville", b"")
    for words in (b"nadia", "nádia".encode(), b"rivera", b"zanzibar"):
        assert words not in file_bytes
    assert memory.doctor() == ()


def test_a_word_that_a_request_bound_to_somebody_else_is_no_name_of_the_erased(
    memory: Memory,
) -> None:
    beam = {"name": "Max Beam", "type": "person", "aliases": ["Max"]}
    memory.write({**beam, "external_ids": {"crm": "crm-1001"}}, "office", "Oslo")
    other = memory.compile("analytical_reporting", "Where is the office of Max?")
    memory.flush()
    weber = {"name": "Max Weber", "type": "person", "aliases": ["Max"]}
    memory.write({**weber, "external_ids": {"crm": "crm-1002"}}, "office", "Rome")
    receipt = memory.erase(entity="Max Weber", reason="case 17")
    assert other.envelope_id not in receipt.envelopes
    assert memory.replay(other.envelope_id).text == other.text


def test_the_words_of_an_erased_object_go_with_the_envelopes_that_were_asked_in_them(
    memory: Memory,
) -> None:
    text = "The boat of the canteen is painted green."
    asked = memory.compile("analytical_reporting", f"Is it true? {text}")
    other = memory.compile("analytical_reporting", "Which boat is painted green?")
    told = memory.write("Canteen", content=text, object_type="retrieved_passage", **WHY)
    receipt = memory.erase(told.object_id, reason="case 17")
    assert receipt.envelopes == (asked.envelope_id,)
    assert memory.replay(other.envelope_id).text == other.text


@pytest.mark.parametrize(
    "reason",
    [
        "asked for by Sam Rivera",
        "SAM-RIVERA, case 17",
        "Samantha wrote to us",
        "forget sam@example.org",
        "Zoe\u0308 asked",
    ],
)
def test_a_reason_that_names_who_is_erased_is_refused(memory: Memory, reason: str) -> None:
    memory.vocabulary.define_slot("noted", description="what was noted")
    names = ["Samantha", "Zoë", "Will", "17"]
    person = {"name": "Sam Rivera", "aliases": names, "external_ids": {"email": "sam@example.org"}}
    entity = memory.write(person, "noted", "Ulm").entity
    with refused(InvalidInput, "reason_names_erased") as refusal:
        memory.erase(entity=entity, reason=reason)
    assert reason.split(maxsplit=1)[0] not in str(refusal.value)
    assert memory.as_of().value(entity, "noted") == "Ulm"

    # A word of every text and the number of a case say nothing of anybody.
    receipt = memory.erase(entity=entity, reason="she will have it so, case 17")
    assert receipt.reason == "she will have it so, case 17"


@pytest.mark.parametrize("reason", ["lived in Chicago", "it says: the vault OPENS at noon."])
def test_a_reason_that_repeats_what_is_erased_is_refused(memory: Memory, reason: str) -> None:
    office = memory.write("Sam Rivera", "office", "Chicago")
    text = memory.write(content="The vault opens at noon.", **WHY)
    erased, other = (office, text) if "Chicago" in reason else (text, office)
    with refused(InvalidInput, "reason_names_erased"):
        memory.erase(erased.object_id, reason=reason)
    assert memory.erase(other.object_id, reason=reason).reason == reason
