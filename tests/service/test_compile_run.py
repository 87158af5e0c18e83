"""What a compile does beside its envelope: to the process while it runs, and to the trace after."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tenure import Memory, connect


@pytest.fixture
def memory() -> Iterator[Memory]:
    with connect(":memory:") as opened:
        opened.write(subject="Nova", slot="office", value="Rome")
        yield opened


def test_a_trace_asked_for_late_tells_of_the_compile(memory: Memory) -> None:
    asked = {"query": "Where is the office of Nova?", "valid": "2030-01-01T00:00:00Z"}
    early = memory.compile("code_generation", **asked).trace.to_dict()
    late = memory.compile("code_generation", **asked)
    memory.write(subject="Nova", slot="office", value="Oslo", valid_from="2020-01-01T00:00:00Z")
    memory.write(content="Nova has a new office in Oslo.", object_type="retrieved_passage")
    assert late.trace.to_dict() == early
    assert late.trace is late.trace


def test_the_trace_of_an_erased_object_still_holds_no_words(memory: Memory) -> None:
    written = memory.write(
        content="Nova keeps the vault code 4711.", object_type="retrieved_passage"
    )
    envelope = memory.compile("code_generation", "vault code of Nova")
    assert "4711" in envelope.text
    memory.erase(object_id=written.object_id, reason="asked for")
    assert "4711" not in str(envelope.trace.to_dict())
    assert "4711" not in memory.replay(envelope).text
