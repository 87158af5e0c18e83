"""Binding: decide which entity a mention means, before anything is written. Pure.

An entity id or an identifier decides. An exact alias binds at once if it is unique in what the
caller may see. If several entities have the name, none is chosen: a pending entity is made and a
person is asked. Everything else is scored by a `Scorer`, if there is one, and is a new entity
otherwise. A conflicting identifier of one scheme excludes a candidate before any name counts, and
leaves a suggestion if the names are equal. All reads come from a `Register` filled by one look-up.

`locate` finds the entity that a reader means, by id, identifier or exact visible alias. It never
scores or guesses. It does not fall back to the name if an identifier is unknown or conflicts, and
it also answers for a pending entity. `docs/design/resolution.md`; checklist C-049 to C-052, C-055.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Protocol

from ..schema.entity import (
    Alias,
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
from .compare import measure
from .identifiers import (
    UNLIKE_NAME,
    StatedIdentifier,
    Weighed,
    excluded_line,
    excluding_schemes,
    holders_of,
    is_exact,
    other_type_lines,
    stated_identifiers,
    weigh,
    with_hints,
)
from .keys import MentionOrId, alias_key, as_ref, former_name_of, is_id
from .known import FamilyName, Lookup, NearTest
from .names import short_id
from .normalize import form_of
from .register import Register, Rules

_SHORT_NAME_WORDS = 4
_SHORT_WORD_LETTERS = 4
_WEAKEST = 4
_ALIKE_OSA = 400
"""Edit similarity from which two names may be spellings of one."""
SCORE_REASON = "scored"
"""The reason of a decision that names and context made, not an equal key."""
SAME_IDENTIFIER: Final = "same_identifier"
"""The reason of a bind that an identifier decided."""
UNTRUSTED_ALIAS: Final = "untrusted_alias"
"""The reason of a question about a name that only pages and tools have used."""
NOTHING_AGREES: Final = "nothing_agrees"
"""The reason of a question about an equal name, where both sides state what does not meet."""
ALIASES_DIFFER: Final = "aliases_differ"
"""The reason of a question about a mention whose names belong to several entities."""
COMMON_NAME: Final = "common_name"
"""The reason of a question about a record's name, where many have the family name."""
_NO_CONTEXT: Final = "person_without_context"
_CONTRADICTED: Final = (ALIASES_DIFFER, COMMON_NAME, NOTHING_AGREES, UNLIKE_NAME)
_VETOES: Final = (*_CONTRADICTED, _NO_CONTEXT, UNTRUSTED_ALIAS)
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

    reading = _read_name(_under_known_name(ref, known, rules), known, rules)
    return reading is None or reading.reason == UNTRUSTED_ALIAS


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

    resolution = _by_name(ref, known, rules, scorer)
    if resolution.decision is Decision.REVIEW:
        return resolution

    owners = alias_owners(ref, resolution.entity, known, rules)
    meant = [known.root(resolution.entity)] if resolution.entity else []
    named = sorted(frozenset[str]().union(*owners.values()))
    roots = [r for r in named if not any(are_apart(r, one, known, rules) for one in meant)]
    if len(meant) + len(roots) > 1:
        # Two that are known bear names of one mention: no order of the list may choose.
        return _left_to_review(None, ALIASES_DIFFER, [*meant, *roots], known, CandidateSource.ALIAS)
    if resolution.decision is not Decision.NEW:
        return resolution

    hints: dict[str, tuple[Feature, ...]] = {}
    if ref.external_ids or rules.evidence:
        hints = other_type_lines(ref, known, rules) | _excluded_namesakes(ref, known, rules)
    for root in roots:
        (name,) = [name for name, named_roots in owners.items() if root in named_roots][:1]
        hints[root] = (Feature("alias", 1.0, 0.0, f"the mention has this alias: {name!r}"),)
    return with_hints(resolution, hints, known, rules)


def _under_known_name(ref: EntityRef, known: Register, rules: Rules) -> EntityRef:
    """A mention under its own name, or under a stated alias where that alone is known, of one."""
    if not ref.aliases or any(
        _named_evidence(a, ref, known, rules) is not None for a in known.named(alias_key(ref.name))
    ):
        return ref
    owners = alias_owners(ref, None, known, rules)
    if len(frozenset[str]().union(*owners.values())) != 1:
        return ref
    (alias, *_) = owners
    # Two people may have the same birth name, so a former name alone binds nobody.
    return ref if alias == former_name_of(ref.name, ref.type) else replace(ref, name=alias)


