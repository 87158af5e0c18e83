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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from ...schema.errors import ContextBudgetExhausted, InvalidInput
from ...schema.policy import CompilePolicy
from ...schema.records import packaged_table, short_repr
from .modality import Modality

UNSENDABLE: Final = re.compile("[^A-Za-z0-9_-]")
"""Characters of an id or a tool's name that some provider refuses; models do make them."""
_ID_LENGTH: Final = 40
"""The longest id that OpenAI's chat takes."""
_SUFFIX_LENGTH: Final = 6
_DEFAULT_RULES: Final = CompilePolicy()


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
    """One row of the table; a field that a row does not state has the value of an unknown model."""

    __repr__ = short_repr

    pattern: str = "generic"
    """Shell pattern on the model's plain name, lowercase, with dashes for dots."""
    provider: CacheProvider = CacheProvider.NONE
    counting: CountingRule = CountingRule.O200K
    window: int | None = None
    """Context window W in tokens, input and output together; None when unknown."""
    min_cacheable_tokens: int | None = None
    """Shortest prefix that is cached, in tokens; None when there is no provider cache."""
    granularity_tokens: int = 1
    """Step to which a cached prefix is rounded down; 1 when it is not rounded."""
    breakpoints: int = 0
    """Explicit marks a request may carry; 0 when the provider takes none."""
    lookback_blocks: int | None = None
    """Content blocks a mark looks back over; None when there is no such limit."""
    ttls_s: tuple[int, ...] = ()
    """Lifetimes on offer in seconds, the default first; empty when the provider decides."""
    write_permille: tuple[int, ...] = (1000,)
    """Price of a cache write for each lifetime, or one price when there are no lifetimes."""
    read_permille: int = 1000
    """Price of a cached token that is read."""
    prefix_order: tuple[str, ...] = ("tools", "system", "messages")
    """Parts of the request in the order in which they form the prefix."""
    mid_conversation_system: bool = False
    """Whether a system message may follow a user turn."""
    media: tuple[Modality, ...] = (Modality.IMAGE, Modality.AUDIO, Modality.VIDEO)
    """What it reads in addition to text; of an unknown model nothing is ruled out."""
    answer_schemas: bool = False
    """Whether it generates an answer under a JSON Schema."""
    evidence: str = "no provider: the budget is stated in o200k tokens"
    """Where the row comes from."""
    as_of: str = "2026-11"
    """Month of the evidence, `YYYY-MM`."""


GENERIC: Final = Capability()
"""The row of `generic` and of every unknown model: no window, no cache, no mark."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaWire:
    """How one request format carries media; what a model reads of it is in its own row."""

    words: Mapping[str, str]
    """Media types whose bytes it carries, each with the format's own word for it."""
    schemes: Mapping[Modality, tuple[str, ...]]
    """What may stand as an address that the provider fetches, and by which schemes."""
    most_px: int | None = None
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


def _read_rows() -> Iterator[Capability]:
    yield GENERIC
    for family in MODEL_TABLES["family"]:
        for row in family["rows"]:
            stated_terms = {**family, **row}
            del stated_terms["rows"]
            terms: dict[str, Any] = {
                **stated_terms,
                "provider": CacheProvider(stated_terms["provider"]),
                "counting": CountingRule(stated_terms.get("counting", CountingRule.O200K)),
                "media": tuple(map(Modality, stated_terms.get("media", GENERIC.media))),
            }
            for name in _LISTS & stated_terms.keys():
                terms[name] = tuple(stated_terms[name])
            yield Capability(**terms)


def _read_wires() -> Iterator[tuple[str, MediaWire]]:
    for name, row in MODEL_TABLES["wire"].items():
        schemes = {Modality(word): tuple(given) for word, given in row["schemes"].items()}
        crowd = {"crowd": tuple(row["crowd"])} if "crowd" in row else {}
        yield name, MediaWire(**row | crowd | {"schemes": schemes})


MODEL_TABLES: Final[Mapping[str, Any]] = packaged_table(__package__, "models.toml")
_LISTS: Final = frozenset({"ttls_s", "write_permille", "prefix_order"})

TABLE: Final = tuple(_read_rows())
"""Windows: provider and gateway pages of the month; the smallest of a family where it is mixed."""
MEDIA_WIRES: Final[Mapping[str, MediaWire]] = MappingProxyType(dict(_read_wires()))
"""What each render target carries."""


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


class Budget(NamedTuple):
    """What one compile may use."""

    tokens: int
    """B: the compiled text's upper bound stays at or below it."""
    reserve_tokens: int
    """R: kept for the answer."""


def compile_budget(
    budget_tokens: int,
    reserve_tokens: int | None,
    capability: Capability,
    rules: CompilePolicy = _DEFAULT_RULES,
) -> Budget:
    """Return B and its parts, all in the unit of the model's counter.

    Args:
        budget_tokens: The most the compiled text may take, at least 0.
        reserve_tokens: The caller's longest answer; None when not stated.
        capability: The model's row.
        rules: Smallest reserve, share and framing.

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
    reserve, tokens = reserve_tokens or 0, budget_tokens
    if window is None:
        tokens -= reserve
    else:
        # Small windows would be eaten up by the smallest reserve; there the share alone counts.
        share = -(-window * round(1000 * rules.reserve_share) // 1000)
        floor = rules.reserve_floor if window >= rules.small_window else 0
        reserve = max(floor, reserve, share)
        tokens = min(tokens, window - reserve - rules.framing_tokens)
    if tokens < 0:
        raise _budget_error(
            f"a reserve of {reserve} tokens leaves nothing to compile into", -tokens
        )

    return Budget(tokens, reserve)


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
