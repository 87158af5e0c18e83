import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tenure
from tenure import Forbidden, InvalidInput, Memory, Principal, Write, connect
from tenure.schema.policy import DEFAULT
from tenure.service.encoders import models as module
from tenure.service.encoders.encoder import Progress
from tenure.service.encoders.models import Embedding, texts_of
from tenure.service.stewardship.operations import re_embed
from tenure.store.port.store import VectorRow
from tenure.tests.service.toy_encoder import ToyEncoder
from tenure.tests.support.refusals import refused

CANTEEN = "Our staff canteen closes at three in the afternoon."


@pytest.fixture
def encoder() -> ToyEncoder:
    return ToyEncoder()


@pytest.fixture
def memory(encoder: ToyEncoder) -> Iterator[Memory]:
    with connect(":memory:", encoder=encoder) as opened:
        yield opened


def stored(memory: Memory, encoder_id: str = "toy@1") -> list[VectorRow]:
    with memory._backend.store.reading("default") as reader:
        return list(reader.vectors(encoder_id, 0)[1])


def passage(memory: Memory, text: str, **stated: Any) -> str:
    return memory.write(content=text, source_origin="doc://handbook", **stated).object_id


def contents(memory: Memory, question: str, **stated: Any) -> list[str]:
    return [hit.object.content or "" for hit in memory.as_of().search(question, **stated).hits]


def test_a_claim_gets_a_vector_of_its_content_and_one_of_its_condition(memory: Memory) -> None:
    object_id = passage(memory, CANTEEN, why_it_matters="planning lunch")
    memory.flush()
    assert [(r.object_id, r.encoder_id, r.part) for r in stored(memory)] == [
        (object_id, "toy@1", "0"),
        (object_id, "toy@1", "why"),
    ]


def test_a_long_text_gets_a_vector_for_each_chunk(memory: Memory) -> None:
    passage(memory, " ".join(f"word{n}" for n in range(40)))
    memory.flush()
    assert [r.part for r in stored(memory)] == ["0", "1", "2", "why"]


def test_the_claim_and_the_words_it_was_said_in_are_one_text(
    memory: Memory, encoder: ToyEncoder
) -> None:
    memory.write("Sam Rivera", "office", "Chicago", content="I moved to Chicago.")
    memory.flush()
    assert any("Chicago" in t and "I moved to Chicago." in t for t in encoder.read)


def test_meaning_is_found_without_a_shared_word(memory: Memory) -> None:
    passage(memory, CANTEEN)
    passage(memory, "The roof is blue.")
    memory.flush()
    assert contents(memory, "when does lunch shut?") == [CANTEEN]
    with connect(":memory:") as lexical:
        passage(lexical, CANTEEN)
        assert contents(lexical, "when does lunch shut?") == []


def test_a_search_is_filtered_by_type_and_subject(memory: Memory) -> None:
    memory.write("Sam Rivera", "office", "Chicago")
    passage(memory, "Sam works in an office.")
    memory.flush()
    found = memory.as_of().search("employer", object_type="retrieved_passage")
    assert [hit.object.slot for hit in found.hits] == [None]
    found = memory.as_of().search("employer", entity="Sam Rivera")
    assert [hit.object.slot for hit in found.hits] == ["office"]


def test_a_search_of_nothing_embeds_nothing(memory: Memory, encoder: ToyEncoder) -> None:
    assert contents(memory, " ") == []
    assert encoder.read == []


def test_a_view_of_the_past_finds_what_was_there(memory: Memory) -> None:
    receipt = memory.write("Sam Rivera", "office", "Chicago", content="the employer sits there")
    later = memory.write("Sam Rivera", "office", "Boston", content="the employer moved")
    memory.flush()
    assert contents(memory, "job") == ["the employer moved"]
    view = memory.as_of(receipt.tx, receipt.tx)
    assert [hit.object.object_id for hit in view.search("job").hits] == [receipt.object_id]
    assert later.object_id != receipt.object_id


def test_hidden_claims_are_walked_past_to_the_best_visible_ones(memory: Memory) -> None:
    memory.vocabulary.define("role", "guest", description="a visitor")
    writes = [
        Write(content=f"lunch lunch secret {n}", source_origin="doc://x", deny_roles=("guest",))
        for n in range(450)
    ]
    memory.write_many(writes)
    shown = passage(memory, "a cafeteria with some other words around it")
    memory.flush()
    guest = memory.bind(Principal(roles=frozenset({"guest"})))
    hits = guest.as_of().search("meal").hits
    assert [hit.object.object_id for hit in hits] == [shown]


