"""A sentence costs the rules about what its length does, whatever stands in it."""

import time
from datetime import UTC, datetime
from typing import Final

import pytest

from tenure.service.extraction.engine import RuleExtractor

_NOON: Final = datetime(2026, 5, 1, 12, tzinfo=UTC)
_SHORT, *_LONGER = 100, 140, 200, 240, 395
_SLACK: Final = 12
"""Times the cost of the short sentence, beside the 4 of its length: clocks are coarse."""

_LINKS: Final = {
    "adverbs read two ways": ("Ich bin ", "seit Tage "),
    "times read two ways": ("Ich bin ", "im Mai 2020 "),
    "starts": ("", "Ich bin seit Tagen "),
    "names": ("My sister ", "Ann Bee "),
    "names in small letters": ("", "my dog rex and "),
    "several in small letters": ("my dogs ", "rex, "),
    "lists": ("Ich mag ", "große Äpfel, "),
    "clauses": ("", "I live in Graz and "),
    "fillers": ("I ", "still really just "),
    "combining marks": ("I like ", "a\u0301\u0308"),
}


@pytest.mark.parametrize(("head", "link"), _LINKS.values(), ids=_LINKS)
def test_a_longer_sentence_of_the_same_words_costs_no_more_than_its_length(
    head: str, link: str
) -> None:
    # Step by step: what doubles with every link is told long before it hangs.
    short_cost = _cost(head, link, _SHORT)
    for length in _LONGER:
        assert _cost(head, link, length) < short_cost * (length / _SHORT) * _SLACK


def _cost(head: str, link: str, length: int) -> float:
    """The least seconds of three readings of a sentence that says nothing whole."""
    sentence = (head + link * length)[:length]
    costs: list[float] = []
    for _ in range(3):
        start = time.process_time()
        RuleExtractor().extract(sentence, at=_NOON)
        costs.append(time.process_time() - start)
    return min(costs)
