"""Compare two names: which words correspond, what is left over, and the levels that are scored.

Words pair by equality first, then as two words written together (`open stack` / `openstack`), then
by small typos, nicknames and initials. Numbers and codes pair by equality alone: 101 is no typo of
102. A word counts by how rare it is among the names of its type (IDF). All measures are integers in
thousandths, so no order of addition changes a score.

`measure` turns two forms into `Measures`, the raw facts. `COMPARISONS` lists what is compared, the
levels in falling strength, and how a level is chosen. The weights are fitted
(`bench/fit_resolution.py`) and stored in `model.json`, one natural-log odds per comparison and
level; the score is their sum (Fellegi-Sunter). Context and thresholds are decided elsewhere.
Symmetric in its arguments. Checklist C-048.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

from .lexicon import is_given_name, is_nickname
from .normalize import NameForm

if TYPE_CHECKING:
    from types import ModuleType

TYPO = 800
"""Least OSA similarity, in thousandths, of two spellings of one word."""
_TYPO_MIN_LETTERS = {True: 4, False: 6}
"""Shortest word, of a person or of anything else, whose misspelling is still the same word:
`authn` is no typo of `authz`."""
_SUBSTITUTION_MIN_LETTERS = 10
_SHORT_NAME_LETTERS = 5
_VOWELS = frozenset("aeiou")
_DIGRAPH = re.compile(r"(?<=[aou])e(?!l$)|(?<=a)a")
"""The second letter where ä, ö, ø, ü or å is typed as ae, oe, ue or aa; no Michael, no Samuel."""
_NICKNAME = 900
_INITIAL = 700
_FUZZY_MAX_WORDS = 12
"""Left-over words compared by spelling on each side; longer names pair by equality only."""
_OSA_MAX_LETTERS = 400
_MAX_WORDS = 64

Rarity = Callable[[str], int]
"""Word -> how much it tells, in thousandths (0 < rarity <= 1000)."""

_ACRONYM_MAX = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """How two lists of words fit together. Shares are thousandths of the words' rarity."""

    align: int
    """Similarity-weighted share of what both sides say; 1000 when every word is met."""
    left_extra: int
    """Share of the left side that nothing on the right represents."""
    right_extra: int
    left_over: tuple[str, ...]
    """The words without a partner, in order."""
    right_over: tuple[str, ...]
    nickname: bool
    """One given name represents another."""
    initial: bool
    """One letter represents a word."""
    typo: bool
    """Two words were paired that are only spelt alike."""
    slips: bool
    """Every two words that are spelt alike differ by a slip of the hand alone."""


@cache
def _osa_measure() -> ModuleType:
    # Reads come by this module, and a short one would wait for what it never compares.
    from rapidfuzz.distance import OSA

    return OSA


def osa(left: str, right: str) -> int:
    """The edit similarity with swaps, in thousandths; very long forms only compare equal.

    >>> osa("postgres", "postgers")
    875
    """
    if left == right:
        return 1000
    if max(len(left), len(right)) > _OSA_MAX_LETTERS:
        return 0
    return int(1000 * _osa_measure().normalized_similarity(left, right) + 1e-6)


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

    if person and _DIGRAPH.sub("", left_word) == _DIGRAPH.sub("", right_word):
        return TYPO, "typo"
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
    return same_letters and int(_osa_measure().distance(left_word, right_word)) == 1


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


@dataclass(frozen=True, kw_only=True)
class Measures:
    """The raw facts about two names. Shares are integers in thousandths."""

    # Without slots, so that the levels, which a score reads three times, are kept.

    left: NameForm
    right: NameForm
    align: int
    conflict: int
    """Unmatched share on *both* sides: the smaller of the two."""
    extra: int
    """Unmatched share that only one side has: what the larger has beyond the smaller."""
    osa: int
    """Edit similarity of the forms without spaces."""
    same_joined: bool
    same_tokens: bool
    same_core: bool
    same_stem: bool
    """Equal but for what one organisation of the two says that it trades in."""
    slips: bool
    """Several words that all meet, some of them by a slip of the hand."""
    acronym: bool
    words: Alignment
    """Which words had no partner, and whether nicknames or initials were used."""

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """The index of the level that holds, one per row of `COMPARISONS`."""
        return tuple([level_of(self) for level_of in _LEVELS])


@dataclass(frozen=True, slots=True)
class Comparison:
    """One row of the table: a question, its possible answers, and how to choose."""

    name: str
    question: str
    levels: tuple[str, ...]
    """Answers in falling strength; fitted weights never rise along them."""
    level_of: Callable[[Measures], int]
    """Index of the first level that holds."""
    score_of: Callable[[Measures], int]
    """The raw measure in thousandths, for the reader of a score."""


def measure(left: NameForm, right: NameForm, rarity: Rarity) -> Measures:
    """The raw facts about two names of one entity type."""
    # Two that differ are further words.
    qualifiers: tuple[tuple[str, ...], tuple[str, ...]] = (), ()
    if left.qualifier and right.qualifier and left.qualifier != right.qualifier:
        qualifiers = tuple(left.qualifier.split()), tuple(right.qualifier.split())
    left_core, right_core = left.core + qualifiers[0], right.core + qualifiers[1]
    words = align(left_core, right_core, rarity, person=left.entity_type == "person")
    same_joined = not qualifiers[0] and _is_written_alike(left, right)
    same_core = not qualifiers[0] and left.ordered == right.ordered
    # "Acme Systems" and "Acme Solutions" are two; a bare name may be either's.
    is_one_stem = left.stem == right.stem and left.stem in (left.compact, right.compact)
    same_stem = not (qualifiers[0] or same_joined or same_core) and is_one_stem
    is_same = same_joined or same_stem
    low, high = sorted((words.left_extra, words.right_extra))

    # Forms that are equal without spaces say the same, however they were cut into words.
    return Measures(
        left=left,
        right=right,
        align=1000 if is_same else words.align,
        conflict=0 if is_same else low,
        extra=0 if is_same else high - low,
        osa=1000 if is_same else osa("".join(left_core), "".join(right_core)),
        same_joined=same_joined,
        same_tokens=not qualifiers[0] and left.tokens == right.tokens,
        same_core=same_core,
        same_stem=same_stem,
        slips=words.slips and not high and min(len(left_core), len(right_core)) > 1,
        acronym=not same_core and (_is_acronym(left, right) or _is_acronym(right, left)),
        words=words,
    )


