"""Writing through the client: outcomes, retries, batches, refusals. Every store passes this."""

import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import pytest

from tenure import Conflict, Forbidden, InvalidInput, Memory, Policy, TenureError, Write
from tenure.schema.policy import WritePolicy
from tenure.schema.values import canonical_json
from tenure.schema.write import ABSENT
from tenure.service.writing.write import Writer
from tenure.store.port.tables import RECEIPTS
from tenure.tests.store.builders import Open, caller
from tenure.tests.support.refusals import refused

JAN, FEB, MAR, JUN = (f"2026-{month:02}-01T00:00:00Z" for month in (1, 2, 3, 6))


@pytest.mark.parametrize(
    ("second", "outcome"),
    [
        ({"value": "NYC", "valid_from": JAN}, "confirmed"),
        ({"value": "Chicago", "valid_from": JUN}, "accepted"),
        ({"value": "Chicago", "valid_from": "2025-06-01T00:00:00Z"}, "clipped"),
        ({"value": "Chicago", "valid_from": JAN, "authority_level": 3}, "overridden"),
        ({"value": "Chicago", "valid_from": JAN}, "disputed"),
        ({"value": "Chicago", "valid_from": JAN, "confidence": 0.5}, "disputed"),
        ({"value": "Chicago", "valid_from": FEB, "op": "correct", "authority_level": 3}, "refused"),
    ],
)
def test_outcome_of_a_second_claim(memory: Memory, second: dict[str, Any], outcome: str) -> None:
    memory.write(subject="Sam", slot="office", value="NYC", valid_from=JAN)
    assert memory.write(subject="Sam", slot="office", **second).outcome == outcome


def test_a_loser_is_kept_and_linked(memory: Memory) -> None:
    old = memory.write(subject="Sam", slot="office", value="NYC", valid_from=JAN)
    new = memory.write(subject="Sam", slot="office", value="Chicago", valid_from=JUN)
    assert new.superseded == (old.object_id,)
    story = memory.explain(old.object_id)
    assert [link.object_id for link in story.superseded_by] == [new.object_id]
    assert {row.status for row in story.rows} == {"clean", "overridden"}


def test_retract_resurfaces_and_delete_leaves_a_gap(open_memory: Open) -> None:
    for op, shown in (("retract", "NYC"), ("delete", None)):
        memory = open_memory()
        memory.write(subject="Sam", slot="office", value="NYC", valid_from=JAN)
        memory.write(subject="Sam", slot="office", value="Chicago", valid_from=FEB)
        memory.write(subject="Sam", slot="office", value="Chicago", op=op, valid_from=FEB)
        assert memory.as_of(valid=MAR).value("Sam", "office") == shown


def test_a_write_follows_what_another_process_has_defined_meanwhile(memory: Memory) -> None:
    memory.vocabulary.define_slot("lucky_numbers", description="numbers")
    memory.write(subject="Sam", slot="office", value="NYC")
    store, tenant = memory._backend.store, memory.principal.tenant
    many = {"define": "slot", "name": "lucky_numbers", "cardinality": "many"}
    assert store.define(tenant, after=1, definition=canonical_json(many))
    for number in ("7", "8"):
        memory.write(subject="Sam", slot="lucky_numbers", value=number)
    assert memory.as_of().slot("Sam", "lucky_numbers").values == ("7", "8")

    sort = {"define": "entity_type", "name": "starship"}
    assert store.define(tenant, after=2, definition=canonical_json(sort))
    memory.write(subject={"name": "Nova", "type": "starship"}, slot="lucky_numbers", value="9")
    assert memory.as_of().entity("Nova").type == "starship"


def test_a_retry_returns_the_first_receipt(memory: Memory) -> None:
    stated: dict[str, Any] = {"subject": "Sam", "slot": "office", "value": "NYC"}
    first = memory.write(**stated, idempotency_key="k1")
    again = memory.write(**stated, idempotency_key="k1")
    assert again.replayed
    assert (again.object_id, again.tx) == (first.object_id, first.tx)
    assert len(memory.history("Sam", "office")) == 1
    with refused(Conflict, "idempotency_mismatch"):
        memory.write(subject="Sam", slot="office", value="LA", idempotency_key="k1")


