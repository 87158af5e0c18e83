"""A passage of a person's talk obeys the partition by origin, as claims do; a document does not."""

from __future__ import annotations

import pytest

import tenure


@pytest.mark.parametrize(
    ("layer", "is_shown"),
    [("user", False), ("session", False), ("tenant", True), ("corpus", True)],
)
def test_only_a_shared_layer_shows_a_passage_of_another_site(
    memory: tenure.Memory, layer: str, is_shown: bool
) -> None:
    here, there = (
        memory.bind(tenure.Principal(user="ada", session="s1", origins={site}, roles={"steward"}))
        for site in ("https://mill.example", "https://quarry.example")
    )
    here.write(
        content="The mill opens at six.",
        object_type="retrieved_passage",
        layer=layer,
        source_origin="https://mill.example/hours",
    )

    texts = [
        bound.compile("assistant", "When does the mill open?", budget_tokens=600).text
        for bound in (here, there)
    ]
    assert ["opens at six" in text for text in texts] == [True, is_shown]
