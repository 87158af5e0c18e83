"""Errors carry a stable code, and are the builtin that fits as well."""

import pickle

import pytest

from tenure.schema import errors
from tenure.schema.errors import InvalidInput, unknown, unknown_field
from tenure.schema.slots import check_scheme


@pytest.mark.parametrize(
    ("kind", "builtin"),
    [
        (errors.InvalidInput, ValueError),
        (errors.NotFound, LookupError),
        (errors.Forbidden, PermissionError),
        (errors.Unavailable, ConnectionError),
        (errors.Fault, RuntimeError),
        (errors.Conflict, errors.TenureError),
        (errors.ContextBudgetExhausted, errors.TenureError),
    ],
)
def test_an_error_is_caught_by_who_never_heard_of_tenure(
    kind: type[errors.TenureError], builtin: type[Exception]
) -> None:
    with pytest.raises(builtin, match="do this") as caught:
        raise kind("do this", code="some_code", shortfall=3)
    assert isinstance(caught.value, errors.TenureError)
    assert caught.value.code == "some_code"
    assert caught.value.data == {"shortfall": 3}


@pytest.mark.parametrize(
    ("word", "known", "sentence"),
    [
        ("ofice", ["team", "office"], "did you mean 'office'?"),
        ("teem", ["team", "teams"], "did you mean 'team' or 'teams'?"),
        ("x", ["office", "team"], "known: office, team"),
        ("x", [], "known: none"),
    ],
)
def test_the_nearest_known_words_are_named(word: str, known: list[str], sentence: str) -> None:
    assert errors.did_you_mean(word, known) == sentence


def test_a_long_list_of_known_words_is_cut() -> None:
    sentence = errors.did_you_mean("?", [f"slot_{n:02}" for n in range(30)])
    assert sentence.startswith("known: slot_00, slot_01, ")
    assert sentence.endswith(", slot_19, …")


def test_an_unknown_word_is_refused_with_its_neighbours() -> None:
    error = errors.unknown("slot", "ofice", (name for name in ["office", "team"]))
    assert isinstance(error, errors.InvalidInput)
    assert str(error) == "unknown slot 'ofice': did you mean 'office'?"
    assert (error.code, error.data) == ("unknown_vocabulary", {"what": "slot", "word": "ofice"})


@pytest.mark.parametrize("kind", [errors.InvalidInput, errors.Unavailable, errors.Conflict])
def test_an_error_crosses_to_another_process_whole(kind: type[errors.TenureError]) -> None:
    error = kind("do this", code="some_code", shortfall=3)
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert (str(copy), copy.code, copy.data) == ("do this", "some_code", {"shortfall": 3})


def test_a_message_repeats_no_file_that_came_in_as_one_word() -> None:
    digits = "9" * 5_000
    error = errors.InvalidInput(f"there is no envelope {digits}; list them", code="unknown_object")
    assert len(str(error)) < 220
    assert str(error).endswith("99; list them")
    path = "/" + "folder/" * 80
    assert path in str(errors.InvalidInput(f"there is no file {path}", code="unknown_file"))


def test_an_error_repeats_no_word_that_may_be_a_key() -> None:
    secret = "ghp_" + "a8Kd03LmQ2xZ" * 3
    refusals = [unknown("slot", secret, ["office"]), unknown_field(secret, ["office"])]
    with pytest.raises(InvalidInput) as scheme:
        check_scheme(secret)
    for error in (*refusals, scheme.value):
        assert "a8Kd03Lm" not in f"{error} {error.data}"
    assert "'ofice'" in str(unknown("slot", "ofice", ["office"]))
