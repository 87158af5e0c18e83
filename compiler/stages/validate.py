"""Stage 4, validate: only clean, current and undisputed objects go on.

First each row is tested alone: erased, closed, outside its valid time, a loser, a denial,
quarantined, due, stale. Then the heads of one slot in all visible scopes compete at the instant by
effective level, specificity of the scope, and newer asserted valid_from; trust is not compared. The
winner is the answer, be it a value, a denial, a gap or a tie, and nothing weaker replaces it. Equal
ones are quarantined. A winner inherits how its losers were found: without a query, or by their
words. A slot of cardinality many is decided value by value. If a hidden row leads, no other row is
shown. A manifest keeps how the others lost but not to what, so a replay needs no hidden row.

Invariant: no two compiled objects say different things about one slot at the compile's valid
time. Checklist C-074, C-078.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ...schema.claim import Row, Version
from ...schema.compile_terms import GapCode, Reason, Stage
from ...schema.values import iso
from ...schema.vocabulary import Op, Status
from ..ir.context import CompileContext
from ..ir.outputs import Gated, Resolved, Validated
from ..ir.records import Candidate, Gap, Snapshot, Verdict, Via, is_talk, version_of
from ..ranking.asked import named_slots

_CLEAN, _DENY = Status.CLEAN, Op.DENY

_VIA_OUTDATED = int(Via.OUTDATED)
_VIA_PIN = int(Via.PINNED)

_TIE: Final = (Reason.CONFLICTING_CLAIM_UNRESOLVED, "unresolved_tie")

SlotKey = tuple[str, ...]
"""(canonical subject, slot), and the value of a slot of cardinality many."""


@dataclass(slots=True)
class _Sorting:
    """Candidates by what becomes of them."""

    clean: list[Candidate] = field(default_factory=list[Candidate])
    archival: list[Candidate] = field(default_factory=list[Candidate])
    verdicts: list[Verdict] = field(default_factory=list[Verdict])
    contests: dict[SlotKey, list[Candidate]] = field(default_factory=dict[SlotKey, list[Candidate]])
    """Heads of one slot at the instant, in all visible scopes."""
    overridden: dict[str, Verdict] = field(default_factory=dict[str, Verdict])
    """Verdicts on rows that a stronger source outweighs, by object id."""
    ended_rows: list[Candidate] = field(default_factory=list[Candidate])
    """Facts that held before the instant."""

    def admit(self, candidate: Candidate, wanted_slots: frozenset[tuple[str, str]]) -> None:
        """Let a clean candidate in, into the archive when it was demoted and nobody asks for it."""
        version = candidate.version
        demoted = version is not None and version.demoted
        archived = demoted and not _is_wanted(candidate, wanted_slots)
        (self.archival if archived else self.clean).append(candidate)


def validate(
    gated: Gated, resolved: Resolved, snapshot: Snapshot, context: CompileContext
) -> Validated:
    """Return the clean, current candidates, and verdicts on the others."""
    groups = _Sorting()
    wanted_slots = frozenset(_wanted_slots(resolved, snapshot, context))
    for candidate in gated.candidates:
        _sort(candidate, groups, wanted_slots, context)

    hidden = _hidden_rows(gated, context)
    outranked = dict(snapshot.outranked)

    # Slot by slot in the order of keys: verdicts must not depend on which head came first.
    for key in sorted(groups.contests):
        heads = groups.contests[key]
        shadows = [row for row in hidden.get(key, ()) if _decides(version_of(row), context)]
        outranked.update(_lost_contests(heads, shadows))
        if _row_of(heads[0]) in outranked:
            groups.verdicts += _defeats(heads, outranked, wanted_slots, context)
            continue

        winners, losers = _compete(heads, wanted_slots, context)
        groups.verdicts += losers
        for winner in winners:
            groups.admit(winner, wanted_slots)

    # Winners came slot by slot. Back to the order in which the gate let them through.
    position = {_row_of(candidate): i for i, candidate in enumerate(gated.candidates)}
    groups.clean.sort(key=lambda candidate: position[_row_of(candidate)])
    for candidate in groups.ended_rows:
        version = version_of(candidate)
        for shadow in hidden.get(_slot_of(candidate, version, context), ()):
            # The caller may not learn which of the two held at that time.
            if version_of(shadow).row.interval.overlaps(version.row.interval):
                outranked[_row_of(candidate)] = "other_scope"
    ended_facts = tuple(_ended_facts(groups, outranked, wanted_slots, context))
    # A fact that held once has ended, also if a stronger source contradicts it later.
    for candidate, _ in ended_facts:
        groups.overridden.pop(candidate.object_id, None)
    groups.verdicts += groups.overridden.values()
    gaps = set(_disputed_slots(gated, resolved, groups.verdicts))
    gaps |= set(_unanswered_slots(gated, resolved, snapshot, groups.contests, wanted_slots))
    return Validated(
        tuple(groups.clean),
        tuple(groups.archival),
        tuple(groups.verdicts),
        tuple(sorted(gaps)),
        outranked,
        ended_facts,
    )


def _sort(
    candidate: Candidate,
    groups: _Sorting,
    wanted_slots: frozenset[tuple[str, str]],
    context: CompileContext,
) -> None:
    """Put a candidate among the clean, the archival, the faulty, or what competes for a slot."""
    version = candidate.version
    if version is None:
        groups.clean.append(candidate)
        return

    key = _slot_of(candidate, version, context)
    if key is not None and _decides(version, context):
        groups.contests.setdefault(key, []).append(candidate)
        return

    fault = _fault_of(candidate, wanted_slots, context)
    if fault is None and context.rules.outdated_passages == "omit":
        fault = _history(candidate)
    if fault is None:
        groups.admit(candidate, wanted_slots)
    elif key is not None and _has_held(version, context):
        groups.ended_rows.append(candidate)
    elif fault[0] is Reason.OVERRIDDEN:
        groups.overridden.setdefault(candidate.object_id, _verdict(candidate, fault))
    else:
        groups.verdicts.append(_verdict(candidate, fault))


def _has_held(version: Version, context: CompileContext) -> bool:
    """Tell whether a row says what held once, as it is believed at the compile's point.

    The words of conversation say it themselves, so a fact that was made of them is not counted.
    """
    row = version.row
    is_over = row.interval.end_us <= context.point.valid_us and row.look.status is _CLEAN
    is_written = version.content is not None and not version.details.derived_from
    return is_over and is_written and _believed(row, context) and _unfit(version, context) is None


def _ended_facts(
    groups: _Sorting,
    outranked: Mapping[tuple[str, int], str],
    wanted_slots: frozenset[tuple[str, str]],
    context: CompileContext,
) -> Iterator[tuple[Candidate, Verdict]]:
    """Yield each fact that held once, by its last row, with why it does not hold.

    A fact that holds now is left out.
    """
    current_ids = {candidate.object_id for candidate in groups.clean}
    for candidate in sorted(groups.ended_rows, key=lambda c: -version_of(c).row.interval.end_us):
        if candidate.object_id not in current_ids and _row_of(candidate) not in outranked:
            current_ids.add(candidate.object_id)
            fault = _fault_of(candidate, wanted_slots, context)
            yield candidate, _verdict(candidate, fault or (Reason.EXPIRED_VALID_TIME, ""))


def _row_of(candidate: Candidate) -> tuple[str, int]:
    version = candidate.version
    return candidate.object_id, version.row.vid if version is not None else 0


def _verdict(candidate: Candidate, fault: tuple[Reason, str]) -> Verdict:
    return Verdict(Stage.VALIDATE, candidate.object_id, *fault)


def _slot_of(candidate: Candidate, version: Version, context: CompileContext) -> SlotKey | None:
    """Return what competes as one slot across scopes; None for text without a slot."""
    slot = version.details.slot
    if slot is None or candidate.subject is None:
        return None
    definition = context.vocabulary.slots.get(slot)
    if definition is not None and definition.many:
        return candidate.subject, slot, version.row.claim.value_key
    return candidate.subject, slot


def _decides(version: Version, context: CompileContext) -> bool:
    row = version.row
    return row.look.head and _believed(row, context) and context.point.valid_us in row.interval


def _believed(row: Row, context: CompileContext) -> bool:
    """Tell whether the row was known at the compile's transaction time."""
    return row.tx_start <= context.point.tx_us < row.tx_end


