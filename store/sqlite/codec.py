"""Records to the lines of the tables and back; no decision is made here.

Times are integers, flags 0 or 1, lists of texts JSON. A claim that the caller may not see comes
without its content. A closing that the reader's tx cannot know reads as open.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from json.encoder import encode_basestring
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypeVar

from ...resolution.known import Restriction, Teacher
from ...resolution.names import NameRow
from ...resolution.register import taught_level
from ...schema.claim import (
    EMPTY_CONTENT,
    Assertion,
    Claim,
    Content,
    Details,
    Look,
    Permissions,
    Row,
    is_turn,
)
from ...schema.interval import Interval
from ...schema.vocabulary import Status
from ..port import tables
from ..port.claim_columns import (
    CLAIM_COLUMNS,
    PERMISSION_COLUMNS,
    SECRET_COLUMNS,
    Column,
    ColumnForm,
    columns_of,
    decoder,
    encoder,
    names_of,
)
from ..port.tables import Decoder, Lists, RecordTable, line_decoder, line_encoder

Line = tuple[Any, ...]
T = TypeVar("T")
_FIRST: Final = itemgetter(0)
"""A row as `sqlite3` returns it."""

_FEW: Final = 4
"""Members of a list that is worth keeping as text."""

# Made once: `json.dumps` with options of its own makes an encoder a call, a third of a read.
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class Body(NamedTuple):
    """What never changes of a claim, until it is erased."""

    claim: Claim
    details: Details
    content: Content | None
    """None when it was erased, or may not be seen."""
    erased: bool
    quarantine: str
    signature: str
    turn: int
    """Its number among the turns of its scope; 0 for no turn."""


_SCOPE_SIGN: Final = "\ue000"


def list_json(items: Iterable[object]) -> str:
    """JSON of a list, to bind or to store."""
    members = list(items)
    try:
        # Nearly every list is of texts, and each encoder that is asked makes another one first:
        # with a dozen lists a read that is a twentieth of it.
        return f"[{','.join(map(encode_basestring, members))}]"  # type: ignore[arg-type]
    except TypeError:
        return _encode(members)


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """A stored list of texts."""
    return tuple(json.loads(text))


@lru_cache(maxsize=4096)
def scope_word(scope_id: str) -> str:
    r"""The word that marks the texts of a scope in an index.

    It begins with a sign for private use, which no term holds: nobody can ask for it in words.

    >>> scope_word("tenant")
    '\ue00074656e616e74'
    """
    return _SCOPE_SIGN + scope_id.encode().hex()


@lru_cache(maxsize=256)
def look(status: str, reason: str, head: int) -> Look:
    """How a row looks."""
    return Look(Status(status), reason, bool(head))


def _as_text(form: ColumnForm) -> ColumnForm:
    """The form of a list that is kept as JSON."""
    if not form.listed or form.encode is None or form.decode is None:
        return form
    encode, decode = form.encode, form.decode

    # Most claims share their few short lists, and a look-up costs a tenth of an encoder's call.
    @lru_cache(maxsize=1024)
    def short_text(members: tuple[str, ...]) -> str:
        return _encode(encode(members))

    def to_text(members: tuple[str, ...]) -> str:
        return short_text(members) if len(members) <= _FEW else _encode(encode(members))

    @lru_cache(maxsize=4096)
    def of_text(text: str) -> Any:
        return decode(json.loads(text))

    return ColumnForm(to_text, of_text)


def _in_file(columns: Sequence[Column]) -> tuple[Column, ...]:
    return tuple(replace(column, form=_as_text(column.form)) for column in columns)


_OPEN: Final = _in_file(CLAIM_COLUMNS)
_SECRET: Final = _in_file(SECRET_COLUMNS)
_PERMISSION: Final = _in_file(PERMISSION_COLUMNS)
_COLUMNS: Final = (*_OPEN, *_SECRET)
IN_CLAIM: Final = tuple(column for column in _COLUMNS if column.table == "c")
IN_CONTENT: Final = tuple(column for column in _COLUMNS if column.table == "d")

VEILED_LAYOUT: Final = ("claim_id", *names_of(_OPEN), "signature", "erased", "turn")
LAYOUT: Final = (*VEILED_LAYOUT, *names_of(_SECRET))
_SIGNATURE: Final = LAYOUT.index("signature")
_ERASED: Final = LAYOUT.index("erased")
_TURN: Final = LAYOUT.index("turn")
_QUARANTINE: Final = LAYOUT.index("quarantine")

_claim: Final = decoder(Claim, "claim", _COLUMNS, LAYOUT)
_details: Final = decoder(Details, "details", _COLUMNS, LAYOUT)
_content: Final = decoder(Content, "content", _COLUMNS, LAYOUT)
_veiled_claim: Final = decoder(Claim, "claim", _COLUMNS, VEILED_LAYOUT)
_veiled_details: Final = decoder(Details, "details", _COLUMNS, VEILED_LAYOUT)
_permissions: Final = decoder(Permissions, "permissions", _PERMISSION, names_of(PERMISSION_COLUMNS))
_ROW_CLAIM: Final = names_of(columns_of("claim"))
_row_claim: Final = decoder(Claim, "claim", _COLUMNS, _ROW_CLAIM)
_ROW_START: Final = len(_ROW_CLAIM)
ROW_END: Final = _ROW_START + 9
"""Where the columns of a row end; a read may let others follow."""
_claim_values: Final = encoder(IN_CLAIM)
_content_values: Final = encoder(IN_CONTENT)
_permission_values: Final = encoder(_PERMISSION, "permissions")


def permit_line(scope_id: str, permissions: Permissions) -> Line:
    """A permission set as it is stored: scope, class, allowed and denied roles."""
    return scope_id, *_permission_values(permissions)


def permissions(line: Line) -> Permissions:
    """A stored permission set, from its class and its roles."""
    return _permissions(line)


def body(line: Line) -> Body:
    """A claim from its line; one without its secret columns is veiled."""
    erased, is_veiled = bool(line[_ERASED]), len(line) == len(VEILED_LAYOUT)
    return Body(
        _veiled_claim(line) if is_veiled else _claim(line),
        _veiled_details(line) if is_veiled else _details(line),
        None if erased or is_veiled else _content(line),
        erased,
        line[_QUARANTINE],
        line[_SIGNATURE] or "",
        line[_TURN] or 0,
    )


def row(line: Line) -> Row:
    """A row as the planner knows it, with its claim: the claim's columns come first."""
    vid, start_us, end_us, tx_start, tx_end, status, reason, head, continues = line[
        _ROW_START:ROW_END
    ]
    return Row(
        vid,
        _row_claim(line),
        Interval(start_us, end_us),
        look(status, reason, head),
        tx_start,
        tx_end,
        continues,
    )


