"""The scheme of an origin names its kind; a page of the web has a partition of its own."""

from __future__ import annotations

import pytest

from tenure.schema.slots import BUILT_IN_KINDS, kind_of, origin_partition

KINDS = {kind.name: kind for kind in BUILT_IN_KINDS}
GRANTABLE = frozenset({"platform", "policy", "workspace", "system_of_record"})


@pytest.mark.parametrize(
    ("origin", "name", "trust", "rank"),
    [
        ("system://core", "platform", 1.0, 1),
        ("policy://p", "policy", 1.0, 1),
        ("workspace://w", "workspace", 0.9, 1),
        ("record://hr/1", "system_of_record", 0.95, 0),
        ("user://ann", "user_statement", 0.8, 2),
        ("chat://c/1", "user_statement", 0.8, 2),
        ("agent://a", "agent", 0.6, 3),
        ("tenure://o", "derived", 0.5, 3),
        ("doc://d", "document", 0.7, 4),
        ("file://f", "document", 0.7, 4),
        ("artifact://sha256/0", "document", 0.7, 4),
        ("tool://t", "tool", 0.6, 4),
        ("mcp://t", "tool", 0.6, 4),
        ("https://example.org", "web", 0.4, 5),
        ("HTTP://example.org", "web", 0.4, 5),
        ("model://m", "model", 0.3, 6),
        ("ftp://x", "web", 0.4, 5),
        ("gopher://x", "other", 0.5, 5),
        ("no scheme", "other", 0.5, 5),
        ("https:example.org", "other", 0.5, 5),
    ],
)
def test_the_scheme_names_the_kind(origin: str, name: str, trust: float, rank: int) -> None:
    kind = kind_of(origin, KINDS)
    assert (kind.name, kind.source_authority, kind.rank) == (name, trust, rank)


def test_exactly_the_raising_kinds_must_be_granted() -> None:
    assert {kind.name for kind in BUILT_IN_KINDS if kind.granted} == GRANTABLE


@pytest.mark.parametrize(
    ("origin", "kind", "partition"),
    [
        ("https://Example.org/a?b#c", "web", "https://example.org"),
        ("https://example.org?q=//good.example", "web", "https://example.org"),
        ("https://example.org#@good.example", "web", "https://example.org"),
        ("https://good.example@example.org/x", "web", "https://example.org"),
        ("https://example.org\\@good.example", "web", "https://example.org"),
        ("HTTP://Example.org:8080", "web", "http://example.org:8080"),
        ("tool://Search/1", "tool", "tool://search"),
        ("doc://d", "document", None),
        ("user://u", "user_statement", None),
    ],
)
def test_the_partition_of_an_origin(origin: str, kind: str, partition: str | None) -> None:
    assert origin_partition(origin, kind) == partition
