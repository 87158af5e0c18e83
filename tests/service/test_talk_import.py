"""Talk in import files: read by a model, several at a time, resumed where it was interrupted."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tenure import Conflict, InvalidInput, Memory, Unavailable, connect
from tenure.service.extraction.model import ModelExtractor
from tenure.service.extraction.providers import OpenAIProvider
from tenure.tests.service import talk_loader
from tenure.tests.service.model_server import ModelServer, model_server
from tenure.tests.support.refusals import refused

TOWNS = [f"Town{number:02}" for number in range(40)]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    pytest.importorskip("openai")
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with model_server() as running:
        running.read = homes
        yield running


def homes(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The home that a text of this page states."""
    text = request["messages"][-1]["content"].split("\n")[1]
    claim = {"subject": None, "op": "assert", "valid_from": None, "valid_until": None}
    return [{**claim, "slot": "home", "value": text.split()[-1].strip("."), "quote": text}]


def model(server: ModelServer, **options: Any) -> ModelExtractor:
    provider = OpenAIProvider("good", base_url=f"{server.url}/v1", timeout_s=2, retries=0)
    return ModelExtractor(provider, **options)


def talk_file(folder: Path, towns: list[str], **fields: Any) -> Path:
    path = folder / "talk.jsonl"
    lines: list[str] = []
    for number, town in enumerate(towns):
        line = {
            "observe": f"We live in {town}.",
            "speaker": f"Person {number}",
            "at": f"2026-06-17T09:{number:02}:00Z",
            "source_origin": "chat://import",
            **fields,
        }
        lines.append(json.dumps(line))
    path.write_text("\n".join(lines))
    return path


def test_texts_become_claims_and_the_report_says_what_that_took(
    server: ModelServer, tmp_path: Path
) -> None:
    file = talk_file(tmp_path, TOWNS[:10])
    told: list[int] = []
    with connect(":memory:", extractor=model(server, prices=(2.0, 10.0))) as memory:
        report = memory.ingest(file, progress=lambda line, _: told.append(line))
        assert report.talk is not None
        assert (report.talk.texts, report.talk.model_reads, report.events) == (10, 10, 20)
        assert (report.talk.tokens_in, report.talk.tokens_out) == (4000, 500)
        assert report.talk.cost == pytest.approx(0.013)
        assert told == list(range(1, 11))
        homes_now = [memory.as_of().value(f"Person {number}", "home") for number in range(10)]
        assert homes_now == TOWNS[:10]


def test_a_second_run_asks_and_writes_nothing(server: ModelServer, tmp_path: Path) -> None:
    file = talk_file(tmp_path, TOWNS[:5])
    with connect(":memory:", extractor=model(server)) as memory:
        memory.ingest(file)
        last = memory.as_of().tx
        again = memory.ingest(file)
        assert (again.events, again.skipped, len(server.requests)) == (0, 5, 5)
        assert memory.as_of().tx == last