def test_an_idempotency_key_belongs_to_its_caller(memory: Memory) -> None:
    ann, bob = (caller(memory, user=user) for user in ("ann", "bob"))
    fields: dict[str, Any] = {"slot": "office", "value": "NYC", "idempotency_key": "key-7"}
    first = ann.write(subject="Sam", **fields)
    second = bob.write(subject="Lee", **fields)
    assert not second.replayed
    assert second.object_id != first.object_id
    assert ann.write(subject="Sam", **fields).object_id == first.object_id
    assert bob.write(subject="Lee", **fields).replayed

    with memory._backend.store.writing(memory.principal.tenant) as tx:
        tx.lock()
        stored = tx.find(RECEIPTS, "object_id", [first.object_id, second.object_id])
    assert all(len(receipt.idempotency_key or "") == 64 for receipt in stored)
    assert "key-7" not in str(stored)


def test_a_key_from_before_keys_were_digests_answers_its_own_writer_alone(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann, bob = (caller(memory, user=user) for user in ("ann", "bob"))
    fields: dict[str, Any] = {"subject": "Sam", "slot": "office", "value": "NYC"}
    with monkeypatch.context() as patch:
        patch.setattr(Writer, "_key_digest", lambda _, key: key)
        older = ann.write(**fields, idempotency_key="k1")

    again = ann.write(**fields, idempotency_key="k1")
    assert again.replayed
    assert again.object_id == older.object_id
    assert not bob.write(**fields, idempotency_key="k1").replayed


def test_a_dry_run_says_and_changes_nothing(memory: Memory) -> None:
    memory.write(subject="Sam", slot="office", value="NYC", valid_from=JAN)
    before = memory.as_of().tx
    receipt = memory.write(subject="Sam", slot="office", value="LA", valid_from=JUN, dry_run=True)
    assert receipt.dry_run
    assert receipt.outcome == "accepted"
    assert receipt.superseded
    assert memory.as_of().tx == before
    assert memory.as_of().value("Sam", "office") == "NYC"


def test_write_many_is_all_or_nothing_under_one_stamp(memory: Memory) -> None:
    receipts = memory.write_many(
        [Write(subject="Sam", slot="office", value="NYC", valid_from=JAN),
         Write(subject="Sam", slot="title", value="engineer", valid_from=JAN)]
    )  # fmt: skip
    assert len({receipt.tx for receipt in receipts}) == 1
    with pytest.raises(InvalidInput):
        memory.write_many(
            [Write(subject="Sam", slot="office", value="LA"), Write(subject="Sam", slot="ofice")]
        )
    assert memory.as_of().value("Sam", "office") == "NYC"


def test_each_write_has_its_own_stamp(open_memory: Open) -> None:
    memory = open_memory(clock=lambda: 1_000_000)
    stamps = [memory.write(subject="Sam", slot="skill", value=f"s{n}").tx for n in range(4)]
    assert stamps == sorted(set(stamps))
    assert len(memory.as_of().slot("Sam", "skill").values) == 4


BAD: dict[str, dict[str, Any]] = {
    "naive_datetime": {"valid_from": "2026-01-01T00:00:00"},
    "empty_interval": {"valid_from": JAN, "valid_until": JAN},
    "inverted_interval": {"valid_from": FEB, "valid_until": JAN},
    "sub_microsecond": {"valid_from": "2026-01-01T00:00:00.123456789Z"},
    "bad_time": {"valid_from": "yesterday"},
    "unknown_vocabulary": {"slot": "ofice"},
    "value_type_mismatch": {"value": ""},
    "too_large": {"content": "x" * 200_001},
    "out_of_range": {"confidence": 1.5},
    "bad_origin": {"source_origin": "somewhere"},
    "secret_in_content": {"content": "password=hunter2-Zx81!qTw9"},
    "missing_subject": {"subject": None},
    "bad_name": {"subject": "n" * 600},
    "bad_decay_rule": {"decay_rule": {"half_life_days": -1, "minimum_threshold": 0.5}},
}


def test_bad_input_is_refused_with_its_code_and_nothing_is_written(memory: Memory) -> None:
    stated: dict[str, Any] = {"subject": "Sam", "slot": "office", "value": "NYC"}
    for code, fields in BAD.items():
        with refused(InvalidInput, code):
            memory.write(**{**stated, **fields})
        assert memory.as_of().tx is None, code


def test_an_unknown_word_comes_with_a_suggestion(open_memory: Open) -> None:
    with pytest.raises(InvalidInput, match="did you mean 'office'"):
        open_memory().write(subject="Sam", slot="ofice", value="NYC")
    with pytest.raises(InvalidInput, match="did you mean 'preference'"):
        open_memory().write(subject="Sam", slot="office", value="NYC", object_type="preferense")


def test_text_without_relevance_is_refused(memory: Memory) -> None:
    with refused(InvalidInput, "missing_aspect"):
        memory.write(content="likes tea", object_type="preference")


def test_authority_comes_from_the_channel(memory: Memory) -> None:
    agent = caller(memory, user="bot", authority_level=3)
    with refused(Forbidden, "authority_above_ceiling"):
        agent.write(subject="Sam", slot="office", value="NYC", authority_level=1)
    unproven = agent.write(
        subject="Sam", slot="office", value="NYC", source_origin="record://crm/1"
    )
    assert "origin_unproven" in unproven.warnings
    page = memory.write(
        subject="Sam", slot="office", value="Rome", source_origin="https://example.org"
    )
    story = memory.explain(page.object_id)
    assert story.object.authority_level == 4


def test_sixteen_writers_of_one_new_name_make_one_entity(memory: Memory) -> None:
    errors: list[BaseException] = []

    def write(number: int) -> None:
        try:
            memory.write(subject="Quinn Alvarez", slot="skill", value=f"skill {number}")
        except TenureError as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(memory.as_of().slot("Quinn Alvarez", "skill").values) == 16
    assert memory.doctor() == ()


def test_sixteen_writers_of_one_slot_leave_one_chain(memory: Memory) -> None:
    seen: list[tuple[Any, Any]] = []

    def write(number: int) -> None:
        for step in range(6):
            receipt = memory.write(subject="Quinn", slot="office", value=f"{number}.{step}")
            view = memory.as_of(tx=receipt.tx)
            seen.append((view, view.slot("Quinn", "office").value))

    threads = [threading.Thread(target=write, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 96
    for view, value in seen:
        assert view.slot("Quinn", "office").value == value
    rows = [r for r in memory.history("Quinn", "office") if r.tx_end is None and r.head]
    spans = sorted((r.valid_from, r.valid_until) for r in rows if r.valid_from)
    assert all(a[1] == b[0] for a, b in pairwise(spans))
    assert memory.doctor() == ()


def test_a_returning_source_corrects_itself_where_the_policy_says_so(open_memory: Open) -> None:
    corrects = Policy(write=WritePolicy(same_origin_corrects=True))
    for policy, shown in ((Policy(), "LA"), (corrects, "NYC")):
        memory = open_memory(policy=policy)
        for value, since in (("LA", FEB), ("NYC", JAN)):
            memory.write(subject="Sam", slot="office", value=value, valid_from=since,
                         source_origin="record://hr/7")  # fmt: skip
        assert memory.as_of(valid=MAR).value("Sam", "office") == shown
        memory.write(subject="Sam", slot="office", value="Rome", valid_from=JAN,
                     source_origin="record://other/1")  # fmt: skip
        assert memory.as_of(valid=MAR).value("Sam", "office") in (shown, None)


# ---- What one transaction states and takes back stands in history and log, at one moment.


@pytest.mark.parametrize(("slot", "value"), [("pricing_tier", "gold"), ("email", "a@b.example")])
def test_a_batch_that_asserts_and_retracts_leaves_both_in_history_and_log(
    memory: Memory, slot: str, value: str
) -> None:
    fact = {"subject": "Kiln Tools", "slot": slot, "value": value, "valid_from": "2026-02-01"}
    memory.write("Kiln Tools", "email", "office@kiln.example")
    stated, retracted = memory.write_many([Write(**fact), Write(**fact, op="retract")])

    (row,) = (
        row for row in memory.history("Kiln Tools", slot) if row.object_id == stated.object_id
    )
    assert (row.value, row.reason) == (value, "retracted")
    assert row.tx_start == row.tx_end == stated.tx
    (entry, *_) = memory.log()
    assert len(entry.sentences) == 2
    assert entry.sentences[1] == f"took back {entry.sentences[0]}"
    assert value in entry.sentences[0]
    assert memory.as_of().value("Kiln Tools", slot) in (None, "office@kiln.example")
    assert memory.explain(retracted.object_id).object.object_id == stated.object_id


def test_a_confirmation_is_no_withdrawal(memory: Memory) -> None:
    fact = Write(subject="Kiln Tools", slot="pricing_tier", value="gold", valid_from="2026-02-01")
    memory.write_many([fact, fact])
    assert len(memory.history("Kiln Tools", "pricing_tier")) == 1


# ---- `expected`: a write that states what it has read is refused when that changed since.


def move(memory: Memory, value: str, expected: str | None) -> str:
    receipt = memory.write(
        subject="Sam Rivera", slot="office", value=value, op="correct", expected=expected
    )
    return receipt.object_id


def office(memory: Memory) -> object:
    return memory.as_of().value("Sam Rivera", "office")


def test_a_write_goes_through_while_what_it_read_still_stands(memory: Memory) -> None:
    first = move(memory, "Chicago", ABSENT)
    second = move(memory, "Boston", first)
    assert office(memory) == "Boston"

    for stale in (first, ABSENT, "no-such-object"):
        with refused(Conflict, "stale_version"):
            move(memory, "Rome", stale)
    assert office(memory) == "Boston"
    move(memory, "Rome", second)
    assert office(memory) == "Rome"


def test_who_expects_nothing_overwrites_as_ever(memory: Memory) -> None:
    move(memory, "Chicago", ABSENT)
    move(memory, "Boston", None)
    assert office(memory) == "Boston"


def test_in_one_transaction_the_second_write_of_a_slot_is_overtaken(memory: Memory) -> None:
    writes = [
        Write(subject="Sam Rivera", slot="office", value=value, expected=ABSENT)
        for value in ("Chicago", "Boston")
    ]
    with pytest.raises(Conflict):
        memory.write_many(writes)
    assert office(memory) is None


def test_of_many_that_start_from_one_value_exactly_one_wins(memory: Memory) -> None:
    first = move(memory, "Chicago", ABSENT)

    def attempt(number: int) -> str:
        try:
            move(memory, f"Office {number}", first)
        except TenureError as refusal:
            return refusal.code
        return "won"

    with ThreadPoolExecutor(8) as threads:
        outcomes = list(threads.map(attempt, range(8)))
    assert sorted(outcomes) == ["stale_version"] * 7 + ["won"]


def test_a_retry_with_a_key_is_answered_although_its_own_write_stands(memory: Memory) -> None:
    def once() -> str:
        write = Write(
            subject="Sam", slot="office", value="Rome", expected=ABSENT, idempotency_key="k"
        )
        return memory.write_many([write])[0].object_id

    assert once() == once()


def test_a_text_and_a_slot_of_many_values_have_no_one_value(memory: Memory) -> None:
    with pytest.raises(InvalidInput):
        memory.write(content="just words", expected=ABSENT)
    with pytest.raises(InvalidInput):
        memory.write(subject="Sam Rivera", slot="allergy", value="nuts", expected=ABSENT)
