"""A folder, synchronised: what is new, changed, gone or the same, with an interrupted run resumed.

A file of the size and time that the cache knows is not read, one with the digest of its outline is
not parsed. The outlines are the only state: the cache may be deleted, and an interrupted run is
simply run again. A refused file leaves the store and all other files as they were.

Which files are taken, and on which terms, is in `documents.toml`: a table `[source]` and tables
`[[rule]]` with `match`. Of the rules that match a path the last one wins, field by field. Patterns
are those of a `.gitignore`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import stat
import time
import unicodedata
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple, Required, Unpack, cast

from pathspec import GitIgnoreSpec
from pydantic import BaseModel, ValidationError, with_config

from ...resolution.keys import alias_key
from ...schema.errors import Conflict, InvalidInput, NotFound, TenureError, unknown_field
from ...schema.limits import toml_of, utf8_of
from ...schema.principal import OPERATE
from ...schema.values import canonical_json
from ...schema.vocabulary import Op
from ...store.port.store import Point
from ...store.transfer.whole_file import private_folder, whole_file
from .blocks import MAX_BYTES, refusal
from .keeping import DocumentKeeper
from .records import DocumentProblem, DocumentReport, SyncReport, SyncWatch
from .state import full_name, outline_rows
from .terms import FileFields, PutFields, RunFields, Terms

_MOST_GONE: Final = 10
_SHARE_GONE: Final = 0.3
"""More than both gone in one run is a folder that is not there, rather than one tidied up."""
_MOST_FORMER: Final = 20
"""Documents without a file that a new file is compared with: those with the likest paths."""


class _Source(BaseModel, extra="forbid", strict=True):
    name: str = ""
    exclude: str | list[str] = []
    follow: bool = False


@with_config(extra="forbid", strict=True)
class _Rule(FileFields, total=False):
    """What a rule states of the files that it matches; the rest is left to the others."""

    match: Required[str]
    exclude: bool
    max_bytes: int
    project: str
    password_env: str
    origin: str


class SyncRules(BaseModel, extra="forbid", strict=True):
    """The rules of a source."""

    source: _Source = _Source()
    rule: list[_Rule] = []

    def terms_of(self, path: str, terms: Terms) -> Terms | None:
        """What every rule that matches a path states, the last one first; None: it stays out."""
        merged: dict[str, Any] = {}
        for rule in self.rule:
            if ignore_patterns(rule["match"]).match_file(path):
                merged.update(rule)

        exclude = self.source.exclude
        outside = ignore_patterns(*([exclude] if isinstance(exclude, str) else exclude))
        if merged.pop("exclude", False) or outside.match_file(path):
            return None

        merged.pop("match", None)
        project = merged.pop("project", None)
        if project is not None:
            merged["scope"] = {**(merged.get("scope") or {}), "project": project}
        merged["max_bytes"] = min(merged.get("max_bytes", MAX_BYTES), MAX_BYTES)
        return replace(terms, **merged)


@lru_cache(maxsize=256)
def ignore_patterns(*patterns: str) -> GitIgnoreSpec:
    """The patterns of a `.gitignore`: the last one that matches decides, `!` takes back."""
    return GitIgnoreSpec.from_lines(patterns)


def load_rules(path: str | Path | None) -> SyncRules:
    """The rules of a file; none without one.

    Raises:
        InvalidInput: `bad_rules`, `unknown_field`.
    """
    if path is None:
        return SyncRules()
    place = str(path)
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InvalidInput(f"{place} cannot be read: {error.strerror}", code="bad_rules") from error

    tables = toml_of(utf8_of(content, place, code="bad_rules"), place, code="bad_rules")
    try:
        return SyncRules.model_validate(tables)
    except ValidationError as error:
        problem = error.errors()[0]
        where = [str(part) for part in problem["loc"] if isinstance(part, str)]
        if problem["type"] == "extra_forbidden":
            known = {**SyncRules.model_fields, **_Source.model_fields, **_Rule.__annotations__}
            raise unknown_field(where[-1], known, f" in {place}") from error
        raise InvalidInput(
            f"{place}: {'.'.join(where)}: {problem['msg']}", code="bad_rules"
        ) from error


class FoundFile(NamedTuple):
    """A file of the folder, or why it is none."""

    path: str
    """Below the folder, with strokes, in NFC."""
    place: Path
    size: int
    modified_ns: int
    problem: str = ""


@dataclass(slots=True, kw_only=True)
class FolderSync:
    """One run that brings the documents of a source to what a folder holds."""

    target: StoreTarget | ServerTarget
    source: str
    rules: SyncRules
    remove: bool = True
    allow_removals: bool = False
    check: bool = False
    keep_original: bool = False
    claims: str = "off"
    """Who finds claims in files of which no rule says so."""
    progress: SyncWatch | None = None
    cache_path: Path | None = field(default=None, init=False)
    stored: Mapping[str, str] = field(default_factory=dict[str, str], init=False)
    known: Mapping[str, list[Any]] = field(default_factory=dict[str, list[Any]], init=False)
    """Size, time, terms and version of the files of the run before, by path."""
    fresh: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]], init=False)
    gone: set[str] = field(default_factory=set[str], init=False)
    """Names of documents whose files are gone."""
    is_changed: bool = field(default=False, init=False)

    def run(self, folder: str | Path) -> SyncReport:
        """Synchronise a folder.

        Raises:
            NotFound: `no_such_folder`; nothing is removed.
            Conflict: `sync_running`.
        """
        began = time.monotonic()
        root = Path(folder)
        if not root.is_dir():
            raise NotFound(
                f"there is no folder {folder}; nothing was changed", code="no_such_folder"
            )

        full_name("x", self.source)
        base = self.target.cache_folder
        digest = hashlib.sha256(canonical_json([self.target.key, self.source]).encode()).hexdigest()
        with _only_run(digest, None if base is None else base / f"{digest[:32]}.lock", self.source):
            self.cache_path = None if base is None or self.check else base / digest[:32]
            was_interrupted, self.known = _load_cache(self.cache_path)
            self.stored = self.target.digests(self.source)
            unreadable: list[str] = []
            terms = Terms(source=self.source, claims=self.claims, check=self.check, governs=True)
            found_files = walk(root, unreadable, follow=self.rules.source.follow)
            ruled = ((file, self.rules.terms_of(file.path, terms)) for file in found_files)
            files = [(file, file_terms) for file, file_terms in ruled if file_terms is not None]
            # A file that is refused is there all the same: its document is not gone.
            present = {f"{self.source}/{found_file.path}" for found_file, _ in files}
            if self.remove and not unreadable:
                self.gone.update(self.stored.keys() - present)

            reports: list[DocumentReport] = []
            paths_by_key: dict[str, str] = {}
            for found_file, file_terms in files:
                path = found_file.path
                other = paths_by_key.setdefault(alias_key(path), path)
                reports.append(self._file(found_file, file_terms, "" if other == path else other))
                if self.progress is not None:
                    self.progress(len(reports), len(files), path)

            for path in unreadable:
                reports.append(_refused(path, "unreadable_folder", f"{path} cannot be read"))
            reports += self._removals()
            if self.is_changed:
                stored = self.target.digests(self.source)
                files_now = {
                    path: [*line, stored.get(f"{self.source}/{path}")]
                    for path, line in self.fresh.items()
                }
                _save_cache(self.cache_path, files_now, running=False)

        return SyncReport(
            source=self.source,
            counts=dict(sorted(Counter(report.outcome for report in reports).items())),
            reports=tuple(report for report in reports if report.outcome != "same"),
            seconds=time.monotonic() - began,
            resumed=was_interrupted,
        )

    def _file(self, found_file: FoundFile, terms: Terms, clash: str) -> DocumentReport:
        """The report of one file; `clash` is the path of another one of the same name."""
        path = found_file.path
        try:
            if found_file.problem:
                raise refusal(found_file.problem, f"{path} is no regular file")
            if clash:
                raise refusal("name_clash", f"{path} and {clash} are one name; rename one")
            if found_file.size > terms.max_bytes:
                message = f"{path} has {found_file.size} bytes, at most {terms.max_bytes} are taken"
                raise refusal("too_large", message)
            name = full_name(path, self.source)
            terms_digest = hashlib.sha256(repr(terms).encode()).hexdigest()
            line = [found_file.size, found_file.modified_ns, terms_digest]
            if name in self.stored and self.known.get(path) == [*line, self.stored[name]]:
                self.fresh[path] = line
                return DocumentReport(name=name, outcome="same")

            terms = replace(
                terms,
                password=os.environ.get(terms.password_env or ""),
                keep_original=self.keep_original,
                former=() if name in self.stored else _likest(name, self.gone),
            )
            if not self.is_changed:
                # A run that ends from here on was interrupted.
                self.is_changed = True
                _save_cache(self.cache_path, self.known, running=True)
            report = self.target.put(_read_unchanged(found_file), path, terms)
        except TenureError as error:
            return _refused(path, error.code, str(error))

        self.gone.discard(report.former)
        self.fresh[path] = line
        return report

    def _removals(self) -> Iterator[DocumentReport]:
        """End the documents whose files are gone, unless that is most of them."""
        count = len(self.gone)
        too_many = count > _MOST_GONE and count > _SHARE_GONE * len(self.stored)
        if too_many and not self.allow_removals:
            message = (
                f"{count} of {len(self.stored)} documents have no file any more; none was removed. "
                "Check the folder, or run again with --allow-removals "
                "(allow_removals=True)"
            )
            yield _refused(self.source, "sync_would_remove", message)
            return

        for name in sorted(self.gone):
            ended = DocumentReport(name=name, outcome="removed")
            yield ended if self.check else self.target.remove(name)


def sync_folder(
    target: StoreTarget | ServerTarget,
    folder: str | Path,
    source: str | None = None,
    rules: str | Path | None = None,
    **options: Unpack[RunFields],
) -> SyncReport:
    """Synchronise a folder by a file of rules.

    Raises:
        NotFound: `no_such_folder`.
        Conflict: `sync_running`.
        InvalidInput: `bad_rules`, `bad_name`.
    """
    loaded = load_rules(rules)
    name = source or loaded.source.name or Path(folder).resolve().name
    return FolderSync(target=target, source=name, rules=loaded, **options).run(folder)


@dataclass(frozen=True, slots=True)
class StoreTarget(DocumentKeeper):
    """The store of this process as the target of a sync."""

    @property
    def key(self) -> str:
        """What tells this store and tenant from any other."""
        store = self._backend.store
        return canonical_json(
            [store.url, id(store) if store.url == ":memory:" else 0, self._tenant]
        )

    @property
    def cache_folder(self) -> Path | None:
        """A folder beside an embedded store, or in the user's cache."""
        url = self._backend.store.url
        if url == ":memory:":
            return None
        return user_cache() if "://" in url else Path(url.rstrip("/") + ".sync").expanduser()

    def digests(self, source: str) -> Mapping[str, str]:
        """The outline of each document of a source that has a version now."""
        sight = self.principal.sight()
        with self._reading() as reader:
            point = Point(self._backend.now_us(), reader.clock().last_us)
            rows = outline_rows(reader, reader.entity_ids(type="document"), sight, point)
        # An operator keeps documents for readers to whom the operator does not belong.
        is_operator = self.principal.holds(OPERATE)
        return {
            row.details.update_path: row.row.claim.object_id
            for row in rows
            if row.row.claim.op is not Op.RETRACT
            and (is_operator or row.visible)
            and row.details.update_path.startswith(f"{source}/")
        }


