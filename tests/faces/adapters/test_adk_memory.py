"""A memory as the memory service of ADK: heard once, found by its user, retracted on demand."""

import asyncio
from typing import Any

import pytest

from tenure import Forbidden, Memory, Principal

pytest.importorskip("google.adk", reason="comes with the extra [adk]")

from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai import types

from tenure.faces.adapters.adk import adk_memory_service
from tenure.tests.support.refusals import refused

WORDS = {"app_name": "office", "query": "espresso machine"}


@pytest.fixture
def service(memory: Memory) -> Any:
    return adk_memory_service(memory)


def said(author: str, text: str, number: int) -> Event:
    role = "user" if author == "user" else "model"
    content = types.Content(role=role, parts=[types.Part(text=text)])
    return Event(id=f"e{number}", author=author, content=content, timestamp=1_750_000_000 + number)


def session(*events: Event, user: str = "ann", app: str = "office") -> Session:
    return Session(id="s1", app_name=app, user_id=user, events=list(events))


def found(service: Any, user: str = "ann", **fields: Any) -> list[Any]:
    asked = {**WORDS, "user_id": user, **fields}
    return list(asyncio.run(service.search_memory(**asked)).memories)


def test_what_was_said_is_found_with_its_author_and_time(service: Any) -> None:
    assert isinstance(service, BaseMemoryService)
    talk = session(
        said("user", "The espresso machine is on floor two", 1),
        said("helper", "Noted: espresso machine, floor two", 2),
    )
    asyncio.run(service.add_session_to_memory(talk))

    entries = found(service)
    texts = {entry.content.parts[0].text: entry for entry in entries}
    user, model = (
        texts["The espresso machine is on floor two"],
        texts["Noted: espresso machine, floor two"],
    )
    assert (user.author, user.content.role) == ("user", "user")
    assert (model.author, model.content.role) == ("agent", "model")
    assert user.timestamp.startswith("2025-06-15T15:06:41")


def test_a_session_that_is_added_again_brings_only_what_is_new(service: Any) -> None:
    first = said("user", "The espresso machine is on floor two", 1)
    asyncio.run(service.add_session_to_memory(session(first)))
    asyncio.run(
        service.add_session_to_memory(
            session(first, said("user", "The espresso machine is broken", 2))
        )
    )
    assert len(found(service)) == 2


def test_a_sentence_is_found_once_though_a_claim_was_read_from_it(
    service: Any, memory: Memory
) -> None:
    asyncio.run(service.add_session_to_memory(session(said("user", "I live in Oslo.", 1))))
    assert memory.bind(Principal(user="ann")).as_of().value("ann", "home") == "Oslo"
    texts = [e.content.parts[0].text for e in found(service, query="Where does ann live? Oslo")]
    assert texts == ["I live in Oslo."]


def test_users_and_applications_are_kept_apart(service: Any) -> None:
    asyncio.run(
        service.add_session_to_memory(session(said("user", "my espresso machine is loud", 1)))
    )
    assert found(service, user="bob") == []
    assert found(service, app_name="kitchen") == []
    assert len(found(service)) == 1


def test_a_memory_of_one_user_serves_no_other(memory: Memory) -> None:
    service = adk_memory_service(memory.bind(Principal(tenant="default", user="ann")))
    asyncio.run(service.add_session_to_memory(session(said("user", "espresso machine", 1))))
    assert len(found(service)) == 1
    with refused(Forbidden, "scope_not_yours"):
        found(service, user="bob")


def test_the_roles_of_the_owner_are_not_lent_to_users(memory: Memory, service: Any) -> None:
    memory.write(
        content="The espresso machine code is 4711",
        why_it_matters="access",
        allow_roles=["owner"],
        source_origin="user://chat",
    )
    assert memory.as_of().search("espresso").hits
    assert found(service) == []


def test_stated_memories_are_found_and_can_be_retracted(service: Any) -> None:
    entry = MemoryEntry(
        content=types.Content(parts=[types.Part(text="espresso machine: call 555")]),
        timestamp="2026-01-02T00:00:00Z",
    )
    asyncio.run(service.add_memory(app_name="office", user_id="ann", memories=[entry]))
    (known,) = found(service)
    assert known.timestamp.startswith("2026-01-02")

    asyncio.run(service.delete_memory(app_name="office", user_id="ann", memory_id=known.id))
    assert found(service) == []


def test_facts_of_any_origin_are_found(memory: Memory, service: Any) -> None:
    memory.write(subject="Nova", slot="version", value="espresso-3")
    (known,) = found(service, query="version of Nova")
    assert "espresso-3" in known.content.parts[0].text
    assert known.custom_metadata["source"] == "user://chat"
