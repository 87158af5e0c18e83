"""Scores, vetoes and decisions: the worked examples, the regression pairs, the boundaries."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.resolution.compare import COMPARISONS, measure
from tenure.resolution.context import NO_CONTEXT, PairContext, PersonContext
from tenure.resolution.model import default_model
from tenure.resolution.normalize import normalize
from tenure.resolution.score import (
    MARGIN_SCORE,
    PairScore,
    ScoredEntity,
    decide,
    probability,
    score_pair,
)
from tenure.resolution.vetoes import COMPARATORS, VETOES, VetoCode, compare_attributes
from tenure.schema.errors import InvalidInput
from tenure.schema.policy import ResolutionPolicy
from tenure.schema.vocabulary import AttributeKind, Decision
from tenure.tests.source_tree import data_table

NAMES = data_table("names.toml")["score"]

TENANT = PairContext(person_context=PersonContext.TENANT)
ASSUMED = PairContext(person_context=PersonContext.ASSUMED)
PROJECT = PairContext(person_context=PersonContext.TENANT, same_scope=True)
BANDS = ResolutionPolicy()


def score(left, right, entity_type, context=TENANT):
    names = [right] if isinstance(right, str) else right
    return score_pair(
        normalize(left, entity_type),
        [normalize(name, entity_type) for name in names],
        entity_type,
        context,
        default_model(),
    )


def decision(*scores):
    return decide(
        [ScoredEntity(f"e{index}", one) for index, one in enumerate(scores)], BANDS
    ).decision


def outcome(left, right, entity_type, context=TENANT):
    return decision(score(left, right, entity_type, context)).value


# (left, right, type, names alone, same project): the decisions of the worked examples.


@pytest.mark.parametrize(("left", "right", "entity_type", "alone", "project"), NAMES["worked"])
def test_worked_examples_keep_their_decision(left, right, entity_type, alone, project):
    context = ASSUMED if entity_type == "person" else TENANT
    assert outcome(left, right, entity_type, context) == alone
    assert outcome(left, right, entity_type, PROJECT) == project


CROWDED = PairContext(
    same_scope=True,
    neighbour_overlap=1000,
    mentioned_together=True,
    person_context=PersonContext.ASSUMED,
)
"""All that names alone may be lifted by."""


@pytest.mark.parametrize(("left", "right", "entity_type", "code"), NAMES["near"])
def test_no_context_binds_a_name_that_says_another(left, right, entity_type, code):
    pair = score(left, right, entity_type, CROWDED)
    assert code in pair.vetoes
    assert pair.score <= MARGIN_SCORE


@pytest.mark.parametrize(("left", "right", "entity_type"), NAMES["said_otherwise"])
def test_a_name_said_otherwise_is_the_same_name(left, right, entity_type):
    context = ASSUMED if entity_type == "person" else TENANT
    assert outcome(left, right, entity_type, context) == "bind"
    assert outcome(right, left, entity_type, context) == "bind"


@pytest.mark.parametrize(("left", "right", "entity_type", "code"), NAMES["not_the_same"])
def test_what_only_looks_alike_is_asked_about(left, right, entity_type, code):
    pair = score(left, right, entity_type)
    assert code in pair.vetoes


@pytest.mark.parametrize(
    ("left", "right"), [("Siobhán Kelly", "Siobhan Kelly"), ("Mike Jordan", "Michael Jordan")]
)
def test_context_binds_a_name_that_differs_in_form_alone(left, right):
    context = PairContext(same_scope=True, neighbour_overlap=500)
    assert outcome(left, right, "person", context) == "bind"


@pytest.mark.parametrize(("left", "right", "entity_type", "veto"), NAMES["apart"])
def test_siblings_are_two_even_in_one_project(left, right, entity_type, veto):
    for context in (TENANT, PROJECT):
        found = score(left, right, entity_type, context)
        assert decision(found) is Decision.NEW
        assert veto in found.vetoes


@pytest.mark.parametrize(("left", "right", "entity_type", "veto"), NAMES["review_at_best"])
def test_risky_pairs_never_bind(left, right, entity_type, veto):
    for context in (TENANT, PROJECT, ASSUMED):
        found = score(left, right, entity_type, context)
        assert found.score <= 0.94
        assert veto in found.vetoes


@pytest.mark.parametrize(
    ("left", "right", "entity_type"),
    [
        ("S. Rivera", "Sam Rivera", "person"),
        ("IBM", "International Business Machines", "organization"),
        ("Mike Rogers", "Mike Rogers (AL)", "person"),
        ("Acme AG", "Acme GmbH", "organization"),
        ("ABDULLAH BIN OMAR", "OMAR BIN ABDULLAH", "person"),
    ],
)
def test_risky_pairs_reach_a_steward(left, right, entity_type):
    assert outcome(left, right, entity_type) == "review"


@pytest.mark.parametrize(
    ("left", "right", "entity_type"),
    NAMES["one_name_in_two_spellings_binds"],
)
def test_one_name_in_two_spellings_binds(left, right, entity_type):
    assert outcome(left, right, entity_type) == "bind"


def test_two_swapped_letters_may_make_another_word_of_a_name_of_one_word():
    assert outcome("Casual", "Causal", "system") == "review"
    assert outcome("Martial", "Marital", "system", PROJECT) == "review"


def test_a_comma_tells_the_order_only_for_the_same_writing():
    assert "person_order" not in score("Smith, John", "Smith John", "person").vetoes
    assert "person_order" in score("Ali, Omar Said", "Said Ali Omar", "person").vetoes


def test_a_bare_namesake_is_a_review_once_two_exist():
    alabama = score("Mike Rogers", "Mike Rogers (AL)", "person")
    michigan = score("Mike Rogers", "Mike Rogers (MI)", "person")
    verdict = decide([ScoredEntity("al", alabama), ScoredEntity("mi", michigan)], BANDS)
    assert verdict.decision is Decision.REVIEW
    assert "margin" in verdict.winner.pair.vetoes


def test_a_bare_alias_does_not_hide_another_qualifier():
    known = ["Mike Rogers", "Mike Rogers (AL)"]
    assert outcome("Mike Rogers (MI)", known, "person") == "new"
    assert outcome("Mike Rogers (AL)", known, "person") == "bind"
    assert outcome("Mike Rogers (MI)", ["Mike Rogers"], "person") == "review"


def test_one_first_name_in_two_teams_is_a_review():
    sam = score("Sam", "Sam", "person")
    assert decision(sam) is Decision.BIND
    assert decision(sam, sam) is Decision.REVIEW


def test_a_persons_name_needs_context():
    assert (
        "person_without_context" in score("Sam Rivera", "Sam Rivera", "person", NO_CONTEXT).vetoes
    )
    assert "person_without_context" in score("Sam Rivera", "Sam Riveraa", "person", TENANT).vetoes
    for known in (
        PairContext(same_scope=True),
        PairContext(same_handle=True),
        PairContext(neighbour_overlap=300),
        ASSUMED,
        TENANT,
    ):
        assert score("Sam Rivera", "Sam Rivera", "person", known).vetoes == ()
    assert score("Acme Cloud", "Acme Cloud", "organization", NO_CONTEXT).vetoes == ()


def test_a_handle_lifts_what_a_name_alone_cannot():
    handle, neighbours = PairContext(same_handle=True), PairContext(neighbour_overlap=400)
    assert outcome("S. Rivera", "Sam Rivera", "person", handle) == "bind"
    assert outcome("S. Rivera", "Sam Rivera", "person", neighbours) == "review"
    assert outcome("Bill Smith", "William Smith", "person", neighbours) == "bind"
    machines = "International Business Machines"
    assert outcome("IBM", machines, "organization", handle) == "bind"
    assert "acronym_only" not in score("IBM", machines, "organization", neighbours).vetoes


@pytest.mark.parametrize(
    "code", ["single_valued_conflict", "direct_edge", "generic_alias", "unsure"]
)
def test_what_the_store_knows_can_veto(code):
    found = score("Acme Cloud", "Acme Cloud", "organization", PairContext(**{code: True}))
    assert (found.score, found.vetoes) == (0.94, (code,))


def test_one_identifier_decides_whatever_the_names():
    known = PairContext(same_identifier=True, unsure=True, attribute_conflict=True)
    found = score("Alan Grayson", "Completely Different", "person", known)
    assert (found.score, found.vetoes) == (1.0, ())
    assert [feature.name for feature in found.features] == ["same_identifier"]


def test_context_moves_the_log_odds_by_its_weight():
    base = score("Acme Cloud", "Acme Clouds", "organization", NO_CONTEXT).log_odds
    moves = {
        PairContext(same_scope=True): 1.0,
        PairContext(same_handle=True): 6.0,
        PairContext(neighbour_overlap=300): 1.5,
        PairContext(neighbour_overlap=299): 0.0,
        PairContext(mentioned_together=True): 0.5,
        PairContext(attribute_conflict=True): -4.0,
        PairContext(same_role=True, same_path=True, same_document=True): 0.0,
    }
    for known, move in moves.items():
        found = score("Acme Cloud", "Acme Clouds", "organization", known)
        assert found.log_odds == pytest.approx(base + move, abs=2e-6)


def test_a_conflict_counts_once():
    alone = score("Room 101", "Room 102", "location")
    stated = score("Room 101", "Room 102", "location", PairContext(attribute_conflict=True))
    assert stated.log_odds == alone.log_odds


def test_every_line_of_the_explanation_is_there():
    known = PairContext(same_role=True, same_scope=True, neighbour_overlap=120)
    found = score("Acme Cloud", "Acme Clouds", "organization", known)
    names = [feature.name for feature in found.features]
    assert names[: len(COMPARISONS)] == [row.name for row in COMPARISONS]
    assert names[len(COMPARISONS) :] == ["neighbour_overlap", "same_scope", "same_role"]
    assert all("'Acme Cloud' / 'Acme Clouds'" in one.detail for one in found.features[:7])
    weights = {feature.name: feature.weight for feature in found.features}
    assert (weights["same_role"], weights["neighbour_overlap"]) == (0.0, 0.0)
    assert found.model_version == default_model().version
    assert found.name == "Acme Clouds"


def test_the_log_odds_are_the_sum_of_the_lines():
    model = default_model()
    start = model.slope * model.prior + model.intercept + model.shift
    for pair in (("Acme Cloud", "Acme Clouds"), ("Acme Cloud", "Zenith"), ("Acme", "Acme Ltd")):
        found = score(*pair, "organization", PROJECT)
        lines = sum(feature.weight for feature in found.features)
        assert found.log_odds == pytest.approx(start + lines, abs=1e-5), "every pair starts alike"


def test_a_deployment_shift_moves_every_pair():
    shifted = replace(default_model(), shift=-1.0)
    left, right = (normalize(name, "system") for name in ("Order Service", "OrderService"))
    plain = score_pair(left, (right,), "system", NO_CONTEXT, default_model())
    moved = score_pair(left, (right,), "system", NO_CONTEXT, shifted)
    assert moved.log_odds == pytest.approx(plain.log_odds - 1.0)


def test_the_best_name_counts_whatever_the_order():
    names = ["Big Blue", "IBM", "International Business Machines"]
    one = score("IBM", names, "organization")
    other = score("IBM", names[::-1], "organization")
    assert one == other
    assert (one.name, one.vetoes) == ("IBM", ())


def test_a_form_of_another_type_is_made_again():
    unknown, person = normalize("Rivera, Sam", "unknown"), normalize("Sam Rivera", "person")
    found = score_pair(unknown, [person], "person", ASSUMED, default_model())
    assert found == score("Rivera, Sam", "Sam Rivera", "person", ASSUMED)
    again = score_pair(person, [unknown], "person", ASSUMED, default_model())
    assert (again.score, again.vetoes) == (found.score, ())


def test_a_candidate_without_a_name_is_refused():
    with pytest.raises(InvalidInput):
        score("IBM", [], "organization")


def pair_score(value, *, log_odds=0.0, name="n"):
    return PairScore(
        score=value, log_odds=log_odds, features=(), vetoes=(), name=name, model_version="m"
    )


@pytest.mark.parametrize(
    ("value", "expected", "suggested"),
    [
        (0.95, "bind", False),
        (0.949999, "review", False),
        (0.700001, "review", False),
        (0.70, "new", True),
        (0.40, "new", True),
        (0.399999, "new", False),
        (0.0, "new", False),
        (1.0, "bind", False),
    ],
)
def test_the_bands_are_exact(value, expected, suggested):
    verdict = decide([ScoredEntity("e", pair_score(value))], BANDS)
    assert verdict.decision.value == expected
    assert (verdict.suggestion is not None) is suggested
    assert (verdict.winner is None) is (expected == "new")


def test_nothing_to_compare_is_new():
    verdict = decide([], BANDS)
    assert (verdict.decision, verdict.winner, verdict.ranked) == (Decision.NEW, None, ())


@pytest.mark.parametrize(("second", "expected"), [(0.699999, "bind"), (0.70, "review")])
def test_the_margin_starts_at_its_boundary(second, expected):
    verdict = decide(
        [ScoredEntity("b", pair_score(second)), ScoredEntity("a", pair_score(0.99))], BANDS
    )
    assert verdict.decision.value == expected
    assert verdict.winner.entity_id == "a"
    assert verdict.ranked[0] == verdict.winner
    assert verdict.winner.pair.score == (0.99 if expected == "bind" else 0.94)


@pytest.mark.parametrize(("agreed", "expected"), [("a", "bind"), ("b", "review"), ("ab", "review")])
def test_a_name_alone_is_no_rival_of_whom_a_contact_speaks_for(agreed, expected):
    scores = [ScoredEntity("b", pair_score(0.94)), ScoredEntity("a", pair_score(0.99))]
    assert decide(scores, BANDS, set(agreed)).decision.value == expected


def test_two_names_of_one_entity_are_no_rivals():
    twice = [
        ScoredEntity("a", pair_score(0.99, name="x")),
        ScoredEntity("a", pair_score(0.97, name="y")),
    ]
    verdict = decide(twice, BANDS)
    assert verdict.decision is Decision.BIND
    assert len(verdict.ranked) == 1


@given(st.permutations(["a", "b", "c", "d"]))
def test_ties_break_on_the_entity_id(order):
    scores = {"a": (0.9, 1.0), "b": (0.9, 2.0), "c": (0.9, 2.0), "d": (0.5, 9.0)}
    ranked = decide(
        [ScoredEntity(one, pair_score(scores[one][0], log_odds=scores[one][1])) for one in order],
        BANDS,
    ).ranked
    assert [one.entity_id for one in ranked] == ["b", "c", "a", "d"]


def test_probabilities_saturate_quietly():
    assert (probability(800.0), probability(-800.0)) == (1.0, 0.0)
    assert probability(0.847298) == 0.7


@given(st.text(max_size=20), st.text(max_size=20), st.sampled_from(["person", "system", "team"]))
def test_a_score_does_not_depend_on_which_name_comes_first(left, right, entity_type):
    one, other = score(left, right, entity_type), score(right, left, entity_type)
    assert (one.score, one.log_odds, one.vetoes) == (other.score, other.log_odds, other.vetoes)
    assert one.score <= 0.94 or not one.vetoes


@given(st.text(min_size=1, max_size=20).filter(str.strip))
def test_a_name_always_binds_to_itself(name):
    assert outcome(name, name, "system") == "bind"


def test_a_vetoed_pair_never_binds_however_low_the_bar():
    low = ResolutionPolicy(bind_at=0.80)
    vetoed = score("Acme AG", "Acme GmbH", "organization")
    assert decide([ScoredEntity("e", vetoed)], low).decision is Decision.REVIEW
    twins = [ScoredEntity("a", pair_score(0.99)), ScoredEntity("b", pair_score(0.99))]
    assert decide(twins, low).decision is Decision.REVIEW


def test_the_veto_list_is_closed_and_reads_aloud():
    codes = [veto.code for veto in VETOES]
    applied_later = ["context_alone", "common_name", "contradicted", "chain", "margin"]
    assert [*codes, *applied_later] == list(VetoCode)
    assert all(veto.sentence.endswith(".") for veto in VETOES)


def test_every_level_of_the_table_can_hold():
    pairs = NAMES["pairs"]
    rarity = default_model().rarity_of("none")
    seen = [
        measure(normalize(one, kind), normalize(other, kind), rarity).levels
        for one, other, kind in pairs
    ]
    for index, row in enumerate(COMPARISONS):
        reached = {levels[index] for levels in seen}
        assert reached == set(range(len(row.levels))), row.name
        assert row.question.endswith("?")


@pytest.mark.parametrize(
    ("left", "right", "bound"),
    NAMES["what_opens_the_name_of_a_department_is_read_in_full"],
)
def test_what_opens_the_name_of_a_department_is_read_in_full(left, right, bound):
    pair = score(left, right, "organization", NO_CONTEXT)
    assert (pair.score >= 0.95 and not pair.vetoes) is bound


@pytest.mark.parametrize(
    ("mention", "candidate", "entity_type"),
    NAMES["a_word_that_two_may_differ_by_asks_a_person"],
)
@pytest.mark.parametrize("turned", [False, True])
def test_a_word_that_two_may_differ_by_asks_a_person(
    mention: str, candidate: str, entity_type: str, *, turned: bool
) -> None:
    left, right = (candidate, mention) if turned else (mention, candidate)
    assert outcome(left, right, entity_type, PROJECT) == "review"


# ---- Attributes: equal values in other spellings are equal, and a conflict is recognised.


@pytest.mark.parametrize(
    ("kind", "left", "right", "is_equal"),
    [
        (AttributeKind.BIRTH_DATE, "1980-04-02", "1980-04-02T00:00:00Z", True),
        (AttributeKind.BIRTH_DATE, "1980-04-02", "1980-02-04", False),
        (AttributeKind.EMAIL, "Sam@Acme.io", " mailto:sam@acme.io", True),
        (AttributeKind.EMAIL, "sam@acme.io", "sue@acme.io", False),
        (AttributeKind.PHONE, "+49 (0)30 901820-11", "0049 30 90182011", True),
        (AttributeKind.PHONE, "030 90182011", "030 90182012", False),
        (AttributeKind.HANDLE, "@SamR", "samr", True),
        (AttributeKind.HANDLE, "@samr", "@samra", False),
        (AttributeKind.DOMAIN, "https://www.Acme.io/jobs", "acme.io.", True),
        (AttributeKind.DOMAIN, "acme.io", "acme.com", False),
        (AttributeKind.PLACE, "Zürich", "zurich", True),
        (AttributeKind.PLACE, "Zurich", "Geneva", False),
        (AttributeKind.IDENTIFIER, "DE 123.456.789", "de123456789", True),
        (AttributeKind.IDENTIFIER, "DE123456789", "DE123456780", False),
    ],
)
def test_a_kind_tells_equal_from_differing(
    kind: AttributeKind, left: str, right: str, is_equal: bool
) -> None:
    evidence = compare_attributes({"slot": [left]}, {"slot": [right]}, {"slot": kind})
    (line,) = evidence.features
    assert line.score == float(is_equal)
    assert line.weight == (COMPARATORS[kind].equal if is_equal else 0.0)
    assert evidence.same_contact == (is_equal and COMPARATORS[kind].is_contact)
    assert evidence.conflict == (not is_equal and COMPARATORS[kind].is_unique)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (AttributeKind.BIRTH_DATE, "in spring"),
        (AttributeKind.EMAIL, "ask Sam"),
        (AttributeKind.PHONE, "ext. 12"),
        (AttributeKind.HANDLE, "@"),
        (AttributeKind.DOMAIN, "localhost"),
        (AttributeKind.IDENTIFIER, "--"),
    ],
)
def test_what_says_nothing_is_no_evidence(kind: AttributeKind, value: str) -> None:
    assert compare_attributes({"x": [value]}, {"x": [value]}, {"x": kind}).features == ()


def test_one_value_in_common_is_enough_and_the_sides_may_be_swapped() -> None:
    left, right = {"email": ["b@x.org", "a@x.org"]}, {"email": ["c@x.org", "a@x.org"]}
    kinds = {"email": AttributeKind.EMAIL}
    one = compare_attributes(left, right, kinds)
    assert one == compare_attributes(right, left, kinds)
    assert one.features[0].detail == "equal: 'a@x.org' / 'a@x.org'"
    assert compare_attributes(left, {}, kinds).features == ()


def scored(left: str, right: str, context: PairContext) -> PairScore:
    names = (normalize(right, "person"),)
    return score_pair(normalize(left, "person"), names, "person", context, default_model())


def test_a_shared_phone_binds_what_a_name_alone_may_not() -> None:
    kinds = {"phone": AttributeKind.PHONE, "birthday": AttributeKind.BIRTH_DATE}
    phone = {"phone": ["030 90182011"]}
    evidence = compare_attributes(phone, phone, kinds)
    alone = scored(
        "Jon Smythe", "Jonathan Smythe", PairContext(person_context=PersonContext.TENANT)
    )
    reached = scored(
        "Jon Smythe",
        "Jonathan Smythe",
        PairContext(same_contact=evidence.same_contact, attributes=evidence.features),
    )
    assert alone.score == 0.94
    assert (reached.vetoes, reached.score > 0.95) == ((), True)
    assert reached.log_odds == pytest.approx(alone.log_odds + 4.0)


def test_another_birth_date_forbids_a_bind_of_equal_names() -> None:
    context = PairContext(attribute_conflict=True, person_context=PersonContext.TENANT)
    pair = scored("Jon Smythe", "Jon Smythe", context)
    assert "attribute_conflict" in pair.vetoes
    assert pair.score < 0.95


def test_a_policy_names_kinds_that_exist() -> None:
    with pytest.raises(InvalidInput, match="birth_date, email"):
        ResolutionPolicy(attributes=(("badge", "smell"),))
