"""The policy pack: every threshold of the product in one frozen, hashed value (C-318).

A pack has one group for each part of tenure. Its hash is part of every envelope's identity, so a
changed number never silently changes bytes. Change a number by
`Policy(write=replace(WritePolicy(), skew_limit_s=60))`; nothing here reads an environment. If no
source gives a number, the field says why this value was chosen. Numbers are finite and not below 0,
and a share is at most the whole; others are refused when the policy is made.

Tables refine the defaults: a profile gives the layers of a task their shares, a signal scales a
layer's weight, and a limit says from which score a text of a channel is quarantined. Profiles and
signals have free names; layers and channels are the compiler's. Shares and weights are permille.
Checklist C-187, C-226 to C-230, C-318.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import lru_cache
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, Final, cast

from .compile_terms import USUAL_SHARES, InjectionPolicy, OverflowPolicy, PackLayer, SectionName
from .errors import InvalidInput
from .layers import DecayPolicy
from .records import short_repr
from .values import canonical_json
from .vocabulary import AttributeKind, parse
from .window_policy import WindowPolicy

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_SHARES: Final = frozenset(
    "activation_cosine lexical_weight bm25_b relevance_floor authority_weight "
    "freshness_weight relevance_weight tier_cuts reserve_share "
    "rerank_weight mmr_relevance wish_relevance "
    "freshness_floor rescue_affinity rescue_weights fidelity_pass fidelity_lossy media_share "
    "media_fidelity audit_share".split()
)
"""Numbers that are parts of a whole."""

_COUNTS: Final = frozenset(
    "max_batch max_text_chars shingle_words recap_tokens candidates section_items "
    "max_candidates max_cluster common_family_name".split()
)
"""Numbers of which 0 would leave nothing to do."""

_LEVELS: Final = 4

BUDGET_LAYERS: Final = ("evidence", "memory", "conversation")
"""The layers that profiles and signals speak of."""

SCANNED_CHANNELS: Final = (
    "platform", "developer", "user", "agent", "tool", "document", "web", "model",
)  # fmt: skip
"""The channels that detectors have limits for."""

_WHOLE: Final = 1_000
_SLACK: Final = USUAL_SHARES[PackLayer.SLACK][0]
"""Permille that a profile's least shares leave free."""


def check_bounds(group: DataclassInstance) -> None:
    """Refuse a group of a policy with a number that nothing could keep.

    Raises:
        InvalidInput: `bad_policy`, naming it.
    """
    for item in fields(group):
        numbers = _numbers(getattr(group, item.name))
        floor, ceiling = _bounds_of(item.name)
        if not all(floor <= number <= ceiling and isfinite(number) for number in numbers):
            limits = f"of at least {floor}" if ceiling == inf else f"from {floor} to {ceiling:g}"
            raise InvalidInput(f"{item.name} is a finite number {limits}", code="bad_policy")


def check_falling(name: str, numbers: tuple[float, ...]) -> None:
    """Refuse bounds of which a later one is above one before it.

    Raises:
        InvalidInput: `bad_policy`.
    """
    if list(numbers) != sorted(numbers, reverse=True):
        raise InvalidInput(f"{name} must fall: {numbers}", code="bad_policy")


def _bounds_of(name: str) -> tuple[int, float]:
    if name == "weakest_level":
        return 0, _LEVELS
    return int(name in _COUNTS), 1 if name in _SHARES else inf


def _numbers(value: object) -> tuple[float, ...]:
    """The numbers of a field; none of a switch, a word or a table."""
    members = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
    numbers: list[float] = []
    for member in members:
        if isinstance(member, bool) or not isinstance(member, int | float):
            return ()
        numbers.append(member)
    return tuple(numbers)


@dataclass(frozen=True, slots=True)
class LayerShare:
    """The least and the most of the budget that a layer takes."""

    __repr__ = short_repr

    layer: str
    floor: int
    ceiling: int


