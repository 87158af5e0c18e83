"""No call of the port reaches another tenant: generated over every method it has."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tenure.schema.errors import TenureError
from tenure.schema.values import whole_repr
from tenure.store.port.store import Store
from tenure.tests.store.tenancy import (
    CASES,
    MINE,
    OF_NO_TENANT,
    THEIRS,
    exported,
    fill_mine,
    fill_theirs,
    port_members,
    protocols_of_port,
)


def outcome(store: Store, case: Callable[[Store], object]) -> str:
    """Return what a call answered, or how it was refused."""
    try:
        return whole_repr(case(store))
    except TenureError as refusal:
        return f"{type(refusal).__name__} {refusal.code}"


@pytest.mark.parametrize("name", CASES)
def test_a_call_with_ids_of_another_tenant_answers_as_if_it_were_not_there(
    store_factory: Callable[[], Store], name: str
) -> None:
    alone, beside = store_factory(), store_factory()
    for store in (alone, beside):
        fill_mine(store)
    fill_theirs(beside)
    before = exported(beside, THEIRS)
    told = outcome(beside, CASES[name])
    assert told == outcome(alone, CASES[name])
    assert "SECRET" not in told
    assert exported(beside, MINE) == exported(alone, MINE)
    assert exported(beside, THEIRS) == before
    assert beside.check(THEIRS) == ()


def test_every_method_of_the_port_has_a_case() -> None:
    tried = {name.partition(",")[0] for name in CASES}
    assert tried | set(OF_NO_TENANT) == port_members()
    assert not tried & set(OF_NO_TENANT)
    assert protocols_of_port() == {"IdentityReads", "Reader", "Store", "WriteTx"}