def user_cache() -> Path:
    """The folder for the caches of stores that are elsewhere."""
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "tenure"


@dataclass(frozen=True, slots=True)
class ServerTarget:
    """The documents of a server as the target of a sync; only the cache knows what is new."""

    documents: Any
    """The documents of a remote client."""
    key: str
    cache_folder: Path = field(default_factory=user_cache)

    def digests(self, source: str) -> Mapping[str, str]:
        """The bytes of each document of a source that has a version now."""
        return {view.name: view.bytes_digest for view in self.documents.list(source=source)}

    def put(self, content: bytes, path: str, terms: Terms) -> DocumentReport:
        """Send a file."""
        fields = {name: getattr(terms, name) for name in PutFields.__annotations__}
        report = self.documents.put(content, name=path, url=terms.origin, **fields)
        return cast("DocumentReport", report)

    def remove(self, name: str) -> DocumentReport:
        """End a document now."""
        return cast("DocumentReport", self.documents.remove(name))


def _likest(name: str, others: Iterable[str]) -> tuple[str, ...]:
    """The names that a file may have had: those of its folder or with its last part go first."""
    folder, last = os.path.split(name)

    def rank(other: str) -> tuple[bool, bool, str]:
        return os.path.basename(other) != last, os.path.dirname(other) != folder, other

    return tuple(sorted(others, key=rank)[:_MOST_FORMER])


