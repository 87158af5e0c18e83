"""Replay: the same bytes from the manifest, after corrections, under today's permissions."""

import json
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from tenure.compiler.compile import replay
from tenure.compiler.envelope.envelope import Envelope
from tenure.compiler.ir.records import Neighbours
from tenure.compiler.trace.manifest import (
    Manifest,
    RecordedRow,
    TruncationEvent,
    manifest_from_json,
    principal_of,
    stored_manifest,
)
from tenure.schema.claim import Content, Permissions, Version
from tenure.schema.compile_terms import OverflowPolicy
from tenure.schema.errors import Forbidden, InvalidInput
from tenure.schema.policy import DEFAULT
from tenure.schema.principal import OWNER, Principal
from tenure.schema.slots import TenantWord
from tenure.schema.vocabulary import Classification
from tenure.service.extraction.shipped_language import shipped_language
from tenure.store.port.vectors import VectorScore
from tenure.tests.compiler.fake_reader import KEY, NOW, Bench, Reading, uid
from tenure.tests.compiler.test_compile import REQUEST, full_bench
from tenure.tests.support.refusals import refused


def again(bench: Bench, manifest: Manifest, **changes: Any) -> Envelope:
    given: dict[str, Any] = {
        "reader": Reading(bench.world),
        "caller": bench.principal,
        "vocabulary": bench.vocabulary,
        "policy": bench.policy,
        "keys": (KEY,),
        "language": shipped_language(),
    }
    return replay(manifest, **{**given, **changes})


def edit(bench: Bench, name: str, **changes: Any) -> None:
    rows = bench.world.rows
    for place, version in enumerate(rows):
        if version.row.claim.object_id == uid(name):
            rows[place] = replace(version, **changes)


def test_a_replay_gives_the_same_bytes_from_the_stored_text_of_the_manifest() -> None:
    bench = full_bench()
    envelope = bench.compile(**REQUEST)
    manifest = manifest_from_json(envelope.manifest.to_json())
    assert manifest == envelope.manifest
    found = again(bench, manifest)
    assert found.text == envelope.text
    assert found.manifest == envelope.manifest
    assert found.trace == envelope.trace


def test_later_writes_change_nothing() -> None:
    bench = full_bench()
    envelope = bench.compile(**REQUEST)
    bench.world.add("later", text="The nightly deploy report and office of Sam Rivera moved.")
    bench.world.add("later rule", text="Say nothing.", object_type="policy_rule", level=0)
    assert again(bench, envelope.manifest).text == envelope.text
    assert bench.compile(**REQUEST).text != envelope.text


def test_recorded_vectors_stand_in_for_the_search() -> None:
    class Index:
        def __init__(self, score: int, rows: list[Version]) -> None:
            self.score = score
            self.rows = [v for v in rows if v.row.claim.object_id == uid("p3")]

        def prefetch(self, query: Any, *, limit: int) -> None:
            return None

        def facts(self, query: Any, *, limit: int) -> Neighbours:
            return Neighbours([], [])

        def nearest(self, query: Any, *, limit: int) -> Neighbours:
            return Neighbours([VectorScore(uid("p3"), self.score, self.score)], self.rows)

        def scores(self, query: Any, object_ids: Any) -> list[VectorScore]:
            return [VectorScore(i, 4_000_000, 5_000_000) for i in object_ids]

    bench = full_bench()
    bench.index, bench.encoder_id = Index(15_000_000, bench.world.rows), "toy"
    envelope = bench.compile(query="zebra", query_vector=[0.6, 0.8], entities=["Sam Rivera"])
    assert "p3" in bench.compiled(envelope)
    assert "office" in bench.compiled(envelope)
    bench.index = Index(0, [])
    assert again(bench, envelope.manifest).text == envelope.text


def test_an_owner_may_replay_what_was_compiled_for_another() -> None:
    bench = full_bench()
    envelope = bench.compile(**REQUEST)
    assert again(bench, envelope.manifest, caller=OWNER).text == envelope.text


def test_a_caller_who_may_not_read_everything_today_is_refused() -> None:
    bench = full_bench()
    envelope = bench.compile(**REQUEST)
    with refused(Forbidden, "privilege_required"):
        again(bench, envelope.manifest, caller=Principal(user="bob"))
    edit(bench, "office", permissions=Permissions(allow=("legal",)))
    with pytest.raises(Forbidden):
        again(bench, envelope.manifest)