def _by_name(ref: EntityRef, known: Register, rules: Rules, scorer: Scorer | None) -> Resolution:
    """What a mention's name decides, or its one known alias: an equal one, else the score."""
    known_ref = _under_known_name(ref, known, rules)
    reading = _read_name(known_ref, known, rules, scorer)
    if reading is None:
        return scorer.judge(ref, known, rules) if scorer else _NO_CANDIDATE
    source = CandidateSource.EXACT if known_ref is ref else CandidateSource.ALIAS
    if reading.entity is not None and not reading.reason:
        return _bound_to(reading.entity, source.value, known)

    question = _left_to_review(reading.entity, reading.reason, reading.roots, known, source)
    if reading.reason != UNTRUSTED_ALIAS or scorer is None:
        return question

    # What binds by the trusted names too is bound; of anything else a person is asked.
    judgement = scorer.judge(ref, known, rules)
    is_bound = judgement.decision is Decision.BIND and judgement.entity in reading.roots
    return judgement if is_bound else question


def are_apart(left: str, right: str, known: Register, rules: Rules) -> bool:
    """Whether two stored entities were judged to be two, or a register numbers them apart."""
    rows = known.rows_between((*known.members(left), *known.members(right)))
    if any(row.verdict is not JudgementVerdict.MATCH for row in rows):
        return True
    external_ids = known.external_ids(left, rules.identifier_test(known))
    numbers = EntityRef(name="-", external_ids=external_ids)
    return bool(excluding_schemes(numbers, right, known, rules))


def alias_owners(
    ref: EntityRef, own: str | None, known: Register, rules: Rules
) -> dict[str, frozenset[str]]:
    """The settled entities, other than its own, that the aliases of a mention name.

    An alias that its own entity has as well is no sign of another one.
    """
    owners: dict[str, frozenset[str]] = {}
    for name in ref.aliases:
        roots: set[str] = set()
        for alias in known.named(alias_key(name)):
            if _pending(alias, known) or _named_evidence(alias, ref, known, rules) is None:
                continue
            if is_trusted(alias, known, rules):
                roots.add(known.root(alias.entity_id))
        if roots and (own is None or known.root(own) not in roots):
            owners[name] = frozenset(roots)
    return owners


def _excluded_namesakes(
    ref: EntityRef, known: Register, rules: Rules
) -> dict[str, tuple[Feature, ...]]:
    """The entities of a mention's very name, with the evidence why it cannot be one of them."""
    hints: dict[str, tuple[Feature, ...]] = {}
    for alias in known.named(alias_key(ref.name)):
        root = known.entity(known.root(alias.entity_id))
        is_live = root is not None and root.state is EntityState.ACTIVE
        if root is None or not is_live or not _is_of_kind(alias, ref, known, rules):
            continue
        hints[root.entity_id] = excluded_line(ref, root, known, rules)
    return hints


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
    """What the hard identifiers of a mention decide; nothing across incompatible types."""
    owners: dict[str, str] = {}
    identifiers: dict[str, str] = {}
    waiting: dict[str, str] = {}
    exact = False
    for row in stated_identifiers(ref, rules.bands.attributes):
        if row.kind is not None:
            continue
        holders: dict[str, str] = {}
        for root, raw in holders_of(row, known, rules).items():
            entity = known.entity(root)
            if entity is None or not compatible(ref.type, entity.type):
                continue
            settled = entity.state is not EntityState.PENDING
            (holders if settled else waiting)[root] = raw
        # A person has kept apart two who have one number: then the name says which is meant.
        namesakes = {root: raw for root, raw in holders.items() if not is_unlike(ref, root, known)}
        owners |= namesakes if len(namesakes) == 1 else holders
        exact |= bool(holders) and is_exact(row.scheme)
        identifiers |= dict.fromkeys(holders, f"{row.scheme}={row.value}")

    # Two registers disagree, or two people share a number: no score may choose between them.
    if len(owners) > 1:
        owner_list = ", ".join(identifiers[root] for root in owners)
        raise Conflict(
            f"the identifiers of {ref.name!r} name different entities ({owner_list}); "
            "state the right ones, or let a steward merge the entities",
            code="identifier_conflict",
            entities=sorted(owners),
        )

    if not owners:
        own_case = _waiting_as(ref, waiting, known) or next(iter(waiting.values()), None)
        return _bound_to(own_case, SAME_IDENTIFIER, known) if own_case else None

    ((root, raw),) = owners.items()
    is_doubtful = not exact and is_unlike(ref, root, known)
    if not is_doubtful or weigh(ref, root, known, rules).agrees:
        return _bound_to(raw, SAME_IDENTIFIER, known)

    own_case = _waiting_as(ref, waiting, known)
    if own_case:
        return _bound_to(own_case, SAME_IDENTIFIER, known)
    return _left_to_review(None, UNLIKE_NAME, [root], known, CandidateSource.IDENTIFIER)


