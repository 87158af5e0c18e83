"""Evaluating: how much of the evidence a context holds, beside plain retrieval, in one run.

Each set of a file is loaded into a temporary memory whose clock follows the items, so that every
text is known from when it was said. Every question is compiled within each budget, and BM25,
dense and hybrid baselines fill the same budget from the same items. Nothing is judged by a
model: an item counts as shown when its object, or a claim taken from it, stands in the envelope.
Against a store of the user's own nothing is written; evidence is then named by object ids.

What stayed out is attributed by the trace: never a candidate, or the stage and reason that
left it out (C-113). The labelled form of the core metrics (D6) is what `recall` and `precision`
say. Sources: checklist C-102, C-103, C-113, D6; ecosystem 13.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from ...compiler.envelope.envelope import Envelope
from ...schema.errors import InvalidInput, TenureError
from ...schema.interval import MIN_US
from ...schema.policy import DEFAULT, Policy
from ...schema.principal import OPERATE, OWNER
from ...schema.values import moment
from ...store.port.vectors import to16
from ..backend.ids import wall_clock
from ..client.connect import connect
from ..client.memory import Memory
from ..encoders.choice import encoder_of
from ..encoders.embedding import claims_of, encode_one
from ..encoders.encoder import Encoder
from ..writing.event_lines import STDIN
from ..writing.observe import Observation, Observer
from .baselines import (
    BM25,
    DENSE,
    HYBRID,
    Shown,
    Unit,
    filled,
    fused,
    ranked_by_meaning,
    ranked_by_words,
    units,
)
from .question_sets import Document, Fact, Question, QuestionSet, in_order, question_sets
from .scoring import Figures, Found, Score, figures

TENURE: Final = "tenure"
BUDGETS: Final = (1_000, 4_000)
"""Tokens; where the papers on conversations compare."""
_DUE: Final = 0.30
"""The strength at which a passage is due, as its type has it."""
_DETAILED: Final = frozenset({"irrelevant_to_active_task", "below_floor"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationOptions:
    """How an evaluation is run."""

    budgets: tuple[int, ...] = BUDGETS
    task: str = "analytical_reporting"
    """Task type that every question is compiled for."""
    model: str = "generic"
    """Whose tokens are counted."""
    encoder: Encoder | str | None = None
    """For a temporary store; a store of the user's own brings its encoder."""
    half_life_days: float | None = None
    """Of documents; None keeps the half-life of a passage."""
    policy: Policy = DEFAULT


class Refused(NamedTuple):
    """An item that the store did not take."""

    line: int
    id: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallReport:
    """What an evaluation found."""

    file: str
    sets: int
    items: int
    questions: int
    unanswerable: int
    encoder: str | None
    figures: tuple[Figures, ...]
    """By budget, then tenure and the baselines."""
    missed: dict[str, int]
    """Why evidence stayed out of tenure's contexts: a stage and its reason, over all budgets."""
    refused: tuple[Refused, ...]
    seconds: float


ShowProgress = Callable[[int, int], None]
"""Called after each question with the questions done and their total."""
Watch = Callable[[Score], None]
"""Called with each question's score."""


def evaluate_recall(
    path: str | Path,
    *,
    options: EvaluationOptions | None = None,
    memory: Memory | None = None,
    progress: ShowProgress | None = None,
    watch: Watch | None = None,
) -> RecallReport:
    """Return the recall of evidence for a file of question sets, baselines beside it.

    Without `memory` each set is loaded into a temporary store. With one, the file holds
    questions alone, evidence is named by object ids, and nothing but manifests is written.

    Raises:
        TenureError: the first line that cannot be taken, with its number in front.
        InvalidInput: `out_of_range`, `empty_file`.
        Forbidden: when the caller may not operate the store that is named.
    """
    chosen = options or EvaluationOptions()
    if not chosen.budgets or min(chosen.budgets) < 1:
        raise InvalidInput("a budget is at least 1 token", code="out_of_range")
    began = time.perf_counter()
    total = _checked(path, memory)
    run = _Run(chosen, memory, encoder_of(chosen.encoder), total, progress, watch)
    for held in question_sets(path, own_ids=memory is None):
        run.take(held)
    return RecallReport(
        file=str(path),
        sets=run.sets,
        items=run.items,
        questions=total,
        unanswerable=run.unanswerable,
        encoder=run.encoder_id,
        figures=figures(run.scores),
        missed=dict(sorted(run.missed.items(), key=lambda pair: (-pair[1], pair[0]))),
        refused=tuple(run.refused),
        seconds=round(time.perf_counter() - began, 3),
    )


