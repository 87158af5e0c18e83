"""What comes after a case: by the order of the last reading, and never a case that was decided."""

from collections.abc import Iterator

import pytest

from tenure import EntityRef, Memory, connect
from tenure.faces.http import queue_order
from tenure.faces.http.queue_order import QueueOrders
from tenure.service.stewardship.reviews import Reviews


@pytest.fixture
def memory() -> Iterator[Memory]:
    with connect(":memory:") as memory:
        for number in range(4):
            add_case(memory, f"Mika Rogers{number:02}")
        yield memory


def add_case(memory: Memory, name: str) -> None:
    """Two people of one name, and a text that names one of them."""
    for place in ("Rome", "Oslo"):
        person = EntityRef(name=name, type="person", external_ids={"hr": f"{name} {place}"})
        memory.write(person, "office", place)
    memory.write(EntityRef(name=name, type="person"), "title", "counsel")


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A line for each time that a whole queue is read."""
    lines: list[str] = []
    whole_list = Reviews.list

    def counting_list(self: Reviews, *args: str, **options: str) -> object:
        lines.append("list")
        return whole_list(self, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Reviews, "list", counting_list)
    return lines


def test_cases_lead_to_each_other_by_rank_and_the_queue_is_read_once(
    memory: Memory, readings: list[str]
) -> None:
    orders = QueueOrders()
    ids = [case.review_id for case in orders.read(memory)]

    assert orders.neighbours(memory, ids[0]) == ("", ids[1])
    assert orders.neighbours(memory, ids[2]) == (ids[1], ids[3])
    for place in range(3):
        memory.reviews.reject(ids[place])
        assert orders.take_out(memory, ids[place]) == ids[place + 1]
    assert readings == ["list"]


def test_a_case_that_came_later_has_its_place_once_somebody_opens_it(
    memory: Memory, readings: list[str]
) -> None:
    orders = QueueOrders()
    orders.read(memory)
    add_case(memory, "Noor Haddad")
    ids = [case.review_id for case in Reviews.list(memory.reviews)]
    (later_id,) = [case.review_id for case in memory.reviews.matching(mention="Noor Haddad")]
    readings.clear()

    place = ids.index(later_id)
    assert orders.neighbours(memory, later_id) == (ids[place - 1], "")
    assert orders.neighbours(memory, ids[0]) == ("", ids[1])
    assert readings == ["list"]


def test_a_case_that_another_steward_decided_is_passed_over(memory: Memory) -> None:
    orders = QueueOrders()
    ids = [case.review_id for case in orders.read(memory)]
    memory.reviews.unsure(ids[1])

    memory.reviews.reject(ids[0])
    assert orders.take_out(memory, ids[0]) == ids[2]
    assert orders.neighbours(memory, ids[2]) == ("", ids[3])


def test_after_the_last_case_those_before_it_come_and_then_those_that_came_later(
    memory: Memory,
) -> None:
    orders = QueueOrders()
    ids = [case.review_id for case in orders.read(memory)]
    memory.reviews.reject(ids[3])
    assert orders.take_out(memory, ids[3]) == ids[2]

    for review_id in ids[:2]:
        memory.reviews.reject(review_id)
        orders.take_out(memory, review_id)
    add_case(memory, "Noor Haddad")
    memory.reviews.reject(ids[2])
    later_id = orders.take_out(memory, ids[2])
    assert memory.reviews.get(later_id).review.mention == "Noor Haddad"

    memory.reviews.reject(later_id)
    assert orders.take_out(memory, later_id) == ""


def test_a_decision_that_was_taken_back_waits_again_before_all_others(memory: Memory) -> None:
    orders = QueueOrders()
    ids = [case.review_id for case in orders.read(memory)]
    memory.reviews.reject(ids[0])
    orders.take_out(memory, ids[0])
    assert orders.neighbours(memory, ids[0]) == ("", ids[1])

    memory.reviews.undo(ids[0])
    orders.put_back(memory, ids[0])
    assert orders.neighbours(memory, ids[1]) == (ids[0], ids[2])


def test_an_order_that_is_old_is_read_anew_by_a_page_and_by_no_decision(
    memory: Memory, readings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    orders = QueueOrders()
    ids = [case.review_id for case in orders.read(memory)]
    monkeypatch.setattr(queue_order, "_FRESH_S", 0.0)

    memory.reviews.reject(ids[0])
    orders.take_out(memory, ids[0])
    assert readings == ["list"]
    orders.neighbours(memory, ids[1])
    assert readings == ["list", "list"]


def test_the_orders_of_the_callers_that_were_here_last_are_kept(
    memory: Memory, readings: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_order, "_CALLERS", 1)
    orders = QueueOrders()
    (first, *_) = orders.read(memory)
    other_memory = memory.bind(memory.principal.__class__(tenant="default", user="ann"))

    orders.read(other_memory)
    orders.neighbours(memory, first.review_id)
    assert len(readings) == 3
