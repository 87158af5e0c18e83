"""Binding: from one mention to an entity, before anything is written.

An entity id or an identifier decides. An exact alias that is unique in what the caller may
see binds at once. Several entities of one name are never chosen between: a pending entity is
made and a person is asked. Everything else is scored by a `Scorer`, if one is given, and is
a new entity otherwise. A conflicting identifier of one scheme excludes a candidate before
any name counts, and leaves a suggestion if the names are equal. Pure: decides over a
`Register`, filled by one look-up.

`docs/design/resolution.md`; checklist C-049 to C-052, C-055.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from ..schema.entity import (
    Alias,
    Entity,
    EntityCandidate,
    EntityRef,
    Feature,
    Resolution,
)
from ..schema.errors import Conflict, NotFound
from ..schema.policy import ResolutionPolicy
from ..schema.principal import TENANT_SCOPE
from ..schema.slots import compatible
from ..schema.vocabulary import CandidateSource, Decision, EntityState, JudgedBy, JudgementVerdict
from .attributes import repeatable_schemes
from .exclusion import with_excluded
from .keys import MentionOrId, alias_key, as_ref, is_id
from .known import FamilyName, Lookup, NearTest
from .register import Register, Rules

_SHORT_NAME_WORDS = 4
_SHORT_WORD_LETTERS = 4
_WEAKEST = 4
SCORE_REASON = "scored"
"""The reason of a decision that names and context made, not an equal key."""
UNTRUSTED_ALIAS: Final = "untrusted_alias"
"""The reason of a question about a name that only pages and tools have used."""
_VETOES: Final = ("person_without_context", UNTRUSTED_ALIAS)
"""Reasons that keep an equal name from binding, and are told as vetoes."""

_NO_CANDIDATE = Resolution(decision=Decision.NEW, entity=None, score=0.0, reason="no_candidate")


class Scorer(Protocol):
    """Scores what an exact look-up could not decide."""

    def keys(self, mention: EntityRef) -> tuple[tuple[str, int], ...]:
        """Blocking keys with their weights in thousandths."""
        ...

    def near(self, mention: EntityRef) -> NearTest:
        """What tells which stored names are worth scoring against a mention."""
        ...

    def family(self, mention: EntityRef, bands: ResolutionPolicy) -> FamilyName | None:
        """The family name whose bearers are to be counted; None of what is no person."""
        ...

    def stored_keys(self, surface: str, entity_type: str) -> tuple[tuple[str, str], ...]:
        """The (blocking key, kind) pairs under which a new alias is found."""
        ...

    def judge(self, mention: EntityRef, known: Register, rules: Rules) -> Resolution:
        """Bind, review or new, with the evidence; `entity` is canonical, None but for a bind."""
        ...

    def doubts(
        self, mention: EntityRef, raw: str, outcome: Resolution, known: Register, rules: Rules
    ) -> tuple[Doubt, ...]:
        """The automatic binds that a name under review, now `raw`, has made ambiguous."""
        ...


@dataclass(frozen=True, slots=True)
class Doubt:
    """An automatic bind that would have been a question, had a later name been there."""

    entity_id: str
    """The raw id that was bound."""
    bound_to: EntityCandidate
    """Its entity, with the score of the judgement."""
    rival: EntityCandidate
    """The later name."""


def fuzzy_lookup(mention: EntityRef, scorer: Scorer, bands: ResolutionPolicy) -> Lookup:
    """Everything that scoring a mention may need beyond its exact look-up."""
    return Lookup(
        norms=tuple(sorted(short_words(mention))),
        block_keys=scorer.keys(mention),
        limit=bands.max_candidates,
        near=scorer.near(mention),
        family=scorer.family(mention, bands),
    )


def short_words(mention: EntityRef) -> list[str]:
    """The words of a thing's name that may each be what something is called for short.

    >>> short_words(EntityRef(name="PG cluster", type="system"))
    ['pg']
    """
    words = alias_key(mention.name).split()
    if mention.type == "person" or not 1 < len(words) <= _SHORT_NAME_WORDS:
        return []
    return [word for word in words if 1 < len(word) <= _SHORT_WORD_LETTERS]


def needs_scoring(mention: MentionOrId, known: Register, rules: Rules) -> bool:
    """Whether a mention is decided by no id, identifier or alias of a register."""
    if isinstance(mention, str) and is_id(mention):
        return False

    ref = as_ref(mention)
    try:
        if _by_identifier(ref, known, rules):
            return False
    except Conflict:
        return False  # a person has to say which is right

    for name, source in _names(ref):
        reading = _read_alias(alias_key(name), source, ref, known, rules)
        if reading is not None:
            return reading.reason == UNTRUSTED_ALIAS
    return True


def bind(
    mention: MentionOrId, known: Register, rules: Rules, scorer: Scorer | None = None
) -> Resolution:
    """What a mention is bound to, without changing anything.

    `entity` is a raw id when the decision is `bind`, and the canonical id to join when the
    reason is `scored`; a pending entity that waits under the same name in the same scope is
    reused, with the decision `review`.

    Raises:
        NotFound: `unknown_entity` for an id that names nothing.
        Conflict: `identifier_conflict` when identifiers name different entities.
    """
    if isinstance(mention, str) and is_id(mention):
        return _by_id(mention, known)

    ref = as_ref(mention)
    by_identifier = _by_identifier(ref, known, rules)
    if by_identifier:
        return by_identifier

    for name, source in _names(ref):
        resolution = _by_alias(alias_key(name), source, ref, known, rules)
        if resolution and resolution.reason == UNTRUSTED_ALIAS:
            return _judged_alias(resolution, ref, known, rules, scorer)
        if resolution:
            return resolution

    resolution = _NO_CANDIDATE
    if scorer:
        resolution = scorer.judge(ref, known, rules)
    if resolution.decision is Decision.NEW and ref.external_ids:
        schemes_of = _excluded_namesakes(ref, known, rules)
        return with_excluded(resolution, schemes_of, ref, known, rules)

    return resolution


def _excluded_namesakes(
    ref: EntityRef, known: Register, rules: Rules
) -> dict[str, tuple[str, ...]]:
    """The entities of a mention's very name, with the schemes by which it cannot be one of them."""
    schemes_of: dict[str, tuple[str, ...]] = {}
    for alias in known.named(alias_key(ref.name)):
        root = known.entity(known.root(alias.entity_id))
        is_live = root is not None and root.state is EntityState.ACTIVE
        if root is None or not is_live or not _is_of_kind(alias, ref, known, rules):
            continue
        schemes_of[root.entity_id] = excluding_schemes(ref, root.entity_id, known, rules)
    return schemes_of


