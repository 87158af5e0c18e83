"""A memory as a LangChain retriever: what the caller may see, at the time that is asked for."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from tenure import Memory, Principal

pytest.importorskip("langchain_core", reason="runs in an environment of its own")

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.retrievers import BaseRetriever

from tenure.faces.adapters.langchain import langchain_middleware, langchain_retriever


def test_documents_say_what_is_true_and_where_it_comes_from(memory: Memory) -> None:
    receipt = memory.write("Sam Rivera", "office", "Chicago", valid_from="2026-01-01T00:00:00Z")
    retriever = langchain_retriever(memory)
    assert isinstance(retriever, BaseRetriever)
    (document,) = retriever.invoke("Where is Sam Rivera's office?")
    assert "Chicago" in document.page_content
    assert document.id == document.metadata["object_id"] == receipt.object_id
    assert document.metadata["valid_from"] == "2026-01-01T00:00:00+00:00"
    assert document.metadata["score"] > 0
    assert memory.explain(document.id).object.value == "Chicago"

    then = langchain_retriever(memory, valid="2025-01-01T00:00:00Z")
    assert asyncio.run(then.ainvoke("Where is Sam Rivera's office?")) == []


def test_only_what_the_caller_may_see_is_found_and_no_more_than_asked_for(memory: Memory) -> None:
    for number in range(4):
        memory.write(f"Project {number}x", "version", f"one.{number}")
    memory.write("Sam Rivera", "office", "version room", allow_roles=["hr"])
    ann = memory.bind(Principal(tenant="default", user="ann"))
    documents = langchain_retriever(ann, limit=3).invoke("version")
    assert len(documents) == 3
    assert all("room" not in document.page_content for document in documents)
    assert langchain_retriever(ann).invoke("office version room") == langchain_retriever(
        ann
    ).invoke("office version room")


def test_a_retriever_runs_inside_a_chain(memory: Memory) -> None:
    memory.write("Sam Rivera", "office", "Chicago")
    chain = langchain_retriever(memory) | (lambda documents: documents[0].page_content)
    assert chain.invoke("office of Sam Rivera").endswith("Chicago")


def looked_up(number: int) -> str:
    """Look an order up."""
    return f"Order ORD-{number:05} is open. " + "row of words " * 150


class Scripted(GenericFakeChatModel):  # type: ignore[misc, unused-ignore]
    """A model that calls a tool and answers, and keeps what it is sent."""

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        SENT_TOOLS.append([getattr(tool, "name", str(tool)) for tool in tools])
        return self

    def _generate(self, messages: Any, *arguments: Any, **options: Any) -> Any:
        SENT.append(list(messages))
        return super()._generate(messages, *arguments, **options)


SENT: list[Any] = []
SENT_TOOLS: list[list[str]] = []


def answers(turns: int) -> Iterator[AIMessage]:
    for number in range(turns):
        call = {"name": "looked_up", "args": {"number": number}, "id": f"c{number}"}
        yield AIMessage(content="", tool_calls=[call])
        yield AIMessage(content=f"Order {number} is open.")
    yield AIMessage(
        content="",
        tool_calls=[{"name": "recall_original", "args": {"request": "turn:1"}, "id": "back"}],
    )
    yield AIMessage(content="It was open.")


def test_a_middleware_shows_an_agent_the_window_and_brings_the_way_back(memory: Memory) -> None:
    SENT.clear()
    middleware = langchain_middleware(memory, name="desk", model="gpt-5", window=16_384)
    agent = create_agent(
        Scripted(messages=answers(30)),
        [looked_up],
        middleware=[middleware],
        system_prompt="You look orders up.",
    )
    messages: list[Any] = []
    for number in range(30):
        messages.append(HumanMessage(f"What about order {number}?"))
        messages = agent.invoke({"messages": messages})["messages"]
    session = memory.session("desk")
    assert session.state.edits and session.state.turn == 30
    sizes = [sum(len(str(m.content)) for m in batch) for batch in (SENT[-1], messages)]
    assert sizes[0] < sizes[1] * 3 // 4
    assert "ORD-00000" in str(SENT[-1])
    assert "You look orders up." in SENT[-1][0].content
    assert sum(message.type == "system" for message in SENT[-1]) == 1
    assert "recall_original" in SENT_TOOLS[-1]

    messages.append(HumanMessage("And the first?"))
    agent.invoke({"messages": messages})
    assert "Order ORD-00000 is open." in SENT[-1][-1].content
    assert not session.report().alerts or session.report().turn == 31

    # Another process goes on where the thread is.
    again = langchain_middleware(memory, name="desk")
    assert again.tools[0].name == "recall_original"
