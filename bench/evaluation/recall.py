"""Evaluating: how much of the evidence a context holds, beside plain retrieval, in one run.

Each set of a file is loaded into a temporary memory whose clock follows the items, so that every
text is known from when it was said. Every question is compiled within each budget, and BM25,
dense and hybrid baselines fill the same budget from the same items. Nothing is judged by a
model: an item counts as shown when its object, or a claim taken from it, stands in the envelope.
Against a store of the user's own nothing is written; evidence is then named by object ids.

What stayed out is attributed by the trace: never a candidate, or the stage and reason that
left it out (C-102, C-103, C-113).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

from tenure.compiler.envelope.envelope import Envelope
from tenure.schema.compile_terms import GapCode
from tenure.schema.errors import InvalidInput
from tenure.schema.interval import MIN_US
from tenure.schema.policy import DEFAULT, Policy
from tenure.schema.principal import OWNER
from tenure.schema.values import moment
from tenure.service.backend.caller import backend_of
from tenure.service.client.connect import connect
from tenure.service.client.memory import Memory
from tenure.service.encoders.choice import encoder_of
from tenure.service.encoders.encoder import Encoder
from tenure.service.encoders.models import encode_one
from tenure.service.writing.lines import STDIN

from .baselines import (
    BM25,
    DENSE,
    HYBRID,
    BaselineSelection,
    Unit,
    fill,
    fuse,
    rank_by_meaning,
    rank_by_words,
)
from .corpus import Corpus, Loader, Refusal, SetClock
from .question_sets import Question, QuestionSet, question_sets
from .scoring import Figures, MethodAnswer, Score, figures

TENURE: Final = "tenure"
BUDGETS: Final = (1_000, 4_000)
"""Tokens; where the papers on conversations compare."""
_THOUGH_IT_FITTED: Final = ", though it fitted"
_REASONS_WITH_DETAIL: Final = frozenset({"irrelevant_to_active_task", "below_floor"})


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
    policy: Policy = DEFAULT
    limit: int | None = None
    """Questions that are asked at most, the first of the file; None asks all."""


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
    missed_by_budget: dict[int, dict[str, int]]
    """The same for each budget."""
    refused: tuple[Refusal, ...]
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
    """Measure the recall of evidence for a file of question sets, baselines beside it.

    Without `memory` each set is loaded into a temporary store. With one, the file holds
    questions alone, evidence is named by object ids, and nothing but manifests is written.

    Raises:
        TenureError: the first line that cannot be taken, with its number in front.
        InvalidInput: `out_of_range`, `empty_file`.
        Forbidden: when the caller may not operate the store that is named.
    """
    options = options or EvaluationOptions()
    if not options.budgets or min(options.budgets) < 1:
        raise InvalidInput("a budget is at least 1 token", code="out_of_range")

    begin = time.perf_counter()
    total = _count_questions(path, memory)
    if options.limit is not None:
        total = min(total, options.limit)

    run = _Run(options, memory, encoder_of(options.encoder), total, progress, watch)
    for question_set in question_sets(path, own_ids=memory is None):
        if run.question_count < total:
            run.take(question_set)

    misses: Counter[str] = sum(run.misses.values(), Counter[str]())
    return RecallReport(
        file=str(path),
        sets=run.sets,
        items=run.items,
        questions=total,
        unanswerable=run.unanswerable,
        encoder=run.encoder_id,
        figures=figures(run.scores),
        missed=_by_count(misses),
        missed_by_budget={budget: _by_count(counts) for budget, counts in run.misses.items()},
        refused=tuple(run.refusals),
        seconds=round(time.perf_counter() - begin, 3),
    )


def _by_count(counts: Counter[str]) -> dict[str, int]:
    """Reasons with their counts, the most frequent first."""
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _count_questions(path: str | Path, memory: Memory | None) -> int:
    """Read the whole file before anything is loaded, and count its questions."""
    if str(path) == STDIN:
        raise InvalidInput("the file is read twice: name one, not -", code="bad_file")

    total = 0
    for question_set in question_sets(path, own_ids=memory is None):
        total += len(question_set.questions)
        if memory is not None and (question_set.items or question_set.definitions):
            line = min(question_set.lines.values(), default=1)
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
    question_count: int = 0
    unanswerable: int = 0
    encoder_id: str | None = None
    scores: list[Score] = field(default_factory=list[Score])
    misses: dict[int, Counter[str]] = field(default_factory=dict[int, Counter[str]])
    refusals: list[Refusal] = field(default_factory=list[Refusal])

    def take(self, question_set: QuestionSet) -> None:
        """Load a set and ask its questions."""
        self.sets += 1
        options = self.options
        if self.memory is not None:
            self._ask(question_set, Corpus.of_store(self.memory, options.model))
            return

        clock = SetClock()
        memory = connect(
            ":memory:", encoder=self.encoder, clock=clock, policy=options.policy, principal=OWNER
        )
        with closing(memory):
            loader = Loader(memory, clock, options.model, self.refusals)
            corpus = loader.load(question_set)
            self.items += len(question_set.items)
            self._ask(question_set, corpus)

    def _ask(self, question_set: QuestionSet, corpus: Corpus) -> None:
        embedding = backend_of(corpus.memory).embedding
        self.encoder_id = embedding.encoder.id if embedding else None

        for question in question_set.questions[: self.total - self.question_count]:
            self.unanswerable += not question.answerable
            for score in _Trial(corpus, self.options, question).scores(self.misses):
                self.scores.append(score)
                if self.watch is not None:
                    self.watch(score)

            self.question_count += 1
            if self.progress is not None:
                self.progress(self.question_count, self.total)


class _Ranking(NamedTuple):
    """What a baseline would show, best first."""

    method: str
    pairs: list[tuple[str, int]]
    seconds: float


@dataclass(slots=True)
class _Trial:
    """One question, asked of tenure and of every baseline."""

    corpus: Corpus
    options: EvaluationOptions
    question: Question

    def scores(self, misses: dict[int, Counter[str]]) -> Iterator[Score]:
        """Yield the scores of every method and budget; why evidence is missing is counted."""
        embedding = backend_of(self.corpus.memory).embedding
        vector = encode_one(embedding.encoder, self.question.text) if embedding else None

        known = self._known_units()
        by_id = {unit.id: unit for unit in known}
        rankings = self._rankings(known, vector)

        for budget in self.options.budgets:
            yield self._compile(budget, vector, misses.setdefault(budget, Counter()))
            for ranking in rankings:
                begin = time.perf_counter()
                selection = fill(ranking.pairs, by_id, budget)
                spent_ms = (ranking.seconds + time.perf_counter() - begin) * 1000
                answer = MethodAnswer(selection, spent_ms, gap=False)
                yield Score.of(self.question, ranking.method, budget, answer)

    def _known_units(self) -> list[Unit]:
        """What was recorded when the question is asked."""
        known_at = self.question.known_at_us
        if known_at is None:
            return self.corpus.units

        known: list[Unit] = []
        for unit in self.corpus.units:
            if unit.at_us is None or unit.at_us <= known_at:
                known.append(unit)
        return known

    def _rankings(self, known: Sequence[Unit], vector: Sequence[float] | None) -> list[_Ranking]:
        policy = self.options.policy.compile
        begin = time.perf_counter()
        by_words = rank_by_words(self.question.text, known, policy)
        words_seconds = time.perf_counter() - begin
        rankings = [_Ranking(BM25, by_words, words_seconds)]

        if vector is not None:
            begin = time.perf_counter()
            by_meaning = rank_by_meaning(self.corpus.cosines(vector, [unit.id for unit in known]))
            dense_seconds = time.perf_counter() - begin
            rankings.append(_Ranking(DENSE, by_meaning, dense_seconds))

            hybrid = fuse(by_words, by_meaning)
            total_seconds = words_seconds + time.perf_counter() - begin
            rankings.append(_Ranking(HYBRID, hybrid, total_seconds))
        return rankings

    def _compile(self, budget: int, vector: Sequence[float] | None, misses: Counter[str]) -> Score:
        question, corpus = self.question, self.corpus
        begin = time.perf_counter()
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
        spent_ms = (time.perf_counter() - begin) * 1000

        item_ids: dict[str, None] = {}
        for object_id in _shown_ids(envelope):
            # An object of the store that no item made counts as shown, too.
            item_ids[corpus.items.get(object_id, object_id)] = None
        ids = tuple(item_ids)

        if question.answerable:
            free_tokens = budget - envelope.tokens_upper
            misses.update(self._reasons(envelope, frozenset(ids), free_tokens))

        selection = BaselineSelection(ids, envelope.tokens)
        # Whose wishes count is open about the asking, not about what was asked.
        codes = {gap.code for gap in envelope.gaps} - {GapCode.USER_UNSTATED}
        answer = MethodAnswer(selection, spent_ms, gap=bool(codes))
        return Score.of(question, TENURE, budget, answer)

    def _reasons(self, envelope: Envelope, ids: frozenset[str], free_tokens: int) -> Iterator[str]:
        """Yield why each entry of the evidence that is not shown stayed out.

        The stage that dropped it is one thing; whether its line would have gone into what stayed
        free tells whether the budget was the cause.
        """
        reasons = {row.object_id: _reason(row) for row in envelope.trace.left_out}
        tokens = {unit.id: unit.tokens for unit in self.corpus.units}

        for entry in self.question.evidence:
            if not ids.isdisjoint(entry):
                continue
            objects: list[str] = []
            sizes: list[int] = []
            for item_id in entry:
                objects += self.corpus.objects.get(item_id, ())
                if item_id in tokens:
                    sizes.append(tokens[item_id])

            reason = "gather: not_found" if objects else "load: refused"
            for object_id in objects:
                if object_id in reasons:
                    reason = reasons[object_id]
                    break
            fits = bool(objects and sizes) and min(sizes) <= free_tokens
            yield f"{reason}{_THOUGH_IT_FITTED if fits else ''}"


def _reason(row: Any) -> str:
    """A stage and its reason, with the detail where that tells two kinds of one reason apart."""
    detail = f" ({row.detail})" if row.reason in _REASONS_WITH_DETAIL else ""
    return f"{row.stage}: {row.reason}{detail}"


def _shown_ids(envelope: Envelope) -> list[str]:
    """The stored objects whose content stands in the text, in order of their blocks."""
    stored_ids = {entry.object_id for entry in envelope.manifest.candidates if entry.vid}

    ids: list[str] = []
    for entry in envelope.trace.compiled_objects:
        for object_id in (entry.object_id, *entry.merged):
            if object_id in stored_ids:
                ids.append(object_id)

    # What was left out as a duplicate stands there in the words of its twin.
    twins = set(ids)
    for omission in envelope.trace.omitted_objects:
        if omission.reason == "duplicate_of" and omission.detail in twins:
            ids.append(omission.object_id)
    return ids


def _time(at_us: int | None) -> Any:
    return None if at_us is None else moment(max(at_us, MIN_US))