def _by_id(entity_id: str, known: Register) -> Resolution:
    if known.entity(entity_id) is None:
        raise NotFound(
            f"there is no entity {entity_id}; "
            "name it, or look it up with `tenure entities` (entities.list())",
            code="unknown_entity",
            entity=entity_id,
        )

    return _bound_to(entity_id, "entity_id", known)


def _by_identifier(ref: EntityRef, known: Register, rules: Rules) -> Resolution | None:
    if not ref.external_ids:
        return None

    owners: dict[str, str] = {}
    identifiers: dict[str, str] = {}
    shows = rules.identifier_test(known)
    for scheme, value in sorted(ref.external_ids.items()):
        for raw in known.owners(scheme, value, shows):
            owners[known.root(raw)] = raw
            identifiers[known.root(raw)] = f"{scheme}={value}"

    # Two registers disagree, or two people share a number: no score may choose between them.
    if len(owners) > 1:
        owner_list = ", ".join(identifiers.values())
        raise Conflict(
            f"the identifiers of {ref.name!r} name different entities ({owner_list}); "
            "state the right ones, or let a steward merge the entities",
            code="identifier_conflict",
            entities=sorted(owners),
        )

    owner = next(iter(owners.values()), None)
    return _bound_to(owner, "same_identifier", known) if owner else None