def test_a_compile_pins_encoder_and_query_and_replays(memory: Memory) -> None:
    object_id = passage(memory, CANTEEN, why_it_matters="lunch")
    memory.flush()
    envelope = memory.compile("code_generation", "when does the meal end?", budget_tokens=4000)
    assert CANTEEN in envelope.text
    assert envelope.manifest.encoder_id == "toy@1"
    passage(memory, "lunch is over", why_it_matters="lunch")
    memory.flush()
    assert memory.replay(envelope.manifest).digest == envelope.digest
    assert object_id in envelope.manifest.compiled


def test_facts_behind_more_near_pages_than_find_room_are_candidates_too(
    tmp_path: Path, encoder: ToyEncoder
) -> None:
    rules = replace(DEFAULT.compile, vector_candidates=20)
    policy = replace(DEFAULT, compile=rules)
    filler = "aa bb cc dd ee ff " * 12
    pages = [f"lunch cafeteria {filler} {number}" for number in range(40)]
    with connect(str(tmp_path / "m.db"), encoder=encoder, policy=policy) as memory:
        memory.vocabulary.define("role", "guest", description="a visitor")
        memory.write_many([Write(content=page, source_origin="doc://a") for page in pages])
        # Farther off than every page, and hidden from a guest, or not.
        fact_ids: list[str] = []
        for number, roles in enumerate(((), ("guest",), ())):
            fact = memory.write(
                subject=f"Ann {number}", slot="specialty", value=f"canteen xx yy zz {number}",
                deny_roles=roles,
            )  # fmt: skip
            fact_ids.append(fact.object_id)
        memory.flush()
        guest = memory.bind(Principal(roles=frozenset({"guest"})))
        envelope = guest.compile("code_generation", "meal", budget_tokens=2_000)
        candidate_ids = [row.object_id for row in envelope.manifest.candidates]
    assert set(fact_ids) & set(candidate_ids) == {fact_ids[0], fact_ids[2]}
    assert len(candidate_ids) == 20


def test_a_compile_takes_a_query_vector_of_the_caller(memory: Memory, encoder: ToyEncoder) -> None:
    passage(memory, CANTEEN, why_it_matters="lunch")
    memory.flush()
    before = len(encoder.read)
    vector = ToyEncoder().encode(["meal"])[0]
    envelope = memory.compile("code_generation", "xyz", query_vector=vector, budget_tokens=4000)
    assert CANTEEN in envelope.text
    assert len(encoder.read) == before
    with pytest.raises(InvalidInput, match="never mixed"):
        memory.compile("code_generation", "xyz", query_vector=[1.0, 0.0])


def test_writers_do_not_wait_and_a_full_queue_is_caught_up(
    memory: Memory, encoder: ToyEncoder
) -> None:
    small = Embedding(memory._backend.store, encoder, most_waiting=5)
    memory._backend._embedding = small
    encoder.open.clear()
    ids = {passage(memory, f"sentence number {n}") for n in range(30)}
    assert encoder.read == []
    encoder.open.set()
    memory.flush()
    assert {row.object_id for row in stored(memory)} == ids


def test_what_is_refused_or_only_rehearsed_gets_no_vector(
    memory: Memory, encoder: ToyEncoder
) -> None:
    passage(memory, "a rehearsal", dry_run=True)
    passage(memory, "once", idempotency_key="k")
    memory.flush()
    read = list(encoder.read)
    passage(memory, "once", idempotency_key="k")
    memory.flush()
    assert "a rehearsal" not in read
    assert encoder.read == read


