"""Stage 3, gate: what this caller, this request and this origin may not see stays out.

Checked in this order: visibility, tenant and scope, roles (deny wins), clearance, the signature
of project scopes, authority, sensitivity, origin partition. The store has already withheld
most of it; the gate trusts no store. What is withheld is counted; only an auditor's trace names it.

Invariant: an object that fails any test leaves no trace in the bytes, not even in a statistic
of the ranking. Sources: settled 3 and 4; vocabulary 2.3; D3; checklist C-020, C-077, C-092,
C-096, C-133.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ...schema.claim import Permissions, Version
from ...schema.compile_terms import GateDetail, Reason, Stage
from ...schema.principal import EVERYONE, Scope
from ...schema.signing import signed_by_any
from ...schema.sources import kind_of, origin_partition
from ...schema.vocabulary import Classification, ObjectType, Sensitivity
from ..gathering.redaction import masks
from ..ir.candidate import Placed
from ..ir.context import Setting
from ..ir.outputs import Gated, Resolved
from ..ir.verdicts import Verdict

_RANK = {level: rank for rank, level in enumerate(Classification)}


_SHADOWING = frozenset(
    {GateDetail.ROLE_DENIED, GateDetail.CLEARANCE_TOO_LOW, GateDetail.SENSITIVITY}
)


_UNPARTITIONED = frozenset({ObjectType.RETRIEVED_PASSAGE, ObjectType.TOOL_SCHEMA})


def gate(resolved: Resolved, setting: Setting) -> Gated:
    """Return the candidates the caller may see, and verdicts on the others."""
    test = _Test(setting)
    recorded = resolved.snapshot.gates
    answer = test.fails if recorded is None else _Recorded(recorded).fails
    passed: list[Placed] = []
    withheld: list[Verdict] = []
    vids: list[int] = []
    shadows: list[Placed] = []
    masked: set[str] = set()
    for placed in resolved.placed:
        version = placed.candidate.version
        detail = None if version is None else answer(version)
        if detail is not None:
            why = Reason.PERMISSION_DENIED
            withheld.append(Verdict(Stage.GATE, placed.candidate.object_id, why, detail.value))
            vids.append(version.row.vid if version is not None else 0)
            shadows += [placed] if detail in _SHADOWING else []
            continue
        if version is not None and masks(version.details, setting):
            masked.add(placed.candidate.object_id)
        passed.append(placed)
    return Gated(
        resolved,
        tuple(passed),
        frozenset(masked),
        tuple(shadows),
        tuple(withheld),
        tuple(vids),
    )


@dataclass(frozen=True, slots=True)
class _Recorded:
    """The gate of a replay: permissions changed since are asked of the caller, not here."""

    details: Mapping[tuple[str, int], str]

    def fails(self, version: Version) -> GateDetail | None:
        """Return the test that a row failed when it was compiled."""
        detail = self.details[version.row.claim.object_id, version.row.vid]
        return GateDetail(detail) if detail else None


@dataclass(slots=True)
class _Test:
    """The gate of one compile; remembers what it has found out about scopes and permissions."""

    setting: Setting
    tags: frozenset[str] = field(init=False)
    clearance: int = field(init=False)
    partitions: frozenset[str] = field(init=False)
    scopes: dict[Scope, bool] = field(default_factory=dict[Scope, bool])
    permissions: dict[Permissions, GateDetail | None] = field(
        default_factory=dict[Permissions, "GateDetail | None"]
    )

    def __post_init__(self) -> None:
        principal = self.setting.principal
        self.tags = frozenset({EVERYONE, *principal.roles})
        self.clearance = _RANK[principal.clearance]
        self.partitions = _partitions(self.setting)

    def fails(self, version: Version) -> GateDetail | None:
        """Return the first test that a row fails, None when it passes all."""
        details = version.details
        if details.scope not in self.scopes:
            self.scopes[details.scope] = details.scope.scope_id in self.setting.scopes
        if not self.scopes[details.scope]:
            return GateDetail.SCOPE_MISMATCH
        permissions = version.permissions
        if permissions not in self.permissions:
            self.permissions[permissions] = self._permitted(permissions)
        if (denied := self.permissions[permissions]) is not None:
            return denied
        if not version.visible:
            return GateDetail.ROLE_DENIED
        for test, detail in _TESTS:
            if test(self, version):
                return detail
        return None

    def _permitted(self, permissions: Permissions) -> GateDetail | None:
        allow = set(permissions.allow) or {EVERYONE}
        if not self.tags.isdisjoint(permissions.deny) or self.tags.isdisjoint(allow):
            return GateDetail.ROLE_DENIED
        above = _RANK[permissions.classification] > self.clearance
        return GateDetail.CLEARANCE_TOO_LOW if above else None

    def unsigned(self, version: Version) -> bool:
        """Tell whether a row of a project lacks the store's signature on its scope."""
        scope = version.details.scope
        return scope.project is not None and not signed_by_any(
            self.setting.keys,
            version.row.claim.object_id,
            scope.scope_id,
            version.signature,
        )

    def too_weak(self, version: Version) -> bool:
        """Tell whether a row is weaker than the policy admits."""
        return version.details.authority_level > self.setting.rules.weakest_level

    def too_sensitive(self, version: Version) -> bool:
        """Tell whether a label keeps a row out of this envelope."""
        labels = version.details.sensitivity
        if not labels:
            return False
        if Sensitivity.CREDENTIAL in labels:
            return True
        if Sensitivity.LEGAL_PRIVILEGED in labels:
            project = version.details.scope.project
            if project is None or project != self.setting.project:
                return True
        if self.setting.rules.personal == "omit" and masks(version.details, self.setting):
            return True
        secret = Sensitivity.COMMERCIAL_SECRET in labels
        return (
            secret and self.setting.request.model not in self.setting.rules.commercial_secret_models
        )

    def foreign(self, version: Version) -> bool:
        """Tell whether a remembered claim comes from a site or tool outside this trajectory."""
        details = version.details
        if details.authority_level < 4 or details.object_type in _UNPARTITIONED:
            return False
        kinds = self.setting.vocabulary.source_kinds
        for origin in {details.source_origin, *details.origins}:
            partition = origin_partition(origin, kind_of(origin, kinds).name)
            if partition is not None and partition not in self.partitions:
                return True
        return False


_TESTS: tuple[tuple[Callable[[_Test, Version], bool], GateDetail], ...] = (
    (_Test.unsigned, GateDetail.PROJECT_SIGNATURE),
    (_Test.too_weak, GateDetail.AUTHORITY_INSUFFICIENT),
    (_Test.too_sensitive, GateDetail.SENSITIVITY),
    (_Test.foreign, GateDetail.ORIGIN_PARTITION),
)


def _partitions(setting: Setting) -> frozenset[str]:
    """Return the sites and tools of this trajectory: the caller's own and the evidence's."""
    kinds = setting.vocabulary.source_kinds
    found: set[str] = set()
    for origin in setting.principal.origins:
        whole = origin if "://" in origin else f"https://{origin}"
        found.add(origin_partition(whole, "web") or whole)
        if "://" not in origin:
            found |= {
                f"http://{origin.lower()}",
                f"tool://{origin.lower()}",
                f"mcp://{origin.lower()}",
            }
    for evidence in (*setting.request.evidence, *setting.request.pinned):
        partition = origin_partition(evidence.origin, kind_of(evidence.origin, kinds).name)
        if partition is not None:
            found.add(partition)
    return frozenset(found)