@dataclass(frozen=True, slots=True)
class BudgetProfileRule:
    """The shares of one kind of task."""

    __repr__ = short_repr

    name: str
    shares: tuple[LayerShare, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalRule:
    """How one signal of a request is read."""

    __repr__ = short_repr

    name: str
    layer: str
    """Whose weight it scales."""
    full: float
    """At or above this value the signal is at its end of the scale."""
    falling: bool = False
    """Whether a small value is the strong one, as an age in days."""
    weight: int = 300
    """How much of a weight of 1 it can add; the base weight is 1."""


@dataclass(frozen=True, slots=True)
class DetectorLimit:
    """From when on detectors quarantined what one channel brings."""

    __repr__ = short_repr

    channel: str
    score: int
    """Sum of severities, each code counted once, from which a text is quarantined."""
    length: int
    """Characters above which a text counts as dilution."""


def _profile(name: str, **shares: tuple[int, int]) -> BudgetProfileRule:
    return BudgetProfileRule(
        name, tuple(LayerShare(layer, *share) for layer, share in shares.items())
    )


PROFILES_SHIPPED: Final = (
    _profile("research", evidence=(550, 650), memory=(200, 250), conversation=(100, 150)),
    _profile("requirements", evidence=(450, 550), memory=(250, 300), conversation=(150, 200)),
    _profile("test_cases", evidence=(500, 600), memory=(200, 250), conversation=(100, 150)),
)
"""Shares of what the stable layers leave, by kind of task (C-229)."""

SIGNALS_SHIPPED: Final = (
    SignalRule(name="checklist_evidence_ratio", layer="evidence", full=1),
    # Five calls fill a turn; more say nothing further about how much evidence is wanted.
    SignalRule(name="expected_tool_calls", layer="evidence", full=5),
    SignalRule(name="risk_weight", layer="evidence", full=1),
    SignalRule(name="retrieval_hit_rate", layer="memory", full=1),
    SignalRule(name="similarity", layer="memory", full=1),
    # Days since the memory was confirmed: after a month it earns no bonus.
    SignalRule(name="freshness", layer="memory", full=30, falling=True),
    SignalRule(name="unresolved_questions", layer="conversation", full=5),
    # Twenty turns are the span of the progressive history before it folds.
    SignalRule(name="dialogue_depth", layer="conversation", full=20),
)
"""The eight signals of the allocator (C-227)."""

DETECTORS_SHIPPED: Final = (
    # Severities never add up to 1,000: what the operator wrote is not second-guessed.
    DetectorLimit("platform", 1_000, 200_000),
    DetectorLimit("developer", 1_000, 200_000),
    # A user may well say "ignore my last message"; one weak mark is not enough.
    DetectorLimit("user", 60, 100_000),
    DetectorLimit("agent", 60, 200_000),
    DetectorLimit("tool", 60, 200_000),
    DetectorLimit("document", 60, 1_000_000),
    DetectorLimit("web", 60, 200_000),
    DetectorLimit("model", 60, 200_000),
)
"""Lengths are far above an honest item of the channel."""


def check_profiles(profiles: Sequence[BudgetProfileRule]) -> None:
    """Refuse profiles that no budget could keep: below 0, above the whole, or of other layers.

    Raises:
        InvalidInput: `bad_policy`.
    """
    _check_unique("profile", (rule.name for rule in profiles))
    for rule in profiles:
        layers = [share.layer for share in rule.shares]
        if rule.name == "default" or sorted(layers) != sorted(BUDGET_LAYERS):
            raise _bad_policy(
                f"profile {rule.name!r} has a name of its own and one share for each of "
                f"{', '.join(BUDGET_LAYERS)}"
            )

        for share in rule.shares:
            if not 0 <= share.floor <= share.ceiling <= _WHOLE:
                raise _bad_policy(
                    f"the share of {share.layer!r} in profile {rule.name!r} must rise within "
                    f"0..1000 permille, got {share.floor}..{share.ceiling}"
                )

        total = sum(share.floor for share in rule.shares)
        if total + _SLACK > _WHOLE:
            raise _bad_policy(
                f"the least shares of profile {rule.name!r} add up to {total} permille; with a "
                f"slack of {_SLACK} they must keep to 1000"
            )


def check_signals(signals: Sequence[SignalRule]) -> None:
    """Refuse signals of other layers, or with numbers that no scale has.

    Raises:
        InvalidInput: `bad_policy`.
    """
    _check_unique("signal", (rule.name for rule in signals))
    for rule in signals:
        is_scale = isfinite(rule.full) and rule.full > 0 and 0 <= rule.weight <= _WHOLE
        if rule.layer not in BUDGET_LAYERS or not is_scale:
            raise _bad_policy(
                f"signal {rule.name!r} has a layer of {', '.join(BUDGET_LAYERS)}, a full value "
                "above 0 and a weight of 0 to 1000 permille"
            )


def check_sections(numbers: Sequence[tuple[str, float]], *, ceiling: float = inf) -> None:
    """Refuse a number of no section, which nothing would read, or beyond 0 and the ceiling.

    Raises:
        InvalidInput: `bad_policy`.
    """
    sections = tuple(SectionName)
    names = [name for name, _ in numbers if name not in sections]
    if names:
        raise _bad_policy(
            f"no section is called {', '.join(names)}; they are {', '.join(sections)}"
        )

    names = [name for name, number in numbers if not (0 <= number <= ceiling and isfinite(number))]
    if names:
        limits = "a finite number of at least 0" if ceiling == inf else f"0 to {ceiling:g}"
        raise _bad_policy(f"what a policy gives a section is {limits}: {', '.join(names)}")


def check_detectors(limits: Sequence[DetectorLimit]) -> None:
    """Refuse limits that leave a channel out, or that are below 1.

    Raises:
        InvalidInput: `bad_policy`.
    """
    channels = sorted(limit.channel for limit in limits)
    is_positive = all(limit.score > 0 and limit.length > 0 for limit in limits)
    if channels != sorted(SCANNED_CHANNELS) or not is_positive:
        raise _bad_policy(
            "detectors give each channel one score and one length above 0: "
            + ", ".join(SCANNED_CHANNELS)
        )


def _check_unique(term: str, names: Iterable[str]) -> None:
    repeated_names = [name for name, count in Counter(names).items() if count > 1 or not name]
    if repeated_names:
        raise _bad_policy(f"each {term} has a name of its own: {', '.join(repeated_names)}")


def _bad_policy(message: str) -> InvalidInput:
    return InvalidInput(message, code="bad_policy")


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePolicy:
    """Limits and options of writing."""

    __repr__ = short_repr

    max_batch: int = 10_000
    """Writes in one `write_many` or replay group."""
    max_text_chars: int = 200_000
    """A longer content, value or condition is refused as `too_large`; documents are chunked."""
    long_text_chars: int = 20_000
    """Longer content is accepted with the warning `long_content`."""
    max_sources: int = 64
    """Objects one object may be derived from."""
    skew_limit_s: int = 300
    """How far valid_from may lie after tx without `planned=True` before a warning: five
    minutes, the skew that token validators commonly allow."""
    same_origin_corrects: bool = False
    """Whether an assert from the origin of the shown claim at equal level means `correct`"""
    injection: InjectionPolicy = InjectionPolicy.QUARANTINE
    directive_roles: tuple[str, ...] = ("owner", "admin", "steward", "lead")
    """Roles whose writes may instruct others, whatever the level of the write."""
    detectors: tuple[DetectorLimit, ...] = DETECTORS_SHIPPED
    """What is quarantined, by channel: of what is written, and of what a request brings."""

    def __post_init__(self) -> None:
        check_bounds(self)
        object.__setattr__(self, "injection", parse(InjectionPolicy, self.injection))
        check_detectors(self.detectors)


@dataclass(frozen=True, slots=True, kw_only=True)
class TypeBands:
    """The bands of one entity type; what is not stated is that of all."""

    __repr__ = short_repr

    type: str
    bind_at: float | None = None
    review_above: float | None = None
    suggest_from: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolutionPolicy:
    """Bands and options of entity resolution (C-049)."""

    __repr__ = short_repr

    bind_at: float = 0.95
    review_above: float = 0.70
    suggest_from: float = 0.40
    types: tuple[TypeBands, ...] = ()
    """Types with bands of their own, such as systems that never bind by a score."""
    person_context_scope: str = "tenant"
    """`tenant` or `project`: what counts as context for an exactly equal person name."""
    attributes: tuple[tuple[str, str], ...] = (
        ("birthday", "birth_date"),
        ("domain", "domain"),
        ("email", "email"),
        ("handle", "handle"),
        ("home", "place"),
        ("phone", "phone"),
    )
    """(slot or identifier scheme, kind of its comparator): what is compared in addition to names
    when two stored entities are. Kinds: `birth_date`, `email`, `phone`, `handle`, `domain`,
    `place`, `identifier`. An identifier scheme that is here as an e-mail, phone, handle, domain or
    place has any number of values; any other scheme gives an entity one, and excludes another."""
    common_family_name: int = 5
    """Known people of one family name from which a name that is near to one of them, and has no
    context, waits for nobody: the next of that name is most likely somebody else."""
    max_candidates: int = 50
    max_cluster: int = 200
    """Members of one cluster; a merge beyond it is refused (abuse case 23)."""
    audit_share: float = 0.05
    """Random share of automatic decisions that enters the queue for calibration."""
    own_reviews: bool = False
    """Whether a steward may decide what that steward wrote (abuse case 27); the owner may."""
    second_steward: bool = False
    """Whether a second steward must agree before two entities become one; the owner need not."""
    source_backlog: int = 1_000
    """Waiting cases of one writer and origin from which its doubtful names are refused (abuse
    case 24): more than stewards decide in a day at one every twenty seconds."""

    def __post_init__(self) -> None:
        check_bounds(self)
        # Equal review and bind bounds would leave no band in which a person is asked.
        if not 0 <= self.suggest_from <= self.review_above < self.bind_at <= 1:
            raise InvalidInput(
                "resolution bands must rise: suggest_from <= review_above < bind_at",
                code="bad_policy",
            )

        for bands in self.types:
            self.of_type(bands.type)

        for slot, comparator in self.attributes:
            if comparator not in tuple(AttributeKind):
                kinds = ", ".join(AttributeKind)
                raise InvalidInput(
                    f"{slot!r} cannot be compared as {comparator!r}; kinds: {kinds}",
                    code="bad_policy",
                )

        if self.person_context_scope not in ("tenant", "project"):
            raise InvalidInput("person_context_scope is 'tenant' or 'project'", code="bad_policy")

    def of_type(self, entity_type: str) -> ResolutionPolicy:
        """The policy of one entity type: these bands, with its own in their place."""
        bands = next((kind for kind in self.types if kind.type == entity_type), None)
        if bands is None:
            return self

        overrides: dict[str, Any] = {}
        for name in ("bind_at", "review_above", "suggest_from"):
            value = getattr(bands, name)
            if value is not None:
                overrides[name] = value

        # Made again, so that the order of the bands is checked as they hold for this type; and
        # without the types, whose bands would be checked inside of each other for ever.
        return replace(self, types=(), **overrides)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPolicy:
    """Caps of reading."""

    __repr__ = short_repr

    text_candidates: int = 1_000
    """Visible text matches up to which both stores propose the same."""
    vector_exact_rows: int = 300_000
    """Claims of the caller's scopes up to which vectors are searched exactly."""
    vector_candidates: int = 200
    """Nearest claims a search proposes; as many as fill an 8K budget several times over."""
    neighbourhood_fanout: int = 50
    """Facts read around one entity of a walk; the next is around how many entities it reads."""
    neighbourhood_entities: int = 200
    slot_extras: int = 8
    """Non-deciding rows of a slot that reach the trace."""

    def __post_init__(self) -> None:
        check_bounds(self)


QUALITY_METRICS: Final = (
    "budget_utilisation",
    "signal_density",
    "provenance_coverage",
    "constraint_density",
    "duplication_rate",
    "staleness_index",
    "injection_surface",
    "compression_fidelity",
)
"""The metrics of an envelope for which a policy has targets."""

ISOLATIONS: Final = ("none", "boundary", "typed_slot", "datamark", "base64")
"""Ways of setting untrusted text apart, weakest first."""

_WORDS: Final = {
    "activation": ("broad", "strict"),
    "personal": ("mask", "omit"),
    "evidence_selection": ("coverage", "mmr"),
    "outdated_passages": ("last", "omit", "show"),
    "structured_accuracy": ("high", "moderate", "model_dependent"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompilePolicy:
    """Numbers of the compiler."""

    __repr__ = short_repr

    activation: str = "broad"
    """`broad`, or `strict`: match `why_it_matters` alone."""
    activation_cosine: float = 0.25
    lexical_weight: float = 0.5
    """Share of BM25 in the fused relevance; the rest is cosine."""
    bm25_k1: float = 1.2
    bm25_b: float = 0.75
    relevance_floor: float = 0.05
    """Below it a ranked object is `below_floor`: less than a twentieth of the best hit."""
    authority_weight: float = 0.10
    freshness_weight: float = 0.10
    relevance_weight: float = 0.80
    """Composite of C-134: relevance leads, authority and freshness break near-ties."""
    tier_cuts: tuple[float, float, float] = (0.75, 0.45, 0.20)
    """Composite scores from which an object is critical, important, useful: the quarters of
    the scale, moved down one step because fused scores crowd the lower half."""
    overflow: OverflowPolicy = OverflowPolicy.CASCADE_COMPRESS
    safety_critical: bool = False
    reserve_floor: int = 4_096
    reserve_share: float = 0.10
    """R = max(floor, stated, share of the window) where the window is known."""
    small_window: int = 16_384
    duplicate_containment: float = 0.92
    """5-word-shingle containment from which two texts are duplicates."""
    shingle_words: int = 5
    show_personal_to: tuple[str, ...] = ()
    """Roles to which personal data is shown, in addition to the user in whose scope it stands and
    the person it is about; `*` is everyone. For all others it is neither shown nor found by its
    words, in every read."""
    personal: str = "mask"
    """How strict that is: `mask` shows that there is a value, `omit` not even that (C-235)."""
    query_expansion: bool = False
    """Whether other names of the entities that a request names are searched for too; off,
    because a name that several share brings more noise than recall (C-204)."""
    hyde: bool = False
    """Whether a request's `hypothesis` is searched with; off, because a made-up answer finds
    what resembles it, also where it is wrong (C-204, C-235)."""
    rerank_items: int = 32
    """Best candidates that a re-ranker is asked about: each costs it a pass over both texts."""
    rerank_weight: float = 0.6
    """Share of its opinion in the relevance of a stored object: it reads both texts together,
    so it leads, and the fused score still decides among equals."""
    evidence_selection: str = "coverage"
    """`coverage`, the one fill order, or `mmr`, maximal marginal relevance."""
    mmr_relevance: float = 0.7
    """Weight of relevance against likeness to what is chosen; the usual value (C-235)."""
    mmr_items: int = 24
    """Best texts that MMR chooses from: k; beyond it likeness of all pairs costs too much."""
    outdated_passages: str = "last"
    """What becomes of a stored passage when all claims that were extracted from it have ended:
    `last`, behind everything that holds, `omit`, or `show` as any other."""
    section_tokens: tuple[tuple[str, int], ...] = ()
    """Most tokens of an optional section, whatever its share allows (C-299); none by default,
    because a share follows the budget and a number does not."""
    section_shares: tuple[tuple[str, float], ...] = (
        ("memory", 0.25),
        ("guidance", 0.25),
        ("pinned_knowledge", 0.15),
        ("history", 0.35),
        ("evidence", 0.60),
        ("turn_memory", 0.40),
        ("errors", 0.10),
        ("turn_guidance", 0.10),
    )
    """Largest share of the budget each optional section may take: caps of zones 1 to 3 look
    neither at the query nor at history, so that cached prefixes hold."""
    section_weights: tuple[tuple[str, float], ...] = (
        ("history", 0.8),
        ("evidence", 1.0),
        ("turn_memory", 0.9),
        ("errors", 0.5),
        ("turn_guidance", 0.9),
    )
    profiles: tuple[BudgetProfileRule, ...] = PROFILES_SHIPPED
    """Shares that `profile=` of a compile names, over those of its sections."""
    signals: tuple[SignalRule, ...] = SIGNALS_SHIPPED
    """What `signals=` of a compile may state, and what each weighs."""
    cost_weight: float = 0.0
    """Mu: the worth, in objects of full relevance, that a thousand tokens at the base price must
    bring. 0, because a budget that is granted is meant to be used (C-122)."""
    section_costs: tuple[tuple[str, float], ...] = ()
    """Cost of one token of a section against the base price, where it is not the provider's:
    1, and for the history the price of a cached read."""
    token_price: float = 0.0
    """Price of a million input tokens in any currency, for the trace; 0: not stated."""
    recap_tokens: int = 60
    """Longest goal recap."""
    history_full_turns: int = 6
    """Turns at the end of the history that are never folded."""
    text_candidates: int = 160
    """Text matches that a compile reads as records: each costs time; a cut is in the trace."""
    text_pool: int = 3_000
    """Text matches that are ranked by columns where more than those match."""
    subject_texts: int = 160
    """Newest texts about a named entity: it has some slots, and says things for years."""
    text_beside_vectors: int = 112
    """The same where near claims are asked for too, which bring what more of them would."""
    vector_candidates: int = 184
    """Nearest claims a compile asks for, at most those of a search."""
    candidates: int = 1_500
    """Most of a compile: standing objects, slots and neighbours find room with the others."""
    standing_candidates: int = 400
    """Most standing objects, strongest level first: several times what any zone can hold."""
    neighbour_entities: int = 24
    """Entities a compile's walk visits, breadth first: two hops around a few mentions."""
    neighbour_facts: int = 12
    """Facts read around one visited entity: what a reader needs to place it, no biography."""
    talk_candidates: int = 400
    """Most turns that are fetched because they stand next to found ones."""
    subject_facts: int = 24
    """Facts of a subject that is still read as a whole; of a larger one each is lifted less."""
    wish_relevance: float = 0.06
    """Least relevance of a preference or directive of whom the request is for: just above the
    floor, so that it is shown while tokens are free."""
    mention_words: int = 4
    """Longest run of words of the query that is looked up as a mention: names are short."""
    query_words: int = 64
    """Words of the query in which mentions are looked for; a request is a page, not a book."""
    weakest_level: int = 4
    """Weakest authority level that may enter an envelope; 4 admits retrieved text."""
    freshness_floor: float = 0.0
    """Share of strength left below which an object is `below_floor`; 0: decay alone decides."""
    commercial_secret_models: tuple[str, ...] = ("generic",)
    """Models that may read commercial secrets; `generic` represents the caller's own."""
    stored_tools: int = 24
    """Most stored tools of one compile, the oldest first: among more, models choose worse."""
    section_items: int = 512
    """Most items of one section that are converted; more never fit an 8K budget."""
    rescue_pool: int = 40
    """Sources whose subunits compete for rescue, best first (bounded pool of SkillRAE)."""
    rescue_keep: int = 6
    """Subunits rescued at most: a snippet helps, ten are a document."""
    rescue_affinity: float = 0.45
    """Affinity from which a subunit is rescued: next to a perfect neighbour it must hold half of
    the query's terms, or speak of what the neighbour or the request speaks of."""
    rescue_weights: tuple[float, float, float, float, float] = (0.40, 0.10, 0.20, 0.15, 0.15)
    """Weights of q_rel, f_skill, r_sel, g_same, g_active: the query leads, the graph features
    together weigh as much as any one other (C-081)."""
    fidelity_pass: float = 0.90
    fidelity_lossy: float = 0.75
    """A shortened text is graded faithful from the first, lossy from the second, and below it
    partial: a marked part of its source."""
    shrink_rounds: int = 12
    """Rounds in which an assembled text that came out too long is fitted again."""
    framing_tokens: int = 256
    """What a provider adds around roles and tools; taken off where the window is known."""
    media_share: float = 0.60
    """Most of the budget that pictures, sound and films may take together, and the most of one
    table: what evidence may take of it. Above it pictures are planned smaller, tables sampled."""
    media_fidelity: float = 0.90
    """Share of the original's worth that a stand-in must keep (C-194)."""
    media_least_px: int = 224
    """Shortest edge to which a picture is planned down: below it models read no text."""
    quality_floors: tuple[tuple[str, float], ...] = (
        ("budget_utilisation", 0.85),
        ("signal_density", 0.70),
        ("provenance_coverage", 1.0),
        ("compression_fidelity", 0.90),
    )
    """Values of quality metrics below which an envelope alerts; 0 for one that is not named."""
    quality_ceilings: tuple[tuple[str, float], ...] = (
        ("budget_utilisation", 0.95),
        ("constraint_density", 0.15),
        ("duplication_rate", 0.05),
        ("staleness_index", 0.20),
        ("injection_surface", 0.10),
    )
    """Values of quality metrics above which it alerts; 1 for one that is not named."""
    isolation_strengths: tuple[tuple[str, float], ...] = (
        ("none", 0.0),
        ("boundary", 0.50),
        ("typed_slot", 0.80),
        ("datamark", 0.95),
        ("base64", 0.98),
    )
    """How well each way of setting untrusted text apart keeps it from being obeyed, 0 to 1: of
    the order that Hines et al. measured on models (arXiv 2403.14720). With these an envelope
    alerts as soon as more than half of it is untrusted text in data blocks."""
    structured_accuracy: str = "high"
    """How surely a table's form must be read: `high` (JSON), `moderate` (CSV and Markdown too), or
    `model_dependent` (the compact form too, which only some models were trained to read)."""
    structural_variation: bool = False
    """Whether the turn's own texts vary their shape from turn to turn (C-309)."""
    datamark_kinds: tuple[str, ...] = ()
    """Source kinds whose text is datamarked: costs tokens, so none by default."""
    base64_kinds: tuple[str, ...] = ()
    """Source kinds whose text is rendered as base64."""

    def __post_init__(self) -> None:
        check_bounds(self)
        check_falling("tier_cuts", self.tier_cuts)
        check_falling("fidelity_pass, fidelity_lossy", (self.fidelity_pass, self.fidelity_lossy))
        # Checked when it is made: a wrong word must not wait for the compile that first reads it.
        for name, words in _WORDS.items():
            if getattr(self, name) not in words:
                known = " or ".join(map(repr, words))
                raise InvalidInput(f"{name} is {known}", code="bad_policy")

        object.__setattr__(self, "overflow", parse(OverflowPolicy, self.overflow))
        check_sections((*self.section_shares, *self.section_weights), ceiling=1)
        check_sections((*self.section_tokens, *self.section_costs))

        targets = (*self.quality_floors, *self.quality_ceilings)
        wrong = [n for n, value in targets if n not in QUALITY_METRICS or not 0 <= value <= 1]
        if wrong:
            raise InvalidInput(
                f"a quality target is 0 to 1 and of one of {', '.join(QUALITY_METRICS)}, which "
                f"this is not: {', '.join(wrong)}",
                code="bad_policy",
            )

        strengths = dict(self.isolation_strengths)
        if set(strengths) != set(ISOLATIONS) or not all(0 <= s <= 1 for s in strengths.values()):
            raise InvalidInput(
                f"isolation_strengths gives each of {', '.join(ISOLATIONS)} a number of 0 to 1",
                code="bad_policy",
            )

        check_profiles(self.profiles)
        check_signals(self.signals)


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The whole pack."""

    __repr__ = short_repr

    write: WritePolicy = field(default_factory=WritePolicy)
    resolution: ResolutionPolicy = field(default_factory=ResolutionPolicy)
    read: ReadPolicy = field(default_factory=ReadPolicy)
    compile: CompilePolicy = field(default_factory=CompilePolicy)
    decay: DecayPolicy = field(default_factory=DecayPolicy)
    window: WindowPolicy = field(default_factory=WindowPolicy)
    """Of sessions that state none. Not part of the digest: it has one of its own, which the log
    of a session and its envelopes name, and decides nothing about any other envelope."""

    @property
    def digest(self) -> str:
        """The SHA-256 of the pack's canonical JSON; it names all groups but the window's."""
        return _digest(self)

    def to_json(self) -> str:
        """The pack without the window's group as canonical JSON, the form stored by hash."""
        # A session's rules decide about no envelope outside of one: a changed threshold of a window
        # must not give every envelope of the tenant another identity.
        groups = asdict(self)
        del groups["window"]
        return canonical_json(groups)


@lru_cache(maxsize=64)
def _digest(policy: Policy) -> str:
    return hashlib.sha256(policy.to_json().encode()).hexdigest()


DEFAULT: Final = Policy()
