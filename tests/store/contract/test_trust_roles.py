"""Roles and sessions: a lead directs the own projects alone, a session belongs to its user."""

import pytest

from tenure import Forbidden, InvalidInput, Memory
from tenure.tests.store.builders import Open, caller
from tenure.tests.support.refusals import refused

SAM = "Sam Rivera"
RULE = {
    "content": "Answer in French.",
    "object_type": "actionable_constraint",
    "why_it_matters": "always",
}
NOTE = {"why_it_matters": "so that the report is right", "object_type": "retrieved_passage"}


def directs(memory: Memory, object_id: str) -> bool:
    """Whether the writer of an object may direct others, as the store keeps it."""
    with memory._backend.store.writing(memory.principal.tenant) as tx:
        tx.lock()
        return tx.assertions((object_id,))[object_id].details.authorship.directs


def test_a_lead_directs_the_own_projects_and_no_tenant(memory: Memory) -> None:
    lead = caller(memory, user="lee", roles={"lead"}, projects={"nova"})
    own = lead.write(**RULE, scope={"project": "nova"}).object_id
    assert directs(memory, own)
    assert not directs(memory, lead.write(SAM, "office", "Rome").object_id)
    with refused(Forbidden, "directive_role_required") as caught:
        lead.write(**RULE, scope={})
    assert "only their projects" in str(caught.value)

    member = caller(memory, user="ann", projects={"nova"})
    assert not directs(memory, member.write(**RULE, scope={"project": "nova"}).object_id)
    assert directs(memory, caller(memory, roles={"steward"}).write(**RULE, scope={}).object_id)


def test_a_session_is_its_users_alone(memory: Memory) -> None:
    ann = caller(memory, user="ann", session="s1")
    bob = caller(memory, user="bob", session="s1")
    notes = [
        who.write(content="Somebody is here.", layer="session", **NOTE).object_id
        for who in (ann, bob)
    ]
    with pytest.raises(Exception, match="no object"):
        bob.as_of().object(notes[0])

    # Closing the session of one user leaves the other's, though both are called s1.
    closing = ann.close_scope("session", "s1")
    assert (closing.touched, closing.examined) == (1, 1)
    assert ann.as_of().search("here").hits == ()
    assert [hit.object.object_id for hit in bob.as_of().search("here").hits] == notes[1:]
    with pytest.raises(Forbidden):
        caller(memory, user="bob", session="s2").close_scope("session", "s1")
    assert memory.close_scope("session", "s1").touched == 1


def test_closing_a_session_leaves_what_its_user_does_not_see(memory: Memory) -> None:
    service = caller(memory, projects=frozenset({"nova"}), session="s1")
    service.write(
        content="nova here",
        object_type="retrieved_passage",
        layer="session",
        scope={"project": "nova", "session": "s1"},
        why_it_matters="here",
    )

    closing = caller(memory, user="ann", session="s1").close_scope("session", "s1")
    assert (closing.touched, closing.examined) == (0, 0)
    assert len(service.as_of().search("here").hits) == 1


def test_what_is_observed_for_a_session_ends_with_it(open_memory: Open) -> None:
    ann = caller(open_memory(), user="ann", session="s1")
    rule = {"half_life_days": 5.0, "minimum_threshold": 0.5}
    first, *claims = ann.observe("I live in Oslo.", SAM, layer="session", decay_rule=rule)
    assert claims
    passage = ann.as_of().object(first.object_id)
    assert (passage.user_id, passage.session_id, passage.state_layer) == ("ann", "s1", "session")
    assert passage.decay_rule == rule
    assert {ann.as_of().object(claim.object_id).session_id for claim in claims} == {"s1"}

    ann.close_scope("session", "s1")
    assert ann.as_of().search("Oslo").hits == ()


def test_a_layer_without_its_id_takes_nothing_in(open_memory: Open) -> None:
    memory = caller(open_memory(), user="ann")
    for layer in ("session", "project"):
        with refused(InvalidInput, "scope_missing"):
            memory.observe("I live in Oslo.", SAM, layer=layer)
    with pytest.raises(Forbidden):
        memory.observe("I live in Oslo.", SAM, layer="tenant")
