"""What a session refused, or takes without losing anything: bad input, one test a kind."""

import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tenure import Memory
from tenure.schema.errors import TenureError
from tenure.schema.window_policy import WindowPolicy, Zones
from tenure.service.sessions.decision import SessionUsage
from tenure.service.sessions.session import Session
from tenure.tests.support.refusals import refused


@pytest.fixture
def session(memory: Memory) -> Session:
    opened = memory.session("s1", window=9_000, goal="Rebook")
    opened.on_turn_start("go")
    return opened


def ask(session: Session, call_id: str) -> None:
    function = {"name": "look", "arguments": "{}"}
    session.on_step({"role": "assistant", "tool_calls": [{"id": call_id, "function": function}]})


def error_of(session: Session, act: Callable[[], Any]) -> TenureError:
    """The error of an act, which must leave log and state as they were."""
    before, log = session.state, session.events()
    with pytest.raises(TenureError) as refusal:
        act()
    assert session.state == before
    assert session.events() == log
    return refusal.value


def test_a_result_above_the_most_bytes_is_refused_and_its_call_stays_open(memory: Memory) -> None:
    session = memory.session("s1", window=9_000)
    session.on_turn_start("go")
    ask(session, "c1")
    error = error_of(session, lambda: session.on_tool_result("c1", b"x" * (64 * 1024 * 1024 + 1)))
    assert error.code == "too_large"
    assert "memory.artifacts.put" in str(error)
    session.on_tool_result("c1", "x" * 1_000)


@pytest.mark.slow
def test_a_result_of_fifty_megabytes_is_kept_whole_and_stands_short(session: Session) -> None:
    ask(session, "c1")
    line = "row of the export, value 4711 for nobody in particular\n"
    text = line * (50 * 1024 * 1024 // len(line))
    began = time.process_time()
    session.on_tool_result("c1", text, kind="file")
    assert time.process_time() - began < 60
    assert session.state.units[-1].results[0].tokens <= session.state.limit // 4
    assert session.events()[-1].texts[1] == text


def test_tokens_that_are_no_count_are_refused(session: Session) -> None:
    wrong: tuple[Any, ...] = (-1, float("nan"), 1.5, True, "9")
    for usage in map(SessionUsage, wrong):
        assert error_of(session, partial(session.on_step, "x", usage)).code == "bad_usage"
        assert error_of(session, partial(session.on_turn_end, "x", usage)).code == "bad_usage"


def test_a_result_without_its_call_is_refused(session: Session) -> None:
    error = error_of(session, lambda: session.on_tool_result("c9", "x"))
    assert error.code == "unknown_call"
    assert "on_step" in str(error)
    assert error_of(session, lambda: session.abandon("c9")).code == "unknown_call"


def test_a_call_answered_again_with_other_bytes_is_refused(session: Session) -> None:
    ask(session, "c1")
    session.on_tool_result("c1", "one")
    error = error_of(session, lambda: session.on_tool_result("c1", "two"))
    assert error.code == "already_answered"
    assert session.on_tool_result("c1", "one").replayed


def test_a_retry_is_compared_with_the_original_wherever_the_window_has_it(memory: Memory) -> None:
    session = memory.session("s1", window=9_000)
    session.on_turn_start("go")
    originals = {"c0": "line\n" * 20_000}
    ask(session, "c0")
    session.on_tool_result("c0", originals["c0"], kind="file")
    # One that came in its short form, with an address that no retry would have again.
    assert session.on_tool_result("c0", originals["c0"], kind="file").replayed

    for number in range(1, 16):
        originals[f"c{number}"] = f"REF{number}X " + "word " * 500
        ask(session, f"c{number}")
        session.on_tool_result(f"c{number}", originals[f"c{number}"])
        session.on_turn_end("answered")
        session.on_turn_start(f"question {number}")
    assert session.state.edits > 0

    for call_id, text in originals.items():
        assert session.on_tool_result(call_id, text).replayed
        error = error_of(session, partial(session.on_tool_result, call_id, "another"))
        assert error.code == "already_answered"
        assert "late_result" in str(error)


def test_a_result_that_comes_late_stands_behind_its_call_in_the_running_turn(
    session: Session,
) -> None:
    assert error_of(session, lambda: session.late_result("c1", "x")).code == "unknown_call"
    ask(session, "c1")
    session.abandon("c1")
    error = error_of(session, lambda: session.on_tool_result("c1", "done"))
    assert error.code == "unknown_call"
    assert "late_result" in str(error)

    session.on_turn_end("so be it")
    assert error_of(session, lambda: session.late_result("c1", "x")).code == "step_out_of_order"
    session.on_turn_start("and now?")
    session.late_result("c1", "word " * 4_000)
    assert session.state.units[-1].results[0].content.name == "look"
    assert session.late_result("c1", "word " * 4_000).replayed
    session.late_result("c1", "another word")
    for provider in ("anthropic", "openai", "responses", "gemini"):
        assert "another word" in json.dumps(session.compile().render(provider))
    assert len(session.rehydrate("turn:2").numbers) == 3


@pytest.mark.parametrize("text", ["a\ud800", b"\xff\xfe"])
def test_a_result_that_is_no_text_is_refused(session: Session, text: Any) -> None:
    ask(session, "c1")
    error = error_of(session, lambda: session.on_tool_result("c1", text))
    assert error.code == "invalid_encoding"
    error = error_of(session, lambda: session.on_tool_result("c1", "x", "poem"))
    assert error.code == "unknown_vocabulary"


def test_a_step_out_of_order_is_refused(session: Session) -> None:
    ask(session, "c1")
    assert error_of(session, lambda: session.on_step("x")).code == "step_out_of_order"
    assert error_of(session, session.on_turn_end).code == "step_out_of_order"
    assert error_of(session, lambda: session.on_turn_start("x")).code == "step_out_of_order"
    session.on_tool_result("c1", "x")
    session.on_turn_end("done")
    assert error_of(session, session.on_turn_end).code == "step_out_of_order"


def test_a_closed_session_is_read_and_takes_nothing(session: Session) -> None:
    session.on_turn_end("done")
    session.close()
    acts: list[Callable[[], Any]] = [
        lambda: session.on_turn_start("x"),
        lambda: session.on_tool_result("c1", "x"),
        lambda: session.note("goal", "x"),
        session.compile,
        session.compact,
        session.close,
    ]
    for act in acts:
        assert error_of(session, act).code == "session_closed"
    assert "done" in session.rehydrate("turn:1").text
    fork = session.fork("s2")
    fork.on_turn_start("more")
    assert (fork.state.turn, session.fork("s3", at=2).state.turn) == (2, 1)
    assert error_of(session, lambda: session.fork("s2")).code == "session_exists"


def test_an_older_checkpoint_never_replaces_a_newer_one(memory: Memory, session: Session) -> None:
    session.on_turn_end("done")
    session.checkpoint()
    older = memory.session("s1").checkpoints()[-1].object_id
    fork = session.fork("s2")
    session.checkpoint()
    newest = memory.session("s1").checkpoints()[-1].object_id
    for act in (fork.checkpoint, partial(fork.checkpoint, predecessor=older)):
        error = error_of(fork, act)
        assert error.code == "stale_version"
        assert newest in str(error)
    fork.checkpoint(predecessor=newest)


def test_a_broken_policy_file_opens_no_session(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "window.yaml"
    for text, code in (
        ("zones: [unclosed", "bad_policy"),
        ("page_tokens: 1\npage_tokens: 2", "bad_policy"),
        ("cooldown: 1", "unknown_vocabulary"),
    ):
        file.write_text(text)
        with refused(TenureError, code):
            memory.session("s9", window=9_000, policy=file)
    assert memory.sessions.list() == ()


def test_a_profile_of_110_per_cent_opens_no_session(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "window.toml"
    file.write_text("[shares]\ntool_results = 22\n")
    with refused(TenureError, "bad_policy", match="not 110"):
        memory.session("s9", window=9_000, policy=file)
    assert memory.sessions.list() == ()


def test_a_policy_made_by_hand_is_read_as_strictly_as_a_file(memory: Memory) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"shares": {"tool_results": 22}}, "not 110"),
        ({"shares": {"tools": 22}}, "unknown shares 'tools'"),
        ({"newest_units": -1}, "from 1 to 1000, not -1"),
        ({"newest_units": float("nan")}, "from 1 to 1000, not nan"),
        ({"half_life_turns": float("inf")}, "above 0 that ends"),
        ({"half_life_turns": float("nan")}, "above 0 that ends"),
        ({"eviction": "lfu"}, "did you mean 'lru'"),
        ({"profile": "code_revew"}, "did you mean 'code_review'"),
        ({"zones": Zones(yellow=800)}, "yellow <= orange"),
        ({"zones": {"yellow": 800}}, "yellow <= orange"),
    ]
    for tunables, words in cases:
        with pytest.raises(TenureError, match=words):
            memory.session("s9", window=9_000, policy=WindowPolicy(**tunables))
        assert memory.sessions.list() == (), tunables


