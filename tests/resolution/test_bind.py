"""Binding over a register: ids and identifiers first, and what is left for the scorer."""

from dataclasses import replace
from typing import Any

import pytest

from tenure.resolution.bind import bind, locate, needs_scoring
from tenure.resolution.context import context_of
from tenure.resolution.identifiers import lookup_of
from tenure.resolution.known import Known
from tenure.resolution.register import Register, Rules
from tenure.resolution.scorer import NameScorer
from tenure.schema.entity import EntityRef, Identifier, Resolution
from tenure.schema.errors import Conflict, NotFound
from tenure.schema.policy import ResolutionPolicy
from tenure.schema.vocabulary import Decision, EntityState, JudgedBy, JudgementVerdict
from tenure.tests.support.entities import alias, entity, judgement
from tenure.tests.support.refusals import refused

ANN = "00000000-0000-0000-0000-00000000000a"
BEN = "00000000-0000-0000-0000-00000000000b"
NOBODY = "00000000-0000-0000-0000-00000000000f"
RULES = Rules(scopes=frozenset({"tenant"}), scope_id="tenant")
BOTH = EntityRef(name="Ann", external_ids={"tax": "de 2", "hr": "1"})


def register(canonical: dict[str, str] | None = None) -> Register:
    """Ann holds hr=1, Ben holds an e-mail address; each has an alias."""
    return Register(
        Known(
            entities={ANN: entity(ANN, "Ann"), BEN: entity(BEN, "Ben")},
            aliases=(alias(ANN, "Ann"), alias(BEN, "Ben")),
            identifiers=(
                Identifier(entity_id=ANN, scheme="hr", value="1", tx_start=1),
                Identifier(entity_id=BEN, scheme="tax", value="de2", tx_start=1),
                Identifier(entity_id=BEN, scheme="email", value="ben@example.org", tx_start=1),
            ),
            canonical=canonical or {},
        )
    )


def test_identifiers_of_two_entities_are_a_conflict_that_names_both() -> None:
    with refused(Conflict, "identifier_conflict") as caught:
        bind(BOTH, register(), RULES)
    assert caught.value.data["entities"] == [ANN, BEN]
    assert "hr=1, tax=de 2" in str(caught.value)


def test_identifiers_of_one_merged_entity_agree() -> None:
    found = bind(BOTH, register({ANN: ANN, BEN: ANN}), RULES)
    assert (found.decision, found.reason) == (Decision.BIND, "same_identifier")
    assert [one.entity for one in found.candidates] == [ANN]


def test_an_id_binds_to_itself_and_an_unknown_one_is_not_found() -> None:
    found = bind(BEN, register(), RULES)
    assert (found.entity, found.reason, found.score) == (BEN, "entity_id", 1.0)
    with refused(NotFound, "unknown_entity"):
        bind(NOBODY, register(), RULES)


def test_only_what_nothing_exact_decides_needs_a_scorer() -> None:
    known = register()
    assert needs_scoring("Annabel", known, RULES)
    assert not needs_scoring("Ann", known, RULES)
    assert not needs_scoring(BEN, known, RULES)
    assert not needs_scoring(EntityRef(name="Anna", external_ids={"hr": "1"}), known, RULES)


@pytest.mark.parametrize("mention", [BOTH, NOBODY], ids=["conflict", "unknown id"])
def test_a_mention_that_will_be_refused_is_not_scored(mention: EntityRef | str) -> None:
    assert not needs_scoring(mention, register(), RULES)


def test_a_look_up_asks_for_ids_names_and_identifiers_in_order() -> None:
    asked = lookup_of([BOTH, BEN, "The Boss"])
    assert asked.entity_ids == (BEN,)
    assert asked.norms == ("ann", "the boss")
    assert asked.identifiers == (
        ("=hr", "1"),
        ("=tax", "de2"),
        ("hr", "1"),
        ("tax", "de 2"),
        ("tax", "de2"),
    )


def test_another_address_speaks_against_nobody() -> None:
    mention = EntityRef(name="Ben", type="person", external_ids={"email": "ben@home.example"})
    assert bind(mention, register(), RULES).entity == BEN


@pytest.mark.parametrize(
    ("address", "same"), [("b.stone@example.org", True), ("ben@localhost", False)]
)
def test_a_domain_is_shared_where_addresses_have_one(address: str, same: bool) -> None:
    mention = EntityRef(name="Ben Stone", type="person", external_ids={"email": address})
    context = context_of(mention, BEN, ["Ben"], register(), RULES, generic=False)
    assert context.same_email_domain is same


def test_another_number_of_a_register_excludes_and_leaves_a_suggestion() -> None:
    mention = EntityRef(name="Ann", type="person", external_ids={"hr": "2"})
    resolution = bind(mention, register(), RULES)
    assert (resolution.decision, resolution.reason) == (Decision.NEW, "possible_same_as")
    (candidate,) = resolution.candidates
    assert (candidate.entity, candidate.score) == (ANN, RULES.bands.review_above)
    assert candidate.vetoes == ("attribute_conflict",)
    assert candidate.features[-1].detail == "differing: '2' / '1'"


def test_nobody_is_suggested_who_cannot_be_meant() -> None:
    elsewhere = Rules(scopes=frozenset({"project=x"}), scope_id="project=x")
    person = EntityRef(name="Ann", type="person", external_ids={"hr": "2"})
    place = EntityRef(name="Ann", type="location", external_ids={"hr": "2"})
    address = EntityRef(name="Ann", type="location", external_ids={"email": "ann@example.org"})
    for mention, rules in ((person, elsewhere), (place, RULES), (address, RULES)):
        resolution = bind(mention, register(), rules)
        assert (resolution.reason, resolution.candidates) == ("no_candidate", ())


