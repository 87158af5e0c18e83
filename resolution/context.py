"""What stands around a pair of names: evidence that only the caller can know.

A store or a driver fills a `PairContext`; matching itself looks nothing up. Weights are in the
model, all marked `prior`. Evidence that nothing weighs yet (role, path, document id) is shown
at weight 0, so a steward sees it and the calibration loop can learn it.

An incompatible type, another tenant, another value of one identifier scheme and a standing
NON_MATCH are no context: they exclude a candidate before it is scored. Checklist C-048.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ..schema.entity import Feature


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
    """What is known about a mention and a candidate beside their names."""

    same_identifier: bool = False
    """One system-of-record id names both: decides, whatever the names."""
    same_handle: bool = False
    """The same e-mail address or handle."""
    same_contact: bool = False
    """An attribute that reaches one person or house agrees; its line in `attributes` weighs it."""
    attributes: tuple[Feature, ...] = ()
    """What the attributes of two stored entities say, slot by slot."""
    same_scope: bool = False
    """The candidate was already named in the mention's scope, which is narrower than the tenant."""
    neighbour_overlap: int = 0
    """Jaccard overlap of their neighbours in the graph, in thousandths."""
    mentioned_together: bool = False
    """Both names stand in one source, as names of one thing."""
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
