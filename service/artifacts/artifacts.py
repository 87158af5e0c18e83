"""`memory.artifacts` and `memory.rehydrate`: originals stored next to the facts.

Large tool outputs, documents and media stay out of a prompt, which has a short text with the
address of the original. Any caller who may read the original gets it by that address. An artifact
has a scope and permissions, as an object has; a caller without a grant cannot tell it from a
missing one.

The rows of a table are read from CSV, TSV, JSON or JSON Lines. Picture sizes and recording lengths
are read by `compiler.media.table`; an unknown size is not guessed, and the compile counts it as an
ordinary one. Sources: source 001 ("Evidence-only rule"), source 000, 6.12.
Checklist: C-174, C-188 to C-191, C-206, C-220.
"""

from __future__ import annotations

import csv
import io
import json
import mimetypes
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from ...compiler.request.request import MAX_ITEMS, MediaKind
from ...schema.artifact import (
    SCHEME,
    Artifact,
    Original,
    address_of,
    artifact_from_json,
    decode_text,
    digest_of,
    is_address,
)
from ...schema.claim import Permissions
from ...schema.errors import Forbidden, InvalidInput, NotFound, Unavailable
from ...schema.limits import LENGTHS, check_text, json_of
from ...schema.principal import ERASE, Scope, Sight, write_scope
from ...schema.values import canonical_json, iso, stamp_time
from ...schema.vocabulary import ObjectType, StateLayer
from ...store.port.store import WriteTx
from ...store.transfer.artifact_files import ArtifactFiles
from ..backend.caller import (
    Caller,
    argument_checks,
    check_reason,
    check_secrets,
    permissions_as_stated,
    scope_of,
)
from ..backend.words import ClassificationWord
from ..reading.envelopes import request_items
from ..reading.objects import Mask

if TYPE_CHECKING:
    from ...compiler.envelope.envelope import Envelope

_TEXT = "text/plain"
_BYTES = "application/octet-stream"

_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?", re.ASCII)


