"""Export and restore: the same answers on both axes, from any store into an empty one."""

import hashlib
import json
from collections.abc import Callable

import pytest

from tenure.schema.claim import MentionLink, Permissions
from tenure.schema.entity import Identifier
from tenure.schema.errors import Conflict, InvalidInput
from tenure.schema.layers import DecayRule
from tenure.schema.principal import Scope, Sight
from tenure.schema.vocabulary import Classification, Op
from tenure.store.port.records import Flag, PermissionChange
from tenure.store.port.store import Ask, Point, RecordKind, Store, VectorRow
from tenure.store.port.tables import USAGE
from tenure.store.transfer.restore import restore
from tenure.store.transfer.transfer import export_lines
from tenure.tests.store.builders import TENANT, Say, add, alias, commit, entity
from tenure.tests.store.contract.test_port_erasure import erase
from tenure.tests.store.contract.test_port_identity import judgement
from tenure.tests.store.contract.test_port_sessions import append, said
from tenure.tests.support.refusals import refused

StoreFactory = Callable[[], Store]
WIDE = Sight(scopes=("tenant", "user=ann"), tags=("*",), clearance=3)


def lived_in(store: Store) -> None:
    """Fill a tenant with one of everything."""
    secret = Permissions(classification=Classification.RESTRICTED, allow=("a", "b"), deny=("c",))
    commit(store, [Say(object_id="a", value="Rome", decay=DecayRule(30, 0.5), key="k")], tx=10)
    commit(store, [Say(object_id="b", value="Oslo", start=50)], tx=20)
    commit(store, [Say(object_id="c", value="Oslo", start=0, op=Op.RETRACT)], tx=30)
    commit(store, [Say(object_id="d", value="東京 \u2028 ü", start=5, level=1)], tx=40)
    commit(store, [Say(object_id="e", slot="skill", many=True, scope=Scope(user="ann"))], tx=50)
    commit(store, [Say(object_id="f", slot=None, permissions=secret, level=4)], tx=60)
    commit(store, [Say(object_id="q", slot="seat", quarantine="injection_suspected")], tx=61)
    people = tuple(entity(e, name=e.upper(), recorded=e == "e2") for e in ("e1", "e2", "e3"))
    add(
        store,
        tx=70,
        entities=people,
        aliases=(alias("e1"), alias("e2", "Kim", tx=2, merge_id="m")),
        identifiers=(Identifier(entity_id="e2", scheme="hr", value="1", tx_start=70),),
        mentions=(MentionLink(object_id="f", entity_id="e3", start=0, end=4),),
        block_keys={"sam rivera": (("t:sam", "token"), ("x", "prefix")), "kim": (("x", "prefix"),)},
        judgements=(judgement("j1", "e1", "e2", tx=70), judgement("j2", "e2", "e3", tx=70)),
        canonical=(("e1", "e2"), ("e2", "e2"), ("e3", "e2")),
        flags=(Flag("a", "stale", True, 70), Flag("a", "stale", False, 70)),
        permissions=(PermissionChange("b", secret, 70, "ann"),),
    )
    add(
        store,
        tx=80,
        closed_judgements=(("j1", 80),),
        canonical=(("e1", "e1"), ("e2", "e2"), ("e3", "e2")),
        closed_aliases=((alias("e1"), 80),),
    )
    append(store, 0, said(1, "kept \u2028", ""), said(2))
    erase(store, 90, objects=("e",))
    store.define(TENANT, after=0, definition='{"define":"slot","name":"skill"}')
    store.put_vectors(
        TENANT, [VectorRow("a", "mini", "why", b"\x00\xff"), VectorRow("b", "m", "0", b"")]
    )
    store.put_vectors(TENANT, [VectorRow("a", "mini", "why", b"\x01\xff")])
    store.put_manifest(TENANT, envelope_id="env", manifest="{}", objects=["a", "b"], pack="{}")
    store.log_usage(TENANT, ["a", "b"], at_us=5)
    store.log_usage(TENANT, ["a"], at_us=7)


def exported(store: Store, *, keys: bool = False) -> list[str]:
    with store.reading(TENANT) as reader:
        return list(export_lines(reader, tenant=TENANT, keys=keys))


