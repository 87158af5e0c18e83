"""From what a caller wrote to a draft that may meet the store.

Every word, time, scope, permission and number is checked against `schema/limits.py`. Every aspect
of tenure gets its value: stated, else from the slot, the object type or the layer, else the write
is refused. Authority comes from the authenticated channel, never from the payload.

The raw content is kept verbatim (ladder 0) and the claim is normalised (ladder 1). A relevance
condition is stated, or the slot's, or made from the source; without one the write is refused.
Secrets are refused; level-4 text that a detector suspects is quarantined. Nothing is read or
written here; `References` hands in what a write refers to. Checklist: C-001, C-018, C-024, C-034
to C-036, C-100.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import date
from functools import lru_cache
from itertools import chain
from operator import attrgetter
from types import NoneType
from typing import Any, Final, cast

from ...compiler.safety.credentials import find_credentials
from ...compiler.safety.detect import ScanVerdict, bears_no_sign, scan, thresholds_of, verdict
from ...compiler.safety.detect import TextChannel as Ingest
from ...resolution.identifiers import FILLER_WARNING, check_named, has_filler
from ...resolution.keys import is_id, of_slot_type
from ...schema.claim import UNKNOWN_AUTHOR, Content, Details, milli
from ...schema.compile_terms import InjectionPolicy
from ...schema.entity import MAX_NAME, EntityRef, check_name
from ...schema.errors import InvalidInput
from ...schema.interval import INF_US, Interval
from ...schema.layers import LAYERS, OBJECT_TYPES, DecayRule
from ...schema.limits import (
    ALIASES,
    IDENTIFIERS,
    LENGTHS,
    check_characters,
    check_json,
    check_number,
    check_text,
    check_texts,
)
from ...schema.policy import WritePolicy
from ...schema.principal import TENANT_SCOPE, Scope, only_project, write_scope
from ...schema.signing import manifest_fields
from ...schema.slots import Slot, object_type_of
from ...schema.terms import terms
from ...schema.values import (
    NO_FIELDS,
    NO_VALUE_KEY,
    Value,
    canonical_json,
    canonical_value,
    text_leaves,
)
from ...schema.vocabulary import (
    ASPECTS,
    Authority,
    ObjectType,
    Op,
    RetirementRule,
    Sensitivity,
    SlotKind,
    StateLayer,
    ValueType,
    missing_aspects,
    parse,
)
from ...schema.write import RESTATE, Draft, Write
from ..backend.caller import (
    certain_from,
    enforcement,
    mention,
    optional,
    scope_of,
    share,
    spoken_name,
)
from ..backend.definitions import decay
from .trust import (
    INGEST_CHANNELS,
    Channel,
    References,
    WriteContext,
    WriteRequest,
    authorship_of,
    channel,
    check_narrow,
    check_outline,
    check_standing,
    derived_scope,
    levels_of,
    permissions_of,
    trust_of,
)

_SEARCHED_CHARS: Final = 2_000
"""Characters of a structure's texts that are searched by words."""
INJECTION: Final = "injection_suspected"
"""The warning, and the reason of a quarantine, of a text that a detector suspects."""

Check = Callable[[object, str], None]
"""Refuses the value of a field, given its name."""

_values_of: Final = attrgetter(*Write.__dataclass_fields__)
"""All fields of a write in one call, in the order of their checks."""

_UNSTATED_ORIGIN: Final = Write.__dataclass_fields__["source_origin"].default

_UNSET = tuple((f.name, f.default) for f in fields(Write) if f.name != "idempotency_key")
_request_values = attrgetter(*(name for name, _ in _UNSET))


def check_shape(write: Write) -> None:
    """Refuse a write with a field that is malformed, too long, too deep or cannot be stored.

    Raises:
        InvalidInput: `bad_field`, `too_large`, `too_deep`, `out_of_range`, `unstorable_text`.
    """
    whatever: object = write
    if not isinstance(whatever, Write):
        raise InvalidInput(
            f"a write is a tenure.Write, not {type(whatever).__name__}; Write(**fields) makes one",
            code="bad_field",
            field="writes",
        )

    for value, (name, default, check) in zip(_values_of(write), _CHECKS, strict=True):
        # Most fields of most writes are left out.
        if value is default or value == default:
            continue
        check(value, name)


