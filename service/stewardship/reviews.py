"""Grouped reviews: many cases as a few lines, by name, by source, by scope or by reason.

A flood of doubtful names from one source reads as one line, and so do the cases of one name in
many scopes; a group is decided by a bulk decision over its filter. Counting is all that happens
here.

Reviews at the edge: what waits for a person, with everything needed to decide it.

Blocking cases come by priority, impact x uncertainty: facts that wait, times closeness to a
threshold; for whoever may open the prompts of others also times how often those of the last 30 days
read either side. Suggestions and audits are listed apart and close when the pair is judged. A page
shows the evidence line by line, the veto that fired, what a merge would move and which conflicts it
would raise, the surviving id, and the texts that named it. Every decision is one transaction with
an optimistic version, so two people never both decide.

What was ever judged about an entity: merges, also undone ones, and whom it is not.

A verdict names both sides, so it is shown to those alone who may see a name of each.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from operator import attrgetter
from typing import Any

from ...resolution.clusters import WAITING
from ...resolution.names import with_visible_names
from ...schema.answers import EntityView, ReviewReceipt
from ...schema.claim import Version
from ...schema.entity import AUDIT, NAMESAKES, SUGGESTION, Judgement, Review
from ...schema.errors import Conflict, Forbidden, InvalidInput, NotFound
from ...schema.principal import STEWARD, Sight
from ...schema.records import short_repr
from ...schema.slots import Remembered, ReviewKind, ReviewStatus
from ...schema.values import moment, stamp_time
from ...schema.vocabulary import JudgementVerdict, ReviewState, parse
from ...store.operations.change import Mandate
from ...store.operations.review import Remember, accept, open_case, reject, undo, unsure
from ...store.operations.split import claims_about, grouped
from ...store.port.store import Ask, Point, Reader, WriteTx
from ..backend.caller import Caller, argument_checks
from ..reading.entities import described_entity
from ..reading.objects import Mask
from ..reading.view import View, point_of, sight_of, words_of
from .rehearsal import Rehearsals
from .relations import RelationCheck
from .review_page import (
    QueueState,
    Rescoring,
    ReviewPage,
    best_of,
    page_of,
    queue_state,
    text_of,
    with_mention_marked,
)
from .review_queue import (
    AT_ONCE,
    answered_elsewhere,
    case_about,
    cases_without,
    of_kind,
    parts,
    priorities_of,
    states_of,
)
from .visible_cases import renamed_case, visible_cases
from .visible_receipts import VisibleReceipts

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
        oldest = min(map(attrgetter("opened_tx"), group))
        mentions = dict.fromkeys(map(attrgetter("mention"), group))
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


BULK_CAP = 100
"""Most cases of one bulk decision; a larger filter is refused, so that nobody slips."""
_SNIPPETS = 3


@argument_checks
@dataclass(frozen=True, slots=True)
class Reviews(Caller):
    """The review queue of one tenant, as one caller sees it."""

    _view: View

    def list(
        self, status: ReviewStatus = "open", *, kind: ReviewKind = "blocking"
    ) -> tuple[Review, ...]:
        """Return cases, the most pressing first.

        `status` is `open` (with undone ones, and unsure ones about which something was said
        since), `unsure`, `accepted`, `rejected` or `all`; `kind` is `blocking`,
        `possible_same_as`, `audit` or `all`. Evidence that came later counts in the scores.

        Raises:
            InvalidInput: `unknown_vocabulary`.
        """
        return self._ranked(status, kind)

    def _ranked(self, status: str, kind: str, mention: str = "") -> tuple[Review, ...]:
        """The cases of a list, or those of it with one mention, the most pressing first."""
        states = states_of(status)
        if kind not in ("blocking", SUGGESTION, AUDIT, "all"):
            raise InvalidInput(
                f"kind {kind!r}: known: blocking, {SUGGESTION}, {AUDIT}, all",
                code="unknown_vocabulary",
            )

        scopes = frozenset(sight_of(self.principal, None).scopes)
        with self._reading() as reader:
            cases: list[Review] = []
            for state in sorted(states):
                cases += of_kind(reader.reviews(state=state, mention=mention), kind, scopes)
            cases = visible_cases(reader, cases, self.principal)
            # A pair that was judged in another way asks nobody any more.
            cases = cases_without(cases, answered_elsewhere(reader, cases))
            if status in ("open", "unsure"):
                unsure = reader.reviews(state=ReviewState.UNSURE.value, mention=mention)
                unsure_cases = visible_cases(reader, of_kind(unsure, kind, scopes), self.principal)
                cases = [*self._as_of_today(reader, cases, unsure_cases, status)]
            weight = self._priorities(reader, cases)

        return tuple(sorted(cases, key=lambda c: (-weight[c.review_id], c.opened_tx, c.review_id)))

    def _as_of_today(
        self, reader: Reader, cases: Sequence[Review], unsure_cases: Sequence[Review], status: str
    ) -> Sequence[Review]:
        """Waiting cases with the evidence of today; what is unsure no more stands with the open."""
        reopenings: dict[str, Review] = {}
        for part in parts(unsure_cases):
            reopenings |= self._rescoring.with_later_evidence(reader, part)
        if status == "unsure":
            return cases_without(cases, reopenings)

        # The newest ones: what is far behind in the queue is scored when it comes up.
        latest = sorted(cases, key=lambda case: (-case.opened_tx, case.review_id))[:AT_ONCE]
        by_id = self._rescoring.with_later_evidence(reader, latest)
        open_cases = [by_id.get(case.review_id, case) for case in cases]
        return [*open_cases, *reopenings.values()]

    @property
    def _rescoring(self) -> Rescoring:
        now_us = point_of(self._view).valid_us
        return Rescoring(self.principal, self._backend.policy, words_of(self._view), now_us)

    def get(self, review_id: str) -> ReviewPage:
        """Return the page of a case.

        Raises:
            NotFound: `unknown_review`.
        """
        with self._reading() as reader:
            case = self._case(reader, review_id)
            if case.state in WAITING:
                case = self._rescoring.with_later_evidence(reader, [case]).get(review_id, case)
            sight, tx_us = sight_of(self.principal, None), reader.clock().last_us
            subject = described_entity(reader, case.entity_id, sight, tx_us)
            candidates: list[EntityView] = []
            for entry in case.candidates:
                candidates.append(described_entity(reader, entry.entity, sight, tx_us))

            best = best_of(case)
            priority = self._priorities(reader, [case])[review_id]
            snippets = self._snippets(reader, case, subject.members)
            rehearsals = Rehearsals(self._backend, self.principal, self._view)
            impact = rehearsals.impact(reader, case, subject, best) if best else None
            parts = self._parts(reader, case, subject.members)

        bands = self._backend.policy.resolution.of_type(case.type)

        page = page_of(case, bands, subject, candidates, snippets)
        return replace(page, impact=impact, groups=parts, priority=priority)

    def open(self, a: str, b: str, *, reason: str = "") -> Review:
        """Open a case about two stored entities, by their ids, for somebody to decide.

        Where two stewards must agree, this is how two entities become one: each accepts it. It
        is listed as `possible_same_as`; the younger entity is asked about. Asked again while it
        waits, the same case is returned.

        Raises:
            Forbidden: `privilege_required`.
            NotFound: `unknown_entity`, also when one of them may not be seen.
            Conflict: `already_decided` when they are one, or their case has been decided.
        """
        self.principal.require(STEWARD)
        ids = self._view.entity(a).entity_id, self._view.entity(b).entity_id
        with self._reading() as reader:
            known = reader.entities(ids, tx_us=reader.clock().last_us)
            pair = known.entities[ids[0]], known.entities[ids[1]]
            proposal = self._rescoring.with_todays_scores(reader, case_about(*pair))

        case = self._operate(lambda tx, mandate: open_case(tx, proposal, mandate=mandate), reason)
        with self._reading() as reader:
            return renamed_case(reader, case, self.principal)

    def accept(
        self,
        review_id: str,
        *,
        entity: str | None = None,
        remember: Remembered = "scope",
        version: int | None = None,
        reason: str = "",
    ) -> ReviewReceipt:
        """Say that the entity is its best candidate, or `entity`; the merge can be undone.

        `remember`: `scope` (the name keeps meaning it there), `all` scopes, or `no`. Where the
        policy asks for a second steward, the first word is a proposal and the case stays open.

        Raises:
            Forbidden: `privilege_required`, `own_submission`, `second_approval_required`.
            Conflict: `stale_version`, `already_decided`, `existing_non_match`.
            NotFound: `unknown_review`.
        """
        memory_scope = parse(Remember, remember)
        self.principal.require(STEWARD)
        if entity is None:
            # The candidate that a page shows first: later evidence may have changed the scores.
            with self._reading() as reader:
                case = self._case(reader, review_id)
                by_id = (
                    self._rescoring.with_later_evidence(reader, [case])
                    if case.state in WAITING
                    else {}
                )
            best = best_of(by_id[review_id]) if review_id in by_id else None
            entity = best.entity if best else None

        def work(tx: WriteTx, mandate: Mandate) -> ReviewReceipt | Conflict:
            tx.lock()
            case = tx.review(review_id)
            best = best_of(case) if case else None
            target = entity or (best.entity if best else "")
            relations = RelationCheck(self._backend, self.principal)
            warnings = relations.warnings(tx, case.entity_id, target) if case else ()
            receipt = accept(
                tx,
                review_id,
                mandate=mandate,
                policy=self._backend.policy.resolution,
                entity=entity,
                remember=memory_scope,
                version=version,
                alone="owner" in self.principal.roles,
            )
            if isinstance(receipt, Conflict) or receipt.merge is None:
                return receipt
            return replace(receipt, merge=replace(receipt.merge, warnings=warnings))

        return self._decide(review_id, work, reason)

    def reject(
        self,
        review_id: str,
        *,
        parts: Sequence[Sequence[str]] = (),
        version: int | None = None,
        reason: str = "",
    ) -> ReviewReceipt:
        """Say that it is none of its candidates.

        Of namesakes: split the claims between people, by `parts` (object ids) or as they
        contradict each other. Of an audit: take the automatic bind back.

        Raises:
            Forbidden: `privilege_required`, `own_submission`.
            Conflict: `stale_version`, `already_decided`.
            NotFound: `unknown_review`.
        """
        return self._decide(
            review_id,
            lambda tx, mandate: reject(
                tx, review_id, mandate=mandate, version=version, parts=parts
            ),
            reason,
        )

    def unsure(
        self, review_id: str, *, version: int | None = None, reason: str = ""
    ) -> ReviewReceipt:
        """Record that somebody looked and could not say.

        Raises:
            Forbidden: `privilege_required`.
            Conflict: `stale_version`, `already_decided`.
        """
        return self._decide(
            review_id,
            lambda tx, mandate: unsure(tx, review_id, mandate=mandate, version=version),
            reason,
        )

    def undo(
        self, review_id: str, *, version: int | None = None, reason: str = ""
    ) -> ReviewReceipt:
        """Take the last decision back, however long ago it was.

        Raises:
            Forbidden: `privilege_required`.
            Conflict: `stale_version`, `not_decided`, `still_connected`.
        """
        return self._decide(
            review_id,
            lambda tx, mandate: undo(tx, review_id, mandate=mandate, version=version),
            reason,
        )

    def progress(self) -> QueueState:
        """Return how many cases wait since when, and how often the proposal was right."""
        waiting = self.list()
        with self._reading() as reader:
            return queue_state(waiting, visible_cases(reader, reader.reviews(), self.principal))

    def matching(
        self,
        *,
        mention: str | None = None,
        scope: str | None = None,
        type: str | None = None,
        source: str | None = None,
    ) -> tuple[Review, ...]:
        """Return the open blocking cases of an explicit filter: the preview of a bulk decision.

        Raises:
            InvalidInput: `missing_filter` when nothing is stated.
        """
        if mention is None and scope is None and type is None and source is None:
            raise InvalidInput(
                "a bulk decision needs a filter: mention=, scope=, type= or source=",
                code="missing_filter",
            )

        cases = self._ranked("open", "blocking", mention or "")
        origin: Mapping[str, str] = {} if source is None else self._sources(cases)
        return tuple(
            case
            for case in cases
            if mention in (None, case.mention)
            and scope in (None, case.scope_id)
            and type in (None, case.type)
            and source in (None, origin.get(case.review_id))
        )

    def groups(self, by: str = "mention") -> tuple[CaseGroup, ...]:
        """Return the open blocking cases in groups, the largest first.

        `by` is `mention`, `source` (the origin of the write that opened it), `scope`, `type`
        or `reason`.

        Raises:
            InvalidInput: `unknown_vocabulary`.
        """
        if by not in GROUPINGS:
            raise InvalidInput(
                f"group by {by!r}: known: {', '.join(GROUPINGS)}", code="unknown_vocabulary"
            )

        cases = self.list()
        return groups_of(cases, by, self._sources(cases) if by == "source" else {})

    def _sources(self, cases: Sequence[Review]) -> Mapping[str, str]:
        """The origin of the write that opened each case, by review id; unseen ones left out."""
        with self._reading() as reader:
            rows = self._rows_of(reader, sorted({case.object_id for case in cases}))
        # A write that the caller may not see has no origin for him, not an unknown one.
        origins = {r.row.claim.object_id: r.details.source_origin for r in rows if r.visible}
        seen_cases = [case for case in cases if case.object_id in origins]
        return {case.review_id: origins[case.object_id] for case in seen_cases}

    def decide_all(
        self, cases: Sequence[Review], decision: str, *, reason: str = ""
    ) -> tuple[ReviewReceipt, ...]:
        """Decide the cases of a preview alike: `accept`, `reject` or `unsure`, each at its version.

        Raises:
            InvalidInput: `too_large` beyond 100 cases, `unknown_vocabulary`.
            Conflict: `stale_version` at the first case that changed since the preview.
        """
        known: Mapping[str, Callable[..., ReviewReceipt]] = {
            "accept": self.accept,
            "reject": self.reject,
            "unsure": self.unsure,
        }
        if decision not in known:
            raise InvalidInput(
                f"decision {decision!r}: known: {', '.join(known)}", code="unknown_vocabulary"
            )

        if len(cases) > BULK_CAP:
            raise InvalidInput(
                f"{len(cases)} cases in one decision, at most {BULK_CAP}; narrow the filter",
                code="too_large",
            )

        decide = known[decision]

        return tuple(decide(case.review_id, version=case.version, reason=reason) for case in cases)

    def _decide(
        self,
        review_id: str,
        work: Callable[[WriteTx, Mandate], ReviewReceipt | Conflict],
        reason: str,
    ) -> ReviewReceipt:
        self.principal.require(STEWARD)
        with self._reading() as reader:
            self._check_separate(reader, self._case(reader, review_id))

        receipt: ReviewReceipt = self._operate(work, reason)
        return VisibleReceipts(self._backend, self.principal).review(receipt)

    def _check_separate(self, reader: Reader, case: Review) -> None:
        """Refuse a steward's decision on an own submission, unless the policy allows it."""
        user = self.principal.user
        exempt = self._backend.policy.resolution.own_reviews or "owner" in self.principal.roles
        if user is None or exempt:
            return

        # Every version counts: who corrected the claim since has a word in it as well.
        rows = self._rows_of(reader, [case.object_id])
        if any(row.details.actor == user for row in rows):
            raise Forbidden(
                f"{user} submitted what review {case.review_id} is about; another steward "
                "decides it, or policy.resolution.own_reviews allows it",
                code="own_submission",
            )

    def _case(self, reader: Reader, review_id: str) -> Review:
        case = reader.review(review_id)
        cases = [] if case is None else visible_cases(reader, [case], self.principal)
        if not cases:
            raise NotFound(
                f"there is no review {review_id}; list them with `tenure review list --status all` "
                "(reviews.list())",
                code="unknown_review",
            )

        return cases[0]

    def _priorities(self, reader: Reader, cases: Sequence[Review]) -> dict[str, float]:
        bands, now_us = self._backend.policy.resolution, point_of(self._view).valid_us
        return priorities_of(reader, cases, self.principal, bands, now_us=now_us)

    def _parts(
        self, reader: Reader, case: Review, members: Sequence[str]
    ) -> tuple[tuple[str, ...], ...]:
        """How a split would part the claims of namesakes who wait."""
        if case.reason != NAMESAKES or case.state not in WAITING:
            return ()

        # What the caller may not see is in no group, and stays where it is.
        sight = sight_of(self.principal, None)
        claims = [claim for claim in claims_about(reader, members) if claim.is_visible(sight)]
        many_of: dict[str, bool] = {}
        for assertion in claims:
            slot = assertion.details.slot
            if slot is not None:
                many_of[assertion.claim.slot_key] = words_of(self._view).slot(slot).many
        return grouped(claims, many_of)

    def _snippets(self, reader: Reader, case: Review, members: Sequence[str]) -> tuple[str, ...]:
        """Return the texts about the entity and the one that named it, dated and marked."""
        by_subject = Ask(subjects=tuple(members), heads=False, at_valid=False)
        by_object = Ask(objects=(case.object_id,), heads=False, at_valid=False)
        point = Point(point_of(self._view).valid_us, reader.clock().last_us)
        sight = sight_of(self.principal, None)
        mask = Mask(self.principal, self._backend.policy)
        versions: dict[int, Version] = {}
        for ask in (by_object, by_subject):
            page = reader.versions(ask, sight=sight, point=point)
            for version in mask.over(reader, page.versions):
                versions[version.row.vid] = version

        # The newest first; what two versions say in the same words is told once.
        texts: dict[str, None] = {}
        for _, version in sorted(versions.items(), reverse=True):
            words = text_of(version)
            if version.visible and words:
                said_at, origin = stamp_time(version.row.claim.tx), version.details.source_origin
                quotation = with_mention_marked(words, case.mention)
                texts[f"{origin} {said_at.date()}: {quotation}"] = None
        return tuple(texts)[:_SNIPPETS]


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
