"""Sanitising: from what a caller wrote to a draft that may meet the store.

Every bounded word, time, scope, permission and number is checked here, every aspect of
tenure gets its value (stated, else from the slot, the object type, the layer, else refused),
and authority comes from the authenticated channel, never from the payload. Nothing is read
or written; what a write refers to is handed in as `References`.
Checklist: C-001, C-018, C-035, C-036.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from operator import attrgetter
from types import NoneType
from typing import Any, cast

from ...schema.claim import UNKNOWN_AUTHOR, Details, milli
from ...schema.entity import MAX_NAME, EntityRef, check_name
from ...schema.errors import InvalidInput
from ...schema.interval import INF_US, Interval
from ...schema.layers import LAYERS, OBJECT_TYPES, DecayRule
from ...schema.principal import TENANT_SCOPE, Scope, only_project, write_scope
from ...schema.slots import Slot, object_type_of
from ...schema.values import NO_VALUE_KEY, Value, canonical_json, canonical_value
from ...schema.vocabulary import (
    Authority,
    ObjectType,
    Op,
    RetirementRule,
    Sensitivity,
    StateLayer,
    ValueType,
    parse,
    parse_level,
)
from ...schema.write import Draft, Write
from ..backend.caller import entity_ref, mention, optional, scope_of, share
from ..backend.definitions import decay
from .content import INJECTION, content_of, inspect
from .trust import (
    Channel,
    References,
    WriteContext,
    WriteRequest,
    authorship_of,
    channel,
    check_narrow,
    check_standing,
    derived_scope,
    levels_of,
    permissions_of,
    trust_of,
)


def sanitize(
    write: Write, context: WriteContext, *, object_id: str, references: References
) -> Draft:
    """Return the draft of a write.

    Raises:
        InvalidInput: for whatever is malformed, unknown, too large or missing.
        Forbidden: `authority_above_ceiling`, `scope_not_yours`, `directive_role_required`.
    """
    request = WriteRequest(write, context, object_id, references)
    return _DraftBuilder(request, write, context, references).draft()


def fingerprint(write: Write) -> str:
    """The SHA-256 of a write's canonical request, its idempotency key apart."""
    # Fields that are not stated are left out, so that a new one does not change old fingerprints.
    request: dict[str, Any] = {}
    for value, (name, unset) in zip(_request_values(write), _UNSET, strict=True):
        if value is not unset and value != unset:
            request[name] = _plain(value)
    return hashlib.sha256(canonical_json(request).encode("utf-8", "surrogatepass")).hexdigest()


_UNSET = tuple((f.name, f.default) for f in fields(Write) if f.name != "idempotency_key")
_request_values = attrgetter(*(name for name, _ in _UNSET))


_SCALARS = (str, int, bool, NoneType)


def _plain(value: Any) -> Any:
    if isinstance(value, _SCALARS):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in cast("Mapping[str, Any]", value).items()}
    # Sets have an order of their own in each process, and a fingerprint is compared across them.
    if isinstance(value, set | frozenset):
        return sorted(map(str, cast("set[Any]", value)))
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return list(map(_plain, cast("list[Any]", value)))
    return str(value)


