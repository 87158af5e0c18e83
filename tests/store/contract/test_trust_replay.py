"""Replaying is for whom it was compiled, from a manifest that nobody has rewritten."""

import json
from dataclasses import fields, replace
from typing import Any

import pytest

from tenure import Envelope, Forbidden, InvalidInput, Manifest, Memory, NotFound
from tenure.tests.store.builders import Open, caller
from tenure.tests.support.refusals import refused

TASK = ("code_generation", "where is the office of Sam Rivera")


def compiled(memory: Memory) -> Envelope:
    memory.write("Sam Rivera", "office", "Rome")
    return caller(memory, user="ann").compile(*TASK)


def test_one_user_does_not_replay_what_was_compiled_for_another(memory: Memory) -> None:
    envelope = compiled(memory)
    bob = caller(memory, user="bob")
    forms = (envelope, envelope.manifest, envelope.manifest.to_dict(), envelope.envelope_id)
    for form in forms:
        with refused(Forbidden, "privilege_required"):
            bob.replay(form)
        assert caller(memory, user="ann").replay(form).digest == envelope.digest
        assert caller(memory, user="eve", roles={"auditor"}).replay(form).digest == envelope.digest
    with pytest.raises(NotFound):
        bob.envelopes.get(envelope.envelope_id)
    assert bob.envelopes.list() == ()
    assert [e.replayable for e in caller(memory, user="ann").envelopes.list()] == [True]


def test_services_without_a_user_do_not_share_their_envelopes(memory: Memory) -> None:
    first, second = caller(memory, roles={"agent"}), caller(memory, roles={"engineer"})
    envelope = first.compile(*TASK)
    assert first.replay(envelope).digest == envelope.digest
    with pytest.raises(Forbidden):
        second.replay(envelope)
    assert second.envelopes.list() == ()


def test_explain_names_only_envelopes_that_the_caller_may_open(memory: Memory) -> None:
    object_id = memory.write("Sam Rivera", "office", "Rome").object_id
    envelope = caller(memory, user="ann").compile(*TASK)
    memory.flush()
    assert caller(memory, user="ann").explain(object_id).envelopes == (envelope.envelope_id,)
    assert caller(memory, user="bob").explain(object_id).envelopes == ()


def test_explain_names_no_claim_that_the_caller_may_not_see(memory: Memory) -> None:
    own = {"scope": {"user": "ann"}}
    hidden = memory.write("Sam", "office", "Rome", valid_from="2026-01-01T00:00:00Z", **own,
                          security_classification="highly_restricted").object_id  # fmt: skip
    shown = memory.write("Sam", "office", "Oslo", valid_from="2026-02-01T00:00:00Z", **own)
    assert memory.bind(replace(memory.principal, user="ann")).explain(shown.object_id).verdicts
    verdicts = caller(memory, user="ann").explain(shown.object_id).verdicts
    assert hidden not in json.dumps(verdicts)


def changed(manifest: Manifest, name: str) -> Any:
    """Another value of a field, of the same type."""
    value = getattr(manifest, name)
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return value + " "
    if value is None:
        return 7 if name == "window" else "x"
    return (*value, *value) if value else ("x",)


def test_a_manifest_with_one_changed_field_is_refused(memory: Memory) -> None:
    manifest = compiled(memory).manifest
    for field in fields(Manifest):
        rewritten = replace(manifest, **{field.name: changed(manifest, field.name)})
        with pytest.raises(InvalidInput) as refusal:
            memory.replay(rewritten)
        assert refusal.value.code == "bad_manifest", field.name


def test_a_manifest_with_more_roles_and_a_new_id_is_refused(memory: Memory) -> None:
    manifest = compiled(memory).manifest
    stronger = json.loads(manifest.principal) | {"roles": ["owner"], "authority_level": 0}
    with pytest.raises(InvalidInput, match="signature"):
        caller(memory, user="ann").replay(replace(manifest, principal=json.dumps(stronger)))


@pytest.mark.parametrize("text", ["{}", "{" * 100_000, '{"a":' * 50_000, "{nonsense"])
def test_what_is_no_manifest_is_refused(open_memory: Open, text: str) -> None:
    with refused(InvalidInput, "bad_manifest"):
        open_memory().replay(text)
