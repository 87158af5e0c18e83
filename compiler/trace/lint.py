"""Lint: does the payload contradict the rules it is sent under, or force an invented answer?

Rules are what stands as instruction in the cached system zones; the payload is the contract, the
guidance, the acceptance and the user's request. Four findings, all by plain rules, no model:

    opposite_directive   one forbids what the other asks for, in largely the same words
    exclusive_choice     two languages, formats or lengths for one answer
    pattern_clash        a pattern that one constraint requires and another forbids
    schema_clash         two output schemas of different types
    forced_fabrication   an extraction whose schema has no way to say unknown

Nothing is rewritten: the user's words stay verbatim. A finding names the effective instruction,
by the hierarchy S > D > U > T: the stronger authority, and of equals the system text. Every
finding is a warning, in a safety-critical policy a failure. What the lint does not see, it does
not vouch for. Source 000, 6.5; source 001, "Guidelines"; checklist C-095, C-142 to C-144, C-211.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import Any, Final, NamedTuple

from ...schema.compile_terms import SECTIONS, BlockKind, SectionName, Stability
from ...schema.uncertainty import forced_fields
from ...schema.values import fields_of, items_of
from ...schema.vocabulary import Enforcement
from ..ir.records import Piece
from ..text.relevance import terms_of
from ..text.sentences import subunits

_S: Final = SectionName
_RULES: Final = (Stability.STATIC, Stability.SCOPE)
_SENTENCES: Final = 200
"""Sentences of one text that are looked at: a longer one is a document, no set of rules."""
_LEAST_SHARED: Final = 2
_SHARED_PERMILLE: Final = 750
"""Content words that two directives share before one can deny the other: three in four."""
_NEGATIVE: Final = re.compile(
    r"\b(?:never|must not|mustn't|do not|don't|may not|shall not|should not|avoid|forbidden"
    r"|prohibited|prohibition|not allowed|without)\b",
    re.IGNORECASE,
)
_DIRECTIVE_WORDS: Final = terms_of(
    "never must not do don't may shall should avoid forbidden prohibited allowed without always "
    "please constraint prohibition wish goal only ever"
)
_CHOICES: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        "english german french spanish italian portuguese dutch chinese japanese korean russian "
        "arabic hindi polish turkish".split(),
        "language",
    ),
    **dict.fromkeys("json xml yaml csv markdown html prose".split(), "format"),
}
_CHOICE: Final = re.compile(
    r"\b(?:answer|reply|respond|output|return|write|format|explain|speak)\b[^.!?\n]{0,60}?"
    r"\b(?:in|as)\s+(?:valid |plain |simple |pure )?(" + "|".join(_CHOICES) + r")\b",
    re.IGNORECASE,
)
_LENGTHS: Final = tuple(
    (name, re.compile(words, re.IGNORECASE))
    for name, words in (
        ("short", r"\b(?:be|answer|reply|keep it)\s+(?:brief|concise|short)"),
        ("long", r"\b(?:be|answer|reply)\s+(?:detailed|verbose|in detail|at length)"),
    )
)


class LintFinding(NamedTuple):
    """A contradiction, or a demand that cannot be met honestly."""

    code: str
    rule: str
    """Object id of the rule."""
    against_id: str
    """Object id of what contradicts it; the rule itself where it stands alone."""
    effective: str
    """Object id of the instruction that counts."""
    detail: str


class _Sentence(NamedTuple):
    piece: Piece
    text: str
    negative: bool
    terms: frozenset[str]


def lint(pieces: Iterable[Piece], *, extraction: bool) -> tuple[LintFinding, ...]:
    """Return what an envelope's pieces contradict, sorted; `extraction` is the kind of task."""
    rules: list[Piece] = []
    payload: list[Piece] = []
    for piece in pieces:
        if _is_rule(piece):
            rules.append(piece)
        if _is_payload(piece):
            payload.append(piece)

    findings = {
        *_opposites(rules, payload),
        *_exclusive(rules, payload),
        *_enforcement_clashes(rules + payload, extraction=extraction),
    }
    return tuple(sorted(findings))


def _is_rule(piece: Piece) -> bool:
    return _zone(piece) in _RULES and piece.kind is BlockKind.INSTRUCTION and bool(piece.candidate)


def _is_payload(piece: Piece) -> bool:
    asks = piece.kind is BlockKind.INSTRUCTION or piece.section is _S.USER_REQUEST
    return asks and _zone(piece) not in _RULES and bool(piece.candidate)


def _zone(piece: Piece) -> Stability:
    return SECTIONS[piece.section].stability