@dataclass(frozen=True, slots=True)
class _DraftBuilder:
    """One write on its way to a draft."""

    request: WriteRequest
    write: Write
    context: WriteContext
    references: References

    def draft(self) -> Draft:
        write, target = self.write, self.references.target
        self._sizes()
        op, slot = parse(Op, write.op), self._slot()
        source = self._source()
        level, effective = levels_of(self.request, source, slot)
        valid_from, valid_until = self._times()
        value, mention = self._value(op, slot)
        details = self._details(source, level, slot)
        check_standing(self.request, details, slot)
        content = content_of(self.request, slot, value, details)
        quarantine, warnings = inspect(self.request, content, details, value)
        if INJECTION in warnings:
            # It is kept, since somebody may quote an attack, and it never directs anybody.
            details = replace(details, authorship=UNKNOWN_AUTHOR)
        return Draft(
            object_id=self.request.object_id,
            op=op,
            slot=slot,
            slot_key=target.claim.slot_key if target else None,
            subject=None if target else self._subject(op, slot),
            value_key=value.key if value else NO_VALUE_KEY,
            value_mention=mention,
            valid_from=valid_from,
            valid_until=valid_until,
            whole_extent=op is Op.RETRACT and valid_from is None and valid_until == INF_US,
            level=effective,
            source_authority=milli(trust_of(self.request, source)),
            confidence=milli(share(write.confidence, "confidence")),
            details=details,
            content=content,
            permissions=permissions_of(self.request, details.sensitivity),
            quarantine=quarantine,
            warnings=(*source.warnings, *warnings),
            idempotency_key=None,
            plain_key=write.idempotency_key,
            fingerprint=fingerprint(write),
            expected=write.expected,
        )

    def _sizes(self) -> None:
        limit = self.context.policy.write.max_text_chars
        for name in ("content", "value", "why_it_matters", "behavioral_implication"):
            text = getattr(self.write, name)
            if isinstance(text, str) and len(text) > limit:
                raise InvalidInput(
                    f"{name} has {len(text)} characters, the policy allows {limit}; "
                    "split it, or keep it as a document and write what it says",
                    code="too_large",
                    field=name,
                )
        if len(self.write.derived_from) > self.context.policy.write.max_sources:
            raise InvalidInput("derived_from names too many objects", code="too_large")

    def _slot(self) -> Slot | None:
        target = self.references.target
        name = target.details.slot if target else self.write.slot
        if target and self.write.slot not in (None, name):
            raise InvalidInput(
                f"object {target.claim.object_id} belongs to slot {name!r}, "
                f"not {self.write.slot!r}; state only one of object_id and slot",
                code="target_mismatch",
            )
        return None if name is None else self.context.vocabulary.slot(name)

    def _source(self) -> Channel:
        write, principal = self.write, self.context.principal
        level = None if write.authority_level is None else parse_level(write.authority_level)
        origin = write.source_origin
        if not isinstance(origin, str) or "://" not in origin or len(origin) > 2048:
            raise InvalidInput(
                f"source_origin {origin!r:.80} is no URI; write user://chat or record://crm/7",
                code="bad_origin",
            )
        trust = write.source_authority
        return channel(
            origin,
            kinds=self.context.vocabulary.source_kinds,
            granted_kinds=principal.source_kinds,
            ceiling=principal.authority_level,
            stated_level=level,
            stated_trust=None if trust is None else share(trust, "source_authority"),
        )

    def _times(self) -> tuple[int | None, int]:
        start = optional(self.write.valid_from, field="valid_from")
        end = optional(self.write.valid_until, field="valid_until")
        end = INF_US if end is None else end
        # Made for its refusal alone: an end before its beginning.
        if start is not None:
            Interval(start, end)
        return start, end

    def _subject(self, op: Op, slot: Slot | None) -> EntityRef | str | None:
        subject = self.write.subject
        if isinstance(subject, Mapping):
            subject = entity_ref(subject)
        if isinstance(subject, EntityRef):
            self.context.vocabulary.entity_type(subject.type)
            return subject
        if isinstance(subject, str):
            # Refused only by the commit, a name would have all that share it run one by one. Most
            # names are plain, and need no look at each of their characters.
            is_plain = subject.isascii() and subject.isprintable() and bool(subject.strip())
            if not is_plain or len(subject) > MAX_NAME:
                check_name(subject)
            return subject
        if slot is not None:
            raise InvalidInput(
                f"a claim about slot {slot.name!r} needs a subject; give a name, an entity id "
                "or an EntityRef",
                code="missing_subject",
            )
        if op not in (Op.ASSERT,):
            raise InvalidInput(
                f"{op.value} of a text without a slot addresses it by object_id=",
                code="missing_subject",
            )
        return None

    def _value(self, op: Op, slot: Slot | None) -> tuple[Value | None, EntityRef | str | None]:
        value, target = self.write.value, self.references.target
        if slot is None:
            return self._text_value(op), None
        if value is None and target and op in (Op.RETRACT, Op.DENY):
            return Value(target.claim.value_key, target.content.value_json), None
        if value is None:
            if op is Op.DELETE:
                return None, None
            raise InvalidInput(
                f"{op.value} on slot {slot.name!r} needs a value", code="missing_value"
            )
        if slot.relates:
            return None, mention(value)
        # A delete empties a slot of one value, whichever value is stated with it.
        if op is Op.DELETE and not slot.many:
            return None, None
        return canonical_value(value, slot.value_type), None

    def _text_value(self, op: Op) -> Value | None:
        target = self.references.target
        if op is Op.DELETE:
            return None
        if op in (Op.RETRACT, Op.DENY) and target:
            return Value(target.claim.value_key, target.content.value_json)
        if not self.write.content:
            raise InvalidInput(
                "a write without a slot needs content; give content=, or a slot and a value",
                code="missing_value",
            )
        return canonical_value(self.write.content, ValueType.TEXT)

    def _details(self, source: Channel, level: Authority, slot: Slot | None) -> Details:
        write, vocabulary, target = self.write, self.context.vocabulary, self.references.target
        object_type = self._object_type(level, slot)
        layer = self._layer(object_type)
        decay, retirement = self._tenure(object_type, layer, slot, level)
        stated_types = tuple(write.applicable_task_types) or (
            slot.applicable_task_types if slot else ()
        )
        sources = self.references.sources
        origins = {write.source_origin}
        for source_claim in sources:
            origins.update(source_claim.details.origins)
        scope = target.details.scope if target else self._scope(layer, object_type)
        if sources and not self.context.widens:
            check_narrow(scope, sources)
        return Details(
            scope=scope,
            slot=slot.name if slot else None,
            subject_id=target.details.subject_id if target else None,
            value_entity_id=target.details.value_entity_id if target else None,
            authority_level=level,
            source_origin=write.source_origin,
            source_kind=source.kind.name,
            object_type=object_type,
            layer=layer,
            applicable_task_types=vocabulary.check("task_type", stated_types),
            sensitivity=self._sensitivity(slot),
            decay_rule=decay,
            retirement_rule=retirement,
            update_path=write.update_path or write.source_origin,
            derived_from=tuple(s.claim.object_id for s in sources),
            origins=tuple(sorted(origins)),
            planned=bool(write.planned),
            actor=self.context.principal.user or "service",
            resolved_via="object_id" if target else "",
            authorship=authorship_of(self.context.principal, self.context.policy, scope),
        )

    def _object_type(self, level: Authority, slot: Slot | None) -> ObjectType:
        if self.write.object_type is not None:
            return parse(ObjectType, self.write.object_type)
        if self.references.target:
            return self.references.target.details.object_type
        return object_type_of(slot.kind if slot else None, level)

    def _layer(self, object_type: ObjectType) -> StateLayer:
        if self.write.layer is not None:
            return parse(StateLayer, self.write.layer)
        if self.references.target:
            return self.references.target.details.layer
        layer = OBJECT_TYPES[object_type].layer
        # Who has no project to write in writes for the tenant, where the standing is checked.
        unbound = layer is StateLayer.PROJECT and self.write.scope is None
        if unbound and only_project(self.context.principal) is None:
            return StateLayer.TENANT
        return layer

    def _scope(self, layer: StateLayer, object_type: ObjectType) -> Scope:
        scope = scope_of(self.write.scope)
        if scope is None and self.references.sources:
            # Sources that everybody reads isolate nothing, and leave the scope to the layer.
            least_scope = derived_scope(self.references.sources)
            if least_scope != TENANT_SCOPE:
                return least_scope
        return write_scope(
            self.context.principal, layer, stated_scope=scope, object_type=object_type
        )

    def _tenure(
        self, object_type: ObjectType, layer: StateLayer, slot: Slot | None, level: Authority
    ) -> tuple[DecayRule | None, RetirementRule]:
        """Return decay and retirement: stated, else the slot's, the type's, the layer's."""
        write, kind = self.write, OBJECT_TYPES[object_type]
        rule = slot.decay_rule if slot else None
        if write.decay_rule is not None:
            rule = decay(write.decay_rule)
        # What the platform and its developers say fades only where that is stated.
        if rule is None and level > Authority.DEVELOPER:
            rule = kind.decay or LAYERS[layer].decay
        if write.retirement_rule is not None:
            return rule, parse(RetirementRule, write.retirement_rule)
        return rule, (slot.retirement_rule if slot else None) or kind.retirement

    def _sensitivity(self, slot: Slot | None) -> tuple[Sensitivity, ...]:
        labels = {parse(Sensitivity, word) for word in self.write.sensitivity}
        labels.update(slot.sensitivity if slot else ())
        for source in self.references.sources:
            labels.update(source.details.sensitivity)
        return tuple(sorted(labels))
