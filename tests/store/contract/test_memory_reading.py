"""Reading through the client: scopes, permissions, erasure, derivation, tenants, transfer."""

import pytest

from tenure import Forbidden, Memory, NotFound, Principal, Write
from tenure.schema.values import whole_repr
from tenure.tests.store.builders import caller
from tenure.tests.support.refusals import refused

JAN, JUN = "2026-01-01T00:00:00Z", "2026-06-01T00:00:00Z"


def test_a_view_never_changes(memory: Memory) -> None:
    memory.write(subject="Sam", slot="office", value="NYC", valid_from=JAN)
    view = memory.as_of()
    before = view.slot("Sam", "office")
    memory.write(subject="Sam", slot="office", value="LA", op="correct", valid_from=JAN)
    assert view.slot("Sam", "office") == before
    assert memory.as_of().value("Sam", "office") == "LA"


def test_a_narrower_scope_wins_and_others_never_see_it(memory: Memory) -> None:
    memory.write(subject="Acme", slot="jurisdiction", value="US", valid_from=JAN)
    ann = caller(memory, user="ann")
    ann.write(subject="Acme", slot="jurisdiction", value="EU", valid_from=JAN,
              scope={"user": "ann"})  # fmt: skip
    assert ann.as_of().value("Acme", "jurisdiction") == "EU"
    assert memory.as_of().value("Acme", "jurisdiction") == "US"
    bob = caller(memory, user="bob")
    assert bob.as_of().value("Acme", "jurisdiction") == "US"
    with pytest.raises(Forbidden):
        bob.write(subject="Acme", slot="jurisdiction", value="UK", scope={"user": "ann"})


def test_what_decides_and_may_not_be_seen_is_withheld(memory: Memory) -> None:
    memory.write(subject="Sam", slot="office", value="NYC", valid_from=JAN)
    memory.write(subject="Sam", slot="office", value="Area 51", valid_from=JUN,
                 security_classification="highly_restricted")  # fmt: skip
    low = caller(memory, user="low", clearance="public")
    state = low.as_of().slot("Sam", "office")
    assert (state.status, state.reason) == ("unknown", "withheld")
    assert "Area 51" not in whole_repr(state)
    assert low.as_of().search("area 51").hits == ()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Die Rechnungen liegen im Archiv.", "Rechnung"),
        ("Jeder Kunde bekommt Post.", "alle Kunden"),
        ("Die Kündigungsfrist steht im Vertrag.", "Frist"),
        ("Wir prüfen alle Richtlinien.", "Sicherheitsrichtlinie"),
        ("Les bureaux ferment à six heures.", "bureau"),
        ("请打开Photoshop软件", "Photoshop"),
    ],
)
def test_a_word_finds_its_plural_and_the_compound_it_stands_in(
    memory: Memory, text: str, words: str
) -> None:
    memory.observe(text)
    assert [hit.object.content for hit in memory.as_of().search(words)] == [text]
    assert text in memory.compile("assistant", words, budget_tokens=400).text


def test_deny_wins_and_todays_permissions_hold_for_the_past(memory: Memory) -> None:
    receipt = memory.write(subject="Sam", slot="office", value="NYC", valid_from=JAN,
                           allow_roles=["engineer"])  # fmt: skip
    engineer = caller(memory, user="e", roles={"engineer"})
    assert engineer.as_of().value("Sam", "office") == "NYC"
    old = engineer.as_of()
    memory.reclassify(receipt.object_id, deny_roles=["engineer"])
    assert old.value("Sam", "office") is None
    with pytest.raises(NotFound):
        engineer.explain(receipt.object_id)


def test_an_erased_object_says_erased_in_the_past_and_resurfaces_nothing_wrong(
    memory: Memory,
) -> None:
    memory.write(subject="Sam", slot="office", value="NYC", valid_from=JAN)
    second = memory.write(subject="Sam", slot="office", value="Secretville", valid_from=JUN)
    receipt = memory.erase(second.object_id, reason="request 7")
    assert receipt.object_ids == (second.object_id,)
    assert memory.as_of(tx=second.tx).slot("Sam", "office").status == "erased"
    assert memory.as_of().value("Sam", "office") == "NYC"
    assert "Secretville" not in whole_repr(memory.history("Sam", "office"))
    assert memory.doctor() == ()


