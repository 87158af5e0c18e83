"""Whoever listens to a session hears of each thing once, after it is durable."""

from __future__ import annotations

import pytest

from tenure import Memory
from tenure.schema.errors import InvalidInput
from tenure.window.report import NoticeKind, WindowNotice


def words(size: int, turn: int = 0) -> str:
    return " ".join(f"detail{turn}x{number}" for number in range(size))


def talk(memory: Memory, notices: list[WindowNotice], sizes: list[int]) -> None:
    session = memory.session("trip", window=12_000)
    session.listen(notices.append)
    for turn, size in enumerate(sizes):
        session.on_turn_start(words(size, turn))
        session.on_turn_end("done")


def test_a_listener_hears_of_zones_spikes_and_edits_once_each(memory: Memory) -> None:
    notices: list[WindowNotice] = []
    talk(memory, notices, [20, 20, 20, 400, 20, 20, 700, 700, 700])
    kinds = [notice.kind for notice in notices]
    assert kinds.count(NoticeKind.SPIKE) == 2
    assert NoticeKind.EDITED in kinds
    zones = [notice for notice in notices if notice.kind is NoticeKind.ZONE_CHANGED]
    assert zones[0].text == "zone changed from green to yellow"
    assert zones[0].zone.value == "yellow"
    assert {notice.session for notice in notices} == {"session=trip"}
    assert [notice.seq for notice in notices] == sorted(notice.seq for notice in notices)


def test_an_alert_is_told_when_it_begins(memory: Memory) -> None:
    notices: list[WindowNotice] = []
    session = memory.session("full", window=12_000, tools=[{"name": f"t{n}"} for n in range(320)])
    session.listen(notices.append)
    for _ in range(6):
        session.on_turn_start("go on")
        decision = session.on_turn_end("done")
    assert decision.alerts
    alerts = [notice for notice in notices if notice.kind is NoticeKind.ALERT]
    assert len(alerts) == len(decision.alerts)
    assert decision.alerts[0].metric in alerts[0].text


def test_what_a_listener_hears_is_durable_and_what_it_raises_loses_nothing(memory: Memory) -> None:
    session = memory.session("trip", window=12_000)

    def upset(notice: WindowNotice) -> None:
        assert memory.session("trip").state.seq == notice.seq
        raise OSError("the pager is down")

    session.listen(upset)
    with pytest.raises(OSError, match="pager"):
        session.on_turn_start(words(1_400))
    assert session.state.in_turn
    assert memory.session("trip").state == session.state
    session.listen(None)
    session.on_turn_end("done")


def test_forks_and_children_are_heard_by_their_own_names(memory: Memory) -> None:
    notices: list[WindowNotice] = []
    session = memory.session("trip", window=12_000)
    session.listen(notices.append)
    for heir in (session.fork("other"), session.delegate("hotel", "find one")):
        heir.on_turn_start(words(1_400))
    assert {notice.session for notice in notices} == {"session=other", "session=hotel"}


def test_what_cannot_be_called_is_no_listener(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="listener"):
        memory.session("trip", window=12_000).listen("pager")  # type: ignore[arg-type]
