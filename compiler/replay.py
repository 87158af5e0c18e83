"""Replay: the same bytes again from a manifest, without searching or scoring again.

The manifest's rows are read by object id, the recorded scores stand in for every search, and
the ten stages run as the recorded principal. Permissions are those of today: if the caller may
not read every recorded object now, the replay is refused. What was erased since is missing from
the answer, which says so by a gap; it never says something wrong.
Checklist C-199.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..schema.claim import Version
from ..schema.compile_terms import Stage
from ..schema.errors import Forbidden
from ..schema.language import NO_LANGUAGE, Language
from ..schema.policy import Policy
from ..schema.principal import Principal, Sight, own_identifier
from ..schema.slots import Vocabulary
from ..store.port.records import own_ids_in
from ..store.port.store import Ask, Point, Reader
from ..store.port.vectors import VectorScore
from .compile import compile_snapshot, context_of
from .envelope.envelope import Envelope
from .ir.context import Circumstances, CompileContext
from .ir.records import PERSON, Bound, Proposal, Snapshot
from .request.parse import request_from_json
from .trace.manifest import (
    Manifest,
    RecordedRow,
    bad_manifest,
    check_manifest,
    envelope_id,
    principal_of,
)


def replay(
    manifest: Manifest,
    *,
    reader: Reader,
    caller: Principal,
    vocabulary: Vocabulary,
    policy: Policy,
    keys: Sequence[bytes],
    language: Language = NO_LANGUAGE,
) -> Envelope:
    """Return the envelope of a manifest.

    `vocabulary` and `policy` are those whose version and hash the manifest pins.

    Raises:
        InvalidInput: `bad_manifest`, when it was tampered with, is of another compiler, or
            pins another policy, vocabulary or counter than given.
        Forbidden: `privilege_required`, when the caller may not read every object in it today;
            `tenant_mismatch` for a caller of another tenant.
    """
    check_manifest(manifest)
    principal = principal_of(manifest)
    if principal.tenant != caller.tenant:
        raise Forbidden("the manifest belongs to another tenant", code="tenant_mismatch")
    request = request_from_json(manifest.request)
    context = context_of(
        request,
        Circumstances(
            principal=principal,
            vocabulary=vocabulary,
            policy=policy,
            point=Point(manifest.valid_us, manifest.tx_us),
            keys=tuple(keys),
            encoder_id=manifest.encoder_id,
            reranker_id=manifest.reranker_id,
            pinned_epoch=manifest.key_epoch,
            skip=frozenset(manifest.skip),
            page=manifest.page,
            ablation=frozenset(manifest.without),
            language=language,
        ),
    )
    _check_pins(manifest, context)
    return compile_snapshot(_recorded_snapshot(manifest, context, reader, caller), context)


def _check_pins(manifest: Manifest, context: CompileContext) -> None:
    pins = {
        "policy": (manifest.policy_hash, context.policy_hash),
        "vocabulary": (manifest.vocabulary_version, context.vocabulary.version),
        "language": (manifest.language, context.language.digest),
        "counter": (manifest.counter, context.counter.identity),
        "envelope id": (manifest.envelope_id, envelope_id(context)),
    }
    for part, (recorded_value, current) in pins.items():
        if recorded_value != current:
            raise bad_manifest(f"it pins {part} {recorded_value!r}, and {current!r} was found")


def _recorded_snapshot(
    manifest: Manifest, context: CompileContext, reader: Reader, caller: Principal
) -> Snapshot:
    """Return the snapshot that the manifest recorded, with the content of today."""
    rows: dict[tuple[str, int], RecordedRow] = {}
    gates: dict[tuple[str, int], str] = {}
    losses: dict[tuple[str, int], str] = {}
    texts: dict[str, int] = {}
    vectors: dict[str, VectorScore] = {}
    opinions: dict[str, int] = {}
    for row in manifest.candidates:
        texts[row.object_id] = row.text
        if row.vid:
            key = (row.object_id, row.vid)
            rows[key] = row
            gates[key] = row.withheld
            if row.outranked:
                losses[key] = row.outranked
        if row.content is not None and row.why is not None:
            vectors[row.object_id] = VectorScore(row.object_id, row.content, row.why)
        if row.opinion is not None:
            opinions[row.object_id] = row.opinion

    proposals = _proposals(rows, context, reader, sight=_sight(caller, context))
    withheld = dict(manifest.withheld)
    own_subjects, people = _own_of(manifest)
    ids = _entity_ids(manifest, proposals)
    known = reader.entities(sorted(ids), tx_us=context.point.tx_us) if ids else None
    snapshot = Snapshot(
        proposals=proposals,
        subjects=tuple(Bound(*row) for row in manifest.named),
        query_subjects=tuple(Bound(*row) for row in manifest.spoken),
        own_subjects=own_subjects,
        people=people,
        expansion=manifest.expansion,
        vectors=vectors,
        rerank_scores=opinions,
        texts=texts,
        gates=gates,
        outranked=losses,
        refused=Stage.GATE.value in withheld,
        withheld=tuple((name, count) for name, count in withheld.items() if name != Stage.GATE),
        cut=manifest.cut,
        hubs=manifest.hubs,
        withheld_slots=manifest.withheld_slots,
        capped_ids=manifest.capped,
    )
    if known is None:
        return snapshot
    principal = context.principal
    own_ids = own_ids_in(known, own_identifier(principal), principal.sight(context.scopes))
    return replace(snapshot, known=known, own_ids=own_ids)


def _entity_ids(manifest: Manifest, proposals: Sequence[Proposal]) -> set[str]:
    """The entities that the rows speak of, and those that the request named."""
    ids: set[str] = set()
    for proposal in proposals:
        details = proposal.version.details
        ids.update(filter(None, (details.subject_id, details.value_entity_id)))
    for _, entities, _ in (*manifest.named, *manifest.spoken):
        ids.update(entities)
    return ids


def _own_of(manifest: Manifest) -> tuple[dict[str, str], tuple[str, ...]]:
    """What was the caller's own, and the several people none of whom was meant."""
    people, own_subjects = manifest.people, dict(manifest.own)
    if len(people) <= 1:
        return own_subjects, ()

    del own_subjects[PERSON]
    return own_subjects, people


def _sight(caller: Principal, context: CompileContext) -> Sight:
    """Return what the caller sees of the scopes that were compiled."""
    own_scopes = caller.sight().scopes
    scopes = context.scopes if caller.privileged else context.scopes & set(own_scopes)
    return caller.sight(scopes)


def _proposals(
    rows: dict[tuple[str, int], RecordedRow],
    context: CompileContext,
    reader: Reader,
    *,
    sight: Sight,
) -> tuple[Proposal, ...]:
    if not rows:
        return ()
    ids = tuple(sorted({object_id for object_id, _ in rows}))
    ask = Ask(objects=ids, heads=False, at_valid=False)
    versions: dict[tuple[str, int], Version] = {}
    for version in reader.versions(ask, sight=sight, point=context.point).versions:
        versions[version.row.claim.object_id, version.row.vid] = version

    missing: list[tuple[str, int]] = []
    for key, row in rows.items():
        is_readable = key in versions and (versions[key].visible or row.withheld)
        if not is_readable:
            missing.append(key)
    if missing:
        raise Forbidden(
            f"{len(missing)} of the {len(rows)} recorded rows may not be read by this caller "
            "today; ask someone who may read them all",
            code="privilege_required",
            withheld=len(missing),
        )
    return tuple(Proposal(versions[key], rows[key].via, rows[key].hop) for key in sorted(rows))
