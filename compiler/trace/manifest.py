"""The manifest: everything a replay needs, pinned, and the identity of an envelope.

The envelope id is the hash of the pins: request, principal, valid, tx, policy hash, vocabulary
version, encoder id, counter identity, key epoch, compiler version and page. Beside them stand
the candidates in order with their integer scores, so that a replay never searches or scores
anew and later embeddings change nothing. No wall clock and no random number is in it.
What the gate refused is in the manifest of an auditor alone; in that of anybody else stands only
how it ended for the rows that the caller may see.
Checklist C-137, C-201 to C-203.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from base64 import b85decode, b85encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import Any, Final, NamedTuple, cast
from uuid import UUID

from ...schema.errors import InvalidInput
from ...schema.principal import Principal
from ...schema.records import short_repr
from ...schema.terms import TERMS_VERSION
from ...schema.values import canonical_json
from ...schema.vocabulary import Authority, Classification
from ..ir.context import COMPILER_VERSION, CompileContext
from ..ir.records import PERSON


class RecordedRow(NamedTuple):
    """A candidate with its scores."""

    object_id: str
    vid: int
    """The row; 0 for an item of the request."""
    via: int
    hop: int
    text: int
    """Lexical relevance, in millionths of the best."""
    content: int | None = None
    """Integer cosine of its content."""
    why: int | None = None
    """Integer cosine of its condition."""
    withheld: str = ""
    """What the gate held against it, for an auditor; empty when it passed."""
    opinion: int | None = None
    """What a re-ranker said of it, in millionths."""
    outranked: str = ""
    """How it lost its slot to a row that the caller may not see; empty when it did not."""

    def without_defaults(self) -> list[Any]:
        """Its fields up to the last one that says anything."""
        fields: list[Any] = list(self)
        # From the end: fields are read back by their place, so none in the middle may go.
        for default in reversed(self._field_defaults.values()):
            if fields[-1] != default:
                break
            fields.pop()
        return fields


class TruncationEvent(NamedTuple):
    """Content that a limit left out (C-203)."""

    layer: str
    reason: str
    dropped_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The pinned inputs of one envelope."""

    __repr__ = short_repr

    envelope_id: str
    compiler_version: str
    terms_version: int
    request: str
    """Canonical JSON."""
    principal: str
    """Canonical JSON."""
    valid_us: int
    tx_us: int
    policy_hash: str
    vocabulary_version: int
    language: str
    """Digest of the words by which questions ask."""
    encoder_id: str | None
    reranker_id: str | None
    counter: str
    key_epoch: int
    page: int
    skip: tuple[str, ...]
    """Objects that earlier pages have shown, sorted."""
    without: tuple[str, ...]
    """Objects and sections that an ablation left out, sorted."""
    candidates: tuple[RecordedRow, ...]
    named: tuple[tuple[str, tuple[str, ...], bool], ...]
    """The request's entities: (mention, canonical ids, pending)."""
    spoken: tuple[tuple[str, tuple[str, ...], bool], ...]
    own: tuple[tuple[str, str], ...]
    expansion: tuple[str, ...]
    """Other names of the named entities that were searched for, sorted."""
    withheld: tuple[tuple[str, int], ...]
    cut: bool
    hubs: tuple[tuple[str, str, int], ...]
    """(entity, slot, facts with the entity as their value) where not all were read, sorted."""
    withheld_slots: tuple[tuple[str, str], ...]
    """(canonical subject, slot) that were asked and of which something is hidden."""
    capped: tuple[str, ...]
    compiled: tuple[str, ...]
    """Stored objects and request items in the envelope, in the order of the text."""
    digest: str
    """SHA-256 of the text."""
    valid: bool
    """False when a step was asked for without acceptance."""
    model: str
    window: int | None
    layer_budgets: tuple[tuple[str, int], ...]
    """Tokens of each section of the text, in the order of the names."""
    truncation_events: tuple[TruncationEvent, ...]
    artifact_uris: tuple[str, ...]
    signature: str = ""
    """HMAC of all the other fields by the tenant's key of the epoch, in hexadecimal digits; the
    store adds it."""

    @property
    def names_refused(self) -> bool:
        """Whether it names rows that the gate refused: it is for auditors alone."""
        return any(candidate.withheld for candidate in self.candidates)

    @property
    def people(self) -> tuple[str, ...]:
        """Whose wishes apply though the request names nobody; of several none is meant."""
        return tuple(entity_id for kind, entity_id in self.own if kind == PERSON)

    @property
    def pack_id(self) -> str:
        """Return the envelope id under the name of source 001."""
        return self.envelope_id

    @property
    def checksum(self) -> str:
        """Return the digest under the name of source 001."""
        return self.digest

    def to_dict(self) -> dict[str, Any]:
        """Return the manifest as plain JSON values."""
        plain: dict[str, Any] = {name: getattr(self, name) for name in self.__slots__}
        plain["pack_id"], plain["checksum"] = self.envelope_id, self.digest
        plain["layer_budgets"] = dict(self.layer_budgets)
        plain["truncation_events"] = [event._asdict() for event in self.truncation_events]
        return cast("dict[str, Any]", json.loads(canonical_json(plain)))

    def to_json(self) -> str:
        """Return the manifest as canonical JSON."""
        return canonical_json(self.to_dict())

    def to_stored(self) -> str:
        """The manifest by reference and packed: every request of a session keeps one.

        What stands in the text is named by its place among the candidates, whose ids stand there
        already; candidates end where nothing more is to be said. The id of the envelope is the
        hash of what is kept. `stored_manifest` reads it back, letter by letter.
        """
        # An object may be met twice, in two versions: its first place stands for both.
        places: dict[str, int] = {}
        for place, row in enumerate(self.candidates):
            places.setdefault(row.object_id, place)

        plain = self.to_dict()
        for name in _SECOND_NAMES:
            del plain[name]
        plain["candidates"] = [row.without_defaults() for row in self.candidates]
        plain["compiled"] = _places(self.compiled, places)
        for event in plain["truncation_events"]:
            event["dropped_ids"] = _places(event["dropped_ids"], places)
        if _pinned_id(plain) == self.envelope_id:
            del plain["envelope_id"]
        return _packed(canonical_json(plain))


