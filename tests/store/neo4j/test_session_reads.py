"""Reads of the session log while another process appends to it; no server is needed."""

from collections.abc import Iterator
from typing import Any, cast

from tenure.store.neo4j import sessions
from tenure.store.neo4j.calls import Reads
from tenure.store.neo4j.cypher import core as cypher


class GrowingLog:
    """A log to which somebody appends an event with a text after every statement."""

    def __init__(self) -> None:
        self.last = 2

    def rows(self, text: str, *, session: str, after: int, until: int) -> list[dict[str, Any]]:
        return list(self.stream(text, session=session, after=after, until=until))

    def stream(
        self, text: str, *, session: str, after: int, until: int
    ) -> Iterator[dict[str, Any]]:
        numbers = range(after + 1, min(self.last, until) + 1)
        self.last += 1
        for seq in numbers:
            if text == cypher.TEXTS:
                yield {"seq": seq, "text": f"said {seq}", "digest": b"t"}
                continue
            event = dict.fromkeys(("kind", "actor", "body"), "") | {"session_id": session}
            yield {"event": event | {"seq": seq, "last_us": 0, "recorded_us": 0, "digest": b"e"}}


def test_an_event_that_comes_in_between_is_read_with_its_text_or_not_at_all() -> None:
    log = cast("Reads", GrowingLog())
    records = sessions.events(log, "s1", 0, 99)
    assert [record.seq for record in records] == [1, 2]
    assert [[text.text for text in record.texts] for record in records] == [["said 1"], ["said 2"]]


def test_a_log_without_news_is_asked_for_no_texts() -> None:
    log = GrowingLog()
    assert sessions.events(cast("Reads", log), "s1", 2, 99) == ()
    assert log.last == 3