@argument_checks
@dataclass(frozen=True, slots=True)
class Artifacts(Caller):
    """The artifacts of one tenant, as one caller sees them."""

    def put(
        self,
        data: bytes | str,
        *,
        name: str = "",
        media_type: str | None = None,
        origin: str = "",
        scope: Scope | Mapping[str, str] | None = None,
        security_classification: ClassificationWord | None = None,
        allow_roles: Sequence[str] = (),
        deny_roles: Sequence[str] = (),
        object_ids: Sequence[str] = (),
    ) -> Artifact:
        """Keep bytes, or a text in UTF-8, and return its artifact; the same again is the same.

        Without a scope it is the caller's session, else the user, else the tenant. Erasing one
        of `object_ids` erases the artifact too.

        Raises:
            InvalidInput: `too_large`, `secret_in_content`, `missing_value`, `unknown_vocabulary`.
            Forbidden: `scope_not_yours`.
            Conflict: `erased`, for bytes that were erased.
            Unavailable: `no_artifact_store`, `artifacts_unreachable`.
        """
        content = data.encode() if isinstance(data, str) else bytes(data)
        if not content:
            raise InvalidInput("there is nothing to keep in no bytes", code="missing_value")

        text = _text_of(content)
        check_secrets(text or "", "the artifact")
        for label, words in (("name", name), ("origin", origin)):
            check_text(words, f"artifact {label}", most=LENGTHS["artifact name"])
            check_secrets(words, f"the {label} of the artifact")

        guess = mimetypes.guess_type(name)[0] or (_BYTES if text is None else _TEXT)
        if text is not None and "\0" not in text and guess.startswith(("audio/", "video/")):
            guess = _TEXT  # a program in TypeScript, by its name a film

        permissions = permissions_as_stated(
            Permissions(), self._words_now(), security_classification, allow_roles, deny_roles
        )
        artifact = Artifact(
            address=address_of(content),
            size=len(content),
            media_type=media_type or guess,
            name=name,
            origin=origin,
            scope=self._scope(scope),
            permissions=permissions,
            actor=self._actor,
            at=stamp_time(self._backend.now_us()),
            object_ids=tuple(sorted(set(object_ids))),
        )
        # A use of the tenant like any write: nothing may hang on a store that is not there.
        self._backend.make(self._tenant)
        self._files.put(self._tenant, artifact, content)

        return artifact

    def get(self, address: str, *, scope: Scope | Mapping[str, str] | None = None) -> bytes:
        """Return the bytes of an artifact, checked against its address.

        With `scope` it is looked for in that scope alone.

        Raises:
            InvalidInput: `bad_artifact`.
            NotFound: `unknown_artifact`, also for what the caller may not see; `erased`.
            Unavailable: `artifact_damaged`, for bytes or a grant that are not what was put;
                `no_artifact_store`, `artifacts_unreachable`.
        """
        artifact = self.info(address, scope=scope)
        return self._files.read(self._tenant, artifact.digest)

    def text(self, address: str) -> str:
        """Return an artifact as text.

        Raises:
            InvalidInput: `invalid_encoding`, when it is no UTF-8; and what `get` raises.
        """
        return decode_text(self.get(address), address)

    def info(self, address: str, *, scope: Scope | Mapping[str, str] | None = None) -> Artifact:
        """Return what an artifact is and who may read it.

        Raises:
            NotFound: `unknown_artifact`, `erased`.
            Unavailable: `artifact_damaged`, when no grant admits the caller and one of them is
                damaged: whom that one admitted cannot be told.
        """
        digest, sight = digest_of(address), self._sight(scope)
        for grant in self._files.grants(self._tenant, digest):
            if grant.admits(sight):
                return grant

        # Only whom a grant admitted learns that there was something.
        content = self._files.tombstone(self._tenant, digest)
        if content is not None:
            try:
                record = json.loads(content)
                grants = [artifact_from_json(text) for text in record["grants"]]
                sentence = f"{record['at']} by {record['actor']}: {record['reason']}"
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                tombstone = f"the tombstone of the erased artifact {digest[:12]}"
                raise _damage(tombstone, "restore the file from a copy") from error
            if any(grant.admits(sight) for grant in grants):
                raise NotFound(
                    f"{address} was erased on {sentence}", code="erased", address=address
                )

        if self._files.damaged(self._tenant, digest):
            raise _damage(f"a grant of {address}", "put the same bytes again as before")

        raise NotFound(
            f"there is no artifact {address}; "
            "list them with `tenure artifact list` (artifacts.list())",
            code="unknown_artifact",
            address=address,
        )

    def exists(self, address: str) -> bool:
        """Tell whether the caller could read an artifact."""
        sight = self._sight(None)
        grants = self._files.grants(self._tenant, digest_of(address))
        return any(grant.admits(sight) for grant in grants)

    def list(self, limit: int = 100) -> tuple[Artifact, ...]:
        """Return the artifacts that the caller may read, newest first, each once."""
        sight = self._sight(None)
        by_address: dict[str, Artifact] = {}
        for artifact in reversed(self._files.every(self._tenant)):
            if artifact.admits(sight):
                by_address.setdefault(artifact.address, artifact)

        return tuple(by_address.values())[:limit]

    def erase(self, address: str, *, reason: str) -> None:
        """Remove the bytes for ever, with every envelope that was compiled from them.

        A tombstone (who, when, why) stays. It cannot be undone.

        Raises:
            Forbidden: `privilege_required`.
            InvalidInput: `bad_artifact`, `missing_reason`.
            NotFound: `unknown_artifact`.
        """
        self.principal.require(ERASE)
        check_reason(reason)
        if not reason.strip():
            raise InvalidInput("an erasure needs a reason for its tombstone", code="missing_reason")

        digest = digest_of(address)
        if not self._files.holds(self._tenant, digest):
            raise NotFound(f"there is no artifact {address}", code="unknown_artifact")

        self._bury(digest, address, reason)

    def _bury(self, digest: str, address: str, reason: str) -> None:
        grants = self._files.grants(self._tenant, digest)
        tombstone = canonical_json(
            {
                "at": iso(self._backend.now_us()),
                "actor": self._actor,
                "reason": reason,
                "grants": [_nameless(grant) for grant in grants],
            }
        )
        # What was put off first: a manifest still on its way may name these bytes.
        self._backend.settle()
        self._files.erase(self._tenant, digest, tombstone.encode())
        self._transact(lambda tx: _empty(tx, address))
        self._backend.forget_answers(self._tenant, (), names=(digest,))

    def rehydrate(self, pointer: str, *, envelope: Envelope | None = None) -> Original:
        """Return what a pointer represents, whole: an artifact, or the text of an object.

        With `envelope` it may be a number that the text shows, such as `[7]`, and an item of its
        request.

        Raises:
            NotFound: `unknown_artifact`, `unknown_object`, `erased`.
            Forbidden: `privilege_required`, for personal data that is masked for the caller.
        """
        # A number represents whatever this envelope put there; in another it is something else.
        if envelope is not None:
            number = pointer.strip("[] ")
            objects = envelope.trace.compiled_objects
            pointer = next((o.object_id for o in objects if o.anchor == number), pointer)
            item = request_items(envelope.manifest).get(pointer)
            if item is not None and not is_address(item.origin):
                data = item.text.encode("utf-8", "surrogatepass")
                return Original(pointer=pointer, origin=item.origin, media_type=_TEXT, data=data)
            pointer = item.origin if item is not None else pointer

        if not pointer.startswith("artifact://"):
            return self._object(pointer)

        artifact = self.info(pointer)
        data = self._files.read(self._tenant, artifact.digest)

        return Original(
            pointer=pointer, origin=artifact.origin, media_type=artifact.media_type, data=data
        )

    def _object(self, object_id: str) -> Original:
        with self._reading() as reader:
            version = self._visible_rows(reader, object_id)[-1]
            is_masked = Mask(self.principal, self._backend.policy).hides(reader, version)

        if version.erased or version.content is None:
            raise NotFound(f"object {object_id} was erased", code="erased", object_id=object_id)

        if is_masked:
            raise Forbidden(
                f"object {object_id} holds personal data that is masked for this caller",
                code="privilege_required",
            )

        text = version.content.text or version.content.normalized_claim
        origin = version.details.source_origin

        return Original(pointer=object_id, origin=origin, media_type=_TEXT, data=text.encode())

    @property
    def _files(self) -> ArtifactFiles:
        if self._backend.artifacts is None:
            raise Unavailable(
                "a server keeps no artifacts by itself; open it with artifacts='s3://bucket/path' "
                "or another URL of fsspec (setting artifacts.url)",
                code="no_artifact_store",
            )
        return self._backend.artifacts

    def _sight(self, scope: Scope | Mapping[str, str] | None) -> Sight:
        if scope is None:
            return self.principal.sight()
        return self.principal.sight([self._scope(scope).scope_id])

    def _scope(self, wanted_scope: Scope | Mapping[str, str] | None) -> Scope:
        scope = scope_of(wanted_scope)
        layer = StateLayer.SESSION if self.principal.session else StateLayer.USER
        kind = ObjectType.RETRIEVED_PASSAGE
        return write_scope(self.principal, layer, stated_scope=scope, object_type=kind)