def test_the_same_words_twice_in_a_file_are_two_texts(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    line = json.dumps({"observe": "Yes, I think so.", "speaker": "Ana"})
    file.write_text(f"{line}\n{line}\n")
    assert memory.ingest(file).events == 2
    assert memory.ingest(file).skipped == 2


def test_several_texts_are_read_at_a_time_and_no_more(server: ModelServer, tmp_path: Path) -> None:
    lock, now, most = threading.Lock(), 0, 0

    def slowly(request: dict[str, Any]) -> list[dict[str, Any]]:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        time.sleep(0.05)
        with lock:
            now -= 1
        return homes(request)

    server.read = slowly
    with connect(":memory:", extractor=model(server, parallel=4)) as memory:
        memory.ingest(talk_file(tmp_path, TOWNS[:16]))
    assert most == 4


def test_texts_of_one_speaker_share_requests_and_nobody_else_is_read_there(
    server: ModelServer, tmp_path: Path
) -> None:
    def all_homes(request: dict[str, Any]) -> list[dict[str, Any]]:
        lines = request["messages"][-1]["content"].split("\n")
        if len(lines) == 3:
            return homes(request)
        claims: list[dict[str, Any]] = []
        for number, text in enumerate(lines[1::2], 1):
            town = text.split()[-1].strip(".")
            claim = {"subject": None, "op": "assert", "valid_from": None, "valid_until": None}
            claims.append({**claim, "text": number, "slot": "home", "value": town, "quote": text})
        return claims

    server.read = all_homes
    ann = {"name": "Ann Lee", "type": "person", "external_ids": {"crm": "1"}}
    namesake = {**ann, "external_ids": {"crm": "2"}}
    lines: list[str] = []
    for number, town in enumerate(TOWNS[:20]):
        speaker = namesake if number % 5 == 4 else ann
        line = {"observe": f"I live in {town}.", "speaker": speaker, "source_origin": "chat://x",
                "at": f"2026-06-{number + 1:02}T09:00:00Z"}  # fmt: skip
        lines.append(json.dumps(line))
    file = tmp_path / "talk.jsonl"
    file.write_text("\n".join(lines))

    extractor = model(server, parallel=2, texts_a_request=6)
    with connect(":memory:", extractor=extractor) as memory:
        report = memory.ingest(file)
        assert report.talk is not None
        assert (report.talk.texts, report.talk.model_reads) == (20, 20)
        values = [
            [version.value for version in memory.history(speaker, "home")]
            for speaker in (ann, namesake)
        ]
    towns_of_ann = [town for number, town in enumerate(TOWNS[:20]) if number % 5 != 4]
    assert {*values[0]} == {*towns_of_ann}
    assert {*values[1]} == {*TOWNS[4:20:5]}

    # 16 texts prepared at a time: six and six of hers, one and three of the namesake, the rest.
    sizes = sorted(str(request).count("I live in") for request in server.requests)
    assert sum(sizes) == 20
    assert len(sizes) <= 6
    for request in server.requests:
        towns = {town for town in TOWNS if town in str(request["messages"][-1])}
        assert towns <= {*towns_of_ann} or towns.isdisjoint(towns_of_ann)


def test_an_import_stops_where_the_model_fails_and_goes_on_from_there(
    server: ModelServer, tmp_path: Path
) -> None:
    file = talk_file(tmp_path, TOWNS[:6])

    server.read = lambda request: None if "Town03" in str(request) else homes(request)
    with connect(":memory:", extractor=model(server, parallel=6)) as memory:
        with refused(Unavailable, "extractor_unavailable", match=r"line 4: .*run the import again"):
            memory.ingest(file)

        server.read = homes
        report = memory.ingest(file)
        assert report.talk is not None
        assert report.skipped == 3
        # What was answered behind the text that failed is not paid for again.
        assert (report.talk.texts, report.talk.model_reads, report.talk.cache_hits) == (3, 1, 2)


def test_with_keep_going_rules_read_what_the_model_does_not(
    server: ModelServer, tmp_path: Path
) -> None:
    with connect(":memory:", extractor=model(server, parallel=1)) as memory:
        server.failures = 1
        report = memory.ingest(talk_file(tmp_path, TOWNS[:2]), keep_going=True)
        assert report.talk is not None
        assert (report.talk.texts, report.talk.rule_reads, report.talk.model_reads) == (2, 1, 1)


def test_an_erased_text_does_not_come_back(server: ModelServer, tmp_path: Path) -> None:
    file = talk_file(tmp_path, TOWNS[:2])
    with connect(":memory:", extractor=model(server)) as memory:
        memory.ingest(file)
        memory.erase(entity="Person 1", reason="asked to")
        report = memory.ingest(file)
        assert (report.skipped, report.events, len(server.requests)) == (2, 0, 2)


def test_a_conversation_is_a_line(memory: Memory, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    messages = [
        {"role": "user", "content": "I live in Lisbon."},
        {"role": "assistant", "content": "How nice."},
    ]
    line = {
        "observe": messages,
        "speaker": "Ana",
        "at": "2026-06-17T09:00:00Z",
        "idempotency_key": "c1",
    }
    file.write_text(json.dumps(line))
    assert memory.ingest(file).events == 3
    assert memory.as_of().value("Ana", "home") == "Lisbon"
    assert memory.ingest(file).skipped == 2


def test_events_definitions_and_talk_stand_in_one_file_in_order(
    memory: Memory, tmp_path: Path
) -> None:
    file = tmp_path / "all.jsonl"
    lines = [
        {"subject": "Ana", "slot": "home", "value": "Porto", "valid_from": "2026-01-01T00:00:00Z"},
        {"observe": "I live in Lisbon.", "speaker": "Ana", "at": "2026-06-17T09:00:00Z"},
        {"define": "slot", "name": "badge", "description": "the colour of the badge"},
        {"subject": "Ana", "slot": "badge", "value": "green"},
    ]
    file.write_text("\n".join(map(json.dumps, lines)))
    report = memory.ingest(file)
    assert (report.events, report.definitions) == (4, 1)
    assert memory.as_of().value("Ana", "home") == "Lisbon"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ({"observe": ""}, "missing_value"),
        ({"observe": 3}, "bad_field"),
        ({"observe": "Yes.", "spoken_by": "Ana"}, "unknown_field"),
        ({"observe": "Yes.", "at": "yesterday"}, "bad_time"),
        ({"observe": "Yes.", "at": 3}, "bad_field"),
        ({"observe": "Yes.", "layer": "cellar"}, "unknown_vocabulary"),
        ({"observe": [{"role": "bard", "content": "Yes."}]}, "unknown_vocabulary"),
    ],
)
def test_a_line_that_is_no_talk_is_refused_before_anything_is_written(
    memory: Memory, tmp_path: Path, line: dict[str, Any], code: str
) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text(json.dumps({"observe": "I live in Lisbon.", "speaker": "Ana"}) + "\n")
    with file.open("a") as more:
        more.write(json.dumps(line))
    with refused(InvalidInput, code, match="line 2"):
        memory.ingest(file)
    assert memory.ingest(file, check=True).refused == 1
    assert memory.ingest(file, keep_going=True).events == 2
    assert memory.ingest(f"{tmp_path}/talk.rejects.jsonl", retry=True).refused == 1