def test_an_erased_object_explains_itself_without_the_words_of_its_receipt(memory: Memory) -> None:
    memory.write(subject="Sam", slot="office", value="NYC", valid_from=JAN)
    second = memory.write(subject="Sam", slot="office", value="Secretville", valid_from=JUN)
    memory.write(subject="Sam", slot="office", value="Secretville", valid_from=JAN)
    memory.erase(second.object_id, reason="request 7")
    explanation = memory.explain(second.object_id)
    assert explanation.verdicts == ()
    assert "Secretville" not in whole_repr(explanation)


def test_a_receipt_of_a_confirmation_leads_to_what_it_confirmed(memory: Memory) -> None:
    first = memory.write(subject="Sam", slot="office", value="NYC")
    again = memory.write(subject="Sam", slot="office", value="NYC", source_origin="import://crm")
    assert again.outcome == "confirmed"
    explanation = memory.explain(again.object_id)
    assert explanation.object.object_id == first.object_id
    assert [link.object_id for link in explanation.confirmations] == [again.object_id]


def test_a_receipt_of_a_retraction_leads_to_what_it_took_back(memory: Memory) -> None:
    first = memory.write(subject="Sam", slot="office", value="NYC")
    retraction = memory.write(subject="Sam", slot="office", value="NYC", op="retract")
    assert memory.explain(retraction.object_id).object.object_id == first.object_id


@pytest.mark.parametrize("keys", [("a", "b"), ("b", "a"), ("c", "d"), ("d", "c")])
def test_either_receipt_of_a_thing_said_twice_in_one_write_leads_to_it(
    memory: Memory, keys: tuple[str, str]
) -> None:
    said = {
        "subject": "Sam",
        "slot": "office",
        "value": "NYC",
        "valid_from": "2026-01-01T00:00:00Z",
    }
    receipts = memory.write_many([Write(**said, idempotency_key=key) for key in keys])
    assert [receipt.outcome for receipt in receipts] == ["accepted", "confirmed"]
    explained = {memory.explain(receipt.object_id).object.object_id for receipt in receipts}
    assert len(explained) == 1


def test_what_the_same_write_corrected_leads_to_the_correction(memory: Memory) -> None:
    said = {"subject": "Sam", "slot": "office", "valid_from": "2026-01-01T00:00:00Z"}
    wrong, right = memory.write_many(
        [Write(**said, value="NYC"), Write(**said, value="Rome", op="correct")]
    )
    assert memory.explain(wrong.object_id).object.object_id == right.object_id


def test_values_of_every_type_are_what_their_claims_were_written_with(memory: Memory) -> None:
    memory.write(subject="Sam", slot="office", value='Cafe\u0301 "Loop" ')
    memory.write(subject="Sam", slot="manager", value="Dana Kim")
    memory.write(subject="Nova", slot="budget", value=1e21)
    memory.write(subject="Nova", slot="deadline", value="2026-01-01T00:00:00+02:00")
    memory.write(subject="Nova", slot="deadline", value="9999-12-31T23:59:59.999999Z")
    memory.write(subject="Log", slot="record", value={"b": [1.0, {"z": None}], "a": "\u2028"})
    memory.write(subject="Sam", slot="skill", op="delete")
    memory.write(subject="Sam", slot="office", value="Rome", op="deny")
    memory.write(content="  Always be \n brief. e\u0301 ", why_it_matters="style")
    memory.observe("I live in  Rome and\n have a dog. ")
    assert memory.doctor() == ()


