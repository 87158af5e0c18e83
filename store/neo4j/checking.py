"""The doctor of the server store: one sentence for each invariant that does not hold.

Statements look for what must not be there; times are checked by values, as in the embedded
store: over all rows of a slot, on both axes, at most one clean value decides an instant, and the
rows of a claim never overlap. The audit chain is recomputed from its first event, and what is
derived (labels, copies on relationships, canonical ids, counts) is compared with what it derives
from. It reads and changes nothing; under concurrent writes run it again before you believe it.

Sources: neo4j 9 (invariants); settled 5 and 6.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final, LiteralString

from ...resolution import clusters
from ...schema.interval import INF_US, MIN_US
from ..port.audit import GENESIS, chained, unattributed
from ..timeline.overlaps import overlapping
from . import codec, register_codec, schema
from .calls import Reads
from .cypher import checks as cypher
from .cypher import core as statements
from .cypher import register

_SHOWN: Final = 5
"""Examples named in a sentence."""


def broken(calls: Reads) -> Iterator[str]:
    """Yield one sentence for each broken invariant."""
    yield from schema.findings(calls)
    for sentence, text in cypher.MUST_BE_EMPTY.items():
        found = calls.rows(text, inf=INF_US, min=MIN_US, shown=_SHOWN)
        if found:
            yield f"{sentence}: {', '.join(str(record['bad']) for record in found)}"
    yield from _overlaps(calls, cypher.CLEAN_HEADS, "two clean heads decide one point of slot")
    yield from _overlaps(calls, cypher.ROWS_OF_CLAIMS, "two rows overlap on both axes, of claim")
    yield from _log(calls)
    yield from _identity(calls)
    (standing,) = calls.rows(cypher.UNATTRIBUTED)
    yield from unattributed(int(standing["claims"]))


def _overlaps(calls: Reads, text: LiteralString, what: str) -> Iterator[str]:
    lines = (record.values() for record in calls.stream(text))
    for key, spans in groupby(lines, key=lambda line: str(line[0])):
        if overlapping((line[1], line[2], line[3], line[4]) for line in spans):
            yield f"{what} {key}"


def _log(calls: Reads) -> Iterator[str]:
    digest, expected, last = GENESIS, 0, None
    for record in calls.stream(register.ALL_EVENTS):
        held = record["record"]
        event, expected = codec.event(held), expected + 1
        digest = chained(digest, event)
        if event.seq != expected:
            yield f"the log has a gap before event {event.seq}"
            return
        if digest != bytes(held["digest"]):
            yield f"the audit chain breaks at event {event.seq}"
            return
        if last is not None and event.tx <= last:
            yield f"the stamp of event {event.seq} does not rise"
        last = event.tx
    (clock,) = calls.rows(statements.CLOCK)
    seq, last_us = clock["seq"], clock["last_us"]
    if seq != expected or (last is not None and last_us != last):
        yield f"the counters say {seq} events until {last_us}, the log {expected} until {last}"
    if bytes(clock["digest"] or GENESIS) != digest:
        yield "the clock's digest is not the last event's"


def _identity(calls: Reads) -> Iterator[str]:
    held = calls.stream(cypher.OPEN_JUDGEMENTS, inf=INF_US)
    judged = [register_codec.judgement(record["record"]) for record in held]
    expected = {frozenset(members) for members in clusters.components(judged)}
    projected: dict[str, set[str]] = {}
    for record in calls.stream(register.ALL_CANONICAL, inf=INF_US):
        pair = record["record"]
        top = pair["canonical_id"]
        projected.setdefault(top, {top}).add(pair["raw_id"])
    stored = {frozenset(members) for members in projected.values()}
    for members in sorted(map(sorted, expected ^ stored)):
        yield f"canonical ids disagree with the judgements about {', '.join(members)}"
