"""What a person takes back, by what he is known to have said.

A claim that takes back names a value, a thing that some value is about, or only what was said last.
It becomes the claims that it means: those which hold now in the scope in which the person speaks,
so that nobody takes back what another said of him. Nothing is written for what nobody said.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from functools import cache
from typing import Final, NamedTuple

from ...resolution.normalize import sentence_spans
from ...schema.claim import Version, is_turn
from ...schema.interval import INF_US
from ...schema.principal import Scope, Sight
from ...schema.slots import other_words_of_slots
from ...schema.terms import content_terms
from ...schema.values import moment
from ...schema.vocabulary import Op
from ...schema.write import Moment
from ...store.port.records import ScopeTurns
from ...store.port.store import Ask, Point, Reader
from ..backend.caller import Caller
from ..extraction.claims import (
    ANY_SLOT,
    LANGUAGE_FILES,
    LAST_HEARD,
    LAST_SAID,
    ExtractedClaim,
    language_tables,
)
from ..reading.objects import shown_value, values_as_said, visible_rows
from ..reading.view import EntityLike, find, pinned, point_of

_ANSWERS: Final = 8
"""Turns behind the speaker's last one among which an answer to it is looked for."""

_ROUGH: Final = timedelta(days=62)
"""How long before it is told of a change may have come about: "last month" began so long ago."""

KIN_SLOTS: Final = ("partner", "child", "parent", "sibling", "friend", "pet", "manager")
"""Slots whose values are people and animals around somebody."""

_AGENT: Final = "agent://"


class _Known(NamedTuple):
    """What holds of somebody."""

    version: Version
    value: str
    """As people say it: an entity by its name."""


@dataclass(frozen=True, slots=True)
class WithdrawalReader(Caller):
    """Finds what the withdrawals of one caller mean."""

    def meant_claims(
        self, claim: ExtractedClaim, speaker: EntityLike, scope: Scope, said_at: Moment
    ) -> Sequence[ExtractedClaim]:
        """The claims that a withdrawal means; none where nothing such is known."""
        with self._search(scope, said_at) as search:
            members = search.members_of(claim.subject or speaker)
            if not members:
                return ()

            if claim.value in (LAST_SAID, LAST_HEARD):
                known = search.last_said(members, may_be_answered=claim.value == LAST_SAID)
            else:
                known = search.facts_about(members, claim.slot)
            if claim.is_unnamed:
                return _only_one(claim, known, search.point.valid_us)
            facts = _meant_facts(claim, known)

        # A value that held twice is in two rows, and is taken back once.
        claims: dict[ExtractedClaim, None] = {}
        for fact in facts:
            subject_id = fact.version.details.subject_id
            subject = claim.subject if subject_id in members else subject_id
            slot = str(fact.version.details.slot)
            claims[replace(claim, slot=slot, value=fact.value, subject=subject)] = None
        return tuple(claims)

    def was_known(self, claim: ExtractedClaim, speaker: EntityLike, scope: Scope) -> bool:
        """Whether a slot ever had the value of a claim, in the scope of its speaker."""
        with self._search(scope) as search:
            members = search.members_of(claim.subject or speaker)
            known = search.facts_about(members, claim.slot) if members else []
            return any(_means(claim, fact) for fact in known)

    def is_told_of(self, claim: ExtractedClaim, speaker: EntityLike, scope: Scope) -> bool:
        """Whether a speaker said in this scope of the subject of a claim who or how that is."""
        with self._search(scope) as search:
            members = search.members_of(claim.subject or "")
            if not members:
                return False
            if search.facts_about(members, ANY_SLOT):
                return True

            own_ids = search.members_of(speaker)
            kin = search.facts_about(own_ids, *KIN_SLOTS) if own_ids else []
            return any(fact.version.details.value_entity_id in members for fact in kin)

    def is_free(self, name: str, speaker: EntityLike, scope: Scope) -> bool:
        """Whether nobody but the speaker has a name in the scope in which he speaks."""
        with self._search(scope) as search:
            roots, _ = find(search.reader, name, search.sight, search.point.tx_us)
            own, _ = find(search.reader, speaker, search.sight, search.point.tx_us)
            return not roots or set(roots) <= set(own)

    @contextmanager
    def _search(self, scope: Scope, said_at: Moment = None) -> Generator[_Search]:
        with self._reading() as reader:
            point = point_of(pinned(self._backend, self.principal, reader, said_at, None))
            yield _Search(reader, self.principal.sight([scope.scope_id]), point)


