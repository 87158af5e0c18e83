"""Compile: the ten stages by name, from a request to an envelope.

    gather -> normalize -> resolve -> gate -> validate -> rank -> rescue -> convert -> contain
           -> order -> emit

`gather` is the only step that reads; the stages are pure functions of a snapshot and a context.
Each returns a value of its own type with its verdicts, and the trace is the collected
verdicts. The same snapshot and context give the same bytes on any machine and either store:
no clock, no random number, no set order. Source 003, "Context compilation";
`docs/design/compiling.md`.
"""

from __future__ import annotations

from dataclasses import fields, replace

from ..schema.compile_terms import OverflowPolicy, Reason
from ..schema.terms import content_terms
from ..store.port.store import Reader
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
from .ir.records import BindMentions, Snapshot, VectorIndex
from .media.plan import plan_media
from .ranking.answers import answers_of
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
from .tokens.capabilities import ReservePolicy, capability, compile_budget, elastic_tokens
from .tokens.counting import counter_for


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
    reserve = ReservePolicy(
        least_tokens=rules.reserve_floor,
        share_permille=round(1000 * rules.reserve_share),
        small_window=rules.small_window,
        framing_tokens=rules.framing_tokens,
    )
    budget = compile_budget(request.budget_tokens, request.reserve_tokens, model, reserve)

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
