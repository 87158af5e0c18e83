"""Everyday talk with a store, a turn a day."""

from datetime import UTC, datetime, timedelta
from typing import Any

import tenure

START = datetime(2026, 1, 5, 9, tzinfo=UTC)


class Talk:
    """A store in which one turn is said a day."""

    def __init__(self) -> None:
        self.now = START
        self.store = tenure.connect(":memory:", clock=self._clock)

    def _clock(self) -> int:
        return round(self.now.timestamp() * 1_000_000)

    def memory(self, user: str = "ann") -> tenure.Memory:
        return self.store.bind(tenure.Principal(tenant="default", user=user))

    def say(self, *turns: str, user: str = "ann", role: str = "user") -> list[tenure.Receipt]:
        receipts: list[tenure.Receipt] = []
        for turn in turns:
            receipts = self.memory(user).observe([{"role": role, "content": turn}])
            self.now += timedelta(days=1)
        return receipts

    def values(self, slot: str, user: str = "ann", **at: Any) -> list[str]:
        memory = self.memory(user)
        person = {"name": user, "type": "person", "external_ids": {"user": user}}
        values = memory.as_of(**at).slot(person, slot).values
        names = {view.entity_id: view.name for view in memory.entities.list()}
        return [names.get(str(value), str(value)) for value in values]

    def context(self, question: str) -> str:
        """What is shown besides the question."""
        return self._shown(question, "user_request")

    def facts(self, question: str) -> str:
        """What is shown besides the question and the words of talk."""
        return self._shown(question, "user_request", "evidence")

    def _shown(self, question: str, *left_out: str) -> str:
        envelope = self.memory().compile(
            "conversation", question, user_request=question, budget_tokens=500
        )
        blocks = tenure.parse_envelope(envelope.text)
        return "\n".join(block.text for block in blocks if block.section not in left_out)
