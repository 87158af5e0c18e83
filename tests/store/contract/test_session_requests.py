"""Requests of a session over both stores: pinned to its log and its policy, and made again."""

import json
from dataclasses import replace
from typing import Any

from tenure import Memory
from tenure.compiler.request.parse import request_from_json
from tenure.schema.errors import InvalidInput
from tenure.schema.policy import DEFAULT
from tenure.schema.window_policy import EvictionPolicy, WindowPolicy, policy_from
from tenure.service.sessions.decision import SessionUsage
from tenure.service.sessions.session import Session
from tenure.tests.store.builders import Open
from tenure.tests.support.refusals import refused
from tenure.window.events import EventKind, WindowEvent


def exchange(session: Session, number: int, words: int = 500) -> None:
    call = {"id": f"c{number}", "function": {"name": "look", "arguments": f'{{"n": {number}}}'}}
    session.on_turn_start(f"question {number}")
    session.on_step({"role": "assistant", "tool_calls": [call]})
    session.on_tool_result(f"c{number}", f"REF{number}X " + "word " * words)
    session.on_turn_end(f"answer {number}")


def policy_events(session: Session) -> list[WindowEvent]:
    return [event for event in session.events() if event.kind is EventKind.POLICY_CHANGED]


def test_a_request_is_made_again_from_what_its_manifest_pins(memory: Memory) -> None:
    memory.write(subject="Sam Rivera", slot="office", value="Chicago")
    session = memory.session("s1", window=9_000, system="You book flights.")
    exchange(session, 0)
    session.note("decision", "economy class")
    context = session.compile("Which office is Sam Rivera in?")
    requests = {
        target: context.render(target) for target in ("anthropic", "openai", "responses", "gemini")
    }

    # What came later, edits of those very units among it, changes nothing of it.
    for number in range(1, 14):
        exchange(session, number)
    assert session.state.edits > 0
    envelope_id = context.envelope.envelope_id
    for reference in (envelope_id, context.envelope, context.envelope.manifest.to_json()):
        again = memory.session("s1").replay(reference)
        assert again.tokens_upper == context.tokens_upper
        assert {target: again.render(target) for target in requests} == requests


def test_a_manifest_names_the_log_and_repeats_none_of_it(memory: Memory) -> None:
    session = memory.session("s1", window=60_000)
    sizes: list[int] = []
    for number in range(24):
        exchange(session, number, words=900)
        if number in (1, 23):
            last = session.state.seq
            manifest = session.compile("Which flight?").envelope.manifest
            sizes.append(len(manifest.to_json()))
            pin = request_from_json(manifest.request).window
            assert pin is not None
            assert (pin.session, pin.seq) == ("session=s1", last)
            assert pin.digest == session._core.log.chain_digest(pin.seq)
    assert sizes[1] - sizes[0] < 100
    assert max(sizes) <= 16 * 1024


def test_a_request_that_the_log_bounds_already_adds_nothing_to_it(memory: Memory) -> None:
    session = memory.session("s1", window=60_000)
    session.on_turn_start("Which office is Sam Rivera in?")
    first = session.compile()
    seq = session.state.seq
    again = session.compile()
    assert session.state.seq == seq
    assert again.tokens_upper == first.tokens_upper == session.state.tokens

    # What the store knows of Sam stands in the next request, so its bound must rise.
    office = "Chicago, on the fourth floor of the building behind the old harbour station"
    memory.write(subject="Sam Rivera", slot="office", value=office)
    richer = session.compile()
    assert session.state.seq == seq + 1
    assert richer.tokens_upper > first.tokens_upper
    assert session.state.tokens == richer.tokens_upper


def test_a_count_is_held_against_the_request_that_it_is_of(memory: Memory) -> None:
    session = memory.session("s1", window=60_000)
    for number in range(3):
        session.on_turn_start(f"question {number} " + "word " * 300)
        bound = session.compile().tokens_upper
        # Exactly our bound, told with the answer or after it: nothing is to be corrected.
        if number % 2:
            session.on_step("answer " * 200, SessionUsage(input=bound))
            session.on_turn_end()
        else:
            session.on_step("answer " * 200)
            session.on_turn_end(usage=SessionUsage(input=bound))
        assert session.state.tokens == session.state.own_tokens

    other = memory.session("s2", window=60_000)
    other.on_turn_start("and now?")
    bound = other.compile().tokens_upper
    other.on_step("answer", SessionUsage(input=2 * bound))
    assert other.state.correction.offset == bound


def test_an_envelope_of_another_session_or_of_none_is_no_request_of_this_one(
    memory: Memory,
) -> None:
    session, stranger = (memory.session(name, window=9_000) for name in ("s1", "s2"))
    for foreign in (stranger.compile("x").envelope, memory.compile("conversation", "x")):
        with refused(InvalidInput, "bad_manifest"):
            session.replay(foreign)
    # The envelope beside the history is an envelope like any other.
    envelope = session.compile("x").envelope
    assert memory.replay(envelope).text == envelope.text