def excluding_schemes(
    ref: EntityRef, entity_id: str, known: Register, rules: Rules
) -> tuple[str, ...]:
    """The schemes that give one value alone, and under which mention and entity have others.

    Several e-mail addresses, phones, handles or domains speak against nobody.
    """
    if not ref.external_ids:
        return ()

    repeatable = repeatable_schemes(rules.bands.attributes)
    stored_values = known.held(entity_id, rules.identifier_test(known))
    schemes: list[str] = []
    for scheme, value in sorted(ref.external_ids.items()):
        if scheme not in repeatable and value not in stored_values.get(scheme, (value,)):
            schemes.append(scheme)
    return tuple(schemes)


def _names(ref: EntityRef) -> list[tuple[str, CandidateSource]]:
    names = [(ref.name, CandidateSource.EXACT)]
    for alias in ref.aliases:
        names.append((alias, CandidateSource.ALIAS))
    return names


class _AliasReading(NamedTuple):
    """What the stored names of one key say about a mention, before the evidence is written."""

    entity: str | None
    """The raw id that is bound, or that waits under the name."""
    reason: str
    roots: list[str]
    """Canonical ids that the name means."""
    binds: bool = False


def _by_alias(
    norm: str,
    source: CandidateSource,
    ref: EntityRef,
    known: Register,
    rules: Rules,
) -> Resolution | None:
    reading = _read_alias(norm, source, ref, known, rules)
    if reading is None:
        return None
    if reading.binds and reading.entity is not None:
        return _bound_to(reading.entity, reading.reason, known)
    return _left_to_review(reading.entity, reading.reason, reading.roots, known, source)


def _read_alias(
    norm: str,
    source: CandidateSource,
    ref: EntityRef,
    known: Register,
    rules: Rules,
) -> _AliasReading | None:
    hits: list[Alias] = []
    settled_hits: list[Alias] = []
    local_cases: list[Alias] = []
    for alias in known.named(norm):
        if not _may_mean(alias, ref, known, rules):
            continue
        hits.append(alias)
        # A pending entity is nobody yet, so its name counts apart from the settled ones.
        if not _pending(alias, known):
            settled_hits.append(alias)
        elif alias.scope_id == rules.scope_id:
            local_cases.append(alias)
    roots = sorted({known.root(alias.entity_id) for alias in settled_hits})

    # One case a name and scope: whoever comes second waits for the same decision.
    if local_cases and (source is CandidateSource.EXACT or not roots):
        first = min(local_cases, key=_age)
        return _AliasReading(first.entity_id, "pending", roots)

    if not roots:
        return None

    if len(roots) > 1:
        return _AliasReading(None, "ambiguous", roots)

    if not any(is_trusted(alias, known, rules) for alias in settled_hits):
        return _AliasReading(None, UNTRUSTED_ALIAS, roots)
    if not _has_context(ref, hits, known, rules):
        return _AliasReading(None, "person_without_context", roots)

    first = min(settled_hits, key=_age)
    return _AliasReading(first.entity_id, source.value, roots, binds=True)


def _judged_alias(
    question: Resolution, ref: EntityRef, known: Register, rules: Rules, scorer: Scorer | None
) -> Resolution:
    """Bind what binds by the trusted names too; of anything else a person is asked."""
    if scorer is None:
        return question

    judgement = scorer.judge(ref, known, rules)
    if judgement.decision is not Decision.BIND:
        return question
    for candidate in question.candidates:
        if candidate.entity == judgement.entity:
            return judgement
    return question


