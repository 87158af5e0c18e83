"""The state of an ADK run becomes a request, and each rewrite can be told from its ids."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tenure.faces.adapters.adk_state import allowed_tools, correlation, given_of
from tenure.schema.errors import InvalidInput
from tenure.service.client.connect import connect

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


def test_the_keys_of_the_state_become_a_request() -> None:
    given = given_of(STATE)
    assert given == {
        "goal": "Ship the alpha report",
        "step": "collect figures",
        "acceptance": ["has a total"],
        "evidence": ["alpha had 42 units"],
        "tools": [{"name": "ledger", "description": "Read the ledger"}],
    }
    with connect(":memory:") as memory:
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


def test_each_rewrite_is_told_with_its_ids() -> None:
    with connect(":memory:") as memory:
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
