"""Names as other languages and scripts write them: what is one name, and what is left alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.resolution.blocking import KeyKind, block_keys
from tenure.resolution.normalize import NameForm, normalize
from tenure.resolution.renderings import given_names, is_rendering, sounds_of
from tenure.tests.source_tree import data_table

NAMES = data_table("names.toml")["renderings"]


def forms(left: str, right: str, entity_type: str = "person") -> tuple[NameForm, NameForm]:
    return normalize(left, entity_type), normalize(right, entity_type)


@pytest.mark.parametrize(("left", "right"), NAMES["renderings"])
def test_renderings_of_one_name_share_a_key_and_are_told(left: str, right: str) -> None:
    pair = forms(left, right)
    assert is_rendering(*pair)
    assert is_rendering(*reversed(pair))
    keys = [set(block_keys(form)) for form in pair]
    assert any(kind is KeyKind.SOUND for _, kind in keys[0] & keys[1])


@pytest.mark.parametrize(
    ("left", "right"),
    NAMES["what_is_another_name_or_the_same_letters_is_no_rendering"],
)
def test_what_is_another_name_or_the_same_letters_is_no_rendering(left: str, right: str) -> None:
    assert not is_rendering(*forms(left, right))


def test_a_short_form_that_may_be_many_names_is_read_as_none() -> None:
    assert given_names("bill") == ("robert", "william")
    assert given_names("alex") == ()  # Alexander, Alexandra, Alexis


@pytest.mark.parametrize(
    ("name", "entity_type"),
    [("Peter Service", "system"), ("Sasha Foods", "organization"), ("Order Service", "unknown")],
)
def test_only_what_may_be_a_person_is_found_by_its_sound(name: str, entity_type: str) -> None:
    assert sounds_of(normalize(name, entity_type)) == ()


def test_a_name_of_unknown_type_is_found_by_a_given_name_or_its_script() -> None:
    assert is_rendering(*forms("محمد علي", "Muhammad Ali", "unknown"))
    assert not is_rendering(*forms("Chaikovsky", "Tchaikovsky", "unknown"))


def test_a_name_that_tells_next_to_nothing_has_no_sound() -> None:
    assert sounds_of(normalize("Io", "person")) == ()
    assert sounds_of(normalize("a b c d f g", "person")) == ()


@given(st.text(max_size=12), st.text(max_size=12))
def test_any_two_names_are_compared_alike_in_both_directions(left: str, right: str) -> None:
    pair = forms(left, right)
    assert is_rendering(*pair) is is_rendering(*reversed(pair))
    assert len(sounds_of(pair[0])) <= 4
