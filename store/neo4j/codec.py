"""Records to properties of nodes and back: no decision is made here.

Times are the integers of `Interval`; those of a fact are native in the graph, its open end absent.
Lists of text are lists; what is absent has no property.
A claim's node holds the whole assertion with today's permissions; a version's node holds only
what differs between the pieces of a claim. A claim that the caller may not see comes without
its content, so it is read veiled. A closing that the reader's tx cannot know reads as open.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ...resolution.known import Restriction, Teacher
from ...resolution.names import NameRow
from ...resolution.register import taught_level
from ...schema.claim import (
    EMPTY_CONTENT,
    EVERYONE,
    Assertion,
    Claim,
    Content,
    Details,
    Edge,
    Look,
    Permissions,
    Row,
    Version,
    is_turn,
)
from ...schema.entity import Alias, Entity, Identifier, Judgement, Review
from ...schema.interval import INF_US, Interval
from ...schema.values import canonical_json
from ...schema.vocabulary import Authority, ObjectType, Op, Status
from ..port import tables
from ..port.claim_columns import (
    CLAIM_COLUMNS,
    PERMISSION_COLUMNS,
    SECRET_COLUMNS,
    decoder,
    encoder,
    names_of,
)
from ..port.records import PlacedVector
from ..port.store import SlotRecord
from ..port.tables import Lists, ReadProperties, property_decoder, property_encoder
from .cypher.template import CORE_NAMES, LINE_NAMES

Properties = dict[str, Any]
"""The properties of a node or a relationship, or a row of a statement's list."""

HEAD: Final = 0
HIDDEN_DENIAL: Final = 1
HIDDEN_HEAD: Final = 2
"""The values of `open` on an open version; closed and quarantined ones have none."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

_STANDING: Final = {
    ObjectType.POLICY_RULE,
    ObjectType.TOOL_SCHEMA,
    ObjectType.PREFERENCE,
    ObjectType.ACTIONABLE_CONSTRAINT,
    ObjectType.PROJECT_DECISION,
}


def tenant_token(tenant: str) -> str:
    """The word that marks a tenant's texts in an index."""
    return _token("t", tenant)


def scope_token(tenant: str, scope_id: str) -> str:
    """The word that marks the texts of a tenant's scope in an index."""
    # No scope holds a line break, so no other pair makes the same text.
    return _token("s", f"{tenant}\n{scope_id}")


def place_words(tenant: str, scope_id: str) -> str:
    """The words that say in an index where a text stands."""
    return f"{tenant_token(tenant)} {scope_token(tenant, scope_id)}"


def holds_all(tenant: str, words: Iterable[str]) -> str:
    """The query of an index for a tenant's texts that hold all of these terms."""
    clauses = [f'+terms:"{word}"' for word in words]
    return " ".join([f'+tenant_tok:"{tenant_token(tenant)}"', *clauses])


@lru_cache(maxsize=4096)
def _token(kind: str, name: str) -> str:
    return kind + hashlib.sha256(name.encode()).hexdigest()[:24]


@lru_cache(maxsize=256)
def _look(status: str, reason: str, head: bool) -> Look:
    return Look(Status(status), reason, head)


_EVERY_COLUMN: Final = (*CLAIM_COLUMNS, *SECRET_COLUMNS)
_NODE: Final = tuple(column for column in _EVERY_COLUMN if column.table != "d")
_CONTENT: Final = tuple(column for column in _EVERY_COLUMN if column.table == "d")
_NODE_NAMES: Final = names_of(_NODE)
_CONTENT_NAMES: Final = names_of(_CONTENT)
_COPIES: Final = tuple((column.name, column.same_as) for column in _EVERY_COLUMN if column.same_as)
_OFTEN_EMPTY: Final = (
    "applicable_task_types",
    "sensitivity",
    "derived_from",
    "planned",
)
"""What decodes to the same where it is absent, so that null is an empty list to a statement."""
_PERMISSION_NAMES: Final = names_of(PERMISSION_COLUMNS)
_HIDDEN_NAMES: Final = LINE_NAMES[: -len(SECRET_COLUMNS)]
_PIECE: Final = (
    *("vid", "valid_from", "valid_until", "tx_start", "tx_end"),
    *("status", "reason", "head", "continues"),
)
_SIGNATURE: Final = LINE_NAMES.index("signature")
_ERASED: Final = LINE_NAMES.index("erased")
_TURN: Final = LINE_NAMES.index("turn")
_QUARANTINE: Final = LINE_NAMES.index("quarantine")
_VALUE: Final = LINE_NAMES.index("value_json")