def _sentences(pieces: Iterable[Piece]) -> Iterator[_Sentence]:
    for piece in pieces:
        for text in islice(subunits(piece.text), _SENTENCES):
            terms = terms_of(text) - _DIRECTIVE_WORDS
            yield _Sentence(piece, text, bool(_NEGATIVE.search(text)), terms)


def _opposites(rules: Sequence[Piece], payload: Sequence[Piece]) -> Iterator[LintFinding]:
    """Yield pairs of directives where one forbids what the other asks for."""
    if not rules:
        return

    # An index of the terms, so that a rule meets only what shares a word with it.
    directives: list[_Sentence] = []
    postings: dict[str, list[int]] = {}
    for sentence in _sentences(payload):
        if len(sentence.terms) >= _LEAST_SHARED:
            for term in sentence.terms:
                postings.setdefault(term, []).append(len(directives))
            directives.append(sentence)

    for rule in _sentences(rules):
        positions: set[int] = set()
        for term in rule.terms:
            positions.update(postings.get(term, ()))

        for position in sorted(positions):
            directive = directives[position]
            common = len(rule.terms & directive.terms)
            fewest = min(len(rule.terms), len(directive.terms))
            close = common >= _LEAST_SHARED and 1000 * common >= _SHARED_PERMILLE * fewest
            if close and rule.negative != directive.negative:
                yield _finding("opposite_directive", rule.piece, directive.piece, directive.text)


def _exclusive(rules: Sequence[Piece], payload: Sequence[Piece]) -> Iterator[LintFinding]:
    """Yield pairs that choose differently where an answer can only be one of them."""
    choices = [(piece, _choices(piece.text)) for piece in payload]
    for rule in rules:
        for group, word in _choices(rule.text).items():
            for piece, piece_choices in choices:
                if piece_choices.get(group, word) != word:
                    detail = f"{group}: {word} or {piece_choices[group]}"
                    yield _finding("exclusive_choice", rule, piece, detail)


def _choices(text: str) -> dict[str, str]:
    """The choice of a text in each group in which it makes exactly one."""
    words_of: dict[str, set[str]] = {}
    for match in _CHOICE.findall(text):
        word = match.lower()
        words_of.setdefault(_CHOICES[word], set()).add(word)

    for word, pattern in _LENGTHS:
        if pattern.search(text):
            words_of.setdefault("length", set()).add(word)

    # Whoever names two may compare them, or offer both: that is no choice.
    choices: dict[str, str] = {}
    for group, words in words_of.items():
        if len(words) == 1:
            choices[group] = words.pop()
    return choices


def _enforcement_clashes(pieces: Sequence[Piece], *, extraction: bool) -> Iterator[LintFinding]:
    """Yield clashes between constraints that code enforces."""
    rules: list[tuple[Piece, Enforcement, Mapping[str, Any]]] = []
    for piece in pieces:
        if piece.enforcement is not None:
            spec = fields_of(json.loads(piece.enforcement.spec))
            rules.append((piece, piece.enforcement.kind, spec))

    for (left, left_kind, left_spec), (right, right_kind, right_spec) in combinations(rules, 2):
        if left_kind is right_kind is Enforcement.PATTERN:
            clashes = _patterns(left_spec, "required") & _patterns(right_spec, "forbidden")
            clashes |= _patterns(left_spec, "forbidden") & _patterns(right_spec, "required")
            if clashes:
                yield _finding("pattern_clash", left, right, " ".join(sorted(clashes)))
        elif left_kind in _SCHEMATIC and right_kind in _SCHEMATIC:
            types = _type(left_spec), _type(right_spec)
            if all(types) and types[0] != types[1]:
                yield _finding("schema_clash", left, right, f"{types[0]} or {types[1]}")

    # A schema that leaves no way to say "unknown" makes a model invent what a text lacks.
    for piece, kind, spec in rules if extraction else ():
        closed = forced_fields(_schema(spec)) if kind in _SCHEMATIC else ()
        if closed:
            yield _finding("forced_fabrication", piece, piece, " ".join(closed))


_SCHEMATIC: Final = frozenset({Enforcement.SCHEMA, Enforcement.GRAMMAR})


def _patterns(spec: Mapping[str, Any], name: str) -> set[str]:
    patterns = spec.get(name)
    return {patterns} if isinstance(patterns, str) else set(map(str, items_of(patterns)))


def _type(spec: Mapping[str, Any]) -> str:
    return str(_schema(spec).get("type", ""))


def _schema(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    return fields_of(spec.get("schema", spec))


def _finding(code: str, rule: Piece, counterpart: Piece, detail: str) -> LintFinding:
    effective = counterpart if counterpart.level < rule.level else rule
    return LintFinding(
        code, rule.object_id, counterpart.object_id, effective.object_id, detail[:160]
    )
