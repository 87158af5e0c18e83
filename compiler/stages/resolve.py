"""Stage 2, resolve: who each candidate is about.

Every stored row gets the canonical id of its subject, whether that subject still waits for a
review, and whether it is the caller's own: the user, the project or the tenant of this compile.
A row about a pending entity may be shown as data but never backs a rule (C-054), so rules
about one are left out here. Objects that the walk's cap dropped are listed.

Invariant: only bindings that were known at the compile's tx are used; nothing is scored.
Sources: DESIGN 7, stage 2; settled 7 and 10; checklist C-054, C-076.
"""

from __future__ import annotations

from ...resolution.known import Known
from ...schema.compile_terms import GapCode, Reason, Stage
from ...schema.principal import Scope
from ...schema.vocabulary import EntityState, ObjectType
from ..ir.candidate import Candidate, Placed
from ..ir.context import Setting
from ..ir.outputs import Normalized, Resolved
from ..ir.snapshot import Bound, Snapshot
from ..ir.verdicts import Gap, Verdict


def resolve(normalized: Normalized, setting: Setting) -> Resolved:
    """Return the candidates with their subjects and the gaps of unbound mentions."""
    snapshot = normalized.snapshot
    verdicts = [Verdict(Stage.RESOLVE, i, Reason.NEIGHBOURHOOD_CAP) for i in snapshot.capped]
    mine = frozenset(snapshot.own.values())
    pending = _pending(snapshot.known)
    placed: list[Placed] = []
    for candidate in normalized.candidates:
        if candidate.version is None:
            placed.append(Placed(candidate, None))
            continue
        details = candidate.version.details
        subject = details.subject_id
        waits = subject in pending or details.value_entity_id in pending
        if subject is not None:
            subject = snapshot.known.canonical.get(subject, subject)
        if waits and _is_rule(candidate):
            verdicts.append(Verdict(Stage.RESOLVE, candidate.object_id, Reason.ENTITY_PENDING))
            continue
        ours = subject in mine or _in_own_scope(details.scope, setting)
        placed.append(Placed(candidate, subject, waits, ours))
    bound = (*snapshot.named, *snapshot.spoken)
    active = frozenset(b.entities[0] for b in bound if len(b.entities) == 1)
    return Resolved(tuple(placed), snapshot, active, tuple(verdicts), tuple(_gaps(snapshot)))


def _pending(known: Known) -> frozenset[str]:
    return frozenset(i for i, e in known.entities.items() if e.state is EntityState.PENDING)


def _is_rule(candidate: Candidate) -> bool:
    kind = candidate.version.details.object_type if candidate.version else None
    return candidate.level <= 1 or kind in (ObjectType.POLICY_RULE, ObjectType.TOOL_SCHEMA)


def _in_own_scope(scope: Scope, setting: Setting) -> bool:
    principal = setting.principal
    return (
        (scope.user is not None and scope.user == principal.user)
        or (scope.session is not None and scope.session == principal.session)
        or (scope.project is not None and scope.project == setting.project)
    )


def _gaps(snapshot: Snapshot) -> list[Gap]:
    gaps = [_gap(bound) for bound in snapshot.named if len(bound.entities) != 1]
    unclear = (bound for bound in snapshot.spoken if len(bound.entities) > 1)
    return sorted({*gaps, *(_gap(bound) for bound in unclear)})


def _gap(bound: Bound) -> Gap:
    if not bound.entities:
        return Gap(GapCode.UNKNOWN_ENTITY, bound.mention)
    return Gap(GapCode.AMBIGUOUS_ENTITY, bound.mention, " ".join(sorted(bound.entities)))
