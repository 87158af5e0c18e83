"""What a statement answered: entries of claims, joined with what the claims say.

A read of many rows asks for its entries first, and then only for those claims that no earlier
read of this process has decoded: one round trip, or two. The entry decides: where it is not seen,
nothing that a claim says is asked for or taken from what was kept, and what it calls erased is
not looked for among what was not. A claim that was erased, or hidden from the caller, between the
two round trips is shown as the second one met it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ...schema.claim import Version
from ...schema.errors import NotFound
from ...schema.principal import Sight
from . import codec
from .calls import BodyKey, Calls, key_of
from .codec import ClaimBody, ClaimEntry, ClaimMarks
from .cypher import candidates

_PART: Final = 500
"""Claims of one record of the second trip."""

Records = Sequence[Mapping[str, Any]]


class ListedClaim(NamedTuple):
    """A claim of an answer."""

    entry: ClaimEntry
    body: ClaimBody | None
    """None where neither the caller nor its scopes reach the claim: it is only counted."""
    marks: ClaimMarks

    @property
    def visible(self) -> bool:
        """Whether the caller may see it, by each round trip that has met it."""
        return self.entry.seen and self.body is not None and self.body.visible

    def versions(self, tx_us: int) -> Iterator[Version]:
        """Its versions as known at a tx; none of one that is only counted."""
        if self.body is None:
            return iter(())
        return codec.versions(self.entry, self.body, self.marks, tx_us)


class ReadAnswer(NamedTuple):
    """The answer to one question."""

    place: int
    claims: tuple[ListedClaim, ...]
    note: Any


def answers_of(calls: Calls, records: Records, sight: Sight) -> tuple[ReadAnswer, ...]:
    """The answers of a statement, with what their claims say."""
    entries_of = [list(map(ClaimEntry._make, record["claims"])) for record in records]
    scopes = frozenset(sight.scopes)
    bodies: dict[BodyKey, ClaimBody] = {}
    missing: dict[BodyKey, int] = {}

    lacked = False
    for record, entries in zip(records, entries_of, strict=True):
        if record["lines"]:
            lacked |= _learn(calls, record["lines"], entries, bodies)
        for entry in entries:
            if entry.seen or entry.scope_id in scopes:
                _recall(calls, entry, bodies, missing)

    # A later answer of the same statement may have brought what an earlier one lacks.
    lacking = [(key, tx) for key, tx in missing.items() if key not in bodies]
    _fetch(calls, lacking, sight, bodies)
    calls.claims.note(lacked=lacked or bool(lacking))

    answers: list[ReadAnswer] = []
    for record, entries in zip(records, entries_of, strict=True):
        marks_of = codec.claim_marks(record["marks"]) if record["marks"] else {}
        claims: list[ListedClaim] = []
        for entry in entries:
            claim_marks = marks_of.get(entry.object_id, codec.NO_MARKS)
            claims.append(ListedClaim(entry, bodies.get(key_of(entry)), claim_marks))
        answers.append(ReadAnswer(record["place"], tuple(claims), record["note"]))
    return tuple(answers)


def _learn(
    calls: Calls,
    lines: Sequence[Sequence[Any]],
    entries: Iterable[ClaimEntry],
    bodies: dict[BodyKey, ClaimBody],
) -> bool:
    """Take what an answer says of its claims itself, and tell whether some of it was news."""
    lacked = False
    entries_by_id = {entry.object_id: entry for entry in entries}
    for line in lines:
        entry = entries_by_id[line[0]]
        key = key_of(entry)
        body = calls.claims.get(key, entry.tx)
        if body is None:
            body = codec.body(line)
            calls.claims.put(key, body)
            lacked = True
        bodies[key] = body

    return lacked


def _recall(
    calls: Calls,
    entry: ClaimEntry,
    bodies: dict[BodyKey, ClaimBody],
    missing: dict[BodyKey, int],
) -> None:
    """Take a claim that was decoded before, or note the stamp of the one that is missing."""
    key = key_of(entry)
    if key in bodies:
        return

    body = calls.claims.get(key, entry.tx)
    if body is None:
        missing[key] = entry.tx
    else:
        bodies[key] = body


def _fetch(
    calls: Calls,
    lacking: Sequence[tuple[BodyKey, int]],
    sight: Sight,
    bodies: dict[BodyKey, ClaimBody],
) -> None:
    """Ask for what claims say, in one round trip.

    Raises:
        NotFound: `unknown_tenant` when the tenant was removed since they were listed.
    """
    if not lacking:
        return

    # The number comes back with the line: a server answers in whatever order it likes.
    asks = [[number, key[0], key[1]] for number, (key, _) in enumerate(lacking)]
    parts = [asks[start : start + _PART] for start in range(0, len(asks), _PART)]
    records = calls.rows(
        candidates.CLAIMS,
        parts=parts,
        scopes=list(sight.scopes),
        tags=list(sight.tags),
        clearance=sight.clearance,
    )
    for record in records:
        lines: list[tuple[int, list[Any]]] = record["lines"]
        for number, line in lines:
            key, tx = lacking[number]
            body = codec.body(line)
            if body.tx == tx:
                bodies[key] = body
            # Under what it is now: a claim may have been erased or hidden since it was listed.
            calls.claims.put((key[0], body.visible, body.erased), body)

    if any(key not in bodies for key, _ in lacking):
        raise NotFound("the tenant was removed while it was read", code="unknown_tenant")
