"""New evidence: what was said of both sides of a case since it was opened, or was called unsure.

A case keeps the score that it was opened with. What is written later about either side (a value,
a relation, a name, an identifier) may speak for the pair or against it, so a case with later
evidence is scored anew whenever it is read, and one that somebody called unsure is asked again.
Nothing is written: a decision states the candidate that its page has shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ...resolution.known import Known
from ...resolution.look_alike import LOOK_ALIKE
from ...resolution.names import with_visible_aliases, with_visible_identifiers
from ...resolution.renderings import RENDERING
from ...resolution.resemblance import SHORT_FORM
from ...resolution.score import MARGIN_SCORE
from ...resolution.short_names import SHORT_NAME
from ...resolution.vetoes import VetoCode
from ...schema.answers import EntityView
from ...schema.entity import NAMESAKES, Alias, EntityCandidate, Identifier, Review
from ...schema.policy import Policy
from ...schema.principal import Principal
from ...schema.slots import Vocabulary
from ...schema.vocabulary import JudgementVerdict, ReviewState
from ...store.port.store import Reader
from ..reading.entity_views import entity_views
from ..reading.view import sight_of
from .comparing import comparison_of
from .pair_evidence import PairVerdicts, StatedFacts, facts_about, facts_of_cluster, pair_context

_OF_THE_LIST = (VetoCode.MARGIN.value, VetoCode.CHAIN.value)
"""Vetoes that follow from the other candidates, which a pair alone cannot know."""
_RESEMBLANCES = (LOOK_ALIKE, RENDERING, SHORT_FORM, SHORT_NAME)
"""Lines of the names that no score has."""


@dataclass(frozen=True, slots=True)
class Rescoring:
    """Scores waiting cases anew, as one caller sees what was said."""

    principal: Principal
    policy: Policy
    words: Vocabulary
    now_us: int

    def with_later_evidence(self, reader: Reader, cases: Sequence[Review]) -> dict[str, Review]:
        """The cases with later evidence, their candidates scored by all of it; by review id."""
        asked_cases: list[Review] = []
        for case in cases:
            # Namesakes are a question about claims, which no score of names answers.
            if case.reason != NAMESAKES and case.candidates:
                asked_cases.append(case)
        if not asked_cases:
            return {}

        sides = self._sides(reader, asked_cases)
        by_id: dict[str, Review] = {}
        for case in asked_cases:
            subject = sides.view(case.entity_id)
            if subject is None or not sides.has_news(case):
                continue
            candidates = self._rescored_candidates(subject, case, sides)
            candidates.sort(key=lambda entry: (-entry.score, -entry.log_odds, entry.entity))
            by_id[case.review_id] = replace(case, candidates=tuple(candidates))
        return by_id

    def with_todays_scores(self, reader: Reader, case: Review) -> Review:
        """A case with its candidates scored by all that is known, whenever it was said."""
        sides = self._sides(reader, [case])
        subject = sides.view(case.entity_id)
        if subject is None:
            return case
        return replace(case, candidates=tuple(self._rescored_candidates(subject, case, sides)))

    def _rescored_candidates(
        self, subject: EntityView, case: Review, sides: _Sides
    ) -> list[EntityCandidate]:
        candidates: list[EntityCandidate] = []
        for entry in case.candidates:
            candidates.append(self._candidate(subject, entry, sides))
        return candidates

    def _sides(self, reader: Reader, cases: Iterable[Review]) -> _Sides:
        ids: set[str] = set()
        for case in cases:
            ids.update(_sides_of(case))

        tx_us, sight = reader.clock().last_us, sight_of(self.principal, None)
        known = reader.entities(sorted(ids), tx_us=tx_us)
        # A name that the caller may not see is no news to it, nor is that there is one.
        name_rows = reader.name_rows(sorted(known.entities), tx_us=tx_us)
        known = with_visible_aliases(with_visible_identifiers(known, sight), name_rows, sight)
        roots: set[str] = set()
        for raw in ids:
            root = known.canonical.get(raw, raw)
            # An erased side is in no answer; its case stays as it was opened.
            if root in known.entities:
                roots.add(root)

        views: dict[str, EntityView] = {}
        members: list[str] = []
        for view in entity_views(reader, known, sorted(roots), sight, tx_us):
            views[view.entity_id] = view
            members += view.members
        facts = facts_about(reader, members, self.principal, self.policy, now_us=self.now_us)
        return _Sides(known, views, facts, PairVerdicts.from_known(known, sight))

    def _candidate(
        self, subject: EntityView, candidate: EntityCandidate, sides: _Sides
    ) -> EntityCandidate:
        """A candidate with the score of today; as it was where nothing can be compared."""
        partner = sides.view(candidate.entity)
        if partner is None or partner.entity_id == subject.entity_id:
            return candidate

        verdicts = sides.verdicts
        context = pair_context(
            subject,
            partner,
            sides.facts,
            self.policy,
            self.words,
            scopes=verdicts.scopes_of(subject) & verdicts.scopes_of(partner),
            unsure=verdicts.verdict(subject, partner) is JudgementVerdict.UNSURE,
        )
        bands = self.policy.resolution
        score = comparison_of(subject, partner, context=context, bands=bands).candidate
        # What the other candidates, or the look of the names, once said is not said by a pair.
        kept_vetoes = tuple(filter(_OF_THE_LIST.__contains__, candidate.vetoes))
        kept_lines = [line for line in candidate.features if line.name in _RESEMBLANCES]
        return replace(
            score,
            score=min(score.score, MARGIN_SCORE) if kept_vetoes else score.score,
            source=candidate.source,
            features=(*score.features, *kept_lines),
            vetoes=(*score.vetoes, *kept_vetoes),
        )


@dataclass(frozen=True, slots=True)
class _Sides:
    """What is known about the entities of some cases."""

    known: Known
    views: Mapping[str, EntityView]
    facts: Mapping[str, StatedFacts]
    verdicts: PairVerdicts

    def view(self, raw: str) -> EntityView | None:
        return self.views.get(self.known.canonical.get(raw, raw))

    def has_news(self, case: Review) -> bool:
        """Whether anything was said of either side since the case was opened, or looked at."""
        looked_at = case.opened_tx
        if case.state is ReviewState.UNSURE and case.decided_tx is not None:
            looked_at = case.decided_tx

        members: set[str] = set()
        for raw in _sides_of(case):
            entity = self.view(raw)
            if entity is None:
                continue
            if facts_of_cluster(entity, self.facts).last_tx > looked_at:
                return True
            members.update(entity.members)

        # A name or an identifier that was taught later is evidence as much as a fact.
        name_rows: tuple[Alias | Identifier, ...] = (*self.known.aliases, *self.known.identifiers)
        return any(row.entity_id in members and row.tx_start > looked_at for row in name_rows)


def _sides_of(case: Review) -> list[str]:
    """The raw ids that a case is about: its entity, then its candidates."""
    ids = [case.entity_id]
    for candidate in case.candidates:
        ids.append(candidate.entity)
    return ids