@dataclass(frozen=True, slots=True)
class ArtifactKeeper(Artifacts):
    """What an erasure and a replay do with artifacts; no user is handed it."""

    def erase_with(self, object_ids: Sequence[str], *, reason: str) -> tuple[str, ...]:
        """Erase the artifacts that hold the words of erased objects; return their addresses."""
        if self._backend.artifacts is None or not object_ids:
            return ()

        self.principal.require(ERASE)
        digests: set[str] = set()
        for object_id in object_ids:
            digests.update(self._files.of_object(self._tenant, object_id))

        # The links of an object outlive its artifacts: some may have been erased before.
        addresses: list[str] = []
        for digest in sorted(digests):
            if self._files.holds(self._tenant, digest):
                self._bury(digest, SCHEME + digest, reason)
                addresses.append(SCHEME + digest)
        return tuple(addresses)

    def refuse_erased(self, addresses: Sequence[str]) -> None:
        """Refuse a replay that holds the text of an erased artifact.

        Raises:
            NotFound: `erased`.
        """
        if self._backend.artifacts is None:
            return
        for address in filter(is_address, addresses):
            if self._files.tombstone(self._tenant, digest_of(address)) is not None:
                raise NotFound(
                    f"the envelope holds {address}, which was erased",
                    code="erased",
                    address=address,
                )


