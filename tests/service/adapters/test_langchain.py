"""A memory as a LangChain retriever: what the caller may see, at the time that is asked for."""

from __future__ import annotations

import asyncio

import pytest

from tenure import Principal, connect

pytest.importorskip("langchain_core", reason="runs in an environment of its own")

from langchain_core.retrievers import BaseRetriever

from tenure.service.adapters.langchain import langchain_retriever


def test_documents_say_what_is_true_and_where_it_comes_from() -> None:
    with connect(":memory:") as memory:
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


def test_only_what_the_caller_may_see_is_found_and_no_more_than_asked_for() -> None:
    with connect(":memory:") as memory:
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


def test_a_retriever_runs_inside_a_chain() -> None:
    with connect(":memory:") as memory:
        memory.write("Sam Rivera", "office", "Chicago")
        chain = langchain_retriever(memory) | (lambda documents: documents[0].page_content)
        assert chain.invoke("office of Sam Rivera").endswith("Chicago")
