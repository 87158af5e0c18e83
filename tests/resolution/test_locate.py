"""Which entity a reader means: by exact alias, type and scope."""

from __future__ import annotations

from tenure.resolution.bind import locate
from tenure.schema.entity import EntityRef
from tenure.tests.resolution.test_bind import register

TENANT = frozenset({"tenant"})


def test_a_name_means_only_what_fits_its_type_and_scope() -> None:
    known = register()
    (ann,) = locate("Ann", known, TENANT)
    assert locate(EntityRef(name="Ann", type="person"), known, TENANT) == (ann,)
    assert locate(EntityRef(name="Ann", type="organization"), known, TENANT) == ()
    assert locate("Ann", known, frozenset({"user:bob"})) == ()
