"""What a session promises an agent's loop: its terms, its handles, its way back, its end."""

import json
from pathlib import Path
from typing import Any

import pytest

from tenure import Memory, WindowPolicy, connect
from tenure.schema.errors import Conflict, ContextBudgetExhausted, InvalidInput, NotFound
from tenure.service.sessions.core import SessionLog
from tenure.service.sessions.decision import RequestTarget
from tenure.service.sessions.session import Session
from tenure.tests.support.refusals import refused
from tenure.window.events import EventKind, WindowEvent
from tenure.window.units import RECALL_TOOL

RUN = [{"name": "run", "description": "run it", "input_schema": {"type": "object"}}]


def talk(session: Session, turns: int, words: int = 20) -> None:
    for number in range(turns):
        session.on_turn_start(f"Is volume VOL-{number:04} on the shelf? " + "please " * words)
        session.on_turn_end(f"Volume VOL-{number:04} is on the shelf. " + "indeed " * words)


def call(session: Session, call_id: str, name: str = "run", **arguments: Any) -> None:
    block = {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
    session.on_step({"role": "assistant", "content": [block]})


def request_text(session: Session, target: RequestTarget = "openai") -> str:
    return json.dumps(session.compile().render(target), ensure_ascii=False)


# --- marks for the provider's cache


def marked_texts(messages: list[dict[str, Any]]) -> list[str]:
    texts: list[str] = []
    for message in messages:
        for block in message["content"]:
            if "cache_control" in block:
                texts.append(str(block.get("text") or block.get("content")))
    return texts


def test_an_anthropic_request_is_marked_up_to_the_end_of_its_history(memory: Memory) -> None:
    memory.write(subject="Sam Rivera", slot="office", value="Rome")
    session = memory.session("m", model="claude-opus-4-7", window=32_768, system="You answer.")
    talk(session, 15, 2)
    session.on_turn_start("And where is the office of Sam Rivera?")
    request = session.compile().render("anthropic")
    marks = marked_texts(request["messages"])
    assert 1 <= len(marks) <= 3
    assert marks[-1] == "And where is the office of Sam Rivera?"
    assert "cache_control" in request["system"][0]
    last = request["messages"][-1]["content"][-1]
    assert "cache_control" not in last and "Rome" in last["text"]

    # The mark at the end of the turn before stays while the turn runs; results are marked, too.
    stable = marks[0]
    call(session, "c1")
    session.on_tool_result("c1", "found it")
    marks = marked_texts(session.compile().render("anthropic")["messages"])
    assert stable in marks and "found it" in marks


def test_the_ledger_is_marked_and_no_request_has_more_than_four_marks(memory: Memory) -> None:
    session = memory.session(
        "m", model="claude-opus-4-7", window=16_384, system="You answer.", tools=RUN
    )
    talk(session, 60, 60)
    assert session.state.edits
    session.on_turn_start("And now?")
    request = session.compile().render("anthropic")
    marks = marked_texts(request["messages"])
    assert marks[0].startswith("[Earlier in this conversation") or any(
        mark.startswith("[Earlier") for mark in marks
    )
    assert len(marks) <= 3


# --- recall


def test_a_long_result_is_seen_from_both_ends_and_a_page_of_it_is_not_cut(memory: Memory) -> None:
    log = "\n".join(f"{n:03} linking target part_{n} with the profile" for n in range(2_600))
    log += "\nERROR part_207: symbol flush_rate is undefined"
    session = memory.session("b", model="claude-opus-4-7", window=64_000, tools=RUN)
    session.on_turn_start("Why does the link step fail?")
    call(session, "c1")
    decision = session.on_tool_result("c1", log)
    assert any("both ends" in notice for notice in decision.notices)
    shown = session.state.units[-1].results[0].text
    assert "flush_rate" in shown and "000 linking" in shown

    request, seen = f"window://{session.state.units[-1].results[0].seq}", ""
    for number in range(40):
        call(session, f"p{number}", RECALL_TOOL, request=request)
        page = session.rehydrate(request)
        session.on_tool_result(f"p{number}", page.text)
        result = next(u for u in session.state.units[::-1] if u.results).results[0].text
        assert result == page.text
        body, _, tail = page.text.rpartition("\n[")
        seen += body if page.cursor else page.text
        if page.cursor is None:
            break
        assert page.cursor in tail
        request = page.cursor
    assert log in seen
    # The first page begins with its first character, the heading of the message.
    assert seen.startswith("[window://")


def test_a_question_leads_to_its_passage_and_not_to_the_top_of_a_long_unit(memory: Memory) -> None:
    session = memory.session("q", model="gpt-5", window=64_000)
    session.on_turn_start("Read the report.")
    call(session, "c1")
    lines = [f"Row {n} is about something else entirely." for n in range(3_000)]
    lines[2_500] = "The harbour crane was inspected by Ottilie Brandner."
    session.on_tool_result("c1", "\n".join(lines))
    session.on_turn_end("Read.")
    page = session.rehydrate("Who inspected the harbour crane?")
    assert "Ottilie Brandner" in page.text


def test_the_recall_tool_is_counted_and_sent_with_the_session_s_tools(memory: Memory) -> None:
    bare = memory.session("bare", model="gpt-5", window=64_000)
    session = memory.session("tools", model="gpt-5", window=64_000, tools=RUN)
    session.on_turn_start("go")
    names = [tool.get("name") for tool in session.compile().render("anthropic")["tools"]]
    assert names == ["run", RECALL_TOOL]
    tools = session.state.count(json.dumps(RUN, separators=(",", ":")))
    assert session.state.fixed_tokens > bare.state.fixed_tokens + tools + 50
    own = memory.session(
        "own", model="gpt-5", window=64_000, tools=[*RUN, *session.tools("anthropic")]
    )
    own.on_turn_start("go")
    assert len(own.compile().render("anthropic")["tools"]) == 2


def test_a_turn_and_an_address_are_found_without_reading_the_log(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = memory.session("long", model="gpt-5", window=32_768)
    talk(session, 300, 30)
    read, events = SessionLog.read, 0

    def counted(log: SessionLog, *args: int, **named: int) -> Any:
        nonlocal events
        rows = read(log, *args, **named)
        events += len(rows)
        return rows

    monkeypatch.setattr(SessionLog, "read", counted)
    assert "VOL-0002" in session.rehydrate("turn:3").text
    address = session.state.ledger.spans[0].address
    assert session.rehydrate(address).text
    assert events < session.state.seq


# --- terms and handles


def test_terms_that_are_stated_again_count_from_the_next_request_on(memory: Memory) -> None:
    policy = WindowPolicy(eviction="lru", newest_units=7)
    first = memory.session("k", model="gpt-5", system="Answer in French.", policy=policy)
    first.on_turn_start("Hello")
    again = memory.session("k", system="Answer in Spanish.", model="claude-opus-4-7", tools=RUN)
    assert (again.state.system, again.state.model) == ("Answer in Spanish.", "claude-opus-4-7")
    assert again.events()[-1].kind is EventKind.TERMS_CHANGED
    assert again._core.policy == policy
    assert "Spanish" in request_text(first)

    before = first.report() and first.state.seq
    assert memory.session("k", system="Answer in Spanish.").state.seq == before
    again.use("gpt-5", tools=[], system="Answer.")
    assert (again.state.model, again.state.tools, again.state.system) == ("gpt-5", "", "Answer.")
    with pytest.raises(ContextBudgetExhausted):
        again.use(window=4_200, system="word " * 5_000)
    assert memory.session("k").state.system == "Answer."


def test_a_handle_that_is_behind_reads_on_before_it_does_anything(tmp_path: Path) -> None:
    with connect(str(tmp_path / "two.db")) as one, connect(str(tmp_path / "two.db")) as two:
        a = one.session("two", model="gpt-5", window=32_768)
        a.on_turn_start("First.")
        b = two.session("two")
        a.on_turn_end("Done.")
        a.on_turn_start("My order is R-5520.")
        assert "R-5520" in request_text(b)
        with refused(Conflict, "turn_open_elsewhere"):
            b.on_turn_start("Next.")
        a.on_turn_end("Found.")
        b.on_turn_start("Next.")
        b.on_turn_end("Yes.")
        assert a.report().turn == 3
        assert a.note("goal", "ship it") and b.note("todo", "pack it")
        assert {note.text for note in b.notes} == {"ship it", "pack it"}


def test_a_turn_of_a_dead_process_is_taken_over_on_request(memory: Memory) -> None:
    memory.session("t", model="gpt-5").on_turn_start("Hello")
    with pytest.raises(Conflict, match="resume=True"):
        memory.session("t").on_turn_end("Hi")
    taken = memory.session("t", resume=True)
    taken.on_turn_end("Hi")
    assert not memory.session("t").state.in_turn


def test_an_interrupted_turn_says_what_to_do_in_its_order(memory: Memory) -> None:
    session = memory.session("t", model="gpt-5")
    session.on_turn_start("Hello")
    call(session, "c7")
    with pytest.raises(Conflict, match=r"c7 with abandon, then close it with on_turn_end"):
        session.on_turn_start("Stop!")


# --- notes


def test_notes_have_a_share_and_the_done_and_the_learned_leave_first(memory: Memory) -> None:
    session = memory.session("n", model="gpt-5", window=16_384)
    goal = session.note("goal", "Find the fast supplier.")
    session.note("todo", "ask the first", status="done")
    with pytest.raises(ContextBudgetExhausted, match="drop_note"):
        for number in range(522):
            session.note("decision", f"Supplier {number} answers within two days, as it says.")
    session.on_turn_start("Which one is fast?")
    session.compile()
    session.on_turn_end("The first.")
    assert all(note.text != "ask the first" for note in session.notes)
    assert session.drop_note(goal).seq == session.state.seq
    assert all(note.seq != goal for note in session.notes)
    with pytest.raises(NotFound):
        session.drop_note(goal)

    for number in range(522):
        session.drop_note(session.notes[0].seq)
        session.note("learning", f"Supplier {number} answers within two days.")
        if len(session.notes) < 3:
            break


# --- compact and undo


def test_compact_works_below_the_target_and_keeps_its_focus(memory: Memory) -> None:
    session = memory.session("c", model="gpt-5", window=64_000)
    for number in range(20):
        topic = "the harbour crane" if number % 4 == 0 else "some other matter"
        session.on_turn_start(f"Question {number} about {topic}.")
        session.on_turn_end(f"An answer about {topic}. " + "well then " * 30)
    before = session.state
    decision = session.compact(focus="harbour crane")
    assert decision.edit is not None
    assert session.state.tokens <= before.tokens * 2 // 3 + 300
    about = [unit for unit in before.units if "crane" in unit.text]
    assert {unit.number for unit in about} <= {unit.number for unit in session.state.units}
    assert session.compact(to=1000).notices == ("nothing can be freed",)
    with pytest.raises(InvalidInput):
        session.compact(to=1_001)


def test_undo_gives_back_what_its_edit_changed_and_then_says_that_nothing_is_left(
    memory: Memory,
) -> None:
    session = memory.session("u", model="gpt-5", window=64_000)
    talk(session, 30)
    first = session.compact(to=20).edit
    middle = session.state
    talk(session, 10)
    before = session.state
    second = session.compact(to=20).edit
    assert first is not None and second is not None
    session.undo(second)
    assert session.state.units == before.units
    assert {u.number for u in middle.units} <= {u.number for u in session.state.units}
    assert 2 not in {unit.number for unit in session.state.units}
    assert session.undo(second).notices == (f"nothing is changed any more by edit {second}",)
    with pytest.raises(NotFound):
        session.undo(1)


# --- taking over, forgetting, beginning again

HISTORY: dict[str, list[dict[str, Any]]] = {
    "openai": [
        {"role": "system", "content": "You help."},
        {"role": "assistant", "content": "Hello, I am here."},
        {"role": "user", "content": "Look at R-5520."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "It is open."},
        {"role": "assistant", "content": "Open."},
    ],
    "anthropic": [
        {"role": "user", "content": "Look at R-5520."},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "c1", "name": "look", "input": {}}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "It is open."}],
        },
        {"role": "assistant", "content": "Open."},
    ],
    "responses": [
        {"role": "user", "content": "Look at R-5520."},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "It is open."},
        {"role": "assistant", "content": "Open."},
    ],
    "gemini": [
        {"role": "user", "parts": [{"text": "Look at R-5520."}]},
        {"role": "model", "parts": [{"function_call": {"id": "c1", "name": "look", "args": {}}}]},
        {
            "role": "user",
            "parts": [
                {
                    "function_response": {
                        "id": "c1",
                        "name": "look",
                        "response": {"result": "It is open."},
                    }
                }
            ],
        },
        {"role": "model", "parts": [{"text": "Open."}]},
    ],
}


