"""What is known about a mention and a candidate beside their names, read from a register.

`context_of` fills the `PairContext` of one pair; `context_ceiling` says the most that context can
add for any candidate of a mention, so that hopeless ones are dropped before they are looked at.
Pure: the same register gives the same context. `docs/design/resolution.md`; checklist C-048.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..schema.entity import EntityRef
from ..schema.principal import TENANT_SCOPE
from .context import PairContext, PersonContext
from .keys import alias_key
from .model import Model
from .register import Register, Rules

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
    stored_handles = _handles_of(root, known, rules) if handles else set[str]()

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
        same_email_domain=not _domains(handles).isdisjoint(_domains(stored_handles)),
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
    """Whether the mention stands in, or inside, a narrow scope that names the entity."""
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
    surfaces = (mention.name, *mention.aliases, *mention.external_ids.values())
    return {alias_key(text) for text in surfaces if "@" in text}


def _handles_of(root: str, known: Register, rules: Rules) -> set[str]:
    handles: set[str] = set()
    for values in known.held(root, rules.identifier_test(known)).values():
        handles |= {alias_key(value) for value in values if "@" in value}
    return handles


def _domains(handles: Iterable[str]) -> set[str]:
    """The domains of addresses; a handle without one has none."""
    domains: set[str] = set()
    for handle in handles:
        domain = handle.rpartition("@")[2]
        if "." in domain:
            domains.add(domain)
    return domains


def _overlap(rules: Rules, root: str) -> int:
    """How much of what stands around either stands around both, in thousandths."""
    neighbours = rules.neighbours
    if not neighbours:
        return 0

    stored_neighbours = rules.around(root)
    common = neighbours & stored_neighbours
    # One common neighbour tells little, unless hardly anyone else has it.
    if len(common) == 1 and len(rules.around(*common)) > RARE_DEGREE:
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