_SECOND_NAMES: Final = ("pack_id", "checksum")
"""Fields that repeat another one under the name of source 001."""


_PACKED: Final = "~"
"""Before a packed manifest: no JSON begins with it."""
_DICTIONARY: Final = "manifest_words.json"
"""What most manifests say, as the dictionary of their compression. Stored ones are read with it, so
it never changes: another one needs another `_PACKED`."""
_MOST_BYTES: Final = 64 * 1024 * 1024
"""Of an unpacked manifest: a larger one is a bomb."""
_BINARY: Final = re.compile(
    "[0-9a-f]{64}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
)
"""Digests and UUIDs in their usual spelling."""
_MARKS: Final = {64: "\0", 36: "\1"}
"""What replaces them in the words, by length; JSON has no such character."""
_RAW_DEFLATE: Final = -15
_BROKEN: Final = (
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
    zlib.error,
)


def _packed(text: str) -> str:
    """A JSON in a third of its length or less: digests and ids as bytes, the words compressed."""
    ids = bytearray()

    def mark(match: re.Match[str]) -> str:
        ids.extend(bytes.fromhex(match[0].replace("-", "")))
        return _MARKS[len(match[0])]

    words = _BINARY.sub(mark, text).encode("utf-8", "surrogatepass")
    packer = zlib.compressobj(9, wbits=_RAW_DEFLATE, zdict=_dictionary())
    packed = packer.compress(words) + packer.flush()
    return _PACKED + b85encode(packed + ids).decode()


