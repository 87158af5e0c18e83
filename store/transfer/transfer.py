"""A tenant as JSON Lines, lossless on both axes: what an export writes and a restore checks.

The first line is a header (format, tenant, counters, and for the privileged the secret
keys), then one record a line in the order of `RecordKind`, then a footer with the counts and
the SHA-256 of all lines before it, so that a truncated or altered file is noticed. An export
streams out of one snapshot. Everything is checked before anybody may read of what `restore`
writes. Ids, stamps, row numbers and times are kept; what is derived is rebuilt.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast, get_args, get_type_hints

from ...resolution.keys import alias_key
from ...schema.claim import Assertion
from ...schema.entity import Alias
from ...schema.errors import InvalidInput, TenureError
from ...schema.interval import MIN_US
from ...schema.limits import check_json, json_of
from ...schema.record_json import from_plain, to_plain
from ...schema.terms import TERMS_VERSION, stemmed_again
from ...schema.values import ENTITY_KEY, NO_VALUE_KEY, canonical_json, fields_of
from ...schema.vocabulary import Authority
from ..port.records import (
    BlockKeys,
    CanonicalId,
)
from ..port.store import (
    Batch,
    Clock,
    Reader,
    RecordKind,
    TxEvent,
)

FORMAT: Final = 2
"""The number of this format; a reader takes older ones and refuses newer ones."""

_ORDER: Final = {kind.value: place for place, kind in enumerate(RecordKind)}
_FIELD: Final = {
    RecordKind.EVENT: "events",
    RecordKind.ENTITY: "entities",
    RecordKind.ALIAS: "aliases",
    RecordKind.IDENTIFIER: "identifiers",
    RecordKind.SLOT: "slots",
    RecordKind.CLAIM: "claims",
    RecordKind.MENTION: "mentions",
    RecordKind.ROW: "rows",
    RecordKind.EDGE: "edges",
    RecordKind.JUDGEMENT: "judgements",
    RecordKind.REVIEW: "reviews",
    RecordKind.ACTION: "actions",
    RecordKind.FLAG: "flags",
    RecordKind.PERMISSION: "permissions",
    RecordKind.TOMBSTONE: "tombstones",
    RecordKind.RECEIPT: "receipts",
    RecordKind.DEFINITION: "definitions",
    RecordKind.PACK: "packs",
    RecordKind.MANIFEST: "manifests",
    RecordKind.VECTOR: "vectors",
    RecordKind.USAGE: "usage",
    RecordKind.SESSION_EVENT: "session_events",
}
"""The field of a batch that takes the records of a kind as they are."""
_HINTS: Final = get_type_hints(Batch)
_TYPES: Final = {kind: get_args(_HINTS[name])[0] for kind, name in _FIELD.items()} | {
    RecordKind.BLOCK_KEYS: BlockKeys,
    RecordKind.CANONICAL: CanonicalId,
}


_NO_EVENT: Final = 0, MIN_US
"""Sequence number and stamp of a tenant without a write."""

_HEADER: Final = ("tenure_export", "terms", "tenant", "seq", "last_us", "next_vid", "keys")


@dataclass(frozen=True, slots=True)
class ExportHeader:
    """What an export says of itself."""

    tenure_export: int
    terms: int
    tenant: str
    seq: int
    last_us: int
    next_vid: int
    keys: tuple[bytes, ...]

    def clock(self, seq: int, last_us: int) -> Clock:
        """The counters at a point of the restore; vectors count again."""
        return Clock(seq, last_us, self.next_vid, 0)


def export_lines(reader: Reader, *, tenant: str, keys: bool = False) -> Iterator[str]:
    """Yield a tenant as lines without their ends; `keys` adds its secret keys."""
    clock = reader.clock()
    header: dict[str, object] = {
        "tenure_export": FORMAT,
        "tenant": tenant,
        "terms": TERMS_VERSION,
        "seq": clock.seq,
        "last_us": clock.last_us,
        "next_vid": clock.next_vid,
        "keys": to_plain(reader.keys()) if keys else [],
    }
    # Kinds in the order in which they build on each other, so that a restore is one pass.
    tally = _Tally()
    yield tally.add(canonical_json(header))

    for kind in RecordKind:
        for record in reader.records(kind):
            line = canonical_json({"kind": kind.value, "record": to_plain(record)})
            yield tally.add(line, kind.value)

    yield canonical_json(tally.footer())


@dataclass(slots=True)
class _Tally:
    """What the footer must say of the lines before it."""

    counts: dict[str, int] = field(default_factory=dict[str, int])
    digest: Any = field(default_factory=hashlib.sha256)

    def add(self, line: str, kind: str = "") -> str:
        """Count a line, and return it."""
        # A lone surrogate is for the check to refuse, whose error says where it is.
        self.digest.update(line.encode(errors="surrogatepass"))
        self.digest.update(b"\n")
        if kind:
            self.counts[kind] = self.counts.get(kind, 0) + 1

        return line

    def footer(self) -> dict[str, object]:
        """Return the footer of the lines so far."""
        return {"end": {"counts": self.counts, "sha256": self.hex_digest}}

    @property
    def hex_digest(self) -> str:
        """The SHA-256 of the lines so far."""
        digest: str = self.digest.hexdigest()
        return digest

    @property
    def records(self) -> int:
        """How many of them have a kind."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class SealedExport:
    """What an export whose seal holds says of itself."""

    header: ExportHeader
    digest: str
    """The SHA-256 of its lines, in hex, as its footer states it."""
    records: int


