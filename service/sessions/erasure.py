"""Erasing from sessions: the texts that name somebody, or a whole session.

A name of two words or more, and any identifier, takes the texts along in which it stands as whole
words. A single word is too common for that: "Will" would empty half a log. The sessions in which
such a name stands are told, for a person to look at.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from ...schema.entity import Alias, Identifier
from ...schema.errors import NotFound, TenureError
from ...schema.principal import Principal
from ...schema.values import canonical_json
from ...store.port.sessions import SessionPlace, SessionRecord
from ...store.port.store import Batch, Reader, RecordKind, WriteTx
from ...window.events import EventKind
from ..backend.backend import Backend

_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class NamePatterns:
    """How an entity is named in texts."""

    telling: tuple[re.Pattern[str], ...]
    """Identifiers, and names of two words or more."""
    single_words: tuple[re.Pattern[str], ...]


def name_patterns(reader: Reader, entity_id: str) -> NamePatterns:
    """The names and identifiers of an entity under every merged id."""
    known = reader.entities((entity_id,), tx_us=reader.clock().last_us)
    names = {entity.name for entity in known.entities.values()}
    identifiers: set[str] = set()
    for alias in reader.records(RecordKind.ALIAS):
        if isinstance(alias, Alias) and alias.entity_id in known.entities:
            names.add(alias.surface)
    for identifier in reader.records(RecordKind.IDENTIFIER):
        if isinstance(identifier, Identifier) and identifier.entity_id in known.entities:
            identifiers.add(identifier.value)

    telling = [name for name in names if len(_WORD.findall(name)) > 1]
    single = [name for name in names if len(_WORD.findall(name)) == 1]
    return NamePatterns(_patterns([*telling, *identifiers]), _patterns(single))


def _patterns(names: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    patterns: list[re.Pattern[str]] = []
    for name in sorted(names):
        words = [re.escape(word) for word in _WORD.findall(name)]
        if words:
            # Between the words anything may stand that is no word: a hyphen, a line break, JSON.
            pattern = r"(?<!\w)" + r"\W+".join(words) + r"(?!\w)"
            patterns.append(re.compile(pattern, re.IGNORECASE))
    return tuple(patterns)


def erase_names(backend: Backend, principal: Principal, patterns: NamePatterns) -> tuple[str, ...]:
    """Empty the texts that name somebody; the sessions that did, or may do, by name."""
    places: list[SessionPlace] = []
    doubtful: set[str] = set()
    with backend.store.reading(principal.tenant) as reader:
        for record in _records(reader):
            for part, text in enumerate(record.texts):
                words = text.text or ""
                if any(pattern.search(words) for pattern in patterns.telling):
                    places.append(SessionPlace(record.session, record.seq, part))
                elif any(pattern.search(words) for pattern in patterns.single_words):
                    doubtful.add(record.session)

    _empty(backend, principal, places, EventKind.TEXTS_ERASED)
    return tuple(sorted(doubtful | {place.session for place in places}))


def erase_session(backend: Backend, principal: Principal, session: str) -> None:
    """Empty every text of a session, and close it.

    Raises:
        NotFound: `unknown_session`.
    """
    places: list[SessionPlace] = []
    with backend.store.reading(principal.tenant) as reader:
        records = reader.session_events(session)
    if not records:
        raise NotFound(f"there is no session {session!r}", code="unknown_session")
    for record in records:
        places += [SessionPlace(session, record.seq, part) for part in range(len(record.texts))]
    _empty(backend, principal, places, EventKind.TEXTS_ERASED, EventKind.CLOSED)


def _records(reader: Reader) -> Iterable[SessionRecord]:
    for record in reader.records(RecordKind.SESSION_EVENT):
        assert isinstance(record, SessionRecord)
        yield record


def _empty(
    backend: Backend, principal: Principal, places: list[SessionPlace], *kinds: EventKind
) -> None:
    """Empty texts and tell each session of it, in one transaction."""
    by_session: dict[str, list[list[int]]] = {}
    for place in places:
        by_session.setdefault(place.session, []).append([place.seq, place.part])

    def work(tx: WriteTx) -> None:
        clock = tx.lock()
        tx.empty_session_texts(places)
        events: list[SessionRecord] = []
        for session, pairs in by_session.items():
            seq = tx.session_head(session).seq
            for kind in kinds:
                seq += 1
                body: dict[str, Any] = {"places": pairs} if kind is kinds[0] else {}
                event = SessionRecord(
                    session=session,
                    seq=seq,
                    kind=kind.value,
                    actor=principal.user or "service",
                    last_us=clock.last_us,
                    recorded_us=backend.now_us(),
                    body=canonical_json(body),
                )
                events.append(event)
        tx.apply(Batch(clock=clock, session_events=tuple(events)))

    if places:
        # One transaction: no session may be told of an erasure that did not happen.
        outcome = backend.alone(principal.tenant, work)
        if isinstance(outcome, TenureError):
            raise outcome
