"""Follow-up reads: what the candidates of a compile lead to beside themselves.

A slot may have another head in another scope, and an instruction's template may name other slots
of its subject: both are asked for, so that a value is never shown without its rivals and a
template never without its values. Pure: asks for the store, made of the candidates. C-076.

Passages that are history. A raw observation stays when the claims that were extracted from it
expire or are superseded; as text it would still say what is no longer so, beside the fact that
is. So the claims derived from the passages among the candidates are looked at, and a passage of
which none holds at the compile's valid time is marked. A passage with a claim that holds, or from
which no claim was ever made, is not; nor does a summary, which has no slot, or a claim that was
set apart say anything about its source. A claim that a denial hides holds no more, and a denial
keeps its passage only where it answers: "I am over westerns" tells whoever asks of westerns, and
would put a wrong word before whoever asks for a film. So does one in a slot that is asked and in
which nothing holds: "I sold the Volvo" is the answer to which car somebody has. And so does one in
a turn with a number that no claim has: "I sold my car, for 1,900 euros" tells a price. Nor is a
passage history to a question what a slot had before, which what has ended answers, with its day.

A turn of talk is no evidence either once its speaker took back anything that it says: retracted,
denied or corrected it. What holds of it stands as its claims. Where the question asks for a clause
of it that is beside what is over and that no claim has, that clause is quoted, and no other. A page
is more than one of its sentences, and stays; so does a turn of which a claim only gave way to a
newer one, or was said again.

Passages that say more. Where a claim of a passage is shown, the passage would only repeat it,
unless much of it is in no claim: then it is marked, too, and stands beside its claims.

The claims are only looked at: they are no candidates. The marks are part of how a candidate was
found, so a replay finds them in the manifest. Checklist C-074, C-098.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import filterfalse
from typing import Final

from ...schema.claim import Content, Details, Version, slot_key
from ...schema.slot_senses import OTHER_WORDS
from ...schema.terms import content_terms
from ...schema.vocabulary import ObjectType, Op, Status
from ...store.port.store import Ask, Point
from ..ir.candidate import content_of, is_talk
from ..ir.context import CompileContext, question
from ..ir.snapshot import CLAUSE_BITS, Proposal, Via
from ..text.relevance import terms_of
from ..text.sentences import clauses_beside
from ..text.slot_questions import asks_what_was, slots_asked
from ..text.templates import placeholders
from .candidates import rivals_ask

_SPOKEN_SHARE: Final = 0.7
"""Share of a passage's words from which its claims stand for it: with a reader that misses nothing
all that is left are words around (`bench/bench_lives.py`, scripted: FAMA* is the same)."""


_SlotOf = tuple[str | None, str | None]
"""A subject and a slot of it."""

_DENIAL_REASON: Final = "denied"
"""Stored reason of a row that a denial hides."""


def derived_ask(rows: Iterable[Proposal], context: CompileContext) -> Ask | None:
    """Return the ask for what was derived from the passages among the candidates."""
    if context.rules.outdated_passages == "show":
        return None

    passages: set[str] = set()
    for version, _, _ in rows:
        if is_passage(version):
            passages.add(version.row.claim.object_id)
    if not passages:
        return None
    return Ask(sources=tuple(sorted(passages)), heads=False, at_valid=False, at_tx=False)


def is_passage(version: Version) -> bool:
    """Tell whether a row is text that is quoted, not a fact that is stated."""
    details = version.details
    return details.slot is None and details.object_type is ObjectType.RETRIEVED_PASSAGE


def mark_passages(
    rows: dict[tuple[str, int], Proposal],
    derived: Iterable[Version],
    ask: Ask,
    context: CompileContext,
) -> None:
    """Mark the passages of an ask by what became of their claims: see the module."""
    claims = tuple(derived)
    past_slots = _past_slots(context)
    turns: dict[str, str] = {}
    for (object_id, _), proposal in rows.items():
        content = proposal.version.content
        if is_talk(proposal.version) and content is not None:
            turns[object_id] = content.text

    standing_values = _standing_values(
        (*(proposal.version for proposal in rows.values()), *claims), context
    )
    ended_claims = [version for version in claims if _value_of(version) not in standing_values]
    answer_ids = _answering_denials(rows.values(), claims, context)
    answer_ids |= _counting_denials(turns, claims, context.point)
    outdated_ids = _outdated_sources(claims, ask, context, past_slots, standing_values) - answer_ids
    withdrawn_ids = turns.keys() & _withdrawn_sources(ended_claims, past_slots, context.point)
    kept_clauses = _asked_clauses(
        turns, outdated_ids | withdrawn_ids, ended_claims, claims, context
    )

    _mark(rows, outdated_ids - kept_clauses.keys(), Via.OUTDATED)
    _mark(rows, withdrawn_ids - kept_clauses.keys(), Via.TAKEN_BACK)
    _mark_claimed(rows, claims, answer_ids)
    for object_id, bits in kept_clauses.items():
        _mark(rows, {object_id}, Via.IN_PART | Via.SAYS_MORE | bits << CLAUSE_BITS)


def _standing_values(versions: Iterable[Version], context: CompileContext) -> set[tuple[str, str]]:
    """Return the values that hold at the compile's point, whoever said them last."""
    values: set[tuple[str, str]] = set()
    for version in versions:
        claim, is_valid = version.row.claim, context.point.valid_us in version.row.interval
        is_fact = bool(version.details.slot) and claim.op is not Op.DENY
        is_clean = version.row.look.status is not Status.QUARANTINED
        if is_fact and is_clean and is_valid and _decides(version, context.point):
            values.add(_value_of(version))
    return values


