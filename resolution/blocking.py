"""Which stored aliases are worth scoring: weighted keys, the same in every store.

A name gives about 30 short keys. A store keeps one row for each key and alias, and a counter for
each key (`df`). A query sums the weights of the keys that it shares with each alias and takes the
heaviest 50, ties by alias key. A hit weighs its kind times the rarity of the key, in whole
thousandths, so no order of addition changes a sum. Keys that nearly every alias has are skipped.

Three more kinds of candidates never bind by themselves: a short form of the other name (HR
Department), a path that is the tail of the other, and names that are drawn alike (the confusables
of Unicode, UTS 39). `near_names` drops what could not reach a suggestion. Only visible aliases
count, filtered before the cut. Pure; checklist C-047, C-048.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final, Generic, NamedTuple, TypeVar

from ..schema.look_alikes import STROKE, skeleton
from .keys import folded
from .lexicon import Profile, lexicon, profile_of
from .names import name_cache
from .normalize import NameForm, acronyms_of, form_of, initials, normalize, plain_name, stem_of
from .renderings import sounds_of, sounds_of_words

COARSE_KINDS: Final = frozenset({"prefix", "suffix", "deletion"})
"""Kinds of keys that many names share by chance."""
COARSE_LIMIT: Final = 400
"""Postings from which a key of a coarse kind is skipped."""
LIMIT: Final = 3_000
"""Postings from which any key is skipped."""

Norm = TypeVar("Norm", int, str)
"""A norm, by its number or by itself."""

SHORT_NAME: Final = "short_name"
"""The line of evidence that says so."""
_MIN_LETTERS: Final = 2

LOOK_ALIKE = "look_alike"
"""The line of evidence that says so."""
_STROKES = str.maketrans({"I": "l", "1": "l", "|": "l", STROKE: "l", "0": "o"})
_WORD = re.compile(r"\S+")

CANDIDATE_LIMIT = 50
"""Aliases that a blocking query hands to scoring."""
_FIRST = 6
_EDGE = 4
_ACRONYM_MAX = 8
_DELETION_MIN = 5
_DELETION_MAX = 24
_TOKENS_MAX = 16
_WHOLE_MAX = 64
_SHARED_WORDS_MIN: Final = 70.0
"""Share of words in common, in per cent, below which no pair reaches a suggestion."""


def hit_weight(kind: str, kind_weight: int, *, postings: int, total: int) -> int | None:
    """The weight of a hit in thousandths; None when the key is skipped.

    `kind_weight` is the weight of the kind in thousandths.

    >>> hit_weight("token", 4_000, postings=3, total=1_000)
    23249
    >>> hit_weight("prefix", 1_500, postings=401, total=1_000) is None
    True
    """
    if postings > (COARSE_LIMIT if kind in COARSE_KINDS else LIMIT):
        return None
    return round(kind_weight * math.log(1 + total / postings))


HEAVIER_ENOUGH: Final = 5
"""Heavier candidates with which a crowd of equal weight is not read."""
CROWD: Final = 2
"""How many equal names stand for each place that is left, in a crowd."""


def is_crowd(*, heavier: int, equals: int, limit: int) -> bool:
    """Whether those who tie for the last places are too many to choose among.

    What hundreds share is a prefix or a common word, and the alphabet would say which of them are
    scored. Of the labelled pairs none that would reach a suggestion came in by such a place, and
    reading them is a fifth of a look-up.

    >>> is_crowd(heavier=24, equals=111, limit=50), is_crowd(heavier=24, equals=30, limit=50)
    (True, False)
    """
    return heavier >= HEAVIER_ENOUGH and equals > CROWD * (limit - heavier)


class Posting(NamedTuple, Generic[Norm]):
    """A blocking key: what it weighs, and the norms that carry it."""

    weight: int
    norms: Sequence[Norm]


_LONG: Final = 32
"""Norms behind a key from which it pays to ask whether they can still matter."""


def heaviest(postings: Sequence[Posting[Norm]], limit: int | None) -> dict[Norm, int]:
    """The weight of norms: exactly of the `most` heaviest and their equals.

    `postings` come heaviest first. A norm that the keys left over cannot lift among the
    heaviest may be left out, which spares the long lists of light keys; None leaves out none.

    >>> heaviest([Posting(9, [1, 2]), Posting(1, [2, 3])], None)
    {1: 9, 2: 10, 3: 1}
    """
    weights: dict[Norm, int] = {}
    before = weights.get
    left = sum(posting.weight for posting in postings)
    settled = False
    for weight, norms in postings:
        if limit is not None and not settled and len(norms) >= _LONG:
            settled = left < kth_largest(weights.values(), limit)
        if settled:
            for norm in weights.keys() & norms:
                weights[norm] += weight
        elif len(norms) < _LONG:
            for norm in norms:
                weights[norm] = before(norm, 0) + weight
        else:
            # A key carries a norm once, and most of a long list are new: one step for these.
            known = {norm: weights[norm] + weight for norm in weights.keys() & norms}
            weights.update(dict.fromkeys(norms, weight))
            weights.update(known)
        left -= weight

    return weights


def kth_largest(values: Iterable[int], place: int) -> int:
    """The value at a place from the top, counted from 1; 0 where there are fewer.

    >>> kth_largest([3, 9, 5], 2), kth_largest([3], 2)
    (5, 0)
    """
    ordered_values = sorted(values)
    return ordered_values[-place] if len(ordered_values) >= place else 0


_UNIT_WORDS: Final = frozenset("department division office team unit".split())


def unit_name(core: Sequence[str]) -> tuple[str, ...]:
    """What a department is called, in addition to being one; empty for any other name.

    >>> unit_name(["hr", "department"]), unit_name(["acme"])
    (('hr',), ())
    """
    if _UNIT_WORDS.isdisjoint(core):  # as nearly all names are: every candidate is asked
        return ()
    return tuple([word for word in core if word not in _UNIT_WORDS])


def unit_keys(core: Sequence[str]) -> tuple[str, ...]:
    """What a department may be called for short, by its written name and by its initials.

    >>> unit_keys(["human", "resources", "department"])
    ('humanresources', 'hr')
    """
    words = unit_name(core)
    if len(words) > 1:
        return "".join(words), initials(words)
    return words


def is_in_short(left: NameForm, right: NameForm) -> bool:
    """Whether one of two names says in short what the other says in full.

    >>> from .normalize import normalize
    >>> names = ("HR Department", "Human Resources", "Human Relations Office", "Hiring")
    >>> short, *others = [normalize(name, "organization") for name in names]
    >>> [is_in_short(short, form) for form in others]
    [True, True, False]
    """
    if profile_of(left.entity_type) is Profile.PERSON:
        return False
    if _is_abbreviated(left, right) or _is_abbreviated(right, left):
        return True
    return _has_initials_of(left, right) or _has_initials_of(right, left)


def _has_initials_of(short: NameForm, long: NameForm) -> bool:
    short_unit, long_unit = unit_name(short.core), unit_name(long.core)
    if not (short_unit or long_unit):
        return False  # a bare acronym is compared, and has its veto

    letters = "".join(short_unit or short.core)
    return len(letters) >= _MIN_LETTERS and letters == initials(long_unit or long.core)


def _is_abbreviated(short: NameForm, long: NameForm) -> bool:
    """Whether two names are equal word for word, but for words that a dot cuts short."""
    if "." not in short.original:
        return False

    words, full_words = folded(short.original).split(), folded(long.original).split()
    if len(words) != len(full_words):
        return False

    cut_words = 0
    for word, full_word in zip(words, full_words, strict=True):
        if word == full_word:
            continue
        # One letter and a dot may be any word at all.
        stem = word.removesuffix(".")
        if stem == word or len(stem) < _MIN_LETTERS or not full_word.startswith(stem):
            return False
        cut_words += 1
    return 0 < cut_words < len(words)


_SEPARATOR = re.compile(r"[/\\]+")
_FILE = re.compile(r"[^\s/\\]*\w\.[A-Za-z]\w{0,7}")


def path_of(name: str) -> tuple[str, ...]:
    r"""The parts of the path that a name is, the file last; empty for any other name.

    >>> path_of(".\\src\\main.py"), path_of("main.py"), path_of("TCP/IP")
    (('src', 'main.py'), ('main.py',), ())
    """
    parts = [part for part in _SEPARATOR.split(name.strip()) if part not in ("", ".")]
    if "://" in name or not parts or not _FILE.fullmatch(parts[-1]):
        return ()
    return tuple(map(str.casefold, parts))


def _both_paths(left: str, right: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The paths of two names, at least one of them with a folder; empty ones for other names."""
    # Asked of every pair that is scored: most names hold no separator.
    if not ("/" in left or "/" in right or "\\" in left or "\\" in right):
        return (), ()
    return path_of(left), path_of(right)