@pytest.mark.parametrize("slot", ["office", "skill"])
@pytest.mark.parametrize("earlier", [None, "Rome"])
def test_what_its_own_write_took_back_says_so(
    memory: Memory, slot: str, earlier: str | None
) -> None:
    if earlier:
        memory.write(subject="Sam", slot=slot, value=earlier, valid_from=JAN)
    said = {"subject": "Sam", "slot": slot, "value": "NYC", "valid_from": JUN}
    fact, retraction = memory.write_many([Write(**said), Write(**said, op="retract")])
    for receipt in (fact, retraction):
        explanation = memory.explain(receipt.object_id)
        assert explanation.object.object_id == fact.object_id
        assert explanation.object.value == "NYC"
        assert explanation.object.contradiction_status == "overridden"
        assert explanation.object.status_reason == "retracted"
        (row,) = explanation.rows
        assert (row.status, row.reason, row.tx_start, row.tx_end) == (
            "overridden",
            "retracted",
            fact.tx,
            fact.tx,
        )
        (link,) = explanation.superseded_by
        assert link.object_id == retraction.object_id


def test_what_a_hidden_write_took_back_itself_stays_hidden(memory: Memory) -> None:
    said = {"subject": "Sam", "slot": "office", "value": "NYC", "valid_from": JAN,
            "security_classification": "highly_restricted"}  # fmt: skip
    receipts = memory.write_many([Write(**said), Write(**said, op="retract")])
    member = memory.bind(Principal(tenant=memory.principal.tenant, user="ann", roles={"member"}))
    for receipt in receipts:
        assert memory.explain(receipt.object_id).object.value == "NYC"
        with pytest.raises(NotFound, match=receipt.object_id):
            member.explain(receipt.object_id)

    memory.erase(receipts[0].object_id, reason="request 8")
    with pytest.raises(NotFound, match=receipts[0].object_id):
        memory.explain(receipts[0].object_id)


def test_a_confirmation_of_what_is_hidden_leads_nowhere(memory: Memory) -> None:
    secret = {"security_classification": "highly_restricted"}
    memory.write(subject="Sam", slot="office", value="NYC", **secret)
    again = memory.write(subject="Sam", slot="office", value="NYC", **secret)
    member = memory.bind(Principal(tenant=memory.principal.tenant, user="ann", roles={"member"}))
    with pytest.raises(NotFound, match=again.object_id):
        member.explain(again.object_id)


def test_only_the_privileged_erase(memory: Memory) -> None:
    receipt = memory.write(subject="Sam", slot="office", value="NYC")
    with refused(Forbidden, "privilege_required"):
        caller(memory, user="x").erase(receipt.object_id, reason="spite")
    assert memory.as_of().value("Sam", "office") == "NYC"


def test_derived_objects_inherit_the_weakest_and_go_stale(memory: Memory) -> None:
    page = memory.write(content="Nova ships on Friday.", source_origin="https://example.org/n",
                        security_classification="confidential")  # fmt: skip
    fact = memory.write(subject="Nova", slot="status", value="shipping", valid_from=JAN)
    belief = memory.write(
        subject="Nova", slot="assumes", value="it ships on Friday", valid_from=JAN,
        source_origin="tenure://summary", derived_from=[page.object_id, fact.object_id],
    )  # fmt: skip
    story = memory.explain(belief.object_id)
    assert story.object.authority_level == 4
    assert story.object.security_classification == "confidential"
    assert {link.object_id for link in story.sources} == {page.object_id, fact.object_id}
    memory.write(subject="Nova", slot="status", value="blocked", valid_from=JUN)
    kinds = {action.kind for action in memory.actions()}
    assert "reverify_belief" in kinds


def test_a_tie_is_settled_by_a_person(memory: Memory) -> None:
    a = memory.write(subject="Sam", slot="office", value="NYC", valid_from=JAN)
    b = memory.write(subject="Sam", slot="office", value="LA", valid_from=JAN)
    state = memory.as_of().slot("Sam", "office")
    assert state.status == "disputed"
    assert {c.object_id for c in state.candidates} == {a.object_id, b.object_id}
    (action,) = memory.actions()
    memory.actions.resolve(action.action_id, winner=b.object_id)
    assert memory.as_of().value("Sam", "office") == "LA"
    assert memory.actions() == ()