def _text_of(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _damage(subject: str, advice: str) -> Unavailable:
    return Unavailable(f"{subject} is damaged; {advice}", code="artifact_damaged")


def _nameless(grant: Artifact) -> str:
    """Return a grant without what it says about the bytes: who may know that they are gone."""
    # A file's name may be all that an erasure was asked for.
    members = json.loads(grant.to_json())
    return canonical_json({**members, "name": "", "origin": "", "media_type": "", "object_ids": []})


def _empty(tx: WriteTx, address: str) -> None:
    tx.lock()
    tx.empty((address,), ())


_KINDS: Final = {"image": MediaKind.IMAGE, "audio": MediaKind.AUDIO, "video": MediaKind.VIDEO}


def kind_of_file(media_type: str) -> MediaKind | None:
    """Return what a file of a media type is; None for what is text, or nothing we know."""
    return _KINDS.get(media_type.partition("/")[0])


def records_of(text: str, *, name: str, media_type: str) -> list[Mapping[str, Any]]:
    """Return the rows of a table; numbers of a CSV file are read as numbers.

    Raises:
        InvalidInput: `bad_request`, for a text that is no table; `too_large`.
    """
    try:
        rows = _rows(text, name=name, media_type=media_type)
    except (ValueError, csv.Error) as error:
        raise _no_table(str(error)) from error

    if not rows or not all(isinstance(row, dict) for row in rows):
        raise _no_table("it has no rows with named columns")

    if len(rows) > MAX_ITEMS:
        raise InvalidInput(
            f"the table has {len(rows)} rows, the limit is {MAX_ITEMS}; filter it first",
            code="too_large",
        )

    return cast("list[Mapping[str, Any]]", rows)


def _no_table(problem: str) -> InvalidInput:
    return InvalidInput(
        f"the artifact is no table ({problem}): give CSV, a JSON list of objects or JSON Lines, or "
        "leave out its kind to send it as text",
        code="bad_request",
    )


def _rows(text: str, *, name: str, media_type: str) -> list[object]:
    # The content tells, not the name: a download of a table is often called `.txt`.
    if text.lstrip().startswith("["):
        return cast("list[object]", json_of(text, "the text", code="bad_request"))
    if text.lstrip().startswith("{"):
        lines = filter(str.strip, text.splitlines())
        return [json_of(line, "a line", code="bad_request") for line in lines]

    tabs = media_type == "text/tab-separated-values" or name.endswith(".tsv")
    read = csv.DictReader(io.StringIO(text, newline=""), delimiter="\t" if tabs else ",")
    # Any text is a table of one column to a reader of CSV.
    if len(read.fieldnames or ()) < 2 and "," not in text and "\t" not in text:
        raise ValueError("one column and no separator")

    rows: list[object] = []
    for row in read:
        rows.append({str(k): _cell(v) for k, v in row.items()})
    return rows


def _cell(value: object) -> object:
    """Return a cell as a number where it is written as one, so that leading zeros stay."""
    if not isinstance(value, str):
        return value
    if not _NUMBER.fullmatch(value):
        return value

    return float(value) if "." in value else int(value)
