"""Compile: the ten stages by name, from a request to an envelope.

    gather -> normalize -> resolve -> gate -> validate -> rank -> rescue -> convert -> contain
           -> order -> emit

`gather` is the only step that reads; the stages are pure functions of a snapshot and a setting.
Each returns a value of its own type with its verdicts, and the trace is the collected
verdicts. The same snapshot and setting give the same bytes on any machine and either store:
no clock, no random number, no set order. Source 003, "Context compilation"; DESIGN 7; R37.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..schema.compile_terms import OverflowPolicy, Reason
from ..schema.policy import Policy
from ..schema.principal import Principal
from ..schema.slots import Vocabulary
from ..schema.terms import content_terms
from ..store.port.store import Point, Reader
from .envelope.envelope import Envelope
from .fitting.fit import TURN, overflow_of
from .gathering.gather import gather
from .gathering.rerank import Reranker
from .ir.context import Setting, project_of, scopes_of, sealing_epoch, shares_of, weights_of
from .ir.snapshot import BindMentions, Snapshot, VectorIndex
from .ir.variation import NO_VARIATION, Variation, variation
from .media.plan import plan_media
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
from .tokens.capabilities import capability
from .tokens.counting import counter_for
from .tokens.window import ReservePolicy, compile_budget


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What a compile depends on beside its request: all of it is pinned by the manifest."""

    principal: Principal
    vocabulary: Vocabulary
    policy: Policy
    point: Point
    keys: Sequence[bytes]
    """The tenant's keys, one an epoch, oldest first; the newest seals."""
    encoder_id: str | None = None
    reranker_id: str | None = None
    epoch: int | None = None
    """Of a replay: the epoch that sealed."""
    skip: frozenset[str] = frozenset()
    page: int = 1
    without: frozenset[str] = frozenset()
    """Object ids and sections that an ablation leaves out."""


def compile(
    request: CompileRequest,
    *,
    reader: Reader,
    principal: Principal,
    vocabulary: Vocabulary,
    policy: Policy,
    point: Point,
    keys: Sequence[bytes],
    resolve_mentions: BindMentions,
    encoder_id: str | None = None,
    index: VectorIndex | None = None,
    reranker: Reranker | None = None,
) -> Envelope:
    """Return the envelope of a request, read from one consistent snapshot.

    `point` is pinned by the caller; `keys` are the tenant's, oldest first. With an `index` and
    a query vector the search is hybrid; a `reranker` looks at the best candidates once more.

    Raises:
        ContextBudgetExhausted: `required_over_budget`, `ladder_exhausted`.
        Forbidden: `scope_not_yours`, for a project that is not the caller's.
        InvalidInput: `unknown_vocabulary` for a task type, `bad_request`.
    """
    circumstances = Circumstances(
        principal=principal,
        vocabulary=vocabulary,
        policy=policy,
        point=point,
        keys=keys,
        encoder_id=encoder_id,
        reranker_id=reranker.id if reranker is not None else None,
    )
    setting = setting_of(request, circumstances)
    snapshot = gather(setting, reader, bind=resolve_mentions, index=index, reranker=reranker)
    return compile_snapshot(snapshot, setting)


def setting_of(request: CompileRequest, given: Circumstances) -> Setting:
    """Return the setting of a compile: budget, counter, project and scopes worked out.

    Raises:
        ContextBudgetExhausted: `required_over_budget`, when reserve and media leave nothing.
        Forbidden: `scope_not_yours`.
        InvalidInput: `unknown_vocabulary` for a task type or profile.
    """
    rules, model = given.policy.compile, capability(request.model)
    reserve = ReservePolicy(
        least_tokens=rules.reserve_floor,
        share_permille=round(1000 * rules.reserve_share),
        small_window=rules.small_window,
        framing_tokens=rules.framing_tokens,
    )
    budget = compile_budget(request.budget_tokens, request.reserve_tokens, model, reserve)
    counter = counter_for(request.model)
    said = "\n".join((request.query, request.user_request, request.goal))
    asked = content_terms(said) if request.media else frozenset[str]()
    media = plan_media(
        request.media, counter, rules, budget=budget.tokens, asked=asked, takes=model.media
    )
    project = project_of(request, given.principal)
    epoch = sealing_epoch(given.keys, given.epoch)
    return Setting(
        request=request,
        principal=given.principal,
        vocabulary=given.vocabulary,
        policy=given.policy,
        point=given.point,
        keys=tuple(given.keys),
        epoch=epoch,
        counter=counter,
        budget=budget.tokens - media.tokens,
        media=media,
        reserve=budget.reserve_tokens,
        project=project,
        scopes=scopes_of(given.principal, project),
        task_types=given.vocabulary.task_types(request.task),
        shares=shares_of(request.profile, rules),
        weights=weights_of(request, rules),
        variation=_shapes(request, given, epoch) if rules.structural_variation else NO_VARIATION,
        encoder_id=given.encoder_id,
        reranker_id=given.reranker_id,
        skip=given.skip,
        page=given.page,
        without=given.without,
    )


def _shapes(request: CompileRequest, given: Circumstances, epoch: int) -> Variation:
    """Return the turn's shapes; the turns of the history count the turn."""
    return variation(given.keys[epoch], given.principal.session or "", len(request.history))


def compile_snapshot(snapshot: Snapshot, setting: Setting) -> Envelope:
    """Run the ten stages."""
    normalized = normalize(snapshot, setting)
    resolved = resolve(normalized, setting)
    gated = gate(resolved, setting)
    validated = validate(gated, setting)
    ranked = rank(validated, setting)
    rescued = rescue(ranked, setting)
    converted = convert(rescued, setting)
    contained = contain(converted, setting)
    ordered = order(contained, setting)
    envelope = emit(ordered, setting)
    return _paginated(envelope, snapshot, setting)


def _paginated(envelope: Envelope, snapshot: Snapshot, setting: Setting) -> Envelope:
    """Return the envelope with its next page, when the policy paginates and something waits.

    What stands in the cached zones and what is required is on every page; only the turn's items
    are divided, and a page that shows none of them is the last.
    """
    if overflow_of(setting) is not OverflowPolicy.PAGINATE:
        return envelope
    waiting = any(o.reason == Reason.NEXT_PAGE for o in envelope.trace.omitted_objects)
    shown = frozenset(o.object_id for o in envelope.trace.compiled_objects if o.section in TURN)
    if not waiting or not shown:
        return envelope
    following = replace(setting, skip=setting.skip | shown, page=setting.page + 1)
    return replace(envelope, _turn=lambda: compile_snapshot(snapshot, following))
