"""A re-ranker has the second word on the best candidates, and a replay never asks it again."""

from collections.abc import Sequence

from tenure.compiler.envelope.envelope import Envelope
from tenure.schema.errors import InvalidInput
from tenure.service.client.connect import connect
from tenure.service.client.memory import Memory
from tenure.tests.support.refusals import refused

NOTES = (
    "The deploy report of alpha names the owner.",
    "Deploy deploy report report: nothing else.",
    "A report about lunch.",
)


class Prefers:
    """Gives full marks to texts that hold a word, and keeps what it was shown."""

    id = "prefers/1"

    def __init__(self, word: str) -> None:
        self.word = word
        self.shown: list[str] = []

    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.shown += [query, *texts]
        return [float(self.word in text) for text in texts]


class Silent(Prefers):
    def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        return [float("nan") for _ in texts]


def filled(memory: Memory) -> Memory:
    for note in NOTES:
        memory.write(content=note, why_it_matters="deploy report")
    memory.write(
        content="The deploy report has a phone of Sam.",
        why_it_matters="deploy report",
        sensitivity=["personal"],
    )
    return memory


def best(envelope: Envelope) -> str:
    stored = {c.object_id for c in envelope.manifest.candidates if c.vid}
    found = [o for o in envelope.trace.compiled_objects if o.object_id in stored]
    top = max(found, key=lambda o: o.score)
    rows = [b.text for b in envelope.blocks if b.section == "turn_memory"]
    lines = [line for text in rows for line in text.splitlines()]
    return next(line for line in lines if line.startswith(f"[{top.anchor}]"))


def test_its_opinion_moves_the_ranking_and_is_replayed_from_the_manifest() -> None:
    scorer = Prefers("lunch")
    with connect(":memory:", reranker=scorer) as memory:
        filled(memory)
        envelope = memory.compile("analytical_reporting", "deploy report")
        assert "lunch" in best(envelope)
        asked = len(scorer.shown)
        scorer.word = "owner"
        again = memory.replay(envelope.manifest.to_json())
        assert (again.digest, len(scorer.shown)) == (envelope.digest, asked)
        assert envelope.manifest.reranker_id == "prefers/1"
        other = memory.compile("analytical_reporting", "deploy report")
        assert "owner" in best(other)


def test_without_one_nothing_changes_and_labelled_texts_are_never_shown(memory: Memory) -> None:
    scorer = Prefers("deploy")
    plain = filled(memory).compile("analytical_reporting", "deploy report")
    assert plain.manifest.reranker_id is None
    assert all(c.opinion is None for c in plain.manifest.candidates)
    with connect(":memory:", reranker=scorer) as memory:
        filled(memory).compile("analytical_reporting", "deploy report")
        memory.compile("analytical_reporting", goal="deploy report")
        memory.compile("analytical_reporting", "zebra")
    assert set(scorer.shown) == {"deploy report", *NOTES}


def test_scores_that_are_none_are_refused() -> None:
    with connect(":memory:", reranker=Silent("x")) as memory:
        filled(memory)
        with refused(InvalidInput, "bad_reranker"):
            memory.compile("analytical_reporting", "deploy report")