def is_trusted(alias: Alias, known: Register, rules: Rules) -> bool:
    """Whether a name may bind this write to its entity.

    Whatever a page or a tool calls somebody is an alias at once, if only of the entity that it
    was joined to. It binds what pages and tools write; of a stronger writer a person is asked.
    The entity's own name is no alias, and whom a person joined to it bears its name by right.
    """
    writer = rules.authority
    if writer is None or writer >= _WEAKEST or known.taught_level(alias) < _WEAKEST:
        return True
    if alias.merge_id is not None:
        return True  # whoever accepted a review has said so

    root = known.root(alias.entity_id)
    entity = known.entity(root)
    is_own = entity is not None and alias.norm == alias_key(entity.name)
    return is_own or _joined_by_person(alias.entity_id, root, known)


def _joined_by_person(raw: str, root: str, known: Register) -> bool:
    for judgement in known.rows_between(known.members(root)):
        is_match = judgement.verdict is JudgementVerdict.MATCH
        ends = (judgement.left_id, judgement.right_id)
        if is_match and judgement.judged_by is JudgedBy.HUMAN and raw in ends:
            return True
    return False


def _may_mean(alias: Alias, ref: EntityRef, known: Register, rules: Rules) -> bool:
    fits = _is_of_kind(alias, ref, known, rules)
    return fits and not excluding_schemes(ref, alias.entity_id, known, rules)


def _is_of_kind(alias: Alias, ref: EntityRef, known: Register, rules: Rules) -> bool:
    return rules.shows(alias, known) and compatible(ref.type, _known_type(alias, known))


def _has_context(ref: EntityRef, hits: Sequence[Alias], known: Register, rules: Rules) -> bool:
    """Whether an equal name is enough: a person's may need more than the tenant."""
    types = {ref.type} | {_known_type(alias, known) for alias in hits}
    person = "person" in types
    if not person or rules.bands.person_context_scope == "tenant":
        return True
    scopes = {alias.scope_id for alias in hits} - {TENANT_SCOPE.scope_id}
    return rules.scope_id in scopes


def _known_type(alias: Alias, known: Register) -> str:
    entity = known.entity(alias.entity_id)
    return entity.type if entity else alias.type


def _pending(alias: Alias, known: Register) -> bool:
    entity = known.entity(alias.entity_id)
    return (
        entity is not None
        and entity.state is EntityState.PENDING
        and known.root(alias.entity_id) == alias.entity_id
    )


def _age(alias: Alias) -> tuple[int, str]:
    return alias.tx_start, alias.entity_id


def _bound_to(entity: str, reason: str, known: Register) -> Resolution:
    """A mention is this entity; one that waits for a person itself is left to that decision."""
    root = known.entity(known.root(entity))
    pending = root is not None and root.state is EntityState.PENDING
    return Resolution(
        decision=Decision.REVIEW if pending else Decision.BIND,
        entity=entity,
        score=1.0,
        reason=reason,
        candidates=_candidates([known.root(entity)], known, CandidateSource.IDENTIFIER, reason),
    )


def _left_to_review(
    entity: str | None,
    reason: str,
    roots: Sequence[str],
    known: Register,
    source: CandidateSource,
) -> Resolution:
    """A person decides which of these entities a mention is, if any."""
    return Resolution(
        decision=Decision.REVIEW,
        entity=entity,
        score=0.94,
        reason=reason,
        candidates=_candidates(roots, known, source, reason),
    )


# Names and ids that are equal are certain or not at all, so their scores are fixed here; what names
# and context make likely is scored by `scorer`.


def _candidates(
    roots: Sequence[str], known: Register, source: CandidateSource, reason: str
) -> tuple[EntityCandidate, ...]:
    entities = filter(None, map(known.entity, roots))
    return tuple([_candidate(entity, source, reason) for entity in entities])


def _candidate(entity: Entity, source: CandidateSource, reason: str) -> EntityCandidate:
    certain = reason not in ("ambiguous", "pending", *_VETOES)
    return EntityCandidate(
        entity=entity.entity_id,
        name=entity.name,
        score=1.0 if certain else 0.94,
        log_odds=13.8 if certain else 2.752,
        source=source,
        features=(Feature(source.value, 1.0, 0.0, f"equal name or id: {entity.name}"),),
        vetoes=() if certain else (reason if reason in _VETOES else "margin",),
    )