def test_diff_says_what_changed_between_two_beliefs(memory: Memory) -> None:
    first = memory.write(subject="Sam", slot="office", value="NYC", valid_from=JAN)
    second = memory.write(subject="Sam", slot="office", value="LA", valid_from=JUN)
    changes = memory.diff(first.tx, second.tx)
    assert {(c.kind, c.value, c.status) for c in changes} == {
        ("closed", "NYC", "clean"),
        ("opened", "NYC", "clean"),
        ("opened", "NYC", "overridden"),
        ("opened", "LA", "clean"),
    }
    assert memory.diff(second.tx, second.tx) == ()


def test_a_timeline_joins_neighbours_of_one_value(memory: Memory) -> None:
    memory.write(subject="Sam", slot="office", value="NYC", valid_from=JAN, valid_until=JUN)
    memory.write(subject="Sam", slot="office", value="NYC", valid_from=JUN)
    (segment,) = memory.as_of().timeline("Sam", "office")
    assert segment.valid_until is None
    state = memory.as_of(valid="2026-02-01T00:00:00Z").slot("Sam", "office")
    assert state.valid_until is None


def test_an_object_says_its_names_identifiers_and_what_took_its_place(memory: Memory) -> None:
    sam = {"name": "Sam Rivera", "type": "person", "external_ids": {"crm": "C-7"}}
    first = memory.write(subject=sam, slot="office", value="NYC", valid_from=JAN)
    second = memory.write(subject="Sam Rivera", slot="office", value="Chicago", valid_from=JAN,
                          op="correct")  # fmt: skip
    page = memory.as_of().object(first.object_id)
    assert page.supersession_link == second.object_id
    assert page.aliases == ("Sam Rivera",)
    assert page.external_ids == {"crm": "C-7"}
    assert memory.as_of().slot("Sam Rivera", "office").object.supersession_link is None
    assert memory.as_of(tx=first.tx).object(first.object_id).supersession_link is None


def test_a_hidden_winner_is_not_named(memory: Memory) -> None:
    first = memory.write(subject="Sam", slot="office", value="NYC", valid_from=JAN)
    second = memory.write(subject="Sam", slot="office", value="Bunker", valid_from=JAN,
                          op="correct", allow_roles=["legal"])  # fmt: skip
    member = caller(memory, user="x")
    assert member.as_of().object(first.object_id).supersession_link is None
    lawyer = caller(memory, user="y", roles={"legal"})
    assert lawyer.as_of().object(first.object_id).supersession_link == second.object_id


def test_names_and_identifiers_of_a_private_scope_stand_in_nobody_elses_objects(
    memory: Memory,
) -> None:
    ann = caller(memory, user="ann")
    secret = {"name": "Quokka Person", "type": "person", "external_ids": {"crm": "C-9"}}
    receipt = ann.write(subject=secret, slot="office", value="NYC", scope={"user": "ann"})
    entity = ann.as_of().object(receipt.object_id).canonical_entity_ids[0]
    assert ann.as_of().object(receipt.object_id).external_ids == {"crm": "C-9"}
    public = memory.write(subject=entity, slot="title", value="engineer")
    seen = caller(memory, user="bob").as_of().object(public.object_id)
    assert (seen.aliases, seen.external_ids) == ((), {})


def test_an_object_says_when_it_was_last_used_and_confirmed(memory: Memory) -> None:
    memory.write(subject="Sam", slot="office", value="NYC")
    again = memory.write(subject="Sam", slot="office", value="NYC")
    shown = memory.as_of().slot("Sam", "office").object
    assert shown.last_confirmed == again.tx
    assert shown.last_used is None
    memory.compile("analytical_reporting", "Where is Sam's office?")
    memory.flush()
    assert memory.as_of().slot("Sam", "office").object.last_used is not None