def _is_wanted(candidate: Candidate, wanted_slots: frozenset[tuple[str, str]]) -> bool:
    """Tell whether the request asks for an object by name: it pins it, or names its slot."""
    version = candidate.version
    slot = version.details.slot if version is not None else None
    return bool(candidate.via & _VIA_PIN) or (candidate.subject, slot) in wanted_slots


def _fault_of(
    candidate: Candidate, wanted_slots: frozenset[tuple[str, str]], context: CompileContext
) -> tuple[Reason, str] | None:
    """Return why a row may not enter; age alone keeps out nothing that is asked for by name."""
    fault = _fault(version_of(candidate), context)
    if fault is None or fault[0] is not Reason.DECAYED_BELOW_THRESHOLD:
        return fault
    return None if _is_wanted(candidate, wanted_slots) else fault


def _fault(version: Version, context: CompileContext) -> tuple[Reason, str] | None:
    """Return why a row by itself may not enter, None when it may."""
    row, valid = version.row, context.point.valid_us
    if version.erased or version.content is None:
        return Reason.ERASED, ""
    # Nearly all rows are clean and current: asked before the many ways of not being it.
    if row.look.status is _CLEAN and _believed(row, context) and valid in row.interval:
        return _unfit(version, context)

    if row.look.status is Status.QUARANTINED:
        injected = row.look.reason == "injection_suspected"
        return (Reason.INJECTION_SUSPECTED if injected else Reason.POLICY_HOLD), row.look.reason
    if not _believed(row, context):
        return Reason.SUPERSEDED, row.look.reason
    if row.look.status is Status.OVERRIDDEN:
        denied = row.look.reason == "denied"
        return (Reason.DENIED_VALUE if denied else Reason.OVERRIDDEN), row.look.reason
    if row.look.status is Status.DISPUTED:
        if row.look.reason != "unresolved_tie":
            return Reason.DISPUTED_LOWER_TRUST, row.look.reason
        if valid in row.interval:
            return Reason.CONFLICTING_CLAIM_UNRESOLVED, row.look.reason

    if valid < row.interval.start_us:
        return Reason.NOT_YET_VALID, iso(row.interval.start_us) or ""
    return Reason.EXPIRED_VALID_TIME, iso(row.interval.end_us) or ""


