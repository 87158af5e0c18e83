"""Which word of one name stands for which word of the other, and what is left over.

Words pair up by equality first, then as two words written together (`open stack` /
`openstack`), then by small typos, nicknames and initials. Every word counts by how rare it is
among the names of its type (IDF). All measures are integers in thousandths, so no order of
addition can change a score.

Numbers and codes pair by equality alone: 101 is no typo of 102.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, pairwise
from typing import NamedTuple

from rapidfuzz.distance import OSA

from .lexicon import is_given_name, is_nickname

TYPO = 800
"""Least OSA similarity, in thousandths, of two spellings of one word."""
_TYPO_MIN_LETTERS = {True: 4, False: 6}
"""Shortest word, of a person or of anything else, whose misspelling is still the same word:
`authn` is no typo of `authz`."""
_SUBSTITUTION_MIN_LETTERS = 10
_SHORT_NAME_LETTERS = 5
_VOWELS = frozenset("aeiou")
_NICKNAME = 900
_INITIAL = 700
_FUZZY_MAX_WORDS = 12
"""Left-over words compared by spelling on each side; longer names pair by equality only."""
_OSA_MAX_LETTERS = 400
_MAX_WORDS = 64

Rarity = Callable[[str], int]
"""Word -> how much it tells, in thousandths (0 < rarity <= 1000)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """How two lists of words fit together. Shares are thousandths of the words' rarity."""

    align: int
    """Similarity-weighted share of what both sides say; 1000 when every word is met."""
    left_extra: int
    """Share of the left side that nothing on the right stands for."""
    right_extra: int
    left_over: tuple[str, ...]
    """The words without a partner, in order."""
    right_over: tuple[str, ...]
    nickname: bool
    """One given name stands for another."""
    initial: bool
    """One letter stands for a word."""
    typo: bool
    """Two words were paired that are only spelt alike."""
    slips: bool
    """Every two words that are spelt alike differ by a slip of the hand alone."""


def osa(left: str, right: str) -> int:
    """The edit similarity with swaps, in thousandths; very long forms only compare equal.

    >>> osa("postgres", "postgers")
    875
    """
    if left == right:
        return 1000
    if max(len(left), len(right)) > _OSA_MAX_LETTERS:
        return 0
    return int(1000 * OSA.normalized_similarity(left, right) + 1e-6)


def align(
    left: tuple[str, ...], right: tuple[str, ...], rarity: Rarity, *, person: bool
) -> Alignment:
    """Pair the words of two names; the result does not depend on the order of arguments."""
    work = _Pairing(_cut_tail(left), _cut_tail(right), rarity)
    work.pair_equal()

    if work.left and work.right:
        work.pair_written_together()
        work.pair_similar(person)

    return work.result()


def _cut_tail(words: tuple[str, ...]) -> list[str]:
    # A name of thousands of words is compared in bounded time: its tail counts as one word.
    if len(words) <= _MAX_WORDS:
        return list(words)
    return [*words[: _MAX_WORDS - 1], "".join(words[_MAX_WORDS - 1 :])]


class _Option(NamedTuple):
    """Two words that may stand for each other; sorts best first, alike for both sides."""

    unlike: int
    low: str
    high: str
    left_word: str
    right_word: str
    reason: str


class _Pairing:
    """Two word lists that shrink while their words find partners."""

    __slots__ = (
        "initial", "last", "left", "left_met", "met", "nickname", "rarity", "right", "right_met",
        "slips", "typo", "weight",
    )  # fmt: skip

    def __init__(self, left: list[str], right: list[str], rarity: Rarity) -> None:
        self.left = left
        self.right = right
        self.rarity = rarity
        # "Robert A. Brady" is not Robert Aderholt: short forms never cross to the family name.
        self.last = (left[-1:] or [""])[0], (right[-1:] or [""])[0]
        self.met = 0  # sum of similarity x rarity over both sides, in millionths
        self.weight = 0  # sum of the rarity of matched words over both sides
        self.left_met = 0
        self.right_met = 0
        self.nickname = False
        self.initial = False
        self.typo = False
        self.slips = True

    def take(self, lefts: list[str], rights: list[str], similarity: int) -> None:
        on_left = sum(map(self.rarity, lefts))
        on_right = sum(map(self.rarity, rights))
        self.left_met += on_left
        self.right_met += on_right
        self.weight += on_left + on_right
        self.met += similarity * (on_left + on_right)
        for word in lefts:
            self.left.remove(word)

        for word in rights:
            self.right.remove(word)

    def take_one(self, left_word: str, right_word: str, similarity: int) -> None:
        on_left, on_right = self.rarity(left_word), self.rarity(right_word)
        self.left_met += on_left
        self.right_met += on_right
        self.weight += on_left + on_right
        self.met += similarity * (on_left + on_right)
        self.left.remove(left_word)
        self.right.remove(right_word)

    def pair_equal(self) -> None:
        for word in tuple(self.left):
            if word in self.right:
                self.take_one(word, word, 1000)

    def pair_written_together(self) -> None:
        options = sorted(
            [(*pair, True) for pair in pairwise(self.left) if "".join(pair) in self.right]
            + [(*pair, False) for pair in pairwise(self.right) if "".join(pair) in self.left]
        )

        for first, second, on_left in options:
            parts, single = (self.left, self.right) if on_left else (self.right, self.left)
            free = parts.count(first) > (first == second) and second in parts
            if free and first + second in single:
                words = ([first, second], [first + second])
                self.take(words[not on_left], words[on_left], 1000)

    def pair_similar(self, person: bool) -> None:
        options: list[_Option] = []
        for left_word in self.left[:_FUZZY_MAX_WORDS]:
            for right_word in self.right[:_FUZZY_MAX_WORDS]:
                likeness = _likeness(left_word, right_word, person)
                same_place = (left_word == self.last[0]) == (right_word == self.last[1])
                if likeness and (same_place or likeness[1] == "typo"):
                    low, high = sorted((left_word, right_word))
                    option = _Option(-likeness[0], low, high, left_word, right_word, likeness[1])
                    options.append(option)

        # Best pair first; low and high make the order the same whichever name stands left.
        options.sort()
        for option in options:
            if option.left_word in self.left and option.right_word in self.right:
                self.take_one(option.left_word, option.right_word, -option.unlike)
                self.nickname |= option.reason == "nickname"
                self.initial |= option.reason == "initial"
                if option.reason == "typo":
                    self.typo = True
                    self.slips &= is_slip(option.left_word, option.right_word)

    def result(self) -> Alignment:
        left_rest = sum(map(self.rarity, self.left))
        right_rest = sum(map(self.rarity, self.right))
        # Unmatched words count half: a longer name is not yet a different one.
        total = 2 * self.weight + left_rest + right_rest

        return Alignment(
            align=2 * self.met // total if total else 0,
            left_extra=_share(left_rest, self.left_met),
            right_extra=_share(right_rest, self.right_met),
            left_over=tuple(self.left),
            right_over=tuple(self.right),
            nickname=self.nickname,
            initial=self.initial,
            typo=self.typo,
            slips=self.typo and self.slips,
        )


