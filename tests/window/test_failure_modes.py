"""Five ways in which an unmanaged window fails, each with the window and without it."""

from tenure.compiler.tokens.capabilities import capability
from tenure.tests.window.conversation_replay import Conversation
from tenure.window.events import EventKind
from tenure.window.links import overtaken_lines
from tenure.window.report import VerbatimJudge, judged_fidelity

LIMIT = 10_000
WORDS = "The form was sent to the desk and somebody will look at it. " * 6


def talk_of(turns: int, *, edits: bool) -> Conversation:
    talk = Conversation(limit=LIMIT, texts=("book trips", "Rome by Friday", "", ""))
    for number in range(turns):
        talk.user(f"Look up reservation RES{number:04d}, please.")
        talk.call(f"c{number}", "look", id=f"RES{number:04d}")
        talk.result(f"c{number}", f"RES{number:04d} is confirmed. {WORDS}")
        talk.model(WORDS)
        if edits:
            talk.tidy()
    return talk


def test_rot_old_prose_no_longer_fills_the_request() -> None:
    unmanaged, managed = talk_of(60, edits=False), talk_of(60, edits=True)
    prose = {
        name: "\n".join(unit.text for unit in talk.state.units).count("somebody will look")
        for name, talk in (("unmanaged", unmanaged), ("managed", managed))
    }
    assert prose["managed"] * 2 < prose["unmanaged"]


def test_cost_stops_growing_with_the_length() -> None:
    price = capability("generic").write_permille[0]
    costs = [talk_of(turns, edits=True).state.tokens * price for turns in (40, 80)]
    assert costs[1] < costs[0] * 1.7
    assert talk_of(80, edits=False).state.tokens > 1.9 * talk_of(40, edits=False).state.tokens


def test_overflow_never_comes() -> None:
    assert talk_of(60, edits=False).state.tokens > LIMIT
    assert talk_of(60, edits=True).state.tokens <= LIMIT


def test_zombies_stand_with_what_holds_now_beside_them() -> None:
    talk = Conversation(limit=LIMIT)
    unit = talk.user("The office is in Oslo.")
    talk.put(EventKind.CLAIMS_LINKED, {"unit": unit, "claims": ["claim-1"]})
    assert overtaken_lines(talk.state.links, talk.state.units, talk.state.ledger) == ()

    judged = {"claims": [{"claim": "claim-1", "why": "superseded", "slot": "office"}]}
    talk.put(EventKind.CLAIMS_JUDGED, judged, ("Oslo", "Rome"))
    (line,) = overtaken_lines(talk.state.links, talk.state.units, talk.state.ledger)
    assert '"Oslo", now "Rome"' in line


def test_amnesia_what_left_has_an_address_and_its_names_stand() -> None:
    whole, managed = talk_of(60, edits=False), talk_of(60, edits=True)
    assert managed.state.ledger.spans
    assert "window://" in managed.state.ledger.text
    assert judged_fidelity(whole.state, managed.state, VerbatimJudge()).share >= 850