@dataclass(slots=True)
class ExportCheck:
    """Checks the lines of an export, each in its turn."""

    header: ExportHeader | None = None
    number: int = 0
    """Of the line that was taken last, from 1."""
    _tally: _Tally = field(default_factory=_Tally)
    _place: int = 0
    _counters: tuple[int, int] = _NO_EVENT
    _is_complete: bool = False

    def take(self, line: str) -> tuple[RecordKind, Any] | None:
        """The kind and the record of the next line, None for the header and the footer.

        Raises:
            InvalidInput: `bad_export`, with the number of the line.
        """
        self.number += 1
        number = self.number
        plain = _parse_line(line, number)
        if self._is_complete:
            raise bad_line(number, "nothing may follow the footer")

        if self.header is None:
            self.header = _header(plain, number)
            self._tally.add(line)
            return None

        if "end" in plain:
            self._is_complete = True
            if plain != self._tally.footer():
                raise bad_line(number, "the lines are not those that were exported")
            return None

        kind = str(plain.get("kind"))
        if _ORDER.get(kind, -1) < self._place:
            raise bad_line(number, f"a record of kind {kind!r} is unknown or out of order")
        self._place = _ORDER[kind]

        record = _record(kind, plain.get("record"), number, self.header)
        if isinstance(record, TxEvent):
            self._counters = record.seq, record.tx
        self._tally.add(line, kind)
        return RecordKind(kind), record

    def end(self) -> SealedExport:
        """What is known of the export whose last line was taken.

        Raises:
            InvalidInput: `bad_export`: its footer is missing, or its counters are wrong.
        """
        if self.header is None or not self._is_complete:
            raise bad_line(self.number + 1, "the export ends too early: its footer is missing")
        # Events rise, so the last one states the counters that the header must have.
        if self._counters != (self.header.seq, self.header.last_us):
            raise bad_line(1, "its counters are not those of its events")

        return SealedExport(self.header, self._tally.hex_digest, self._tally.records)


def check_lines(
    lines: Iterable[str], keep: Callable[[str], object], watch: Callable[[int], None]
) -> SealedExport:
    """Check every line, and hand it on; `watch` is told how many so far.

    Raises:
        InvalidInput: `bad_export`, with the number of the first bad line.
    """
    check = ExportCheck()
    for raw in lines:
        line = raw.rstrip("\r\n")
        check.take(line)
        keep(line + "\n")
        watch(check.number)

    return check.end()


def sealed_export(lines: Iterable[str], keep: Callable[[str], object]) -> SealedExport | None:
    """What an export says of itself where its footer seals its lines; every line is handed on.

    Only its first and its last line are read, and a seal has no key: of the lines between them
    nothing is known. None where the seal is broken, or there is none.
    """
    tally, first, last, number = _Tally(), "", "", 0
    for number, raw in enumerate(lines, start=1):
        line = raw.rstrip("\r\n")
        keep(line + "\n")
        if number == 1:
            first = line
        else:
            tally.add(last)
        last = line

    try:
        header, footer = _header(_parse_line(first, 1), 1), _parse_line(last, number)
    except InvalidInput:
        return None

    if fields_of(footer.get("end")).get("sha256") != tally.hex_digest:
        return None
    return SealedExport(header, tally.hex_digest, number - 2)


def bad_line(number: int, reason: str) -> InvalidInput:
    """The refusal of an export for one of its lines."""
    return InvalidInput(
        f"line {number} of the export: {reason}; nothing was restored",
        code="bad_export",
        line=number,
    )


