"""What is stored of a document: whom its name means, and the outlines of its versions."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, NamedTuple

from ...resolution.keys import alias_key, is_id
from ...resolution.known import Lookup
from ...schema.claim import Permissions, Version
from ...schema.entity import Alias
from ...schema.errors import NotFound
from ...schema.interval import INF_US
from ...schema.principal import Sight
from ...schema.values import iso
from ...schema.vocabulary import StateLayer
from ...store.port.store import Ask, Point, Reader
from .blocks import refusal
from .dating import OWN_DATES
from .outline import DocumentOutline

SLOT: Final = "document_version"
SCHEME: Final = "doc"
MAX_NAME: Final = 1_024
NOW: Final = Ask()
EVER: Final = Ask(heads=False, at_valid=False, at_tx=False)


class StoredVersion(NamedTuple):
    """A stretch of valid time in which one version holds."""

    entity_id: str
    name: str
    object_id: str
    start_us: int
    end_us: int
    tx_us: int
    """When the version was recorded."""
    outline: DocumentOutline
    permissions: Permissions


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as one snapshot shows it to one caller; without versions: none is known."""

    name: str
    versions: tuple[StoredVersion, ...] = ()
    """As they are believed, by their start."""

    @property
    def last(self) -> StoredVersion | None:
        """The newest version."""
        return self.versions[-1] if self.versions else None

    @property
    def stamp(self) -> list[tuple[str, int]]:
        """What another writer changes."""
        return sorted((version.object_id, version.start_us) for version in self.versions)

    def same(self, digest: str, stated_us: int | None, now_us: int) -> StoredVersion | None:
        """The version that some bytes would be once more, at a stated date or their own."""
        if self.last is None or self.last.end_us <= now_us:
            # A document that has ended comes back.
            return None
        for version in reversed(self.versions):
            is_own = version is self.last or version.outline.dated in OWN_DATES
            is_dated = is_own if stated_us is None else version.start_us == stated_us
            if is_dated and version.outline.digest == digest:
                return version

        return None

    def overruled(self, start_us: int, now_us: int) -> list[StoredVersion]:
        """Later versions that a file with an earlier date replaces in its folder.

        A version whose date was stated with `put` is from no folder, and stays.
        """
        return [
            version
            for version in self.versions
            if version.start_us > start_us
            and version.end_us > now_us
            and version.outline.dated != "stated"
        ]

    def at(self, valid_us: int) -> StoredVersion | None:
        """The version that holds at an instant."""
        holding = (v for v in self.versions if v.start_us <= valid_us < v.end_us)
        return next(holding, None)

    def end_from(self, valid_us: int, overruled: Collection[StoredVersion] = ()) -> int:
        """Until when a version holds that begins at an instant, in place of some later ones."""
        starts = (v.start_us for v in self.versions if v not in overruled)
        ends = [start_us for start_us in starts if start_us > valid_us]
        covering = self.at(valid_us)
        if covering is not None and covering.end_us not in {v.start_us for v in overruled}:
            ends.append(covering.end_us)
        return min(ends, default=INF_US)


def full_name(name: str, source: str) -> str:
    """The name of a document: its source and its path, checked and in NFC.

    >>> full_name("policies/leave.md", "handbook")
    'handbook/policies/leave.md'

    Raises:
        InvalidInput: `bad_name`.
    """
    path = unicodedata.normalize("NFC", f"{source}/{name}" if source else name)
    parts = path.split("/")
    is_odd = any(part in ("", ".", "..") or part != part.strip() for part in parts)
    has_control = any(unicodedata.category(char) in ("Cc", "Cs", "Cf", "Zl", "Zp") for char in path)
    if is_odd or has_control or "\\" in path or len(path) > MAX_NAME or is_id(path):
        raise refusal(
            "bad_name",
            f"{path!r:.80} names no document: state source and path of at most {MAX_NAME} "
            "characters, without '..', backslashes, control characters, empty parts, and spaces "
            "around a part; rename the file",
        )

    return path


def find_owners(reader: Reader, name: str, sight: Sight) -> list[str]:
    """The raw ids of documents that have or had a name, or have an id, whoever may see them."""
    if is_id(name):
        return [name]
    lookup, tx_us = Lookup(norms=(alias_key(name),)), reader.clock().last_us
    aliases = reader.known(lookup, scopes=sight.scopes, tx_us=tx_us).aliases
    # Of names that differ by case alone one is taken, so that a renamed file is found by both.
    return sorted({alias.entity_id for alias in aliases if alias.type == "document"})


def check_clash(aliases: Iterable[Alias], name: str) -> None:
    """Refuse a new document whose name differs from a known one by case alone.

    Raises:
        InvalidInput: `name_clash`.
    """
    for alias in aliases:
        if alias.surface != name and (alias.norm, alias.type) == (alias_key(name), "document"):
            raise refusal(
                "name_clash",
                f"{name} and {alias.surface} are one name where case does not count; rename one",
            )


