"""Compile: the ten stages by name, from a request to an envelope.

    gather -> normalize -> resolve -> gate -> validate -> rank -> rescue -> convert -> contain
           -> order -> emit

`gather` is the only step that reads; the stages are pure functions of a snapshot and a context.
Each returns a value of its own type with its verdicts, and the trace is the collected
verdicts. The same snapshot and context give the same bytes on any machine and either store:
no clock, no random number, no set order. Source 003, "Context compilation";
`docs/design/compiling.md`.

`replay` gives the same bytes again from a manifest, without searching or scoring again. The
manifest's rows are read by object id, the recorded scores stand in for every search, and the ten
stages run as the recorded principal. Permissions are those of today: if the caller may not read
every recorded object now, the replay is refused. What was erased since is missing from the answer,
which says so by a gap; it never says something wrong. Checklist C-199.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from ..schema.claim import Version
from ..schema.compile_terms import OverflowPolicy, Reason, Stage
from ..schema.errors import Forbidden
from ..schema.language import NO_LANGUAGE, Language
from ..schema.policy import Policy
from ..schema.principal import Principal, Sight, own_identifier
from ..schema.slots import Vocabulary
from ..schema.terms import content_terms
from ..store.port.records import own_ids_in
from ..store.port.store import Ask, Point, Reader
from ..store.port.vectors import VectorScore
from .envelope.envelope import Envelope
from .fitting.fit import TURN, overflow_of
from .gathering.gather import gather
from .gathering.rerank import Reranker
from .ir.context import (
    NO_MEDIA,
    NO_VARIATION,
    Circumstances,
    CompileContext,
    Watch,
    no_watch,
    project_of,
    scopes_of,
    sealing_epoch,
    shares_of,
    variation,
    weights_of,
)
from .ir.outputs import Passes
from .ir.records import PERSON, BindMentions, Bound, Proposal, Snapshot, VectorIndex
from .media.plan import plan_media
from .ranking.answers import answers_of
from .request.parse import request_from_json
from .request.request import CompileRequest
from .stages.contain import contain
from .stages.convert import convert
from .stages.emit import emit
from .stages.gate import gate
from .stages.normalize import normalize
from .stages.order import order
from .stages.rank import rank
from .stages.rescue import rescue
from .stages.resolve import resolve
from .stages.validate import validate
from .tokens.capabilities import capability, compile_budget, elastic_tokens
from .tokens.counting import counter_for
from .trace.manifest import (
    Manifest,
    RecordedRow,
    bad_manifest,
    check_manifest,
    envelope_id,
    principal_of,
)


def compile(
    request: CompileRequest,
    circumstances: Circumstances,
    *,
    reader: Reader,
    resolve_mentions: BindMentions,
    index: VectorIndex | None = None,
    reranker: Reranker | None = None,
    watch: Watch = no_watch,
) -> Envelope:
    """Return the envelope of a request, read from one consistent snapshot.

    With an `index` and a query vector the search is hybrid; a `reranker` looks at the best
    candidates once more. `watch` is asked for something that lasts as long as the gathering, and
    as long as each stage.

    Raises:
        ContextBudgetExhausted: `required_over_budget`, `ladder_exhausted`.
        Forbidden: `scope_not_yours`, for a project that is not the caller's.
        InvalidInput: `unknown_vocabulary` for a task type, `bad_request`.
    """
    context = context_of(request, circumstances)
    with watch("gather"):
        snapshot = gather(context, reader, bind=resolve_mentions, index=index, reranker=reranker)
    return compile_snapshot(snapshot, context, watch)


def context_of(request: CompileRequest, circumstances: Circumstances) -> CompileContext:
    """Return the context of a compile: budget, counter, project and scopes worked out.

    Raises:
        ContextBudgetExhausted: `required_over_budget`, when reserve and media leave nothing.
        Forbidden: `scope_not_yours`.
        InvalidInput: `unknown_vocabulary` for a task type or profile.
    """
    rules, model = circumstances.policy.compile, capability(request.model)
    budget = compile_budget(request.budget_tokens, request.reserve_tokens, model, rules)

    # Media are planned first: what they take with the text is not there for it.
    counter = counter_for(request.model)
    media = NO_MEDIA
    if request.media:
        query = "\n".join((request.query, request.user_request, request.goal))
        media = plan_media(
            request.media,
            counter,
            rules,
            budget=budget.tokens,
            query_terms=content_terms(query),
            modalities=model.media,
        )

    principal, vocabulary = circumstances.principal, circumstances.vocabulary
    project = project_of(request, principal)
    epoch = sealing_epoch(circumstances.keys, circumstances.pinned_epoch)
    shapes = NO_VARIATION
    if rules.structural_variation:
        # The turns of the history count the turn.
        session = principal.session or ""
        shapes = variation(circumstances.keys[epoch], session, len(request.history))
    pins = {field.name: getattr(circumstances, field.name) for field in fields(Circumstances)}
    return CompileContext(
        **pins,
        request=request,
        epoch=epoch,
        counter=counter,
        budget=elastic_tokens(budget.tokens, media.tokens),
        media=media,
        reserve=budget.reserve_tokens,
        project=project,
        scopes=scopes_of(principal, project),
        task_types=vocabulary.task_types(request.task),
        shares=shares_of(request.profile, rules),
        weights=weights_of(request, rules),
        variation=shapes,
    )


def compile_snapshot(
    snapshot: Snapshot, context: CompileContext, watch: Watch = no_watch
) -> Envelope:
    """Run the ten stages over what was read."""
    passes = passes_of(snapshot, context, watch)
    # Each stage is watched from outside, so that none of them knows of it.
    with watch("emit"):
        envelope = emit(passes, context)
    return _with_pages(envelope, snapshot, context)


def passes_of(snapshot: Snapshot, context: CompileContext, watch: Watch = no_watch) -> Passes:
    """Run the first nine stages, each with what it reads of those before it."""
    with watch("normalize"):
        normalized = normalize(snapshot, context)
    with watch("resolve"):
        resolved = resolve(normalized, snapshot, context)
    with watch("gate"):
        gated = gate(resolved, snapshot, context)
    with watch("validate"):
        validated = validate(gated, resolved, snapshot, context)
    with watch("rank"):
        ranked = rank(validated, snapshot, context)
    with watch("rescue"):
        rescued = rescue(ranked, gated, resolved, context)
    answers = answers_of(resolved, gated, validated, ranked, snapshot, context)
    with watch("convert"):
        converted = convert(ranked, rescued, gated, snapshot, context, answers=answers)
    with watch("contain"):
        contained = contain(converted, context)
    with watch("order"):
        ordered = order(contained, context)

    return Passes(
        snapshot=snapshot,
        normalized=normalized,
        resolved=resolved,
        gated=gated,
        validated=validated,
        ranked=ranked,
        rescued=rescued,
        converted=converted,
        contained=contained,
        ordered=ordered,
        answers=answers,
    )


def _with_pages(envelope: Envelope, snapshot: Snapshot, context: CompileContext) -> Envelope:
    """Return the envelope with its next page, when the policy paginates and something waits.

    What is in the cached zones and what is required is on every page; only the turn's items
    are divided, and a page that shows none of them is the last.
    """
    if overflow_of(context) is not OverflowPolicy.PAGINATE:
        return envelope

    trace = envelope.trace
    waiting = any(entry.reason == Reason.NEXT_PAGE for entry in trace.omitted_objects)
    page = frozenset(entry.object_id for entry in trace.compiled_objects if entry.section in TURN)
    if not waiting or not page:
        return envelope
    following = replace(context, skip=context.skip | page, page=context.page + 1)
    return replace(envelope, _turn=lambda: compile_snapshot(snapshot, following))


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
    """The caller's own entities, and of several people all: none of them was meant then."""
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