def are_two_paths(left: str, right: str) -> bool:
    """Whether two names are paths to different files.

    >>> are_two_paths("src/app/main.py", "src/lib/main.py"), are_two_paths("a/b.py", "/r/a/b.py")
    (True, False)
    """
    short, long = sorted(_both_paths(left, right), key=len)
    return bool(short) and long[-len(short) :] != short


def is_tail(left: str, right: str) -> bool:
    """Whether one path ends in the other, which is shorter: the same file, if it starts there.

    >>> is_tail("main.py", "src/main.py"), is_tail("src/main.py", "./src/main.py")
    (True, False)
    """
    short, long = sorted(_both_paths(left, right), key=len)
    return bool(short) and len(short) < len(long) and long[-len(short) :] == short


def is_ambiguous(surface: str) -> bool:
    """Whether a name may be drawn like another one: by a sign, a digit, or letters that meet."""
    # Asked of every candidate of a look-up: searches in a row take a third of a pattern's time.
    if not surface.isascii() or "1" in surface or "0" in surface or "|" in surface:
        return True
    return "I" in surface or "rn" in surface


def shape_of(form: NameForm) -> str:
    """The core of a name as it is drawn, without spaces: equal for names that look alike.

    >>> shape_of(normalize("Paypa1 Inc", "organization"))
    'paypal'
    """
    if not is_ambiguous(form.original):
        return form.compact
    return _shape(form.original, form.entity_type)