def _history(candidate: Candidate) -> tuple[Reason, str] | None:
    """Return why a passage that says what is no longer so is no evidence, unless it is pinned."""
    via = candidate.via
    if via & _VIA_PIN:
        return None
    return (Reason.SUPERSEDED, "claims_ended") if via & _VIA_OUTDATED else None


def _unfit(version: Version, context: CompileContext) -> tuple[Reason, str] | None:
    """Return why a row that holds at the instant may not enter all the same."""
    claim = version.row.claim
    if claim.op is _DENY:
        return Reason.DENIED_VALUE, "denial"
    if claim.says_nothing and version.details.slot is not None:
        return Reason.RETIRED, "no_value"
    if version.stale:
        return Reason.STALE_DERIVATION, ""
    if version.confirm_due and not is_talk(version):
        return Reason.AWAITING_CONFIRMATION, ""

    rule = version.details.decay_rule
    if rule is None or is_talk(version):
        return None
    anchor = claim.tx if version.last_confirmed_us is None else version.last_confirmed_us
    age = context.point.valid_us - anchor
    fading = context.policy.decay.fading(version.details.object_type)
    if rule.due(age, fading):
        strength = round(1000 * rule.strength(age, fading))
        return Reason.DECAYED_BELOW_THRESHOLD, f"{strength} of 1000"
    return None


def _hidden_rows(gated: Gated, context: CompileContext) -> dict[SlotKey | None, list[Candidate]]:
    """Return the hidden rows by slot.

    Whoever may not see the strongest head learns nothing from a weaker one: it competes unseen.
    """
    hidden: dict[SlotKey | None, list[Candidate]] = {}
    for candidate in gated.shadows:
        key = _slot_of(candidate, version_of(candidate), context)
        hidden.setdefault(key, []).append(candidate)
    return hidden


def _lost_contests(
    heads: Sequence[Candidate], shadows: Sequence[Candidate]
) -> Iterator[tuple[tuple[str, int], str]]:
    """Yield each head with how it lost, where a hidden one leads; nothing where none does."""
    best = min(map(_rank, (*heads, *shadows)))
    hidden_leaders = [head for head in shadows if _rank(head) == best]
    if not hidden_leaders:
        return

    tied = _disagree([*hidden_leaders, *(head for head in heads if _rank(head) == best)])

    for head in heads:
        rank = _rank(head)
        if rank == best and tied:
            yield _row_of(head), _TIE[1]
        else:
            yield _row_of(head), "lower_authority" if rank[0] > best[0] else "other_scope"


def _defeats(
    heads: Iterable[Candidate],
    outranked: Mapping[tuple[str, int], str],
    wanted_slots: frozenset[tuple[str, str]],
    context: CompileContext,
) -> Iterator[Verdict]:
    """Yield a verdict on each head of a slot that a hidden row decides."""
    for _, head in _ranked(heads):
        detail = outranked[_row_of(head)]
        defeat = _TIE if detail == _TIE[1] else (Reason.OVERRIDDEN, detail)
        yield _verdict(head, _fault_of(head, wanted_slots, context) or defeat)


def _ranked(heads: Iterable[Candidate]) -> list[tuple[tuple[int, int, int], Candidate]]:
    """Return heads with their strength across scopes, the strongest first."""
    return sorted(
        ((_rank(head), head) for head in heads),
        key=lambda pair: (pair[0], pair[1].object_id, version_of(pair[1]).row.vid),
    )