def _share(remainder: int, matched_weight: int) -> int:
    return 1000 * remainder // (remainder + matched_weight) if remainder else 0


@lru_cache(maxsize=65_536)  # given names and family names come back in name after name
def _likeness(left_word: str, right_word: str, person: bool) -> tuple[int, str] | None:
    """How alike two different words are, and why they may be one; None for two words."""
    if not person and left_word[0] != right_word[0] and len(left_word) != len(right_word):
        return None  # two words, as most pairs are
    if not (left_word.isalpha() and right_word.isalpha()):
        return None
    if person and is_nickname(left_word, right_word):
        return _NICKNAME, "nickname"
    if person and min(len(left_word), len(right_word)) == 1:
        return (_INITIAL, "initial") if left_word[0] == right_word[0] else None

    distinct = (
        _are_two_names(left_word, right_word) if person else _are_two_words(left_word, right_word)
    )
    if distinct or min(len(left_word), len(right_word)) < _TYPO_MIN_LETTERS[person]:
        return None

    similarity = osa(left_word, right_word)
    return (similarity, "typo") if similarity >= TYPO else None


def _are_two_names(left_name: str, right_name: str) -> bool:
    """Tell Maria from Marta, from Mario, and Daniel from Daniela; Ahmad may be Ahmed.

    Two known given names are no misspelling of each other, and a last vowel is a gender. In a
    short name a doubled letter may be a slip, and a vowel may stand for a vowel; any other
    letter makes another name (Price, Rice).
    """
    if is_given_name(left_name) and is_given_name(right_name):
        return True

    short, long = sorted((left_name, right_name), key=len)
    if len(short) < len(long):
        if _collapse(short) == _collapse(long):
            return False
        ends_in_vowel = long[:-1] == short and long[-1] in _VOWELS
        return ends_in_vowel or short[0] != long[0] or len(long) <= _SHORT_NAME_LETTERS

    swaps: list[set[str]] = []
    for left, right in zip(left_name, right_name, strict=True):
        if left != right:
            swaps.append({left, right})

    if len(swaps) > 1:
        return False
    if swaps[0] <= _VOWELS:
        return left_name[-1] != right_name[-1]

    return len(left_name) <= _SHORT_NAME_LETTERS


def is_slip(left_word: str, right_word: str) -> bool:
    """Whether two spellings differ by doubled letters, or by two neighbours that swapped.

    A letter for another one is none: so differ Schmidt and Schmitt, who are two.

    >>> is_slip("emraan", "emran"), is_slip("lakhal", "lakahl"), is_slip("schmidt", "schmitt")
    (True, True, False)
    """
    if _collapse(left_word) == _collapse(right_word):
        return True
    # One edit with swaps, and the same letters: nothing but two neighbours can have moved.
    same_letters = sorted(left_word) == sorted(right_word)
    return same_letters and OSA.distance(left_word, right_word) == 1


def _collapse(word: str) -> str:
    return "".join(letter for letter, _ in groupby(word))


def _are_two_words(left_word: str, right_word: str) -> bool:
    """Tell Ubuntu from Kubuntu and upload from unload.

    Another first letter makes another word, and so does one letter for another in a word that
    is not long; slips of the hand swap, drop or double letters.
    """
    swapped = len(left_word) == len(right_word) and sorted(left_word) == sorted(right_word)
    if swapped:
        return False
    if left_word[0] != right_word[0]:
        return True

    return len(left_word) == len(right_word) and len(left_word) < _SUBSTITUTION_MIN_LETTERS
