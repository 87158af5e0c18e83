"""Drafts and short cuts for tests of the write path."""

import uuid
from typing import Any

from tenure.schema.claim import Content, Details, Permissions
from tenure.schema.entity import EntityRef
from tenure.schema.interval import INF_US
from tenure.schema.layers import DecayRule
from tenure.schema.policy import DEFAULT, Policy
from tenure.schema.principal import TENANT_SCOPE, Scope
from tenure.schema.slots import BUILT_IN_SLOTS
from tenure.schema.values import canonical_value
from tenure.schema.vocabulary import Authority, ObjectType, Op, RetirementRule, StateLayer
from tenure.schema.write import Draft, Receipt, Submission
from tenure.store.commit.commit import commit
from tenure.store.commit.work import Result

DAY = 86_400_000_000
SPACE = uuid.UUID(int=7)


def uid(name: str) -> str:
    return str(uuid.uuid5(SPACE, name))


def draft(
    object_id: str,
    subject: str | EntityRef | None = "Ann",
    slot: str | None = "office",
    value: object = None,
    op: Op | str = Op.ASSERT,
    span: tuple[int | None, int] = (0, INF_US),
    **more: Any,
) -> Draft:
    """Return a draft; `more` are fields of `Draft`, `Details` or `Content`."""
    definition = BUILT_IN_SLOTS[slot] if slot else None
    relates = definition is not None and definition.relates
    held = None
    if value is not None and definition is not None and not relates:
        held = canonical_value(value, definition.value_type)
    level = more.pop("level", 2)
    scope: Scope = more.pop("scope", TENANT_SCOPE)
    details = Details(
        scope=scope,
        slot=slot,
        subject_id=more.pop("subject_id", None),
        value_entity_id=None,
        authority_level=Authority(min(level, 4)),
        source_origin=more.pop("source_origin", "user://test"),
        source_kind=more.pop("source_kind", "user_statement"),
        object_type=more.pop("object_type", ObjectType.IDENTITY_FACT),
        layer=more.pop("layer", StateLayer.TENANT),
        applicable_task_types=(),
        sensitivity=(),
        decay_rule=more.pop("decay_rule", None),
        retirement_rule=more.pop("retirement_rule", RetirementRule.ARCHIVE),
        update_path="tenure://write",
        derived_from=more.pop("derived_from", ()),
        origins=("user://test",),
        planned=True,
        actor="tester",
        resolved_via="",
    )
    content = Content(
        value_json=held.json if held else "null",
        text=more.pop("text", f"{subject} {slot} {value}"),
        normalized_claim=f"{slot}: {value}",
        why_it_matters="test",
        behavioral_implication=None,
        enforcement=None,
        terms="",
    )
    fields: dict[str, Any] = {
        "object_id": uid(object_id),
        "op": Op(op),
        "slot": definition,
        "slot_key": None,
        "subject": subject,
        "value_key": held.key if held else "",
        "value_mention": value if relates else None,
        "valid_from": span[0],
        "valid_until": span[1],
        "whole_extent": False,
        "level": level,
        "source_authority": 800,
        "confidence": 800,
        "details": details,
        "content": content,
        "permissions": Permissions(),
        "quarantine": "",
        "warnings": (),
        "idempotency_key": None,
        "fingerprint": object_id,
    }
    return Draft(**(fields | more))


def submission(*drafts: Draft, scopes: tuple[str, ...] = ("tenant",), **more: Any) -> Submission:
    return Submission(drafts=drafts, scopes=frozenset(scopes), actor="tester", **more)


def write_all(
    store: Any, *group: Submission, now: int = 1, policy: Policy = DEFAULT, dry_run: bool = False
) -> list[Result]:
    with store.writing("default") as tx:
        return commit(tx, group, now_us=lambda: now, policy=policy, dry_run=dry_run)


def write(store: Any, *drafts: Draft, now: int = 1, **more: Any) -> tuple[Receipt, ...]:
    """Commit the drafts as one write and return the receipts; raise a refusal."""
    (result,) = write_all(store, submission(*drafts, **more), now=now)
    if isinstance(result, Exception):
        raise result
    return result


def decay(days: float, threshold: float) -> DecayRule:
    return DecayRule(days, threshold)