def test_an_erased_namesake_is_not_suggested() -> None:
    known = register()
    known.learn(entities=[entity(ANN, "Ann", state=EntityState.ERASED)])
    mention = EntityRef(name="Ann", type="person", external_ids={"hr": "2"})
    assert bind(mention, known, RULES).reason != "possible_same_as"


def joined(
    judged_by: JudgedBy | None, verdict: JudgementVerdict = JudgementVerdict.MATCH
) -> Register:
    """Ben, whom a page named, counts as Ann; `judged_by` joined them."""
    row = judgement(ANN, BEN, verdict=verdict, judged_by=judged_by or JudgedBy.MODEL)
    return Register(
        Known(
            entities={ANN: entity(ANN, "Ann"), BEN: entity(BEN, "Ben")},
            aliases=(alias(ANN, "Ann", object_id="user"), alias(BEN, "Ben", object_id="page")),
            canonical={ANN: ANN, BEN: ANN},
            judgements=(row,) if judged_by else (),
            taught_levels={"user": 2, "page": 4},
        )
    )


def writer(level: int | None) -> Rules:
    return Rules(scopes=frozenset({"tenant"}), scope_id="tenant", authority=level)


@pytest.mark.parametrize("judged_by", [None, JudgedBy.MODEL, JudgedBy.RULE])
def test_a_name_that_only_a_page_used_asks_a_stronger_writer(judged_by: JudgedBy | None) -> None:
    question = bind("Ben", joined(judged_by), writer(2))
    assert (question.decision, question.reason) == (Decision.REVIEW, "untrusted_alias")
    assert question.entity is None
    (candidate,) = question.candidates
    assert (candidate.entity, candidate.vetoes) == (ANN, ("untrusted_alias",))
    assert needs_scoring("Ben", joined(judged_by), writer(2))
    for level in (4, None):
        assert bind("Ben", joined(judged_by), writer(level)).decision is Decision.BIND
    assert bind("Ann", joined(judged_by), writer(2)).decision is Decision.BIND


def test_whom_a_person_joined_bears_its_name_by_right() -> None:
    assert bind("Ben", joined(JudgedBy.HUMAN), writer(2)).decision is Decision.BIND
    parted = joined(JudgedBy.HUMAN, JudgementVerdict.NON_MATCH)
    assert bind("Ben", parted, writer(2)).reason == "untrusted_alias"


def test_an_alias_that_an_accepted_review_taught_is_trusted() -> None:
    known = joined(None)
    taught = alias(ANN, "Benny", object_id="page", merge_id="m")
    known.learn(aliases=[taught, alias(ANN, "Bennie", object_id="page")])
    assert bind("Benny", known, writer(2)).decision is Decision.BIND
    assert bind("Bennie", known, writer(2)).reason == "untrusted_alias"


class Judging:
    """A scorer that says one thing."""

    def __init__(self, decision: Decision, entity_id: str | None) -> None:
        self.resolution = Resolution(
            decision=decision, entity=entity_id, score=0.99, reason="scored"
        )

    def judge(self, mention: EntityRef, known: Register, rules: Rules) -> Resolution:
        return self.resolution


@pytest.mark.parametrize(
    ("decision", "entity_id", "reason"),
    [
        (Decision.BIND, ANN, "scored"),
        (Decision.BIND, BEN, "untrusted_alias"),
        (Decision.NEW, None, "untrusted_alias"),
    ],
)
def test_what_the_trusted_names_bind_needs_no_question(
    decision: Decision, entity_id: str | None, reason: str
) -> None:
    scorer: Any = Judging(decision, entity_id)
    assert bind("Ben", joined(None), writer(2), scorer).reason == reason


def test_an_untrusted_name_of_nobody_known_asks_too() -> None:
    lost = Register(
        Known(aliases=(alias(NOBODY, "Ben", object_id="page"),), taught_levels={"page": 4})
    )
    assert bind("Ben", lost, writer(2)).reason == "untrusted_alias"


def test_an_equal_name_asks_for_more_where_a_persons_context_is_a_project() -> None:
    bands = ResolutionPolicy(person_context_scope="project")
    rules = replace(RULES, bands=bands)
    assert bind("Ann", register(), rules).reason == "person_without_context"

    project = replace(rules, scopes=frozenset({"tenant", "project=x"}), scope_id="project=x")
    known = register()
    known.learn(aliases=[alias(ANN, "Ann", scope_id="project=x")])
    assert bind("Ann", known, project).decision is Decision.BIND


def test_a_near_name_that_only_a_page_used_proposes_nobody_to_a_stronger_writer() -> None:
    page = alias(ANN, "Katharina Vogel", object_id="page")
    known = Register(
        Known(
            entities={ANN: entity(ANN, "Ann")},
            aliases=(alias(ANN, "Ann", object_id="user"), page),
            taught_levels={"user": 2, "page": 4},
        )
    )
    near = EntityRef(name="Katharina Vogell", type="person")
    scorer = NameScorer()
    rules = replace(writer(4), beside=((ANN, page.norm),))
    assert scorer.judge(near, known, rules).candidates != ()
    assert scorer.judge(near, known, replace(rules, authority=2)).candidates == ()


def test_a_name_means_only_what_fits_its_type_and_scope() -> None:
    known = register()
    (ann,) = locate("Ann", known, frozenset({"tenant"}))
    assert locate(EntityRef(name="Ann", type="person"), known, frozenset({"tenant"})) == (ann,)
    assert locate(EntityRef(name="Ann", type="organization"), known, frozenset({"tenant"})) == ()
    assert locate("Ann", known, frozenset({"user:bob"})) == ()