def _unpacked(text: str) -> str:
    reader = zlib.decompressobj(_RAW_DEFLATE, zdict=_dictionary())
    words = reader.decompress(b85decode(text.removeprefix(_PACKED)), _MOST_BYTES)
    ids = BytesIO(reader.unused_data)

    def name(match: re.Match[str]) -> str:
        if match[0] == _MARKS[64]:
            return ids.read(32).hex()
        return str(UUID(bytes=ids.read(16)))

    return re.sub("[\0\1]", name, words.decode("utf-8", "surrogatepass"))


@cache
def _dictionary() -> bytes:
    from importlib.resources import files  # late: it loads zipfile

    words = files(str(__package__)).joinpath(_DICTIONARY).read_bytes()
    return words.replace(rb"\u0000", b"\0").replace(rb"\u0001", b"\1")


def _places(object_ids: Iterable[str], places: Mapping[str, int]) -> list[int | str]:
    """Ids as places in a list of them; an id that the list does not have stays."""
    return [places.get(object_id, object_id) for object_id in object_ids]


def _ids(references: Iterable[int | str], candidates: Sequence[RecordedRow]) -> tuple[str, ...]:
    """Ids again, from places among the candidates."""
    object_ids: list[str] = []
    for reference in references:
        if isinstance(reference, str):
            object_ids.append(reference)
        # Python would read it from the end and name another object.
        elif reference < 0:
            raise ValueError(f"the place {reference} of a candidate is below 0")
        else:
            object_ids.append(candidates[reference].object_id)
    return tuple(object_ids)


def stored_ids(manifest: Manifest) -> tuple[str, ...]:
    """The compiled objects that a store holds: all but the items of the request, in their order."""
    row_ids = {candidate.object_id for candidate in manifest.candidates if candidate.vid}
    return tuple(object_id for object_id in manifest.compiled if object_id in row_ids)


def envelope_id(context: CompileContext) -> str:
    """Return the hash of the pins of a compile."""
    return _hash(_pins(context))


def _hash(pins: dict[str, Any]) -> str:
    return hashlib.sha256(canonical_json(pins).encode("utf-8", "backslashreplace")).hexdigest()


def _pinned_id(document: Mapping[str, Any]) -> str:
    """The id of the envelope whose pins a manifest states."""
    return _hash({name: document[name] for name in _PINS})


_PINS: Final = (
    *("compiler_version", "terms_version", "request", "principal", "valid_us", "tx_us"),
    *("policy_hash", "vocabulary_version", "language", "encoder_id", "reranker_id", "counter"),
    *("key_epoch", "page", "skip", "without"),
)


def _pins(context: CompileContext) -> dict[str, Any]:
    return {
        "compiler_version": COMPILER_VERSION,
        "terms_version": TERMS_VERSION,
        "request": context.request_json,
        "principal": principal_json(context.principal),
        "valid_us": context.point.valid_us,
        "tx_us": context.point.tx_us,
        "policy_hash": context.policy_hash,
        "vocabulary_version": context.vocabulary.version,
        "language": context.language.digest,
        "encoder_id": context.encoder_id,
        "reranker_id": context.reranker_id,
        "counter": context.counter.identity,
        "key_epoch": context.epoch,
        "page": context.page,
        "skip": sorted(context.skip),
        "without": sorted(context.ablation),
    }


def pin_manifest(context: CompileContext, **outputs: Any) -> Manifest:
    """Return the manifest of a compile from its pins and what the stages found."""
    # Sets stand as sorted lists in the hash and as tuples in the record, which is frozen.
    pins = _pins(context)
    sets = {"skip": tuple(pins["skip"]), "without": tuple(pins["without"])}
    return Manifest(envelope_id=_hash(pins), **{**pins, **sets}, **outputs)


_PRINCIPAL_FIELDS: Final = (
    *("tenant", "user", "roles", "projects", "session", "clearance", "authority_level"),
    *("origins", "source_kinds"),
)