def test_an_original_that_was_erased_leaves_its_placeholder(memory: Memory) -> None:
    memory.write(subject="Alice Beaumont", slot="office", value="Rome")
    session = memory.session("s1", window=9_000)
    for number in range(16):
        session.on_turn_start(f"question {number} about Alice Beaumont")
        ask(session, f"c{number}")
        session.on_tool_result(f"c{number}", f"Alice Beaumont REF{number}X " + "word " * 500)
        session.on_turn_end("answered")
    assert session.state.edits > 0

    memory.erase(entity="Alice Beaumont", reason="asked to")
    opened = memory.session("s1")
    request = json.dumps(opened.compile("what now?").render("anthropic"))
    assert "Beaumont" not in request
    assert "window://" in request
    for number in range(1, 17):
        assert "Beaumont" not in opened.rehydrate(f"turn:{number}").text
    assert memory.doctor() == ()


def test_adk_5194_an_edit_and_the_next_turn_never_both_win(memory: Memory) -> None:
    editor = memory.session("s1", window=9_000)
    for number in range(5):
        editor.on_turn_start(f"{number} " + "word " * 1_000)
        editor.on_turn_end("done")
    speaker = memory.session("s1")
    assert editor.compact().actions

    # A handle that is behind reads the edit first, and speaks after it.
    speaker.on_turn_start("meanwhile")
    assert speaker.state.edits == editor.state.edits
    assert speaker.state.units[:-1] == editor.state.units


def test_adk_4673_opening_reads_the_end_of_a_long_log_alone(memory: Memory) -> None:
    session = memory.session("s1", window=9_000)
    for number in range(120):
        session.on_turn_start(f"question {number}")
        ask(session, f"c{number}")
        session.on_tool_result(f"c{number}", f"REF{number}X")
        session.on_turn_end("answered")
    opened = memory.session("s1")
    assert opened.state == session.state
    assert opened.state.seq > 500
    assert opened.state.seq - opened._core.snapshot_seq <= 400
