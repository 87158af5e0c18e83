"""From a version to the context object that a caller sees.

Source: source 003, "Context Object schema". Checklist: C-013, C-028.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from ...schema.claim import EMPTIED, Version
from ...schema.context_object import ContextObject
from ...schema.principal import EVERYONE
from ...schema.values import moment, stamped


def context_object(
    version: Version,
    *,
    tenant: str,
    entities: Sequence[str],
    aliases: Sequence[str] = (),
    external_ids: Mapping[str, str] | None = None,
    superseded_by: str | None = None,
) -> ContextObject:
    """Return a version as a context object; `entities` are canonical ids."""
    row, details, content = version.row, version.details, version.content or EMPTIED
    decay = details.decay_rule
    allow = [] if EVERYONE in version.permissions.allow else list(version.permissions.allow)
    confirmed_us = version.last_confirmed_us
    return ContextObject(
        object_id=row.claim.object_id,
        content=content.text,
        normalized_claim=content.normalized_claim,
        object_type=details.object_type,
        canonical_entity_ids=tuple(entities),
        aliases=tuple(aliases),
        source_origin=details.source_origin,
        source_authority=row.claim.source_authority / 1000,
        confidence_score=row.claim.confidence / 1000,
        security_classification=version.permissions.classification,
        permission_scope={"allow_roles": allow, "deny_roles": list(version.permissions.deny)},
        tenant_id=tenant,
        user_id=details.scope.user,
        project_id=details.scope.project,
        session_id=details.scope.session,
        valid_from=moment(row.interval.start_us),
        valid_until=moment(row.interval.end_us),
        tx_start=stamped(row.tx_start),
        tx_end=moment(row.tx_end),
        last_confirmed=None if confirmed_us is None else moment(confirmed_us),
        why_it_matters=content.why_it_matters,
        applicable_task_types=details.applicable_task_types,
        behavioral_implication=content.behavioral_implication,
        contradiction_status=row.look.status,
        supersession_link=superseded_by,
        decay_rule=None
        if decay is None
        else {
            "half_life_days": decay.half_life_days,
            "minimum_threshold": decay.minimum_threshold,
        },
        update_path=details.update_path,
        retirement_rule=details.retirement_rule,
        authority_level=details.authority_level,
        state_layer=details.layer,
        sensitivity=details.sensitivity,
        slot=details.slot,
        value=json.loads(content.value_json),
        external_ids=dict(external_ids or {}),
        derived_from=details.derived_from,
        status_reason=row.look.reason,
        source_kind=details.source_kind,
    )