def _checked(path: str | Path, memory: Memory | None) -> int:
    """Read the whole file before anything is loaded, and return its count of questions."""
    if str(path) == STDIN:
        raise InvalidInput("the file is read twice: name one, not -", code="bad_file")
    total = 0
    for held in question_sets(path, own_ids=memory is None):
        total += len(held.questions)
        if memory is not None and (held.items or held.definitions):
            line = min(held.lines.values(), default=1)
            raise InvalidInput(
                f"line {line}: against a store of yours a file holds questions only, so that "
                "nothing is written into it; leave --store out to load the items into a "
                "temporary one, or ingest them first",
                code="items_with_store",
                line=line,
            )
    if not total:
        raise InvalidInput(f"{path} holds no question", code="empty_file")
    return total


@dataclass(slots=True)
class _Clock:
    """The time of a temporary store: that of the item that is loaded."""

    now: int = field(default_factory=wall_clock)

    def __call__(self) -> int:
        return self.now


@dataclass(slots=True)
class _Run:
    """An evaluation in progress."""

    options: EvaluationOptions
    memory: Memory | None
    encoder: Encoder | None
    total: int
    progress: ShowProgress | None
    watch: Watch | None
    sets: int = 0
    items: int = 0
    done: int = 0
    unanswerable: int = 0
    encoder_id: str | None = None
    scores: list[Score] = field(default_factory=list[Score])
    missed: Counter[str] = field(default_factory=Counter[str])
    refused: list[Refused] = field(default_factory=list[Refused])

    def take(self, held: QuestionSet) -> None:
        """Load a set and ask its questions."""
        self.sets += 1
        if self.memory is not None:
            self._ask(held, _Corpus.of_store(self.memory, self.options.model))
            return
        clock, options = _Clock(), self.options
        memory = connect(
            ":memory:", encoder=self.encoder, clock=clock, policy=options.policy, principal=OWNER
        )
        with closing(memory):
            corpus = _Loading(memory, clock, options, self.refused).load(held)
            self.items += len(held.items)
            self._ask(held, corpus)

    def _ask(self, held: QuestionSet, corpus: _Corpus) -> None:
        embedding = corpus.memory.backend.embedding
        self.encoder_id = embedding.encoder.id if embedding else None
        for question in held.questions:
            self.unanswerable += not question.answerable
            for score in _Asking(corpus, self.options, question).scores(self.missed):
                self.scores.append(score)
                if self.watch is not None:
                    self.watch(score)
            self.done += 1
            if self.progress is not None:
                self.progress(self.done, self.total)


@dataclass(slots=True)
class _Corpus:
    """What a question is asked of."""

    memory: Memory
    units: list[Unit]
    objects: dict[str, tuple[str, ...]]
    """The objects of each item, the whole one first."""
    items: dict[str, str]
    """The item of each object."""

    @classmethod
    def of_store(cls, memory: Memory, model: str) -> _Corpus:
        """Return the claims of a store, each an item of its own; privileged."""
        memory.principal.require(OPERATE)
        tenant = memory.principal.tenant
        memory.backend.open(tenant)
        with memory.backend.store.reading(tenant) as reader:
            held = [
                (one.claim.object_id, one.content.normalized_claim or one.content.text,
                 one.claim.tx)
                for one in claims_of(reader)
            ]  # fmt: skip
        ids = [name for name, _, _ in held]
        objects: dict[str, tuple[str, ...]] = {name: (name,) for name in ids}
        return cls(memory, units(held, model), objects, dict(zip(ids, ids, strict=True)))


