"""Lint: does the payload contradict the rules it is sent under, or force an invented answer?

Rules are what stands as instruction in the cached system zones; the payload is the contract, the
guidance, the acceptance and the user's request. The findings, all by plain rules, no model:

    opposite_directive        one forbids what the other asks for, in largely the same words
    exclusive_choice          two languages, formats or lengths for one answer
    conflicting_instructions  two rules deny each other, or a stronger one kept a weaker one out
    pattern_clash             a pattern that one constraint requires and another forbids
    schema_clash              two output schemas of different types
    forced_fabrication        an extraction whose schema has no way to say unknown

Nothing is rewritten: the user's words stay verbatim. A finding names the effective instruction,
by the hierarchy S > D > U > T: the stronger authority, and of equals the system text. Every
finding is a warning, in a safety-critical policy a failure. What the lint does not see, it does
not vouch for. Source 000, 6.5; source 001, "Guidelines"; checklist C-095, C-142 to C-144, C-211.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, islice
from typing import Any, Final, NamedTuple

from ...schema.compile_terms import SECTIONS, BlockKind, SectionName, Stability
from ...schema.language import Language
from ...schema.uncertainty import forced_fields
from ...schema.values import fields_of, items_of
from ...schema.vocabulary import Enforcement
from ..ir.records import Piece, Verdict
from ..text.directives import Directive, are_opposite, directive_of, rival_choice
from ..text.sentences import subunits

_S: Final = SectionName
_RULES: Final = (Stability.STATIC, Stability.SCOPE)
_SENTENCES: Final = 200
"""Sentences of one text that are looked at: a longer one is a document, no set of rules."""


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


def lint(
    pieces: Iterable[Piece],
    language: Language,
    exclusions: Iterable[Verdict],
    *,
    extraction: bool,
) -> tuple[LintFinding, ...]:
    """Return what an envelope's pieces contradict, sorted; `extraction` is the kind of task.

    `exclusions` are the directives that a stronger one left out.
    """
    rules: list[Piece] = []
    payload: list[Piece] = []
    for piece in pieces:
        if piece.candidate is None:
            continue
        in_rules = SECTIONS[piece.section].stability in _RULES
        instructs = piece.kind is BlockKind.INSTRUCTION
        if in_rules and instructs:
            rules.append(piece)
        elif not in_rules and (instructs or piece.section is _S.USER_REQUEST):
            payload.append(piece)

    findings = {
        *_opposites(rules, payload, language),
        *_exclusive(rules, payload, language),
        *_enforcement_clashes(rules + payload, extraction=extraction),
    }
    for verdict in exclusions:
        rule = verdict.detail
        findings.add(LintFinding("conflicting_instructions", rule, verdict.object_id, rule, ""))
    for left, right in combinations(rules, 2):
        pair = directive_of(left.text, language), directive_of(right.text, language)
        if rival_choice(*pair) or are_opposite(*pair):
            findings.add(_finding("conflicting_instructions", left, right, right.text))
    return tuple(sorted(findings))


def _sentences(
    pieces: Iterable[Piece], language: Language
) -> Iterator[tuple[Piece, str, Directive]]:
    for piece in pieces:
        for text in islice(subunits(piece.text), _SENTENCES):
            yield piece, text, directive_of(text, language)


def _opposites(
    rules: Sequence[Piece], payload: Sequence[Piece], language: Language
) -> Iterator[LintFinding]:
    """Yield pairs of directives where one forbids what the other asks for."""
    if not rules:
        return

    # An index of the terms, so that a rule meets only what shares a word with it.
    directives = list(_sentences(payload, language))
    postings: dict[str, list[int]] = {}
    for position, (_, _, directive) in enumerate(directives):
        for term in directive.terms:
            postings.setdefault(term, []).append(position)

    for rule, _, demand in _sentences(rules, language):
        positions: set[int] = set()
        for term in demand.terms:
            positions.update(postings.get(term, ()))

        for position in sorted(positions):
            piece, text, directive = directives[position]
            if are_opposite(demand, directive):
                yield _finding("opposite_directive", rule, piece, text)


def _exclusive(
    rules: Sequence[Piece], payload: Sequence[Piece], language: Language
) -> Iterator[LintFinding]:
    """Yield pairs that choose differently where an answer can only be one of them."""
    choices = [(piece, directive_of(piece.text, language)) for piece in payload]
    for rule in rules:
        demand = directive_of(rule.text, language)
        for piece, directive in choices if demand.choices else ():
            if detail := rival_choice(demand, directive):
                yield _finding("exclusive_choice", rule, piece, detail)


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
