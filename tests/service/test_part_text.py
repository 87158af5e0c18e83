"""What a caller holds prints in a line, and never a key."""

from collections.abc import Iterator

import pytest

from tenure import Memory, Principal, connect
from tenure.service.backend.caller import ClientPart

KEY = b"k" * 32


@pytest.fixture
def memory() -> Iterator[Memory]:
    with connect(":memory:", tenant_key=KEY) as memory:
        memory.write("Sam Rivera", "office", "Chicago")
        yield memory


def parts_of(memory: Memory) -> list[object]:
    names = ("vocabulary", "envelopes", "artifacts", "actions", "reviews", "entities")
    parts: list[object] = [getattr(memory, name) for name in names]
    return [memory, memory.as_of(), memory.session("s1", window=8_192), *parts]


def test_every_part_prints_in_a_line_that_says_whose_it_is(memory: Memory) -> None:
    for part in parts_of(memory.bind(Principal(tenant="default", user="ann" * 100))):
        assert isinstance(part, ClientPart)
        text = repr(part)
        assert text.startswith(type(part).__name__ + "(Backend(SqliteStore), tenant='default'")
        assert len(text) < 200
        assert "kkkk" not in text
