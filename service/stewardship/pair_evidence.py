"""What stands around two stored entities: their values, their relations, the scopes they share.

Read once for many entities and weighed by `resolution.attributes` and the model. Only current,
clean facts that the caller may see count, and none whose value is masked for that caller.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...resolution.attributes import compare_attributes
from ...resolution.context import PairContext, PersonContext
from ...resolution.known import Known
from ...schema.answers import EntityView
from ...schema.claim import Version
from ...schema.policy import Policy
from ...schema.principal import TENANT_SCOPE, Principal, Sight
from ...schema.slots import Vocabulary
from ...schema.vocabulary import AttributeKind, JudgementVerdict, Status
from ...store.port.store import Ask, Point, Reader
from ..reading.masking import Mask
from ..reading.view import sight_of


@dataclass(frozen=True, slots=True)
class StatedFacts:
    """What is currently said about a raw entity."""

    count: int = 0
    values: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """The texts of the values, by slot; relations are left out."""
    ends: frozenset[str] = frozenset()
    """Raw ids that its relations lead to."""
    last_tx: int = 0
    """When the latest of it was said; transaction time in microseconds."""

    def __or__(self, addend: StatedFacts) -> StatedFacts:
        values = dict(self.values)
        for slot, texts in addend.values.items():
            values[slot] = values.get(slot, frozenset()) | texts
        last_tx = max(self.last_tx, addend.last_tx)
        return StatedFacts(self.count + addend.count, values, self.ends | addend.ends, last_tx)


@dataclass(frozen=True, slots=True)
class PairVerdicts:
    """What stands between entities already, and where each is named; by raw id."""

    verdicts: Mapping[frozenset[str], JudgementVerdict]
    scopes: Mapping[str, frozenset[str]]

    @classmethod
    def from_known(cls, known: Known, sight: Sight) -> PairVerdicts:
        """What a look-up has brought; names of scopes that the caller may see."""
        verdicts: dict[frozenset[str], JudgementVerdict] = {}
        for row in known.judgements:
            verdicts[frozenset((row.left_id, row.right_id))] = row.verdict

        scopes: dict[str, frozenset[str]] = {}
        for alias in known.aliases:
            if alias.scope_id in sight.scopes:
                before = scopes.get(alias.entity_id, frozenset())
                scopes[alias.entity_id] = before | {alias.scope_id}
        return cls(verdicts, scopes)

    def verdict(self, left: EntityView, right: EntityView) -> JudgementVerdict | None:
        """What was said of any two of their members: that they differ before that it is unsure."""
        verdicts: set[JudgementVerdict] = set()
        for raw in left.members:
            for partner in right.members:
                verdict = self.verdicts.get(frozenset((raw, partner)))
                if verdict is not None:
                    verdicts.add(verdict)

        order = (JudgementVerdict.NON_MATCH, JudgementVerdict.UNSURE)
        return next(filter(verdicts.__contains__, order), None)

    def scopes_of(self, entity: EntityView) -> frozenset[str]:
        """The scopes in which an entity is named."""
        scopes: frozenset[str] = frozenset()
        for member in entity.members:
            scopes |= self.scopes.get(member, frozenset())
        return scopes


def facts_about(
    reader: Reader,
    members: Sequence[str],
    principal: Principal,
    policy: Policy,
    *,
    now_us: int,
) -> dict[str, StatedFacts]:
    """What is said about raw entities, as far as the caller sees it; by raw id."""
    last = reader.clock().last_us
    point = Point(max(now_us, last), last)
    page = reader.versions(
        Ask(subjects=tuple(members)), sight=sight_of(principal, None), point=point
    )
    # What is disputed or set apart is no evidence: nobody knows yet which of it holds.
    clean: list[Version] = []
    for version in page.versions:
        if version.row.look.status is Status.CLEAN:
            clean.append(version)

    facts: dict[str, StatedFacts] = {}
    for version in Mask(principal, policy).without(reader, clean):
        subject = version.details.subject_id
        if subject is not None and version.visible:
            facts[subject] = facts.get(subject, StatedFacts()) | _fact(version)

    return facts


def pair_context(
    left: EntityView,
    right: EntityView,
    facts: Mapping[str, StatedFacts],
    policy: Policy,
    words: Vocabulary,
    *,
    scopes: Iterable[str] = (),
    overlap: int | None = None,
    unsure: bool = False,
) -> PairContext:
    """What is known about two entities beside their names.

    `scopes` are those in which both are named. `overlap` is that of their neighbours in
    thousandths; without it that of the ends of their own relations.
    """
    left_facts, right_facts = facts_of_cluster(left, facts), facts_of_cluster(right, facts)
    kinds = {slot: AttributeKind(kind) for slot, kind in policy.resolution.attributes}
    evidence = compare_attributes(
        _with_identifiers(left, left_facts), _with_identifiers(right, right_facts), kinds
    )
    # Whoever manages somebody is somebody else, whichever of the two says so.
    related = not left_facts.ends.isdisjoint(right.members)
    related |= not right_facts.ends.isdisjoint(left.members)

    return PairContext(
        same_contact=evidence.same_contact,
        attributes=evidence.features,
        attribute_conflict=evidence.conflict,
        single_valued_conflict=_differs_in_one(left_facts, right_facts, words),
        direct_edge=related,
        same_scope=any(scope != TENANT_SCOPE.scope_id for scope in scopes),
        neighbour_overlap=_overlap(left_facts, right_facts) if overlap is None else overlap,
        unsure=unsure,
        person_context=PersonContext.TENANT,
    )


def facts_to_unite(left: EntityView, right: EntityView, facts: Mapping[str, StatedFacts]) -> int:
    """How many facts a merge would settle: those of the entity that has fewer."""
    return min(facts_of_cluster(left, facts).count, facts_of_cluster(right, facts).count)


def facts_of_cluster(entity: EntityView, facts: Mapping[str, StatedFacts]) -> StatedFacts:
    """What is said about all members of an entity."""
    total = StatedFacts()
    for member in entity.members:
        total |= facts.get(member, StatedFacts())
    return total


def _with_identifiers(entity: EntityView, facts: StatedFacts) -> dict[str, frozenset[str]]:
    """The values by slot, an identifier beside the values of a slot of its scheme's name."""
    values = dict(facts.values)
    for scheme, value in entity.identifiers:
        values[scheme] = values.get(scheme, frozenset()) | {value}
    return values


def _differs_in_one(left: StatedFacts, right: StatedFacts, words: Vocabulary) -> bool:
    """Whether both state one value of a slot that has one, and not the same."""
    for slot in left.values.keys() & right.values.keys():
        definition = words.slots.get(slot)
        if definition is None or definition.many:
            continue
        if left.values[slot].isdisjoint(right.values[slot]):
            return True
    return False


def _overlap(left: StatedFacts, right: StatedFacts) -> int:
    union = left.ends | right.ends
    return 1_000 * len(left.ends & right.ends) // len(union) if union else 0


def _fact(version: Version) -> StatedFacts:
    slot, end = version.details.slot, version.details.value_entity_id
    tx = version.row.claim.tx
    if end is not None:
        return StatedFacts(1, ends=frozenset({end}), last_tx=tx)
    if slot is None or version.content is None:
        return StatedFacts(1, last_tx=tx)

    value = json.loads(version.content.value_json)
    text = value if isinstance(value, str) else version.content.value_json
    return StatedFacts(1, {slot: frozenset({text})}, last_tx=tx)