def _check_text(value: object, field: str) -> None:
    check_text(value, field, most=LENGTHS.get(field))


def _check_moment(value: object, field: str) -> None:
    if not isinstance(value, date):
        check_text(value, field, most=64)


def check_entity(value: object, field: str) -> None:
    """Refuse what cannot name an entity, or has too many names.

    Raises:
        InvalidInput: `bad_field`, `too_large`, `too_deep`, `unstorable_text`.
    """
    if isinstance(value, str):
        check_text(value, field)
    elif isinstance(value, EntityRef):
        _check_names(value.aliases, value.external_ids, field)
        for text in (value.name, value.type, *value.aliases, *value.external_ids.values()):
            check_text(text, field)
    elif isinstance(value, Mapping):
        members = cast("Mapping[str, Any]", value)
        check_json(members, field)
        identifiers = members.get("external_ids") or NO_FIELDS
        if not isinstance(identifiers, Mapping):
            raise InvalidInput(
                f"{field}: external_ids must be an object", code="bad_field", field=field
            )
        aliases = members.get("aliases") or ()
        check_texts(aliases, field, most=ALIASES)
        _check_names(aliases, cast("Mapping[str, Any]", identifiers), field)
    else:
        raise InvalidInput(
            f"{field} must be a name, an id or an EntityRef, not {type(value).__name__}",
            code="bad_field",
            field=field,
        )


def _check_names(aliases: Any, identifiers: Mapping[str, Any], field: str) -> None:
    # Each name is looked up under the tenant's write lock, so that many of them hold up everybody.
    if len(aliases) > ALIASES or len(identifiers) > IDENTIFIERS:
        raise InvalidInput(
            f"{field} has {len(aliases)} aliases and {len(identifiers)} identifiers; one write "
            f"takes {ALIASES} and {IDENTIFIERS}",
            code="too_large",
            field=field,
        )


def _check_value(value: object, field: str) -> None:
    if isinstance(value, EntityRef):
        check_entity(value, field)
    else:
        check_json(value, field)


def _object_check(*kinds: type) -> Check:
    """A check for a mapping, or one of these types."""

    def check(value: object, field: str) -> None:
        if isinstance(value, kinds):
            return
        if not isinstance(value, Mapping):
            raise InvalidInput(f"{field} must be an object", code="bad_field", field=field)

        check_json(cast("object", value), field)

    return check


def _check_flag(value: object, field: str) -> None:
    if not isinstance(value, bool):
        raise InvalidInput(f"{field} must be true or false", code="bad_field", field=field)


_OTHER_CHECKS: Final[Mapping[str, Check]] = {
    "subject": check_entity,
    "value": _check_value,
    "valid_from": _check_moment,
    "valid_until": _check_moment,
    "scope": _object_check(Scope),
    "decay_rule": _object_check(DecayRule),
    "enforcement": _object_check(),
    "source_authority": check_number,
    "confidence": check_number,
    "authority_level": check_number,
    "planned": _check_flag,
    **dict.fromkeys(
        (
            "applicable_task_types",
            "sensitivity",
            "allow_roles",
            "deny_roles",
            "derived_from",
        ),
        check_texts,
    ),
}
_CHECKS: Final = tuple(
    (name, item.default, _OTHER_CHECKS.get(name, _check_text))
    for name, item in Write.__dataclass_fields__.items()
)


