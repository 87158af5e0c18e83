"""What was ever judged about an entity: merges, also undone ones, and whom it is not.

A verdict names both sides, so it is shown to those alone who may see a name of each.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from ...resolution.names import with_visible_names
from ...schema.entity import Judgement
from ...schema.principal import Sight
from ...schema.short_repr import short_repr
from ...schema.values import moment
from ...schema.vocabulary import JudgementVerdict
from ...store.port.store import Reader

_PHRASES = {
    JudgementVerdict.MATCH.value: "one entity",
    JudgementVerdict.NON_MATCH.value: "two entities",
    JudgementVerdict.UNSURE.value: "perhaps one entity",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgementView:
    """A verdict about two raw entities, and what it rested on."""

    __repr__ = short_repr

    judgement_id: str
    merge_id: str | None
    left: str
    right: str
    left_name: str
    """The name of the raw entity, as the caller may see it."""
    right_name: str
    verdict: str
    judged_by: str
    actor: str
    score: float | None
    reason: str
    since: datetime | None
    until: datetime | None
    """When it was taken back; None while it stands."""
    evidence: Mapping[str, Any]


def verdicts_about(
    reader: Reader, members: Sequence[str], sight: Sight
) -> tuple[JudgementView, ...]:
    """Every verdict about some raw entities that the caller may see, oldest first."""
    rows = reader.judgements(entity_ids=members)
    ids = {raw for row in rows for raw in (row.left_id, row.right_id)}
    names = visible_names_of(reader, sorted(ids), sight)

    verdicts: list[JudgementView] = []
    for row in sorted(rows, key=lambda row: (row.tx_start, row.judgement_id)):
        if row.left_id in names and row.right_id in names:
            verdicts.append(_view(row, (names[row.left_id], names[row.right_id])))
    return tuple(verdicts)


def visible_names_of(reader: Reader, ids: Sequence[str], sight: Sight) -> dict[str, str]:
    """The names of those raw entities of which the caller may see one.

    The members of a cluster answer to one name today; here each is meant by its own.
    """
    if not ids:
        return {}

    known = reader.entities(ids, tx_us=reader.clock().last_us)
    name_rows = reader.name_rows(sorted(known.entities), tx_us=reader.clock().last_us)
    register_apart = with_visible_names(replace(known, canonical={}), name_rows, sight)
    return {
        raw: register_apart.entities[raw].name for raw in ids if raw in register_apart.name_levels
    }


def sentences_about(verdict: JudgementView) -> list[tuple[datetime | None, str]]:
    """What a verdict says and, if it was taken back, that it was: each with its time."""
    pair = f"{verdict.left_name!r} and {verdict.right_name!r}"
    phrase = f"{pair}: {_PHRASES[verdict.verdict]}"
    merge = f", merge {verdict.merge_id}" if verdict.merge_id else ""

    sentences = [(verdict.since, f"{phrase}, by {verdict.judged_by} {verdict.actor}{merge}")]
    if verdict.until is not None:
        sentences.append((verdict.until, f"{phrase}: taken back{merge}"))
    return sentences


def _view(row: Judgement, names: tuple[str, str]) -> JudgementView:
    return JudgementView(
        judgement_id=row.judgement_id,
        merge_id=row.merge_id,
        left=row.left_id,
        right=row.right_id,
        left_name=names[0],
        right_name=names[1],
        verdict=row.verdict.value,
        judged_by=row.judged_by.value,
        actor=row.actor,
        score=row.score,
        reason=row.reason,
        since=moment(row.tx_start),
        until=moment(row.tx_end),
        evidence=json.loads(row.evidence),
    )
