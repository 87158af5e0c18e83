"""Which word stands for which."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.resolution.compare import align, osa
from tenure.tests.source_tree import data_table

NAMES = data_table("names.toml")["align"]

WORDS = st.lists(st.text(alphabet="ab1", min_size=1, max_size=5), min_size=1, max_size=6).map(tuple)


def even(word):
    return 1000


def pair(left, right, *, person=False):
    return align(tuple(left.split()), tuple(right.split()), even, person=person)


def test_equal_words_align_fully_in_any_order():
    found = pair("order data service", "service order data")
    assert (found.align, found.left_extra, found.right_extra) == (1000, 0, 0)


def test_unmatched_words_count_half():
    found = pair("acme cloud", "acme")
    assert (found.align, found.left_extra, found.left_over) == (800, 500, ("cloud",))


def test_rare_words_count_more():
    rarity = {"group": 100}.get
    found = align(("acme", "group"), ("acme",), lambda word: rarity(word, 1000), person=False)
    assert found.left_extra == 90


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("open stack foundation", "openstack foundation"),
        ("openstack foundation", "open stack foundation"),
        ("ping ping x", "pingping x"),
    ],
)
def test_words_written_together_are_the_same_words(left, right):
    assert pair(left, right).align == 1000


def test_a_word_is_used_once():
    assert pair("ping x", "pingping x").left_over == ("ping",)
    assert pair("a b c", "ab bc").right_over == ("bc",)


def test_a_typo_keeps_its_similarity():
    found = pair("platform team", "platfrom team")
    assert (found.align, found.left_over) == (937, ())


@pytest.mark.parametrize(
    ("left", "right", "person"),
    NAMES["words_that_only_look_alike_stay_apart"],
)
def test_words_that_only_look_alike_stay_apart(left, right, person):
    assert pair(left, right, person=person).align == 0


@pytest.mark.parametrize(
    ("left", "right"),
    NAMES["spellings_of_a_persons_name_meet"],
)
def test_spellings_of_a_persons_name_meet(left, right):
    assert pair(left, right, person=True).align >= 800


@pytest.mark.parametrize(
    ("left", "right"),
    [("payments", "payment"), ("platfrom", "platform"), ("authorization", "authorisation")],
)
def test_slips_of_the_hand_keep_a_word(left, right):
    assert pair(left, right).align >= 800


@pytest.mark.parametrize(
    ("left", "right", "slips"),
    [
        ("emraan ali", "emran ali", True),
        ("mohamed lakhal", "mohamed lakahl", True),
        ("anna schmidt", "anna schmitt", False),
        ("muhammad schmidt", "muhamad schmitt", False),
        ("anna schmidt", "anna schmidt", False),
    ],
)
def test_doubled_and_swapped_letters_are_slips_and_other_letters_are_not(left, right, slips):
    assert pair(left, right, person=True).slips is slips


def test_nicknames_and_initials_are_named():
    nick = pair("bill smith", "william smith", person=True)
    initial = pair("s rivera", "sam rivera", person=True)
    assert (nick.nickname, nick.initial, nick.align) == (True, False, 950)
    assert (initial.nickname, initial.initial, initial.align) == (False, True, 850)


@pytest.mark.parametrize(
    ("left", "right", "meets"),
    [
        ("robert aderholt", "robert a brady", False),
        ("sam oscar rivera", "sam o rivera", True),
        ("sam r", "sam rivera", True),
        ("s rivera", "sam rivera", True),
    ],
)
def test_a_short_form_never_crosses_to_the_family_name(left, right, meets):
    assert pair(left, right, person=True).initial is meets


def test_two_spellings_do_not_share_a_partner():
    assert pair("ahmad ahmed", "ahmid", person=True).left_over == ("ahmed",)


def test_equal_forms_are_alike_at_any_length():
    assert osa("a" * 500, "a" * 500) == 1000


def test_nothing_aligns_to_nothing():
    found = align((), (), even, person=False)
    assert (found.align, found.left_extra) == (0, 0)


def test_very_long_names_take_bounded_time():
    many = tuple(f"word{index}x" for index in range(5_000))
    found = align(many, many[:-1], even, person=False)
    assert found.left_extra < 20
    assert osa("a" * 500, "a" * 499 + "b") == 0


@given(WORDS, WORDS, st.booleans())
def test_alignment_does_not_depend_on_the_order_of_arguments(left, right, person):
    one, other = align(left, right, even, person=person), align(right, left, even, person=person)
    assert (one.align, one.left_extra, one.right_extra) == (
        other.align,
        other.right_extra,
        other.left_extra,
    )
    assert 0 <= one.align <= 1000
