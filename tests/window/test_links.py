"""What units stated and the store has overtaken: shown beside them, and the first to leave."""

from dataclasses import replace

from tenure.tests.window.conversation_replay import Conversation
from tenure.window.events import ERASURE_MARK, EventKind
from tenure.window.links import overtaken_lines, spent_units
from tenure.window.state import snapshot_text, state_from
from tenure.window.step import step


def linked_talk(turns: int = 3, limit: int = 20_000) -> Conversation:
    """A talk whose first message stated two claims."""
    talk = Conversation(limit)
    talk.user("My office is in Chicago, and I am a silver member")
    talk.put(EventKind.CLAIMS_LINKED, {"unit": talk.state.units[0].number, "claims": ["c1", "c2"]})
    for number in range(turns):
        talk.exchange(number, f"REF{number}X " + "word " * 300)
    return talk


def judge(talk: Conversation, claim: str, why: str, said: str = "", now: str = "") -> None:
    body = {"claims": [{"claim": claim, "why": why, "slot": "office"}]}
    talk.put(EventKind.CLAIMS_JUDGED, body, (said, now))


def lines(talk: Conversation) -> tuple[str, ...]:
    return overtaken_lines(talk.state.links, talk.state.units, talk.state.ledger)


def test_what_still_holds_says_nothing() -> None:
    talk = linked_talk()
    assert [link.claim for link in talk.state.links] == ["c1", "c2"]
    assert lines(talk) == ()
    assert spent_units(talk.state.links) == {}
    # Linked once, however often a caller says so.
    talk.put(EventKind.CLAIMS_LINKED, {"unit": talk.state.units[0].number, "claims": ["c2", "c3"]})
    assert [link.claim for link in talk.state.links] == ["c1", "c2", "c3"]


def test_a_value_that_was_replaced_has_a_line_until_it_holds_again() -> None:
    talk = linked_talk()
    judge(talk, "c1", "superseded", "Chicago", "Oslo")
    assert lines(talk) == ('- turn 1: office "Chicago", now "Oslo"',)
    judge(talk, "c2", "phase_change", 'silver\n"and more"' + "x" * 60)
    ended = lines(talk)[1]
    assert ended.endswith("which no longer holds")
    assert "\n" not in ended
    assert talk.state.count(ended) <= 40
    assert state_from(snapshot_text(talk.state)) == talk.state
    assert spent_units(talk.state.links) == {talk.state.units[0].number: "phase_change"}

    judge(talk, "c1", "")
    assert len(lines(talk)) == 1
    assert spent_units(talk.state.links) == {}


def test_the_next_edit_takes_what_was_overtaken_first() -> None:
    talk = linked_talk(12, limit=5_000)
    number = talk.state.units[0].number
    before = talk.plan()
    judge(talk, "c1", "error_invalidated", "Chicago", "Oslo")
    plan = talk.plan()
    assert plan is not None
    assert before is not None
    # Another claim of it holds, so it leaves in its turn.
    assert {c.reason for c in (*before.changes, *plan.changes)} == {"least_loss"}

    judge(talk, "c2", "superseded", "silver", "gold")
    plan = talk.plan()
    assert plan is not None
    (change,) = [change for change in plan.changes if change.unit == number]
    assert change.reason == "superseded"


def test_an_erased_value_is_in_no_line() -> None:
    talk = linked_talk()
    judge(talk, "c1", "superseded", "Chicago", "Oslo")
    seq = talk.state.seq
    whole = talk.state
    talk.put(EventKind.TEXTS_ERASED, {"places": [[seq, 1]]})
    assert lines(talk) == ('- turn 1: office "Chicago", which no longer holds',)
    talk.put(EventKind.TEXTS_ERASED, {"places": [[seq, 0]]})
    assert lines(talk) == ()

    # A log that is folded after the erasure comes to the same.
    emptied = replace(talk.events[seq - 1], texts=(ERASURE_MARK, ERASURE_MARK))
    state = talk.state
    again = linked_talk().state
    assert replace(again, seq=seq - 1).links != state.links
    assert overtaken_lines(step(again, emptied).links, again.units, again.ledger) == ()
    assert overtaken_lines(whole.links, whole.units, whole.ledger) != ()


def test_a_value_that_left_and_is_in_the_ledger_keeps_its_line() -> None:
    talk = linked_talk(12, limit=5_000)
    talk.edit(talk.everything())
    number = talk.state.links[0].unit
    assert all(unit.number != number for unit in talk.state.units)
    judge(talk, "c1", "superseded", "Chicago", "Oslo")
    (line,) = lines(talk)
    assert '"Chicago", now "Oslo"' in line
