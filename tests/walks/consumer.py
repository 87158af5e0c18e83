"""A program of somebody who uses the async twin, under strict checks of types."""

from __future__ import annotations

import asyncio

import tenure
from tenure import Envelope, InvalidInput, Principal, Receipt, SlotState


async def remember(memory: tenure.AsyncMemory, name: str, office: str) -> Receipt:
    try:
        return await memory.write(name, "office", office, valid_from="2026-01-01T00:00:00Z")
    except InvalidInput as error:
        raise SystemExit(f"{error.code}: {error}") from error


async def office_of(memory: tenure.AsyncMemory, name: str) -> SlotState:
    view = await memory.as_of(valid="2026-06-01T00:00:00Z")
    return await view.slot(name, "office")


async def context(memory: tenure.AsyncMemory, question: str) -> Envelope:
    return await memory.compile("assistant", question, budget_tokens=1_000)


async def main() -> None:
    async with tenure.aconnect("consumer.db") as memory:
        receipt = await remember(memory, "Sam Rivera", "Chicago")
        state = await office_of(memory, "Sam Rivera")
        print(receipt.outcome, state.status, state.value)

        bound = await memory.bind(Principal(user="ann"))
        envelope = await context(bound, "Where does Sam Rivera work?")
        print("Chicago" in envelope.text, envelope.tokens <= 1_000)

        entities = await memory.entities.list()
        reviews = await memory.reviews.list("open")
        print([entity.name for entity in entities], len(reviews))

        session = await memory.session("s1", window=16_000)
        await session.on_turn_start("hello")
        await session.on_turn_end("hi")
        await session.close()


if __name__ == "__main__":
    asyncio.run(main())
