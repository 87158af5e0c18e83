"""A program of somebody who uses the async twin, under strict checks of types."""

import asyncio
from typing import Any

import tenure
from tenure import Envelope, InvalidInput, Principal, Receipt, SlotState


async def remember(memory: tenure.AsyncMemory, name: str, office: str) -> Receipt:
    try:
        return await memory.write(
            name, "office", office, op="assert", layer="tenant", valid_from="2026-01-01T00:00:00Z"
        )
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

        async with memory.bind(Principal(user="ann", roles=["steward"])) as bound:
            envelope = await context(bound, "Where does Sam Rivera work?")
        request: dict[str, Any] = envelope.render("anthropic", max_tokens=800)
        text: str = envelope.render("text")
        print(request["max_tokens"], text == envelope.text)
        print("Chicago" in envelope.text, envelope.tokens <= 1_000)

        await memory.vocabulary.define_slot(
            "badge", description="what it shows", cardinality="one", value_type="string"
        )
        entities = await memory.entities.list()
        reviews = await memory.reviews.list("open")
        print([entity.name for entity in entities], len(reviews))

        session = await memory.session("s1", window=16_000)
        await session.on_turn_start("hello")
        await session.on_turn_end("hi")
        await session.note("todo", "write to Sam", status="planned")
        await session.close()


if __name__ == "__main__":
    asyncio.run(main())
