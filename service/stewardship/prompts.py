"""What agents would have read: past prompts about a person, asked again under a decision.

The last envelopes that hold anything about either side of a case are compiled again twice: as the
store stands, and inside a transaction in which the decision was made and which is taken back. A
replay could not tell, for it starts from the candidates of then. Only texts that differ are
shown. Those that the steward may not open are neither shown nor counted, and push no other out; one
that may be opened and not be read whole is counted. The write lock is held for some prompts at a
time, so that writers wait no longer than for a few compiles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from ...compiler.envelope.envelope import Envelope
from ...compiler.ir.context import COMPILER_VERSION
from ...compiler.request.parse import request_from_json
from ...compiler.trace.manifest import Manifest, principal_of, stored_manifest
from ...schema.errors import TenureError
from ...schema.records import short_repr
from ...schema.terms import TERMS_VERSION
from ...schema.values import moment
from ...store.port.store import Ask, Point, Reader, WriteTx
from ..backend.caller import Caller
from ..compilation.compile import may_read
from ..compilation.recompile import Recompiler, TextLine, around_changes, text_lines
from ..reading.envelopes import may_open
from ..reading.objects import visible_rows
from .rehearsal import outcome_of

PROMPTS: Final = 20
"""Envelopes that are asked again, the newest ones."""

_PORTION: Final = 5
"""Envelopes that are compiled under one hold of the write lock."""

_OBJECTS: Final = 200
"""The newest objects of both sides whose envelopes are looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedPrompt:
    """A prompt that would read otherwise."""

    __repr__ = short_repr

    envelope_id: str
    task: str
    query: str
    user: str | None
    """Whose it was."""
    compiled_at: datetime | None
    """When it was compiled."""
    lines: tuple[TextLine, ...]
    """What differs, with some lines around it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPreview:
    """What a decision would have changed in the last prompts about its people."""

    __repr__ = short_repr

    prompts: tuple[ChangedPrompt, ...]
    """The newest first."""
    unchanged_count: int
    withheld_count: int
    """Those that the steward may open and not read whole; what others asked is not counted."""
    skipped_count: int
    """Those of an earlier version, with media, or of a session's window: not asked again."""


NO_PROMPTS: Final = PromptPreview(prompts=(), unchanged_count=0, withheld_count=0, skipped_count=0)


@dataclass(frozen=True, slots=True)
class PromptRehearsals(Caller):
    """Prompts asked again, as if a decision were made."""

    def preview(
        self, entity_ids: Sequence[str], decide: Callable[[WriteTx], object]
    ) -> PromptPreview:
        """What a decision would have changed in the last prompts about these entities.

        `decide` makes the decision in a transaction that has its lock.

        Raises:
            TenureError: what the decision would be refused with.
        """
        with self._reading() as reader:
            manifests = list(self._manifests(reader, entity_ids))

        repeatable = [manifest for manifest in manifests if _can_repeat(manifest)]
        skipped_count = len(manifests) - len(repeatable)
        withheld_count = 0

        # A portion shares one rehearsal, because writers wait while it runs.
        prompts: list[ChangedPrompt] = []
        for first in range(0, len(repeatable), _PORTION):
            part = repeatable[first : first + _PORTION]
            for manifest, before, after in self._pairs(part, decide):
                if before is None or after is None:
                    withheld_count += 1
                elif _words(before) != _words(after):
                    prompts.append(_changed_prompt(manifest, before, after))

        return PromptPreview(
            prompts=tuple(prompts),
            unchanged_count=len(manifests) - withheld_count - skipped_count - len(prompts),
            withheld_count=withheld_count,
            skipped_count=skipped_count,
        )

    def _manifests(self, reader: Reader, entity_ids: Sequence[str]) -> Iterator[Manifest]:
        """The newest envelopes about these entities that may be opened, the last one first."""
        ask = Ask(subjects=tuple(entity_ids), heads=False, at_valid=False, at_tx=False)
        point = Point(0, reader.clock().last_us)
        page = reader.versions(ask, sight=self.principal.sight(), point=point)
        newest_first = reversed(visible_rows(page.versions))
        object_ids = dict.fromkeys(version.row.claim.object_id for version in newest_first)

        manifests: list[Manifest] = []
        for envelope_id in reader.envelopes_of(list(object_ids)[:_OBJECTS]):
            text = reader.manifest(envelope_id)
            manifest = stored_manifest(text) if text else None
            # Before the cut: what others asked must not take the place of what one may read.
            if manifest is not None and may_open(self.principal, manifest):
                manifests.append(manifest)
        manifests.sort(key=lambda manifest: (-manifest.tx_us, manifest.envelope_id))
        yield from manifests[:PROMPTS]

    def _pairs(
        self, manifests: Sequence[Manifest], decide: Callable[[WriteTx], object]
    ) -> Iterator[tuple[Manifest, Envelope | None, Envelope | None]]:
        """Each prompt as it is and as it would be; None for one that may not be read."""
        with self._reading() as reader:
            before = [self._compile_again(reader, manifest) for manifest in manifests]

        def after(tx: WriteTx) -> list[Envelope | None]:
            decide(tx)
            reader = tx.reader()
            return [self._compile_again(reader, manifest) for manifest in manifests]

        yield from zip(
            manifests, before, outcome_of(self._backend.store, self._tenant, after), strict=True
        )

    def _compile_again(self, reader: Reader, manifest: Manifest) -> Envelope | None:
        recompiler = Recompiler(self._backend, self.principal)
        point = Point(manifest.valid_us, reader.clock().last_us)
        try:
            envelope = recompiler.envelope(manifest, reader, point)
        except TenureError:  # a budget or scope that its caller would be refused today
            return None
        is_readable = may_read(reader, envelope, self.principal, self._backend.policy)
        return envelope if is_readable else None


def _can_repeat(manifest: Manifest) -> bool:
    """Whether the request of an envelope holds all that a compile needs."""
    versions = manifest.compiler_version, manifest.terms_version
    request = request_from_json(manifest.request)
    return (
        versions == (COMPILER_VERSION, TERMS_VERSION)
        and not request.media
        and request.window is None
        and not manifest.without
    )


def _words(envelope: Envelope) -> str:
    """What a model reads between the keyed lines, which differ with every other content."""
    return "\n".join(f"{block.section}\n{block.text}" for block in envelope.blocks)


def _changed_prompt(manifest: Manifest, before: Envelope, after: Envelope) -> ChangedPrompt:
    request = request_from_json(manifest.request)
    lines = tuple(text_lines(_words(before), _words(after)))
    return ChangedPrompt(
        envelope_id=manifest.envelope_id,
        task=request.task,
        query=request.query,
        user=principal_of(manifest).user,
        compiled_at=moment(manifest.tx_us),
        lines=around_changes(lines),
    )