def _waiting_as(ref: EntityRef, waiting: Mapping[str, str], known: Register) -> str | None:
    """The pending entity that waits under a mention's very name."""
    for root, raw in sorted(waiting.items()):
        entity = known.entity(root)
        if entity is not None and alias_key(entity.name) == alias_key(ref.name):
            return raw
    return None


def is_unlike(ref: EntityRef, root: str, known: Register) -> bool:
    """Whether no word, nickname or acronym of a mention is any of an entity's names.

    Names of two scripts are not compared: how one is read in the other is no evidence.
    """
    members = known.members(root)
    entities = filter(None, map(known.entity, members))
    # An entity whose names were erased, or may not be seen, has the head of its id in their place.
    surfaces = [e.name for e in entities if e.name != short_id(e.entity_id)]
    if not surfaces:
        return False
    for name in (ref.name, *ref.aliases):
        if any(alias.entity_id in members for alias in known.named(alias_key(name))):
            return False
        for surface in surfaces:
            left, right = form_of(name, ref.type), form_of(surface, ref.type)
            if left.latin != right.latin:
                return False
            facts = measure(left, right, lambda _: 1000)
            if facts.align or facts.acronym or facts.osa >= _ALIKE_OSA:
                return False
    return True


class _AliasReading(NamedTuple):
    """What the stored names of one key say about a mention, before the evidence is written."""

    entity: str | None
    """The raw id that is bound, or that waits under the name."""
    reason: str
    """Why a person has to decide; empty where it binds."""
    roots: list[str]
    """Canonical ids that the name means."""


def _read_name(
    ref: EntityRef, known: Register, rules: Rules, scorer: Scorer | None = None
) -> _AliasReading | None:
    hits: list[Alias] = []
    settled_hits: list[Alias] = []
    local_cases: list[Alias] = []
    evidence_by_root: dict[str, Weighed] = {}
    for alias in known.named(alias_key(ref.name)):
        evidence = _named_evidence(alias, ref, known, rules)
        if evidence is None:
            continue
        root = known.root(alias.entity_id)
        evidence_by_root[root] = evidence
        hits.append(alias)
        # A pending entity is nobody yet, so its name counts apart from the settled ones.
        if not _pending(alias, known):
            settled_hits.append(alias)
        elif alias.scope_id == rules.scope_id and not (
            _known_type(alias, known) == "person" and _lacks_agreement(evidence, root, rules)
        ):
            local_cases.append(alias)
    roots = sorted({known.root(alias.entity_id) for alias in settled_hits})

    # A contact, a constant value or the record speaks for them.
    agreed_roots = [root for root in roots if evidence_by_root[root].agrees]
    if not agreed_roots and len(roots) > 1 and rules.stored is not None:
        agreed_roots = list(filter(rules.stored.shares_record, roots))
    if len(agreed_roots) == 1:
        roots = agreed_roots
        settled_hits = [row for row in settled_hits if known.root(row.entity_id) == roots[0]]

    # One case a name and scope: whoever comes second waits for the same decision.
    elif local_cases:
        first = min(local_cases, key=_age)
        return _AliasReading(first.entity_id, "pending", roots)

    if not roots:
        return None

    if len(roots) > 1:
        return _AliasReading(None, "ambiguous", roots)

    if not any(is_trusted(alias, known, rules) for alias in settled_hits):
        return _AliasReading(None, UNTRUSTED_ALIAS, roots)
    is_person = "person" in {ref.type, *(_known_type(alias, known) for alias in hits)}
    # A person's name may need more than the tenant.
    needs_context = is_person and rules.bands.person_context_scope != TENANT_SCOPE.scope_id
    scopes = {row.scope_id for row in hits} - {TENANT_SCOPE.scope_id}
    if needs_context and rules.scope_id not in scopes:
        return _AliasReading(None, _NO_CONTEXT, roots)
    if is_person and not agreed_roots:
        if _lacks_agreement(evidence_by_root[roots[0]], roots[0], rules):
            return _AliasReading(None, NOTHING_AGREES, roots)
        # A text names people whom its reader knows; a register also has all the others.
        facts = rules.stored
        if scorer and facts is not None and not facts.shares_record(roots[0]):
            lookup = fuzzy_lookup(ref, scorer, rules.bands)
            family, bearer_lookup = lookup.family, replace(lookup, limit=1, near=None)
            if family is not None and facts.bearers(bearer_lookup) >= family.limit:
                return _AliasReading(None, COMMON_NAME, roots)

    first = min(settled_hits, key=_age)
    return _AliasReading(first.entity_id, "", roots)


