"""The comparisons of two names, as one table that reads aloud.

`COMPARISONS` lists what is compared, its levels in falling strength, and how a level is chosen.
The weights are not here: they are fitted (`bench/fit_resolution.py`) and live in `model.json`,
one natural-log odds per comparison and level. The score is their sum (Fellegi-Sunter).

`measure` takes two forms to a `Measures` value, the raw facts; its `levels` read the table.
Neither knows weights, context or thresholds. Symmetric in its arguments. Checklist C-048.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from .align import Alignment, Rarity, align, osa
from .normalize import NameForm

_ACRONYM_MAX = 8


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
    qualifiers = _qualifier_words(left, right)
    left_core, right_core = left.core + qualifiers[0], right.core + qualifiers[1]
    words = align(left_core, right_core, rarity, person=left.entity_type == "person")
    same_joined = not qualifiers[0] and _is_written_alike(left, right)
    same_core = not qualifiers[0] and left.ordered == right.ordered
    same_stem = not (qualifiers[0] or same_joined or same_core) and _is_one_stem(left, right)
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


def _is_one_stem(left: NameForm, right: NameForm) -> bool:
    # "Acme Systems" and "Acme Solutions" are two; a bare name may be either's.
    return left.stem == right.stem and (left.stem == left.compact or right.stem == right.compact)


def _qualifier_words(left: NameForm, right: NameForm) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The qualifiers as further words when both names have one and the two differ."""
    if not (left.qualifier and right.qualifier) or left.qualifier == right.qualifier:
        return (), ()
    return tuple(left.qualifier.split()), tuple(right.qualifier.split())


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


def _extra_level(measures: Measures) -> int:
    return 0 if measures.extra == 0 else 1 + (measures.extra >= 300)


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
        _extra_level,
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
