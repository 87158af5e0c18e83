"""What each model and its provider can do, as one dated table, and the budget that follows.

The table is the only place for provider limits. A row is one model pattern with evidence and date;
if sources disagree it has the conservative value. Prices are permille of the base price of an input
token. The first matching row decides, so narrow patterns come first.

A compile may use `B = min(budget_tokens, W - R - framing)`. W is the model's window; R, the reserve
for the answer, is the largest of 4,096, the caller's value and 10 % of W. A window below 16K
ignores the 4,096. If W is unknown (`generic`), R is the stated value or 0 and comes off
`budget_tokens`. `framing` covers what the provider adds around messages. The counting margin is
part of the counter's upper bound, not of B. Checklist C-115, C-117, C-124, C-138, C-196, C-319.

>>> capability("claude-opus-4-7-20260416").min_cacheable_tokens
2048
>>> compile_budget(8000, None, capability("generic")).tokens
8000
>>> compile_budget(500_000, None, capability("claude-haiku-4-5")).tokens
179744
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from ...schema.errors import ContextBudgetExhausted, InvalidInput
from ...schema.records import short_repr
from .modality import Modality

UNSENDABLE: Final = re.compile("[^A-Za-z0-9_-]")
"""Characters of an id or a tool's name that some provider refuses; models do make them."""
_ID_LENGTH: Final = 40
"""The longest id that OpenAI's chat takes."""
_SUFFIX_LENGTH: Final = 6


class CacheProvider(StrEnum):
    """Whose cache rules apply."""

    ANTHROPIC = "anthropic"
    OPENAI = "openai"
    GEMINI = "gemini"
    NONE = "none"


class CountingRule(StrEnum):
    """How tokens of a model are counted or estimated (`counting`)."""

    O200K = "o200k"
    CLAUDE_TO_4_6 = "claude_to_4_6"
    CLAUDE_FROM_4_7 = "claude_from_4_7"
    GEMINI = "gemini"
    MAXIMUM = "maximum"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capability:
    """One row of the table."""

    __repr__ = short_repr

    pattern: str
    """Shell pattern on the model's plain name, lowercase, with dashes for dots."""
    provider: CacheProvider
    counting: CountingRule
    window: int | None
    """Context window W in tokens, input and output together; None when unknown."""
    min_cacheable_tokens: int | None
    """Shortest prefix that is cached, in tokens; None when there is no provider cache."""
    granularity_tokens: int
    """Step to which a cached prefix is rounded down; 1 when it is not rounded."""
    breakpoints: int
    """Explicit marks a request may carry; 0 when the provider takes none."""
    lookback_blocks: int | None
    """Content blocks a mark looks back over; None when there is no such limit."""
    ttls_s: tuple[int, ...]
    """Lifetimes on offer in seconds, the default first; empty when the provider decides."""
    write_permille: tuple[int, ...]
    """Price of a cache write for each lifetime, or one price when there are no lifetimes."""
    read_permille: int
    """Price of a cached token that is read."""
    prefix_order: tuple[str, ...]
    """Parts of the request in the order in which they form the prefix."""
    mid_conversation_system: bool
    """Whether a system message may follow a user turn."""
    media: tuple[Modality, ...]
    """What it reads in addition to text; of an unknown model nothing is ruled out."""
    answer_schemas: bool
    """Whether it generates an answer under a JSON Schema."""
    evidence: str
    """Where the row comes from."""
    as_of: str
    """Month of the evidence, `YYYY-MM`."""


_AS_OF: Final = "2026-11"

GENERIC: Final = Capability(
    pattern="generic",
    provider=CacheProvider.NONE,
    counting=CountingRule.O200K,
    window=None,
    min_cacheable_tokens=None,
    granularity_tokens=1,
    breakpoints=0,
    lookback_blocks=None,
    ttls_s=(),
    write_permille=(1000,),
    read_permille=1000,
    prefix_order=("tools", "system", "messages"),
    mid_conversation_system=False,
    media=(Modality.IMAGE, Modality.AUDIO, Modality.VIDEO),
    answer_schemas=False,
    evidence="no provider: the budget is stated in o200k tokens",
    as_of=_AS_OF,
)
"""The row of `generic` and of every unknown model: no window, no cache, no mark."""