def test_a_reclassification_that_the_caller_may_still_read_changes_nothing() -> None:
    bench = full_bench()
    bench.principal = replace(bench.principal, clearance=Classification.PUBLIC)
    envelope = bench.compile(**REQUEST)
    edit(bench, "office", permissions=Permissions(classification=Classification.RESTRICTED))
    assert again(bench, envelope.manifest, caller=OWNER).text == envelope.text
    with pytest.raises(Forbidden):
        again(bench, envelope.manifest)


def test_erased_content_is_missing_and_the_answer_says_so() -> None:
    bench = full_bench()
    envelope = bench.compile(**REQUEST)
    edit(bench, "office", content=None, erased=True)
    found = again(bench, envelope.manifest)
    assert found.digest != envelope.digest
    assert "Chicago [" not in found.text
    assert ("erased", uid("office")) in {(g.code.value, g.subject) for g in found.gaps}
    reasons = {o.object_id: o.reason for o in found.trace.omitted_objects}
    assert reasons[uid("office")] == "erased"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("compiler_version", "0"),
        ("terms_version", 0),
        ("policy_hash", "f" * 64),
        ("vocabulary_version", 7),
        ("counter", "other"),
        ("key_epoch", 5),
        ("envelope_id", "0" * 64),
        ("valid_us", 1),
        ("request", "{}"),
        ("principal", "{}"),
        ("principal", '{"tenant":"other"}'),
    ],
)
def test_a_manifest_that_was_changed_is_refused(field: str, value: Any) -> None:
    bench = full_bench()
    manifest = replace(bench.compile(**REQUEST).manifest, **{field: value})
    with refused(InvalidInput, "bad_manifest"):
        again(bench, manifest)


def test_another_policy_or_vocabulary_is_refused() -> None:
    bench = full_bench()
    manifest = bench.compile(**REQUEST).manifest
    other = replace(DEFAULT, compile=replace(DEFAULT.compile, bm25_b=0.5))
    with pytest.raises(InvalidInput, match="pins policy"):
        again(bench, manifest, policy=other)
    words = bench.vocabulary.define("role", TenantWord("pilot", "flies"))
    with pytest.raises(InvalidInput, match="pins vocabulary"):
        again(bench, manifest, vocabulary=words)


def test_a_manifest_of_another_tenant_is_refused() -> None:
    bench = full_bench()
    manifest = bench.compile(query="x").manifest
    with refused(Forbidden, "tenant_mismatch"):
        again(bench, manifest, caller=replace(OWNER, tenant="other"))


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"envelope_id": 1}'])
def test_a_text_that_is_no_manifest_is_refused(text: str) -> None:
    with refused(InvalidInput, "bad_manifest"):
        manifest_from_json(text)


def test_the_manifest_names_what_source_001_asks_for() -> None:
    bench = full_bench()
    envelope = bench.compile(query="nightly deploy report", budget_tokens=700)
    plain = json.loads(envelope.manifest.to_json())
    names = ("pack_id", "model", "window", "layer_budgets", "truncation_events", "checksum")
    assert all(name in plain for name in (*names, "artifact_uris"))
    assert plain["pack_id"] == envelope.envelope_id
    assert any(event["layer"] == "evidence" for event in plain["truncation_events"])
    assert principal_of(envelope.manifest) == bench.principal
    assert envelope.manifest.pack_id == envelope.manifest.envelope_id
    assert envelope.manifest.checksum == envelope.digest


def test_the_same_pins_give_the_same_id_and_others_another() -> None:
    bench = full_bench()
    one = bench.compile(query="x")
    assert bench.compile(query="x").envelope_id == one.envelope_id
    assert bench.compile(query="y").envelope_id != one.envelope_id
    bench.now += 1
    assert bench.compile(query="x").envelope_id != one.envelope_id


def test_an_empty_world_replays() -> None:
    bench = Bench()
    envelope = bench.compile(query="anything")
    assert again(bench, envelope.manifest).text == envelope.text


