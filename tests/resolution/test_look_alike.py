"""Names that are drawn alike: what counts as one drawing, and what is left alone."""

from __future__ import annotations

import pytest

from tenure.resolution.blocking import block_keys, look_alike
from tenure.resolution.normalize import normalize
from tenure.tests.source_tree import data_table

NAMES = data_table("names.toml")["look_alike"]


@pytest.mark.parametrize(("left", "right", "entity_type"), NAMES["look_alikes"])
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
