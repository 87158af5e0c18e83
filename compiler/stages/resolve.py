"""Stage 2, resolve: who each candidate is about.

Every stored row gets the canonical id of its subject, whether that subject still waits for a
review, and whether it is the caller's own: the user, the project or the tenant of this compile.
What the user told of somebody else's wishes is no wish of the user's: it stays data.
A row about a pending entity may be shown as data but never backs a rule (C-054), so rules
about one are left out here. Objects that the walk's cap dropped are listed.

Invariant: only bindings that were known at the compile's tx are used; nothing is scored.
Checklist C-054, C-076.
"""

from __future__ import annotations

from ...schema.claim import Version
from ...schema.compile_terms import GapCode, Reason, Stage
from ...schema.principal import Scope
from ...schema.slots import UNKNOWN_TYPE
from ...schema.vocabulary import EntityState, ObjectType, SlotKind
from ..ir.context import CompileContext
from ..ir.outputs import Normalized, Resolved
from ..ir.records import PERSON, Candidate, Gap, Snapshot, Verdict

_PERSON = "person"
_RULES = frozenset({ObjectType.POLICY_RULE, ObjectType.TOOL_SCHEMA})


def resolve(normalized: Normalized, snapshot: Snapshot, context: CompileContext) -> Resolved:
    """Return the candidates with their subjects and the gaps of unbound mentions."""
    verdicts = [Verdict(Stage.RESOLVE, i, Reason.NEIGHBOURHOOD_CAP) for i in snapshot.capped_ids]
    canonical = snapshot.known.canonical
    entities = snapshot.known.entities
    pending_ids = {raw for raw, owner in entities.items() if owner.state is EntityState.PENDING}
    # Somebody else's wishes are data to the caller: being meant makes nobody the caller.
    own_ids = frozenset(root for kind, root in snapshot.own_subjects.items() if kind != PERSON)
    own_scopes: dict[Scope, bool] = {}
    user_id = snapshot.own_subjects.get("user")

    candidates: list[Candidate] = []
    for candidate in normalized.candidates:
        version = candidate.version
        if version is None:
            candidates.append(candidate)
            continue

        details = version.details
        pending = details.subject_id in pending_ids or details.value_entity_id in pending_ids
        # One that may not be seen is the gate's: its verdict here would name it.
        is_rule = details.authority_level <= 1 or details.object_type in _RULES
        if pending and version.visible and is_rule:
            verdicts.append(Verdict(Stage.RESOLVE, candidate.object_id, Reason.ENTITY_PENDING))
            continue

        subject = details.subject_id
        if subject is not None:
            subject = canonical.get(subject, subject)
        # All rows share a few scopes, so each is judged once.
        if details.scope not in own_scopes:
            own_scopes[details.scope] = _is_own(details.scope, context)
        is_own = subject in own_ids or own_scopes[details.scope]
        # What a user's sister likes shapes no answer to him, though it is his to tell.
        if is_own and user_id not in (None, subject) and _is_wish(version, context):
            owner = entities.get(subject or "")
            is_own = owner is None or owner.type not in (_PERSON, UNKNOWN_TYPE)
        candidates.append(Candidate(*candidate[:5], subject, pending, is_own))

    bindings = (*snapshot.subjects, *snapshot.query_subjects)
    active = frozenset(b.entities[0] for b in bindings if len(b.entities) == 1)
    return Resolved(tuple(candidates), active, tuple(verdicts), tuple(_gaps(snapshot)))


def _is_wish(version: Version, context: CompileContext) -> bool:
    slot = context.vocabulary.slots.get(version.details.slot or "")
    return slot is not None and slot.kind is SlotKind.PREFERENCE


def _is_own(scope: Scope, context: CompileContext) -> bool:
    principal = context.principal
    return (
        (scope.user is not None and scope.user == principal.user)
        or (scope.session is not None and scope.session == principal.session)
        or (scope.project is not None and scope.project == context.project)
    )


def _gaps(snapshot: Snapshot) -> list[Gap]:
    """List the mentions that name nobody, or several, and whether it is open whose wishes count.

    A word of the query that names nobody is no gap: most words are no names.
    """
    gaps: set[Gap] = set()
    for bound in (*snapshot.subjects, *snapshot.query_subjects):
        if len(bound.entities) > 1:
            detail = " ".join(sorted(bound.entities))
            gaps.add(Gap(GapCode.AMBIGUOUS_ENTITY, bound.mention, detail))
    for bound in snapshot.subjects:
        if not bound.entities:
            gaps.add(Gap(GapCode.UNKNOWN_ENTITY, bound.mention))
    if snapshot.people:
        gaps.add(Gap(GapCode.USER_UNSTATED, detail=" ".join(snapshot.people)))
    return sorted(gaps)