def _lacks_agreement(evidence: Weighed, root: str, rules: Rules) -> bool:
    """Whether a mention and an entity of its name both state what does not meet."""
    is_own = rules.stored is not None and rules.stored.shares_record(root)
    return bool(evidence.near) or (evidence.is_stated and not evidence.agrees and not is_own)


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
    if entity is not None and alias.norm == alias_key(entity.name):
        return True
    match, raw = (JudgementVerdict.MATCH, JudgedBy.HUMAN), alias.entity_id
    rows = known.rows_between(known.members(root))
    return any((r.verdict, r.judged_by) == match and raw in (r.left_id, r.right_id) for r in rows)


def _named_evidence(alias: Alias, ref: EntityRef, known: Register, rules: Rules) -> Weighed | None:
    """What a mention states of the entity of a name; None for one that it cannot mean."""
    if not _is_of_kind(alias, ref, known, rules):
        return None
    root = known.root(alias.entity_id)
    return evidence_for(ref, root, _known_type(alias, known), known, rules)


def evidence_for(
    ref: EntityRef, root: str, kind: str, known: Register, rules: Rules
) -> Weighed | None:
    """What a mention states of an entity; None if it excludes it, whatever their names."""
    if excluding_schemes(ref, root, known, rules):
        return None
    evidence = weigh(ref, root, known, rules)
    is_excluded = bool(evidence.differs)
    if "person" in (ref.type, kind) and evidence.is_contradicted:
        is_excluded = rules.stored is None or not rules.stored.shares_record(root)
    return None if is_excluded else evidence


def _is_of_kind(alias: Alias, ref: EntityRef, known: Register, rules: Rules) -> bool:
    return rules.shows(alias, known) and rules.fits(ref.type, _known_type(alias, known))


def _known_type(alias: Alias, known: Register) -> str:
    entity = known.entity(alias.entity_id)
    return entity.type if entity else alias.type


def _pending(alias: Alias, known: Register) -> bool:
    root = known.entity(known.root(alias.entity_id))
    return root is not None and root.state is EntityState.PENDING


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
    is_certain = reason not in ("ambiguous", "pending", *_VETOES)
    candidates: list[EntityCandidate] = []
    for entity in filter(None, map(known.entity, roots)):
        candidate = EntityCandidate(
            entity=entity.entity_id,
            name=entity.name,
            score=1.0 if is_certain else 0.94,
            log_odds=13.8 if is_certain else 2.752,
            source=source,
            features=(Feature(source.value, 1.0, 0.0, f"equal name or id: {entity.name}"),),
            vetoes=() if is_certain else (reason if reason in _VETOES else "margin",),
        )
        candidates.append(candidate)
    return tuple(candidates)


def locate(mention: MentionOrId, known: Register, scopes: frozenset[str]) -> tuple[str, ...]:
    """The canonical ids a mention may mean, sorted: none, one, or several.

    A pending entity counts only where no settled one carries the name.
    """
    if isinstance(mention, str) and is_id(mention):
        return (known.root(mention),) if known.entity(mention) else ()

    ref = as_ref(mention)
    # A stated identifier that is unknown means another entity, whatever the name says.
    stated_rows = stated_identifiers(ref)
    if stated_rows:
        return _by_identifiers(ref, stated_rows, known)

    roots: set[str] = set()
    waiting: set[str] = set()
    for alias in known.named(alias_key(ref.name)):
        entity = known.entity(alias.entity_id)
        is_fit = entity is not None and compatible(ref.type, entity.type)
        if is_fit and alias.scope_id in scopes:
            (waiting if _pending(alias, known) else roots).add(known.root(alias.entity_id))
    return tuple(sorted(roots or waiting))


def _by_identifiers(
    ref: EntityRef, stated_rows: Iterable[StatedIdentifier], known: Register
) -> tuple[str, ...]:
    """The entities that hold every stated identifier; of several that share one, the named."""
    owners: set[str] | None = None
    for row in stated_rows:
        holders = set(map(known.root, known.owners(row.pairs)))
        owners = holders if owners is None else owners & holders
    if not owners or len(owners) == 1:
        return tuple(owners or ())

    named_roots = {known.root(alias.entity_id) for alias in known.named(alias_key(ref.name))}
    return tuple(sorted(owners & named_roots or owners))
