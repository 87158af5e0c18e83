"""Every sentence that we make names its subject, however the write named it. On every store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tenure import Memory, Principal, Write
from tenure.tests.store.builders import Open

START = "2026-08-03T00:00:00Z"


def shown(memory: Memory, query: str) -> str:
    """All that a search and a prompt say."""
    hits = [hit.object.content or "" for hit in memory.as_of().search(query).hits]
    return "\n".join([*hits, memory.compile("assistant", query, budget_tokens=800).text])


@pytest.mark.parametrize("origin", ["mail", "record", "user"])
@pytest.mark.parametrize("pick", [0, 1])
def test_a_settled_tie_keeps_subject_words_and_source(
    open_memory: Open, origin: str, pick: int
) -> None:
    memory = open_memory()
    for value, words, place in (
        ("2027-01-31T00:00:00Z", "closes at the end of January", "m1"),
        ("2027-02-20T00:00:00Z", "closes on 20 February", "m2"),
    ):
        memory.write(
            "Harbour tender", "deadline", value, valid_from=START,
            source_origin=f"{origin}://{place}", content=f"The tender {words}.",
        )  # fmt: skip
    (tie,) = memory.actions.list()
    winner = memory.explain(tie.members[pick])
    memory.actions.resolve(tie.action_id, winner=tie.members[pick])

    (hit,) = memory.as_of().search("Harbour tender deadline").hits
    assert "Harbour tender" in (hit.object.content or "")
    assert (winner.object.content or "-") in (hit.object.content or "")
    assert hit.object.source_origin == winner.object.source_origin
    assert "Harbour tender" in shown(memory, "When does the Harbour tender close?")


def test_a_tie_that_a_value_settles_names_its_subject(open_memory: Open) -> None:
    memory = open_memory()
    for value in ("basic", "plus"):
        memory.write("Kiln Tools", "pricing_tier", value, valid_from=START)
    (tie,) = memory.actions.list()
    memory.actions.resolve(tie.action_id, value="gold")
    (hit,) = memory.as_of().search("pricing tier gold").hits
    assert hit.object.content == "Kiln Tools pricing tier: gold"


def test_a_write_by_id_names_its_subject_and_its_value(open_memory: Open, tmp_path: Path) -> None:
    memory = open_memory()
    crane = memory.write({"name": "Quay crane", "type": "project"}, "status", "open").entity
    nils = memory.write({"name": "Nils Berg", "type": "person"}, "office", "Turin").entity
    vera = memory.write({"name": "Vera Stolz", "type": "person"}, "office", "Ghent").entity
    assert crane and nils and vera

    memory.write(crane, "deadline", "2027-03-01T00:00:00Z")
    memory.write_many([Write(subject=nils, slot="manager", value=vera)])
    line: dict[str, Any] = {"subject": crane, "slot": "status", "value": "urgent"}
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    memory.ingest(path)

    for query, sentence in (
        ("deadline", "Quay crane deadline:"),
        ("manager", "Nils Berg manager: Vera Stolz"),
        ("status urgent", "Quay crane status: urgent"),
    ):
        assert sentence in shown(memory, query)
    assert not any(part in shown(memory, "crane manager") for part in (crane, nils, vera))


def test_a_correction_of_an_object_names_its_subject(open_memory: Open) -> None:
    memory = open_memory()
    first = memory.write("Quay crane", "status", "open")
    memory.write(object_id=first.object_id, op="correct", value="closed")
    (hit,) = memory.as_of().search("Quay crane status").hits
    assert hit.object.content == "Quay crane status: closed"


def test_a_name_that_may_not_be_seen_is_not_put_into_words(open_memory: Open) -> None:
    memory = open_memory()
    secret = memory.write(
        {"name": "Nadia Falcon", "type": "person"}, "office", "Turin", allow_roles=["finance"]
    ).entity
    caller = memory.bind(Principal(tenant=memory.principal.tenant, user="ann"))
    receipt = caller.write(secret, "phone", "1")
    assert "Falcon" not in str(caller.explain(receipt.object_id).object.content)


def test_a_name_of_a_narrower_scope_is_not_put_into_words_for_all(open_memory: Open) -> None:
    memory = open_memory()
    tenant = memory.principal.tenant
    ann, bob = (memory.bind(Principal(tenant=tenant, user=user)) for user in ("ann", "bob"))
    who = {"name": "Nadia Falcon", "type": "person"}
    private = ann.write(who, "office", "Turin", scope={"user": "ann"})
    own = ann.write(private.entity, "title", "chemist", scope={"user": "ann"})
    public = ann.write(private.entity, "phone", "1")
    assert "Nadia Falcon" in str(ann.explain(own.object_id).object.content)
    assert "Falcon" not in str(bob.explain(public.object_id).object.content)