def test_a_session_goes_on_where_a_file_or_a_thought_was_erased(memory: Memory) -> None:
    memory.write(subject="Sam Rivera", slot="office", value="Chicago")
    session = memory.session("s1", window=16_000, model="claude-opus-4-7")
    pdf = {"type": "base64", "media_type": "application/pdf", "data": "aGk="}
    letter = {"type": "document", "title": "Letter of Sam Rivera", "source": pdf}
    thought = {"type": "thinking", "thinking": "Sam Rivera?", "signature": "abc"}
    for words in ([{"type": "text", "text": "Read this"}], []):
        session.on_turn_start({"role": "user", "content": [*words, letter]})
        session.on_step({"role": "assistant", "content": [thought, {"type": "text", "text": "So"}]})
        session.on_turn_end()
    session.on_turn_start("Look")
    call = {"type": "tool_use", "id": "c1", "name": "look", "input": {"for": "Sam Rivera"}}
    session.on_step({"role": "assistant", "content": [thought, call]})
    session.on_tool_result("c1", "nobody")
    session.on_turn_end()
    before = session.compile().envelope.envelope_id
    session.use("gpt-5", window=20_000)  # all is counted anew, here and whenever the log is read
    memory.erase(entity="Sam Rivera", reason="asked for")

    again = memory.session("s1")
    again.on_turn_start("And now?")
    context = again.compile()
    for prompt in (context, again.replay(before)):
        for target in ("anthropic", "openai", "responses", "gemini"):
            request = json.dumps(prompt.render(target))
            assert ("[erased]" in request, "Sam Rivera" in request) == (True, False)
    messages = context.render("anthropic")["messages"]
    assert [(m["role"], len(m["content"])) for m in messages[:5]] == [
        ("user", 2), ("assistant", 2), ("user", 1), ("assistant", 2), ("user", 1),
    ]  # fmt: skip
    assert messages[5]["content"][1]["input"] == {}
    assert again.scratchpad() == ()
    assert "[erased]" in again.rehydrate("turn:1").text
    assert memory.doctor() == ()


def test_the_policy_of_a_session_is_part_of_its_envelopes_and_of_no_other(
    open_memory: Open,
) -> None:
    lru = WindowPolicy(eviction=EvictionPolicy.LRU)
    policy = replace(DEFAULT, window=lru)
    assert policy.digest == DEFAULT.digest
    assert "eviction" not in policy.to_json()

    memory = open_memory(policy=policy)
    session = memory.session("s1", window=9_000)
    (opened,) = session.events()
    assert opened.body["policy"] == lru.digest
    assert policy_from(opened.body["tunables"]) == lru
    pin = request_from_json(session.compile("x").envelope.manifest.request).window
    assert pin is not None
    assert pin.policy == lru.digest

    # Nothing of it stands in the pack, so one without a session names no window at all.
    manifest = memory.compile("conversation", "x").manifest
    assert manifest.policy_hash == DEFAULT.digest
    assert "window" not in json.loads(manifest.request)


def test_a_policy_changed_in_mid_session_counts_from_the_next_edit(memory: Memory) -> None:
    session = memory.session("s1", window=9_000)
    exchange(session, 0)
    fifo = WindowPolicy(eviction=EvictionPolicy.LRU)
    session = memory.session("s1", policy=fifo)
    exchange(session, 1)
    assert policy_events(session) == []

    for number in range(2, 40):
        exchange(session, number)
    (event,) = policy_events(session)
    assert event.body["policy"] == fifo.digest == session.state.policy_digest
    assert event.body["tunables"]["eviction"] == "lru"
    edits = [e.seq for e in session.events() if e.kind is EventKind.EDITED]
    assert event.seq == edits[0] - 1
    assert len(edits) > 1
    assert memory.session("s1", policy=fifo).state == session.state
    assert memory.doctor() == ()


def test_a_session_without_calls_of_its_own_keeps_the_terms_of_the_first(memory: Memory) -> None:
    values: dict[str, Any] = WindowPolicy(page_tokens=900).to_plain()
    session = memory.session("s1", window=9_000, policy=policy_from(values))
    exchange(session, 0, words=1_200)
    assert session.rehydrate("turn:1").cursor is not None


def test_a_provider_edits_beside_us_on_wish_and_reports_it(memory: Memory) -> None:
    session = memory.session("s1", window=60_000, system="You book flights.")
    session.on_turn_start("go")
    context = session.compile()
    clearing = context.render("anthropic", provider_edit="clear_tool_uses")
    assert clearing["betas"] == ["context-management-2025-06-27"]
    (edit,) = clearing["context_management"]["edits"]
    assert edit["type"] == "clear_tool_uses_20250919"
    assert edit["trigger"] == {"type": "input_tokens", "value": session.state.limit}
    compacting = context.render("anthropic", provider_edit="compact")
    assert compacting["context_management"]["edits"][0]["type"] == "compact_20260112"
    responses = context.render("responses", provider_edit="compact")
    threshold = {"type": "compaction", "compact_threshold": session.state.limit}
    assert responses["context_management"] == [threshold]
    assert responses["instructions"].startswith("You book flights.")
    for target, wish in (("gemini", "compact"), ("anthropic", "shorten")):
        with refused(InvalidInput, "unknown_vocabulary"):
            context.render(target, provider_edit=wish)

    report = {"applied_edits": [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 8}]}
    session.on_step({"role": "assistant", "content": "done", "context_management": report})
    assert session.events()[-1].body["provider_edits"] == report["applied_edits"]
    session.on_turn_end("bye")
    assert "provider_edits" not in session.events()[-2].body