_node_values: Final = encoder(_NODE)
_said_values: Final = encoder(_CONTENT)
_permission_values: Final = encoder(PERMISSION_COLUMNS, "permissions")

_claim: Final = decoder(Claim, "claim", _EVERY_COLUMN, LINE_NAMES)
_details: Final = decoder(Details, "details", _EVERY_COLUMN, LINE_NAMES)
_content: Final = decoder(Content, "content", _EVERY_COLUMN, LINE_NAMES)
_hidden_claim: Final = decoder(Claim, "claim", _EVERY_COLUMN, _HIDDEN_NAMES)
_hidden_details: Final = decoder(Details, "details", _EVERY_COLUMN, _HIDDEN_NAMES)
_core_claim: Final = decoder(Claim, "claim", _EVERY_COLUMN, CORE_NAMES)
_own_permissions: Final = decoder(Permissions, "permissions", PERMISSION_COLUMNS, _PERMISSION_NAMES)

(
    _put_vid,
    _put_claim,
    _put_interval,
    _put_look,
    _put_tx_start,
    _put_tx_end,
    _put_continues,
) = (getattr(Row, field.name).__set__ for field in fields(Row))

# --- writing


def instant(instant_us: int) -> str:
    """An instant as a statement is sent it: the driver packs a datetime in a tenth of a ms."""
    return (_EPOCH + timedelta(microseconds=instant_us)).isoformat()


def time_text(instant_us: int) -> str | None:
    """An instant that a fact keeps, None for an open end."""
    return None if instant_us == INF_US else instant(instant_us)


def claim_row(assertion: Assertion, *, tenant: str, live: bool) -> Properties:
    """What creates a claim; `live` tells whether a head of it is open."""
    details = assertion.details
    props = dict(zip(_NODE_NAMES, _node_values(assertion), strict=True))
    props |= permit(assertion.permissions)
    # An import may bring what was erased elsewhere: it has no content, and no index holds it.
    if assertion.erased:
        props["erased"] = True
    else:
        props |= zip(_CONTENT_NAMES, _said_values(assertion), strict=True)
        props["tenant_tok"] = place_words(tenant, details.scope.scope_id)
    _leave_out(props)

    return {
        "object_id": assertion.claim.object_id,
        "slot_key": assertion.claim.slot_key,
        "props": props,
        "recorded_at": time_text(assertion.claim.tx),
        "text": [1] if details.slot is None and details.subject_id else [],
        "live": [1] if live and not assertion.erased else [],
        "held": held_value(assertion.claim.slot_key, assertion.claim.value_key),
        "standing": [1] if details.object_type in _STANDING else [],
        "decaying": [1] if details.decay_rule else [],
        "turn": [1] if is_turn(details) else [],
    }


def held_value(slot_key: str, value_key: str) -> str:
    """What finds the claims of a value in a slot of many."""
    # A digest: an index takes no text as long as a value may be.
    return f"{slot_key} {hashlib.sha256(value_key.encode()).hexdigest()[:32]}"


def _leave_out(props: Properties) -> None:
    """Take away what the columns read in its absence: a server pays for each property."""
    for name in _OFTEN_EMPTY:
        if not props[name]:
            del props[name]

    for name, original in _COPIES:
        if name in props and props[name] == props[original]:
            del props[name]


def permit(permissions: Permissions) -> Properties:
    """Permissions as properties."""
    return dict(zip(_PERMISSION_NAMES, _permission_values(permissions), strict=True))