def _value_of(version: Version) -> tuple[str, str]:
    claim = version.row.claim
    return claim.slot_key, claim.value_key


def _asked_clauses(
    turns: Mapping[str, str],
    left_out_ids: AbstractSet[str],
    ended_claims: Iterable[Version],
    derived: Sequence[Version],
    context: CompileContext,
) -> dict[str, int]:
    """Return the clauses of turns that hold beside what is over and that the question asks for.

    To quote the rest of a turn says nothing of what its speaker took back, and what no claim has
    reaches nobody else.
    """
    ended_quotes = _quotes_of(ended_claims if left_out_ids else (), left_out_ids & turns.keys())
    claim_quotes = _quotes_of(derived if ended_quotes else (), ended_quotes.keys())

    terms = question(context)
    bits_of: dict[str, int] = {}
    for source, quotes in ended_quotes.items():
        claimed_words = terms_of("\n".join(claim_quotes[source]))
        bits = 0
        for place, clause in clauses_beside(turns[source], quotes):
            words = terms_of(clause) - claimed_words
            if len(words) > 1 and not terms.isdisjoint(words):
                bits |= 1 << place
        if bits:
            bits_of[source] = bits
    return bits_of


def _quotes_of(derived: Iterable[Version], sources: AbstractSet[str]) -> dict[str, list[str]]:
    """Return what the claims quote of some of their sources."""
    facts = [version for version in derived if version.content is not None and version.details.slot]
    quotes: dict[str, list[str]] = {}
    for version in facts:
        for source in sources & set(version.details.derived_from):
            quotes.setdefault(source, []).append(content_of(version).text)
    return quotes


def _mark_claimed(
    rows: dict[tuple[str, int], Proposal], derived: Iterable[Version], answer_ids: AbstractSet[str]
) -> None:
    """Mark the passages of which claims were made, ended ones too, and those that say more.

    Of one that answers by a denial no claim is shown, so that it stands for itself.
    """
    claimed_words: dict[str, set[str]] = {}
    for version in derived:
        if version.details.slot and version.content is not None:
            quote = content_terms(version.content.normalized_claim)
            for source in version.details.derived_from:
                claimed_words.setdefault(source, set()).update(quote)

    _mark(rows, claimed_words.keys() - answer_ids, Via.CLAIMED)
    telling_ids: set[str] = set()
    for (object_id, _), proposal in rows.items() if claimed_words else ():
        content = proposal.version.content
        if object_id in claimed_words and content is not None:
            words = content_terms(content.text)
            if len(words & claimed_words[object_id]) < _SPOKEN_SHARE * len(words):
                telling_ids.add(object_id)
    _mark(rows, telling_ids, Via.SAYS_MORE)


