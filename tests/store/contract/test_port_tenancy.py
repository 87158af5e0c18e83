"""No call of the port reaches another tenant: generated over every method it has."""

import contextlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from tenure.schema.errors import TenureError
from tenure.schema.values import whole_repr
from tenure.store.port.store import Store
from tenure.tests.store.builders import StoreFactory
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

READS = [name for name in CASES if name.partition(".")[0].endswith(("Reads", "Reader"))]
"""The calls of the protocols that only read."""


def outcome(store: Store, case: Callable[[Store], object]) -> str:
    """Return what a call answered, or how it was refused."""
    try:
        return whole_repr(case(store))
    except TenureError as refusal:
        return f"{type(refusal).__name__} {refusal.code}"


class Worlds(NamedTuple):
    """Two stores that hold the same of `MINE`; one of them holds `THEIRS` too."""

    control: Store
    shared: Store


def make_worlds(factory: StoreFactory) -> Worlds:
    worlds = Worlds(factory(), factory())
    for store in worlds:
        fill_mine(store)
    fill_theirs(worlds.shared)
    return worlds


def assert_apart(worlds: Worlds, name: str) -> None:
    """Assert that a call answers as if nobody else were there."""
    answer = outcome(worlds.shared, CASES[name])
    assert answer == outcome(worlds.control, CASES[name])
    assert "SECRET" not in answer


@contextlib.contextmanager
def nothing_of_theirs_changes(worlds: Worlds) -> Iterator[None]:
    """Assert that what is done here leaves `THEIRS` as it was, and does the same to `MINE`."""
    before = exported(worlds.shared, THEIRS)
    yield
    assert exported(worlds.shared, MINE) == exported(worlds.control, MINE)
    assert exported(worlds.shared, THEIRS) == before
    assert worlds.shared.check(THEIRS) == ()


@pytest.fixture(scope="module")
def worlds(factory_for_reads: StoreFactory) -> Iterator[Worlds]:
    """The worlds of all that only reads: filled once, and at the end as they were."""
    pair = make_worlds(factory_for_reads)
    records = exported(pair.shared, MINE)
    with nothing_of_theirs_changes(pair):
        yield pair
    assert exported(pair.shared, MINE) == records


@pytest.mark.parametrize("name", READS)
def test_a_read_with_ids_of_another_tenant_answers_as_if_it_were_not_there(
    worlds: Worlds, name: str
) -> None:
    assert_apart(worlds, name)


class WorldKeeper:
    """The worlds of calls that may write: the same ones as long as no call has changed them."""

    def __init__(self, factory: StoreFactory) -> None:
        self._factory = factory
        self._renew()

    def _renew(self) -> None:
        self._worlds = make_worlds(self._factory)
        self._records = exported(self._worlds.shared, MINE)

    def worlds(self) -> Worlds:
        if exported(self._worlds.shared, MINE) != self._records:
            self._renew()
        return self._worlds


@pytest.fixture(scope="module")
def keeper(factory_for_reads: StoreFactory) -> WorldKeeper:
    return WorldKeeper(factory_for_reads)


@pytest.mark.parametrize("name", [name for name in CASES if name not in READS])
def test_a_call_with_ids_of_another_tenant_answers_as_if_it_were_not_there(
    keeper: WorldKeeper, name: str
) -> None:
    worlds = keeper.worlds()
    with nothing_of_theirs_changes(worlds):
        assert_apart(worlds, name)


def test_every_method_of_the_port_has_a_case() -> None:
    tried = {name.partition(",")[0] for name in CASES}
    assert tried | set(OF_NO_TENANT) == port_members()
    assert not tried & set(OF_NO_TENANT)
    identity = {"CandidateReads", "ClaimReads", "IdentityReads"}
    assert protocols_of_port() == identity | {"Reader", "Store", "WriteTx"}