class _Search(NamedTuple):
    """A snapshot as one scope sees it."""

    reader: Reader
    sight: Sight
    point: Point

    def members_of(self, entity: EntityLike) -> tuple[str, ...]:
        """The raw ids of an entity; none of a name that means nobody, or several."""
        roots, register = find(self.reader, entity, self.sight, self.point.tx_us)
        return register.members(roots[0]) if len(roots) == 1 else ()

    def facts_about(self, members: Sequence[str], *slots: str) -> list[_Known]:
        """What holds of an entity in some slots, or in any, or did or will hold."""
        asked_slots = () if ANY_SLOT in slots else slots
        return self._facts(Ask(subjects=tuple(members), slots=asked_slots, texts=0, at_valid=False))

    def last_said(self, members: Sequence[str], *, may_be_answered: bool) -> list[_Known]:
        """What holds of the last sentence that somebody said.

        Whoever says that something is not so may mean the answer to it: then it is left alone,
        unless `may_be_answered`.
        """
        versions = self._rows(Ask(subjects=tuple(members), texts=1))
        turns = [version for version in versions if is_turn(version.details)]
        turn = max(turns, key=lambda version: version.turn, default=None)
        if turn is None or turn.content is None:
            return []
        numbers = tuple(range(turn.turn + 1, turn.turn + 1 + _ANSWERS))
        answers = Ask(turns=(ScopeTurns(turn.details.scope.scope_id, numbers),))
        for answer in () if may_be_answered else self._rows(answers):
            if answer.details.source_origin.startswith(_AGENT):
                return []

        text = turn.content.text
        spans = list(sentence_spans(text))
        sentence = text[spans[-1][0] : spans[-1][1]] if spans else text
        known: list[_Known] = []
        sources = (turn.row.claim.object_id,)
        for fact in self._facts(Ask(sources=sources, at_valid=False)):
            if fact.version.content is not None and fact.version.content.text in sentence:
                known.append(fact)
        return known

    def _facts(self, ask: Ask) -> list[_Known]:
        versions = [v for v in self._rows(ask) if v.details.slot and v.row.claim.op is not Op.DENY]
        values = values_as_said(self.reader, versions, self.sight)
        return [_Known(version, str(shown_value(version, values))) for version in versions]

    def _rows(self, ask: Ask) -> list[Version]:
        """The rows in the one scope: what is wider was not said there."""
        page = self.reader.versions(ask, sight=self.sight, point=self.point)
        scopes, rows = self.sight.scopes, visible_rows(page.versions)
        return [version for version in rows if version.details.scope.scope_id in scopes]


def tells_of(claims: Iterable[ExtractedClaim], claim: ExtractedClaim) -> bool:
    """Whether claims of the same text say before a claim who its subject is."""
    name = (claim.subject or "").casefold()
    for earlier in claims:
        if earlier.start >= claim.start or earlier.if_subject_known:
            continue
        is_kin = earlier.slot in KIN_SLOTS and str(earlier.value).casefold() == name
        if is_kin or (earlier.subject or "").casefold() == name:
            return True
    return False


def changed_on(day: datetime | None, began: datetime | None) -> datetime | None:
    """The day from which a change counts that was told of with a day; None is from now on.

    What it changes was told of after that day, as "last month" begins long before it is over, and
    the later word must not lose to the earlier one. What began on a day that was told, or long
    after the change, was not changed by it.
    """
    if day is None or began is None or began.time() == time():
        return day
    return None if day < began <= day + _ROUGH else day