_CLAUDE: Final = replace(
    GENERIC,
    pattern="claude-*",
    provider=CacheProvider.ANTHROPIC,
    counting=CountingRule.CLAUDE_FROM_4_7,
    window=200_000,
    min_cacheable_tokens=4096,
    breakpoints=4,
    lookback_blocks=20,
    ttls_s=(300, 3600),
    write_permille=(1250, 2000),
    read_permille=100,
    media=(Modality.IMAGE,),
    answer_schemas=True,
    evidence="SDK 2.12.0 types and provider docs; minimums from secondary pages",
)

_OPENAI: Final = replace(
    GENERIC,
    pattern="gpt-*",
    provider=CacheProvider.OPENAI,
    window=128_000,
    min_cacheable_tokens=1024,
    granularity_tokens=128,
    read_permille=100,
    prefix_order=("tools", "messages"),
    mid_conversation_system=True,
    media=(Modality.IMAGE,),
    answer_schemas=True,
    evidence="SDK 3.54.0 docstrings and the caching guide",
)

_GEMINI: Final = replace(
    GENERIC,
    pattern="gemini-*",
    provider=CacheProvider.GEMINI,
    counting=CountingRule.GEMINI,
    window=1_000_000,
    min_cacheable_tokens=4096,
    ttls_s=(1800,),
    read_permille=100,
    prefix_order=("system", "tools", "messages"),
    answer_schemas=True,
    evidence="google-adk 2.13.0 source; caching starts on turn 2",
)


def _claude(
    pattern: str,
    minimum: int,
    window: int,
    *,
    old: bool = False,
    system: bool = False,
    schemas: bool = True,
) -> Capability:
    rule = CountingRule.CLAUDE_TO_4_6 if old else CountingRule.CLAUDE_FROM_4_7
    return replace(
        _CLAUDE,
        pattern=pattern,
        counting=rule,
        window=window,
        min_cacheable_tokens=minimum,
        mid_conversation_system=system,
        answer_schemas=schemas,
    )


_GPT_5_6: Final = replace(
    _OPENAI,
    pattern="gpt-5-6*",
    window=400_000,
    granularity_tokens=1,
    breakpoints=4,
    lookback_blocks=None,
    ttls_s=(1800, 43_200),
    write_permille=(1250, 1250),
)

TABLE: Final[tuple[Capability, ...]] = (
    GENERIC,
    _claude("claude-opus-5*", 512, 1_000_000, system=True),
    _claude("claude-fable-*", 512, 1_000_000, system=True),
    _claude("claude-mythos-*", 512, 200_000, system=True),
    _claude("claude-sonnet-5*", 1024, 1_000_000, system=True),
    _claude("claude-haiku-5-5*", 4096, 200_000, system=True),
    _claude("claude-opus-4-8*", 1024, 1_000_000, system=True),
    _claude("claude-opus-4-7*", 2048, 1_000_000),
    _claude("claude-opus-4-6*", 4096, 1_000_000, old=True),
    _claude("claude-sonnet-4-6*", 2048, 200_000, old=True),
    _claude("claude-opus-4-5*", 4096, 200_000, old=True),
    _claude("claude-sonnet-4-5*", 1024, 200_000, old=True),
    _claude("claude-haiku-4-5*", 4096, 200_000, old=True),
    _claude("claude-opus-4*", 4096, 200_000, old=True, schemas=False),
    _claude("claude-sonnet-4*", 2048, 200_000, old=True, schemas=False),
    _claude("claude-3*", 4096, 200_000, old=True, schemas=False),
    _CLAUDE,
    _GPT_5_6,
    replace(_GPT_5_6, pattern="gpt-5-[789]*"),
    replace(_OPENAI, pattern="gpt-5*", window=400_000),
    replace(_OPENAI, pattern="gpt-4-1*", window=1_000_000),
    replace(_OPENAI, pattern="gpt-audio*", media=(Modality.AUDIO,), answer_schemas=False),
    replace(_OPENAI, pattern="gpt-4o-audio*", media=(Modality.AUDIO,), answer_schemas=False),
    replace(_OPENAI, pattern="gpt-4o-mini-audio*", media=(Modality.AUDIO,), answer_schemas=False),
    replace(_OPENAI, pattern="gpt-4o*"),
    replace(_OPENAI, pattern="o1-mini*", media=(), answer_schemas=False),
    replace(_OPENAI, pattern="o3-mini*", window=200_000, media=()),
    replace(_OPENAI, pattern="o[134]", window=200_000),
    replace(_OPENAI, pattern="o[134]-*", window=200_000),
    replace(_GEMINI, pattern="gemini-2-5*", min_cacheable_tokens=2048),
    _GEMINI,
)
"""Windows: provider and gateway pages of the month; the smallest of a family where it is mixed.
Media: the model pages; audio models take no picture, and o1-mini and o3-mini text alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaWire:
    """How one request format carries media; what a model reads of it is in its own row."""

    words: Mapping[str, str]
    """Media types whose bytes it carries, each with the format's own word for it."""
    schemes: Mapping[Modality, tuple[str, ...]]
    """What may stand as an address that the provider fetches, and by which schemes."""
    most_px: int | None
    """Longest edge of a picture; None when no limit is known."""
    crowd: tuple[int, int] | None = None
    """From more than so many pictures on their longest edge is this."""
    frame_tokens: int
    """Tokens of a film's frame, whatever its size, where the provider itself takes stretches
    and frames out of a film; 0 where films are not taken."""
    evidence: str
    """Where the row comes from."""
    as_of: str
    """Month of the evidence, `YYYY-MM`."""

    def carries(self, modality: Modality) -> bool:
        """Whether it has a part for a modality."""
        return any(word.startswith(f"{modality.value}/") for word in self.words)


