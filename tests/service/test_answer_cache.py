"""What models answered: paid for once, kept for the tenant alone, gone with what was erased."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tenure import Memory, Principal, Unavailable, connect
from tenure.service.backend.backend import Backend
from tenure.service.backend.caller import backend_of
from tenure.service.extraction import choice
from tenure.service.extraction.choice import AnswerCache, TenantSeal
from tenure.service.extraction.claims import ExtractedClaim, Extraction, ExtractionContext
from tenure.store.commit.queue import CommitQueue
from tenure.tests.support.refusals import refused

SAID = "I have moved to Ouagadougou with my Kerry blue terrier."
HOME = {"speaker": "Ana Ortiz", "at": "2026-06-17T09:30:00Z", "source_origin": "chat://c1"}
SEAL = TenantSeal("default", b"secret")


class Reader:
    """Finds one home in every text, and counts how often it is asked."""

    parallel = 1

    def __init__(self) -> None:
        self.asked = 0
        self.failure = ""

    def extract(self, text: str, *, at: Any) -> tuple[ExtractedClaim, ...]:
        return ()

    def question(self, text: str, context: ExtractionContext) -> str:
        return f"{context.speaker} {context.at}"

    def extract_in(self, text: str, context: ExtractionContext) -> Extraction:
        self.asked += 1
        start = text.find("Ouagadougou")
        claims = [ExtractedClaim(slot="home", value="Ouagadougou", start=start, end=start + 11)]
        if start < 0:
            claims = []
        return Extraction(
            claims=tuple(claims),
            extractor="reader",
            tokens_in=400,
            tokens_out=50,
            cost=0.25,
            dropped=("one",),
            failure=self.failure,
        )


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.fixture
def memory(tmp_path: Path, reader: Reader) -> Iterator[Memory]:
    with connect(str(tmp_path / "team.db"), extractor=reader) as opened:
        yield opened


def answers_file(tmp_path: Path) -> Path:
    return tmp_path / "team.db.answers"


def words_on_disk(tmp_path: Path) -> bytes:
    return b"".join(path.read_bytes() for path in tmp_path.glob("team.db.answers*"))


def test_an_answer_outlives_the_process_and_costs_nothing_again(
    tmp_path: Path, reader: Reader
) -> None:
    for detail in ("400 tokens in, 50 out, cost 0.250000", "from the cache"):
        with connect(str(tmp_path / "team.db"), extractor=reader) as memory:
            passage, _ = memory.observe(SAID, **HOME)
            assert detail in passage.detail
            assert "1 dropped: one" in passage.detail
            assert memory.as_of().value("Ana Ortiz", "home") == "Ouagadougou"
    assert reader.asked == 1
    assert answers_file(tmp_path).stat().st_mode & 0o777 == 0o600


def test_an_outage_is_not_remembered(memory: Memory, reader: Reader) -> None:
    reader.failure = "no answer"
    memory.observe(SAID, **HOME)
    reader.failure = ""
    memory.observe(SAID, **HOME)
    assert reader.asked == 2


def test_no_tenant_meets_the_answer_of_another(tmp_path: Path, reader: Reader) -> None:
    key = b"k" * 32
    with connect(f"{tmp_path}/", extractor=reader, tenant_key=key) as memory:
        for tenant in ("east", "west"):
            owner = Principal(tenant=tenant, roles=frozenset({"owner"}), authority_level=0)
            memory.bind(owner).observe(SAID, **HOME)
    assert reader.asked == 2


def test_the_answer_goes_with_an_erased_passage(
    tmp_path: Path, memory: Memory, reader: Reader
) -> None:
    passage, _ = memory.observe(SAID, **HOME)
    assert b"Ouagadougou" in words_on_disk(tmp_path)
    memory.erase(passage.object_id, reason="asked to")
    assert b"Ouagadougou" not in words_on_disk(tmp_path)
    memory.observe(SAID, **HOME)
    assert reader.asked == 2


def test_the_answer_goes_with_an_erased_person(tmp_path: Path, memory: Memory) -> None:
    memory.observe(SAID, **HOME)
    memory.erase(entity="Ana Ortiz", reason="asked to")
    assert b"Ouagadougou" not in words_on_disk(tmp_path)


def test_an_answer_whose_text_was_never_stored_goes_by_its_words(
    tmp_path: Path, memory: Memory
) -> None:
    backend = backend_of(memory)
    claim = ExtractedClaim(slot="likes", value="Ana Ortiz of Lome", start=0, end=3)
    key = backend.seal("default").key("a text that no passage holds", "?")
    backend.answers.keep(key, Extraction(claims=(claim,), extractor="reader"))
    memory.observe(SAID, **HOME)
    memory.erase(entity="Ana Ortiz", reason="asked to")
    assert b"Lome" not in words_on_disk(tmp_path)


def test_an_answer_that_a_crash_left_behind_goes_with_the_next_question(
    tmp_path: Path, memory: Memory, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    passage, _ = memory.observe(SAID, **HOME)
    with monkeypatch.context() as crash:
        crash.setattr(Backend, "forget_answers", lambda *_, **__: 0)
        memory.erase(passage.object_id, reason="asked to")
    memory.close()
    assert b"Ouagadougou" in words_on_disk(tmp_path)

    with connect(str(tmp_path / "team.db"), extractor=reader) as again:
        again.observe("Nothing of note.", **HOME)
    assert b"Ouagadougou" not in words_on_disk(tmp_path)


def test_an_answer_stands_before_its_passage_does(
    memory: Memory, reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []

    def noted(name: str, call: Any) -> Any:
        def run(*arguments: Any) -> Any:
            order.append(name)
            return call(*arguments)

        return run

    monkeypatch.setattr(AnswerCache, "keep", noted("keep", AnswerCache.keep))
    monkeypatch.setattr(AnswerCache, "bind", noted("bind", AnswerCache.bind))
    monkeypatch.setattr(CommitQueue, "submit", noted("write", CommitQueue.submit))
    memory.observe(SAID, **HOME)
    assert order == ["keep", "bind", "write"]


def test_a_file_that_is_none_costs_money_and_nothing_else(tmp_path: Path, reader: Reader) -> None:
    answers_file(tmp_path).write_bytes(b"this is no database, but it is long enough to look" * 99)
    cache = AnswerCache(answers_file(tmp_path))
    key = SEAL.key(SAID, "?")
    cache.keep(key, Extraction(claims=(), extractor="reader"))
    assert cache.find(key) is None
    with refused(Unavailable, "answers_unreachable") as refusal:
        cache.forget(SEAL, texts=[SAID])
    assert "delete that file" in str(refusal.value)


def test_a_body_that_nobody_can_read_counts_as_not_there(tmp_path: Path) -> None:
    cache = AnswerCache(tmp_path / "a.answers")
    key = SEAL.key(SAID, "?")
    cache.keep(key, Extraction(claims=(), extractor="reader"))
    assert cache.find(key) is not None
    cache.close()
    with sqlite3.connect(tmp_path / "a.answers") as db:
        db.execute("UPDATE answers SET body = '{}'")
    db.close()
    with closing(AnswerCache(tmp_path / "a.answers")) as again:
        assert again.find(key) is None


def test_the_oldest_answers_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "MOST_ANSWERS", 2)
    cache = AnswerCache(None)
    keys = [SEAL.key(SAID, str(number)) for number in range(3)]
    for key in keys:
        cache.keep(key, Extraction(claims=(), extractor="reader"))
    assert [cache.find(key) is not None for key in keys] == [False, True, True]
    cache.close()


def test_moments_of_claims_come_back() -> None:
    cache = AnswerCache(None)
    since = datetime(2019, 1, 1, tzinfo=UTC)
    claim = ExtractedClaim(slot="home", value=3, start=0, end=2, valid_from=since)
    cache.keep(SEAL.key(SAID, "?"), Extraction(claims=(claim,), extractor="r", tokens_in=4))
    answer = cache.find(SEAL.key(SAID, "?"))
    cache.close()
    assert answer is not None
    assert answer.claims == (claim,)
    assert (answer.is_cached, answer.tokens_in) == (True, 0)
