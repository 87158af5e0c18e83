"""Every value that a public call gives can be pickled and copied: for a cache, a queue, a fork."""

import copy
import pickle
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

import tenure
from tenure.schema.records import FrozenDict
from tenure.service.backend.caller import ClientPart
from tenure.service.sessions.session import Session
from tenure.tests.service.test_isolation import (
    PARTS,
    World,
    arguments,
    calls,
    part_of,
    world,
)

__all__ = ["world"]

COPIES: Mapping[str, Callable[[Any], Any]] = {
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}
LIVE = (ClientPart, Session, Iterator)
"""What stands for a store or goes on by itself, and is no value."""


def values_in(answer: Any) -> Iterator[Any]:
    """The answer, or what of it is a value where it holds something live."""
    if isinstance(answer, LIVE):
        return
    yield answer
    if isinstance(answer, tuple | list):
        for member in answer:
            yield from values_in(member)
    if isinstance(answer, tenure.Envelope):
        for name in ("trace", "sidecar", "quality", "stages", "lineage", "diagnosis", "sections"):
            yield getattr(answer, name)
    elif is_dataclass(answer) and not isinstance(answer, type):
        for field in fields(answer):
            yield getattr(answer, field.name)


@pytest.mark.parametrize("part", ["memory", *PARTS])
def test_every_answer_of_a_public_call_can_be_pickled_and_copied(world: World, part: str) -> None:
    # The owner of the small tenant, so that no other test of the module's world is disturbed.
    memory = world.globex.bind(world.globex.principal)
    kinds: set[type] = set()
    for _, method in calls(part, part_of(memory, part)):
        for keywords in list(arguments(world, "globex", method))[:12]:
            try:
                answer = method(**keywords)
            except tenure.TenureError as error:
                answer = error
            for value in values_in(answer):
                kinds.add(type(value))
                for copied in COPIES.values():
                    twin = copied(value)
                    if isinstance(value, Exception):
                        assert (str(twin), vars(twin)) == (str(value), vars(value))
                    else:
                        assert twin == value, type(value)
    assert kinds


def test_what_an_envelope_measured_cannot_be_changed(memory: tenure.Memory) -> None:
    envelope = memory.compile("analytical_reporting", "nothing")
    twin = pickle.loads(pickle.dumps(envelope))
    assert (twin.digest, twin.text, twin.sidecar) == (
        envelope.digest,
        envelope.text,
        envelope.sidecar,
    )
    for change in (
        lambda counts: counts.update(a=1),
        lambda counts: counts.__setitem__("a", 1),
        lambda counts: counts.clear(),
    ):
        for counts in (envelope.sidecar, twin.sidecar, FrozenDict({"a": 0})):
            with pytest.raises(TypeError, match="copy it with dict"):
                change(counts)
