"""What two entities say of themselves: birth dates, addresses, numbers, places, identifiers.

A policy registers slots and identifier schemes, each with the kind that compares its values. A
kind brings values to a form in which equal things are equal, and says what agreement weighs, in
natural log-odds as names do. The weights are priors, because no labels of attributes exist yet.

Addresses, numbers and domains one may have several of, so that another one is no evidence. A birth
date or a register's number is one, so that another one forbids an automatic merge. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from ..schema.entity import Feature
from ..schema.vocabulary import AttributeKind
from .normalize import normalize

_DAY: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_BEFORE_HOST: Final = re.compile(r"^[a-z][a-z0-9+.-]*://")
_NOT_A_DIGIT: Final = re.compile(r"\D")
_PHONE_DIGITS: Final = 9
"""Last digits that tell two phone numbers apart, whatever stands for the country before them."""
_PHONE_DIGITS_MIN: Final = 7
"""Digits below which a number is an extension, which many houses have."""


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


def _email(text: str) -> str:
    address = unicodedata.normalize("NFKC", text).strip().casefold().removeprefix("mailto:")
    return address if address.count("@") == 1 else ""


def _phone(text: str) -> str:
    """The digits that stay when country code and trunk zero are written otherwise."""
    digits = _NOT_A_DIGIT.sub("", text)
    return digits[-_PHONE_DIGITS:] if len(digits) >= _PHONE_DIGITS_MIN else ""


def _handle(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip().casefold().removeprefix("@")


def _domain(text: str) -> str:
    """The host of an address of the web, as far as it names a house."""
    plain = unicodedata.normalize("NFKC", text).strip().casefold()
    host = _BEFORE_HOST.sub("", plain).partition("/")[0].rstrip(".").removeprefix("www.")
    return host if "." in host else ""


def _place(text: str) -> str:
    return normalize(text, "location").ordered


def _identifier(text: str) -> str:
    """Letters and digits alone: registers print one number with and without its marks."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return "".join([letter for letter in plain if letter.isalnum()])


COMPARATORS: Final[Mapping[AttributeKind, Comparator]] = MappingProxyType(
    {
        AttributeKind.BIRTH_DATE: Comparator(_day, 3.0, is_unique=True),
        AttributeKind.EMAIL: Comparator(_email, 6.0, is_contact=True),
        AttributeKind.PHONE: Comparator(_phone, 4.0, is_contact=True),
        AttributeKind.HANDLE: Comparator(_handle, 4.0, is_contact=True),
        AttributeKind.DOMAIN: Comparator(_domain, 2.0),
        AttributeKind.PLACE: Comparator(_place, 0.7),
        AttributeKind.IDENTIFIER: Comparator(_identifier, 6.0, is_unique=True, is_contact=True),
    }
)
"""How each kind is compared; an e-mail address weighs what the model gives a handle."""


@lru_cache(maxsize=64)
def repeatable_schemes(attributes: tuple[tuple[str, str], ...]) -> frozenset[str]:
    """The schemes of which an entity may have several values, as a policy registers them.

    >>> sorted(repeatable_schemes((("email", "email"), ("tax", "identifier"))))
    ['email']
    """
    schemes: set[str] = set()
    for scheme, kind in attributes:
        if not COMPARATORS[AttributeKind(kind)].is_unique:
            schemes.add(scheme)
    return frozenset(schemes)


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