def principal_json(principal: Principal) -> str:
    """Return a principal as canonical JSON."""
    values: dict[str, Any] = {}
    for name in _PRINCIPAL_FIELDS:
        value: Any = getattr(principal, name)
        values[name] = sorted(cast(Any, value)) if isinstance(value, frozenset) else value
    return canonical_json(values)


def principal_of(manifest: Manifest) -> Principal:
    """Return the principal a manifest was compiled for.

    Raises:
        InvalidInput: `bad_manifest`.
    """
    try:
        document, values = json.loads(manifest.principal), dict[str, Any]()
        for name in _PRINCIPAL_FIELDS:
            value = document[name]
            values[name] = frozenset(cast(Any, value)) if isinstance(value, list) else value
        values["clearance"] = Classification(values["clearance"])
        values["authority_level"] = Authority(values["authority_level"])
        return Principal(**values)
    except (KeyError, TypeError, ValueError) as error:
        raise bad_manifest(f"its principal cannot be read: {error}") from error


def manifest_from_json(text: str) -> Manifest:
    """Return a manifest from its stored form.

    Raises:
        InvalidInput: `bad_manifest`, for a text that is none, and for one of another compiler.
    """
    return check_manifest(stored_manifest(text))


def stored_document(text: str) -> dict[str, Any]:
    """The plain values of a manifest's stored form, of any version."""
    document: dict[str, Any] = json.loads(_unpacked(text) if text.startswith(_PACKED) else text)
    return document


def stored_manifest(text: str) -> Manifest:
    """Return a manifest from its stored form, also one that only an earlier compiler replays.

    Raises:
        InvalidInput: `bad_manifest`, for a text that is none.
    """
    try:
        document = stored_document(text)
        document.setdefault("envelope_id", _pinned_id(document))
        # Manifests of the first stores have none; unknown fields of later ones are dropped.
        document.setdefault("signature", "")
        document.setdefault("language", "")
        document.setdefault("hubs", ())
        document.setdefault("withheld_slots", ())
        document = {name: document[name] for name in Manifest.__slots__}
        return Manifest(**_record_fields(document))
    except _BROKEN as error:
        raise bad_manifest(f"it cannot be read: {error}") from error


def _record_fields(document: dict[str, Any]) -> dict[str, Any]:
    """The fields of a manifest from plain JSON, where lists stand for tuples of tuples."""
    # First the candidates: others name objects by their place among them.
    candidates = tuple(RecordedRow(*row) for row in document["candidates"])
    document["candidates"] = candidates
    document["compiled"] = _ids(document["compiled"], candidates)

    events: list[TruncationEvent] = []
    for event in document["truncation_events"]:
        dropped_ids = _ids(event["dropped_ids"], candidates)
        events.append(TruncationEvent(event["layer"], event["reason"], dropped_ids))
    document["truncation_events"] = tuple(events)

    for name in ("named", "spoken"):
        document[name] = tuple((m, tuple(ids), bool(p)) for m, ids, p in document[name])

    document["layer_budgets"] = document["layer_budgets"].items()
    for name in ("own", "withheld", "withheld_slots", "layer_budgets", "hubs"):
        document[name] = tuple((key, *values) for key, *values in document[name])

    for name in ("skip", "without", "expansion", "capped", "artifact_uris"):
        document[name] = tuple(document[name])
    return document


def check_manifest(manifest: Manifest) -> Manifest:
    """Return a manifest when this compiler can replay it.

    Raises:
        InvalidInput: `bad_manifest`.
    """
    if (manifest.compiler_version, manifest.terms_version) != (COMPILER_VERSION, TERMS_VERSION):
        raise bad_manifest(
            f"it was made by compiler {manifest.compiler_version} with terms "
            f"{manifest.terms_version}; this is compiler {COMPILER_VERSION} with terms "
            f"{TERMS_VERSION}. Compile anew, or replay with the version that made it"
        )
    return manifest


def bad_manifest(reason: str) -> InvalidInput:
    """Return the error of a manifest that cannot be replayed."""
    return InvalidInput(f"the manifest cannot be replayed: {reason}", code="bad_manifest")