@name_cache(300)
def _shape(surface: str, entity_type: str) -> str:
    marked_words = lexicon().marked_words[profile_of(entity_type)]

    def plain_letters(match: re.Match[str]) -> str:
        # "Inc" stays a legal form, which the core leaves out.
        word = match[0]
        is_marked = word.casefold().strip(".,") in marked_words
        return word if is_marked else word.translate(_STROKES).replace("rn", "m")

    text, _ = skeleton(surface)
    return normalize(_WORD.sub(plain_letters, text), entity_type).compact


def look_alike(left: NameForm, right: NameForm) -> bool:
    """Whether two names that are written with other characters are drawn alike.

    >>> names = [normalize(name, "system") for name in ("modern", "rnodern", "Modern")]
    >>> look_alike(names[0], names[1]), look_alike(names[0], names[2])
    (True, False)
    """
    has_letters = any(map(str.isalpha, left.original)) and any(map(str.isalpha, right.original))
    if not has_letters or left.compact == right.compact:
        return False
    return shape_of(left) == shape_of(right)


class KeyKind(StrEnum):
    """What a block key is made of; the value is the first letter of the key."""

    WHOLE = "w"
    """The form without spaces, also with its signs in words and as it is drawn, and sorted."""
    ACRONYM = "a"
    TOKEN = "t"
    DELETION = "d"
    """The form without spaces with one letter left out: one edit apart shares a key."""
    FIRST = "f"
    """The first six letters."""
    PREFIX = "p"
    """The first four letters of a word."""
    SUFFIX = "s"
    """The last four letters of a word."""
    SOUND = "o"
    """What a person's name shares with its renderings in other languages and scripts."""

    @property
    def label(self) -> str:
        """The kind as stores keep it and `postings` reads it, like `prefix`."""
        return self.name.lower()


KIND_WEIGHT: Mapping[KeyKind, int] = {
    KeyKind.WHOLE: 12_000,
    KeyKind.ACRONYM: 5_000,
    KeyKind.TOKEN: 4_000,
    KeyKind.DELETION: 3_000,
    KeyKind.FIRST: 3_000,
    KeyKind.PREFIX: 1_500,
    KeyKind.SUFFIX: 1_000,
    KeyKind.SOUND: 4_000,
}
"""What a shared key of a kind counts, in thousandths, before its rarity."""

BlockKey = tuple[str, KeyKind]


def block_keys(form: NameForm) -> tuple[BlockKey, ...]:
    """The distinct keys of a name, sorted; at most about a hundred for any name.

    The qualifier is left out: a name in brackets must find its bare form, and the veto decides.
    """
    keys = {
        _key(KeyKind.WHOLE, form.compact[:_WHOLE_MAX]),
        _key(KeyKind.WHOLE, form.reading[:_WHOLE_MAX]),
        _key(KeyKind.WHOLE, shape_of(form)[:_WHOLE_MAX]),
        _key(KeyKind.WHOLE, form.ordered.replace(" ", "")[:_WHOLE_MAX]),
        _key(KeyKind.FIRST, form.compact[:_FIRST]),
        *(_key(KeyKind.ACRONYM, short) for short in _acronyms(form)),
        # HR for the HR Department as for the Human Resources Department.
        *(_key(KeyKind.ACRONYM, s) for s in unit_keys(form.core) if 1 < len(s) <= _ACRONYM_MAX),
        *(_key(KeyKind.DELETION, shorter) for shorter in _deletions(form.compact)),
        *(_key(KeyKind.SOUND, sound[:_WHOLE_MAX]) for sound in sounds_of(form)),
    }

    for word in form.core[:_TOKENS_MAX]:
        keys.add(_key(KeyKind.TOKEN, word[:_WHOLE_MAX]))
        if len(word) >= _EDGE:
            keys.add(_key(KeyKind.PREFIX, word[:_EDGE]))
            keys.add(_key(KeyKind.SUFFIX, word[-_EDGE:]))

    return tuple(sorted(key for key in keys if len(key[0]) > 2))


