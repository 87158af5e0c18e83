"""The log of a tenant: who did what and when, and who made each version.

The audit log names objects by id. What a caller is told of them goes through the same access
as every read: a hidden object brings no sentence, and hides who wrote it. Checklist: C-113.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ...resolution.register import Register
from ...schema.answers import LogEntry
from ...schema.claim import Version
from ...schema.interval import MIN_US
from ...schema.values import stamp_time
from ...schema.vocabulary import Op
from ...schema.write import Moment
from ...store.port.store import Reader, TxEvent
from ...store.timeline.state import plain_value
from ..backend.caller import FAR_US, instant
from .actors import WRITES, ActorReader
from .context_objects import visible_rows
from .entity_views import entity_views
from .view import EntityLike, find

_SENTENCES: Final = 20
"""Of one transaction; a bulk import would fill screens."""

_TEXT_LIMIT: Final = 80

_VERBS: Final = {
    Op.ASSERT: "",
    Op.CORRECT: "corrected ",
    Op.RETRACT: "retracted ",
    Op.DELETE: "deleted ",
    Op.DENY: "denied ",
}


@dataclass(frozen=True, slots=True)
class TransactionLog(ActorReader):
    """The audit log as one caller may read it."""

    def entries(
        self, since: Moment, until: Moment, entity: EntityLike | None, limit: int
    ) -> tuple[LogEntry, ...]:
        """The newest transactions in (since, until], newest first: the caller's own, or all."""
        after_us = MIN_US if since is None else instant(since, field="since")
        until_us = FAR_US if until is None else min(instant(until, field="until"), FAR_US)

        with self._reading() as reader:
            if entity is None:
                actor = None if self._reads_all else self._actor
                events = reader.events_in(after_us, until_us, actor=actor, limit=max(0, limit))
                return self._entries(reader, events)

            access = self.principal.sight()
            roots, register = find(reader, entity, access, reader.clock().last_us)
            members = register.members_of(roots)
            if not members:
                return ()
            events = self._events_about(reader, members, (after_us, until_us), max(0, limit))
            return self._entries(reader, events, about=members)

    def _events_about(
        self, reader: Reader, members: Collection[str], span: tuple[int, int], limit: int
    ) -> tuple[TxEvent, ...]:
        """The newest events that changed what is believed of an entity, newest first."""
        access = self.principal.sight()
        page = reader.changes(*span, sight=access, subjects=sorted(members))
        stamps: set[int] = set()
        for version in visible_rows(page.versions):
            stamps |= {version.row.tx_start, version.row.tx_end}

        # A row that was opened in the span may have been closed behind it, or be open still.
        stamps_within = sorted(stamp for stamp in stamps if span[0] < stamp <= span[1])
        events = reader.events_at(stamps_within)
        if not self._reads_all:
            events = tuple(event for event in events if event.actor == self._actor)

        return tuple(reversed(events[-limit:]))

    def _entries(
        self, reader: Reader, events: Sequence[TxEvent], *, about: Collection[str] = ()
    ) -> tuple[LogEntry, ...]:
        """The entries of events; with raw ids of an entity, of what was said `about` it alone."""
        visible = self._visible_rows_by_object(reader, events)
        if about:
            # A transaction of many facts, such as of an import, is told as far as it is meant.
            visible = {
                object_id: rows
                for object_id, rows in visible.items()
                if rows[0].details.subject_id in about
            }
        names, own_names = self._entity_names(reader, events, visible)

        entries: list[LogEntry] = []
        for event in events:
            sentences = _sentences(event, visible, names, own_names)
            # Callers without a user share one name, so that what is hidden is not their own.
            if not sentences and self.principal.user is None and not self._reads_all:
                continue
            entries.append(
                LogEntry(
                    tx=stamp_time(event.tx),
                    actor=event.actor,
                    op=event.op,
                    sentences=sentences,
                    objects=tuple(item for item in event.object_ids if item in visible),
                )
            )

        return tuple(entries)

    def _entity_names(
        self, reader: Reader, events: Sequence[TxEvent], visible: Mapping[str, list[Version]]
    ) -> tuple[dict[str, str], dict[str, str]]:
        """The names of subjects as they are called now, and of entities before they were merged.

        Both by raw id.
        """
        words = self._words_now()
        subjects: set[str] = set()
        operands: set[str] = set()
        for rows in visible.values():
            details = rows[0].details
            subjects |= {details.subject_id or ""} - {""}
            if details.slot is not None and words.slot(details.slot).relates:
                operands.add(str(plain_value(rows[0])))

        for event in events:
            if event.op not in WRITES:
                operands.update(event.object_ids)

        ids = sorted(subjects | operands)
        if not ids:
            return {}, {}

        tx_us = reader.clock().last_us
        known = reader.entities(ids, tx_us=tx_us)
        register = Register(known)
        roots = {raw_id: register.root(raw_id) for raw_id in ids}
        known_roots = [root for root in dict.fromkeys(roots.values()) if root in known.entities]
        views = entity_views(reader, known, known_roots, self.principal.sight(), tx_us)

        # The subject of a visible object may be named; any other entity by a visible name alone.
        nameable = set(map(register.root, subjects))
        by_root: dict[str, str] = {}
        for view in views:
            if view.aliases or view.entity_id in nameable:
                by_root[view.entity_id] = view.name

        names = {raw_id: by_root[root] for raw_id, root in roots.items() if root in by_root}

        # A merge of two must not read as one name said twice; only a name that may be read is told.
        aliases = {view.entity_id: view.aliases for view in views}
        own_names: dict[str, str] = {}
        for raw_id in names:
            own_name = known.entities[raw_id].name
            is_readable = own_name in aliases[roots[raw_id]]
            own_names[raw_id] = own_name if is_readable else names[raw_id]
        return names, own_names


def _sentences(
    event: TxEvent,
    visible: Mapping[str, list[Version]],
    names: Mapping[str, str],
    own_names: Mapping[str, str],
) -> tuple[str, ...]:
    sentences: list[str] = []
    for item in event.object_ids:
        if item in visible:
            version = visible[item][0]
            is_own = version.row.claim.object_id == item
            sentences.append(("" if is_own else "took back ") + _sentence(version, names))
        elif item in own_names:
            sentences.append(own_names[item])

    # One value for each of many terms reads alike: it is told once, with their number.
    lines: list[str] = []
    for sentence, count in Counter(sentences).items():
        lines.append(sentence if count == 1 else f"{sentence} ({count:,} times)")

    surplus = len(lines) - _SENTENCES
    if surplus > 0:
        lines[_SENTENCES:] = [f"and {surplus:,} more"]

    return tuple(lines)


def _sentence(version: Version, names: Mapping[str, str]) -> str:
    """What an object says, in a few words."""
    details, claim = version.details, version.row.claim
    subject = names.get(details.subject_id or "", "")
    verb = _VERBS[claim.op]

    if version.erased:
        return f"{subject}: (erased)".removeprefix(": ")
    if details.slot is None:
        text = " ".join((version.content.text if version.content else "").split())
        opening = text if len(text) <= _TEXT_LIMIT else text[: _TEXT_LIMIT - 1] + "…"
        return f"{subject}: {verb}{opening}".removeprefix(": ")

    value = plain_value(version)
    slot = details.slot.replace("_", " ")
    shown_value = names.get(str(value), value)
    return f"{subject}: {verb}{slot}" + ("" if value is None else f" = {shown_value}")