def _mark(rows: dict[tuple[str, int], Proposal], object_ids: AbstractSet[str], mark: int) -> None:
    """Note on the rows of some objects what was found out about them."""
    for key, proposal in list(rows.items()) if object_ids else ():
        if key[0] in object_ids:
            rows[key] = proposal._replace(via=proposal.via | mark)


def _answering_denials(
    rows: Iterable[Proposal], derived: Iterable[Version], context: CompileContext
) -> set[str]:
    """Return the sources of denials in slots that are asked and in which nothing holds."""
    asked_slots = slots_asked(_wording(context))
    if not asked_slots:
        return set()

    known_slots: set[_SlotOf] = set()
    for version, _, _ in rows:
        if _decides(version, context.point) and version.row.claim.op is not Op.DENY:
            known_slots.add(_slot_of(version))

    sources: set[str] = set()
    for version in derived:
        is_asked = version.details.slot in asked_slots and _slot_of(version) not in known_slots
        is_denial = version.row.claim.op is Op.DENY and _decides(version, context.point)
        if is_asked and is_denial:
            sources.update(version.details.derived_from)
    return sources


def _counting_denials(
    turns: Mapping[str, str], derived: Sequence[Version], point: Point
) -> set[str]:
    """Return the turns that end something and tell a number which no claim of them has."""
    ending_ids: set[str] = set()
    for version in derived:
        if version.row.claim.op is Op.DENY and _decides(version, point):
            ending_ids |= turns.keys() & set(version.details.derived_from)

    # Nearly no turn ends anything: only of one that does are the words counted.
    sources: set[str] = set()
    for source in ending_ids:
        quotes = [
            version.content.text
            for version in derived
            if version.content is not None and source in version.details.derived_from
        ]
        words = content_terms(turns[source]) - content_terms("\n".join(quotes))
        if any(word[0].isdigit() for word in words):
            sources.add(source)
    return sources


def _outdated_sources(
    derived: Iterable[Version],
    ask: Ask,
    context: CompileContext,
    past_slots: AbstractSet[str],
    standing_values: AbstractSet[tuple[str, str]],
) -> frozenset[str]:
    """Return the passages of an ask of which claims were made that all ceased to hold."""
    sources = set(ask.sources)
    terms = question(context)
    holds: dict[str, bool] = {}
    for version in derived:
        if not version.details.slot or version.row.look.status is Status.QUARANTINED:
            continue
        for source in sources.intersection(version.details.derived_from):
            # What never was is no answer to what was.
            answers = version.details.slot in past_slots and _is_believed(version, context.point)
            answers = answers or _value_of(version) in standing_values
            holds[source] = (
                answers or holds.get(source, False) or _speaks(version, terms, context.point)
            )

    # A source of which no claim was made is not in the table: it is no history.
    return frozenset(filterfalse(holds.__getitem__, holds))


def _withdrawn_sources(
    derived: Iterable[Version], past_slots: AbstractSet[str], point: Point
) -> set[str]:
    """Return the sources of claims that were taken back as known at the compile's tx."""
    rows_of: dict[str, list[Version]] = {}
    for version in derived:
        claim = version.row.claim
        is_known = bool(version.details.slot) and claim.tx <= point.tx_us
        if is_known and claim.op is not Op.DENY:
            rows_of.setdefault(claim.object_id, []).append(version)

    sources: set[str] = set()
    for versions in rows_of.values():
        if _is_taken_back(versions, past_slots, point):
            sources.update(versions[0].details.derived_from)
    return sources


def _is_taken_back(versions: Sequence[Version], past_slots: AbstractSet[str], point: Point) -> bool:
    """Tell whether the rows of one claim say that it is so no more, or never was."""
    rows = [version.row for version in versions if _is_believed(version, point)]
    if not rows:
        return True
    if versions[0].details.slot in past_slots:
        return False

    # A claim that ended on a day which it named itself was not taken back.
    if point.valid_us not in versions[0].row.claim.interval:
        return False
    rows = [row for row in rows if point.valid_us in row.interval]
    return all(row.look.reason == _DENIAL_REASON for row in rows)