def _compete(
    heads: list[Candidate],
    wanted_slots: frozenset[tuple[str, str]],
    context: CompileContext,
) -> tuple[list[Candidate], list[Verdict]]:
    """Decide one slot across scopes: return who stands and verdicts on the rest."""
    if len(heads) == 1:
        fault = _fault_of(heads[0], wanted_slots, context)
        return (heads, []) if fault is None else ([], [_verdict(heads[0], fault)])

    ranked = _ranked(heads)
    best = ranked[0][0]
    leaders = [head for rank, head in ranked if rank == best]
    tied = _disagree(leaders)

    verdicts: list[Verdict] = []
    winners: list[Candidate] = []
    losers: list[Candidate] = []
    for rank, head in ranked:
        fault = _fault_of(head, wanted_slots, context)
        if fault is None and rank == best and tied:
            fault = _TIE
        if fault is None and rank == best:
            winners.append(head)
            continue

        if fault is None:
            losers.append(head)
            fault = _defeat(head, winners, by_level=rank[0] > best[0])
        verdicts.append(_verdict(head, fault))
    return [_standing_in(winner, heads, losers) for winner in winners], verdicts


def _disagree(heads: Iterable[Candidate]) -> bool:
    """Whether heads of one slot state more than one value."""
    return len({version_of(head).row.claim.value_key for head in heads}) > 1


def _standing_in(winner: Candidate, heads: list[Candidate], losers: list[Candidate]) -> Candidate:
    """Return a winner as what the losers would have been: it is the answer in their stead.

    It stands without a query where a loser would have, and is found by what finds a clean one.
    """
    stands = any(head.via & Via.STANDING for head in heads)
    via = winner.via | (Via.STANDING if stands else 0)
    for loser in losers:
        via |= loser.via & ~Via.RIVAL
    return winner._replace(via=via, rivals=tuple(losers))


def _defeat(loser: Candidate, winners: list[Candidate], *, by_level: bool) -> tuple[Reason, str]:
    """Return why a head that is clean in its own scope does not stand."""
    value = version_of(loser).row.claim.value_key
    if winners and version_of(winners[0]).row.claim.value_key == value:
        return Reason.DUPLICATE_OF, winners[0].object_id
    return Reason.OVERRIDDEN, "lower_authority" if by_level else "other_scope"


def _rank(head: Candidate) -> tuple[int, int, int]:
    """Return the strength of a head across scopes, the smallest first; trust is not compared."""
    version = version_of(head)
    claim = version.row.claim
    return claim.level, -version.details.scope.specificity, -claim.since_us


def _disputed_slots(gated: Gated, resolved: Resolved, verdicts: Iterable[Verdict]) -> Iterator[Gap]:
    """Yield the slots of named entities whose answer is disputed."""
    tied_ids: set[str] = set()
    for verdict in verdicts:
        if verdict.reason is Reason.CONFLICTING_CLAIM_UNRESOLVED:
            tied_ids.add(verdict.object_id)

    for candidate in gated.candidates:
        version = candidate.version
        if version is None or candidate.object_id not in tied_ids:
            continue
        is_named = candidate.subject in resolved.active and candidate.via & Via.SLOT
        if is_named and version.details.slot:
            yield Gap(GapCode.DISPUTED_VALUE, candidate.subject or "", version.details.slot)


def _unanswered_slots(
    gated: Gated,
    resolved: Resolved,
    snapshot: Snapshot,
    contests: Iterable[SlotKey],
    wanted_slots: Iterable[tuple[str, str]],
) -> Iterator[Gap]:
    """Yield the slots that the request asks for by name and nobody stated of a named entity.

    Where rows were withheld nothing is said: what may not be seen is not unknown.
    """
    is_withheld = gated.admits_refusals or snapshot.refused or dict(snapshot.withheld).get("slot")
    if is_withheld or not resolved.active:
        return

    answered_slots = {key[:2] for key in contests}
    for subject, slot in wanted_slots:
        if (subject, slot) not in answered_slots:
            yield Gap(GapCode.NO_VALUE, subject, slot)


def _wanted_slots(
    resolved: Resolved, snapshot: Snapshot, context: CompileContext
) -> Iterator[tuple[str, str]]:
    """Yield the slots whose name the request says, each with a named entity that may have it."""
    if not resolved.active:
        return

    for name in named_slots(context):
        slot = context.vocabulary.slots[name]
        for entity_id in resolved.active:
            entity = snapshot.known.entities.get(entity_id)
            if entity and entity.type in (slot.subject_types or (entity.type,)):
                yield entity_id, name
