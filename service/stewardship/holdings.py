"""What stands about entities and is read of them, by which their cases are put in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from ...schema.principal import AUDIT, Principal
from ...store.port.store import Ask, Point, Reader, Usage
from ..reading.objects import visible_rows
from ..reading.view import sight_of

_RECENT_US: Final = 30 * 86_400 * 1_000_000
"""Thirty days: how long a use counts."""


class Holdings(NamedTuple):
    """What stands about raw entities, as far as the caller sees."""

    facts: Counter[str]
    """Current facts about each."""
    uses: Counter[str]
    """How often prompts read those that some prompt read within the last 30 days; 0 to a caller
    who may not open what others asked."""


def holdings_of(
    reader: Reader, members: Sequence[str], principal: Principal, now_us: int
) -> Holdings:
    """How many current facts stand about each raw entity, and how often they were used."""
    last = reader.clock().last_us
    ask, point = Ask(subjects=tuple(members)), Point(max(now_us, last), last)
    page = reader.versions(ask, sight=sight_of(principal, None), point=point)
    visible_versions = visible_rows(page.versions)

    # An order by what others asked would tell a steward that they did, and about whom.
    usage: Mapping[str, Usage] = {}
    if principal.holds(AUDIT):
        usage = reader.usage([version.row.claim.object_id for version in visible_versions])

    facts, uses = Counter[str](), Counter[str]()
    for version in visible_versions:
        subject_id = version.details.subject_id
        if subject_id is None:
            continue
        facts[subject_id] += 1
        record = usage.get(version.row.claim.object_id)
        # The log counts uses without their times: what nobody read of late counts as unread.
        if record is not None and record.last_us >= now_us - _RECENT_US:
            uses[subject_id] += record.uses
    return Holdings(facts, uses)
