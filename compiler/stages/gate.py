"""Stage 3, gate: withhold what this caller, this request or this origin may not see.

The order of the checks is scope, roles (deny wins), clearance, visibility, the signature of project
scopes, authority, sensitivity, origin partition. The store has already withheld most of it, but the
gate trusts no store. Withheld objects are counted; only an auditor's trace names them.

Invariant: an object that fails a test leaves no trace in the bytes, not even in a statistic
of the ranking. Checklist C-020, C-077, C-092, C-096, C-133.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from ...schema.claim import Permissions, Version
from ...schema.compile_terms import GateDetail, Reason, Stage
from ...schema.principal import EVERYONE_TAG, Scope
from ...schema.signing import signed_by_any
from ...schema.slots import kind_of, origin_partition
from ...schema.vocabulary import Classification, ObjectType, Sensitivity, StateLayer
from ...store.port.records import OwnIds
from ..ir.context import CompileContext
from ..ir.outputs import Gated, Resolved
from ..ir.records import Candidate, Snapshot, Verdict, masks

_RANK = {level: rank for rank, level in enumerate(Classification)}

_SHADOWING = frozenset(
    {GateDetail.ROLE_DENIED, GateDetail.CLEARANCE_TOO_LOW, GateDetail.SENSITIVITY}
)

_SHARED_LAYERS = frozenset({StateLayer.TENANT, StateLayer.CORPUS})
"""Where a passage is a document of everybody, which a trajectory need not have met."""


def gate(resolved: Resolved, snapshot: Snapshot, context: CompileContext) -> Gated:
    """Return the candidates the caller may see, and verdicts on the others."""
    fault_of = _Test(context, snapshot.own_ids).fault
    if snapshot.gates is not None:
        fault_of = partial(_recorded_fault, snapshot.gates)

    passing: list[Candidate] = []
    masked_ids: set[str] = set()
    refusals: list[Verdict] = []
    vids: list[int] = []
    shadows: list[Candidate] = []
    for candidate in resolved.candidates:
        version = candidate.version
        if version is None:
            passing.append(candidate)
            continue

        detail = fault_of(version)
        if detail is None:
            passing.append(candidate)
            if masks(version.details, context, snapshot.own_ids):
                masked_ids.add(candidate.object_id)
            continue

        reason = Reason.PERMISSION_DENIED
        refusals.append(Verdict(Stage.GATE, candidate.object_id, reason, detail.value))
        vids.append(version.row.vid)
        if detail in _SHADOWING:
            shadows.append(candidate)

    return Gated(
        tuple(passing), frozenset(masked_ids), tuple(shadows), tuple(refusals), tuple(vids)
    )


def _recorded_fault(gates: Mapping[tuple[str, int], str], version: Version) -> GateDetail | None:
    """Return the test that a row failed when it was compiled.

    In a replay, permissions that changed since are asked of the caller, not here.
    """
    detail = gates[version.row.claim.object_id, version.row.vid]
    return GateDetail(detail) if detail else None


@dataclass(slots=True)
class _Test:
    """The gate of one compile; remembers what it has found out about scopes and permissions."""

    context: CompileContext
    own_ids: OwnIds
    """Raw ids of the entity that is the caller."""
    tags: frozenset[str] = field(init=False)
    clearance: int = field(init=False)
    partitions: frozenset[str] = field(init=False)
    scopes: dict[Scope, bool] = field(default_factory=dict[Scope, bool])
    permissions: dict[Permissions, GateDetail | None] = field(
        default_factory=dict[Permissions, "GateDetail | None"]
    )

    def __post_init__(self) -> None:
        principal = self.context.principal
        self.tags = frozenset({EVERYONE_TAG, *principal.roles})
        self.clearance = _RANK[principal.clearance]
        self.partitions = _partitions(self.context)

    def fault(self, version: Version) -> GateDetail | None:
        """Return the first test that a row fails, None when it passes all."""
        scope = version.details.scope
        if scope not in self.scopes:
            self.scopes[scope] = scope.scope_id in self.context.scopes
        if not self.scopes[scope]:
            return GateDetail.SCOPE_MISMATCH

        # Few sets of permissions are shared by all rows, so each is judged once.
        permissions = version.permissions
        if permissions not in self.permissions:
            self.permissions[permissions] = self._denial(permissions)
        denial = self.permissions[permissions]
        if denial is not None:
            return denial

        if not version.visible:
            return GateDetail.ROLE_DENIED
        for fails, detail in _TESTS:
            if fails(self, version):
                return detail
        return None

    def _denial(self, permissions: Permissions) -> GateDetail | None:
        # Nobody named means everybody; a denial wins over any permission.
        allow = set(permissions.allow) or {EVERYONE_TAG}
        if not self.tags.isdisjoint(permissions.deny) or self.tags.isdisjoint(allow):
            return GateDetail.ROLE_DENIED
        above = _RANK[permissions.classification] > self.clearance
        return GateDetail.CLEARANCE_TOO_LOW if above else None

    def lacks_signature(self, version: Version) -> bool:
        """Tell whether a row of a project lacks the store's signature on its scope."""
        scope = version.details.scope
        return scope.project is not None and not signed_by_any(
            self.context.keys,
            version.row.claim.object_id,
            scope.scope_id,
            version.signature,
        )

    def too_weak(self, version: Version) -> bool:
        """Tell whether a row is weaker than the policy admits."""
        return version.details.authority_level > self.context.rules.weakest_level

    def too_sensitive(self, version: Version) -> bool:
        """Tell whether a label keeps a row out of this envelope."""
        labels = version.details.sensitivity
        if not labels:
            return False
        if Sensitivity.CREDENTIAL in labels:
            return True

        if Sensitivity.LEGAL_PRIVILEGED in labels:
            project = version.details.scope.project
            if project is None or project != self.context.project:
                return True

        rules = self.context.rules
        if rules.personal == "omit" and masks(version.details, self.context, self.own_ids):
            return True
        secret = Sensitivity.COMMERCIAL_SECRET in labels
        return secret and self.context.request.model not in rules.commercial_secret_models

    def foreign(self, version: Version) -> bool:
        """Tell whether a remembered claim comes from a site or tool outside this trajectory."""
        details = version.details
        kind, is_shared = details.object_type, details.layer in _SHARED_LAYERS
        if details.authority_level < 4 or kind is ObjectType.TOOL_SCHEMA:
            return False
        if kind is ObjectType.RETRIEVED_PASSAGE and is_shared:
            return False

        kinds = self.context.source_kinds
        for origin in {details.source_origin, *details.origins}:
            partition = origin_partition(origin, kind_of(origin, kinds).name)
            if partition is not None and partition not in self.partitions:
                return True
        return False


_TESTS: tuple[tuple[Callable[[_Test, Version], bool], GateDetail], ...] = (
    (_Test.lacks_signature, GateDetail.PROJECT_SIGNATURE),
    (_Test.too_weak, GateDetail.AUTHORITY_INSUFFICIENT),
    (_Test.too_sensitive, GateDetail.SENSITIVITY),
    (_Test.foreign, GateDetail.ORIGIN_PARTITION),
)


def _partitions(context: CompileContext) -> frozenset[str]:
    """Return the sites and tools of this trajectory: the caller's own and the evidence's."""
    partitions: set[str] = set()
    for origin in context.principal.origins:
        if "://" in origin:
            partitions.add(origin_partition(origin, "web") or origin)
            continue

        # A bare name may be a site or a tool: it opens all that it can mean.
        site = f"https://{origin}"
        partitions.add(origin_partition(site, "web") or site)
        for scheme in ("http", "tool", "mcp"):
            partitions.add(f"{scheme}://{origin.lower()}")

    kinds = context.source_kinds
    for evidence in (*context.request.evidence, *context.request.pinned):
        partition = origin_partition(evidence.origin, kind_of(evidence.origin, kinds).name)
        if partition is not None:
            partitions.add(partition)
    return frozenset(partitions)