def content_of(
    request: WriteRequest,
    slot: Slot | None,
    value: Value | None,
    details: Details,
    *,
    names: Mapping[str, str],
) -> Content:
    """Return the texts of an object.

    Raises:
        InvalidInput: `missing_aspect` when an aspect of tenure has no value.
    """
    write, target = request.write, request.references.target
    claim = _claim_text(request, slot, value, names=names)
    text = write.content or claim
    relevance = _relevance_condition(request, slot, details)
    if target and not write.why_it_matters:
        relevance = target.content.why_it_matters or relevance

    # Every other aspect has a value by now.
    draft = dict.fromkeys(chain.from_iterable(ASPECTS.values()), "stated")
    draft |= {"why_it_matters": relevance, "update_path": details.update_path}
    missing = missing_aspects(draft)
    if missing:
        raise InvalidInput(
            f"the object has no {', '.join(missing)}; state why_it_matters= (when it should "
            "influence an answer), or give it a slot that says so",
            code="missing_aspect",
            aspects=list(missing),
        )

    search_text = claim  # of a structure its texts: keys and numbers are the same in every record
    if value is not None and value.json.startswith(("[", "{")):
        leaves = " ".join(text_leaves(value.plain))[:_SEARCHED_CHARS]
        search_text = f"{claim.removesuffix(value.words)} {leaves}"
    search_terms: list[str] = []
    texts = dict.fromkeys((search_text if text == claim else text, search_text, relevance))
    for part in () if slot is not None and slot.kind is SlotKind.STRUCTURE else texts:
        search_terms += terms(part)

    return Content(
        value_json=value.json if value else "null",
        text=text,
        normalized_claim=claim,
        why_it_matters=relevance,
        behavioral_implication=write.behavioral_implication,
        enforcement=enforcement(write.enforcement),
        terms=" ".join(search_terms),
    )


def _claim_text(
    request: WriteRequest, slot: Slot | None, value: Value | None, *, names: Mapping[str, str]
) -> str:
    """Return the normalised assertion: subject, slot and value (ladder level 1)."""
    if slot is None:
        return " ".join((request.write.content or "").split())

    write, target = request.write, request.references.target
    subject: object = target.details.subject_id if target else write.subject
    name = spoken_name(subject)
    name = names.get(name, name)
    if slot.relates:
        value_end = write.value
        if value_end is None and target:
            value_end = target.details.value_entity_id
        object_text = spoken_name(value_end)
        object_text = names.get(object_text, object_text)
    else:
        words = "none" if value is None else value.words
        object_text = "" if slot.kind is SlotKind.STRUCTURE else words
    return f"{name} {slot.name.replace('_', ' ')}: {object_text}".strip()


def _relevance_condition(request: WriteRequest, slot: Slot | None, details: Details) -> str:
    if request.write.why_it_matters.strip():
        return request.write.why_it_matters.strip()
    if slot:
        return slot.why_it_matters or slot.description
    if details.object_type in (ObjectType.RETRIEVED_PASSAGE, ObjectType.TOOL_SCHEMA):
        return f"what {details.source_origin} says"

    return ""


def inspect(
    request: WriteRequest, content: Content, details: Details, value: Value | None
) -> tuple[str, tuple[str, ...]]:
    """Why a write is quarantined, empty for no reason, and the warnings of its receipt.

    Every text of the write is looked at, not its content alone: a name, a value or a condition
    reaches an envelope as well. What is derived is judged by the weakest of its sources.

    Raises:
        InvalidInput: `secret_in_content`; `injection_rejected`, where the policy rejects.
    """
    if value is not None and request.context.outlines and details.slot is not None:
        return "", ()
    # Joined, so that the patterns are set up once: most texts are a few words.
    texts = [*_texts(request.write, content, value)]
    # Paths look like hidden text, and are those of many writes: each is read once.
    names = request.write.source_origin, request.write.update_path or ""
    texts += [name for name in names if _has_findings(name)]
    text = _without_ids("\n".join(texts), request.write, value)
    is_plain = bears_no_sign(text)
    is_secret = Sensitivity.CREDENTIAL.value in request.write.sensitivity
    if is_secret or (not is_plain and find_credentials(text)):
        raise InvalidInput(
            "the text holds a key, token or password; tenure never stores one. "
            "Remove it and write again",
            code="secret_in_content",
        )

    policy = request.context.policy.write
    warnings: list[str] = []
    if len(content.text) > policy.long_text_chars:
        warnings.append("long_content")
    if value and value.normalized:
        warnings.append("value_normalized")

    ingest = _ingest_of(request, details)
    if ingest is not None:
        _check_length(content.text, ingest, policy)
        is_plain = is_plain and len(text) <= thresholds_of(policy.detectors)[ingest].length
    if ingest is None or is_plain or is_unsuspected(text, ingest, policy):
        return "", tuple(warnings)
    if ingest is Ingest.USER:
        # Somebody may well quote an attack, or test one: it is kept, and never guidance.
        return "", (*warnings, INJECTION)

    if policy.injection is InjectionPolicy.REJECT:
        raise InvalidInput(
            "the text looks like an injected instruction and the policy rejects such text",
            code="injection_rejected",
        )

    return INJECTION, tuple(warnings)


