"""What an extractor finds in a text, what it is told, and how it is asked.

An extractor proposes; it decides nothing. A claim takes the level, the scope and the origin of
the text that it was found in, and points at the words it came from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

from ...schema.records import packaged_table, short_repr
from ...schema.slots import Slot

ANY_SLOT: Final = "*"
"""Slot of a claim that takes back what is known of a thing, whatever slot it fills."""

LAST_SAID: Final = ""
"""Value of a claim that takes back what its speaker said last."""

LAST_HEARD: Final = "\N{HORIZONTAL ELLIPSIS}"
"""Value of one that takes back what was said last, if its speaker said it."""


ALIAS: Final = "alias"
"""Slot of a claim that states another name of its subject: it becomes an alias and no claim."""

LANGUAGE_FILES: Final = ("en", "de")


@cache
def language_tables(name: str) -> Mapping[str, Any]:
    """The tables of a language, read from its file once in a process."""
    tables = packaged_table(__package__, f"{name}.toml")
    # Long patterns are wrapped in the file; a class of words is split at its spaces anyway.
    for section in ("clause", "kinds", "kin", "withdrawal"):
        for key, text in tables[section].items():
            if isinstance(text, str):
                tables[section][key] = text.replace("\n", "")
    return tables


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedClaim:
    """A claim found in a text, about the speaker unless `subject` says otherwise."""

    __repr__ = short_repr

    slot: str
    value: str | int | float | bool
    start: int
    """First character of the words it came from."""
    end: int
    subject: str | None = None
    """A name; None is the speaker."""
    valid_from: datetime | None = None
    """When the text says it began; None when it does not say."""
    precision: str = ""
    """`month` or `year` where the text says no day of `valid_from`, which is the first one then."""
    valid_until: datetime | None = None
    """When the text says it ended; None for what still holds."""
    op: str = "assert"
    planned: bool = False
    """Whether it is announced rather than true already."""
    confidence: float = 0.8
    if_known: bool = False
    """Whether it counts only where the slot has this value now, as a denial of it may, or had it
    once, as whoever is back there may say."""
    if_subject_known: bool = False
    """Whether it counts only where its subject is somebody of whom the speaker told before: "Raj is
    vegetarian" may speak of anybody."""
    is_unnamed: bool = False
    """Whether it ends the only thing of a kind that there is, and the value is the kind: "I sold my
    car"."""

    @property
    def is_withdrawal(self) -> bool:
        """Whether it takes back what its speaker said, and not what somebody else did."""
        if self.op != "deny":
            return self.op == "retract"
        return self.is_unnamed or self.slot == ANY_SLOT or self.value in (LAST_SAID, LAST_HEARD)


def fitting_claims(
    claims: Iterable[ExtractedClaim], slots: Mapping[str, Slot]
) -> tuple[ExtractedClaim, ...]:
    """The claims in slots that a tenant has, aliases, and what takes back what any slot has."""
    free_slots = (ANY_SLOT, ALIAS)
    return tuple(claim for claim in claims if claim.slot in slots or claim.slot in free_slots)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionContext:
    """What is known around a text."""

    __repr__ = short_repr

    at: datetime
    """The moment of speaking, which relative dates count from."""
    speaker: str | None = None
    slots: Mapping[str, Slot] = field(default_factory=dict[str, Slot])
    """The tenant's own slots and the built-in ones."""
    vocabulary_version: int = 0
    entities: tuple[str, ...] = ()
    """Names of entities that the text mentions."""
    may_direct: bool = False
    """Whether what the speaker asks for may become a directive."""


class TextInContext(NamedTuple):
    """A text and what is known around it."""

    text: str
    context: ExtractionContext


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """The claims of one text, and what finding them took."""

    __repr__ = short_repr

    claims: tuple[ExtractedClaim, ...]
    extractor: str
    """Who found them: `rules`, or a provider and its model."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float | None = None
    """In the currency of the stated prices; None where no price is known."""
    is_cached: bool = False
    dropped: tuple[str, ...] = ()
    """What was proposed and not taken, a sentence each."""
    failure: str = ""
    """Why the model was of no use and rules read the text instead; empty when it was."""

    @property
    def account(self) -> str:
        """What finding the claims took, as a sentence; empty for rules alone."""
        if self.extractor == "rules" and not self.failure:
            return ""

        parts = [f"claims by {self.extractor}"]
        if self.tokens_in or self.tokens_out:
            parts.append(f"{self.tokens_in} tokens in, {self.tokens_out} out")
        if self.cost is not None:
            parts.append(f"cost {self.cost:.6f}")
        if self.is_cached:
            parts.append("from the cache")
        if self.dropped:
            parts.append(f"{len(self.dropped)} dropped: {'; '.join(self.dropped)}")
        if self.failure:
            parts.append(f"because the model failed: {self.failure}")
        return ", ".join(parts)


class Extractor(Protocol):
    """Finds claims in a text; the same text and moment give the same claims."""

    def extract(self, text: str, *, at: datetime) -> tuple[ExtractedClaim, ...]:
        """Find the claims of a text, in order of appearance."""
        ...


@runtime_checkable
class ContextualExtractor(Protocol):
    """An extractor that is told about the speaker and the tenant's slots."""

    def extract_in(self, text: str, context: ExtractionContext) -> Extraction:
        """Find the claims of a text, in order of appearance."""
        ...


@runtime_checkable
class PaidExtractor(ContextualExtractor, Protocol):
    """An extractor whose answers take time and money, so that they are kept and asked for at once.

    It is safe to share between threads, and equal questions about equal texts have equal answers.
    """

    @property
    def parallel(self) -> int:
        """How many texts it may be asked about at the same time."""
        ...

    def question(self, text: str, context: ExtractionContext) -> str:
        """All that its answer depends on apart from the text: model, instructions, words."""
        ...


@runtime_checkable
class BatchExtractor(PaidExtractor, Protocol):
    """A paid extractor that reads several texts in a request, so that it is told the slots once.

    The texts of a request are of one speaker: nobody's words stand where another's are read.
    """

    @property
    def texts_a_request(self) -> int:
        """How many texts a request holds at most."""
        ...

    def extract_all(self, texts: Sequence[TextInContext]) -> Sequence[Extraction]:
        """Find the claims of texts with one speaker and the same slots, of each in its place."""
        ...
