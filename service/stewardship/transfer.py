"""Export and restore of a tenant as a file, for those who may operate it.

The file holds everything on both axes, and by default the tenant's secret keys, so that
signatures and boundaries stay valid: it is made readable for its owner alone. It appears
whole under its name or not at all. A name that ends in `.gz` is packed; `-` is standard
output or input. What is in the file is the store's business (`store.transfer`).
"""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, cast

from ...schema.errors import InvalidInput
from ...schema.interval import INF_US
from ...schema.limits import RECORD_BYTES
from ...schema.principal import OPERATE
from ...schema.values import CLOCK_SKEW_US
from ...store.transfer.restore import RestoreProgress as RestoreProgress
from ...store.transfer.restore import Watch, restore
from ...store.transfer.transfer import export_lines
from ..backend.caller import Caller, argument_checks
from ..backend.files import new_file
from ..writing.lines import STDIN, Line, check_readable, opened

_TELL_EACH: Final = 1_000
"""Records between two words about how far an export is."""


@dataclass(frozen=True, slots=True)
class TransferReport:
    """What an export or a restore moved."""

    path: str
    tenant: str
    records: int
    """Lines between the header and the footer."""
    keys: bool
    """Whether an export holds the tenant's secret keys."""


@argument_checks
@dataclass(frozen=True, slots=True)
class Transfer(Caller):
    """The export and the restore of one caller's tenant."""

    def export(
        self,
        path: str | Path,
        *,
        keys: bool = True,
        replace: bool = False,
        watch: Callable[[int], None] | None = None,
    ) -> TransferReport:
        """Write the tenant into a file and report what was written.

        `watch` is told some thousand records apart how many are written.

        Raises:
            Conflict: `file_exists`, unless `replace`.
            Forbidden: `privilege_required`.
            Unavailable: `file_unwritable`.
        """
        self.principal.require(OPERATE)
        self._backend.settle()

        count = 0
        with _target_file(path, replace=replace) as target, self._reading() as reader:
            for line in export_lines(reader, tenant=self._tenant, keys=keys):
                target.write(line + "\n")
                count += 1
                if watch is not None and count % _TELL_EACH == 0:
                    watch(count)

        return TransferReport(str(path), self._tenant, max(count - 2, 0), keys)

    def lines(self, *, keys: bool = False) -> Iterator[str]:
        """The lines of an export out of one snapshot, which stays open until the last is taken.

        Raises:
            Forbidden: `privilege_required`, with the first line.
        """
        self.principal.require(OPERATE)
        self._backend.settle()
        with self._reading() as reader:
            yield from export_lines(reader, tenant=self._tenant, keys=keys)

    def import_file(
        self,
        path: str | Path,
        *,
        resume: bool = False,
        accept_future: bool = False,
        watch: Watch | None = None,
    ) -> TransferReport:
        """Restore an export into this tenant, which must be empty.

        It is written in groups, and `watch` is told how far it is. Until the last one stands
        the tenant answers nobody. One that was interrupted goes on with `resume` and the same
        file, or is taken back by `abort`.

        Raises:
            Conflict: `tenant_not_empty`; `in_progress` without `resume`, or for another file.
            Forbidden: `privilege_required`.
            InvalidInput: `bad_export`, with the number of the line; `tx_in_future` where it ends
                later than the clock, unless `accept_future`; no record stays.
        """
        self.principal.require(OPERATE)
        latest_us = INF_US if accept_future else self._backend.now_us() + CLOCK_SKEW_US
        count = 0

        def texts(lines: Iterator[Line]) -> Iterator[str]:
            nonlocal count
            for line in lines:
                count += 1
                yield _checked_text(line)

        with opened(path, line_bytes=RECORD_BYTES) as lines:
            store, tenant = self._backend.store, self._tenant
            restore(texts(lines), store, tenant, resume=resume, latest_us=latest_us, watch=watch)

        return TransferReport(str(path), self._tenant, max(count - 2, 0), keys=False)

    def abort(self) -> None:
        """Take back a restore that is not complete: the tenant is empty again.

        Raises:
            Conflict: `no_import`.
            Forbidden: `privilege_required`.
        """
        self.principal.require(OPERATE)
        self._backend.store.abort_import(self._tenant)


def _checked_text(line: Line) -> str:
    """The text of a line of an export.

    Raises:
        InvalidInput: `bad_export`, for one that could not be read.
    """
    try:
        check_readable(line.text)
    except InvalidInput as error:
        raise InvalidInput(
            f"line {line.number} of the export: {error}; nothing was restored",
            code="bad_export",
            line=line.number,
        ) from error
    return line.text


@contextmanager
def _target_file(path: str | Path, *, replace: bool) -> Generator[IO[str]]:
    """Give a text file that takes its name only when all of it is written."""
    if str(path) == STDIN:
        yield sys.stdout
        return

    packed = str(path).endswith(".gz")
    with new_file(path, replace=replace) as raw:
        # Without a time in the header the same tenant gives the same bytes.
        stream = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if packed else raw
        with io.TextIOWrapper(cast("IO[bytes]", stream), encoding="utf-8", newline="\n") as text:
            yield text