def _parse_line(line: str, number: int) -> dict[str, Any]:
    try:
        plain = json_of(line, "it", code="bad_export")
        # The digest of the footer has no key: whoever edits a line can make it fit.
        check_json(cast("object", plain), "the line")
    except InvalidInput as refusal:
        raise bad_line(number, str(refusal)) from refusal

    if not isinstance(plain, dict):
        raise bad_line(number, "it is no JSON object")
    return cast(dict[str, Any], plain)


def _header(plain: dict[str, Any], number: int) -> ExportHeader:
    formats, versions = (1, FORMAT), (2, TERMS_VERSION)
    if plain.get("tenure_export") not in formats or plain.get("terms") not in versions:
        raise bad_line(
            number,
            f"it is no header of format {FORMAT} with search terms {TERMS_VERSION}; export with "
            "this version of tenure",
        )

    try:
        header: ExportHeader = from_plain(ExportHeader, {name: plain.get(name) for name in _HEADER})
    except ValueError as error:
        raise bad_line(number, str(error)) from error

    return header


def _record(kind: str, plain: Any, number: int, header: ExportHeader) -> Any:
    if kind == RecordKind.CLAIM.value:
        plain = _with_today_details(plain, has_author=header.tenure_export > 1)

    try:
        record = from_plain(_TYPES[RecordKind(kind)], plain)
    except (TenureError, ValueError) as error:
        raise bad_line(number, str(error)) from error
    if isinstance(record, Alias | BlockKeys):
        return _with_today_key(record)
    if not isinstance(record, Assertion):
        return record
    if header.terms < TERMS_VERSION:
        content = record.content
        record = replace(record, content=replace(content, terms=stemmed_again(content.terms)))
    return _as_said(record)


def _with_today_key(record: Alias | BlockKeys) -> Alias | BlockKeys:
    """A name with the key that it has today: in older exports a hyphen is no space."""
    norm = alias_key(record.norm)
    if norm == record.norm:
        return record
    if isinstance(record, BlockKeys):
        return replace(record, norm=norm)
    # Names of two keys may have one now. Their ordinals tell them apart, so those of another
    # spelling are moved to where no other spelling has any.
    return replace(record, norm=norm, ordinal=record.ordinal + zlib.crc32(record.norm.encode()))


def _as_said(assertion: Assertion) -> Assertion:
    """A claim with the raw id of its entity value: older exports hold the canonical one."""
    raw, claim = assertion.details.value_entity_id, assertion.claim
    if raw is None or claim.value_key in (NO_VALUE_KEY, ENTITY_KEY + raw):
        return assertion
    return replace(
        assertion,
        claim=replace(claim, value_key=ENTITY_KEY + raw),
        content=replace(assertion.content, value_json=canonical_json(raw)),
    )


def _with_today_details(plain: Any, *, has_author: bool) -> Any:
    """A claim of an older export, with what its actor and level prove of its writer."""
    details = {"certain_us": None, **fields_of(fields_of(plain).get("details"))}
    if has_author:
        return {**fields_of(plain), "details": details}

    # What was written into a person's own scope by that person is his; of the rest nobody knows.
    user = fields_of(details.get("scope")).get("user")
    level = details.get("authority_level")
    authorship = {
        "user": user if user == details.get("actor") else None,
        "session": None,
        "directs": isinstance(level, int) and level <= Authority.DEVELOPER,
    }

    return {**fields_of(plain), "details": {**details, "authorship": authorship}}


def record_of(line: str, header: ExportHeader) -> tuple[RecordKind, Any]:
    """The kind and the record of a line that was checked before."""
    plain = json.loads(line)
    return RecordKind(plain["kind"]), _record(plain["kind"], plain["record"], 0, header)


def batch_of(kind: RecordKind, records: Sequence[Any], clock: Clock) -> Batch:
    """The batch that writes records of one kind."""
    if kind is RecordKind.BLOCK_KEYS:
        keys_of: dict[str, tuple[tuple[str, str], ...]] = {}
        for record in records:
            known = keys_of.get(record.norm, ())
            keys_of[record.norm] = tuple(dict.fromkeys((*known, *record.keys)))
        return Batch(clock=clock, block_keys=keys_of)
    if kind is RecordKind.CANONICAL:
        pairs = tuple((record.raw_id, record.canonical_id) for record in records)
        return Batch(clock=clock, canonical=pairs)

    fields_taken: dict[str, Any] = {_FIELD[kind]: tuple(records)}

    return Batch(clock=clock, **fields_taken)
