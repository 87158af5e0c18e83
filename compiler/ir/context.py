"""The context of one compile: everything a stage may look at in addition to its input.

The driver builds it once and passes it to every stage unchanged. Time, principal, keys and policy
are values here; the compiler reads no clock and no environment. A watcher sees the steps through a
protocol alone, and nothing that a stage gets or returns passes through it.

Structural variation keeps a long run from imitating itself. It is off by default. When the policy
turns it on, four elements of the turn's own texts vary: how progress is shown, what separates the
parts of the recap, how lessons are listed, and the label of the step. Headings, boundary lines and
cached zones never vary. A choice is HMAC(tenant key, session, turn index, element) mod the number
of shapes, so a turn always has the same bytes. Source 004; checklist C-309.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from ...schema.errors import Forbidden, InvalidInput
from ...schema.language import NO_LANGUAGE, Language
from ...schema.policy import CompilePolicy, Policy
from ...schema.principal import Principal, only_project, scopes_beside_projects, visible_scopes
from ...schema.records import FrozenDict
from ...schema.slots import SourceKind, Vocabulary
from ...schema.terms import content_terms
from ...store.port.store import Point
from ..budget.profiles import Layer, SectionShare, profile, section_weights
from ..media.plan import MediaEntry, MediaPlan
from ..request.request import CompileRequest
from ..tokens.counting import TokenCounter

SHAPES: Final[Mapping[str, tuple[str, ...]]] = FrozenDict(
    {
        "progress": ("{text}", "Done: {text}", "✓ {text}"),
        "separator": (" ", " — ", " | "),
        "list": ("{text}", "- {text}", "* {text}"),
        "label": ("Now", "Next", "Current step"),
    }
)
"""The four elements and their shapes. Without variation the first shape is used."""

Watch = Callable[[str], AbstractContextManager[object]]
"""What lasts as long as the step of a name: "gather", or one of the ten stages."""

COMPILER_VERSION: Final = "9"
"""Raised whenever the same inputs would give other bytes; a manifest of another is refused."""

NO_MEDIA: Final = MediaPlan()

_SECTION_OF_LAYER: Final = {
    Layer.EVIDENCE: "evidence",
    Layer.MEMORY: "turn_memory",
    Layer.CONVERSATION: "history",
}


@dataclass(frozen=True, slots=True)
class Variation:
    """The shapes of one turn."""

    choices: Mapping[str, int]
    """Place of the shape by element; empty when variation is off."""

    def shape(self, element: str) -> str:
        """Return the shape of an element."""
        return SHAPES[element][self.choices.get(element, 0)]

    def wording(self, element: str, text: str) -> str:
        """Return a text in the shape of an element."""
        return self.shape(element).replace("{text}", text)


NO_VARIATION: Final = Variation(FrozenDict({}))


def question(context: CompileContext, names: Iterable[str] = ()) -> frozenset[str]:
    """Return the content terms a compile asks with."""
    return question_terms(context.request, context.rules, names)


def question_terms(
    request: CompileRequest, rules: CompilePolicy, names: Iterable[str] = ()
) -> frozenset[str]:
    """Return the content terms of a request, and of names in addition to it."""
    guess = request.hypothesis if rules.hyde else ""
    texts = (request.query, request.user_request, request.goal, guess, *names)
    # One text may be query and request, and stages ask with the same words again.
    return _terms_of_question("\n".join(dict.fromkeys(texts)))


@lru_cache(maxsize=16)  # few: the stages of one compile ask alike, and a request may be long
def _terms_of_question(text: str) -> frozenset[str]:
    return content_terms(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What a compile depends on in addition to its request: all of it is pinned by the manifest."""

    principal: Principal
    vocabulary: Vocabulary
    policy: Policy
    point: Point
    keys: tuple[bytes, ...]
    """The tenant's keys, one an epoch, oldest first; the newest seals."""
    pinned_epoch: int | None = None
    """The epoch that sealed, when this is a replay."""
    encoder_id: str | None = None
    reranker_id: str | None = None
    people: tuple[str, ...] = ()
    """Canonical ids of the people with wishes, if the request names no entity. The wishes of a
    single person apply, without any other fact about them. Of several people none is meant."""
    skip: frozenset[str] = frozenset()
    """Objects that earlier pages have shown."""
    page: int = 1
    ablation: frozenset[str] = frozenset()
    """Object ids and sections that an ablation leaves out."""
    language: Language = NO_LANGUAGE
    """The words by which questions ask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileContext(Circumstances):
    """The fixed circumstances of a compile, with what follows from them and the request."""

    request: CompileRequest
    epoch: int
    """The key that seals this envelope, as a place in `keys`."""
    counter: TokenCounter
    budget: int
    """B: the most tokens of the text, by the counter's upper bound."""
    reserve: int
    """R: tokens kept for the answer."""
    project: str | None
    """The one project whose scopes are read."""
    scopes: frozenset[str]
    """Canonical ids of the visible scopes."""
    task_types: tuple[str, ...]
    """The active task type and its parent."""
    shares: Mapping[str, SectionShare]
    """Least and greatest share of the budget by section."""
    weights: Mapping[str, float]
    """Weight of the turn's sections in the allocation."""
    variation: Variation = NO_VARIATION
    """Shapes of the turn's own texts."""
    media: MediaPlan = NO_MEDIA
    """How the media of the request enter."""
    policy_hash: str = field(init=False)
    request_json: str = field(init=False)
    """The request as canonical JSON."""
    source_kinds: Mapping[str, SourceKind] = field(init=False)
    """The source kinds by name, the tenant's own among them."""

    def __post_init__(self) -> None:
        # All are asked for several times, the kinds for every text, and none is cheap.
        object.__setattr__(self, "policy_hash", self.policy.digest)
        object.__setattr__(self, "request_json", self.request.to_json())
        object.__setattr__(self, "source_kinds", self.vocabulary.source_kinds)

    @property
    def rules(self) -> CompilePolicy:
        """Return the compiler's part of the policy."""
        return self.policy.compile

    def media_entry(self, place: int) -> MediaEntry:
        """Return how the media item at a place of the evidence enters; media follow its texts."""
        return self.media.entries[place - len(self.request.evidence)]