def load_document(
    reader: Reader, name: str, sight: Sight, *, former: bool = False
) -> StoredDocument:
    """The document that has a name, as it is believed now; with `former`, also one that had it."""
    point = Point(INF_US - 1, reader.clock().last_us)
    owners = find_owners(reader, name, sight)
    by_owner: dict[str, list[StoredVersion]] = {}
    for version in find_versions(reader, owners, sight, point, Ask(at_valid=False)):
        by_owner.setdefault(version.entity_id, []).append(version)

    named = [v for v in by_owner.values() if is_id(name) or v[-1].name == name]
    owned = named or (list(by_owner.values()) if former else [])
    return StoredDocument(name, tuple(owned[0]) if owned else ())


def outline_rows(
    reader: Reader, entity_ids: Sequence[str], sight: Sight, point: Point, which: Ask = NOW
) -> list[Version]:
    """The rows of outlines, whoever may see them."""
    ask = replace(which, subjects=tuple(entity_ids), slots=(SLOT,))
    return list(reader.versions(ask, sight=sight, point=point).versions) if entity_ids else []


def find_versions(
    reader: Reader, entity_ids: Sequence[str], sight: Sight, point: Point, which: Ask = NOW
) -> list[StoredVersion]:
    """The versions that a caller may see, by their start; what closes one is none."""
    versions: list[StoredVersion] = []
    for row in outline_rows(reader, entity_ids, sight, point, which):
        claim, interval = row.row.claim, row.row.interval
        if not row.visible or row.content is None or not claim.value_key:
            continue
        versions.append(
            StoredVersion(
                str(row.details.subject_id),
                row.details.update_path,
                claim.object_id,
                interval.start_us,
                interval.end_us,
                claim.tx,
                _decoded(claim.object_id, row.content.value_json),
                row.permissions,
            )
        )

    return sorted(versions, key=lambda version: version.start_us)


def hidden_rows(reader: Reader, name: str, sight: Sight) -> list[Version]:
    """The outlines of a name whoever may see them: their permissions, never their words."""
    point = Point(INF_US - 1, reader.clock().last_us)
    owners = find_owners(reader, name, sight)
    return outline_rows(reader, owners, sight, point, EVER)


@lru_cache(maxsize=256)
def _decoded(object_id: str, value_json: str) -> DocumentOutline:
    """The outline of a stored value; an object never changes, so it is decoded once."""
    return DocumentOutline.from_value(json.loads(value_json))


def passage_rows(
    reader: Reader, passage_ids: Sequence[str], sight: Sight, point: Point
) -> dict[str, Version]:
    """The rows that show passages at a point, by passage id."""
    if not passage_ids:
        return {}
    ask = Ask(keys=tuple(f"text:{passage_id}" for passage_id in passage_ids), heads=False)
    rows: dict[str, Version] = {}
    for version in reader.versions(ask, sight=sight, point=point).versions:
        passage_id = version.row.claim.slot_key.removeprefix("text:")
        if version.row.look.head or passage_id not in rows:
            rows[passage_id] = version

    return rows


def disagreements(reader: Reader, sight: Sight) -> Iterator[str]:
    """A sentence for each version whose outline and passages do not agree.

    What the caller may not see is not looked at.
    """
    tx_us = reader.clock().last_us
    for entity_id in reader.entity_ids(type="document"):
        for stored in load_document(reader, entity_id, sight).versions:
            point = Point(stored.start_us, tx_us)
            page = reader.versions(Ask(subjects=(entity_id,)), sight=sight, point=point)
            shown = {
                version.row.claim.slot_key.removeprefix("text:")
                for version in page.versions
                if version.details.slot is None and version.details.layer is StateLayer.CORPUS
            }
            listed = stored.outline.numbers.keys()
            rows = passage_rows(reader, sorted(listed - shown), sight, point)
            # One in quarantine is no head, and one that was erased shows nothing.
            missing = listed - shown - {pid for pid, row in rows.items() if not row.row.look.head}
            surplus = shown - listed
            if surplus or missing:
                yield (
                    f"version {iso(stored.start_us)} of document {entity_id}: "
                    f"{len(surplus)} passages outlive it and {len(missing)} are missing; "
                    "put its file again"
                )


def unknown_document(name: str, known: Iterable[str] = ()) -> NotFound:
    """The error of a document that is not there, or not for this caller.

    Of the names that the caller may see, one that ends so is what was meant.
    """
    meant = [other for other in known if other.endswith(f"/{name}")]
    hint = f"did you mean {meant[0]}? " if len(meant) == 1 else ""
    return NotFound(
        f"there is no document {name}; {hint}list them with `tenure document list` "
        "(documents.list())",
        code="unknown_document",
        name=name,
    )
