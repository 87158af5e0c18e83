"""Block keys: the same everywhere, rare ones count more, common ones not at all."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rapidfuzz.fuzz import token_set_ratio

from tenure.resolution.blocking import (
    COARSE_KINDS,
    COARSE_LIMIT,
    KIND_WEIGHT,
    LIMIT,
    KeyKind,
    Posting,
    acronyms,
    block_keys,
    heaviest,
    hit_weight,
    is_in_short,
    kth_largest,
    look_alike,
    near_names,
    outline,
    shape_of,
    unit_keys,
)
from tenure.resolution.normalize import normalize
from tenure.resolution.renderings import sounds_of
from tenure.tests.source_tree import data_table

NAMES = data_table("names.toml")["blocking"]


def keys(name, entity_type="organization"):
    return {key for key, _ in block_keys(normalize(name, entity_type))}


def test_a_name_has_keys_of_every_kind():
    assert block_keys(normalize("Order Service", "system")) == tuple(
        sorted(block_keys(normalize("Order Service", "system")))
    )
    found = keys("Order Service", "system")
    assert {
        "w:orderservice",
        "a:os",
        "t:order",
        "t:service",
        "d:orderservic",
        "f:orders",
        "p:orde",
        "s:vice",
    } <= found


@pytest.mark.parametrize(
    ("left", "right", "entity_type"),
    NAMES["names_of_one_entity_share_a_key"],
)
def test_names_of_one_entity_share_a_key(left, right, entity_type):
    assert keys(left, entity_type) & keys(right, entity_type)


def test_kinds_never_collide():
    assert {key.partition(":")[0] for key in keys("Data Platform Team")} <= {
        kind.value for kind in KeyKind
    }
    assert all(key[0] == kind.value for key, kind in block_keys(normalize("Acme", "system")))


def test_a_short_or_long_name_has_no_deletion_keys():
    assert not any(key.startswith("d:") for key in keys("Acme"))
    assert not any(key.startswith("d:") for key in keys("Extraordinarily Longwinded Company Name"))


@pytest.mark.parametrize("name", ["", "a", "X" * 5_000, "word " * 5_000, "\U0001d54f", "🦊"])
def test_any_name_has_a_bounded_number_of_keys(name):
    found = block_keys(normalize(name, "system"))
    assert len(found) <= 100
    assert all(len(key) <= 66 for key, _ in found)
    assert bool(found) is bool(name)


def test_an_acronym_that_is_too_long_is_no_key():
    many = "one two three four five six seven eight nine ten"
    assert not any(key.startswith("a:") for key in keys(many))


def weight_of(kind, postings, total=10_000):
    return hit_weight(kind.label, KIND_WEIGHT[kind], postings=postings, total=total)


@pytest.mark.parametrize("kind", list(KeyKind))
def test_weights_are_integers_that_fall_with_frequency(kind):
    counts = (1, 2, 10, 400)
    weights = [weight_of(kind, count) for count in counts]
    assert all(isinstance(weight, int) for weight in weights)
    assert weights == sorted(weights, reverse=True)


def test_the_weight_follows_its_formula():
    assert weight_of(KeyKind.TOKEN, 1, 1) == 2773
    assert KIND_WEIGHT[KeyKind.WHOLE] == max(KIND_WEIGHT.values())


@pytest.mark.parametrize("kind", list(KeyKind))
def test_the_posting_caps_are_exact(kind):
    limit = COARSE_LIMIT if kind.label in COARSE_KINDS else LIMIT
    assert weight_of(kind, limit)
    assert weight_of(kind, limit + 1) is None


def test_the_coarse_kinds_are_kinds():
    assert {kind.label for kind in KeyKind} > COARSE_KINDS


# --- the first look at what is proposed

WORDS = (
    "Acme Dept Service Foods Labs Systems Inc GmbH Dr Sam Kim Rivera AF (US) 7 Éa 김민 محمد"
).split()
names = st.lists(st.sampled_from(WORDS) | st.text(max_size=5), max_size=4).map(" ".join)
types = st.sampled_from(["person", "organization", "system", "unknown"])


@given(names, types)
@example("Acme Acme TEAM", "person")
def test_an_outline_is_what_the_whole_form_has(name: str, entity_type: str) -> None:
    form = normalize(name, entity_type)
    spellings = {form.spelling, form.compact, form.stem, form.reading, shape_of(form)}
    spellings |= set(unit_keys(form.core)[:1])
    sounds = set(sounds_of(form))
    is_short = min(map(len, spellings)) <= 8
    assert outline(name, entity_type) == (form.ordered, spellings, is_short, sounds)
    assert acronyms(name, entity_type) == (*form.acronyms, *unit_keys(form.core)[1:])


@given(names, st.lists(names, max_size=12), types)
def test_names_looked_at_together_are_judged_as_each_alone(
    mention: str, stored: list[str], entity_type: str
) -> None:
    each_alone = {name for name in stored if near_names(mention, entity_type, [name])}
    assert near_names(mention, entity_type, stored) == each_alone


@pytest.mark.parametrize(
    ("mention", "name", "near"),
    NAMES["equal_letters_short_forms_and_shared_words_are_near"],
)
def test_equal_letters_short_forms_and_shared_words_are_near(
    mention: str, name: str, near: bool
) -> None:
    assert (name in near_names(mention, "organization", [name])) is near


def test_the_share_of_words_is_that_of_the_scorer_for_pairs() -> None:
    left, right = (outline(name, "organization").ordered for name in ("Acme Labs", "Acme Foods"))
    is_near = bool(near_names("Acme Labs", "organization", ["Acme Foods"]))
    assert is_near is (token_set_ratio(left, right) >= 70)


def test_a_name_written_as_one_word_is_near_where_its_last_word_is_an_abbreviation() -> None:
    assert near_names("AcmeGatewayLabs", "organization", ["Acme Gateway Labs"]) == {
        "Acme Gateway Labs"
    }


LOOK_ALIKES = [
    ("scope", "\u0455\u0441\u043e\u0440\u0435", "system"),
    ("Payoneer", "\u0420\u0430\u0443oneer", "organization"),
    ("Payoneer Inc", "\u0420\u0430\u0443oneer Inc.", "organization"),
    ("paypal", "paypa1", "system"),
    ("Illumina", "lllumina", "organization"),
    ("rnodern", "modern", "system"),
    ("go0gle", "google", "organization"),
    ("Sam Turner", "Sam Tumer", "person"),
]


@pytest.mark.parametrize(("left", "right", "entity_type"), LOOK_ALIKES)
def test_names_that_are_drawn_alike_share_a_key(left, right, entity_type):
    forms = normalize(left, entity_type), normalize(right, entity_type)
    assert look_alike(*forms)
    assert look_alike(*reversed(forms))
    keys = [set(block_keys(form)) for form in forms]
    assert any(key.startswith("w:") for key, _ in keys[0] & keys[1])


@pytest.mark.parametrize(
    ("left", "right"),
    [("scope", "Scope"), ("scope", "slope"), ("101", "l01"), ("Acme", "Acme Inc"), ("", "")],
)
def test_what_is_written_alike_or_drawn_otherwise_is_no_look_alike(left, right):
    assert not look_alike(normalize(left, "organization"), normalize(right, "organization"))


@pytest.mark.parametrize(
    ("short", "full", "expected"),
    [
        ("HR Department", "Human Resources", True),
        ("HR Department", "Human Resources Department", True),
        ("R&D Team", "Research and Development", True),
        ("HR", "Human Resources Office", True),
        ("HR", "Human Resources", False),  # an acronym alone has its own comparison and veto
        ("H Department", "Hiring", False),
        ("Department", "Office", False),
        ("Min. of Finance", "Ministry of Finance", True),
        ("Min. of Finance", "Ministry of Health", False),
        ("Min. of Finance", "Ministry of Finance Berlin", False),
        ("M. of Finance", "Ministry of Finance", False),
        ("Fin. Min.", "Finance Ministry", False),  # nothing is left that both say
        ("Acme v1.2", "Acme v1.2 beta", False),
    ],
)
def test_one_name_says_in_short_what_the_other_says_in_full(
    short: str, full: str, expected: bool
) -> None:
    left, right = normalize(short, "organization"), normalize(full, "organization")
    assert is_in_short(left, right) is expected
    assert is_in_short(right, left) is expected


def test_people_have_no_departments() -> None:
    left, right = normalize("Jos. Miller", "person"), normalize("Joseph Miller", "person")
    assert not is_in_short(left, right)


# ---- The heaviest norms, whatever is left out on the way to them.

KEYS = st.lists(
    st.tuples(
        st.integers(1, 30),
        st.one_of(
            st.lists(st.integers(1, 12), unique=True, max_size=6),
            st.integers(20, 90).map(lambda most: list(range(1, most))),
        ),
    ),
    max_size=12,
)


def told(keys: list[tuple[int, list[int]]]) -> list[Posting[int]]:
    return sorted((Posting(weight, norms) for weight, norms in keys), key=lambda one: -one.weight)


@given(keys=KEYS, most=st.integers(1, 20))
def test_the_heaviest_and_their_equals_are_exact(
    keys: list[tuple[int, list[int]]], most: int
) -> None:
    whole: dict[int, int] = {}
    for weight, norms in keys:
        for norm in norms:
            whole[norm] = whole.get(norm, 0) + weight
    assert heaviest(told(keys), None) == whole
    found = heaviest(told(keys), most)
    bar = kth_largest(whole.values(), most)
    assert {n: w for n, w in found.items() if w >= bar} == {
        n: w for n, w in whole.items() if w >= bar
    }


def test_a_light_key_that_many_carry_lifts_nobody_among_the_heaviest() -> None:
    keys = [Posting(50, [1]), Posting(40, [2]), Posting(1, list(range(1, 200)))]
    assert heaviest(keys, 2) == {1: 51, 2: 41}
    assert len(heaviest(keys, 3)) == 199