def test_what_is_ingested_or_replayed_gets_its_vectors(memory: Memory, tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    events.write_text(json.dumps({"content": CANTEEN, "source_origin": "doc://x"}) + "\n")
    memory.replay_import(
        [
            {
                "recorded_at": "2020-01-01T00:00:00Z",
                "content": "The cafeteria is open.",
                "source_origin": "doc://y",
            }
        ]
    )
    memory.ingest(events)
    memory.flush()
    assert len({row.object_id for row in stored(memory)}) == 2


def test_an_erased_claim_leaves_no_vector(memory: Memory) -> None:
    object_id = passage(memory, CANTEEN)
    memory.flush()
    assert contents(memory, "lunch") == [CANTEEN]
    memory.erase(object_id, reason="a request")
    assert contents(memory, "lunch") == []
    assert stored(memory) == []


def test_a_failing_encoder_is_told_once_and_made_up_for(
    memory: Memory, encoder: ToyEncoder
) -> None:
    encoder.broken = True
    object_id = passage(memory, CANTEEN)
    with pytest.raises(OSError, match="the model is gone"):
        memory.flush()
    encoder.broken = False
    other = passage(memory, "another text")
    memory.flush()
    assert {row.object_id for row in stored(memory)} == {object_id, other}


def test_a_store_closes_although_its_encoder_fails(tmp_path: Path, encoder: ToyEncoder) -> None:
    path = str(tmp_path / "a.db")
    memory = connect(path, encoder=encoder)
    encoder.broken = True
    passage(memory, CANTEEN)
    with pytest.raises(OSError, match="the model is gone"):
        memory.close()
    encoder.broken = False
    with connect(path, encoder=encoder) as again:
        assert re_embed(again._backend, again.principal) == Progress(1, 1)
        assert contents(again, "lunch") == [CANTEEN]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ([[1.0] * 63], "it has 63 numbers, the encoder makes 64"),
        ([], "returned 0 vectors for 1 texts"),
        ([[float("nan")] * 64], "NaN"),
        ([[0.0] * 64], "no direction"),
    ],
)
def test_an_encoder_that_breaks_its_word_is_refused(
    memory: Memory,
    encoder: ToyEncoder,
    monkeypatch: pytest.MonkeyPatch,
    answer: Sequence[Sequence[float]],
    why: str,
) -> None:
    monkeypatch.setattr(encoder, "encode", lambda texts: answer)
    with refused(InvalidInput, "bad_vector", match=why):
        memory.as_of().search("lunch")


def test_closing_waits_for_what_was_written(tmp_path: Path, encoder: ToyEncoder) -> None:
    path = str(tmp_path / "a.db")
    with connect(path, encoder=encoder) as memory:
        encoder.open.clear()
        passage(memory, CANTEEN)
        encoder.open.set()
    with connect(path, encoder=ToyEncoder()) as memory:
        assert contents(memory, "lunch") == [CANTEEN]
        assert len(stored(memory)) == 2


def test_re_embedding_makes_what_is_missing_and_nothing_else(
    tmp_path: Path, encoder: ToyEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 2)
    monkeypatch.setattr(module, "_PAGE", 3)
    path = str(tmp_path / "a.db")
    with connect(path) as memory:
        for n in range(7):
            passage(memory, f"fact {n} of lunch")
    told: list[Progress] = []
    with connect(path, encoder=encoder) as memory:
        done = re_embed(memory._backend, memory.principal, progress=told.append)
        assert done == Progress(7, 7)
        assert [p.embedded for p in told] == [2, 3, 5, 6, 7]
        read = len(encoder.read)
        assert re_embed(memory._backend, memory.principal, encoder) == Progress(0, 0)
        assert len(encoder.read) == read


def test_re_embedding_goes_on_where_it_was_stopped(
    tmp_path: Path, encoder: ToyEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 2)
    path = str(tmp_path / "a.db")

    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    with connect(path) as memory:
        for n in range(5):
            passage(memory, f"fact {n}")
        with pytest.raises(KeyboardInterrupt):
            re_embed(memory._backend, memory.principal, encoder, progress=stop)
        assert re_embed(memory._backend, memory.principal, encoder) == Progress(3, 3)


def test_another_encoder_gets_an_index_of_its_own(memory: Memory) -> None:
    passage(memory, CANTEEN)
    memory.flush()
    other = ToyEncoder("toy@2")
    other.dimensions = 32
    assert re_embed(memory._backend, memory.principal, other).embedded == 1
    assert {len(r.vec16) for r in stored(memory)} == {128}
    assert {len(r.vec16) for r in stored(memory, "toy@2")} == {64}
    assert contents(memory, "lunch") == [CANTEEN]


def test_re_embedding_is_for_operators_and_needs_an_encoder(memory: Memory) -> None:
    with pytest.raises(Forbidden):
        re_embed(memory._backend, Principal())
    with connect(":memory:") as lexical, refused(InvalidInput, "bad_encoder"):
        re_embed(lexical._backend, lexical.principal)


def test_a_claim_without_words_has_no_texts(memory: Memory) -> None:
    object_id = passage(memory, CANTEEN)
    with memory._backend.store.writing("default") as tx:
        tx.lock()
        content = tx.assertions([object_id])[object_id].content
    assert set(texts_of(content)) == {"content", "why"}


def test_a_search_by_words_loads_no_numeric_library() -> None:
    look = (
        "import sys, tenure\n"
        "memory = tenure.connect(':memory:')\n"
        "memory.write('Sam Rivera', 'office', 'Chicago')\n"
        "assert memory.as_of().search('chicago').hits\n"
        "assert 'numpy' not in sys.modules, 'numpy was imported'\n"
    )
    link = {"PYTHONPATH": str(Path(tenure.__file__).parents[1])}
    subprocess.run(
        [sys.executable, "-P", "-c", look], env={**os.environ, **link}, check=True, timeout=60
    )
