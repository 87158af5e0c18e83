"""Claims that were written from what stands in a window, and what the store says of them."""

import json
from datetime import timedelta

import pytest

from tenure import Memory
from tenure.schema.errors import NotFound
from tenure.service.sessions.session import Session


def said(session: Session) -> str:
    """What the next request says of values that no longer hold."""
    text = json.dumps(session.compile("office?").render("openai")["messages"], ensure_ascii=False)
    return text.partition("no longer so:")[2]


def linked(memory: Memory) -> Session:
    session = memory.session("s1", window=9_000)
    receipt = memory.write(subject="Sam Rivera", slot="office", value="Chicago")
    session.on_turn_start("Sam Rivera works in the Chicago office")
    session.link([receipt])
    session.on_turn_end("Noted.")
    session.on_turn_start("And now?")
    return session


def test_a_superseded_value_is_shown_with_what_holds_now(memory: Memory) -> None:
    session = linked(memory)
    before = session.state.seq
    assert said(session) == ""
    memory.write(subject="Sam Rivera", slot="office", value="Oslo")
    assert 'turn 1: office \\"Chicago\\", now \\"Oslo\\"' in said(session)
    (link,) = session.state.links
    assert link.reason == "superseded"

    # It is told once, so nothing is added, and the history keeps its bytes.
    seq = session.state.seq
    context = session.compile("office?")
    assert session.state.seq == seq
    message = context.render("anthropic")["messages"][0]
    assert message["content"][0]["text"] == "Sam Rivera works in the Chicago office"
    assert context.tokens_upper <= session.state.limit
    assert memory.session("s1").state == session.state
    assert session.replay(context.envelope).render("openai") == context.render("openai")
    assert before < seq


def test_an_error_put_right_and_a_time_that_ended_have_their_reasons(memory: Memory) -> None:
    session = linked(memory)
    memory.write(subject="Sam Rivera", slot="office", value="Oslo", op="correct")
    assert "Oslo" in said(session)
    assert session.state.links[0].reason == "error_invalidated"

    receipt = memory.write(subject="Lee Park", slot="office", value="Rome")
    session.link([receipt], "window://2")
    memory.write(subject="Lee Park", slot="office", op="delete")
    assert '\\"Rome\\", which no longer holds' in said(session)
    assert [link.reason for link in session.state.links] == ["error_invalidated", "phase_change"]


def test_a_claim_that_holds_again_is_told_of_no_more(memory: Memory) -> None:
    session = linked(memory)
    newer = memory.write(subject="Sam Rivera", slot="office", value="Oslo")
    assert "Oslo" in said(session)
    memory.write(subject="Sam Rivera", slot="office", value="Oslo", op="retract")
    assert said(session) == ""
    assert session.state.links[0].reason == ""

    session.link([newer])
    said(session)
    assert session.state.links[1].reason == "error_invalidated"


def test_a_claim_that_begins_later_has_not_ended(memory: Memory) -> None:
    session = memory.session("s1", window=9_000)
    now = memory.as_of().valid
    assert now is not None
    receipt = memory.write(
        subject="Sam Rivera",
        slot="office",
        value="Oslo",
        valid_from=now + timedelta(days=30),
        planned=True,
    )
    session.on_turn_start("From next month Sam Rivera works in Oslo")
    session.link([receipt])
    assert said(session) == ""
    assert session.state.links[0].reason == ""


def test_only_what_stands_in_the_window_can_be_linked(memory: Memory) -> None:
    session = memory.session("s1", window=9_000)
    receipt = memory.write(subject="Sam Rivera", slot="office", value="Chicago")
    for item in (None, "window://77"):
        with pytest.raises(NotFound):
            session.link([receipt], item)
