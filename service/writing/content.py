"""What a write holds: the shape of its fields, the texts of its object, and what no text may hold.

Each field is of its type, short enough, and can be stored: the table of the edge over
`schema/limits.py`. A write through the API is held to the same shapes as a line of an import file,
so that nothing behind it meets a type it does not know.

The raw content is kept verbatim (ladder 0), the claim is normalised (ladder 1), and the
relevance condition is stated, or the slot's, or made from the source; without one the write
is refused. Secrets are refused; level-4 text that a detector suspects is set apart.
Checklist: C-001, C-024, C-034, C-035, C-100.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any, Final, cast

from ...compiler.safety.credentials import find_credentials
from ...compiler.safety.detect import ScanVerdict, bears_no_sign, scan, thresholds_of, verdict
from ...compiler.safety.detect import TextChannel as Ingest
from ...resolution.keys import is_id
from ...schema.claim import Content, Details
from ...schema.compile_terms import InjectionPolicy
from ...schema.entity import EntityRef
from ...schema.errors import InvalidInput
from ...schema.layers import DecayRule
from ...schema.limits import (
    ALIASES,
    IDENTIFIERS,
    LENGTHS,
    check_json,
    check_number,
    check_text,
    check_texts,
)
from ...schema.policy import WritePolicy
from ...schema.principal import Scope
from ...schema.slots import Slot
from ...schema.terms import terms
from ...schema.tool_manifest import manifest_fields
from ...schema.values import NO_FIELDS, Value
from ...schema.vocabulary import Authority, ObjectType, Sensitivity, missing_aspects
from ...schema.write import Write
from ..backend.caller import enforcement, shown_value, spoken_name
from .trust import WriteRequest

_INGEST = {
    "web": Ingest.WEB,
    "tool": Ingest.TOOL,
    "model": Ingest.MODEL,
    "agent": Ingest.AGENT,
    "document": Ingest.DOCUMENT,
}


INJECTION: Final = "injection_suspected"
"""The warning, and the reason of a quarantine, of a text that a detector suspects."""


Check = Callable[[object, str], None]
"""Refuses the value of a field, given its name."""


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


def _check_list(value: object, field: str) -> None:
    check_texts(value, field)


def _check_moment(value: object, field: str) -> None:
    if not isinstance(value, datetime):
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
        _check_list,
    ),
}
_CHECKS: Final = tuple(
    (name, item.default, _OTHER_CHECKS.get(name, _check_text))
    for name, item in Write.__dataclass_fields__.items()
)
_values_of: Final = attrgetter(*Write.__dataclass_fields__)
"""All fields of a write in one call, in the order of their checks."""


def content_of(
    request: WriteRequest, slot: Slot | None, value: Value | None, details: Details
) -> Content:
    """Return the texts of an object.

    Raises:
        InvalidInput: `missing_aspect` when an aspect of tenure has no value.
    """
    write, target = request.write, request.references.target
    claim = _claim_text(request, slot, value)
    text = write.content or claim
    relevance = _relevance_condition(request, slot, details)
    if target and not write.why_it_matters:
        relevance = target.content.why_it_matters or relevance

    draft = {
        **dict.fromkeys(("tenant_id", "valid_from", "tx_start"), "held"),
        "state_layer": details.layer,
        "permission_scope": "held",
        "source_origin": details.source_origin,
        "source_kind": details.source_kind,
        "authority_level": str(details.authority_level),
        "source_authority": "held",
        "why_it_matters": relevance,
        "applicable_task_types": details.applicable_task_types,
        "update_path": details.update_path,
        "contradiction_status": "held",
        "retirement_rule": details.retirement_rule,
    }
    missing = missing_aspects(draft)
    if missing:
        raise InvalidInput(
            f"the object has no {', '.join(missing)}; state why_it_matters= (when it should "
            "influence an answer), or give it a slot that says so",
            code="missing_aspect",
            aspects=list(missing),
        )

    texts = dict.fromkeys((text, claim, relevance))
    search_terms: list[str] = []
    for part in texts:
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


def _claim_text(request: WriteRequest, slot: Slot | None, value: Value | None) -> str:
    """Return the normalised assertion: subject, slot and value (ladder level 1)."""
    if slot is None:
        return " ".join((request.write.content or "").split())

    name = spoken_name(request.write.subject)
    object_text = spoken_name(request.write.value) if slot.relates else shown_value(value)
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
    """Why a write is set apart, empty for no reason, and the warnings of its receipt.

    Every text of the write is looked at, not its content alone: a name, a value or a condition
    reaches an envelope as well. What is derived is judged by the weakest of its sources.

    Raises:
        InvalidInput: `secret_in_content`; `injection_rejected`, where the policy rejects.
    """
    # Joined, so that the patterns are set up once: most texts are a few words.
    text = _without_ids("\n".join(_texts(request.write, content, value)), request.write, value)
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
    if ingest is None or is_plain or _is_unsuspected(text, ingest, policy):
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


def _is_unsuspected(text: str, ingest: Ingest, policy: WritePolicy) -> bool:
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

    return next((_INGEST[kind] for kind in kinds if kind in _INGEST), Ingest.DOCUMENT)


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
        yield from _strings(manifest_fields(content.text))

    # The claim of a text without a slot says neither of whom it is nor about what.
    if write.slot is None:
        yield spoken_name(write.subject)

    for entity in (write.subject, write.value):
        if isinstance(entity, EntityRef):
            yield from (*entity.aliases, *entity.external_ids.keys(), *entity.external_ids.values())
        elif isinstance(entity, Mapping):
            yield from _strings(cast("object", entity))

    # A list or an object has texts of its own; a plain value stands in the claim already.
    if value is not None and value.json.startswith(("[", "{")):
        yield from _strings(value.plain)

    yield write.source_origin
    if write.update_path:
        yield write.update_path


def _strings(plain: object) -> Iterator[str]:
    """The texts inside of a JSON value, keys among them."""
    if isinstance(plain, str):
        yield plain
    elif isinstance(plain, Mapping):
        for key, value in cast("Mapping[str, object]", plain).items():
            yield str(key)
            yield from _strings(value)
    elif isinstance(plain, list | tuple):
        for item in cast("Sequence[object]", plain):
            yield from _strings(item)