@dataclass(slots=True)
class _Loading:
    """Loads a set into its temporary store."""

    memory: Memory
    clock: _Clock
    options: EvaluationOptions
    refused: list[Refused]

    def load(self, held: QuestionSet) -> _Corpus:
        """Write the items in the order of their times, and wait until all can be found."""
        tenant = self.memory.principal.tenant
        for definition in held.definitions:
            self.memory.backend.define(tenant, dict(definition))
        timed = in_order(held.items)
        objects: dict[str, tuple[str, ...]] = {}
        for at_us, group in _grouped(timed):
            self.clock.now = at_us if at_us is not None else self.clock.now
            for item_id, ids in self._written(group, held):
                objects[item_id] = ids
        self.memory.flush()
        given = [(item.id, item.shown, at_us) for at_us, item in timed]
        items = {each: name for name, ids in objects.items() for each in ids}
        return _Corpus(self.memory, units(given, self.options.model), objects, items)

    def _written(
        self, group: Sequence[Document | Fact], held: QuestionSet
    ) -> Iterator[tuple[str, tuple[str, ...]]]:
        try:
            first = group[0]
            if isinstance(first, Document):
                yield first.id, self._observed(first)
                return
            facts = [item for item in group if isinstance(item, Fact)]
            receipts = self.memory.write_many([fact.write for fact in facts])
            for fact, receipt in zip(facts, receipts, strict=True):
                yield fact.id, (receipt.object_id,)
        except TenureError as error:
            if len(group) > 1:  # one of them was refused, and took the others along
                for item in group:
                    yield from self._written([item], held)
                return
            item = group[0]
            self.refused.append(Refused(held.lines[item.id], item.id, error.code, str(error)))

    def _observed(self, document: Document) -> tuple[str, ...]:
        days = self.options.half_life_days
        said = Observation(
            text=document.text,
            speaker=document.speaker,
            source_origin=f"chat://{quote(document.session or 'evaluation', safe='')}",
            at=moment(self.clock.now),
            why_it_matters=None,
            applicable_task_types=(),
            decay_rule=(
                None if days is None else {"half_life_days": days, "minimum_threshold": _DUE}
            ),
        )
        receipts = Observer(self.memory.backend, self.memory.principal).observe(said)
        return tuple(receipt.object_id for receipt in receipts)


def _grouped(
    timed: Sequence[tuple[int | None, Document | Fact]],
) -> Iterator[tuple[int | None, list[Document | Fact]]]:
    """Yield a document by itself, and neighbouring facts of one time together: one write."""
    held: list[Document | Fact] = []
    at: int | None = None
    most = DEFAULT.write.max_batch
    for at_us, item in timed:
        together = isinstance(item, Fact) and at_us == at and len(held) < most
        if held and not (together and isinstance(held[-1], Fact)):
            yield at, held
            held = []
        held.append(item)
        at = at_us
    if held:
        yield at, held