class Outline(NamedTuple):
    """The parts of a name that tell at a glance whether it may be another's."""

    ordered: str
    """The words, sorted."""
    spellings: frozenset[str]
    """The words without spaces, also without the trade, read aloud and as drawn."""
    short: bool
    """Whether it is short enough to be what another name is called for short."""
    sounds: frozenset[str]
    """What a person's name shares with its renderings; empty of any other."""


@name_cache(1_400)
def outline(surface: str, entity_type: str) -> Outline:
    """The outline of a name: what its whole form has, for plain words without making that form.

    >>> outline("Foods of Acme", "organization").ordered
    'acme foods'
    """
    plain = None if is_ambiguous(surface) else plain_name(surface, entity_type)
    if plain:
        core = plain.core
        # As written, too: `AcmeLabs` holds no word that could be read in full.
        letters = "".join(plain.words[: len(core)])
        stem = stem_of(core, entity_type)
        spellings = frozenset((letters, "".join(core), stem, *unit_keys(core)[:1]))
        sounds = frozenset(sounds_of_words(surface, core, entity_type))
        return Outline(" ".join(sorted(core)), spellings, _is_short(spellings), sounds)

    form = form_of(surface, entity_type)
    written_forms = (form.spelling, form.compact, form.stem, form.reading, shape_of(form))
    spellings = frozenset((*written_forms, *unit_keys(form.core)[:1]))
    return Outline(form.ordered, spellings, _is_short(spellings), frozenset(sounds_of(form)))


def _is_short(spellings: frozenset[str]) -> bool:
    return min(map(len, spellings)) <= _ACRONYM_MAX


@name_cache(400)
def acronyms(surface: str, entity_type: str) -> tuple[str, ...]:
    """What a name may be called for short.

    >>> acronyms("Bank of Acme", "organization")
    ('ba', 'boa')
    """
    plain = plain_name(surface, entity_type)
    if plain:
        return (*acronyms_of(plain.core, plain.words), *unit_keys(plain.core)[1:])
    form = form_of(surface, entity_type)
    return (*form.acronyms, *unit_keys(form.core)[1:])


def near_names(mention: str, entity_type: str, names: Iterable[str]) -> frozenset[str]:
    """Those of some stored names that are worth scoring; a shared common word is not enough.

    >>> sorted(near_names("Acme Foods", "organization", ["Acme Food", "AF", "Zenith Foods"]))
    ['AF', 'Acme Food']
    """
    left = outline(mention, entity_type)
    near_surfaces: set[str] = set()
    remainder: dict[str, str] = {}
    for name in names:
        if are_two_paths(mention, name):
            continue
        right = outline(name, entity_type)
        # Written alike but for spaces, or as another language does, or one the acronym of the
        # other. That two names have one acronym says nothing: among 100,000 names each has as
        # many such as candidates.
        is_alike = not left.spellings.isdisjoint(right.spellings)
        is_alike = is_alike or not left.sounds.isdisjoint(right.sounds)
        is_alike = is_alike or (left.short and _is_acronym_of(left, name, entity_type))
        if is_alike or (right.short and _is_acronym_of(right, mention, entity_type)):
            near_surfaces.add(name)
        else:
            remainder[name] = right.ordered

    # A read comes by this module, and would wait for what it never compares.
    from rapidfuzz import process
    from rapidfuzz.fuzz import token_set_ratio

    # `cdist` would import numpy, for no gain over the fifty names there are.
    matches = process.extract(
        left.ordered, remainder, scorer=token_set_ratio, score_cutoff=_SHARED_WORDS_MIN, limit=None
    )
    near_surfaces.update(name for _, _, name in matches)
    return frozenset(near_surfaces)


def _is_acronym_of(short: Outline, name: str, entity_type: str) -> bool:
    return not short.spellings.isdisjoint(acronyms(name, entity_type))


def _key(kind: KeyKind, text: str) -> BlockKey:
    return f"{kind.value}:{text}", kind


def _acronyms(form: NameForm) -> tuple[str, ...]:
    if len(form.core) > 1:
        return tuple([short for short in form.acronyms if len(short) <= _ACRONYM_MAX])
    # A short single word may itself be the acronym that another name spells out.
    return (form.compact,) if 2 <= len(form.compact) <= _ACRONYM_MAX else ()


def _deletions(word: str) -> tuple[str, ...]:
    # Longer names have other words that meet; deleting letters there only costs rows.
    if not _DELETION_MIN <= len(word) <= _DELETION_MAX:
        return ()
    return (word, *(word[:position] + word[position + 1 :] for position in range(len(word))))
