"""The doctor of the server store: one sentence for each invariant that does not hold.

Statements look for what must not be there; times are checked by values, as in the embedded
store: over all rows of a slot, on both axes, at most one clean value decides an instant, and the
rows of a claim never overlap. The audit chain is recomputed from its first event, and what is
derived (labels, copies on relationships, canonical ids, counts) is compared with what it derives
from. It reads and changes nothing; under concurrent writes run it again before you believe it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Final, LiteralString

from ...resolution import clusters
from ...schema.interval import INF_US, MIN_US
from ..port.receipts import (
    GENESIS,
    chain_digest,
    name_problems,
    unattributed_problems,
    value_problems,
)
from ..port.sessions import chain_faults
from ..timeline.overlaps import overlapping
from . import codec, register_codec, schema, sessions
from .calls import Reads
from .cypher import checks as cypher
from .cypher import core as statements
from .cypher import register

_EXAMPLES: Final = 5
"""Examples named in a sentence."""


def violations(calls: Reads) -> Iterator[str]:
    """Yield one sentence for each broken invariant."""
    yield from schema.findings(calls)

    for sentence, text in cypher.MUST_BE_EMPTY.items():
        records = calls.rows(text, inf=INF_US, min=MIN_US, shown=_EXAMPLES)
        if records:
            yield f"{sentence}: {', '.join(str(record['bad']) for record in records)}"

    yield from _overlaps(calls, cypher.CLEAN_HEADS, "two clean heads decide one point of slot")
    yield from _overlaps(calls, cypher.ROWS_OF_CLAIMS, "two rows overlap on both axes, of claim")
    yield from _log(calls)
    key = bytes(calls.rows(statements.KEYS)[0]["secret"])
    yield from chain_faults(key, sessions.all_events(calls))
    yield from _identity(calls)
    yield from value_problems(record.values() for record in calls.stream(cypher.STORED_VALUES))
    yield from name_problems(record.values() for record in calls.stream(cypher.STORED_NAMES))
    (standing,) = calls.rows(cypher.UNATTRIBUTED_ROWS)
    yield from unattributed_problems(int(standing["claims"]))


def _overlaps(calls: Reads, text: LiteralString, sentence: str) -> Iterator[str]:
    # The statement orders by key, so a group is whole and only one is held at a time.
    lines = (record.values() for record in calls.stream(text))
    for key, spans in groupby(lines, key=lambda line: str(line[0])):
        if overlapping((line[1], line[2], line[3], line[4]) for line in spans):
            yield f"{sentence} {key}"


def _log(calls: Reads) -> Iterator[str]:
    # After the first gap or break nothing later can be told, so the reading ends there.
    digest, count, last = GENESIS, 0, None
    for record in calls.stream(register.ALL_EVENTS):
        properties = record["record"]
        event, count = codec.event(properties), count + 1
        digest = chain_digest(digest, event)
        if event.seq != count:
            yield f"the log has a gap before event {event.seq}"
            return
        if digest != bytes(properties["digest"]):
            yield f"the audit chain breaks at event {event.seq}"
            return
        if last is not None and event.tx <= last:
            yield f"the stamp of event {event.seq} does not rise"
        last = event.tx

    (clock,) = calls.rows(statements.CLOCK)
    seq, last_us = clock["seq"], clock["last_us"]
    if seq != count or (last is not None and last_us != last):
        yield f"the counters say {seq} events until {last_us}, the log {count} until {last}"
    if bytes(clock["digest"] or GENESIS) != digest:
        yield "the clock's digest is not the last event's"


def _identity(calls: Reads) -> Iterator[str]:
    records = calls.stream(cypher.OPEN_JUDGEMENTS, inf=INF_US)
    judgements = [register_codec.judgement(record["record"]) for record in records]
    by_judgement = set(map(frozenset, clusters.components(judgements)))

    members_of: dict[str, set[str]] = {}
    for record in calls.stream(register.ALL_CANONICAL, inf=INF_US):
        pair = record["record"]
        top = pair["canonical_id"]
        # The relationships are a star; the judgements are any graph: their components are compared.
        members_of.setdefault(top, {top}).add(pair["raw_id"])

    by_canonical_id = set(map(frozenset, members_of.values()))

    for members in sorted(map(sorted, by_judgement ^ by_canonical_id)):
        yield f"canonical ids disagree with the judgements about {', '.join(members)}"