@pytest.mark.parametrize("form", HISTORY)
def test_a_history_of_each_provider_is_taken_over_by_one_call(memory: Memory, form: str) -> None:
    session = memory.session("a", model="gpt-5", window=64_000)
    session.adopt(HISTORY[form])
    assert not session.state.in_turn
    session.on_turn_start("Thanks.")
    for target in HISTORY:
        text = request_text(session, target)
        assert "R-5520" in text and "It is open." in text
    assert session.rehydrate("turn:1").text


def test_a_conversation_may_begin_with_the_agent_s_greeting(memory: Memory) -> None:
    session = memory.session("g", model="claude-opus-4-7")
    session.on_step("Hello, how can I help?")
    session.on_turn_start("Hi.")
    messages = session.compile().render("anthropic")["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]


def test_one_message_can_be_taken_out_of_the_window(memory: Memory) -> None:
    session = memory.session("f", model="gpt-5")
    talk(session, 3)
    session.forget("window://2")
    assert "VOL-0000" not in json.dumps([u.text for u in session.state.units if u.is_user])
    assert "VOL-0000" in session.rehydrate("window://2").text
    with pytest.raises(NotFound):
        session.forget("window://2")


def test_the_name_of_an_erased_or_closed_session_can_be_used_again(memory: Memory) -> None:
    session = memory.session("n", model="gpt-5")
    session.on_turn_start("The buyer is Ottilie Brandner.")
    memory.erase_session("n", reason="asked")
    assert memory.session("n").state.closed
    again = memory.session("n", model="gpt-5")
    again.on_turn_start("Who is the buyer?")
    assert "Ottilie" not in request_text(again)
    assert [row.session for row in memory.sessions.list()] == ["n"]
    again.on_turn_end("I do not know.")
    again.close()
    assert memory.session("n").state.closed
    third = memory.session("n", model="gpt-5", renew=True)
    third.on_turn_start("Hello")
    memory.erase_session("n", reason="asked")
    assert memory.doctor() == ()
    for name in ("n", "n~~2", "n~~3"):
        assert all(set(e.texts) <= {"[erased]"} for e in memory.session(name).events())


def test_an_erasure_reaches_forks_of_forks_and_children(memory: Memory) -> None:
    session = memory.session("plan", model="gpt-5", window=32_768)
    session.on_turn_start("The buyer is Ottilie Brandner.")
    session.on_turn_end("Noted.")
    session.fork("plan-b").fork("plan-c").delegate("child", "call Ottilie Brandner")
    other = memory.session("other", model="gpt-5")
    other.on_turn_start("Another talk.")
    memory.erase_session("plan", reason="asked")
    for name in ("plan", "plan-b", "plan-c", "child"):
        opened = memory.session(name)
        assert opened.state.erased
        assert "Ottilie" not in json.dumps([event.texts for event in opened.events()])
    assert not memory.session("other").state.erased


def test_alerts_are_read_from_the_log_by_every_process(memory: Memory) -> None:
    tools = [{"name": f"t{n}"} for n in range(320)]
    session = memory.session("full", model="gpt-5", window=12_000, tools=tools)
    for _ in range(4):
        session.on_turn_start("go on")
        decision = session.on_turn_end("done")
    assert decision.alerts
    assert memory.session("full").report().alerts == decision.alerts


def test_what_would_fit_is_told_without_an_event(memory: Memory) -> None:
    session = memory.session("w", model="gpt-5", window=16_384)
    session.on_turn_start("Hello")
    before = session.state.seq
    assert session.would_fit("a few words")
    assert not session.would_fit("many words " * 20_000)
    assert session.state.seq == before


def test_secrets_of_messages_calls_and_notes_are_masked_unless_it_is_switched_off(
    memory: Memory,
) -> None:
    secret = "AKIA2345REALKEY1QWER"
    for mask, count in ((True, 0), (False, 5)):
        terms: Any = {"model": "gpt-5", "window": 32_768, "mask": mask}
        session = memory.session(f"x{mask}", system=f"Use {secret}.", **terms)
        session.on_turn_start(f"The key is {secret}")
        call(session, "c1", key=secret)
        session.on_tool_result("c1", f"key {secret}")
        session.note("goal", f"use {secret}")
        assert request_text(session).count(secret) == count


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("curl -u deploy:" + "Zr8kPq41vT https://ci.example/run", "Zr8kPq41vT"),
        ("Authorization: Basic " + "ZGVwbG95OlpyOGtQcTQxdlQ=", "ZGVwbG95"),
        ("Cookie: lang=en; sid=" + "Zr8kPq41vTxW92mN", "Zr8kPq41vT"),
        ("postgres://admin:" + "Zr8kPq41vT@db/x", "Zr8kPq41vT"),
    ],
)
def test_no_byte_of_a_secret_reaches_the_file(tmp_path: Path, text: str, secret: str) -> None:
    path = tmp_path / "m.db"
    with connect(str(path)) as memory:
        session = memory.session(
            "x", model="gpt-5", window=32_768, system=text, task=text, acceptance=[text]
        )
        session.on_turn_start(text)
        call(session, "c1", cmd=text, headers={"line": text})
        session.on_tool_result("c1", text)
        session.note("learning", text)
        session.on_turn_end(text)
        session.use(system=f"again {text}")
        session.delegate("child", text)
        session.conclude(text, since=1)
        session.checkpoint()
    written = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert secret.encode() not in written