def test_a_key_that_is_too_long_names_its_line(tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text(json.dumps({"observe": "Yes.", "idempotency_key": "k" * 300}))
    with connect(":memory:") as memory, pytest.raises(InvalidInput, match="line 1") as refusal:
        memory.ingest(file)
    assert refusal.value.code == "too_large"


def test_talk_is_no_part_of_a_replay(tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text(json.dumps({"observe": "Yes.", "recorded_at": "2026-01-01T00:00:00Z"}))
    with connect(":memory:") as memory, pytest.raises(InvalidInput, match="without --replay"):
        memory.ingest(file, replay=True)


def test_two_imports_of_one_file_store_each_text_once(server: ModelServer, tmp_path: Path) -> None:
    file = talk_file(tmp_path, TOWNS[:12])
    with connect(":memory:", extractor=model(server)) as memory:
        failures: list[Conflict] = []

        def load() -> None:
            try:
                memory.ingest(file)
            except Conflict as error:
                failures.append(error)

        loaders = [threading.Thread(target=load) for _ in range(2)]
        for loader in loaders:
            loader.start()
        for loader in loaders:
            loader.join()
        assert not failures
        for number, town in enumerate(TOWNS[:12]):
            assert len(memory.history(f"Person {number}", "home")) == 1
            assert memory.as_of().value(f"Person {number}", "home") == town


def test_a_killed_import_pays_for_nothing_twice(server: ModelServer, tmp_path: Path) -> None:
    def slowly(request: dict[str, Any]) -> list[dict[str, Any]]:
        time.sleep(0.02)
        return homes(request)

    server.read = slowly
    file, store = talk_file(tmp_path, TOWNS), str(tmp_path / "team.db")
    command = [sys.executable, talk_loader.__file__, store, str(file), server.url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as loader:
        assert loader.stdout is not None
        while loader.stdout.readline().strip() != "5":
            assert loader.poll() is None
        loader.kill()

    asked_before = len(server.requests)
    with connect(store, extractor=f"openai:good@{server.url}/v1") as memory:
        report = memory.ingest(file)
        assert report.skipped >= 5
        homes_now = [memory.as_of().value(f"Person {number}", "home") for number in range(40)]
        assert homes_now == TOWNS
        assert memory.doctor() == ()
    # What was under way when the process died may be asked again: eight texts at most.
    assert asked_before + len(server.requests[asked_before:]) <= 40 + 8
