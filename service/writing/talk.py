"""Talk in an import file becomes observations, several of which a model reads at once.

A line is a text, `{"observe": "I moved to Lisbon.", "speaker": "Ana"}`, or has the messages of a
conversation in place of the text. Each text is one transaction with its claims, and the store is
the journal: a stored text is not read by the model or written again, so an interrupted import can
be run again. Answers that were not written yet are kept, so a second run pays for nothing twice.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias, cast

from ...schema.entity import EntityRef
from ...schema.errors import InvalidInput, TenureError, Unavailable, unknown_field
from ...schema.limits import check_json
from ...schema.values import canonical_json
from ...schema.vocabulary import StateLayer, parse
from ...schema.write import Receipt, Write
from ...store.port.tables import RECEIPTS
from ..backend.backend import Backend
from ..backend.caller import instant, mention
from ..extraction.choice import TextQuestion
from ..extraction.claims import BatchExtractor, PaidExtractor
from .draft import check_entity
from .ingest_report import TalkTotals
from .lines import Line, TalkLine, batches
from .observe import NO_CLAIMS, Observation, Observer, TextReading
from .write import Writer

TEXTS_AHEAD: Final = 8
"""Texts for each request at a time that are prepared together: they see the names known before."""

_FIELDS: Final = frozenset(
    {"observe", *Observation.__dataclass_fields__.keys() - {"text", "mentions"}}
)

Task: TypeAlias = TextQuestion | TextReading | TenureError | None
"""A text to ask about, what was read in it, or why it is refused; None of one that is stored."""


def observations_of(members: Mapping[str, Any], observer: Observer) -> list[Observation]:
    """The texts of a line, in order.

    Raises:
        InvalidInput: `unknown_field`, `bad_field`, `bad_time`, `unknown_vocabulary`,
            `missing_value`; what `check_entity` and `mention` refuse of a speaker; `bad_request`
            for messages that are none.
    """
    fields = {name: value for name, value in members.items() if value is not None}
    for name in fields:
        if name not in _FIELDS:
            raise unknown_field(name, _FIELDS, " of an observation")

    content = fields.get("observe")
    if not isinstance(content, str | list):
        raise InvalidInput(
            "observe is a text, or a list of messages {role, content}",
            code="bad_field",
            field="observe",
        )
    for name in ("at", "source_origin", "why_it_matters", "layer", "idempotency_key"):
        if not isinstance(fields.get(name, ""), str):
            raise InvalidInput(f"{name} must be a text", code="bad_field", field=name)
    check_json(fields, "a line of talk")
    if "at" in fields:
        instant(fields["at"], field="at")
    if "speaker" in fields:
        check_entity(fields["speaker"], "speaker")
        mention(fields["speaker"])

    frame_fields = {name: value for name, value in fields.items() if name != "observe"}
    layer = parse(StateLayer, frame_fields.pop("layer", StateLayer.USER.value))
    frame = Observation(text="", layer=layer, **frame_fields)
    if isinstance(content, list):
        return observer.observations(cast("list[Mapping[str, Any]]", content), frame)
    if not content.strip():
        raise InvalidInput("there is nothing to observe in an empty text", code="missing_value")
    return [replace(frame, text=content)]


class LineText(NamedTuple):
    """A text of a line, on its way into the store."""

    line: Line
    observation: Observation
    object_id: str
    """Of its passage: made from its key, so that a second run finds it stored."""


@dataclass(slots=True)
class TalkImport:
    """The texts of one import; lives for one call."""

    backend: Backend
    observer: Observer
    falls_back: bool
    """Whether rules read a text where the model fails; else the import stops there."""
    totals: TalkTotals = field(default_factory=TalkTotals)
    _line_counts: Counter[str] = field(default_factory=Counter[str])

    def texts(self, utterance: TalkLine) -> list[LineText]:
        """The texts of a line, each with the key under which a second run finds it stored.

        Raises:
            InvalidInput: what `observations_of` refuses, and `bad_key`.
        """
        members = utterance.members
        observations = observations_of(members, self.observer)
        line_digest = hashlib.sha256(canonical_json(dict(members)).encode()).hexdigest()
        # Somebody may say the same twice: the second such line of a file is another text.
        self._line_counts[line_digest] += 1
        line_key = f"talk-{line_digest}-{self._line_counts[line_digest]}"

        writer = Writer(self.backend, self.observer.principal)
        texts: list[LineText] = []
        for number, observation in enumerate(observations):
            key = observation.idempotency_key or line_key
            text_key = key if number == 0 else f"{key}/{number}"
            object_id = writer.object_id(Write(idempotency_key=text_key))
            keyed_observation = replace(observation, idempotency_key=text_key)
            texts.append(LineText(utterance.line, keyed_observation, object_id))
        return texts

    def write(
        self, texts: Sequence[LineText]
    ) -> Iterator[tuple[Line, Sequence[Receipt] | TenureError]]:
        """Store texts in order; of each its line and receipts, none where it was stored before.

        In place of receipts stands why a text is refused; `extractor_unavailable` where the model
        fails and rules shall not read.
        """
        extractor = self.backend.extractor
        parallel = extractor.parallel if isinstance(extractor, PaidExtractor) else 1
        for batch in batches(texts, parallel * TEXTS_AHEAD):
            tasks = self._tasks(batch)
            requests = self._requests(batch, tasks)
            with _mapping(parallel) as apply:
                answers = apply(partial(self._read, tuple(tasks)), requests)
                for text, outcome in zip(batch, _in_order(tasks, requests, answers), strict=True):
                    yield text.line, self._outcome(text, outcome)

    def _tasks(self, texts: Sequence[LineText]) -> list[Task]:
        """What is to be done about each text."""
        with self.backend.store.reading(self.observer.principal.tenant) as reader:
            receipts = reader.find(RECEIPTS, "object_id", [text.object_id for text in texts])
        # One that was erased has its receipt still: no second run brings it back.
        stored_ids = {receipt.object_id for receipt in receipts}

        tasks: list[Task] = []
        for text in texts:
            if text.object_id in stored_ids:
                tasks.append(None)
                continue
            try:
                tasks.append(self.observer.question(text.observation) or NO_CLAIMS)
            except TenureError as refusal:
                tasks.append(refusal)
        return tasks

    def _requests(self, texts: Sequence[LineText], tasks: Sequence[Task]) -> list[list[int]]:
        """The places of the texts that share a request, by the first of each.

        They are of one speaker: what somebody says must not sway how another is read.
        """
        extractor = self.backend.extractor
        size = extractor.texts_a_request if isinstance(extractor, BatchExtractor) else 1

        requests: list[list[int]] = []
        open_requests: dict[str, list[int]] = {}
        for place, (text, task) in enumerate(zip(texts, tasks, strict=True)):
            if not isinstance(task, TextQuestion):
                continue
            context = task.context
            speaker = mention(text.observation.speaker)
            # With the identifiers, since two people may have one name.
            ids = dict(speaker.external_ids) if isinstance(speaker, EntityRef) else {}
            company = canonical_json(
                [context.speaker, ids, context.may_direct, context.vocabulary_version]
            )
            if len(open_requests.get(company, ())) % size == 0:
                open_requests[company] = []
                requests.append(open_requests[company])
            open_requests[company].append(place)
        return requests

    def _read(self, tasks: Sequence[Task], places: Sequence[int]) -> list[TextReading]:
        """What was read in the texts of one request."""
        questions: list[TextQuestion] = []
        for place in places:
            task = tasks[place]
            assert isinstance(task, TextQuestion)  # nothing else is asked
            questions.append(task)
        return self.observer.read(questions)

    def _outcome(self, text: LineText, reading: Task) -> Sequence[Receipt] | TenureError:
        if reading is None:
            return ()
        if isinstance(reading, TenureError):
            return reading
        assert isinstance(reading, TextReading)  # it was asked

        failure = reading.extraction.failure
        if failure and not self.falls_back:
            return Unavailable(
                f"{failure}; what was read before is stored: run the import again, or let rules "
                "read on with --keep-going (keep_going=True)",
                code="extractor_unavailable",
            )
        try:
            receipts = self.observer.observe(text.observation, reading)
        except TenureError as refusal:
            # Another import of the same file was faster, and its text stands with its claims.
            return () if refusal.code == "idempotency_mismatch" else refusal

        self.totals = self.totals.with_text(reading.extraction)
        return receipts


def _in_order(
    tasks: list[Task], requests: Sequence[Sequence[int]], answers: Iterator[list[TextReading]]
) -> Iterator[Task]:
    """What became of each text, as soon as it is known: one is written while others are read."""
    pending = zip(requests, answers, strict=True)
    for place in range(len(tasks)):
        # Requests stand by their first texts, so no later one than that of this text is awaited.
        while isinstance(tasks[place], TextQuestion):
            places, readings = next(pending)
            for read_place, reading in zip(places, readings, strict=True):
                tasks[read_place] = reading
        yield tasks[place]


@contextmanager
def _mapping(parallel: int) -> Generator[Callable[..., Iterator[Any]]]:
    """A `map` that runs so many calls at a time; what was not begun when it ends is let go."""
    if parallel == 1:
        yield map
        return

    executor = ThreadPoolExecutor(parallel, thread_name_prefix="tenure-extract")
    try:
        yield executor.map
    finally:
        executor.shutdown(cancel_futures=True)