def is_unsuspected(text: str, ingest: Ingest, policy: WritePolicy) -> bool:
    """Whether the detectors of the policy pass a text of a channel."""
    thresholds = thresholds_of(policy.detectors)
    findings = scan(text, ingest, thresholds=thresholds)
    return verdict(findings, ingest, thresholds=thresholds) is ScanVerdict.PASS


def _check_length(text: str, ingest: Ingest, policy: WritePolicy) -> None:
    """Refuse a text that is longer than an honest one of its channel ever is (C-164).

    Sheer length pushes the rules out of a model's attention. The policy's own limit holds too.
    """
    limit = thresholds_of(policy.detectors)[ingest].length
    if len(text) > limit:
        raise InvalidInput(
            f"content has {len(text)} characters, and what comes in as {ingest.value} has at most "
            f"{limit}; keep it as an artifact and write what it says",
            code="too_large",
            field="content",
        )


def _ingest_of(request: WriteRequest, details: Details) -> Ingest | None:
    """The channel whose threshold holds: that of the weakest source; None for operators."""
    if details.authority_level <= Authority.DEVELOPER:
        return None
    if details.authority_level == Authority.USER:
        return Ingest.USER
    if details.authority_level == Authority.INFERRED_MEMORY:
        return Ingest.AGENT

    kinds = [details.source_kind, *(s.details.source_kind for s in request.references.sources)]

    return next(
        (INGEST_CHANNELS[kind] for kind in kinds if kind in INGEST_CHANNELS), Ingest.DOCUMENT
    )


def _without_ids(text: str, write: Write, value: Value | None) -> str:
    """A text of a write without the ids by which it names entities.

    They are the store's own, since a write that names an unknown one is refused. Left in, their
    letters and digits would have each such write read in all disguises.
    """
    for name in (write.subject, write.value if value is None else None):
        if isinstance(name, str) and is_id(name):
            text = text.replace(name, " ")
    return text


def _texts(write: Write, content: Content, value: Value | None) -> Iterator[str]:
    """Every text that a write brings, each once."""
    yield content.text
    for text in (content.normalized_claim, content.why_it_matters, content.behavioral_implication):
        if text and text != content.text:
            yield text

    if content.enforcement:
        yield content.enforcement

    # Escapes in the JSON of a tool would hide its words from the patterns.
    if "{" in content.text:
        yield from text_leaves(manifest_fields(content.text), with_keys=True)

    # The claim of a text without a slot says neither of whom it is nor about what.
    if write.slot is None:
        yield spoken_name(write.subject)

    for entity in (write.subject, write.value):
        if isinstance(entity, EntityRef):
            yield from (*entity.aliases, *entity.external_ids.keys(), *entity.external_ids.values())
        elif isinstance(entity, Mapping):
            yield from text_leaves(cast("object", entity), with_keys=True)

    # A list or an object has texts of its own; a plain value is in the claim already.
    if value is not None and value.json.startswith(("[", "{")):
        yield from text_leaves(value.plain, with_keys=True)


