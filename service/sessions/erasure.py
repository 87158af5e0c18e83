"""Erasing from sessions: the texts that name somebody or repeat an object, or a whole session.

A name of two words or more, a text or value of three, and any identifier takes the texts along in
which it stands as whole words. Less is too common for that: "Will" or "New York" would empty half a
log. The sessions in which such words stand are told, for a person to look at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...resolution.whole_words import plain_letters, whole_words, word_count
from ...schema.claim import Assertion
from ...schema.entity import Alias, Entity, Identifier
from ...schema.errors import NotFound, TenureError
from ...schema.principal import Principal
from ...schema.values import canonical_json
from ...store.port.sessions import SessionPlace, SessionRecord
from ...store.port.store import Batch, Reader, RecordKind, WriteTx
from ...window.events import EventKind
from ..backend.backend import Backend


@dataclass(frozen=True, slots=True)
class ErasurePatterns:
    """How what is erased is repeated in texts; the patterns are of texts in plain letters."""

    selective: tuple[re.Pattern[str], ...] = ()
    """What takes a text along in which it stands."""
    common: tuple[re.Pattern[str], ...] = ()
    """What is too short for that: the only word of a name, a value of one or two."""

    def repeats(self, text: str) -> bool:
        """Whether a text says, in so many words, what is erased."""
        return _any_in(self.selective, text)

    def may_repeat(self, text: str) -> bool:
        """Whether a text has a word that may mean what is erased."""
        return _any_in(self.common, text)


def _any_in(patterns: Iterable[re.Pattern[str]], text: str) -> bool:
    plain_text = plain_letters(text)
    return any(pattern.search(plain_text) for pattern in patterns)


def object_patterns(assertions: Iterable[Assertion]) -> ErasurePatterns:
    """The texts and values of objects; an entity that is a value is not what is erased."""
    phrases: set[str] = set()
    for assertion in assertions:
        phrases.add(assertion.content.text)
        value = json.loads(assertion.content.value_json)
        if isinstance(value, str) and not assertion.details.value_entity_id:
            phrases.add(value)

    return _erasure_patterns(phrases, (), selective_words=3)


def name_patterns(reader: Reader, family: Mapping[str, Entity]) -> ErasurePatterns:
    """The names and identifiers of an entity, given under every merged id."""
    names = {entity.name for entity in family.values()}
    identifiers: set[str] = set()
    for alias in reader.records(RecordKind.ALIAS):
        if isinstance(alias, Alias) and alias.entity_id in family:
            names.add(alias.surface)

    for identifier in reader.records(RecordKind.IDENTIFIER):
        if isinstance(identifier, Identifier) and identifier.entity_id in family:
            identifiers.add(identifier.value)

    return _erasure_patterns(names, identifiers, selective_words=2)


def _erasure_patterns(
    phrases: Iterable[str], identifiers: Iterable[str], *, selective_words: int
) -> ErasurePatterns:
    selective, common = list(identifiers), list[str]()
    for phrase in phrases:
        is_selective = word_count(phrase) >= selective_words
        (selective if is_selective else common).append(phrase)

    return ErasurePatterns(_patterns(selective), _patterns(common))


def _patterns(names: Iterable[str]) -> tuple[re.Pattern[str], ...]:
    patterns = [whole_words(name) for name in sorted(names)]
    return tuple([pattern for pattern in patterns if pattern is not None])


class EmptiedTexts(NamedTuple):
    """What an erasure met in sessions."""

    sessions: tuple[str, ...] = ()
    """Those that repeated what is erased, or may do by name."""
    checkpoints: tuple[str, ...] = ()
    """The claims that say what an emptied text said: checkpoints are kept in both places."""


def erase_repeats(
    backend: Backend, principal: Principal, patterns: ErasurePatterns
) -> EmptiedTexts:
    """Empty the texts that repeat what is erased."""
    if not (patterns.selective or patterns.common):
        return EmptiedTexts()

    claims: list[str] = []
    places: list[SessionPlace] = []
    empty_texts: set[tuple[str, int]] = set()
    doubtful: set[str] = set()
    with backend.store.reading(principal.tenant) as reader:
        for record in _records(reader):
            # A model may say the same in other words, so a summary goes with what it was made of.
            if any((record.session, seq) in empty_texts for seq in _summary_sources(record)):
                places += [SessionPlace(record.session, record.seq, 0)]
                continue

            for part, text in enumerate(record.texts):
                words = text.text or ""
                if patterns.repeats(words):
                    places.append(SessionPlace(record.session, record.seq, part))
                    empty_texts.add((record.session, record.seq))
                    claims += _checkpoint_claims(record)
                elif patterns.may_repeat(words):
                    doubtful.add(record.session)

    _empty(backend, principal, places, EventKind.TEXTS_ERASED)
    sessions = sorted(doubtful | {place.session for place in places})
    return EmptiedTexts(tuple(sessions), tuple(dict.fromkeys(claims)))


def erase_session(backend: Backend, principal: Principal, session: str) -> tuple[str, ...]:
    """Empty every text of a session, and close it; the claims of its checkpoints are told.

    Raises:
        NotFound: `unknown_session`.
    """
    claims: list[str] = []
    places: list[SessionPlace] = []
    with backend.store.reading(principal.tenant) as reader:
        records = reader.session_events(session)

    if not records:
        raise NotFound(f"there is no session {session!r}", code="unknown_session")

    for record in records:
        for part in range(len(record.texts)):
            places.append(SessionPlace(session, record.seq, part))
        claims += _checkpoint_claims(record)

    _empty(backend, principal, places, EventKind.TEXTS_ERASED, EventKind.CLOSED)
    return tuple(claims)


def _summary_sources(record: SessionRecord) -> Iterator[int]:
    """The events that a summary was made of, while its words still stand."""
    if record.kind == EventKind.SUMMARISED and record.texts:
        yield from json.loads(record.body)["of"]


def _checkpoint_claims(record: SessionRecord) -> Iterator[str]:
    """The claim that a checkpoint was saved as, while its words still stand."""
    if record.kind == EventKind.CHECKPOINTED and record.texts[0].text is not None:
        claim = json.loads(record.body).get("object")
        if claim:
            yield claim


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
        outcome = backend.queue(principal.tenant).submit(work)
        if isinstance(outcome, TenureError):
            raise outcome