def version_row(row: Row) -> Properties:
    """What creates a version; slot, scope and entities come from its claim."""
    return {
        "vid": row.vid,
        "object_id": row.claim.object_id,
        "valid_from": time_text(row.interval.start_us),
        "valid_to": time_text(row.interval.end_us),
        "recorded_at": time_text(row.tx_start),
        "replaced_at": time_text(row.tx_end),
        "status": row.look.status.value,
        "reason": row.look.reason or None,
        "head": row.look.head,
        "deny": row.claim.op is Op.DENY,
        "open": openness(row),
        "continues": row.continues,
    }


def openness(row: Row) -> int | None:
    """The value of `open`, None for a closed or quarantined row."""
    if not row.live or row.look.status is Status.QUARANTINED:
        return None
    if row.look.head:
        return HEAD
    return HIDDEN_DENIAL if row.claim.op is Op.DENY else HIDDEN_HEAD


def edge_row(edge: Edge) -> Properties:
    """What creates an edge."""
    return _edge_properties(edge) | {"recorded_at": time_text(edge.tx)}


def slot_row(slot: SlotRecord) -> Properties:
    """What creates a slot; a slot of text has the empty name."""
    return asdict(slot) | {"slot": slot.slot or "", "name": slot.slot or "text"}


# --- reading


def claim(properties: Mapping[str, Any]) -> Claim:
    """A claim as reconciliation sees it; one without content has no value."""
    return _core_claim([properties.get(name) for name in CORE_NAMES])


def permissions(properties: Mapping[str, Any]) -> Permissions:
    """Stored permissions."""
    return _own_permissions([properties[column.name] for column in PERMISSION_COLUMNS])


def assertion(properties: Mapping[str, Any]) -> Assertion:
    """A whole claim with today's permissions."""
    line = [properties.get(name) for name in LINE_NAMES]
    return Assertion(
        claim=_claim(line),
        details=_details(line),
        content=EMPTY_CONTENT if line[_VALUE] is None else _content(line),
        permissions=permissions(properties),
        quarantine=line[_QUARANTINE] or "",
        erased=bool(line[_ERASED]),
    )


def row(properties: Mapping[str, Any], claim: Claim, tx_us: int = INF_US) -> Row:
    """A version row as known at a tx."""
    return _row_of_line([properties.get(name) for name in _PIECE], claim, tx_us)


class ClaimBody(NamedTuple):
    """What a claim says to a caller who sees it, or to one who does not: it never changes."""

    tx: int
    """The stamp of its writing; a claim of another stamp is another one, whatever its id."""
    claim: Claim
    details: Details
    content: Content | None
    visible: bool
    erased: bool
    signature: str
    turn: int


def body(line: Sequence[Any]) -> ClaimBody:
    """A claim from its line; one without its secret columns is veiled."""
    visible = len(line) == len(LINE_NAMES)
    # Not only what is absent differs: the two lines are read by decoders of their own.
    new_claim = _claim(line) if visible else _hidden_claim(line)

    return ClaimBody(
        tx=new_claim.tx,
        claim=new_claim,
        details=_details(line) if visible else _hidden_details(line),
        content=_content(line) if visible and line[_VALUE] is not None else None,
        visible=visible,
        erased=bool(line[_ERASED]),
        signature=line[_SIGNATURE] or "",
        turn=line[_TURN] or 0,
    )


class ClaimEntry(NamedTuple):
    """What a read says of a claim that may change, or that differs by caller."""

    object_id: str
    tx: int
    seen: bool
    """Whether the caller may see it, as the read itself found."""
    erased: bool | None
    scope_id: str
    class_rank: int
    allow: Sequence[str]
    deny: Sequence[str]
    rows: Sequence[Sequence[Any]]


class ClaimMarks(NamedTuple):
    """What was noted of a claim after its writing."""

    last_confirmed_us: int | None = None
    demoted: bool = False
    stale: bool = False
    confirm_due: bool = False


NO_MARKS: Final = ClaimMarks()