def _only_one(
    claim: ExtractedClaim, known: Sequence[_Known], valid_us: int
) -> Sequence[ExtractedClaim]:
    """The end of the one thing of its kind that holds when somebody says that it is gone.

    Nothing of several, and nothing of what was there only long after the day that he names.
    """
    began: dict[str, datetime | None] = {}
    for fact in known:
        interval, content = fact.version.row.interval, fact.version.content
        quote = "" if content is None else content.text
        if valid_us in interval and may_be_of_kind(str(claim.value), quote):
            began[fact.value] = moment(interval.start_us)
    if len(began) != 1:
        return ()

    ((value, start),) = began.items()
    day = changed_on(claim.valid_from, start)
    if day is not None and start is not None and day < start:
        return ()
    return (replace(claim, value=value, valid_from=day, is_unnamed=False),)


def _meant_facts(claim: ExtractedClaim, known: Sequence[_Known]) -> list[_Known]:
    """The facts that a withdrawal means: those in its very words, else those it has words of."""
    facts = [fact for fact in known if _means(claim, fact)]
    if claim.op == "deny":
        facts = [fact for fact in facts if fact.version.row.interval.end_us == INF_US]
    words = content_terms(str(claim.value))
    exact = [fact for fact in facts if content_terms(fact.value) == words]
    return exact or facts


def _means(claim: ExtractedClaim, fact: _Known) -> bool:
    """Whether a withdrawal means a fact."""
    slot = fact.version.details.slot or ""
    if claim.slot not in (ANY_SLOT, slot):
        return False
    if claim.value in (LAST_SAID, LAST_HEARD):
        return True
    if claim.slot == slot:
        return is_meant(str(claim.value), fact.value)

    # All words of a thing must be the value's, or tell its slot: a trip to Ulm is no home there.
    other_words = other_words_of_slots().get(slot, "")
    topic = content_terms(f"{slot.replace('_', ' ')} {other_words}")
    words = content_terms(str(claim.value)) - topic
    return bool(words) and words <= content_terms(fact.value)


def is_meant(denial: str, known: str) -> bool:
    """Whether a denial means a known value: one says all the words of the other.

    >>> is_meant("westerns", "old western movies"), is_meant("jazz", "techno")
    (True, False)
    """
    words, known_words = content_terms(denial) - _fillers(), content_terms(known) - _fillers()
    return bool(words and known_words) and (words <= known_words or known_words <= words)


@cache
def _fillers() -> frozenset[str]:
    """Words that name no thing of their own: "movies" alone takes no single taste back."""
    texts = [language_tables(name)["classes"]["fillers"] for name in LANGUAGE_FILES]
    return frozenset(content_terms(" ".join(texts)))


def may_be_of_kind(kind: str, quote: str) -> bool:
    """Whether what was said in a quotation may be of a kind: it names it, or no other.

    >>> may_be_of_kind("dog", "We have a cat named Olive"), may_be_of_kind("car", "I drive a Volvo")
    (False, True)
    """
    kinds = _kinds_in(kind)
    quoted_kinds = _kinds_in(quote)
    return not kinds or not quoted_kinds or not kinds.isdisjoint(quoted_kinds)


def _kinds_in(text: str) -> set[int]:
    words = re.findall(r"\w+", text.casefold())
    return {_kind_of()[word] for word in words if word in _kind_of()}


@cache
def _kind_of() -> Mapping[str, int]:
    """The kind of thing that a word means, in any language."""
    kinds: dict[str, int] = {}
    for name in LANGUAGE_FILES:
        for number, words in enumerate(language_tables(name)["withdrawal"]["things"]):
            kinds.update(dict.fromkeys(words.split(), number))
    return kinds
