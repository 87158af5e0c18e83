"""Ingest: an import file becomes writes, all of it or a stated part.

In a plain import each line is a write with its own stamp. The whole file is checked first; then up
to `LINES_AT_ONCE` lines share a transaction. If only the store can tell that a line is wrong, its
transaction is undone and the error says what is stored.

A replay loads a history: consecutive lines with one `recorded_at` are one write with that stamp,
and many of these share a transaction. Stored writes are skipped, so an interrupted replay can be
run again. A definition applies to the lines after it.

With `keep_going` a refused line goes to a rejects file with its number and its reason. Otherwise
all refusals of a file are reported at once. A check writes nothing.
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
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from ...schema.errors import InvalidInput, TenureError, Unavailable
from ...schema.interval import MIN_US
from ...schema.principal import DEFINE, OPERATE, Principal
from ...schema.slots import Vocabulary
from ...schema.values import CLOCK_SKEW_US, check_not_future
from ...schema.write import Draft, Submission, Write, check_start
from ...store.commit.work import Result
from ...store.port.store import WriteTx
from ..backend.backend import Backend
from ..backend.caller import Caller, check_definition
from ..backend.definitions import with_definition
from .draft import check_shape, sanitize
from .ingest_report import IngestReport, Tally
from .lines import (
    STDIN,
    Definition,
    Event,
    Line,
    Reading,
    TalkLine,
    at_line,
    batches,
    event_lines,
    is_table,
    lines_of,
    opened,
    read,
    table_lines,
)
from .observe import Choices
from .refusals import (
    Refusals,
    refused_line,
    reject_lines,
    write_rejects,
)
from .trust import References, WriteContext
from .write import RecordedGroup, Writer, named_ids, referenced_ids

if TYPE_CHECKING:
    from .talk import LineText, TalkImport

LINES_AT_ONCE: Final = 1_000
"""Lines that share a transaction, unless one group has more: what one statement takes."""

_UNWRITTEN: Final = "00000000-0000-0000-0000-000000000000"
"""The object id of a draft that is made only to be checked."""


class HistoryLines(NamedTuple):
    """The lines of one stamp, and what they write."""

    group: RecordedGroup
    lines: list[Line]


def steps_of(items: Iterable[Definition | TalkLine | Event]) -> Iterator[Definition | list[Event]]:
    """The events of each stamp, in their order; a definition before the group it is in."""
    group: list[Event] = []
    for item in items:
        if isinstance(item, Definition):
            yield item
        elif isinstance(item, Event):  # reading refused talk in a history
            if group and item.recorded_us != group[0].recorded_us:
                yield group
                group = []
            group.append(item)

    if group:
        yield group


def shared_transactions(histories: Iterable[HistoryLines]) -> Iterator[list[HistoryLines]]:
    """Groups that share a transaction, none of which refers to what another one makes."""
    groups: list[HistoryLines] = []
    line_count, object_ids = 0, set[str]()
    for history in histories:
        is_full = line_count + len(history.lines) > LINES_AT_ONCE
        if groups and (is_full or not object_ids.isdisjoint(referenced_ids(history.group.writes))):
            yield groups
            groups, line_count, object_ids = [], 0, set[str]()
        groups.append(history)
        line_count += len(history.lines)
        object_ids.update(history.group.object_ids)

    if groups:
        yield groups


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
            yield from reject_lines(path, self.choices.mapping)
        elif self.choices.mapping is not None or is_table(path):
            yield from table_lines(path, self.choices.mapping)
        else:
            with opened(path) as source:
                yield from event_lines(source)

    def run(self, lines: Lines) -> IngestReport:
        """Import lines that can be read twice: once to check them, once to write them."""
        if self.choices.reading.replay:
            self.principal.require(OPERATE)

        # Twice through the lines: a file that is refused has written nothing.
        tally = Tally()
        if self.choices.check:
            refusals, count = self._check(lines())
            rejected, report = tuple(refusals.lines), tally.report(None)
            return replace(report, rejected=rejected, refused=refusals.total, checked=count)

        if not self.choices.keep_going:
            error = self._check(lines())[0].error()
            if error is not None:
                raise error

        write = self._replay if self.choices.reading.replay else self._write
        write(self._items(lines(), tally), tally)

        tally.rejected.sort(key=lambda refusal: refusal.line)
        choices = self.choices
        path = write_rejects(tally.rejected, choices.rejects, is_retry=choices.retry)
        return tally.report(path)

    def _check(self, lines: Iterator[Line]) -> tuple[Refusals, int]:
        """Note every line that no store could take; count all lines."""
        words, before, count = self._words_now(), MIN_US, 0
        now_us = self._backend.now_us()
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
                    from .observe import Observer
                    from .talk import observations_of

                    observer = Observer(self._backend, self.principal)
                    for observation in observations_of(item.members, observer):
                        passage = observer.passage(observation)
                        check_shape(passage)
                        self._draft(passage, words, _UNWRITTEN)
                    continue
                if item.recorded_us is not None:
                    if item.recorded_us < before:
                        raise InvalidInput(
                            "recorded_at is earlier than in the line before; sort the file by "
                            "recorded_at",
                            code="tx_backwards",
                        )
                    before = item.recorded_us
                    check_not_future(before, now_us + CLOCK_SKEW_US, "recorded_at is")
                if not referenced_ids([item.write]):
                    draft = self._draft(item.write, words, _UNWRITTEN)
                    check_start(draft, now_us if item.recorded_us is None else item.recorded_us)
            except TenureError as error:
                refusals.add(error, line)

        return refusals, count

    def _items(self, lines: Iterator[Line], tally: Tally) -> Iterator[Item]:
        for line in lines:
            try:
                yield read(line, self.choices.reading)
            except TenureError as error:
                self._refuse(error, [line], tally)

    def _refuse(self, error: TenureError, lines: Sequence[Line], tally: Tally) -> None:
        """Note refused lines, or stop the import."""
        # A store that cannot be reached would refuse every line: the file is not to blame.
        refusal = at_line(error, lines[0].number, lines[-1].number)
        if not self.choices.keep_going or isinstance(error, Unavailable):
            raise refusal from error

        for line in lines:
            tally.rejected.append(
                refused_line(error, line, str(error if len(lines) == 1 else refusal))
            )

    def _define(self, item: Definition, tally: Tally) -> None:
        try:
            self.principal.require(DEFINE)
            check_definition(item.members)
            self._backend.define(self._tenant, dict(item.members))
        except TenureError as error:
            self._refuse(error, [item.line], tally)
        else:
            tally.counts["definitions"] += 1

    def _write(self, items: Iterator[Item], tally: Tally) -> None:
        talk: TalkImport | None = None
        # By runs and not sorted: a definition holds from its place in the file on.
        for kind, run in groupby(items, key=type):
            for batch in batches(run, LINES_AT_ONCE):
                if kind is Definition:
                    for definition in batch:
                        self._define(definition, tally)
                elif kind is TalkLine:
                    # The rules that read talk take longer to load than most imports to run.
                    from .observe import Observer
                    from .talk import TalkImport

                    observer = Observer(self._backend, self.principal)
                    falls_back = self.choices.keep_going
                    talk = talk or TalkImport(self._backend, observer, falls_back=falls_back)
                    self._observe(batch, talk, tally)
                else:
                    self._write_batch(batch, tally)

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
                tally.counts["transactions"] += 1
            else:
                tally.counts["skipped"] += 1
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

        tally.counts["transactions"] += 1
        self._tell(events[-1].line, tally)

    def _commit(self, tx: WriteTx, drafts: Sequence[tuple[Event, Draft]]) -> Sequence[Result]:
        """Write drafts under one lock, a stamp each; without `keep_going` all or none."""
        writing = Writer(self._backend, self.principal)
        records: dict[str | int, list[Draft]] = {}
        for event, draft in drafts:
            records.setdefault(event.record, []).append(draft)
        submissions: list[Submission] = []
        for event, draft in drafts:
            submission = writing.submission([draft], has_reader=False)
            submissions.append(replace(submission, record=tuple(records[event.record])))
        results = self._backend.commit(tx, submissions)
        if not self.choices.keep_going:
            for (event, _), result in zip(drafts, results, strict=True):
                # Raised inside of the transaction, which takes the rest of the batch back.
                if isinstance(result, TenureError):
                    raise at_line(result, event.line.number)

        return results

    def _sound_drafts(self, events: Sequence[Event], tally: Tally) -> list[tuple[Event, Draft]]:
        writing, words = Writer(self._backend, self.principal), self._words_now()
        drafts: list[tuple[Event, Draft]] = []
        for event in events:
            try:
                if referenced_ids([event.write]) or named_ids([event.write]):
                    draft = writing.drafts([event.write])[0]
                else:
                    draft = self._draft(event.write, words, writing.object_id(event.write))
            except TenureError as error:
                self._refuse(error, [event.line], tally)
            else:
                drafts.append((event, draft))

        return drafts

    def _draft(self, write: Write, words: Vocabulary, object_id: str) -> Draft:
        context = WriteContext(self.principal, words, self._backend.policy)
        draft = sanitize(write, context, object_id=object_id, references=References())
        return Writer(self._backend, self.principal).with_key(draft)

    def _replay(self, items: Iterator[Item], tally: Tally) -> None:
        # In runs: a definition holds from its place on, so what comes before it goes first.
        for is_definition, run in groupby(
            steps_of(items), lambda step: isinstance(step, Definition)
        ):
            if is_definition:
                for definition in cast("Iterator[Definition]", run):
                    self._define(definition, tally)
                continue
            steps = cast("Iterator[list[Event]]", run)
            for groups in shared_transactions(self._histories(steps, tally)):
                self._write_groups(groups, tally)

    def _histories(self, steps: Iterator[list[Event]], tally: Tally) -> Iterator[HistoryLines]:
        words = self._words_now()
        for step in steps:
            events = self._sound(step, words, tally) if self.choices.keep_going else step
            if not events:
                continue
            stamp_us = events[0].recorded_us
            assert stamp_us is not None  # reading refused a line without one
            pairs = ((event.members, event.write) for event in events)
            group = RecordedGroup.from_events(self._tenant, stamp_us, pairs)
            yield HistoryLines(group, [event.line for event in events])

    def _write_groups(self, histories: Sequence[HistoryLines], tally: Tally) -> None:
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
                tally.counts["skipped_groups"] += 1
            else:
                tally.counts["transactions"] += 1

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
            self.choices.progress(last.number, tally.counts["events"] + tally.counts["skipped"])


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