def claim_marks(marks: Sequence[Sequence[Any]]) -> dict[str, ClaimMarks]:
    """The marks by object id, of claims that have some; of each kind the newest decides.

    A mark is the claim, then the stamp of a confirmation, or a flag's number, kind and setting.
    """
    confirmations: dict[str, int] = {}
    flags: dict[str, dict[str, tuple[int, bool]]] = {}
    for object_id, confirmed_us, number, kind, is_set in marks:
        if confirmed_us is not None:
            confirmations[object_id] = max(confirmed_us, confirmations.get(object_id, confirmed_us))
        else:
            changes = flags.setdefault(object_id, {})
            changes[kind] = max((number, is_set), changes.get(kind, (number, is_set)))

    return {
        object_id: ClaimMarks(confirmations.get(object_id), *_set_flags(flags.get(object_id, {})))
        for object_id in {*confirmations, *flags}
    }


def _set_flags(changes: Mapping[str, tuple[int, bool]]) -> Iterator[bool]:
    for kind in ("demoted", "stale", "confirm_due"):
        _, is_set = changes.get(kind, (0, False))
        yield is_set


def versions(
    entry: ClaimEntry, known: ClaimBody, marks: ClaimMarks, tx_us: int
) -> Iterator[Version]:
    """Yield the versions of a claim, veiled where the caller may not see them."""
    claim, details, content = known.claim, known.details, known.content
    permissions = _permission_set(entry.class_rank, tuple(entry.allow), tuple(entry.deny))
    visible = entry.seen and known.visible
    confirmed_us, demoted, stale, confirm_due = marks

    for line in entry.rows:
        # By position: names cost half as much again, and a history has hundreds of rows.
        yield Version(
            _row_of_line(line, claim, tx_us),
            details,
            content,
            permissions,
            visible,
            known.erased,
            confirmed_us,
            demoted,
            stale,
            confirm_due,
            known.signature,
            known.turn,
        )


@lru_cache(maxsize=1024)
def _permission_set(class_rank: int, allow: tuple[str, ...], deny: tuple[str, ...]) -> Permissions:
    return _own_permissions([class_rank, allow, deny])


def _row_of_line(line: Sequence[Any], claim: Claim, tx_us: int) -> Row:
    vid, start, until, tx_start, tx_end, status, reason, head, continues = line

    # Past the frozen `__init__`, as a claim is decoded: no field of a row is checked.
    row = Row.__new__(Row)
    _put_vid(row, vid)
    _put_claim(row, claim)
    _put_interval(row, Interval(start, INF_US if until is None else until))
    _put_look(row, _look(status, reason or "", head))
    _put_tx_start(row, tx_start)
    _put_tx_end(row, INF_US if tx_end is None or tx_end > tx_us else tx_end)
    _put_continues(row, continues)
    return row


def slot(properties: Mapping[str, Any], tx_us: int = INF_US) -> SlotRecord:
    """A slot."""
    return _slot({**properties, "slot": properties["slot"] or None}, tx_us)


def placed_vector(record: Mapping[str, Any], encoder_id: str) -> PlacedVector:
    """A vector of an encoder, with the scope of its claim."""
    vec16 = bytes(record["vec16"])
    return PlacedVector(record["object_id"], encoder_id, record["part"], vec16, record["scope_id"])


_OF_RECORD: Final = "system_of_record"


def alias_key(alias: Alias) -> str:
    """The key that only one open alias has."""
    return canonical_json([alias.norm, alias.scope_id, alias.type, alias.ordinal, alias.valid_from])


def closed_key(key: str, entity_id: str, tx_start: int, tx_end: int) -> str:
    """The key of something that is closed."""
    return f"{key}@{tx_end}/{tx_start}/{entity_id}"


def name_row(
    properties: Mapping[str, Any], teacher: Mapping[str, Any] | None, entity: Entity
) -> NameRow:
    """A name of an entity, with the level and the permissions of the claim that taught it."""
    return NameRow(
        entity_id=properties["entity_id"],
        surface=properties["surface"],
        scope_id=properties["scope_id"],
        tx_start=properties["tx_start"],
        object_id=properties["object_id"],
        level=taught_level_of(teacher),
        is_live=teacher is None or bool(teacher["is_live"]),
        permissions=Permissions() if teacher is None else permissions(teacher),
        is_first=properties["surface"] == entity.name,
    )


