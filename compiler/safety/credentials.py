"""Credentials in text: what a write must refuse as `secret_in_content`.

Provider keys have a known form. A password has none, so it is reported only where the text assigns
it and the value is too random for a word. A finding names kind and place and never repeats the
secret. Examples and placeholders pass, because a refused honest text is lost. The label is
`credential`.

>>> [finding.code for finding in find_credentials("key AKIAIOSFODNN7REALKEY1 leaked")]
['aws_access_key']
>>> find_credentials("password: <your password>")
()
"""

from __future__ import annotations

import base64
import binascii
import itertools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ...schema.records import packaged_table
from .canonical_text import canonicalise
from .finding import Finding

_SEVERITY: Final = 100

_PLACEHOLDER: Final = re.compile(
    r"(?i)your|example|placeholder|dummy|sample|redacted|changeme|xxx|\*{3}|\.{3}|[<>{}$%\[\]]"
    r"|insert|replace|fake|todo"
)
_JOINTS: Final = re.compile(r"[._/:()\[\]-]+")
_CALL: Final = re.compile(r"[A-Za-z_][\w.]*\(")
_WORD: Final = re.compile(r"[A-Za-z]?[a-z]*\d?|[A-Z]+\d?|\d{1,4}")
_ENTROPY_PER_MILLE: Final = 3000
_SHORT_SLACK: Final = 450
_DIGIT: Final = re.compile(r"\d")
_LETTER: Final = re.compile(r"[A-Za-z]")


@dataclass(frozen=True, slots=True)
class _Form:
    code: str
    needs: tuple[str, ...]
    pattern: re.Pattern[str]
    holds: Callable[[str], bool]


# `config.db.password1`, `string(8..200)`: words joined by signs name a value, they are none.
_BLANK: Final = re.compile(r"(?i)your|xxxx|placeholder|redacted")
_FEWEST_DIFFERENT: Final = 7


def _has_form(value: str) -> bool:
    """Whether a value in a provider's own form is filled in; its documented examples are."""
    return _BLANK.search(value) is None and len(set(value)) >= _FEWEST_DIFFERENT


def _is_random(value: str) -> bool:
    """Whether a value is too mixed for a word: letters, digits, and 3 bits a character."""
    if _PLACEHOLDER.search(value) or not _DIGIT.search(value) or not _LETTER.search(value):
        return False
    return not _is_name(value) and _has_entropy(value)


def _is_name(value: str) -> bool:
    parts = _JOINTS.split(value)
    if len(parts) > 1 and all(map(_WORD.fullmatch, parts)):
        return True
    return _CALL.match(value) is not None


def _has_entropy(value: str) -> bool:
    size = len(value)
    bits = -sum(n / size * math.log2(n / size) for n in sorted(Counter(value).values()))
    # A short value cannot reach 3 bits: log2(8) is the most that 8 characters can have.
    threshold = min(_ENTROPY_PER_MILLE, round(1000 * math.log2(size)) - _SHORT_SLACK)
    return round(bits * 1000) >= threshold


def _is_no_word(value: str) -> bool:
    return not _PLACEHOLDER.search(value) and not (value.isalpha() and value.islower())


def _is_model_key(value: str) -> bool:
    is_mixed = _DIGIT.search(value) and _LETTER.search(value)
    return bool(is_mixed) and _has_form(value) and not _is_name(value)


def _is_jwt(value: str) -> bool:
    head = value.split(".", 1)[0]
    try:
        header = json.loads(base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)))
    except (binascii.Error, ValueError):
        return False
    return isinstance(header, dict) and "alg" in header


def _is_login(value: str) -> bool:
    """Whether a value is `name:password` in base64, as the header of basic authentication has."""
    try:
        words = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except ValueError:
        return False
    return ":" in words and words.isprintable()


def _is_session_cookie(value: str) -> bool:
    """Whether one of the values of a cookie is too random for a setting such as a language."""
    values = [pair.partition("=")[2].strip() for pair in value.split(";")]
    return any(len(word) >= 8 and _is_random(word) for word in values)


_CHECKS: Final[Mapping[str, Callable[[str], bool]]] = {
    "always": lambda _: True,
    "has_form": _has_form,
    "is_jwt": _is_jwt,
    "is_login": _is_login,
    "is_model_key": _is_model_key,
    "is_no_word": _is_no_word,
    "is_random": _is_random,
    "is_session_cookie": _is_session_cookie,
}


def _load_forms() -> Iterator[_Form]:
    table = packaged_table(__package__, "credentials.toml")
    for row in table["form"]:
        yield _Form(
            row["code"],
            tuple(row["needs"].split()),
            re.compile(row["pattern"]),
            _CHECKS[row.get("check", "has_form")],
        )


_FORMS: Final = tuple(_load_forms())

SECRET_SIGNS: Final = frozenset(itertools.chain.from_iterable(form.needs for form in _FORMS))
"""What secrets have in lower case: a text without one of these holds none."""


def find_credentials(text: str) -> tuple[Finding, ...]:
    """One finding for each key, token or password in `text`, by place.

    Hidden characters are taken out first. A place is a character offset in the visible text.
    """
    visible = canonicalise(text).text
    findings: list[Finding] = []
    for start, order, end in _secrets(visible):
        detail = f"{end - start} characters at {start}"
        findings.append(Finding(_FORMS[order].code, _SEVERITY, detail, ""))
    return tuple(findings)


def masked_credentials(text: str) -> tuple[str, int]:
    """The text with a mark in the place of each secret, and how many there were.

    A text without a secret comes back as it is, hidden characters included.

    >>> masked_credentials("key AKIAIOSFODNN7REALKEY1 leaked")
    ('key [secret] leaked', 1)
    """
    visible = canonicalise(text).text
    pieces: list[str] = []
    position = 0
    for start, _, end in _secrets(visible):
        pieces += [visible[position:start], "[secret]"]
        position = end
    if not pieces:
        return text, 0
    return "".join([*pieces, visible[position:]]), len(pieces) // 2


def _secrets(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield (start, row of the table, end) of each secret by place, none inside another."""
    position = 0
    for start, order, end in sorted(_matches(text)):
        if start >= position:
            yield start, order, end
            position = end


def _matches(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield (start, row of the table, end) of every secret, some more than once."""
    lowercase = text.lower()
    for order, form in enumerate(_FORMS):
        # A plain loop: `any` over a generator costs each write more than the searches do.
        for word in form.needs:
            if word in lowercase:
                break
        else:
            continue

        for match in form.pattern.finditer(text):
            group = "value" if "value" in form.pattern.groupindex else 0
            if form.holds(match[group]):
                yield match.start(group), order, match.end(group)