@dataclass(slots=True)
class _Asking:
    """One question, asked of tenure and of every baseline."""

    corpus: _Corpus
    options: EvaluationOptions
    question: Question

    def scores(self, missed: Counter[str]) -> Iterator[Score]:
        """Yield the scores of every method and budget."""
        embedding = self.corpus.memory.backend.embedding
        vector = encode_one(embedding.encoder, self.question.text) if embedding else None
        known_at = self.question.known_at_us
        known = [
            u for u in self.corpus.units
            if known_at is None or u.at_us is None or u.at_us <= known_at
        ]  # fmt: skip
        by_id = {unit.id: unit for unit in known}
        rankings = self._rankings(known, vector)
        for budget in self.options.budgets:
            yield self._compiled(budget, vector, missed)
            for name, ranking, seconds in rankings:
                began = time.perf_counter()
                shown = filled(ranking, by_id, budget)
                spent = (seconds + time.perf_counter() - began) * 1000
                yield self._score(name, budget, Found(shown, spent, gap=False))

    def _rankings(
        self, known: Sequence[Unit], vector: Sequence[float] | None
    ) -> list[tuple[str, list[tuple[str, int]], float]]:
        policy = self.options.policy.compile
        began = time.perf_counter()
        words = ranked_by_words(self.question.text, known, policy)
        ended = time.perf_counter()
        found = [(BM25, words, ended - began)]
        if vector is not None:
            near = ranked_by_meaning(known, self._cosines(known, vector))
            dense = time.perf_counter()
            found.append((DENSE, near, dense - ended))
            both = fused(words, near)
            found.append((HYBRID, both, time.perf_counter() - began))
        return found

    def _cosines(self, known: Sequence[Unit], vector: Sequence[float]) -> dict[str, int]:
        memory, objects = self.corpus.memory, self.corpus.objects
        embedding, tenant = memory.backend.embedding, memory.principal.tenant
        if embedding is None:
            return {}
        of = {objects[unit.id][0]: unit.id for unit in known if unit.id in objects}
        with memory.backend.store.reading(tenant) as reader:
            matrix = embedding.matrix(tenant, reader)
        return {of[s.object_id]: s.content for s in matrix.scores(to16(vector), [*of])}

    def _compiled(self, budget: int, vector: Sequence[float] | None, missed: Counter[str]) -> Score:
        question, corpus = self.question, self.corpus
        began = time.perf_counter()
        envelope = corpus.memory.compile(
            self.options.task,
            question.text,
            entities=question.entities,
            budget_tokens=budget,
            model=self.options.model,
            query_vector=vector,
            valid=_time(question.as_of_us),
            tx=_time(question.known_at_us),
        )
        spent = (time.perf_counter() - began) * 1000
        carried = _carried(envelope)
        # an object of the store that no item made counts as shown too
        ids = tuple(dict.fromkeys(corpus.items.get(each, each) for each in carried))
        if question.answerable:
            missed.update(self._reasons(envelope, frozenset(ids)))
        found = Found(Shown(ids, envelope.tokens), spent, gap=bool(envelope.gaps))
        return self._score(TENURE, budget, found)

    def _reasons(self, envelope: Envelope, shown: frozenset[str]) -> Iterator[str]:
        """Yield why each entry of the evidence that is not shown stayed out."""
        left_out = envelope.trace.left_out
        why = {o.object_id: _reason(o.stage, o.reason, o.detail) for o in left_out}
        for entry in self.question.evidence:
            if shown.isdisjoint(entry):
                objects = [each for one in entry for each in self.corpus.objects.get(one, ())]
                told = [why[each] for each in objects if each in why]
                yield told[0] if told else ("gather: not_found" if objects else "load: refused")

    def _score(self, method: str, budget: int, found: Found) -> Score:
        return Score.of(self.question, method, budget, found)


def _reason(stage: str, reason: str, detail: str) -> str:
    """Return a reason with the detail that tells two kinds of one reason apart."""
    return f"{stage}: {reason} ({detail})" if reason in _DETAILED else f"{stage}: {reason}"


def _carried(envelope: Envelope) -> list[str]:
    """Return the stored objects whose content stands in the text, in order of their blocks."""
    stored = {each.object_id for each in envelope.manifest.candidates if each.vid}
    carried = [
        each
        for one in envelope.trace.compiled_objects
        for each in (one.object_id, *one.merged)
        if each in stored
    ]
    held = set(carried)
    for omitted in envelope.trace.omitted_objects:
        if omitted.reason == "duplicate_of" and omitted.detail in held:
            carried.append(omitted.object_id)
    return carried


def _time(at_us: int | None) -> Any:
    return None if at_us is None else moment(max(at_us, MIN_US))