def taught_level_of(teacher: Mapping[str, Any] | None) -> int:
    """The level of a name by its teacher."""
    if teacher is None:
        return taught_level(None, None)
    return taught_level(teacher["authority_level"], teacher["quarantine"])


def alias_row(alias: Alias) -> Properties:
    """What creates an alias."""
    key = alias_key(alias)
    if alias.tx_end != INF_US:
        key = closed_key(key, alias.entity_id, alias.tx_start, alias.tx_end)
    return {"alias_key": key, "props": asdict(alias)}


def alias_closing(alias: Alias, tx: int) -> Properties:
    """What closes an alias."""
    key = alias_key(alias)
    return {
        "alias_key": key,
        "entity_id": alias.entity_id,
        "tx": tx,
        "closed_key": closed_key(key, alias.entity_id, alias.tx_start, tx),
    }


def identifier_teacher(teacher: Mapping[str, Any]) -> Teacher:
    """Who stated an identifier."""
    vouches = teacher["directs"] or teacher["authority_level"] <= Authority.DEVELOPER
    return Teacher(teacher["actor"], bool(vouches) or teacher["source_kind"] == _OF_RECORD)


def restriction(teacher: Mapping[str, Any] | None) -> Restriction | None:
    """Who may know what a claim has taught, None where its whole scope may."""
    if teacher is None:
        return None
    readers = permissions(teacher)
    return None if readers == EVERYONE else Restriction(readers, teacher["actor"])


def identifier_row(identifier: Identifier) -> Properties:
    """What creates an identifier."""
    teacher = identifier.scope_id, identifier.object_id
    key = canonical_json([identifier.scheme, identifier.value, identifier.entity_id, *teacher])
    if identifier.tx_end != INF_US:
        key = closed_key(key, identifier.entity_id, identifier.tx_start, identifier.tx_end)
    return asdict(identifier) | {"identifier_key": key}


def review_row(review: Review) -> Properties:
    """What creates a version of a review case."""
    candidate_ids = [candidate.entity for candidate in review.candidates]
    return _review_properties(review) | {"candidate_ids": candidate_ids}


def judgement_row(judgement: Judgement) -> Properties:
    """What creates a judgement."""
    return _judgement_properties(judgement) | {"recorded_at": time_text(judgement.tx_start)}


_LISTS: Final = Lists(list, tuple)
edge: Final = property_decoder(tables.EDGES, _LISTS)
_edge_properties: Final = property_encoder(tables.EDGES, _LISTS)
vector_row: Final = property_encoder(tables.VECTORS, _LISTS)
usage_row: Final = property_encoder(tables.USAGE, _LISTS)
mention_row: Final = property_encoder(tables.MENTIONS, _LISTS)
event: Final = property_decoder(tables.EVENTS, _LISTS)
event_row: Final = property_encoder(tables.EVENTS, _LISTS)
entity: Final = property_decoder(tables.ENTITIES, _LISTS)
entity_row: Final = property_encoder(tables.ENTITIES, _LISTS)
alias: Final = property_decoder(tables.ALIASES, _LISTS)
identifier: Final = property_decoder(tables.IDENTIFIERS, _LISTS)
judgement: Final = property_decoder(tables.JUDGEMENTS, _LISTS)
_judgement_properties: Final = property_encoder(tables.JUDGEMENTS, _LISTS)
review: Final = property_decoder(tables.REVIEWS, _LISTS)
_review_properties: Final = property_encoder(tables.REVIEWS, _LISTS)
action: Final = property_decoder(tables.ACTIONS, _LISTS)
action_row: Final = property_encoder(tables.ACTIONS, _LISTS)
receipt_row: Final = property_encoder(tables.RECEIPTS, _LISTS)
_slot: Final = property_decoder(tables.SLOTS, _LISTS)
DECODERS: Final[Mapping[str, ReadProperties[Any]]] = {
    table.name: property_decoder(table, _LISTS) for table in tables.EXPORT_TABLES.values()
} | {tables.SLOTS.name: slot}
"""The decoders of records by the names of their tables."""
