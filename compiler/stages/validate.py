"""Stage 4, validate: only what is clean, current and undisputed goes on.

A row is tested by itself first: erased, closed, outside its valid time, a loser, a denial, set
apart, due, stale. Then the heads of one slot in all visible scopes compete at the instant by
effective level, specificity of the scope, and newer asserted valid_from; trust is not compared.
Whatever wins is the answer, be it a value, a denial, a gap or a tie: nothing weaker takes its
place. Equal ones are quarantined. What wins takes the place of what it beat: it stands without a
query where that would have, and is found by the words that find that. On a slot of cardinality
many this goes value by value.

Invariant: no two compiled objects say different things about one slot at the compile's valid
time. Sources: settled 3; vocabulary 5.4; D4; checklist C-074, C-078; rules R7, R8.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...schema.claim import Row, Version
from ...schema.compile_terms import GapCode, Reason, Stage
from ...schema.values import iso
from ...schema.vocabulary import Op, Status
from ..ir.candidate import Placed
from ..ir.context import Setting, question
from ..ir.outputs import Gated, Validated
from ..ir.snapshot import Via
from ..ir.verdicts import Gap, Verdict
from ..text.relevance import terms_of

_CLEAN, _DENY = Status.CLEAN, Op.DENY


_OUTDATED, _PINNED = int(Via.OUTDATED), int(Via.PINNED)


def validate(gated: Gated, setting: Setting) -> Validated:
    """Return the clean, current candidates, and verdicts on the others."""
    verdicts: list[Verdict] = []
    standing: list[Placed] = []
    deciding: dict[tuple[str, ...], list[Placed]] = {}
    archival: list[Placed] = []
    for placed in gated.placed:
        version = placed.candidate.version
        if version is None:
            standing.append(placed)
            continue
        key = _slot_of(placed, version, setting)
        if key is not None and _decides(version, setting):
            deciding.setdefault(key, []).append(placed)
            continue
        found = _fault(version, setting) or _history(placed)
        if found is None and version.demoted and not placed.candidate.via & Via.PINNED:
            archival.append(placed)
        elif found is None:
            standing.append(placed)
        else:
            verdicts.append(_verdict(placed, *found))
    hidden = frozenset(map(id, gated.shadows))
    for placed in gated.shadows:
        version = _version(placed)
        key = _slot_of(placed, version, setting)
        if key in deciding and _decides(version, setting):
            deciding[key].append(placed)
    for key in sorted(deciding):
        won, lost = _compete(deciding[key], hidden, setting)
        verdicts += lost
        (archival if won and _demoted(won[0]) else standing).extend(won)
    order = {_row_of(placed): place for place, placed in enumerate(gated.placed)}
    standing.sort(key=lambda placed: order[_row_of(placed)])
    return Validated(
        gated,
        tuple(standing),
        tuple(archival),
        tuple(verdicts),
        tuple(sorted({*_disputed(gated, verdicts), *_unanswered(gated, deciding, setting)})),
    )


def _row_of(placed: Placed) -> tuple[str, int]:
    version = placed.candidate.version
    return placed.candidate.object_id, version.row.vid if version is not None else 0


def _demoted(placed: Placed) -> bool:
    version = placed.candidate.version
    return version is not None and version.demoted and not placed.candidate.via & Via.PINNED


def _verdict(placed: Placed, reason: Reason, detail: str) -> Verdict:
    return Verdict(Stage.VALIDATE, placed.candidate.object_id, reason, detail)


def _slot_of(placed: Placed, version: Version, setting: Setting) -> tuple[str, ...] | None:
    """Return what competes as one slot across scopes; None for text without a slot."""
    slot = version.details.slot
    if slot is None or placed.subject is None:
        return None
    definition = setting.vocabulary.slots.get(slot)
    if definition is not None and definition.many:
        return placed.subject, slot, version.row.claim.value_key
    return placed.subject, slot


def _decides(version: Version, setting: Setting) -> bool:
    row = version.row
    return row.look.head and _known(row, setting) and setting.point.valid_us in row.interval


def _known(row: Row, setting: Setting) -> bool:
    return row.tx_start <= setting.point.tx_us < row.tx_end


def _fault(version: Version, setting: Setting) -> tuple[Reason, str] | None:
    """Return why a row by itself may not enter, None when it may."""
    row, valid = version.row, setting.point.valid_us
    if version.erased or version.content is None:
        return Reason.ERASED, ""
    if row.look.status is _CLEAN and _known(row, setting) and valid in row.interval:
        return _unfit(version, setting)
    if row.look.status is Status.QUARANTINED:
        return _held(row.look.reason), row.look.reason
    if not _known(row, setting):
        return Reason.SUPERSEDED, row.look.reason
    if row.look.status is Status.OVERRIDDEN:
        denied = row.look.reason == "denied"
        return (Reason.DENIED_VALUE if denied else Reason.OVERRIDDEN), row.look.reason
    if row.look.status is Status.DISPUTED:
        tied = row.look.reason == "unresolved_tie" and valid in row.interval
        if tied:
            return Reason.CONFLICTING_CLAIM_UNRESOLVED, row.look.reason
        if row.look.reason != "unresolved_tie":
            return Reason.DISPUTED_LOWER_TRUST, row.look.reason
    if valid < row.interval.start_us:
        return Reason.NOT_YET_VALID, iso(row.interval.start_us) or ""
    return Reason.EXPIRED_VALID_TIME, iso(row.interval.end_us) or ""


def _history(placed: Placed) -> tuple[Reason, str] | None:
    """Return why a passage whose claims have all ended is no evidence, unless it is pinned."""
    via = placed.candidate.via
    ended = via & _OUTDATED and not via & _PINNED
    return (Reason.SUPERSEDED, "claims_ended") if ended else None


def _unfit(version: Version, setting: Setting) -> tuple[Reason, str] | None:
    """Return why a row that holds at the instant may not enter all the same."""
    claim = version.row.claim
    if claim.op is _DENY:
        return Reason.DENIED_VALUE, "denial"
    if claim.says_nothing and version.details.slot is not None:
        return Reason.RETIRED, "no_value"
    if version.stale:
        return Reason.STALE_DERIVATION, ""
    if version.confirm_due:
        return Reason.AWAITING_CONFIRMATION, ""
    rule = version.details.decay_rule
    if rule is not None:
        anchor = claim.tx if version.last_confirmed_us is None else version.last_confirmed_us
        age = setting.point.valid_us - anchor
        fading = setting.policy.decay.fading(version.details.object_type)
        if rule.due(age, fading):
            left = f"{round(1000 * rule.strength(age, fading))} of 1000"
            return Reason.DECAYED_BELOW_THRESHOLD, left
    return None


def _held(reason: str) -> Reason:
    return Reason.INJECTION_SUSPECTED if reason == "injection_suspected" else Reason.POLICY_HOLD


def _compete(
    heads: list[Placed], hidden: frozenset[int], setting: Setting
) -> tuple[list[Placed], list[Verdict]]:
    """Decide one slot across scopes: return who stands and verdicts on the rest."""
    if len(heads) == 1:
        fault = _fault(_version(heads[0]), setting)
        return (heads, []) if fault is None else ([], [_verdict(heads[0], *fault)])
    ranked = sorted(
        ((_rank(placed), placed) for placed in heads),
        key=lambda pair: (pair[0], pair[1].candidate.object_id, _version(pair[1]).row.vid),
    )
    best = ranked[0][0]
    top = [placed for rank, placed in ranked if rank == best]
    split = len({_version(placed).row.claim.value_key for placed in top}) > 1
    unseen = any(id(placed) in hidden for placed in top)
    verdicts: list[Verdict] = []
    won: list[Placed] = []
    beaten: list[Placed] = []
    for rank, placed in ranked:
        if id(placed) in hidden:
            continue
        fault = _fault(_version(placed), setting)
        if fault is None and rank == best and split:
            fault = Reason.CONFLICTING_CLAIM_UNRESOLVED, "unresolved_tie"
        if fault is None and rank == best and not unseen:
            won.append(placed)
            continue
        if fault is None:
            beaten.append(placed)
        verdicts.append(_verdict(placed, *(fault or _beaten(placed, won, rank[0] > best[0]))))
    return [_standing_in(placed, heads, beaten) for placed in won], verdicts


def _standing_in(placed: Placed, heads: list[Placed], beaten: list[Placed]) -> Placed:
    """Return a winner as what the losers would have been: it is the answer in their stead.

    It stands without a query where a loser would have, and is found by what finds a clean one.
    """
    stands = any(head.candidate.via & Via.STANDING for head in heads)
    via = placed.candidate.via | (Via.STANDING if stands else 0)
    for loser in beaten:
        via |= loser.candidate.via & ~Via.RIVAL
    candidate = placed.candidate._replace(via=via)
    return placed._replace(candidate=candidate, beaten=tuple(p.candidate for p in beaten))


def _beaten(placed: Placed, won: list[Placed], by_level: bool) -> tuple[Reason, str]:
    """Return why a head that is clean in its own scope does not stand."""
    value = _version(placed).row.claim.value_key
    if won and _version(won[0]).row.claim.value_key == value:
        return Reason.DUPLICATE_OF, won[0].candidate.object_id
    return Reason.OVERRIDDEN, "lower_authority" if by_level else "other_scope"


def _version(placed: Placed) -> Version:
    assert placed.candidate.version is not None  # only stored rows compete
    return placed.candidate.version


def _rank(placed: Placed) -> tuple[int, int, int]:
    """Return the strength of a head across scopes, the smallest first; trust is not compared."""
    version = _version(placed)
    claim = version.row.claim
    return claim.level, -version.details.scope.specificity, -claim.since_us


def _disputed(gated: Gated, verdicts: Iterable[Verdict]) -> Iterator[Gap]:
    """Yield the slots of named entities whose answer is disputed."""
    tied = {v.object_id for v in verdicts if v.reason is Reason.CONFLICTING_CLAIM_UNRESOLVED}
    active = gated.resolved.active
    for placed in gated.placed:
        version = placed.candidate.version
        if version is None or placed.candidate.object_id not in tied:
            continue
        if placed.subject in active and version.details.slot and placed.candidate.via & Via.SLOT:
            yield Gap(GapCode.DISPUTED_VALUE, placed.subject or "", version.details.slot)


def _unanswered(
    gated: Gated, deciding: Iterable[tuple[str, ...]], setting: Setting
) -> Iterator[Gap]:
    """Yield the slots that the request asks for by name and nobody stated of a named entity.

    Where rows were withheld nothing is said: what may not be seen is not unknown.
    """
    resolved = gated.resolved
    snapshot, held = resolved.snapshot, {key[:2] for key in deciding}
    if not resolved.active or gated.withheld or dict(snapshot.withheld).get("slot"):
        return
    asked = question(setting)
    for name, slot in sorted(setting.vocabulary.slots.items()):
        words = terms_of(name.replace("_", " "))
        if not words or not words <= asked:
            continue
        for entity in sorted(resolved.active):
            known = snapshot.known.entities.get(entity)
            fits = known and known.type in (slot.subject_types or (known.type,))
            if fits and (entity, name) not in held:
                yield Gap(GapCode.NO_VALUE, entity, name)