def test_what_is_restored_exports_to_the_same_lines(store_factory: StoreFactory) -> None:
    first, second = store_factory(), store_factory()
    first.ensure(TENANT)
    lived_in(first)
    lines = exported(first, keys=True)
    restore(lines, second, TENANT)
    assert exported(second, keys=True) == lines
    assert {json.loads(line).get("kind") for line in lines[1:-1]} == {
        k.value for k in RecordKind
    } - {"review", "action"}
    assert second.check(TENANT) == ()


def test_every_answer_is_the_same(store_factory: StoreFactory) -> None:
    first, second = store_factory(), store_factory()
    first.ensure(TENANT)
    lived_in(first)
    restore(exported(first), second, TENANT)
    with first.reading(TENANT) as a, second.reading(TENANT) as b:
        assert a.clock()[:3] == b.clock()[:3]
        for tx in (5, 10, 25, 30, 45, 61, 80, 90, 99):
            for valid in (-1, 3, 7, 60):
                point = Point(valid, tx)
                for ask in (
                    Ask(),
                    Ask(heads=False, at_valid=False, at_tx=False),
                    Ask(subjects=("e1",), slots=("office",)),
                    Ask(objects=("a", "d", "q"), heads=False),
                ):
                    assert a.versions(ask, sight=WIDE, point=point) == b.versions(
                        ask, sight=WIDE, point=point
                    )
                asked = (["rome", "oslo", "東"],)
                assert a.matching(*asked, sight=WIDE, point=point, limit=9) == b.matching(
                    *asked, sight=WIDE, point=point, limit=9
                )
            assert a.entities(["e1", "e3"], tx_us=tx) == b.entities(["e1", "e3"], tx_us=tx)
        assert a.changes(0, 99, sight=WIDE) == b.changes(0, 99, sight=WIDE)
        assert a.find(USAGE, "object_id", ["a", "b"]) == b.find(USAGE, "object_id", ["a", "b"])


def test_keys_travel_only_when_asked(store_factory: StoreFactory) -> None:
    first, second, third = store_factory(), store_factory(), store_factory()
    first.ensure(TENANT)
    commit(first, [Say(object_id="a")], tx=1)
    restore(exported(first), second, TENANT)
    restore(exported(first, keys=True), third, TENANT)
    keys = []
    for each in (first, second, third):
        with each.reading(TENANT) as reader:
            keys.append(reader.keys())
    assert keys[0] == keys[2] != keys[1]
    assert not any("keys" in line for line in exported(first)[1:])


def test_writing_goes_on_after_a_restore(store_factory: StoreFactory) -> None:
    first, second = store_factory(), store_factory()
    first.ensure(TENANT)
    lived_in(first)
    # with the keys, since the digests of sessions are made with them
    restore(exported(first, keys=True), second, TENANT)
    for each in (first, second):
        commit(each, [Say(object_id="z", value="Bern", start=7)], tx=200)
    assert exported(first)[1:] == exported(second)[1:]
    assert second.check(TENANT) == ()


def test_an_empty_tenant_can_be_moved(store_factory: StoreFactory) -> None:
    first, second = store_factory(), store_factory()
    first.ensure(TENANT)
    restore(exported(first), second, TENANT)
    assert exported(second) == exported(first)


def test_only_an_empty_tenant_takes_a_restore(store_factory: StoreFactory) -> None:
    first, second = store_factory(), store_factory()
    for each in (first, second):
        each.ensure(TENANT)
        commit(each, [Say(object_id="a")], tx=1)
    before = exported(second)
    with refused(Conflict, "tenant_not_empty"):
        restore(exported(first), second, TENANT)
    assert exported(second) == before


def signed(lines: list[str]) -> list[str]:
    """Return lines with a footer that fits them."""
    body = lines[:-1]
    counts: dict[str, int] = {}
    for line in body[1:]:
        kind = json.loads(line)["kind"]
        counts[kind] = counts.get(kind, 0) + 1
    digest = hashlib.sha256("".join(line + "\n" for line in body).encode()).hexdigest()
    return [*body, json.dumps({"end": {"counts": counts, "sha256": digest}})]


