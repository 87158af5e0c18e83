"""The scorer over a register: large clusters, and names that may be a person's."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest

from tenure.resolution.extract import may_be_person
from tenure.resolution.keys import alias_key
from tenure.resolution.known import Known
from tenure.resolution.register import Register, Rules
from tenure.resolution.scorer import NameScorer
from tenure.resolution.vetoes import VetoCode
from tenure.schema.entity import EntityCandidate, EntityRef, Resolution
from tenure.schema.vocabulary import (
    CandidateSource,
    Decision,
    JudgedBy,
)
from tenure.tests.source_tree import data_table
from tenure.tests.support.entities import alias, entity, judgement

NAMES = data_table("names.toml")["scorer"]

RULES = Rules(scopes=frozenset({"tenant"}), scope_id="tenant")


def register(
    names: Iterable[str],
    kind: str,
    mention: EntityRef,
    *,
    is_cluster: bool = False,
    bearers: int = 0,
    scopes: Mapping[str, str] = MappingProxyType({}),
) -> Register:
    """A register of entities of one name each, all proposed; `e00` leads a cluster."""
    members = {f"e{index:02}": name for index, name in enumerate(names)}
    entities = {
        raw: entity(raw, name, kind, scope_id=scopes.get(raw, "tenant"))
        for raw, name in members.items()
    }
    aliases = tuple(alias(raw, name, kind) for raw, name in members.items())
    canonical = dict.fromkeys(members, "e00") if is_cluster and len(members) > 1 else {}
    known = Register(Known(entities=entities, aliases=aliases, canonical=canonical))
    proposals = {(raw, alias_key(name)): 10_000 for raw, name in members.items()}
    query = alias_key(mention.name), mention.type, RULES.scopes
    known.propose(query, proposals, bearers)
    return known


def judged(mention: EntityRef, names: Iterable[str], kind: str, **stated: Any) -> Resolution:
    """Judge a mention against one cluster whose members carry these names, the root first."""
    known = register(names, kind, mention, is_cluster=True, **stated)
    return NameScorer().judge(mention, known, RULES)


@pytest.mark.parametrize("kind", ["system", "unknown"])
@pytest.mark.parametrize(
    ("names", "chained"),
    [
        (("OrderService", "Checkout"), False),
        (("OrderService", "Checkout", "Basket"), True),
        (("OrderService", "Checkout", "Order-Service"), False),
    ],
    ids=["two members", "one of three fits", "two of three fit"],
)
def test_a_cluster_of_three_is_joined_only_where_two_members_fit(
    names: tuple[str, ...], chained: bool, kind: str
) -> None:
    found = judged(EntityRef(name="Order Service", type=kind), names, "system")
    (candidate,) = found.candidates
    assert (VetoCode.CHAIN.value in candidate.vetoes) is chained
    assert found.decision is (Decision.REVIEW if chained else Decision.BIND)
    assert found.entity == (None if chained else "e00")
    assert (candidate.score < RULES.bands.bind_at) is chained


def test_a_weak_name_is_not_blamed_on_the_chain() -> None:
    names = ("Other Service", "Checkout", "Basket")
    found = judged(EntityRef(name="Order Service", type="system"), names, "system")
    (candidate,) = found.candidates
    assert candidate.score <= RULES.bands.review_above
    assert VetoCode.CHAIN.value not in candidate.vetoes


@pytest.mark.parametrize(
    ("name", "person"),
    NAMES["a_nickname_or_title_outweighs_a_word_for_a_thing"],
)
def test_a_nickname_or_title_outweighs_a_word_for_a_thing(name: str, person: bool) -> None:
    assert may_be_person(name) is person


def test_an_untyped_name_with_a_nickname_is_judged_by_the_stricter_rules() -> None:
    thing = judged(EntityRef(name="Order Service"), ("Order the Service",), "unknown")
    person = judged(EntityRef(name="Bob Service"), ("Bob the Service",), "unknown")
    assert (thing.decision, person.decision) == (Decision.BIND, Decision.REVIEW)
    assert VetoCode.PERSON_WITHOUT_CONTEXT.value in person.candidates[0].vetoes


def test_leaving_out_the_hopeless_changes_no_candidate_above_a_suggestion(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = ("Order", "Orders", "Ordering", "Payment", "Service", "Servce", "Gateway", "Labs")
    names = tuple(f"{a} {b}" for a in words for b in words if a != b)[:48]
    for said in ("Order Service", "Ordre Service", "Payment Gateway Labs", "Order-Service 2"):
        mention = EntityRef(name=said, type="system")
        known = register(names, "system", mention)
        pruned = NameScorer().judge(mention, known, RULES)
        with monkeypatch.context() as patch:
            patch.setattr(NameScorer, "_promising", lambda self, mention, found, *rest: found)
            whole = NameScorer().judge(mention, known, RULES)
        assert pruned.decision is whole.decision
        bar = RULES.bands.suggest_from
        assert pruned.score == whole.score or whole.score < bar
        above, above_whole = ([c for c in r.candidates if c.score >= bar] for r in (pruned, whole))
        assert above == above_whole


def taught(names: list[str]) -> Register:
    """Return a register that has learned a system of each name in this transaction."""
    known, scorer = Register(Known()), NameScorer()
    for number, name in enumerate(names):
        raw = f"e{number:05}"
        known.learn(
            entities=[entity(raw, name, "system")],
            aliases=[alias(raw, name, "system")],
        )
        known.block(alias_key(name), scorer.stored_keys(name, "system"))
    return known


def test_a_common_word_of_a_large_batch_hides_no_name_that_shares_more() -> None:
    crowd = [f"Invoice Gateway {number:04}" for number in range(700)]
    known = taught([*crowd, "Invoice Reconciler"])
    found = NameScorer().judge(EntityRef(name="Invoice-Reconcilr", type="system"), known, RULES)
    assert found.candidates[0].name == "Invoice Reconciler"
    alone = NameScorer().judge(
        EntityRef(name="Invoice-Reconcilr", type="system"), taught(["Invoice Reconciler"]), RULES
    )
    assert found.decision is alone.decision
    assert found.candidates[0].score == alone.candidates[0].score


BOUND = judgement(
    "e0", "e1", judged_by=JudgedBy.RULE, evidence='{"features": [], "vetoes": []}', tx=2
)


@pytest.mark.parametrize(
    ("mention", "entities", "doubted"),
    [
        ("Order Service", {"e0": "Order-Service", "e1": "OrderService"}, ["e1"]),
        ("Basket", {"e0": "Order-Service", "e1": "OrderService"}, []),
        ("Order Service", {"e0": "Order-Service"}, []),
        ("Order Service", {"e0": "Order-Service", "e1": "OrderService of Bob"}, []),
    ],
    ids=["a rival", "a name far from it", "an end that is not known", "another's scope"],
)
def test_a_bind_is_doubted_where_a_later_name_rivals_it(
    mention: str, entities: dict[str, str], doubted: list[str]
) -> None:
    members = {raw: entity(raw, n, "system") for raw, n in entities.items()}
    if "e1" in members:
        scope = "user:bob" if "Bob" in entities["e1"] else "tenant"
        members["e1"] = replace(members["e1"], scope_id=scope, tx_start=2)
    known = Register(
        Known(entities=members, canonical={"e0": "e0", "e1": "e0"}, judgements=(BOUND,))
    )
    candidate = EntityCandidate(
        entity="e0",
        name="Order-Service",
        score=0.99,
        log_odds=4.0,
        source=CandidateSource.BLOCKING,
    )
    outcome = Resolution(
        decision=Decision.REVIEW, entity=None, score=0.99, reason="", candidates=(candidate,)
    )
    ref = EntityRef(name=mention, type="system")
    doubts = NameScorer().doubts(ref, "new", outcome, known, RULES)
    assert [doubt.entity_id for doubt in doubts] == doubted


def test_a_member_in_a_scope_that_the_writer_does_not_see_vouches_for_nobody() -> None:
    mention = EntityRef(name="Order Service", type="system")
    names = ("OrderService", "Order-Service", "Basket")
    (seen,) = judged(mention, names, "system").candidates
    (hidden,) = judged(mention, names, "system", scopes={"e01": "user:bob"}).candidates
    assert VetoCode.CHAIN.value not in seen.vetoes
    assert VetoCode.CHAIN.value in hidden.vetoes


def of_each(
    mention: str, *names: str, rules: Rules = RULES, bearers: int = 0, type: str = "person"
) -> Resolution:
    """Judge a name against several people of one name each, who are `bearers` in the register."""
    ref = EntityRef(name=mention, type=type)
    return NameScorer().judge(ref, register(names, "person", ref, bearers=bearers), rules)


MANY = RULES.bands.common_family_name
FEW = MANY - 1


@pytest.mark.parametrize(
    ("mention", "name", "type"),
    NAMES["a_near_name_asks_a_person_only_where_the_family_name_is_rare"],
)
def test_a_near_name_asks_a_person_only_where_the_family_name_is_rare(mention, name, type):
    rare = of_each(mention, name, bearers=FEW, type=type)
    assert (rare.decision, rare.reason) == (Decision.REVIEW, "scored")

    common = of_each(mention, name, bearers=MANY, type=type)
    assert (common.decision, common.reason) == (Decision.NEW, "possible_same_as")
    (best,) = common.candidates
    assert VetoCode.COMMON_NAME.value in best.vetoes
    assert best.score == RULES.bands.review_above


def test_policy_says_how_many_make_a_family_name_common():
    bands = replace(RULES.bands, common_family_name=FEW)
    rules = replace(RULES, bands=bands)
    assert of_each("Samuel Rivera", "Sam Rivera", rules=rules, bearers=FEW).decision is Decision.NEW


@pytest.mark.parametrize(("mention", "name"), [("Sam Rivera", "SAM RIVERA"), ("李伟", "李偉")])
def test_a_common_family_name_is_nothing_against_one_written_alike(mention, name):
    rare, common = of_each(mention, name), of_each(mention, name, bearers=MANY)
    assert (common.decision, common.score) == (rare.decision, rare.score)


def test_a_thing_has_no_family_name():
    scorer, bands = NameScorer(), RULES.bands
    assert scorer.family(EntityRef(name="Rivera Foods", type="organization"), bands) is None
    assert scorer.family(EntityRef(name="order-service", type="unknown"), bands) is None
    assert scorer.family(EntityRef(name="Rivera", type="person"), bands) is None
    assert scorer.family(EntityRef(name="Ann Smith-Jones", type="person"), bands) is None


def test_people_of_this_transaction_bear_a_family_name_too():
    ref = EntityRef(name="Samuel Rivera", type="person")
    known = register(["Sam Rivera"], "person", ref, bearers=FEW - 1)
    scorer = NameScorer()

    child = known.child()
    for raw, name, scope, kind in (
        ("e1", "Rivera Stone", "tenant", "person"),
        ("e2", "Leo Rivera", "user=bob", "person"),
        ("e3", "Casa Rivera", "tenant", "organization"),
        ("e4", "Ana Rivera", "tenant", "person"),
        ("e4", "Anita Rivera", "tenant", "person"),
    ):
        child.learn(
            entities=[entity(raw, name, kind)],
            aliases=[alias(raw, name, kind, scope_id=scope)],
        )
        child.block(alias_key(name), scorer.stored_keys(name, kind))
    assert scorer.judge(ref, child, RULES).decision is Decision.REVIEW, "one more, twice named"

    for raw, name in (("e5", "Kim Rivera"), ("e6", "Tom Rivera")):
        child.learn(entities=[entity(raw, name)], aliases=[alias(raw, name)])
        child.block(alias_key(name), scorer.stored_keys(name, "person"))
    assert scorer.judge(ref, child, RULES).decision is Decision.NEW


def test_context_asks_about_a_common_name_too():
    rules = replace(
        RULES, neighbours=frozenset({"n1", "n2"}), neighbours_of=lambda _: frozenset({"n1", "n2"})
    )
    resolution = of_each("Sam J. Rivera", "Sam Rivera", rules=rules, bearers=MANY)
    assert resolution.decision is not Decision.NEW