def _is_written_alike(left: NameForm, right: NameForm) -> bool:
    if left.compact == right.compact or left.spelling == right.spelling:
        return True
    # ".NET" / "dotnet": one of them says in words what the other writes as a sign.
    return left.reading == right.compact or left.compact == right.reading


def _is_acronym(short: NameForm, long: NameForm) -> bool:
    if len(short.core) != 1 or not 2 <= len(short.compact) <= _ACRONYM_MAX:
        return False
    return short.compact in long.acronyms


def _name_level(measures: Measures) -> int:
    if measures.acronym:
        return 11
    if measures.same_tokens:
        return 0
    if measures.same_joined:
        return 1
    if measures.same_core:
        return 2
    if measures.same_stem:
        return 3

    level = 4 + _first_at_most(measures.align, (950, 850, 700, 500, 300, 1))
    # Between single words alignment repeats the spelling; it may not count twice.
    return max(level, 6) if _one_word(measures) else level


def _first_at_most(value: int, cuts: tuple[int, ...]) -> int:
    for index, cut in enumerate(cuts):
        if value >= cut:
            return index
    return len(cuts)


def _conflict_level(measures: Measures) -> int:
    if measures.acronym:
        return 5
    share = measures.conflict
    return 0 if share == 0 else 1 + sum(share >= cut for cut in (200, 400, 700))


def _spelling_level(measures: Measures) -> int:
    if measures.slips:
        return 0
    level = _first_at_most(measures.osa, (930, 850, 850, 600, 400))
    # One edit in a single word makes another product more often (Ubuntu, Kubuntu).
    return 2 if level == 1 and _one_word(measures) else level


def _one_word(measures: Measures) -> bool:
    return len(measures.left.core) == 1 == len(measures.right.core)


def _short_form_level(measures: Measures) -> int:
    # Robert Aderholt is not Rob Andrews: a short form supports only what nothing contradicts.
    if measures.conflict:
        return 2
    if measures.words.nickname:
        return 0
    return 1 if measures.words.initial else 2


def _numbers_level(measures: Measures) -> int:
    left, right = measures.left, measures.right
    if not (left.numbers or right.numbers):
        return 1
    return 0 if same_numbers(measures) else 2


def same_numbers(measures: Measures) -> bool:
    """Whether the numbers inside two names agree, number words included."""
    left, right = measures.left, measures.right
    if left.numbers == right.numbers:
        return True
    # "One Convergence" / "Oneconvergence": the word was never a number.
    if left.spelling == right.spelling and left.digits == right.digits:
        return True
    # "E-mail" / "email": a letter that stood alone was no code of its own.
    return measures.same_joined and _with_digits(left.numbers) == _with_digits(right.numbers)


def _with_digits(numbers: tuple[str, ...]) -> list[str]:
    return [number for number in numbers if not number.isalpha()]


COMPARISONS: tuple[Comparison, ...] = (
    Comparison(
        "name",
        "How far do the words of the two names meet?",
        (
            "equal in order",
            "equal without spaces",
            "same words after the legal form",
            "same words but for the trade",
            "aligned >= .95",
            "aligned >= .85",
            "aligned >= .70",
            "aligned >= .50",
            "aligned >= .30",
            "aligned > 0",
            "nothing meets",
            "acronym",
        ),
        _name_level,
        lambda m: m.align,
    ),
    Comparison(
        "conflict",
        "How much of both names has no partner in the other?",
        ("none", "< .20", "< .40", "< .70", ">= .70", "acronym"),
        _conflict_level,
        lambda m: m.conflict,
    ),
    Comparison(
        "extra",
        "How much does only one of the names say?",
        ("nothing", "< .30", ">= .30"),
        lambda m: (m.extra > 0) + (m.extra >= 300),
        lambda m: m.extra,
    ),
    Comparison(
        "spelling",
        "How close is the spelling without spaces (edits and swaps)?",
        (
            ">= .93, or a slip of the hand",
            ">= .85",
            ">= .85, one word",
            ">= .60",
            ">= .40",
            "< .40",
        ),
        _spelling_level,
        lambda m: m.osa,
    ),
    Comparison(
        "acronym",
        "Is one name the acronym of the other?",
        ("yes", "no"),
        lambda m: 0 if m.acronym else 1,
        lambda m: 1000 * m.acronym,
    ),
    Comparison(
        "short_form",
        "Does a nickname or an initial stand for a given name?",
        ("nickname", "initial", "neither"),
        _short_form_level,
        lambda m: 1000 * (m.words.nickname or m.words.initial),
    ),
    Comparison(
        "numbers",
        "Do the numbers inside the names agree?",
        ("equal", "none", "differing"),
        _numbers_level,
        lambda m: 1000 * same_numbers(m),
    ),
)
"""Every comparison, in the order of the explanation."""

_LEVELS = tuple(row.level_of for row in COMPARISONS)