_PICTURES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp")

MEDIA_WIRES: Final[Mapping[str, MediaWire]] = MappingProxyType(
    {
        "anthropic": MediaWire(
            words={word: word for word in _PICTURES},
            schemes={Modality.IMAGE: ("https",)},
            most_px=8_000,
            crowd=(20, 2_000),
            frame_tokens=0,
            evidence="SDK 2.12.0 types; vision guide for the longest edges",
            as_of=_AS_OF,
        ),
        "openai": MediaWire(
            words={**{word: word for word in _PICTURES}, "audio/wav": "wav", "audio/mpeg": "mp3"},
            schemes={Modality.IMAGE: ("https", "http")},
            most_px=None,
            frame_tokens=0,
            evidence="SDK 3.54.0 types of chat completions; vision and audio guides",
            as_of=_AS_OF,
        ),
        "adk": MediaWire(
            words={
                **{word: word for word in ("image/png", "image/jpeg", "image/webp")},
                **{word: word for word in ("audio/wav", "audio/aiff", "audio/aac", "audio/ogg")},
                **{word: word for word in ("audio/flac", "video/mp4", "video/mpeg", "video/webm")},
                "audio/mpeg": "audio/mp3",
                "video/quicktime": "video/mov",
                "video/x-msvideo": "video/avi",
                "video/x-ms-wmv": "video/wmv",
                "video/x-flv": "video/x-flv",
                "video/3gpp": "video/3gpp",
            },
            schemes=dict.fromkeys(
                (Modality.IMAGE, Modality.AUDIO, Modality.VIDEO), ("https", "gs")
            ),
            most_px=None,
            frame_tokens=258,
            evidence="google-genai 2.34.0 types; guides to images, audio, video and file input",
            as_of=_AS_OF,
        ),
        "text": MediaWire(
            words={},
            schemes={},
            most_px=None,
            frame_tokens=0,
            evidence="plain text",
            as_of=_AS_OF,
        ),
    }
)
"""What each render target carries. Gemini samples a frame a second at 258 tokens by default."""


@lru_cache(maxsize=256)
def capability(model: str) -> Capability:
    """The row of a model; an unknown one has the generic row.

    A provider prefix (`anthropic/…`, `eu.anthropic.…`), capitals and dots in the version do
    not matter.
    """
    # The first that fits: narrower patterns are above wider ones.
    name = plain_name(model)
    for row in TABLE:
        if fnmatchcase(name, row.pattern):
            return row
    return GENERIC


def plain_name(model: str) -> str:
    """The model's name without provider prefix, in lowercase, with dashes for dots.

    >>> plain_name("eu.anthropic.Claude-Opus-4.7")
    'claude-opus-4-7'
    """
    name = model.strip().lower().rpartition("/")[2]
    name = re.sub(r"^(?:[a-z]{2,6}\.)?(?:anthropic|openai|google|vertex_ai)[.:]", "", name)
    return name.replace(".", "-")