def test_pages_replay_too() -> None:
    bench = full_bench().rules(overflow=OverflowPolicy.PAGINATE)
    page = bench.compile(query="nightly deploy report", budget_tokens=700)
    second = page.next
    assert second is not None
    assert again(bench, second.manifest).text == second.text
    assert second.envelope_id != page.envelope_id


def test_content_that_the_row_lost_is_treated_as_erased() -> None:
    bench = full_bench()
    envelope = bench.compile(**REQUEST)
    empty = Content(
        value_json="null",
        text="",
        normalized_claim="",
        why_it_matters="",
        behavioral_implication=None,
        enforcement=None,
        terms="",
    )
    edit(bench, "title", content=empty, erased=True)
    assert "erased" in {g.code.value for g in again(bench, envelope.manifest).gaps}


HIDDEN: dict[str, dict[str, Any]] = {
    "stronger": {"level": 1, "value": "Vault"},
    "newer": {"value": "Vault", "scope": {"user": "ann"}, "since": NOW},
    "tied": {"value": "Vault"},
    "equal": {"value": "Chicago"},
    "weaker": {"level": 4, "value": "Vault", "origin": "doc://x"},
}


def bench_with_hidden(name: str, *roles: str) -> Bench:
    """A slot whose visible value meets one that the role `agent` may not see."""
    bench = Bench(principal=Principal(user="ann", roles=frozenset({"agent", *roles})))
    bench.world.add("office", subject="Sam", slot="office", value="Chicago", since=1)
    fields: dict[str, Any] = {"since": 1, **HIDDEN[name]}
    bench.world.add("vault", subject="Sam", slot="office", deny=("agent",), **fields)
    return bench


@pytest.mark.parametrize("name", HIDDEN)
def test_a_replay_needs_no_row_that_was_hidden_and_its_manifest_names_none(name: str) -> None:
    bench = bench_with_hidden(name)
    envelope = bench.compile(query="office of Sam", entities=["Sam"])
    text = envelope.manifest.to_json()
    for hidden in (uid("vault"), "role_denied", "Vault"):
        assert hidden not in text
        assert hidden not in json.dumps(envelope.trace.to_dict())
    assert not envelope.manifest.names_refused

    bench.world.rows = [v for v in bench.world.rows if v.row.claim.object_id != uid("vault")]
    replica = again(bench, manifest_from_json(text))
    assert replica.text == envelope.text
    assert replica.manifest == envelope.manifest
    assert replica.trace == envelope.trace
    assert ("Chicago" in envelope.text) is (name == "weaker")


@pytest.mark.parametrize("name", HIDDEN)
def test_the_manifest_of_an_auditor_names_what_was_hidden(name: str) -> None:
    bench = bench_with_hidden(name, "auditor")
    envelope = bench.compile(query="office of Sam", entities=["Sam"])
    assert [o.object_id for o in envelope.trace.withheld_objects] == [uid("vault")]
    assert envelope.manifest.names_refused
    replica = again(bench, manifest_from_json(envelope.manifest.to_json()))
    assert replica.manifest == envelope.manifest
    assert replica.trace == envelope.trace


@pytest.mark.parametrize("roles", [(), ("auditor",)])
def test_what_this_compile_alone_may_not_hold_is_a_flag_in_a_manifest(
    roles: tuple[str, ...],
) -> None:
    bench = Bench(principal=Principal(user="ann", roles=frozenset({"agent", *roles})))
    for number in range(3):
        bench.world.add(
            f"key {number}", subject="Sam", slot="office", value=str(number),
            sensitivity=["credential"],
        )  # fmt: skip
    envelope = bench.compile(query="office of Sam", entities=["Sam"])
    assert (uid("key 1") in envelope.manifest.to_json()) is bool(roles)
    assert envelope.trace.withheld == {"gate": 3 if roles else 1}
    assert envelope.gaps == ()
    replica = again(bench, envelope.manifest)
    assert replica.trace == envelope.trace
    assert replica.manifest == envelope.manifest