@contextlib.contextmanager
def _only_run(key: str, path: Path | None, source: str) -> Generator[None]:
    """Hold the one run of a source, by a lock that ends with the process, however that ends.

    The lock is that of an empty database, which every system has; in memory it is this process's.

    Raises:
        Conflict: `sync_running`.
    """
    if path is not None:
        private_folder(path.parent)
    place = path.absolute().as_uri() if path else f"file:{key}?mode=memory&cache=shared"
    with contextlib.closing(sqlite3.connect(place, timeout=0, uri=True)) as lock:
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            raise Conflict(
                f"another sync of {source} is running; wait for its end", code="sync_running"
            ) from error
        yield


def _load_cache(path: Path | None) -> tuple[bool, dict[str, list[Any]]]:
    """Whether the run before was interrupted, and what it knew; the cache is never the truth."""
    if path is not None:
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            state = json.loads(path.read_text("utf-8"))
            return bool(state["running"]), dict(state["files"])
    return False, {}


def _save_cache(path: Path | None, files: Mapping[str, Any], *, running: bool) -> None:
    if path is not None:
        with whole_file(path) as file:
            file.write(json.dumps({"running": running, "files": files}).encode())


def _refused(path: str, code: str, message: str) -> DocumentReport:
    problem = DocumentProblem(code=code, message=message)
    return DocumentReport(name=path, outcome="refused", problems=(problem,))


