"""Compares how tenure and plain retrieval find the sessions that answer a question, in one run.

A file of LongMemEval, LoCoMo, BEAM or MemConflict is turned into question sets
(`bench.evaluation.formats`), and each set is loaded into a store of its own. A session ranks by the
best of its turns. BM25 ranks sessions by their stemmed user turns, joined; dense by the nearest
turn; hybrid by the sum of reciprocal ranks. Left out, and counted, are questions that the source
made unanswerable, as LongMemEval's scorer does, and those without a labelled session in the
haystack, for which that scorer counts recall_any and NDCG as 0 and recall_all as 1.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from tenure.bench.evaluation.baselines import fuse, rank_by_meaning, rank_by_words, units
from tenure.bench.evaluation.corpus import Corpus, Loader, SetClock
from tenure.bench.evaluation.formats import convert
from tenure.bench.evaluation.question_sets import (
    Document,
    Question,
    QuestionSet,
    in_order,
    question_sets,
)
from tenure.bench.evaluation.recall import EvaluationOptions, RecallReport, evaluate_recall
from tenure.schema.errors import InvalidInput
from tenure.schema.policy import DEFAULT
from tenure.schema.principal import OWNER
from tenure.schema.values import moment
from tenure.service.backend.caller import backend_of
from tenure.service.client.connect import connect
from tenure.service.encoders.choice import encoder_of
from tenure.service.encoders.encoder import Encoder
from tenure.service.encoders.models import encode_one

from .metrics import SessionScore, score_sessions

BUDGETS: Final = (1_000, 2_000, 4_000, 8_000)
CUTS: Final = (5, 10)
_HITS: Final = 200
_MODEL: Final = "generic"
_ASSISTANT: Final = "assistant"
_UNANSWERABLE: Final = "unanswerable by the source"
_UNLABELLED: Final = "no labelled session in the haystack"


@dataclass(slots=True)
class SessionReport:
    """The rankings and scores of every method, and the questions that are left out."""

    rankings: dict[str, dict[str, list[str]]] = field(
        default_factory=lambda: defaultdict(dict[str, list[str]])
    )
    """Session ids, best first, by method and question."""
    scores: dict[tuple[str, int], list[SessionScore]] = field(
        default_factory=lambda: defaultdict(list[SessionScore])
    )
    """By method and cut."""
    left_out: Counter[str] = field(default_factory=Counter[str])

    def rows(self) -> list[tuple[str, ...]]:
        """One row a method: the mean of each measure at each cut."""
        table: list[tuple[str, ...]] = []
        for method in self.rankings:
            cells = [method]
            for cut in CUTS:
                scores = self.scores[method, cut]
                for name in ("recall_any", "recall_all", "ndcg"):
                    mean = sum(getattr(score, name) for score in scores) / max(1, len(scores))
                    cells.append(f"{100 * mean:.1f}")
            table.append(tuple(cells))
        return table

    def write_rankings(self, path: Path) -> list[Path]:
        """Write `{question_id: [session ids]}` of a search and of a compile, a file each."""
        files: list[Path] = []
        for method in ("search", "compile"):
            file = path.with_suffix(f".{method}{path.suffix or '.json'}")
            file.write_text(json.dumps(self.rankings[f"tenure {method}"], indent=1))
            files.append(file)
        return files


def measure_sessions(
    source: str, path: Path, *, encoder: str | None = None, limit: int | None = None
) -> tuple[SessionReport, RecallReport]:
    """Rank the sessions of every question, and measure the evidence at each budget.

    Raises:
        InvalidInput: when the file is not of the named format.
        NotFound: `unknown_file`.
    """
    report = SessionReport()
    encoder_in_use = encoder_of(encoder)
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder) / "sets.jsonl"
        with lines.open("w", encoding="utf-8") as file:
            for line in convert(source, path):
                file.write(json.dumps(line) + "\n")
        questions = 0
        for question_set in question_sets(lines):
            room = None if limit is None else limit - questions
            questions += _rank_set(question_set, report, encoder_in_use, room)
        if not questions:
            raise InvalidInput(f"{path} holds no question", code="empty_file")
        options = EvaluationOptions(
            budgets=BUDGETS, task="conversation", encoder=encoder_in_use, limit=limit
        )
        return report, evaluate_recall(lines, options=options)


def _rank_set(
    question_set: QuestionSet, report: SessionReport, encoder: Encoder | None, room: int | None
) -> int:
    """Load a set and rank its sessions for each question; return how many were asked."""
    questions = question_set.questions[:room]
    if not questions:
        return 0
    clock = SetClock()
    memory = connect(":memory:", encoder=encoder, clock=clock, principal=OWNER)
    with closing(memory):
        corpus = Loader(memory, clock, _MODEL, []).load(question_set)
        for question in questions:
            haystack = _Haystack.of(question_set, question)
            relevant = {haystack.session_of[i] for i in question.evidence_ids & haystack.known}
            if not question.answerable or not relevant:
                report.left_out[_UNLABELLED if question.answerable else _UNANSWERABLE] += 1
                continue
            for method, ranking in _rankings(corpus, haystack, question).items():
                report.rankings[method][question.id] = ranking
                for cut in CUTS:
                    score = score_sessions(ranking, relevant, haystack.sessions, cut)
                    report.scores[method, cut].append(score)
    return len(questions)


@dataclass(frozen=True, slots=True)
class _Haystack:
    """The turns that are known when a question is asked."""

    turns: Sequence[Document]
    session_of: Mapping[str, str]
    sessions: Sequence[str]

    @classmethod
    def of(cls, question_set: QuestionSet, question: Question) -> _Haystack:
        turns: list[Document] = []
        for at_us, item in in_order(question_set.items):
            until = question.known_at_us
            if isinstance(item, Document) and (until is None or (at_us or 0) <= until):
                turns.append(item)
        session_of = {turn.id: turn.session or "" for turn in turns}
        return cls(turns, session_of, tuple(dict.fromkeys(session_of.values())))

    @property
    def known(self) -> frozenset[str]:
        """The ids of the turns."""
        return frozenset(self.session_of)

    def by_session(self, turn_ids: Iterable[str]) -> list[str]:
        """Sessions in the order of their best turns."""
        session_ids = [self.session_of[name] for name in turn_ids if name in self.session_of]
        return list(dict.fromkeys(session_ids))

    def user_texts(self) -> list[tuple[str, str, int | None]]:
        """The user turns of each session, joined; all turns where no assistant takes part."""
        texts: dict[str, list[str]] = {session: [] for session in self.sessions}
        for turn in self.turns:
            if turn.speaker != _ASSISTANT:
                texts[turn.session or ""].append(turn.line_text)
        return [(session, "\n".join(lines), None) for session, lines in texts.items()]


def _rankings(corpus: Corpus, haystack: _Haystack, question: Question) -> dict[str, list[str]]:
    """The sessions of a haystack by every method, best first."""
    view = corpus.memory.as_of(_moment(question.as_of_us), _moment(question.known_at_us))
    hits = view.search(question.text, limit=_HITS).hits
    searched_ids = [corpus.items.get(hit.object.object_id, "") for hit in hits]
    envelope = corpus.memory.compile(
        "conversation",
        question.text,
        entities=question.entities,
        budget_tokens=BUDGETS[-1],
        model=_MODEL,
        valid=_moment(question.as_of_us),
        tx=_moment(question.known_at_us),
    )
    entries = sorted(envelope.trace.compiled_objects, key=lambda entry: -entry.score)
    compiled = [corpus.items.get(entry.object_id, "") for entry in entries]

    by_words = rank_by_words(question.text, units(haystack.user_texts(), _MODEL), DEFAULT.compile)
    rankings = {
        "tenure search": haystack.by_session(searched_ids),
        "tenure compile": haystack.by_session(compiled),
        "bm25": [session for session, _ in by_words],
    }
    nearest = _nearest_sessions(corpus, haystack, question)
    if nearest:
        rankings["dense"] = [session for session, _ in nearest]
        rankings["hybrid"] = [session for session, _ in fuse(by_words, nearest)]
    return rankings


def _nearest_sessions(
    corpus: Corpus, haystack: _Haystack, question: Question
) -> list[tuple[str, int]]:
    """Sessions by their nearest turn; none without an encoder."""
    embedding = backend_of(corpus.memory).embedding
    if embedding is None:
        return []
    best: dict[str, int] = {}
    vector = encode_one(embedding.encoder, question.text)
    for turn_id, cosine in corpus.cosines(vector, haystack.known).items():
        session = haystack.session_of[turn_id]
        best[session] = max(best.get(session, 0), cosine)
    return rank_by_meaning(best)


def _moment(at_us: int | None) -> datetime | None:
    return None if at_us is None else moment(at_us)
