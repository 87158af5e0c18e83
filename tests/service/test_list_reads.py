"""Lists of many ids: one read of the store, whatever their number, and what each caller may see."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

import tenure
from tenure.schema.principal import Principal
from tenure.service.backend.caller import backend_of
from tenure.service.client.answer import action_cards, entity_names
from tenure.service.reading.view import ListReads
from tenure.store.port.records import Ask, Page
from tenure.store.sqlite.reader import SqliteReader

NAMES = [f"Person {number}" for number in range(20)]


@contextmanager
def counted_reads(memory: tenure.Memory, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The snapshots that are opened meanwhile, by tenant."""
    store = backend_of(memory).store
    opened: list[str] = []
    reading = store.reading

    def counting(_: object, tenant: str, *args: Any, **options: Any) -> Any:
        opened.append(tenant)
        return reading(tenant, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(type(store), "reading", counting)
        yield opened


def test_the_names_of_a_list_are_one_read(
    memory: tenure.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [memory.write(name, "office", "Rome").entity for name in NAMES]
    with counted_reads(memory, monkeypatch) as reads:
        names = entity_names(memory, [*ids, None, "nobody"])
    assert len(reads) == 1
    assert names == dict(zip(ids, NAMES, strict=True)) | {"nobody": "nobody"}


def test_the_queue_with_both_sides_of_each_tie_is_three_reads(
    memory: tenure.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monday = "2026-01-05T00:00:00Z"
    for name in NAMES:
        for value in ("Rome", "Oslo"):
            memory.write(name, "office", value, valid_from=monday)

    with counted_reads(memory, monkeypatch) as reads:
        cards = tuple(action_cards(memory, memory.actions()))
    assert len(reads) == 3  # the queue, the names, the claims
    assert {card.entity for card in cards} == set(NAMES)
    assert {tuple(sorted(card.words)) for card in cards} == {
        (f"{name} office: Oslo", f"{name} office: Rome") for name in NAMES
    }


def test_objects_of_a_list_are_what_each_alone_is(memory: tenure.Memory) -> None:
    receipts = [memory.write("Sam Rivera", "office", f"Room {number}") for number in range(3)]
    receipts.append(memory.write("Sam Rivera", "email", "s@example.org", allow_roles=["hr"]))
    ids = [receipt.object_id for receipt in receipts]
    for roles, count in ((["hr"], 4), ([], 3)):
        reader = memory.bind(Principal(user="ann", roles=roles))
        view = reader.as_of()
        objects = ListReads(backend_of(reader), reader.principal).objects([*ids, "nothing"])
        for object_id in ids:
            if object_id in objects:
                assert objects[object_id] == view.object(object_id)
            else:
                with pytest.raises(tenure.NotFound):
                    view.object(object_id)
        assert len(objects) == count


def test_a_page_of_namesakes_waits_for_no_writer(tmp_path: Path) -> None:
    path = tmp_path / "team.db"
    with tenure.connect(str(path)) as memory:
        for slot in ("state", "district_no"):
            memory.vocabulary.define_slot(slot, description=slot, subject_types=("person",))
        person = tenure.EntityRef(name="Mike Rogers", type="person")
        since = {"valid_from": "2003-01-07T00:00:00Z", "source_origin": "import://congress"}
        lines: list[tenure.Write] = []
        for values in (("Alabama", "3"), ("Michigan", "8")):
            for slot, value in zip(("state", "district_no"), values, strict=True):
                lines.append(tenure.Write(subject=person, slot=slot, value=value, **since))
        memory.write_many(lines)
        (case,) = memory.reviews.list()

        store = cast("Any", backend_of(memory).store)
        with store._partition("default").taking_turn():  # as a write that runs does
            assert sorted(map(len, memory.reviews.get(case.review_id).groups)) == [2, 2]


def test_a_value_that_was_confirmed_every_day_is_read_at_once(
    memory: tenure.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = [f"2026-01-{day:02}T00:00:00Z" for day in range(1, 31)]
    for name in ("Orchid Foods", "Lotus Bank"):
        memory.write(name, "pricing_tier", "basic", valid_from="2025-12-01T00:00:00Z")
    for start in days:
        memory.write("Orchid Foods", "pricing_tier", "premium", valid_from=start)
    memory.write("Orchid Foods", "pricing_tier", "basic", valid_from="2026-02-01T00:00:00Z")

    asks: list[object] = []
    versions = SqliteReader.versions

    def counting(reader: SqliteReader, ask: Ask, **point: Any) -> Page:
        asks.append(ask)
        return versions(reader, ask, **point)

    monkeypatch.setattr(SqliteReader, "versions", counting)
    view = memory.as_of("2026-01-15T12:00:00Z")
    state = view.slot("Orchid Foods", "pricing_tier")
    # The row, and then the whole of the slot: the value before it is told without its claim.
    assert len(asks) == 2

    segments = view.timeline("Orchid Foods", "pricing_tier")
    (premium,) = [segment for segment in segments if segment.state.value == "premium"]
    assert (state.valid_from, state.valid_until) == (premium.valid_from, premium.valid_until)
    assert str(state.valid_from) == "2026-01-01 00:00:00+00:00"

    asks.clear()
    assert view.slot("Lotus Bank", "pricing_tier").valid_until is None
    assert len(asks) == 1  # nothing joins