@lru_cache(maxsize=1_024)
def _has_findings(name: str) -> bool:
    """Whether any detector finds anything in an origin or a path."""
    if bears_no_sign(name):
        return False
    return bool(scan(name, Ingest.DOCUMENT) or find_credentials(name))


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
        write, context, target = self.write, self.context, self.references.target
        self._sizes()
        op, slot = self._op(), self._slot()
        source = channel(write, context)
        level, effective = levels_of(self.request, source, slot)
        valid_from, valid_until = self._times()
        value, mention = self._value(op, slot)
        subject = None if target else self._subject(op, slot)
        entity = of_slot_type(subject, slot.subject_types) if subject and slot else subject
        refs = [ref for ref in (entity, mention) if isinstance(ref, EntityRef)]
        if op in (Op.ASSERT, Op.CORRECT):
            check_named(refs)
        has_fillers = any(has_filler(ref, context.policy.resolution.attributes) for ref in refs)
        details = self._details(source, level, slot)
        check_standing(self.request, details, slot)
        permissions = permissions_of(self.request, details.sensitivity)
        # Readers of a sentence may not see every name that its writer sees.
        names = self.request.references.names.names_for(details.scope, permissions)
        content = content_of(self.request, slot, value, details, names=names)
        quarantine, warnings = inspect(self.request, content, details, value)
        if INJECTION in warnings:
            # It is kept, since somebody may quote an attack, and it never directs anybody.
            details = replace(details, authorship=UNKNOWN_AUTHOR)
        return Draft(
            object_id=self.request.object_id,
            op=op,
            slot=slot,
            slot_key=target.claim.slot_key if target else None,
            subject=subject,
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
            permissions=permissions,
            quarantine=quarantine,
            warnings=(*source.warnings, *warnings, *([FILLER_WARNING] if has_fillers else ())),
            idempotency_key=None,
            plain_key=write.idempotency_key,
            fingerprint=fingerprint(write),
            expected=write.expected,
            restates=write.op == RESTATE,
        )

    def _op(self) -> Op:
        """The verb; a restatement is an assert until the claim that it replaces is known."""
        if self.write.op != RESTATE:
            return parse(Op, self.write.op)
        if self.write.source_origin == _UNSTATED_ORIGIN:
            raise InvalidInput(
                "a restatement replaces what the same source said, so it states source_origin: "
                "the record, such as record://crm/7",
                code="bad_origin",
                field="source_origin",
            )
        return Op.ASSERT

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
        check_characters(self.write.value, "value", most=limit)
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
        slot = None if name is None else self.context.vocabulary.slot(name)
        check_outline(slot, self.context)
        return slot

    def _times(self) -> tuple[int | None, int]:
        start = optional(self.write.valid_from, field="valid_from")
        end = optional(self.write.valid_until, field="valid_until")
        end = INF_US if end is None else end
        if start is not None:
            Interval(start, end)  # it refuses an end before its beginning
        return start, end

    def _subject(self, op: Op, slot: Slot | None) -> EntityRef | str | None:
        subject = self.write.subject
        if isinstance(subject, Mapping | EntityRef):
            subject = mention(subject)
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
        # A delete empties a slot of one value, whichever value is stated with it.
        if op is Op.DELETE and (value is None or not slot.many):
            return None, None
        if value is None:
            raise InvalidInput(
                f"{op.value} on slot {slot.name!r} needs a value", code="missing_value"
            )
        if slot.relates:
            return None, of_slot_type(mention(value), slot.value_types)
        if slot.value_type is ValueType.PARTIAL_DATE and isinstance(value, str):
            # Read when a text comes: the patterns take longer to load than a write to run.
            from ..extraction.dates import partial_date

            value = partial_date(value) or value
        try:
            return canonical_value(value, slot.value_type), None
        except InvalidInput as error:
            raise InvalidInput(
                f"slot {slot.name!r}: {error}", code=error.code, **error.data, slot=slot.name
            ) from error

    def _text_value(self, op: Op) -> Value | None:
        target = self.references.target
        if op is Op.DELETE:
            return None
        if op in (Op.RETRACT, Op.DENY) and target:
            return Value(target.claim.value_key, target.content.value_json)
        if not self.write.content:
            raise InvalidInput(
                "state a slot and a value, or content (content=, --content)",
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
            derived_from=tuple(map(str, write.derived_from)),
            origins=tuple(sorted(origins)),
            planned=bool(write.planned),
            actor=self.context.principal.user or "service",
            resolved_via="object_id" if target else "",
            authorship=authorship_of(self.context.principal, self.context.policy, scope),
            certain_us=None if slot and slot.constant else certain_from(write.valid_from),
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
        # What the platform and its developers say fades only where that is stated, and what a
        # document still says never does.
        if rule is None and level > Authority.DEVELOPER and not self.context.outlines:
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