def _is_believed(version: Version, point: Point) -> bool:
    return version.row.tx_start <= point.tx_us < version.row.tx_end


def _wording(context: CompileContext) -> str:
    return f"{context.request.query}\n{context.request.user_request}"


def _slot_of(version: Version) -> _SlotOf:
    return version.details.subject_id, version.details.slot


def _past_slots(context: CompileContext) -> frozenset[str]:
    """The slots of which the request asks what they had; none where it asks what holds."""
    wording = _wording(context)
    if not asks_what_was(wording):
        return frozenset()

    terms, slots = question(context), set(slots_asked(wording))
    for name, definition in context.vocabulary.slots.items():
        topic = f"{name.replace('_', ' ')} {definition.description} {OTHER_WORDS.get(name, '')}"
        if not terms.isdisjoint(terms_of(topic)):
            slots.add(name)
    return frozenset(slots)


def _speaks(version: Version, terms: frozenset[str], point: Point) -> bool:
    """Tell whether a row says what holds, or takes back what the question names."""
    if not _decides(version, point):
        return False
    if version.row.claim.op is not Op.DENY:
        return True
    return version.content is None or _value_terms(version.content, version.details) <= terms


def _value_terms(content: Content, details: Details) -> frozenset[str]:
    """The words of a value; an entity's name stands behind the slot's in the claim."""
    if details.value_entity_id is None:
        return content_terms(content.value_json)
    return content_terms(content.normalized_claim.rpartition(": ")[2])


def _decides(version: Version, point: Point) -> bool:
    """Tell whether a row decides its slot at the point, alone or in a tie, or did not begin yet.

    What is only announced is no history. A denied row stands where it decided, and decides no more.
    A denial of what nobody had said heads no slot, and is the newest word of it all the same.
    """
    row = version.row
    is_last = row.look.head or row.claim.op is Op.DENY
    leads = is_last and row.look.status is not Status.OVERRIDDEN
    return _is_believed(version, point) and leads and point.valid_us < row.interval.end_us


def rival_ask(rows: Iterable[Proposal], context: CompileContext) -> Ask | None:
    """Return the ask for the heads of the candidates' slots in the other visible scopes."""
    keys: set[str] = set()
    known: set[str] = set()
    for version, _, _ in rows:
        known.add(version.row.claim.slot_key)
        details = version.details
        subject, slot, own_scope = details.subject_id, details.slot, details.scope.scope_id
        if slot is None or subject is None:
            continue
        for scope in context.scopes:
            if scope != own_scope:
                keys.add(slot_key(subject, slot, scope))

    missing = tuple(sorted(keys - known))
    return rivals_ask(missing) if missing else None


def placeholder_ask(rows: Iterable[Proposal], context: CompileContext) -> Ask | None:
    """Return the ask for the slots that instruction templates of the candidates name."""
    subjects_of: dict[str, set[str]] = {}
    for version, _, _ in rows:
        details = version.details
        if details.slot is not None and details.subject_id is not None:
            subjects_of.setdefault(details.slot, set()).add(details.subject_id)

    slots: set[str] = set()
    subjects: set[str] = set()
    for slot, members in subjects_of.items():
        names = _placeholders_of(context, slot)
        if names:
            slots.update(names)
            subjects |= members
    if not slots:
        return None
    return Ask(subjects=tuple(sorted(subjects)), slots=tuple(sorted(slots)))


def _placeholders_of(context: CompileContext, slot: str) -> tuple[str, ...]:
    """Return the other slots that a slot's template of the active task names, in order."""
    definition = context.vocabulary.slots.get(slot)
    template = definition.template(context.task_types) if definition else None
    if template is None:
        return ()

    # What the instruction itself says is at hand, so only the other slots are asked for.
    return tuple(name for name in placeholders(template) if name not in ("value", slot))
