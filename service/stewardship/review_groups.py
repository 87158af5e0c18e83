"""Grouped reviews: many cases as a few lines, by name, by source, by scope or by reason.

A flood of doubtful names from one source reads as one line, and so do the cases of one name in
many scopes; a group is decided by a bulk decision over its filter. Counting is all that happens
here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...schema.claim import Version
from ...schema.entity import Review
from ...schema.principal import Sight
from ...schema.short_repr import short_repr
from ...schema.values import stamp_time
from ...store.port.store import Ask, Point, Reader

GROUPINGS = ("mention", "source", "scope", "type", "reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseGroup:
    """Cases that share what they were grouped by."""

    __repr__ = short_repr

    by: str
    value: str
    cases: int
    oldest: str
    """The day the oldest of them was opened, `YYYY-MM-DD`."""
    mentions: tuple[str, ...]
    """Up to three of their names, the most pressing first."""


def sources_of(reader: Reader, cases: Sequence[Review], sight: Sight) -> Mapping[str, str]:
    """Return the origin of the write that opened each case, by review id; unseen ones left out."""
    ask = Ask(
        objects=tuple({case.object_id: None for case in cases}),
        heads=False,
        at_valid=False,
        at_tx=False,
    )
    if not ask.objects:
        return {}

    point = Point(0, reader.clock().last_us)
    versions: Sequence[Version] = reader.versions(ask, sight=sight, point=point).versions
    origins: dict[str, str] = {}
    for version in versions:
        if version.visible:
            origins[version.row.claim.object_id] = version.details.source_origin

    # A write that the caller may not see has no origin for him, not an unknown one.
    sources: dict[str, str] = {}
    for case in cases:
        if case.object_id in origins:
            sources[case.review_id] = origins[case.object_id]
    return sources


def groups_of(
    cases: Sequence[Review], key: str, sources: Mapping[str, str]
) -> tuple[CaseGroup, ...]:
    """Return cases in groups, the largest first, then by value; the order inside stays."""
    members: dict[str, list[Review]] = {}
    for case in cases:
        value = {
            "mention": case.mention,
            "source": sources.get(case.review_id, ""),
            "scope": case.scope_id,
            "type": case.type,
            "reason": case.reason,
        }[key]
        members.setdefault(value, []).append(case)

    groups: list[CaseGroup] = []
    for value, group in members.items():
        oldest = min(case.opened_tx for case in group)
        mentions = dict.fromkeys(case.mention for case in group)
        groups.append(
            CaseGroup(
                by=key,
                value=value,
                cases=len(group),
                oldest=str(stamp_time(oldest).date()),
                mentions=tuple(mentions)[:3],
            )
        )

    # Values break ties, so that two stewards see one order.
    groups.sort(key=lambda group: (-group.cases, group.value))
    return tuple(groups)