def walk(root: Path, unreadable: list[str], *, follow: bool = False) -> Iterator[FoundFile]:
    """The files of a folder in the order of their paths; hidden and ignored ones stay out."""
    seen: set[tuple[int, int]] = set()
    stack: list[tuple[Path, str, tuple[tuple[str, Any], ...]]] = [(root, "", ())]
    while stack:
        folder, prefix, ignores = stack.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            unreadable.append(prefix.rstrip("/") or str(root))
            continue

        ignore_file = folder / ".gitignore"
        if ignore_file.is_file():
            lines = ignore_file.read_text("utf-8", errors="replace").splitlines()
            ignores = (*ignores, (prefix, ignore_patterns(*lines)))

        folders: list[tuple[Path, str, tuple[tuple[str, Any], ...]]] = []
        for entry in entries:
            if entry.name.startswith(".") or (entry.is_symlink() and not follow):
                continue
            try:
                status = entry.stat(follow_symlinks=follow)
            except OSError:
                continue

            is_folder = stat.S_ISDIR(status.st_mode)
            path = prefix + entry.name + "/" * is_folder
            if any(spec.match_file(path.removeprefix(base)) for base, spec in ignores):
                continue
            key = status.st_dev, status.st_ino
            if follow and key in seen:
                continue
            seen.add(key)
            if is_folder:
                folders.append((Path(entry.path), path, ignores))
                continue

            problem = "" if stat.S_ISREG(status.st_mode) else "not_a_file"
            name = unicodedata.normalize("NFC", path)
            yield FoundFile(name, Path(entry.path), status.st_size, status.st_mtime_ns, problem)

        stack += reversed(folders)


def _read_unchanged(found_file: FoundFile) -> bytes:
    """The bytes of a file that did not change while they were read, tried twice.

    Raises:
        InvalidInput: `changed_while_read`, `not_a_file`, `unreadable_file`.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    for _ in range(2):
        try:
            with os.fdopen(os.open(found_file.place, flags), "rb") as file:
                before = os.fstat(file.fileno())
                if not stat.S_ISREG(before.st_mode):
                    raise refusal("not_a_file", f"{found_file.path} is no regular file")
                content = file.read(MAX_BYTES + 1)
                after = os.fstat(file.fileno())
        except OSError as error:
            raise refusal("unreadable_file", f"{found_file.path}: {error.strerror}") from error

        is_same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
        if is_same and len(content) == after.st_size:
            return content

    raise refusal("changed_while_read", f"{found_file.path} changed while it was read; run again")