def test_a_namesake_in_hidden_rows_changes_no_name() -> None:
    bench = Bench(principal=Principal(user="ann", roles=frozenset({"agent"})))
    bench.world.add("office", subject="Sam", slot="office", value="Chicago")
    secret = bench.world.add("secret", subject="Sam", slot="manager", deny=("agent",), value="y",
                             value_entity="Sam the second", since=9)  # fmt: skip
    second = bench.world.entity_id("Sam the second")
    bench.world.entities[second] = replace(bench.world.entities[second], name="Sam")
    envelope = bench.compile(query="office", entities=[bench.world.entity_id("Sam")])
    assert "Sam | office" in envelope.text
    assert "#" not in envelope.text
    assert secret not in envelope.manifest.to_json()
    assert again(bench, envelope.manifest).text == envelope.text


def test_a_hidden_rule_about_a_pending_entity_is_not_named() -> None:
    bench = Bench(principal=Principal(user="ann", roles=frozenset({"agent"})))
    bench.world.person("Sam", pending=True)
    rule = bench.world.add("rule", subject="Sam", slot="office", value="x", level=1,
                           deny=("agent",), object_type="policy_rule")  # fmt: skip
    envelope = bench.compile(query="office", entities=["Sam"])
    assert rule not in json.dumps(envelope.trace.to_dict()) + envelope.manifest.to_json()
    assert again(bench, envelope.manifest).trace == envelope.trace


# ---- The stored form of a manifest: by reference, small, and the same manifest when it is read.

IDS = [str(UUID(int=(7 << 76) + (2 << 62) + number * 0x1D0A57E11B3F)) for number in range(160)]


def manifest(**fields: Any) -> Manifest:
    return replace(full_bench().compile(**REQUEST).manifest, **fields)


def test_160_facts_are_named_in_less_than_16_kilobytes() -> None:
    rows = [RecordedRow(name, 100_000 + place, 25, 1, 956_267) for place, name in enumerate(IDS)]
    stored = manifest(candidates=tuple(rows), compiled=tuple(IDS))
    assert len(stored.to_stored()) <= 7_500
    assert manifest_from_json(stored.to_stored()) == stored
    assert len(stored.to_json()) > 16_000


@pytest.mark.parametrize("name", [IDS[3], IDS[3].upper(), "o17", "~o17", "~~", "~" + IDS[3]])
def test_an_id_comes_back_letter_by_letter(name: str) -> None:
    rows = (
        RecordedRow("other", 1, 2, 3, 4),
        RecordedRow(name, 5, 6, 7, 8, None, -9, "", None, "r"),
    )
    stored = manifest(candidates=rows, compiled=(name, "of no candidate"))
    assert manifest_from_json(stored.to_stored()) == stored


def test_digests_ids_and_any_words_come_back_letter_by_letter() -> None:
    words = "\x00 \x01 \ud800 ~ " + IDS[0] + " é " + "ab" * 32 + " " + IDS[1].upper() + "F" * 64
    stored = manifest(request=json.dumps({"query": words}), model=words)
    assert stored_manifest(stored.to_stored()) == stored


def test_a_session_s_request_is_kept_in_a_fraction_of_its_json() -> None:
    stored = manifest(candidates=(), compiled=(), truncation_events=())
    assert len(stored.to_stored()) * 3 < len(stored.to_json())
    changed = replace(stored, envelope_id="0" * 64)
    assert stored_manifest(changed.to_stored()).envelope_id == "0" * 64


def test_a_packed_manifest_that_was_cut_is_refused() -> None:
    text = manifest().to_stored()
    for broken in (text[:-90], text[:40], "~", text + " ", "~" + text[9:]):
        with refused(InvalidInput, "bad_manifest"):
            manifest_from_json(broken)


def test_what_a_limit_left_out_comes_back() -> None:
    events = (TruncationEvent("facts", "limit", ("other", "of no candidate")),)
    rows = (RecordedRow("other", 1, 2, 3, 4, 5, None, "hidden"),)
    stored = manifest(candidates=rows, truncation_events=events)
    assert manifest_from_json(stored.to_stored()) == stored


@pytest.mark.parametrize("place", [-1, 160, 1.5, None])
def test_a_place_of_no_candidate_is_refused(place: object) -> None:
    rows = tuple(RecordedRow(name, 1, 2, 3, 4) for name in IDS)
    document = json.loads(manifest(candidates=rows).to_json())
    document |= {"candidates": [list(row) for row in rows], "compiled": [place]}
    with refused(InvalidInput, "bad_manifest"):
        manifest_from_json(json.dumps(document))
