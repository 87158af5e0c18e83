"""Erasing from sessions: the texts that name somebody or repeat an object, or a whole session.

A name of two words or more, a text or value of three, and any identifier takes the texts along in
which it stands as whole words. Less is too common for that: "Will" or "New York" would empty half a
log. The sessions in which such words stand are told, for a person to look at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ...resolution.normalize import plain_letters, whole_words, word_count
from ...schema.claim import Assertion
from ...schema.entity import Alias, Entity, Identifier
from ...schema.errors import InvalidInput, NotFound
from ...schema.principal import Scope
from ...schema.terms import STOP_WORDS
from ...schema.values import canonical_json
from ...store.operations.change import Mandate
from ...store.port.records import SessionPlace, SessionRecord
from ...store.port.store import Batch, Reader, RecordKind, WriteTx
from ...window.events import GENERATION, EventKind

_SHORT_NUMBER: Final = re.compile(r"\d{1,4}")


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

    def check_reason(self, reason: str) -> None:
        """Refuse a reason that would keep in the tombstone what is erased.

        Raises:
            InvalidInput: `reason_names_erased`.
        """
        plain_reason = plain_letters(reason)
        for pattern in (*self.selective, *self.common):
            match = pattern.search(plain_reason)
            # "for" is a word of every reason, and 17 the number of a case.
            if match and match[0] not in STOP_WORDS and not _SHORT_NUMBER.fullmatch(match[0]):
                raise InvalidInput(
                    "the reason says in words what is erased, and is kept for ever; give the "
                    "number of a case or a request",
                    code="reason_names_erased",
                )


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
    return tuple(filter(None, map(whole_words, sorted(names))))


@dataclass(slots=True)
class TalkSearch:
    """The search of an erasure over the texts of sessions."""

    patterns: ErasurePatterns
    places: list[SessionPlace] = field(default_factory=list[SessionPlace])
    """The texts that go along."""
    claims: dict[str, None] = field(default_factory=dict[str, None])
    """The claims that say what such a text says: checkpoints are kept in both places."""
    _doubtful: set[str] = field(default_factory=set[str])
    """Sessions with a word that may mean what is erased."""
    _emptied_events: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])
    _last_seqs: dict[str, int] = field(default_factory=dict[str, int])
    """The last event of each session that was looked at."""

    def look_through(self, reader: Reader) -> None:
        """Look at every text of every session."""
        if self._has_patterns:
            for record in reader.records(RecordKind.SESSION_EVENT):
                assert isinstance(record, SessionRecord)
                self._look_at(record)

    def look_at_newer(self, reader: Reader) -> None:
        """Look at what was said since."""
        for summary in reader.sessions() if self._has_patterns else ():
            last_seq = self._last_seqs.get(summary.session, 0)
            if summary.seq > last_seq:
                for record in reader.session_events(summary.session, after=last_seq):
                    self._look_at(record)

    @property
    def sessions(self) -> tuple[str, ...]:
        """Those that repeat what is erased, or may do by name."""
        return tuple(sorted(self._doubtful | {place.session for place in self.places}))

    @property
    def _has_patterns(self) -> bool:
        return bool(self.patterns.selective or self.patterns.common)

    def _look_at(self, record: SessionRecord) -> None:
        self._last_seqs[record.session] = record.seq
        # A model may say the same in other words, so a summary goes with what it was made of.
        sources: set[tuple[str, int]] = set()
        if record.kind == EventKind.SUMMARISED and record.texts:
            sources.update((record.session, seq) for seq in json.loads(record.body)["of"])
        if sources & self._emptied_events:
            self.places.append(SessionPlace(record.session, record.seq, 0))
            self._emptied_events.add((record.session, record.seq))
            return

        for part, text in enumerate(record.texts):
            words = text.text or ""
            if self.patterns.repeats(words):
                self.places.append(SessionPlace(record.session, record.seq, part))
                self._emptied_events.add((record.session, record.seq))
                self.claims.update(dict.fromkeys(_checkpoint_claims(record)))
            elif self.patterns.may_repeat(words):
                self._doubtful.add(record.session)


def session_texts(
    reader: Reader, session: str
) -> tuple[tuple[str, ...], list[SessionPlace], list[str]]:
    """A session with those that began from it, the places of their texts, and checkpoint claims.

    Raises:
        NotFound: `unknown_session`.
    """
    if not reader.session_events(session, until=1):
        raise NotFound(f"there is no session {session!r}", code="unknown_session")

    places: list[SessionPlace] = []
    claims: dict[str, None] = {}
    sessions = _descendants(reader, session)
    for name in sessions:
        for record in reader.session_events(name):
            for part in range(len(record.texts)):
                places.append(SessionPlace(name, record.seq, part))
            claims.update(dict.fromkeys(_checkpoint_claims(record)))
    return sessions, places, list(claims)


def _descendants(reader: Reader, session: str) -> tuple[str, ...]:
    """A session, further ones of its name, and all that were forked or delegated from these."""
    parents: dict[str, set[str]] = {}
    for summary in reader.sessions():
        for record in reader.session_events(summary.session, until=1):
            body = json.loads(record.body)
            origins = {body.get("forked_from"), body.get("parent")}
            parents[summary.session] = {origin for origin in origins if origin}

    name = Scope.parse(session).session or ""
    family = {session: None}
    for relative in sorted(parents):
        is_further = (Scope.parse(relative).session or "").partition(GENERATION)[0] == name
        if is_further and Scope.parse(relative).user == Scope.parse(session).user:
            family[relative] = None
    before = 0
    while len(family) > before:
        before = len(family)
        for relative, origins in sorted(parents.items()):
            if not origins.isdisjoint(family):
                family[relative] = None
    return tuple(family)


def _checkpoint_claims(record: SessionRecord) -> Iterator[str]:
    """The claim that a checkpoint was saved as, while its words still stand."""
    if record.kind == EventKind.CHECKPOINTED and record.texts[0].text is not None:
        claim = json.loads(record.body).get("object")
        if claim:
            yield claim


def empty_texts(
    tx: WriteTx, places: Sequence[SessionPlace], mandate: Mandate, *kinds: EventKind
) -> None:
    """Empty texts and tell each session of it, inside the transaction of an erasure."""
    if not places:
        return

    by_session: dict[str, list[list[int]]] = {}
    for place in places:
        by_session.setdefault(place.session, []).append([place.seq, place.part])

    clock = tx.lock()
    tx.empty_session_texts(places)
    events: list[SessionRecord] = []
    for session, pairs in by_session.items():
        seq = tx.session_head(session).seq
        for kind in kinds:
            seq += 1
            body: dict[str, Any] = {"erased": True} if kind is EventKind.CLOSED else {}
            body |= {"places": pairs} if kind is kinds[0] else {}
            event = SessionRecord(
                session=session,
                seq=seq,
                kind=kind.value,
                actor=mandate.actor,
                last_us=clock.last_us,
                recorded_us=mandate.now_us,
                body=canonical_json(body),
            )
            events.append(event)
    tx.apply(Batch(clock=clock, session_events=tuple(events)))
