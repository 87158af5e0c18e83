"""Names that are drawn alike: what counts as one drawing, and what is left alone."""

from __future__ import annotations

import pytest

from tenure.resolution.blocking import block_keys, look_alike
from tenure.resolution.normalize import normalize

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