def test_the_name_of_an_erased_session_is_free_for_a_fork_and_a_child(memory: Memory) -> None:
    session = memory.session("plan", model="gpt-5", window=32_768)
    session.on_turn_start("The buyer is Ottilie.")
    session.on_turn_end("Noted.")
    session.fork("b")
    with pytest.raises(Conflict):
        session.fork("b")
    memory.erase_session("b", reason="case 7")
    assert session.fork("b").state.turn == 1
    assert memory.session("b").state.turn == 1
    memory.erase_session("b", reason="case 8")
    assert session.delegate("b", "count the stock").state.task == "count the stock"
    # An erasure of the first one reaches every use of the name.
    memory.erase_session("plan", reason="case 9")
    assert memory.session("b").state.erased


def test_an_old_session_is_refused_with_what_to_do(memory: Memory) -> None:
    session = memory.session("old", model="gpt-5")
    event = WindowEvent(
        seq=2, kind=EventKind.EDITED, body={"reason": "price", "changes": []}, texts=()
    )
    session._core.log.append(1, [event])
    with refused(InvalidInput, "old_session"):
        memory.session("old")


@pytest.mark.parametrize(
    ("target", "field"),
    [
        ("anthropic", {"max_tokens": 500}),
        ("openai", {"max_completion_tokens": 500}),
        ("responses", {"max_output_tokens": 500}),
        ("gemini", {"generation_config": {"max_output_tokens": 500}}),
    ],
)
def test_the_limit_of_an_answer_has_the_name_of_the_provider(
    memory: Memory, target: RequestTarget, field: dict[str, object]
) -> None:
    session = memory.session("s1", window=16_000)
    session.on_turn_start("hello")
    context = session.compile()
    assert context.render(target, max_tokens=500) == context.render(target) | field
    with pytest.raises(InvalidInput, match="at least 1"):
        context.render(target, max_tokens=0)
