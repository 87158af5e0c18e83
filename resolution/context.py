"""The context of a pair of names: evidence that only the caller can know.

`context_of` fills the `PairContext` of a mention and a candidate from a register. Matching itself
looks nothing up. `context_ceiling` is the most that context can add for any candidate of a mention,
so that hopeless candidates are dropped early. Weights are in the model, all marked `prior`.
Evidence without a weight (role, path, document id) is shown at weight 0 for stewards and
calibration.

An incompatible type, another tenant, another value of one identifier scheme and an existing
NON_MATCH are not context: they exclude a candidate before it is scored.
Pure. `docs/design/resolution.md`; checklist C-048.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from ..schema.entity import EntityRef, Feature
from ..schema.principal import TENANT_SCOPE
from .keys import alias_key
from .model import Model
from .register import Register, Rules


class PersonContext(StrEnum):
    """How far a scope counts as the context that a person's name needs to bind."""

    NONE = "none"
    """Only stated evidence counts (`person_context_scope = "project"`)."""
    TENANT = "tenant"
    """The tenant is context enough for exactly equal names; the default of the policy."""
    ASSUMED = "assumed"
    """The evaluation assumes one scope: `person_without_context` never fires."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairContext:
    """What is known about a mention and a candidate in addition to their names."""

    same_identifier: bool = False
    """One system-of-record id names both: decides, whatever the names."""
    same_handle: bool = False
    """The same e-mail address or handle."""
    same_contact: bool = False
    """An attribute that reaches one person or house agrees; its line in `attributes` weighs it."""
    same_house: bool = False
    """A phone is all that agrees: the people of a house have one."""
    attributes: tuple[Feature, ...] = ()
    """What the attributes of two stored entities say, slot by slot."""
    same_scope: bool = False
    """The candidate was already named in the mention's scope, which is narrower than the tenant."""
    neighbour_overlap: int = 0
    """Jaccard overlap of their neighbours in the graph, in thousandths."""
    mentioned_together: bool = False
    """Both names are in one source, as names of one thing."""
    attribute_conflict: bool = False
    """An attribute that an entity has one of differs: birth date, legal number."""
    single_valued_conflict: bool = False
    """Two *stored* entities differ in a slot of cardinality one; never the claim being written."""
    direct_edge: bool = False
    """A claim relates the two to each other, the incoming one included."""
    generic_alias: bool = False
    """The alias belongs to three or more live entities of the scope."""
    unsure: bool = False
    """A standing UNSURE judgement."""
    person_context: PersonContext = PersonContext.NONE
    """What lifts `person_without_context` besides stated evidence."""
    same_role: bool = False
    """Shown at weight 0."""
    same_path: bool = False
    """Shown at weight 0."""
    same_document: bool = False
    """Shown at weight 0."""
    same_email_domain: bool = False
    """Addresses at one domain; shown at weight 0."""
    authority: int | None = None
    """Level of the write that names it, where one does; shown at weight 0."""


NO_CONTEXT = PairContext()
"""Names alone."""


RARE_DEGREE = 5
"""Relations up to which a neighbour that two have in common is evidence alone."""
_ROLE = re.compile(r"\b(?:C[A-Z]O|SVP|EVP|VP|head|director|lead|president|chair)\b")
_DOCUMENT = re.compile(r"\b[A-Z]{2,}-\d+\b")


def context_of(
    mention: EntityRef,
    root: str,
    names: Sequence[str],
    known: Register,
    rules: Rules,
    *,
    generic: bool,
) -> PairContext:
    """What is known about a mention and the entity `root`, which has these names."""
    lifts = rules.bands.person_context_scope == TENANT_SCOPE.scope_id
    surfaces = (mention.name, *mention.aliases)
    handles = _handles(mention)
    addresses = {text for text in mention.external_ids.values() if "@" in text} | handles
    stored_handles: set[str] = set()
    if addresses:
        for values in known.held(root, rules.identifier_test(known)).values():
            stored_handles |= {alias_key(value) for value in values if "@" in value}

    return PairContext(
        same_handle=not handles.isdisjoint(stored_handles),
        same_scope=_same_scope(root, names, known, rules),
        neighbour_overlap=_overlap(rules, root),
        mentioned_together=not known.named_now.isdisjoint(known.members(root)),
        direct_edge=not rules.related.isdisjoint(known.members(root)),
        generic_alias=generic,
        person_context=PersonContext.TENANT if lifts else PersonContext.NONE,
        same_role=_shares(_ROLE, surfaces, names),
        same_document=_shares(_DOCUMENT, surfaces, names),
        same_path=not _paths(surfaces).isdisjoint(_paths(names)),
        same_email_domain=not _domains(addresses).isdisjoint(_domains(stored_handles)),
        authority=rules.authority,
    )


def context_ceiling(mention: EntityRef, known: Register, rules: Rules, model: Model) -> float:
    """The most that context may add for any candidate: what cannot be there counts 0."""
    absent = {
        "same_handle": not _handles(mention),
        "neighbour_overlap": not rules.neighbours,
        "same_scope": rules.scope_id == TENANT_SCOPE.scope_id,
        "mentioned_together": not known.named_now,
    }
    ceiling = 0.0
    for name, weight in model.context.items():
        if not absent.get(name):
            ceiling += max(weight, 0.0)
    return ceiling


def _same_scope(root: str, names: Sequence[str], known: Register, rules: Rules) -> bool:
    """Whether the mention is in, or inside, a narrow scope that names the entity."""
    scope_parts = set(rules.scope_id.split(","))
    for surface in names:
        for alias in known.named(alias_key(surface)):
            # Being of one tenant tells two names apart from nobody else.
            if alias.scope_id == TENANT_SCOPE.scope_id:
                continue
            is_same = known.root(alias.entity_id) == root and rules.shows(alias, known)
            if is_same and scope_parts.issuperset(alias.scope_id.split(",")):
                return True
    return False


def _handles(mention: EntityRef) -> set[str]:
    # What it states as an identifier is weighed by its scheme, not once more as a name.
    return {alias_key(text) for text in (mention.name, *mention.aliases) if "@" in text}


def _domains(handles: Iterable[str]) -> set[str]:
    """The domains of addresses; a handle without one has none."""
    domains = {handle.rpartition("@")[2] for handle in handles}
    return {domain for domain in domains if "." in domain}


def _overlap(rules: Rules, root: str) -> int:
    """How much of what stands around either stands around both, in thousandths."""
    neighbours = rules.neighbours
    if not neighbours:
        return 0

    stored_neighbours = rules.neighbours_of(root)
    common = neighbours & stored_neighbours
    # One common neighbour tells little, unless hardly anyone else has it.
    if len(common) == 1 and len(rules.neighbours_of(*common)) > RARE_DEGREE:
        return 0
    return round(1000 * len(common) / len(neighbours | stored_neighbours))


def _shares(
    shape: re.Pattern[str], surfaces: Sequence[str], stored_surfaces: Sequence[str]
) -> bool:
    """Whether both sides say one thing of a shape, such as the same role."""
    # Names hold no line break, so a match never runs from one into the next.
    matches = shape.findall("\n".join(surfaces))
    return bool(matches) and not set(matches).isdisjoint(shape.findall("\n".join(stored_surfaces)))


def _paths(names: Iterable[str]) -> set[str]:
    return {name.rsplit("/", 1)[-1].casefold() for name in names if "/" in name}
