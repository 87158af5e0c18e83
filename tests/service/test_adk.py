"""The ADK adapter on real `LlmRequest`s: rewritten, never stacked, nothing but text replaced."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from google.adk.models.llm_request import LlmRequest
from google.adk.sessions.state import State
from google.genai import types

from tenure import Memory, connect
from tenure.faces.adapters.adk import before_model, rewrite, user_text
from tenure.faces.adapters.adk_state import Correlation, allowed_tools, correlation, given_of
from tenure.schema.errors import InvalidInput

PICTURE = types.Part(inline_data=types.Blob(data=b"\x89PNG", mime_type="image/png"))


@pytest.fixture
def office() -> Iterator[Memory]:
    with connect(":memory:") as opened:
        opened.write(subject="Sam Rivera", slot="office", value="Chicago")
        yield opened


def said(role: str, *parts: Any) -> types.Content:
    made = [types.Part(text=part) if isinstance(part, str) else part for part in parts]
    return types.Content(role=role, parts=made)


def asked(*contents: types.Content) -> LlmRequest:
    return LlmRequest(
        model="gemini-3-pro",
        contents=list(contents),
        config=types.GenerateContentConfig(
            system_instruction="old rules",
            tools=[
                types.Tool(function_declarations=[types.FunctionDeclaration(name="old")]),
                types.Tool(google_search=types.GoogleSearch()),
            ],
        ),
    )


def texts(request: LlmRequest) -> list[str]:
    return ["".join(p.text or "" for p in c.parts or ()) for c in request.contents]


def test_the_callback_replaces_text_and_tools_and_keeps_other_parts(office: Memory) -> None:
    request = asked(
        said("user", "hello"),
        said("model", "hi"),
        said("user", "Where is Sam Rivera's office?", PICTURE),
    )
    tools = [{"name": "find", "input_schema": {"type": "object"}}]
    before_model(office, "analytical_reporting", tools=tools, goal="visit")(None, request)
    assert "old rules" not in str(request.config.system_instruction)
    assert "=== ROLE" in str(request.config.system_instruction)
    kept = request.config.tools or []
    assert [bool(t.google_search) for t in kept if isinstance(t, types.Tool)] == [True, False]
    declared = kept[1].function_declarations if isinstance(kept[1], types.Tool) else None
    assert [d.name for d in declared or ()] == ["find"]
    assert texts(request)[1:3] == ["hello", "hi"]
    assert "=== GOAL" in texts(request)[0]
    last = request.contents[-1].parts or []
    assert last[0] == PICTURE
    assert "Chicago" in str(last[1].text)
    assert "Where is Sam Rivera's office?" in str(last[1].text)
    assert user_text(request) == "Where is Sam Rivera's office?"


def test_a_second_rewrite_does_not_stack(office: Memory) -> None:
    request = asked(said("user", "hello"), said("model", "hi"), said("user", "Sam's office?"))
    callback = before_model(office, "analytical_reporting", goal="visit", valid="2026-12-01T00:00Z")
    callback(None, request)
    once = texts(request)
    callback(None, request)
    assert texts(request) == once
    assert len(request.config.tools or []) == 2


def test_an_open_function_call_stays_behind_the_turn(office: Memory) -> None:
    call = types.Part(function_call=types.FunctionCall(name="find", args={}))
    answer = types.Part(function_response=types.FunctionResponse(name="find", response={}))
    turns = [said("user", f"turn {n}") for n in range(8)]
    request = asked(*turns, said("model", call), said("user", answer))
    before_model(office, "analytical_reporting")(None, request)
    assert [p.function_call is not None for p in request.contents[-2].parts or ()] == [True]
    assert "turn 7" in texts(request)[-3]
    assert texts(request)[:-3] == [f"turn {n}" for n in range(2, 7)]


def test_the_tail_never_begins_with_an_answer_without_its_call(office: Memory) -> None:
    call = types.Part(function_call=types.FunctionCall(name="find", args={}))
    answer = types.Part(function_response=types.FunctionResponse(name="find", response={}))
    request = asked(said("user", "a"), said("model", call), said("user", answer), said("user", "b"))
    rewrite(request, office.compile("analytical_reporting", "b"), keep=1)
    assert [c.role for c in request.contents] == ["model", "user", "user"]


def test_a_request_without_a_user_gets_the_turn_at_the_end(office: Memory) -> None:
    request = asked()
    assert user_text(request) == ""
    rewrite(request, office.compile("analytical_reporting", "Sam's office"), keep=0)
    assert len(request.contents) == 1
    with pytest.raises(InvalidInput, match="at least 0"):
        rewrite(request, office.compile("analytical_reporting", "x"), keep=-1)


def test_the_state_of_a_run_steers_the_request_and_each_rewrite_is_told(office: Memory) -> None:
    request = asked(said("user", "Where is Sam Rivera's office?"))
    request.config.tools = [
        types.Tool(
            function_declarations=[
                types.FunctionDeclaration(name="search"),
                types.FunctionDeclaration(name="mail"),
            ]
        )
    ]
    state = State(
        {
            "plan": {"goal": "Plan the visit", "step": "find the office", "step_id": "s-2"},
            "tools": ["search"],
            "knowledge": ["Chicago has a lake."],
        },
        {},
    )
    told: list[Correlation] = []
    context = SimpleNamespace(state=state, session=None, invocation_id="e-1")
    before_model(office, "analytical_reporting", record=told.append)(context, request)
    whole = "".join(texts(request))
    assert all(
        word in whole for word in ("Plan the visit", "find the office", "Chicago has a lake")
    )
    (tool,) = request.config.tools
    assert isinstance(tool, types.Tool)
    assert [each.name for each in tool.function_declarations or ()] == ["search"]
    assert [(each.step_id, each.invocation_id) for each in told] == [("s-2", "e-1")]
    assert office.envelopes.get(told[0].pack_id).digest == told[0].digest


# ---- The state of an ADK run becomes a request, and each rewrite can be told from its ids.

STATE = {
    "plan": {
        "goal": "Ship the alpha report",
        "step": "collect figures",
        "acceptance": ["has a total"],
        "task_id": "t-7",
        "step_id": "s-2",
    },
    "tools": [{"name": "ledger", "description": "Read the ledger"}],
    "knowledge": {"evidence": ["alpha had 42 units"], "entities": []},
}


def test_the_keys_of_the_state_become_a_request(memory: Memory) -> None:
    given = given_of(STATE)
    assert given == {
        "goal": "Ship the alpha report",
        "step": "collect figures",
        "acceptance": ["has a total"],
        "evidence": ["alpha had 42 units"],
        "tools": [{"name": "ledger", "description": "Read the ledger"}],
    }
    text = memory.compile("analytical_reporting", "alpha", **given).text
    assert all(word in text for word in ("Ship the alpha", "collect figures", "42 units", "ledger"))
    assert given_of({}) == {}
    assert given_of({"knowledge": ["a", "b"], "tools": ["search"]}) == {"evidence": ["a", "b"]}


def test_a_field_that_no_request_has_is_refused() -> None:
    with connect(":memory:") as memory, pytest.raises(InvalidInput, match="txt"):
        memory.compile("analytical_reporting", **given_of({"knowledge": [{"txt": "a"}]}))


def test_a_step_calls_only_what_its_state_allows() -> None:
    assert allowed_tools({"tools": ["search"]}, ["search", "mail"]) == ("search",)
    assert allowed_tools({}, ["search", "mail"]) == ("search", "mail")
    with pytest.raises(InvalidInput, match="not both"):
        given_of({"tools": ["search", {"name": "ledger"}]})


def test_each_rewrite_is_told_with_its_ids(memory: Memory) -> None:
    kept = memory.write(content="alpha is green.", why_it_matters="alpha")
    envelope = memory.compile("analytical_reporting", "alpha", **given_of(STATE))
    session = SimpleNamespace(id="chat-1", events=[1, 2, 3])
    context = SimpleNamespace(state=STATE, session=session, invocation_id="e-9")
    found = correlation(context, envelope)
    assert (found.session_id, found.invocation_id, found.event) == ("chat-1", "e-9", 3)
    assert (found.task_id, found.step_id) == ("t-7", "s-2")
    assert found.object_ids == (kept.object_id,)
    assert (found.pack_id, found.digest) == (envelope.envelope_id, envelope.digest)
    bare = correlation(SimpleNamespace(state={}), envelope)
    assert (bare.session_id, bare.task_id, bare.event) == ("", "", 0)