@dataclass(frozen=True, slots=True)
class ReservePolicy:
    """How much of the window is kept for the answer and for the provider's framing."""

    least_tokens: int = 4096
    """Smallest reserve; an answer cut short is worse than a shorter prompt."""
    share_permille: int = 100
    """Share of the window, when that is more."""
    small_window: int = 16_384
    """Below this window the smallest reserve does not apply."""
    framing_tokens: int = 256
    """What a provider adds around roles and tools; taken only where the window is known."""


DEFAULT_RESERVE = ReservePolicy()


@dataclass(frozen=True, slots=True)
class Budget:
    """The arithmetic of one compile, for the allocator and for the trace."""

    tokens: int
    """B: the compiled text's upper bound stays at or below it."""
    reserve_tokens: int
    """R: kept for the answer."""
    framing_tokens: int
    """Kept for the provider's own tokens."""
    window: int | None
    """W; None when unknown."""
    asked_tokens: int
    """The budget that was asked for."""


def compile_budget(
    budget_tokens: int,
    reserve_tokens: int | None,
    capability: Capability,
    policy: ReservePolicy = DEFAULT_RESERVE,
) -> Budget:
    """Return B and its parts, all in the unit of the model's counter.

    Args:
        budget_tokens: The most the compiled text may take, at least 0.
        reserve_tokens: The caller's longest answer; None when not stated.
        capability: The model's row.
        policy: Smallest reserve, share and framing.

    Raises:
        ContextBudgetExhausted: `required_over_budget`, when the reserve leaves less than nothing.
        InvalidInput: `bad_budget`, for a number that is not whole or below 0.
    """
    for name, value in (("budget_tokens", budget_tokens), ("reserve_tokens", reserve_tokens or 0)):
        if type(value) is not int or value < 0:
            raise InvalidInput(
                f"{name} must be a whole number of at least 0, not {value!r}", code="bad_budget"
            )

    # Where the window is unknown the caller's number is all there is: nothing is taken for it.
    window = capability.window
    reserve = _reserve(window, reserve_tokens or 0, policy)
    framing = 0 if window is None else policy.framing_tokens
    tokens = (
        budget_tokens - reserve
        if window is None
        else min(budget_tokens, window - reserve - framing)
    )
    if tokens < 0:
        raise _budget_error(
            f"a reserve of {reserve} tokens leaves nothing to compile into", -tokens
        )

    return Budget(tokens, reserve, framing, window, budget_tokens)


def elastic_tokens(tokens: int, *sizes: int) -> int:
    """What fixed parts leave of a budget to divide: media of the text, rules of the rest.

    >>> elastic_tokens(8000, 1200, 300)
    6500

    Raises:
        ContextBudgetExhausted: `required_over_budget`, when they leave less than nothing.
    """
    remainder = tokens - sum(sizes)
    if remainder < 0:
        raise _budget_error(f"the fixed parts need {sum(sizes)} of {tokens} tokens", -remainder)
    return remainder


def _reserve(window: int | None, answer_tokens: int, policy: ReservePolicy) -> int:
    if window is None:
        return answer_tokens

    # Small windows would be eaten up by the smallest reserve; there the share alone counts.
    share = -(-window * policy.share_permille // 1000)
    floor = policy.least_tokens if window >= policy.small_window else 0
    return max(floor, answer_tokens, share)


def _budget_error(reason: str, shortfall: int) -> ContextBudgetExhausted:
    return ContextBudgetExhausted(
        f"{reason}: {shortfall} tokens are missing; raise the budget or lower the reserve",
        code="required_over_budget",
        shortfall=shortfall,
    )


def sendable_id(call_id: str, uses: Counter[str]) -> str:
    """An id that every provider takes and that is unique in a request.

    `uses` counts how often each was given, and goes on.

    >>> given = Counter[str]()
    >>> sendable_id("a.b", given), sendable_id("a_b", given)
    ('a_b', 'a_b_2')
    """
    name = UNSENDABLE.sub("_", call_id)[:_ID_LENGTH]
    candidate = name
    # What a suffix makes may be another call's own id.
    while uses[candidate]:
        uses[name] += 1
        candidate = f"{name[: _ID_LENGTH - _SUFFIX_LENGTH]}_{uses[name]}"
    uses[candidate] += 1
    return candidate
