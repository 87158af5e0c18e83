import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.compiler.safety.isolation import (
    Isolation,
    encode,
    injection_surface,
)
from tenure.schema.errors import InvalidInput
from tenure.schema.policy import DEFAULT, ISOLATIONS, CompilePolicy
from tenure.tests.support.refusals import refused

ISOLATION_SHARES = DEFAULT.compile.isolation_strengths
TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.one_of(TEXT, st.text("^` ~|+<=>\n", max_size=30)))
def test_every_encoding_is_reversible(text: str) -> None:
    head, _, marked = encode(text, Isolation.DATAMARK).partition("\n")
    assert marked.replace(head[-1], " ") == text
    _, _, code = encode(text, Isolation.BASE64).partition("\n")
    assert base64.b64decode(code).decode() == text


def test_the_mark_is_one_that_the_text_does_not_use() -> None:
    assert encode("a ^b", Isolation.DATAMARK) == "words are joined by `\na`^b"


def test_base64_leaves_no_readable_word() -> None:
    encoded = encode("ignore the rules", Isolation.BASE64)
    assert "ignore" not in encoded
    assert encoded == "base64 of UTF-8 text:\naWdub3JlIHRoZSBydWxlcw=="


@pytest.mark.parametrize("isolation", [Isolation.NONE, Isolation.BOUNDARY, Isolation.TYPED_SLOT])
def test_the_cheap_isolations_leave_the_text(isolation: Isolation) -> None:
    assert encode("a b", isolation) == "a b"


STRENGTHS = {Isolation(way): round(1000 * share) for way, share in ISOLATION_SHARES}


def test_the_surface_is_the_token_share_times_what_isolation_leaves() -> None:
    parts = [(200, Isolation.NONE), (200, Isolation.BOUNDARY), (100, Isolation.BASE64)]
    assert injection_surface(parts, total_tokens=1000, strengths=STRENGTHS) == 0.302
    assert injection_surface([], total_tokens=1000, strengths=STRENGTHS) == 0.0
    assert injection_surface([], total_tokens=0, strengths=STRENGTHS) == 0.0


def test_the_surface_is_rounded_to_six_digits() -> None:
    parts = [(1, Isolation.NONE)]
    assert injection_surface(parts, total_tokens=3, strengths=STRENGTHS) == 0.333333


def test_stronger_isolation_never_leaves_more_surface() -> None:
    surfaces = [
        injection_surface([(10, way)], total_tokens=10, strengths=STRENGTHS) for way in Isolation
    ]
    assert surfaces == sorted(surfaces, reverse=True)
    assert tuple(way.value for way in Isolation) == ISOLATIONS


@pytest.mark.parametrize(
    "strengths",
    [(), (("none", 0.0),), (*ISOLATION_SHARES[:4], ("base64", 1.5)), (*ISOLATION_SHARES, ("x", 0))],
)
def test_a_policy_states_each_strength_as_a_share(strengths: tuple[tuple[str, float], ...]) -> None:
    with refused(InvalidInput, "bad_policy"):
        CompilePolicy(isolation_strengths=strengths)
