"""Artifact files: the bytes of artifacts and their grants, on any file system of fsspec.

    <root>/<sha256 of the tenant>/<2 hex>/<64 hex>/data
                                                  /grant-<id>.json
                                                  /erased.json
    <root>/<sha256 of the tenant>/of/<sha256 of an object id>/<64 hex>

A tenant's files have a name that no caller can state, so no address reaches another tenant's. Bytes
are whole or absent: a disk gets temporary files with one sync each and one for a folder's names,
other systems one put. They are checked against their digest on every read. The grant is written
last, so a reader that finds it finds the bytes and the links. Its name follows from its content: an
edited or cut grant admits no reader, and the next put of its caller writes it again.

An erasure writes its tombstone first, and a put looks for one last, so the erasure wins. Listings
are not cached, because other processes write too. A bucket is never created. Access is decided by
the callers of this module. Checklist: C-220.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol, cast

from ...schema.artifact import MAX_BYTES, Artifact, artifact_from_json
from ...schema.errors import Conflict, InvalidInput, Unavailable
from .whole_file import private_folder, whole_files

_DATA: Final = "data"
_GRANT: Final = "grant-"
_ERASED: Final = "erased.json"


class _FileSystem(Protocol):
    """What is used of fsspec."""

    protocol: str | Sequence[str]
    root_marker: str
    """What paths begin with where the root needs no name; empty in a store of buckets."""

    def cat_file(self, path: str) -> bytes: ...
    def exists(self, path: str) -> bool: ...
    def find(self, path: str) -> list[str]: ...
    def invalidate_cache(self) -> None: ...
    def makedirs(self, path: str, exist_ok: bool = False) -> None: ...
    def pipe_file(self, path: str, value: bytes) -> None: ...
    def rm_file(self, path: str) -> None: ...


class ArtifactFiles:
    """The artifacts of all tenants under one root."""

    def __init__(self, url: str, *, max_bytes: int = MAX_BYTES, **options: Any) -> None:
        """Name a root: a folder, or any URL of fsspec; `options` go to its file system.

        Nothing is opened or made before the first artifact is put or asked for.
        """
        self.url = url
        self.max_bytes = max_bytes
        self._options = options

    def put(self, tenant: str, grant: Artifact, data: bytes) -> None:
        """Keep bytes and a grant to read them; the same again changes nothing.

        Raises:
            InvalidInput: `too_large`.
            Conflict: `erased`, for bytes that were erased.
            Unavailable: `artifacts_unreachable`.
        """
        if len(data) > self.max_bytes:
            raise InvalidInput(
                f"an artifact holds at most {self.max_bytes:,} bytes, not {len(data):,}; divide "
                "it, or raise artifacts.max_bytes",
                code="too_large",
            )

        # The grant last: a crash before it leaves bytes that nobody may read, and the same put
        # again completes it.
        with self._reaching():
            self._refuse_erased(tenant, grant.digest)
            links = [self._link(tenant, object_id, grant.digest) for object_id in grant.object_ids]
            contents = dict.fromkeys(links, b"")
            contents[self._path(tenant, grant.digest, _DATA)] = data

            name = f"{_GRANT}{grant.grant_id}.json"
            path = self._path(tenant, grant.digest, name)
            if self._grant_at(path) is None:
                contents[path] = grant.to_json().encode()
            self._write(contents)

            # Once more: an eraser that ran during this put has seen none of what it wrote.
            self._refuse_erased(tenant, grant.digest)

    def read(self, tenant: str, digest: str) -> bytes:
        """Return the bytes, checked.

        Raises:
            Unavailable: `artifact_damaged`, `artifacts_unreachable`.
        """
        with self._reaching():
            data = self._files.cat_file(self._path(tenant, digest, _DATA))

        if hashlib.sha256(data).hexdigest() != digest:
            raise Unavailable(
                f"the bytes of artifact {digest[:12]} are not what was put; restore the file "
                "from a copy, or put the artifact again",
                code="artifact_damaged",
            )

        return data

    def grants(self, tenant: str, digest: str) -> tuple[Artifact, ...]:
        """Return the grants of an artifact, oldest first; none of an erased one."""
        with self._reaching():
            paths = self._files.find(self._path(tenant, digest))
            return self._artifacts_at(paths)

    def every(self, tenant: str) -> tuple[Artifact, ...]:
        """Return all grants of a tenant, oldest first."""
        with self._reaching():
            return self._artifacts_at(self._files.find(self._path(tenant)))

    def holds(self, tenant: str, digest: str) -> bool:
        """Tell whether bytes or grants of an artifact are here, whatever state they are in."""
        with self._reaching():
            paths = self._files.find(self._path(tenant, digest))
        return any(not path.endswith(_ERASED) for path in paths)

    def damaged(self, tenant: str, digest: str = "") -> tuple[str, ...]:
        """Name the grants that no longer say what was granted, of one artifact or of all.

        Each as the digest of its artifact and the name of its file, sorted.
        """
        names: list[str] = []
        with self._reaching():
            for path in filter(_is_grant, self._files.find(self._path(tenant, digest))):
                # One that is gone by now was erased, not damaged.
                if self._grant_at(path) is None and self._files.exists(path):
                    names.append("/".join(path.split("/")[-2:]))
        return tuple(sorted(names))

    def of_object(self, tenant: str, object_id: str) -> tuple[str, ...]:
        """Return the digests of artifacts that hold an object's words, sorted."""
        with self._reaching():
            paths = self._files.find(self._link(tenant, object_id))
        return tuple(sorted(path.rpartition("/")[2] for path in paths))

    def tombstone(self, tenant: str, digest: str) -> bytes | None:
        """Return what an erasure left; None for an artifact that was not erased."""
        with self._reaching():
            path = self._path(tenant, digest, _ERASED)
            return self._files.cat_file(path) if self._files.exists(path) else None

    def erase(self, tenant: str, digest: str, tombstone: bytes) -> None:
        """Remove the bytes and every grant; the tombstone stays."""
        # The tombstone first: whoever crashes behind it has erased, and the next put clears up.
        with self._reaching():
            self._write({self._path(tenant, digest, _ERASED): tombstone})
            self._clear(tenant, digest)

    def _refuse_erased(self, tenant: str, digest: str) -> None:
        if self._files.exists(self._path(tenant, digest, _ERASED)):
            self._clear(tenant, digest)
            raise Conflict("these bytes were erased; they may not be kept again", code="erased")

    def _clear(self, tenant: str, digest: str) -> None:
        for path in sorted(self._files.find(self._path(tenant, digest))):
            if not path.endswith(_ERASED):
                with suppress(FileNotFoundError):  # another eraser was faster
                    self._files.rm_file(path)

    def _artifacts_at(self, paths: Sequence[str]) -> tuple[Artifact, ...]:
        grants = map(self._grant_at, filter(_is_grant, paths))
        artifacts = [grant for grant in grants if grant is not None]
        return tuple(sorted(artifacts, key=lambda grant: (grant.at, grant.address, grant.grant_id)))

    def _grant_at(self, path: str) -> Artifact | None:
        """Return the grant of a file; None for one that is not there or fits its name no longer."""
        try:
            grant = artifact_from_json(self._files.cat_file(path).decode())
        except (FileNotFoundError, ValueError):
            return None

        # An edited scope or role gives another id: nobody is admitted by it.
        fits = path.endswith(f"{grant.digest}/{_GRANT}{grant.grant_id}.json")
        return grant if fits else None

    def _path(self, tenant: str, digest: str = "", name: str = "") -> str:
        # Hashed, because a tenant may be called anything, `..` and upper case among it.
        parts = [self._root, hashlib.sha256(tenant.encode()).hexdigest()]
        parts += [digest[:2], digest] if digest else []
        return "/".join([*parts, name] if name else parts)

    def _link(self, tenant: str, object_id: str, digest: str = "") -> str:
        key = hashlib.sha256(object_id.encode()).hexdigest()
        path = f"{self._path(tenant)}/of/{key}"
        return f"{path}/{digest}" if digest else path

    @cached_property
    def _opened(self) -> tuple[_FileSystem, str]:
        core: Any = import_module("fsspec.core")  # the file system of a URL loads when it is used
        opened, root = core.url_to_fs(self.url, **self._options)
        files = cast("_FileSystem", opened)
        if not root and not files.root_marker:
            raise ValueError("it names no bucket; state one, as in s3://bucket/path")

        return files, str(root).rstrip("/")

    @property
    def _files(self) -> _FileSystem:
        return self._opened[0]

    @property
    def _root(self) -> str:
        return self._opened[1]

    def _write(self, contents: Mapping[str, bytes]) -> None:
        """Keep files, which appear in the order given."""
        # Files of this machine are synced and renamed into place; object stores do that alone.
        # A file system has one name, or several.
        protocol = self._files.protocol
        if "file" in ((protocol,) if isinstance(protocol, str) else protocol):
            for path in contents:
                private_folder(_folder(path))
            whole_files({Path(path): data for path, data in contents.items()})
            return

        for path, data in contents.items():
            self._pipe(path, data)

    def _pipe(self, path: str, data: bytes) -> None:
        try:
            self._files.pipe_file(path, data)
        except FileNotFoundError:
            # `makedirs` would make one of any mistyped name.
            bucket = self._root.partition("/")[0]  # none of a path that begins with a slash
            if bucket and not self._files.exists(bucket):
                sentence = f"there is no bucket {bucket!r}; make it, or name another"
                raise FileNotFoundError(sentence) from None
            self._files.makedirs(_folder(path), exist_ok=True)
            self._files.pipe_file(path, data)

    @contextmanager
    def _reaching(self) -> Generator[None]:
        """Tell what goes wrong on the way to the files as `artifacts_unreachable`."""
        try:
            self._files.invalidate_cache()
            yield
        except _failures() as error:
            lacking = isinstance(error, ImportError) and self.url.startswith(("s3:", "s3a:"))
            advice = "; pip install 'tenure[s3]'" if lacking else ""
            raise Unavailable(
                f"the artifacts at {self.url} cannot be reached: {error}{advice}",
                code="artifacts_unreachable",
            ) from error


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _is_grant(path: str) -> bool:
    return path.rpartition("/")[2].startswith(_GRANT)


def _failures() -> tuple[type[Exception], ...]:
    """Return what goes wrong on the way; a loaded driver has errors of its own."""
    botocore: Any = sys.modules.get("botocore.exceptions")
    known = (ImportError, OSError, ValueError)
    return known if botocore is None else (*known, botocore.BotoCoreError)
