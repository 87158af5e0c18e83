"""The vetoes: what forbids an automatic merge, however high the score.

`VETOES` is a table of a code, the sentence that a steward sees, and the predicate. A veto that
applies limits the score to 0.94, so the pair goes to review at best. It never raises a score. All
that apply are named, in the order of the table. `context_alone`, `common_name`, `margin` and
`chain` need more than two names and are applied by `score` and `scorer`.

What two entities say of themselves is compared by kind: birth dates, addresses, numbers, places,
identifiers. A policy registers slots and schemes with their kind. Values that exist once forbid a
merge when they differ; values that exist in many are no evidence then. An entity that an
identifier excludes is suggested with its evidence. Codes are stable. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from ..schema.entity import Feature
from ..schema.vocabulary import AttributeKind
from .blocking import are_two_paths, is_tail
from .compare import Measures, same_numbers
from .context import PairContext, PersonContext
from .lexicon import lexicon
from .model import VetoLimits
from .normalize import is_ideographic, is_one_alphabet, normalize

_SHORT_WITH_FORM = 3
_READ_ALIKE_MIN = 3
"""Ideographs from which no two names of things are likely to be read alike."""

_DAY: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_BEFORE_HOST: Final = re.compile(r"^[a-z][a-z0-9+.-]*://")
_NOT_A_DIGIT: Final = re.compile(r"\D")
_PHONE_DIGITS: Final = 9
"""Last digits that tell two phone numbers apart, whatever represents the country before them."""
_PHONE_DIGITS_MIN: Final = 7
"""Digits below which a number is an extension, which many houses have."""


class VetoCode(StrEnum):
    """The closed list of vetoes."""

    NUMBER_CONFLICT = "number_conflict"
    TOKEN_CONFLICT = "token_conflict"
    EXTRA_TOKENS = "extra_tokens"
    SINGLE_VS_MULTI = "single_vs_multi"
    SHORT_CORE = "short_core"
    DISTINCTION = "distinction"
    PERSON_ORDER = "person_order"
    LEGAL_FORM = "legal_form"
    TRANSLITERATED = "transliterated"
    ACRONYM_ONLY = "acronym_only"
    NICKNAME_ONLY = "nickname_only"
    SINGLE_VALUED_CONFLICT = "single_valued_conflict"
    ATTRIBUTE_CONFLICT = "attribute_conflict"
    DIRECT_EDGE = "direct_edge"
    GENERIC_ALIAS = "generic_alias"
    UNSURE = "unsure"
    PERSON_WITHOUT_CONTEXT = "person_without_context"
    CONTEXT_ALONE = "context_alone"
    COMMON_NAME = "common_name"
    CONTRADICTED = "contradicted"
    CHAIN = "chain"
    MARGIN = "margin"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFacts:
    """Everything a veto may look at."""

    entity_type: str
    measures: Measures
    context: PairContext
    limits: VetoLimits


@dataclass(frozen=True, slots=True)
class Veto:
    """One reason against an automatic merge."""

    code: VetoCode
    sentence: str
    holds: Callable[[PairFacts], bool]


def vetoes_of(facts: PairFacts) -> tuple[VetoCode, ...]:
    """The codes of all vetoes that hold, in the order of the table."""
    return tuple(veto.code for veto in VETOES if veto.holds(facts))


def qualifiers_conflict(measures: Measures) -> bool:
    """Whether both names carry a qualifier and the two differ."""
    left, right = measures.left.qualifier, measures.right.qualifier
    return bool(left and right) and left != right


def numbers_conflict(measures: Measures) -> bool:
    """Whether both names carry numbers and neither set contains the other."""
    left, right = set(measures.left.numbers), set(measures.right.numbers)
    return bool(left - right) and bool(right - left) and not same_numbers(measures)


def _token_conflict(facts: PairFacts) -> bool:
    measures = facts.measures
    is_two = are_two_paths(measures.left.original, measures.right.original)
    if is_two or qualifiers_conflict(measures):
        return True

    left, right = measures.left.honorific, measures.right.honorific
    if bool(left and right) and left != right:
        return True
    if facts.entity_type == "person" and _differs_in_given_name(measures):
        return not _is_known_contact(facts)

    return measures.conflict > 0 and not measures.acronym


def _differs_in_given_name(measures: Measures) -> bool:
    """Whether two names are one but for the spelling of a given name: Andrea is not Andreas.

    A slip in the family name is more likely one than two families.
    """
    left, right = measures.left.core, measures.right.core
    left_words = [word for word in left if word not in right]
    right_words = [word for word in right if word not in left]
    if not measures.words.typo or len(left_words) != 1 or len(right_words) != 1:
        return False
    return left_words[0] != left[-1] or right_words[0] != right[-1]


def _extra_tokens(facts: PairFacts) -> bool:
    measures = facts.measures
    one_sided = bool(measures.left.qualifier) != bool(measures.right.qualifier)
    if one_sided or _is_turned_around(measures):
        return True
    if is_tail(measures.left.original, measures.right.original):
        return True
    return measures.extra > facts.limits.extra_share and not measures.acronym


def _is_turned_around(measures: Measures) -> bool:
    # "University of York" is not "York University": the small word says what belongs to what.
    left, right = measures.left, measures.right
    is_turned = measures.same_core and left.core != right.core
    return is_turned and left.particles != right.particles


def _single_vs_multi(facts: PairFacts) -> bool:
    left, right = facts.measures.left.core, facts.measures.right.core
    if (len(left) == 1) == (len(right) == 1) or facts.measures.acronym:
        return False
    return not facts.measures.same_stem and facts.measures.osa < facts.limits.single_word_osa


def _short_core(facts: PairFacts) -> bool:
    left, right = facts.measures.left, facts.measures.right
    is_same = facts.measures.same_joined and left.qualifier == right.qualifier
    if (is_same and left.legal == right.legal) or facts.measures.acronym:
        return False

    # "SAP SE" is SAP, which is what the form is for; two letters with a form may be anyone.
    limit = facts.limits.short_core
    if is_same and not (left.legal and right.legal):
        limit = _SHORT_WITH_FORM
    return min(len(left.compact), len(right.compact)) < limit


def _distinction(facts: PairFacts) -> bool:
    # A short word weighs little next to a long name, and still makes another thing of it.
    measures, words = facts.measures, facts.measures.words
    left_groups = lexicon().groups.intersection(measures.left.tokens)
    right_groups = lexicon().groups.intersection(measures.right.tokens)
    if measures.same_stem or bool(left_groups) != bool(right_groups):
        return facts.entity_type != "person"
    unmatched_words = {*words.left_over, *words.right_over}
    return facts.entity_type != "person" and not unmatched_words.isdisjoint(lexicon().distinctions)


def differs_in_form_alone(measures: Measures) -> bool:
    """Whether two names differ by no more than nickname, initial, accent, script or order.

    The legal form counts as form, too. A misspelling does not: so differ Schmidt and Schmitt.
    """
    if measures.same_joined or measures.same_core:
        return True
    return not (measures.words.typo or has_extra_words(measures) or measures.acronym)


def has_extra_words(measures: Measures) -> bool:
    """Whether a name has a word that nothing in the other name represents."""
    words = measures.words
    return bool(words.left_over or words.right_over) and not measures.acronym


def _person_order(facts: PairFacts) -> bool:
    left, right = facts.measures.left, facts.measures.right
    if facts.entity_type != "person" or left.core == right.core or left.ordered != right.ordered:
        return False
    # With a comma one order is known; written alike, the names were in the same order.
    return not (left.comma or right.comma) or left.writing != right.writing


def _legal_form(facts: PairFacts) -> bool:
    left, right = facts.measures.left.legal, facts.measures.right.legal
    return bool(left and right) and set(left).isdisjoint(right)


def _transliterated(facts: PairFacts) -> bool:
    left, right = facts.measures.left, facts.measures.right
    if (left.latin and right.latin) or left.native == right.native:
        return False

    # Letter for letter, an alphabet says the same in two scripts (Kakao, the Hangul included).
    # Ideographs do not: many are read alike. Nor do mixed scripts, which pose as another word.
    foreign = right if left.latin else left
    same_joined = facts.measures.same_joined
    same_words = same_joined and len(left.core) == len(right.core)

    # One or two ideographs are read like many others, people's names like those of many people.
    is_long = len(foreign.native) >= _READ_ALIKE_MIN and is_ideographic(foreign.native)
    if is_long and same_joined and left.latin != right.latin and facts.entity_type != "person":
        return False
    return left.latin == right.latin or not same_words or not is_one_alphabet(foreign.native)


def _nickname_only(facts: PairFacts) -> bool:
    words = facts.measures.words
    if words.initial:
        # Shared neighbours do not tell Sam from Sue Rivera; an address does.
        return not _is_known_contact(facts)
    return words.nickname and not _is_supported(facts)


def _person_without_context(facts: PairFacts) -> bool:
    context = facts.context
    if facts.entity_type != "person" or context.person_context is PersonContext.ASSUMED:
        return False
    if _is_supported(facts) or context.same_scope:
        return False

    exactly_equal = facts.measures.left.norm == facts.measures.right.norm
    return not (exactly_equal and context.person_context is PersonContext.TENANT)


def _is_known_contact(facts: PairFacts) -> bool:
    context = facts.context
    return context.same_identifier or context.same_handle or context.same_contact


def _is_supported(facts: PairFacts) -> bool:
    """Whether a contact or the neighbours speak for a pair."""
    overlap = facts.context.neighbour_overlap
    return _is_known_contact(facts) or overlap >= facts.limits.neighbour_overlap


VETOES: tuple[Veto, ...] = (
    Veto(
        VetoCode.NUMBER_CONFLICT,
        "Numbers or codes inside the names differ.",
        lambda facts: not same_numbers(facts.measures),
    ),
    Veto(
        VetoCode.TOKEN_CONFLICT,
        "Each name has a word, a qualifier or a title that the other contradicts.",
        _token_conflict,
    ),
    Veto(
        VetoCode.EXTRA_TOKENS,
        "One name says much that the other does not.",
        _extra_tokens,
    ),
    Veto(
        VetoCode.SINGLE_VS_MULTI,
        "A single word stands against several.",
        _single_vs_multi,
    ),
    Veto(
        VetoCode.SHORT_CORE,
        "The shorter name has too few characters to tell.",
        _short_core,
    ),
    Veto(
        VetoCode.DISTINCTION,
        "Only one of the names has a word, such as test or north, that makes another thing of it.",
        _distinction,
    ),
    Veto(
        VetoCode.PERSON_ORDER,
        "The same words in another order may be another person.",
        _person_order,
    ),
    Veto(
        VetoCode.LEGAL_FORM,
        "The legal forms differ.",
        _legal_form,
    ),
    Veto(
        VetoCode.TRANSLITERATED,
        "The names are equal or close only after transliteration.",
        _transliterated,
    ),
    Veto(
        VetoCode.ACRONYM_ONLY,
        "Only an acronym links the names.",
        lambda facts: facts.measures.acronym and not _is_supported(facts),
    ),
    Veto(
        VetoCode.NICKNAME_ONLY,
        "Only a nickname or an initial stands for the given name.",
        _nickname_only,
    ),
    Veto(
        VetoCode.SINGLE_VALUED_CONFLICT,
        "The two stored entities differ in a value that can only be one.",
        lambda facts: facts.context.single_valued_conflict,
    ),
    Veto(
        VetoCode.ATTRIBUTE_CONFLICT,
        "A birth date or a number that nobody has two of differs.",
        lambda facts: facts.context.attribute_conflict,
    ),
    Veto(
        VetoCode.DIRECT_EDGE,
        "A claim relates the two to each other.",
        lambda facts: facts.context.direct_edge,
    ),
    Veto(
        VetoCode.GENERIC_ALIAS,
        "The alias belongs to three or more entities here.",
        lambda facts: facts.context.generic_alias,
    ),
    Veto(
        VetoCode.UNSURE,
        "A steward looked at the pair and could not say.",
        lambda facts: facts.context.unsure,
    ),
    Veto(
        VetoCode.PERSON_WITHOUT_CONTEXT,
        "A name alone does not identify a person.",
        _person_without_context,
    ),
)
"""Every veto on a pair, in the order they are named."""

_SENTENCES = {
    **{veto.code: veto.sentence for veto in VETOES},
    VetoCode.MARGIN: "Another entity fits nearly as well.",
    VetoCode.CHAIN: "It does not fit every name that was bound here without a person.",
    VetoCode.CONTEXT_ALONE: "The names are only near; what stands around them proves no more.",
    VetoCode.COMMON_NAME: "Many have this family name here, and the two names are only near.",
    VetoCode.CONTRADICTED: "Two things differ: words of a name, legal form, contacts or places.",
}
"""Of the last five the sentences alone: `decide`, `scorer` and `score` apply them."""


def sentence_of(code: str) -> str:
    """What a veto says to a steward; an unknown code speaks for itself."""
    return _SENTENCES.get(VetoCode(code), code) if code in set(VetoCode) else code


@dataclass(frozen=True, slots=True)
class Comparator:
    """How the values of one kind are compared."""

    form_of: Callable[[str], str]
    """A value in the form in which equal things are equal; empty for what says nothing."""
    equal: float
    """Log-odds that one value in common adds."""
    is_unique: bool = False
    """Whether an entity has one value: another one is a conflict, which the model weighs."""
    is_contact: bool = False
    """Whether a value reaches one person or house, as an e-mail address does."""


@dataclass(frozen=True, slots=True)
class AttributeEvidence:
    """What the values of two entities say about their being one."""

    features: tuple[Feature, ...] = ()
    """A line for each slot that both have, by slot."""
    same_contact: bool = False
    conflict: bool = False
    """Whether a slot that has one value differs."""


def _day(text: str) -> str:
    match = _DAY.match(text.strip())
    return match.group() if match else ""


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip().casefold()


def _email(text: str) -> str:
    address = _plain(text).removeprefix("mailto:")
    return address if address.count("@") == 1 else ""


def _phone(text: str) -> str:
    """The digits that stay when country code and trunk zero are written otherwise."""
    digits = _NOT_A_DIGIT.sub("", text)
    return digits[-_PHONE_DIGITS:] if len(digits) >= _PHONE_DIGITS_MIN else ""


def _domain(text: str) -> str:
    """The host of an address of the web, as far as it names a house."""
    host = _BEFORE_HOST.sub("", _plain(text)).partition("/")[0].rstrip(".").removeprefix("www.")
    return host if "." in host else ""


def plain_identifier(text: str) -> str:
    """Letters and digits alone: registers print one number with and without its marks."""
    return "".join(filter(str.isalnum, _plain(text)))


COMPARATORS: Final[Mapping[AttributeKind, Comparator]] = MappingProxyType(
    {
        AttributeKind.BIRTH_DATE: Comparator(_day, 3.0, is_unique=True),
        AttributeKind.EMAIL: Comparator(_email, 6.0, is_contact=True),
        AttributeKind.PHONE: Comparator(_phone, 4.0, is_contact=True),
        AttributeKind.HANDLE: Comparator(
            lambda text: _plain(text).removeprefix("@"), 4.0, is_contact=True
        ),
        AttributeKind.DOMAIN: Comparator(_domain, 2.0),
        AttributeKind.PLACE: Comparator(lambda text: normalize(text, "location").ordered, 0.7),
        AttributeKind.IDENTIFIER: Comparator(
            plain_identifier, 6.0, is_unique=True, is_contact=True
        ),
    }
)
"""How each kind is compared; an e-mail address weighs what the model gives a handle."""


def compare_attributes(
    left: Mapping[str, Iterable[str]],
    right: Mapping[str, Iterable[str]],
    kinds: Mapping[str, AttributeKind],
) -> AttributeEvidence:
    """What the values of two entities say, by slot; only slots in `kinds` are looked at.

    >>> sides = {"email": ["Sam@Acme.io"]}, {"email": ["sam@acme.io", "sr@home.net"]}
    >>> evidence = compare_attributes(*sides, {"email": AttributeKind.EMAIL})
    >>> evidence.same_contact, evidence.features[0].weight
    (True, 6.0)
    """
    features: list[Feature] = []
    same_contact = conflict = False

    for slot in sorted(kinds):
        comparator = COMPARATORS[kinds[slot]]
        left_forms = _forms(left.get(slot, ()), comparator)
        right_forms = _forms(right.get(slot, ()), comparator)
        if not left_forms or not right_forms:
            continue

        is_equal = not left_forms.keys().isdisjoint(right_forms)
        same_contact |= is_equal and comparator.is_contact
        conflict |= not is_equal and comparator.is_unique
        weight = comparator.equal if is_equal else 0.0
        values = f"{_sample(left_forms, right_forms)!r} / {_sample(right_forms, left_forms)!r}"
        detail = f"{'equal' if is_equal else 'differing'}: {values}"
        features.append(Feature(slot, float(is_equal), weight, detail))

    return AttributeEvidence(tuple(features), same_contact, conflict)


def _forms(values: Iterable[str], comparator: Comparator) -> dict[str, str]:
    """The values that say something, as they were written, by their form."""
    forms: dict[str, str] = {}
    for value in sorted(values):
        form = comparator.form_of(value)
        if form:
            forms.setdefault(form, value)
    return forms


def _sample(forms: Mapping[str, str], counterparts: Mapping[str, str]) -> str:
    """The value that both have, else the first."""
    form = next((form for form in forms if form in counterparts), min(forms))
    return forms[form]
