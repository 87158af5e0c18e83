"""Ingest: an import file becomes writes, all of it or a stated part, never half.

A plain import is a series of writes made now: each line has a stamp of its own. The whole file is
checked before anything is written; then up to `LINES_AT_ONCE` lines share one transaction, so a
file of that size is taken as a whole or not at all. If only the store can tell that a line is
wrong, the transaction it stands in is undone and the error says what is stored.

A replay loads a history: consecutive lines with one `recorded_at` are one write with that stamp,
and many of these share a transaction. Those that are stored already are skipped, so an interrupted
replay is simply run again. A definition holds from its place on, and for the whole of the group it
stands in.

Talk stands in lines of its own kind, each text a transaction with the claims found in it; `talk`
reads and writes these.

With `keep_going` a refused line goes to a rejects file with its number and its reason; without
it all refusals of a file are told at once, and a check tells them and writes nothing at all.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ...schema.errors import InvalidInput, TenureError, Unavailable
from ...schema.interval import MIN_US
from ...schema.principal import DEFINE, OPERATE, Principal, visible_scopes
from ...schema.slots import Vocabulary
from ...schema.write import Draft, Submission, Write
from ...store.commit.work import Result
from ...store.port.store import WriteTx
from ..backend.backend import Backend
from ..backend.caller import Caller
from ..backend.definitions import with_definition
from .choices import Choices
from .content import check_shape
from .csv_lines import is_table, table_lines
from .event_lines import (
    STDIN,
    Definition,
    Event,
    Line,
    Reading,
    TalkLine,
    at_line,
    at_lines,
    batches,
    lines_of,
    opened,
    read,
)
from .history import LINES_AT_ONCE, HistoryLines, PendingGroups, history_lines, steps_of
from .ingest_report import IngestReport, Tally
from .refusals import (
    Refusals,
    refused_line,
    reject_lines,
    write_rejects,
)
from .sanitize import sanitize
from .trust import References, WriteContext
from .write import Writer, referenced_ids

if TYPE_CHECKING:
    from .talk import LineText, TalkImport

Item = Definition | TalkLine | Event

Lines = Callable[[], Iterator[Line]]
"""Gives the lines of a source from the start, as often as it is called."""


@dataclass(frozen=True, slots=True)
class Importer(Caller):
    """The import use-case of one caller."""

    choices: Choices

    def file(self, path: str | Path) -> IngestReport:
        """Import a file, or standard input as `-`.

        Raises:
            TenureError: the first line that cannot be taken, with its number in front.
        """
        with _rereadable(path) as copy:
            report = self.run(lambda: self._lines(copy))

        if self.choices.retry and not self.choices.check and not report.rejected:
            Path(path).unlink()
        return report

    def _lines(self, path: str | Path) -> Iterator[Line]:
        """The lines of a file, a table or the rejects of an import before."""
        if self.choices.retry:
            yield from reject_lines(path)
        elif self.choices.mapping is not None or is_table(path):
            yield from table_lines(path, self.choices.mapping)
        else:
            with opened(path) as source:
                yield from source

    def run(self, lines: Lines) -> IngestReport:
        """Import lines that can be read twice: once to check them, once to write them."""
        if self.choices.reading.replay:
            self.principal.require(OPERATE)

        # Twice through the lines: a file that is refused has written nothing.
        tally = Tally()
        if self.choices.check:
            return self._check_report(lines(), tally)

        if not self.choices.keep_going:
            error = self._check(lines())[0].error()
            if error is not None:
                raise error

        write = self._replay if self.choices.reading.replay else self._write
        write(self._items(lines(), tally), tally)

        tally.rejected.sort(key=lambda refusal: refusal.line)
        return tally.report(write_rejects(tally.rejected, self.choices.rejects))

    def _check_report(self, lines: Iterator[Line], tally: Tally) -> IngestReport:
        refusals, count = self._check(lines)
        return replace(
            tally.report(None),
            rejected=tuple(refusals.lines),
            refused=refusals.total,
            checked=count,
        )

    def _check(self, lines: Iterator[Line]) -> tuple[Refusals, int]:
        """Note every line that no store could take; count all lines."""
        words, before, count = self._words_now(), MIN_US, 0
        refusals = Refusals()
        for line in lines:
            count += 1
            try:
                item = read(line, self.choices.reading)
                if isinstance(item, Definition):
                    self.principal.require(DEFINE)
                    words = with_definition(words, dict(item.members))
                    continue
                if isinstance(item, TalkLine):
                    self._check_talk(item, words)
                    continue
                before = _rising(before, item.recorded_us)
                if not referenced_ids([item.write]):
                    self._draft(item.write, words, _UNWRITTEN)
            except TenureError as error:
                refusals.add(error, line)

        return refusals, count

    def _check_talk(self, utterance: TalkLine, words: Vocabulary) -> None:
        from .observe import Observer
        from .talk import observations_of

        observer = Observer(self._backend, self.principal)
        for observation in observations_of(utterance.members, observer):
            self._draft(observer.passage(observation), words, _UNWRITTEN)

    def _items(self, lines: Iterator[Line], tally: Tally) -> Iterator[Item]:
        for line in lines:
            try:
                yield read(line, self.choices.reading)
            except TenureError as error:
                self._refuse(error, [line], tally)

    def _refuse(self, error: TenureError, lines: Sequence[Line], tally: Tally) -> None:
        """Note refused lines, or stop the import."""
        # A store that cannot be reached would refuse every line: the file is not to blame.
        refusal = at_lines(error, lines[0].number, lines[-1].number)
        if not self.choices.keep_going or isinstance(error, Unavailable):
            raise refusal from error

        reason = str(error) if len(lines) == 1 else str(refusal)
        for line in lines:
            tally.rejected.append(refused_line(error, line, reason))

    def _define(self, item: Definition, tally: Tally) -> None:
        try:
            self.principal.require(DEFINE)
            self._backend.define(self._tenant, dict(item.members))
        except TenureError as error:
            self._refuse(error, [item.line], tally)
        else:
            tally.definitions += 1

    def _write(self, items: Iterator[Item], tally: Tally) -> None:
        talk: TalkImport | None = None
        # By runs and not sorted: a definition holds from its place in the file on.
        for kind, run in groupby(items, key=type):
            for batch in batches(run, LINES_AT_ONCE):
                if kind is Definition:
                    for definition in batch:
                        self._define(definition, tally)
                elif kind is TalkLine:
                    talk = talk or self._talk_import()
                    self._observe(batch, talk, tally)
                else:
                    self._write_batch(batch, tally)

    def _talk_import(self) -> TalkImport:
        # The rules that read talk take longer to load than most imports of events to run.
        from .observe import Observer
        from .talk import TalkImport

        observer = Observer(self._backend, self.principal)
        return TalkImport(self._backend, observer, falls_back=self.choices.keep_going)

    def _observe(self, utterances: Sequence[TalkLine], talk: TalkImport, tally: Tally) -> None:
        texts: list[LineText] = []
        for utterance in utterances:
            try:
                texts += talk.texts(utterance)
            except TenureError as error:
                self._refuse(error, [utterance.line], tally)

        for line, outcome in talk.write(texts):
            if isinstance(outcome, TenureError):
                self._refuse(outcome, [line], tally)
            elif outcome:
                tally.take(outcome)
                tally.transactions += 1
            else:
                tally.skipped += 1
            self._tell(line, tally)

        tally.talk = talk.totals

    def _write_batch(self, events: Sequence[Event], tally: Tally) -> None:
        drafts = self._sound_drafts(events, tally)
        if not drafts:
            return

        results = self._backend.queue(self._tenant).submit(lambda tx: self._commit(tx, drafts))
        if isinstance(results, TenureError):
            raise results

        writing = Writer(self._backend, self.principal)
        for (event, draft), result in zip(drafts, results, strict=True):
            if isinstance(result, TenureError):
                self._refuse(result, [event.line], tally)
            else:
                tally.take(result)
                writing.embed([draft], result)

        tally.transactions += 1
        self._tell(events[-1].line, tally)

    def _commit(self, tx: WriteTx, drafts: Sequence[tuple[Event, Draft]]) -> Sequence[Result]:
        """Write drafts under one lock, a stamp each; without `keep_going` all or none."""
        submissions = [self._submission(draft) for _, draft in drafts]
        results = self._backend.commit(tx, submissions)
        if not self.choices.keep_going:
            for (event, _), result in zip(drafts, results, strict=True):
                # Raised inside of the transaction, which takes the rest of the batch back.
                if isinstance(result, TenureError):
                    raise at_line(result, event.line.number)

        return results

    def _submission(self, draft: Draft) -> Submission:
        return Submission(
            drafts=(draft,),
            scopes=visible_scopes(self.principal),
            actor=self._actor,
            writer=self.principal,
            has_reader=False,
        )

    def _sound_drafts(self, events: Sequence[Event], tally: Tally) -> list[tuple[Event, Draft]]:
        writing, words = Writer(self._backend, self.principal), self._words_now()
        drafts: list[tuple[Event, Draft]] = []
        for event in events:
            try:
                if referenced_ids([event.write]):
                    draft = writing.drafts([event.write])[0]
                else:
                    draft = self._draft(event.write, words, writing.object_id(event.write))
            except TenureError as error:
                self._refuse(error, [event.line], tally)
            else:
                drafts.append((event, draft))

        return drafts

    def _draft(self, write: Write, words: Vocabulary, object_id: str) -> Draft:
        check_shape(write)
        context = WriteContext(self.principal, words, self._backend.policy)
        draft = sanitize(write, context, object_id=object_id, references=References())
        return Writer(self._backend, self.principal).with_key(draft)

    def _replay(self, items: Iterator[Item], tally: Tally) -> None:
        pending, words = PendingGroups(), self._words_now()
        for step in steps_of(items):
            if isinstance(step, Definition):
                # It holds from here on, so what stands before it goes first.
                self._write_groups(pending.drain(), tally)
                self._define(step, tally)
                words = self._words_now()
                continue

            events = self._sound(step, words, tally) if self.choices.keep_going else step
            if not events:
                continue
            history = history_lines(self._tenant, events)
            if not pending.has_room_for(history):
                self._write_groups(pending.drain(), tally)
            pending.add(history)

        self._write_groups(pending.drain(), tally)

    def _write_groups(self, histories: Sequence[HistoryLines], tally: Tally) -> None:
        if not histories:
            return

        try:
            writer = Writer(self._backend, self.principal)
            answers = writer.replay([history.group for history in histories])
        except TenureError as error:
            if len(histories) == 1:
                self._refuse(error, histories[0].lines, tally)
                return
            # Nothing of them stands: by themselves, those before the one that is refused will.
            for history in histories:
                self._write_groups([history], tally)
            return

        for receipts in answers:
            tally.take(receipts)
            if all(receipt.replayed for receipt in receipts):
                tally.skipped_groups += 1
            else:
                tally.transactions += 1

        self._tell(histories[-1].lines[-1], tally)

    def _sound(self, events: Sequence[Event], words: Vocabulary, tally: Tally) -> list[Event]:
        """Leave out the lines of a group that no store could take."""
        sound: list[Event] = []
        for event in events:
            try:
                if not referenced_ids([event.write]):
                    self._draft(event.write, words, _UNWRITTEN)
            except TenureError as error:
                self._refuse(error, [event.line], tally)
            else:
                sound.append(event)

        return sound

    def _tell(self, last: Line, tally: Tally) -> None:
        if self.choices.progress is not None:
            self.choices.progress(last.number, tally.events + tally.skipped)


_UNWRITTEN: Final = "00000000-0000-0000-0000-000000000000"
"""The object id of a draft that is made only to be checked."""


def import_history(
    backend: Backend, principal: Principal, events: Iterable[Mapping[str, Any]]
) -> IngestReport:
    """Load a history of events with explicit, rising `recorded_at`.

    Raises:
        TenureError: the first event that cannot be taken, with its place in front.
    """
    history = [dict(event) for event in events]
    importer = Importer(backend, principal, Choices(Reading(replay=True)))
    return importer.run(lambda: lines_of(history))


def _rising(before_us: int, recorded_us: int | None) -> int:
    """Return the later of two recording times; a history never runs backwards."""
    if recorded_us is None:
        return before_us

    if recorded_us < before_us:
        raise InvalidInput(
            "recorded_at is earlier than in the line before; sort the file by recorded_at",
            code="tx_backwards",
        )

    return recorded_us


@contextmanager
def _rereadable(path: str | Path) -> Generator[str | Path]:
    """Give a path that can be read twice; standard input is kept in a temporary file."""
    if str(path) != STDIN:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="tenure-") as folder:
        copy = Path(folder) / "stdin.jsonl"
        with copy.open("wb") as target:
            shutil.copyfileobj(sys.stdin.buffer, target)
        yield copy