def _swap(lines: list[str], old: str, new: str) -> list[str]:
    assert any(old in line for line in lines)
    return [line.replace(old, new) for line in lines]


def _without_claims(lines: list[str]) -> list[str]:
    return [line for line in lines if not line.startswith('{"kind":"claim"')]


@pytest.fixture(scope="module")
def sound_lines(factory_for_reads: StoreFactory) -> list[str]:
    """The export of a tenant that has lived."""
    store = factory_for_reads()
    store.ensure(TENANT)
    lived_in(store)
    return exported(store)


@pytest.mark.parametrize(
    ("spoil", "line"),
    [
        (lambda x: x[:-1], "last"),
        (lambda x: x[:5], 6),
        (lambda x: [], 1),
        (lambda x: x[1:], 1),
        (lambda x: [x[0], "{", *x[1:]], 2),
        (lambda x: [x[0], "[]", *x[1:]], 2),
        (lambda x: [x[0], '{"\ud800":1}', *x[1:]], 2),
        (lambda x: [*x, x[-1]], "after"),
        (lambda x: [x[0], x[2], x[1], *x[3:]], "end"),
        (lambda x: [*x[:2], *x[3:]], "end"),
        (lambda x: signed([x[0], x[-2], *x[1:]]), 3),
        (lambda x: signed([x[0], '{"kind":"ghost","record":{}}', *x[1:]]), 2),
        (lambda x: signed(_swap(x, '"op":"assert"', '"op":"shout"')), "some"),
        (lambda x: signed(_swap(x, '"planned":false', '"planned":0')), "some"),
        (lambda x: signed(_swap(x, '"planned":false', '"planed":false')), "some"),
        (lambda x: signed(_swap(x, '"tenure_export":2', '"tenure_export":3')), 1),
        (lambda x: signed(_swap(x, '"terms":3', '"terms":4')), 1),
        (lambda x: signed(_swap(x, '"next_vid":', '"next_vids":')), 1),
        (lambda x: signed(_swap(x, '["clean","",true]', '["clean","",1]')), "some"),
        (lambda x: signed(_swap(x, '"seq":2', '"seq":9')), "some"),
        (lambda x: signed(_without_claims(x)), "some"),
    ],
)
def test_a_spoilt_export_is_refused_with_its_line_and_nothing_is_written(
    sound_lines: list[str],
    store_factory: StoreFactory,
    spoil: Callable[[list[str]], list[str]],
    line: int | str,
) -> None:
    second = store_factory()
    with refused(InvalidInput, "bad_export") as caught:
        restore(spoil(sound_lines), second, TENANT)
    if isinstance(line, int):
        assert caught.value.data["line"] == line
    second.ensure(TENANT)
    with second.reading(TENANT) as reader:
        assert reader.clock().seq == 0
        assert not list(reader.records(RecordKind.DEFINITION))


def test_the_terms_of_an_older_export_are_stemmed_again(store_factory: StoreFactory) -> None:
    first, second = store_factory(), store_factory()
    first.ensure(TENANT)
    commit(first, [Say(object_id="a")], tx=1)
    with first.reading(TENANT) as reader:
        terms = reader.assertions(["a"])["a"].content.terms
    lines = _swap(exported(first), f'"terms":"{terms}"', '"terms":"kunden kundigungsfrist"')
    restore(signed(_swap(lines, '"terms":3', '"terms":2')), second, TENANT)
    with second.reading(TENANT) as reader:
        assert reader.assertions(["a"])["a"].content.terms == "kund kundigung frist"


def test_counters_that_do_not_fit_the_events_undo_the_restore(store_factory: StoreFactory) -> None:
    first, second = store_factory(), store_factory()
    first.ensure(TENANT)
    commit(first, [Say(object_id="a")], tx=1)
    lines = signed(_swap(exported(first), '"seq":1,"tenant"', '"seq":2,"tenant"'))
    with pytest.raises(InvalidInput):
        restore(lines, second, TENANT)
    second.ensure(TENANT)
    with second.reading(TENANT) as reader:
        assert reader.clock().seq == 0
        assert not list(reader.records(RecordKind.CLAIM))
