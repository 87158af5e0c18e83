"""Wording: the texts of an object, and what no text may hold.

The raw content is kept verbatim (ladder 0), the claim is normalised (ladder 1), and the
relevance condition is stated, or the slot's, or made from the source; without one the write
is refused. Secrets are refused; level-4 text that a detector suspects is set apart.
Checklist: C-001, C-024, C-034, C-035, C-100.
"""

from __future__ import annotations

from ...compiler.safety.credentials import find_credentials
from ...compiler.safety.detect import Channel as Ingest
from ...compiler.safety.detect import Verdict, scan, verdict
from ...schema.claim import Content, Details
from ...schema.compile_terms import InjectionPolicy
from ...schema.context_object import missing_aspects
from ...schema.errors import InvalidInput
from ...schema.slots import Slot
from ...schema.sources import Channel
from ...schema.terms import terms
from ...schema.values import Value
from ...schema.vocabulary import Authority, ObjectType, Sensitivity
from ..backend.parsing import enforcement, shown_value, spoken_name
from .trust import WriteRequest

_INGEST = {
    "web": Ingest.WEB,
    "tool": Ingest.TOOL,
    "model": Ingest.MODEL,
    "agent": Ingest.AGENT,
    "document": Ingest.DOCUMENT,
}


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
    return Content(
        value_json=value.json if value else "null",
        text=text,
        normalized_claim=claim,
        why_it_matters=relevance,
        behavioral_implication=write.behavioral_implication,
        enforcement=enforcement(write.enforcement),
        terms=" ".join(term for part in texts for term in terms(part)),
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
    request: WriteRequest, content: Content, source: Channel, value: Value | None
) -> tuple[str, tuple[str, ...]]:
    """Refuse secrets; set apart level-4 text that a detector suspects (C-100)."""
    texts = [content.text, content.why_it_matters, content.behavioral_implication or ""]
    if Sensitivity.CREDENTIAL.value in request.write.sensitivity or any(
        find_credentials(text) for text in texts
    ):
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
    if source.authority < Authority.RETRIEVED:
        return "", tuple(warnings)
    ingest = _INGEST.get(source.kind.name, Ingest.DOCUMENT)
    if verdict(scan(content.text, ingest), ingest) is Verdict.QUARANTINE:
        if policy.injection is InjectionPolicy.REJECT:
            raise InvalidInput(
                "the text looks like an injected instruction and the policy rejects such text",
                code="injection_rejected",
            )
        return "injection_suspected", tuple(warnings)
    return "", tuple(warnings)
