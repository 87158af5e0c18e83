"""A name taken apart: what is levelled, what is kept, and the two keys."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.resolution import normalize
from tenure.resolution.keys import alias_key
from tenure.resolution.lexicon import Profile, is_nickname, nicknames, profile_of
from tenure.resolution.normalize import normalize as form
from tenure.tests.source_tree import data_table

NAMES = data_table("names.toml")["normalize"]


@given(
    st.lists(
        st.sampled_from(
            "Acme One Van of SAM GmbH dr Jr rivera Order Ltd & x 7 (US) Éa k8s cfg Networks labs "
            "univ global Group Co limited SE".split()
        )
        | st.text(max_size=6),
        max_size=4,
    ),
    st.sampled_from(["person", "organization", "system"]),
)
def test_plain_words_take_a_shorter_way_to_the_same_form(words, entity_type):
    surface = " ".join(words)
    with pytest.MonkeyPatch.context() as patch:
        quick = form(surface, entity_type)
        patch.setattr(normalize, "plain_name", lambda *_: None)
        assert form(surface, entity_type) == quick


@given(st.text(max_size=40), st.sampled_from(["person", "organization", "system", "unknown"]))
def test_any_text_has_a_form_and_equal_text_an_equal_one(surface, entity_type):
    one = form(surface, entity_type)
    assert one == form(surface, entity_type)
    assert bool(one.core) == bool(alias_key(surface))
    assert one.compact == "".join(one.core)


@pytest.mark.parametrize(
    ("entity_type", "left", "right"),
    NAMES["spellings_of_one_name_share_their_core"],
)
def test_spellings_of_one_name_share_their_core(entity_type, left, right):
    assert form(left, entity_type).core == form(right, entity_type).core


@pytest.mark.parametrize(
    ("left", "right"),
    [("C", "C++"), ("C", "C#"), ("sam", "@sam"), ("v1.2", "v1.20"), ("???", "!!!"), ("Go", "Go 2")],
)
def test_signs_that_tell_names_apart_stay(left, right):
    assert form(left, "system").norm != form(right, "system").norm


@pytest.mark.parametrize(
    ("name", "core", "legal"),
    [
        ("Siemens Aktiengesellschaft", ("siemens",), ("ag",)),
        ("Foo Co., Ltd.", ("foo",), ("ltd",)),
        ("Foo GmbH & Co. KG", ("foo",), ("gmbhcokg",)),
        ("Foo Pvt. Ltd. India", ("foo", "india"), ("pvt",)),
        ("Foo (Pvt) Ltd", ("foo",), ("pvt",)),
        ("Foo, s.r.o.", ("foo",), ("sro",)),
        ("Foo A/S", ("foo",), ("as",)),
        ("OOO Romashka", ("romashka",), ("ooo",)),
        ("Foo & Co", ("foo",), ()),
        ("深圳电子股份有限公司", ("shenzhendianzi",), ("gufen",)),
        ("株式会社", ("zhushihuishe",), ()),
        ("Limited", ("limited",), ()),
        ("AG Insurance", ("ag", "insurance"), ()),
        ("Foo Company Inc", ("foo",), ("inc",)),
        ("The Bank of America", ("bank", "america"), ()),
        ("The", ("the",), ()),
        ("Romashka OOO", ("romashka", "ooo"), ()),
    ],
)
def test_legal_forms_leave_the_core_and_keep_their_class(name, core, legal):
    found = form(name, "organization")
    assert (found.core, found.legal) == (core, legal)


def test_only_organisations_have_legal_forms():
    assert form("Go AS", "system").core == ("go", "as")
    assert form("高石株式会社", "system").legal == ()
    assert form("Москва", "organization").legal == ()


@pytest.mark.parametrize(
    ("name", "norm"),
    NAMES["a_qualifier_is_part_of_the_heavy_key"],
)
def test_a_qualifier_is_part_of_the_heavy_key(name, norm):
    assert form(name, "person").norm == norm


def test_an_acronym_in_brackets_adds_nothing():
    assert form("International Business Machines (IBM)", "organization").qualifier == ""
    assert form("Freescale (I) Pvt Ltd", "organization").qualifier == "i"


def test_brackets_that_are_part_of_a_word_are_no_qualifier():
    assert form("(ISC)2", "system").qualifier == ""


def test_inner_particles_go_but_first_and_last_names_stay():
    assert form("Abdullah bin Omar", "person").core == ("abdullah", "omar")
    assert form("Al Gore", "person").core == ("al", "gore")
    assert form("Van Nguyen", "person").core == ("van", "nguyen")


@pytest.mark.parametrize(
    ("name", "entity_type", "numbers"),
    [
        ("Room 101", "location", ("101",)),
        ("us-east-12", "system", ("12",)),
        ("Release 22.04", "product", ("22.04",)),
        ("AI-ENG-A", "role", ("a",)),
        ("John A Smith", "person", ()),
        ("Four Loops", "organization", ("4",)),
        ("Seven Smith", "person", ()),
        ("R", "system", ()),
    ],
)
def test_numbers_and_codes_are_found(name, entity_type, numbers):
    assert form(name, entity_type).numbers == numbers


def test_number_words_stay_in_the_spelled_form():
    found = form("One Convergence", "organization")
    assert (found.compact, found.spelling) == ("1convergence", "oneconvergence")
    assert (found.numbers, found.digits) == (("1",), ())


def test_scripts_are_transliterated_and_remembered():
    found = form("Москва", "location")
    assert (found.compact, found.latin, found.native) == ("moskva", False, "москва")
    assert form("Ölçer", "person").latin
    assert form("Acme中国", "organization").core == ("acme", "zhongguo")


def test_titles_state_a_gender_and_names_keep_their_writing():
    assert form("Mrs. Smith", "person").honorific == "f"
    assert form("Prof. Dr. Smith", "person").honorific == ""
    found = form("Rivera, Sam", "person")
    assert (found.comma, found.writing, found.tokens) == (
        True,
        ("rivera", "sam"),
        ("sam", "rivera"),
    )


def test_acronyms_are_read_with_and_without_particles():
    assert form("Bank of America", "organization").acronyms == ("ba", "boa")
    assert form("Bank", "organization").acronyms == ()


def test_every_type_has_a_profile():
    assert profile_of("person") is Profile.PERSON
    assert profile_of("tenant") is Profile.ORGANIZATION
    assert profile_of("a type of the tenant's own") is Profile.THING


def test_nicknames_work_in_both_directions():
    assert is_nickname("mike", "michael")
    assert is_nickname("michael", "mike")
    assert not is_nickname("zzz", "mike")
    assert all(name not in others for name, others in nicknames().items())


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("Infomaniak Networks", "infomaniak"),
        ("Brocade Technology Solutions", "brocade"),
        ("Delta Systems", "deltasystem"),
        ("Horizon Systems", "horizonsystem"),
        ("Systems", "systems"),
    ],
)
def test_what_an_organisation_trades_in_leaves_a_stem_that_tells(name, stem):
    assert form(name, "organization").stem == stem
    assert form(name, "system").stem == form(name, "system").compact


@pytest.mark.parametrize(
    ("name", "reading"),
    [(".NET", "dotnet"), ("Disney+", "disneyplus"), ("C#", "csharp"), ("Node.js", "nodejs")],
)
def test_signs_are_read_aloud(name, reading):
    assert form(name, "system").reading == reading


def test_a_very_long_name_is_taken_apart():
    found = form("word " * 20_000, "organization")
    assert len(found.core) == 20_000