def first_column(lines: Iterable[Line]) -> list[Any]:
    """The first value of each line: what a statement of one column answers."""
    return list(map(_FIRST, lines))


def assertion(line: Line) -> Assertion:
    """A claim with today's permissions, which come after its other columns."""
    whole_claim = body(line)
    return Assertion(
        claim=whole_claim.claim,
        details=whole_claim.details,
        content=whole_claim.content or EMPTY_CONTENT,
        permissions=_permissions(line[len(LAYOUT) :]),
        quarantine=whole_claim.quarantine,
        erased=whole_claim.erased,
    )


def claim_line(number: int, assertion: Assertion) -> Line:
    """The columns of a claim, then its slot's key, then twice the scope of a turn."""
    scope_id = assertion.details.scope.scope_id if is_turn(assertion.details) else None
    return number, *_claim_values(assertion), assertion.claim.slot_key, scope_id, scope_id


def content_line(number: int, assertion: Assertion) -> Line:
    """The columns of a claim's content."""
    return number, *_content_values(assertion)


class OwnSlots(NamedTuple):
    """The slots an ask names, those of other scopes apart."""

    own_slots: list[tuple[int, bool]]
    foreign: list[int]


def slots_by_owner(slots: Iterable[Line]) -> OwnSlots:
    """Slots as (id, many, is the caller's), those of others apart."""
    own_slots: list[tuple[int, bool]] = []
    foreign: list[int] = []
    for slot_id, is_many, is_own in slots:
        if is_own:
            own_slots.append((slot_id, bool(is_many)))
        else:
            foreign.append(slot_id)
    return OwnSlots(own_slots, foreign)


_OF_RECORD: Final = "system_of_record"
_OPEN_TO_ALL: Final = frozenset({(0, '["*"]', "[]"), (None, None, None)})
"""Permissions as most claims have them, and those of a name that no claim taught."""


def name_row(line: Line) -> NameRow:
    """A name, with the level and the permissions of the claim that taught it."""
    return NameRow(
        entity_id=line[0],
        surface=line[1],
        scope_id=line[2],
        tx_start=line[3],
        object_id=line[4],
        level=taught_level(line[5], line[6]),
        is_live=bool(line[7]),
        permissions=Permissions() if line[8] is None else permissions(line[8:11]),
        is_first=bool(line[11]),
    )


def teacher(line: Line) -> Teacher:
    """Return who stated an identifier; its columns come first."""
    actor, directs, source_kind = line[7:10]
    return Teacher(actor, bool(directs) or source_kind == _OF_RECORD)


def restriction(line: Line) -> Restriction | None:
    """Return who may know what a claim has taught, None where its whole scope may."""
    permissions_line = line[10:13]
    if permissions_line in _OPEN_TO_ALL:
        return None
    return Restriction(permissions(permissions_line), line[7])


_LISTS: Final = Lists(list_json, words)


def _by_table(make: Callable[[RecordTable[Any], Lists], T]) -> dict[str, T]:
    return {table.name: make(table, _LISTS) for table in tables.EXPORT_TABLES.values()}


DECODERS: Final[Mapping[str, Decoder[Any]]] = _by_table(line_decoder)
"""The decoders of records by the names of their tables."""
ENCODERS: Final[Mapping[str, Callable[[Any], Line]]] = _by_table(line_encoder)
"""The encoders of records by the names of their tables."""
edge: Final = line_decoder(tables.EDGES, _LISTS)
event: Final = line_decoder(tables.EVENTS, _LISTS)
entity: Final = line_decoder(tables.ENTITIES, _LISTS)
alias: Final = line_decoder(tables.ALIASES, _LISTS)
identifier: Final = line_decoder(tables.IDENTIFIERS, _LISTS)
judgement: Final = line_decoder(tables.JUDGEMENTS, _LISTS)
review: Final = line_decoder(tables.REVIEWS, _LISTS)
action: Final = line_decoder(tables.ACTIONS, _LISTS)
