"""Who may instruct whom: what a writer says may direct the writer's own, and who was granted more.

An object of level 0 or 1 speaks for the platform or the tenant. One of level 2 or 3 becomes
guidance or a rule only for the user who wrote it, in the session it was written in, or for
everybody when its writer held a directive role. Whatever somebody else says about a user, a
project or the tenant is data, whatever its slot, template or enforcement: it stands in a data
block. What an agent concluded on its user's behalf (level 3) directs that user alone, and only
from that user's own scope or session. Nobody never equals nobody: a caller without a user is
directed by its session or by a directive role.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from ...schema.budget_rules import DetectorLimit
from ...schema.claim import Version
from ...schema.tool_manifest import is_signed
from ...schema.vocabulary import Authority
from ..ir.candidate import content_of
from ..ir.context import CompileContext
from ..safety.detect import ScanVerdict, TextChannel, scan, thresholds_of, verdict

_RECORD_KINDS: Final = frozenset({"system_of_record", "workspace", "policy", "platform"})
"""Granted sources whose facts may stand in a template of somebody else."""

_VALUE_CHARS: Final = 80


def may_direct(version: Version, context: CompileContext) -> bool:
    """Tell whether an object may become an instruction for the caller."""
    details, author = version.details, version.details.authorship
    if details.authority_level <= Authority.DEVELOPER:
        return True
    if details.authority_level > Authority.INFERRED_MEMORY:
        return False
    if author.directs:
        return True

    principal, scope = context.principal, details.scope
    by_user = author.user is not None and author.user == principal.user
    in_session = scope.session is not None and scope.session == principal.session
    if details.authority_level is Authority.INFERRED_MEMORY and by_user:
        return in_session or scope.user == principal.user
    # Nobody's word, such as what a detector flagged, has no session either, and directs nobody.
    by_session = author.user is None and author.session == principal.session
    return by_user or (in_session and by_session)


def may_fill(version: Version, value: str, context: CompileContext) -> bool:
    """Tell whether a value may stand in the instruction of another object.

    A record system may say what somebody's title is, and the title then shapes an answer: one
    short line that no detector flags.
    """
    if may_direct(version, context):
        return True
    if version.details.source_kind not in _RECORD_KINDS:
        return False
    if len(value) > _VALUE_CHARS or not value.isprintable():
        return False
    return is_unsuspected(value, TextChannel.DOCUMENT, context.policy.write.detectors)


@lru_cache(maxsize=4096)
def is_unsuspected(text: str, channel: TextChannel, limits: tuple[DetectorLimit, ...]) -> bool:
    """Tell whether the detectors pass a text of a channel, by the limits of a policy."""
    thresholds = thresholds_of(limits)
    findings = scan(text, channel, thresholds=thresholds)
    return verdict(findings, channel, thresholds=thresholds) is ScanVerdict.PASS


def is_offered(version: Version, context: CompileContext) -> bool:
    """Tell whether a stored tool may be called: its store signed the manifest as it stands.

    The store signs for whoever may offer tools, when the tool is written (`schema.tool_manifest`).
    """
    object_id, scope_id = version.row.claim.object_id, version.details.scope.scope_id
    text = content_of(version).text
    return is_signed(text, context.keys, object_id=object_id, scope_id=scope_id)
