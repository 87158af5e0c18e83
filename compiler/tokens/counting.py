"""How many tokens a text has for a model: exact if the vocabulary is known, else estimated.

A counter gives an estimate and two bounds. The upper bound decides whether a text fits, the lower
one whether a prefix is long enough to be cached, so errors are on the safe side. The margin is part
of the upper bound alone. Rules are sums of whole thousandths, rounded once at the end.

The model's name chooses the counter, never what is installed. Its identity names the vocabulary,
the rule's version and the margin, never a library. The coefficients of the Claude rules were fitted
on 330 snippets against a third party's counts: they are estimates, and neither bound is a promise
before a refit on counts that the provider reports. Checklist C-316.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, Protocol

from ...schema.records import FrozenDict
from .capabilities import GENERIC, MODEL_TABLES, CountingRule, capability, plain_name
from .o200k import VOCABULARY, VOCABULARY_SHA256, count_o200k
from .text_features import features

FAIR_TOKENS: Final = 200
"""Tokens from which a text must be worth its length."""

_CHARS_A_TOKEN: Final = 4


class TokenCounter(Protocol):
    """Counts the tokens of a text; `lower_bound <= count <= upper_bound` for every text."""

    @property
    def identity(self) -> str:
        """Vocabulary hash, rule, its version and the margin, as one string."""
        ...

    def count(self, text: str) -> int:
        """The best estimate."""
        ...

    def upper_bound(self, text: str) -> int:
        """The number that decides whether a text fits."""
        ...

    def lower_bound(self, text: str) -> int:
        """The number that decides whether a prefix can be cached."""
        ...


@dataclass(frozen=True, slots=True)
class ExactCounter:
    """o200k: the count is exact, so both bounds equal it."""

    identity: str = f"{VOCABULARY}@{VOCABULARY_SHA256}/exact.1/margin=1.00"

    def count(self, text: str) -> int:
        """The exact count."""
        return count_o200k(text)

    def upper_bound(self, text: str) -> int:
        """The exact count."""
        return count_o200k(text)

    def lower_bound(self, text: str) -> int:
        """The exact count."""
        return count_o200k(text)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleCounter:
    """An estimate from the o200k count and character classes."""

    name: str
    version: int = 1
    o200k_thousandths: int
    """Weight of one o200k token."""
    thousandths: Mapping[str, int] = field(hash=False)
    """Weight of each field of `Features` that the rule uses."""
    margin_percent: int = 105
    """What the upper bound takes of the estimate."""

    @property
    def identity(self) -> str:
        """Return vocabulary, rule and margin as one string."""
        margin = f"{self.margin_percent // 100}.{self.margin_percent % 100:02}"
        rule = f"{self.name}.{self.version}"
        return f"{VOCABULARY}@{VOCABULARY_SHA256}/{rule}/margin={margin}"

    def count(self, text: str) -> int:
        """The estimate, rounded up."""
        return -(-self._thousandths(text) // 1000)

    def upper_bound(self, text: str) -> int:
        """The estimate with its margin, and one token more for each character of a run."""
        # Estimators count long runs up to eight times too low, so each of their characters counts.
        runs = features(text).run_chars
        return -(-self._thousandths(text) * self.margin_percent // 100_000) + runs

    def lower_bound(self, text: str) -> int:
        """The smaller of the o200k count and the estimate."""
        return min(count_o200k(text), self._thousandths(text) // 1000)

    def _thousandths(self, text: str) -> int:
        counts = features(text)
        cost = self.o200k_thousandths * count_o200k(text)
        for name, weight in self.thousandths.items():
            cost += weight * int(getattr(counts, name))
        return cost


@dataclass(frozen=True, slots=True)
class MaximumCounter:
    """For a named model nobody knows: the largest count and the widest bounds of all rules."""

    counters: tuple[TokenCounter, ...]

    @property
    def identity(self) -> str:
        """The identities of all counters behind one name."""
        rules = "+".join(counter.identity.partition("/")[2] for counter in self.counters)
        return f"{VOCABULARY}@{VOCABULARY_SHA256}/maximum.1({rules})"

    def count(self, text: str) -> int:
        """The largest estimate."""
        return max(counter.count(text) for counter in self.counters)

    def upper_bound(self, text: str) -> int:
        """The largest upper bound."""
        return max(counter.upper_bound(text) for counter in self.counters)

    def lower_bound(self, text: str) -> int:
        """The smallest lower bound."""
        return min(counter.lower_bound(text) for counter in self.counters)


_EXACT: Final = ExactCounter()


def _rules() -> dict[CountingRule, TokenCounter]:
    rules: dict[CountingRule, TokenCounter] = {CountingRule.O200K: _EXACT}
    for name, rule in MODEL_TABLES["counter"].items():
        weights = FrozenDict(rule["thousandths"])
        rules[CountingRule(name)] = RuleCounter(
            name=rule["name"], o200k_thousandths=rule["o200k_thousandths"], thousandths=weights
        )
    return rules | {CountingRule.MAXIMUM: MaximumCounter(tuple(rules.values()))}


_COUNTERS: Final[Mapping[CountingRule, TokenCounter]] = FrozenDict(_rules())


@lru_cache(maxsize=256)
def counter_for(model: str) -> TokenCounter:
    """The counter of a model's name.

    `generic` counts exact o200k, a named model that no row of the capability table fits takes
    the maximum of all rules.

    >>> counter_for("gpt-5").count("hello world")
    2
    >>> counter_for("claude-opus-4-8").upper_bound("hello world")
    6
    """
    row = capability(model)
    unknown = row is GENERIC and plain_name(model) != GENERIC.pattern
    return _COUNTERS[CountingRule.MAXIMUM if unknown else row.counting]


# How many texts may compete for a budget: several times what it holds. What comes after so many
# better ones is never shown, yet to make pieces of it and to price them would take most of a
# compile. Stored texts meet the bound twice: before they become pieces, and with a narrower one
# where the pieces of a section compete. Characters stand for tokens, since counting them would cost
# what the bound is to save.


def room_of(budget: int, times: int) -> int:
    """The characters of so many budgets, which are in tokens."""
    return times * budget * _CHARS_A_TOKEN


def size_of(text: str) -> int:
    """The characters that a text takes of the room; of a long one no more than of a fair one.

    A long text may stay out in the end, and must not keep out those that would be in its place.
    """
    return min(len(text), FAIR_TOKENS * _CHARS_A_TOKEN)