def shares_of(profile_name: str, rules: CompilePolicy) -> Mapping[str, SectionShare]:
    """Return the shares of the sections: the policy's, over them those of a named profile.

    A profile speaks of evidence, memory and conversation; its memory is the turn's, since what
    is in a cached zone must not depend on the kind of task.

    Raises:
        InvalidInput: `unknown_vocabulary` for a profile that does not exist.
    """
    shares = {name: SectionShare(0, round(1000 * share)) for name, share in rules.section_shares}
    # Of stored tools alone: those of the request are required, and no cap applies to them.
    shares.setdefault("tools", SectionShare(0, 100))
    if profile_name == "default":
        return shares

    shares_of_layers = profile(profile_name, rules.profiles)
    for layer, section in _SECTION_OF_LAYER.items():
        shares[section] = shares_of_layers[layer]
    return shares


def weights_of(request: CompileRequest, rules: CompilePolicy) -> Mapping[str, float]:
    """Return the weights of the turn's sections: the policy's, scaled by the request's signals.

    Without signals nothing is scaled; with them evidence, memory and history share their sum again,
    each up to the whole weight of 1.

    Raises:
        InvalidInput: `unknown_vocabulary`, `bad_share`.
    """
    weights = dict(rules.section_weights)
    if not request.signals:
        return weights

    # The signals' weights share 1,000 among three layers, so three times a third changes nothing.
    for layer, weight in section_weights(dict(request.signals), rules.signals).items():
        section = _SECTION_OF_LAYER[layer]
        weight_share = round(weights.get(section, 0.5) * 3 * weight / 1000, 6)
        weights[section] = min(1.0, weight_share)
    return weights


def project_of(request: CompileRequest, principal: Principal) -> str | None:
    """Return the project of a compile: the stated one, else the principal's only one.

    Raises:
        Forbidden: `scope_not_yours`.
    """
    if request.project is None:
        return only_project(principal)
    if request.project not in principal.projects and not principal.privileged:
        raise Forbidden(
            f"project {request.project!r} is not among this caller's projects; "
            "name one of them or none",
            code="scope_not_yours",
        )
    return request.project


def scopes_of(principal: Principal, project: str | None) -> frozenset[str]:
    """Return the visible scopes, with at most one project among them."""
    if project is None:
        return scopes_beside_projects(principal)
    return visible_scopes(principal, project=project)


def sealing_epoch(keys: Sequence[bytes], epoch: int | None) -> int:
    """Return the epoch whose key seals: the stated one, else the newest.

    Raises:
        InvalidInput: `bad_manifest`, for an epoch the tenant never had; `no_key` without keys.
    """
    if not keys:
        raise InvalidInput("a compile needs the tenant's key; the store holds it", code="no_key")
    if epoch is None:
        return len(keys) - 1
    if not 0 <= epoch < len(keys):
        raise InvalidInput(
            f"the manifest names key epoch {epoch}; this tenant has {len(keys)}",
            code="bad_manifest",
        )
    return epoch


def variation(key: bytes, session: str, turn: int) -> Variation:
    """Return the shapes of a turn.

    >>> variation(b"k", "s", 3) == variation(b"k", "s", 3)
    True
    """
    choices: dict[str, int] = {}
    for element, shapes in SHAPES.items():
        parts = ("variation-v1", session, str(turn), element)
        message = "".join(f"{len(part.encode())}:{part}" for part in parts)
        digest = hmac.digest(key, message.encode(), "sha256")
        choices[element] = int.from_bytes(digest[:8]) % len(shapes)
    return Variation(FrozenDict(choices))


def no_watch(_: str) -> AbstractContextManager[object]:
    """Watch nothing."""
    return nullcontext()
