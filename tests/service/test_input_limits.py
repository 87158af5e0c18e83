"""Whatever comes in, a `TenureError` with a stable code comes out, soon, and nothing is written."""

import gzip
import json
import os
import stat
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tenure import EntityRef, InvalidInput, Memory, Principal, Scope, TenureError, Write, connect
from tenure.schema.limits import ALIASES, LINE_BYTES, check_json
from tenure.service.artifacts.artifacts import ArtifactKeeper
from tenure.service.writing.lines import Line, Reading, read
from tenure.tests.support.refusals import refused
from tenure.tests.support.sampling import examples

SAM = "Sam Rivera"
SECRET = "AKIAQ7PLMB4ZWX2RTNVD"
LIMIT_S = 5.0  # a second on a free machine
LIMIT_BYTES = 200_000_000
FEW = settings(max_examples=examples(150))
QUIET = pytest.mark.filterwarnings("ignore:Generating overly large repr")


@contextmanager
def in_little_memory() -> Iterator[None]:
    """Fail where what Python allocates inside of the block passes the bound at any moment."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < LIMIT_BYTES
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def memory() -> Iterator[Memory]:
    with connect(":memory:") as opened:
        opened.vocabulary.define_slot("settings", value_type="json", description="its settings")
        yield opened


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "deep value": ({"slot": "settings", "value": nested(100_000)}, "too_deep"),
    "deep enforcement": ({"enforcement": {"kind": "regex", "spec": nested(9_999)}}, "too_deep"),
    "deep subject": ({"subject": {"name": SAM, "aliases": nested(9_999)}}, "too_deep"),
    "huge whole": ({"slot": "settings", "value": 10**400}, "out_of_range"),
    "huge digits": ({"slot": "settings", "value": 10**5_000}, "out_of_range"),
    "infinity": ({"slot": "settings", "value": float("inf")}, "out_of_range"),
    "nul name": ({"subject": "Sam\0"}, "unstorable_text"),
    "lone surrogate": ({"subject": "Sam\ud800"}, "unstorable_text"),
    "nul value": ({"value": "a\0"}, "unstorable_text"),
    "nul why": ({"why_it_matters": "a\0"}, "unstorable_text"),
    "nul key": ({"idempotency_key": "a\0"}, "unstorable_text"),
    "surrogate key of json": ({"slot": "settings", "value": {"\udc00": 1}}, "unstorable_text"),
    "aliases": ({"subject": {"name": SAM, "aliases": ["a"] * (ALIASES + 1)}}, "too_large"),
    "identifiers": (
        {"subject": EntityRef(name=SAM, external_ids={f"s{i}": "1" for i in range(101)})},
        "too_large",
    ),
    "long name": ({"subject": "n" * 301}, "bad_name"),
    "long name of a value": ({"slot": "manager", "value": "n" * 301}, "bad_name"),
    "long alias": ({"subject": {"name": SAM, "aliases": ["n" * 301]}}, "bad_name"),
    "long identifier": ({"subject": {"name": SAM, "external_ids": {"hr": "7" * 513}}}, "bad_name"),
    "text for list": ({"sensitivity": "personal"}, "bad_field"),
    "number for list": ({"derived_from": 5}, "bad_field"),
    "text for number": ({"confidence": "high"}, "bad_field"),
    "nan": ({"confidence": float("nan")}, "out_of_range"),
    "number for text": ({"content": 5}, "bad_field"),
    "text for scope": ({"scope": "user=ann"}, "bad_field"),
    "other scope": ({"scope": {"team": "x"}}, "bad_scope"),
    "list for subject": ({"subject": [SAM]}, "bad_field"),
    "text for flag": ({"planned": "yes"}, "bad_field"),
    "long origin": ({"source_origin": "user://" + "x" * 3_000}, "too_large"),
    "number for origin": ({"source_origin": 5}, "bad_field"),
    "number for time": ({"valid_from": 5}, "bad_field"),
    "secret alias": ({"subject": EntityRef(name=SAM, aliases=(SECRET,))}, "secret_in_content"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_field_is_refused_soon_and_by_code(memory: Memory, name: str) -> None:
    fields, code = BAD[name]
    began = time.process_time()
    with in_little_memory(), refused(TenureError, code) as caught:
        memory.write(**{"subject": SAM, "slot": "office", "value": "Rome", **fields})
    assert time.process_time() - began < LIMIT_S
    assert len(str(caught.value)) < 1_000
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("write", [{"subject": SAM}, None, "a text", 5, ("a", "b"), []])
def test_what_is_no_write_is_refused_in_a_batch(memory: Memory, write: Any) -> None:
    before = memory.as_of().tx
    with refused(InvalidInput, "bad_field"):
        memory.write_many([Write(subject=SAM, slot="office", value="Rome"), write])
    assert memory.as_of().tx == before


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.text(st.characters(categories=["Cs", "Cc", "Cf"]), max_size=4)
    | st.binary(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=5,
)
FIELDS = [*Write.__dataclass_fields__]


@QUIET
@FEW
@given(st.dictionaries(st.sampled_from(FIELDS), ANYTHING, max_size=4))
def test_any_write_is_taken_or_refused_by_code(memory: Memory, fields: dict[str, Any]) -> None:
    last = memory.as_of().tx
    try:
        memory.write(**{"subject": SAM, "slot": "office", "value": "Rome", **fields})
    except TenureError as error:
        assert error.code
        assert memory.as_of().tx == last


@QUIET
@FEW
@given(
    st.text(max_size=40)
    | st.dictionaries(st.sampled_from([*FIELDS, "recorded_at", "define"]), ANYTHING).map(repr)
    | st.dictionaries(
        st.sampled_from([*FIELDS, "recorded_at", "writer"]),
        st.none() | st.integers() | st.floats() | st.text(max_size=8) | st.lists(st.text()),
    ).map(json.dumps),
    st.booleans(),
)
def test_any_import_line_is_read_or_refused_by_code(text: str, replay: bool) -> None:
    try:
        read(Line(1, text), Reading(replay=replay))
    except TenureError as error:
        assert error.code


@QUIET
@FEW
@given(st.lists(st.text(max_size=60) | ANYTHING.map(repr), max_size=4))
def test_any_restore_file_is_refused_by_code(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    path = tmp_path_factory.mktemp("restore") / "x.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8", errors="surrogatepass")
    with connect(":memory:") as empty, pytest.raises(TenureError):
        empty.import_file(path)


REQUEST_FIELDS = ("query", "goal", "constraints", "history", "evidence", "tools", "budget_tokens",
                  "signals", "entities", "valid", "tx", "query_vector", "pinned", "acceptance",
                  "project", "model", "profile", "user_request")  # fmt: skip


@QUIET
@settings(FEW, max_examples=examples(60))
@given(st.dictionaries(st.sampled_from(REQUEST_FIELDS), ANYTHING, max_size=3))
def test_any_request_is_compiled_or_refused_by_code(memory: Memory, fields: dict[str, Any]) -> None:
    try:
        memory.compile("code_generation", **fields)
    except TenureError as error:
        assert error.code


REQUESTS: dict[str, tuple[dict[str, Any], str]] = {
    "deep evidence": ({"evidence": nested(9_999)}, "bad_request"),
    "huge budget": ({"budget_tokens": 10**400}, "out_of_range"),
    "huge budget below zero": ({"budget_tokens": -(10**5_000)}, "out_of_range"),
    "huge reserve": ({"reserve_tokens": 10**5_000}, "out_of_range"),
    "no budget": ({"budget_tokens": -1}, "bad_request"),
    "huge signal": ({"signals": {"dialogue_depth": 10**5_000}}, "out_of_range"),
    "huge time": ({"valid": 10**5_000}, "bad_time"),
    "huge picture": (
        {"evidence": [{"kind": "image", "uri": "x", "width": 10**400, "height": 1}]},
        "out_of_range",
    ),
    "endless recording": (
        {"evidence": [{"kind": "audio", "uri": "x", "seconds": float("inf")}]},
        "out_of_range",
    ),
    "huge vector": ({"query_vector": [10**5_000]}, "bad_request"),
    "nan vector": ({"query_vector": [float("nan")]}, "out_of_range"),
    "lone surrogate": ({"goal": "\ud800"}, "bad_request"),
    "many pieces": ({"constraints": ["x"] * 200_000}, "too_large"),
    "number for a name": ({"signals": {1: 1}}, "bad_request"),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_a_bad_request_is_refused_soon_and_by_code(memory: Memory, name: str) -> None:
    fields, code = REQUESTS[name]
    began = time.process_time()
    with in_little_memory(), refused(TenureError, code) as caught:
        memory.compile("code_generation", **fields)
    assert time.process_time() - began < LIMIT_S
    assert len(str(caught.value)) < 1_000


def test_a_number_of_thousands_of_digits_is_no_time_and_no_share(memory: Memory) -> None:
    calls: tuple[tuple[str, Callable[[Any], object]], ...] = (
        ("bad_time", lambda number: memory.as_of(valid=number)),
        ("out_of_range", lambda number: memory.write(SAM, "office", "R", confidence=number)),
    )
    for code, call in calls:
        with refused(TenureError, code):
            call(10**5_000)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[" * 200_000, "bad_json"),
        ('{"value": ' + "9" * 5_000 + "}", "out_of_range"),
        ('{"value": 1e400}', "out_of_range"),
        ("{" + ",".join('"k": 1' for _ in range(40_000)) + "}", "bad_json"),
    ],
    ids=["deep", "digits", "exponent", "keys"],
)
def test_a_hostile_line_is_refused_soon(text: str, code: str) -> None:
    began = time.process_time()
    with in_little_memory(), refused(InvalidInput, code):
        read(Line(1, text), Reading())
    assert time.process_time() - began < LIMIT_S


def test_a_packed_line_without_an_end_is_refused_by_its_number(tmp_path: Path) -> None:
    path = tmp_path / "bomb.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=9) as packed:
        for _ in range(64):
            packed.write(b"x" * LINE_BYTES)
        packed.write(b'\n{"subject": "Sam", "slot": "office", "value": "Rome"}\n')
    with connect(":memory:") as memory, in_little_memory():
        report = memory.ingest(path, keep_going=True)
    assert [(line.line, line.code) for line in report.rejected] == [(1, "too_large")]
    assert report.events == 1


def test_a_packed_export_without_an_end_is_refused_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=9) as packed:
        for _ in range(64):
            packed.write(b" " * LINE_BYTES)
    began = time.process_time()
    with connect(":memory:") as memory, in_little_memory(), pytest.raises(TenureError):
        memory.import_file(path)
    assert time.process_time() - began < LIMIT_S


def test_the_rejects_follow_no_link(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "in.rejects.jsonl").symlink_to(tmp_path / "precious")
    (tmp_path / "in.jsonl").write_text("no json\n")
    with connect(":memory:") as memory:
        report = memory.ingest(tmp_path / "in.jsonl", keep_going=True)
        assert report.rejects_file == str(tmp_path / "in.2.rejects.jsonl")
    assert (tmp_path / "precious").read_text() == "mine"


def test_rejects_that_somebody_may_have_mended_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text("no json\n")
    with connect(":memory:") as memory:
        files = [memory.ingest(tmp_path / "in.jsonl", keep_going=True).rejects_file for _ in "123"]
        names = [Path(str(file)).name for file in files]
        assert names == ["in.rejects.jsonl", "in.2.rejects.jsonl", "in.3.rejects.jsonl"]
        again = memory.ingest(str(files[1]), retry=True)
        assert again.rejects_file == files[1]


def test_every_file_and_folder_that_is_made_is_its_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        store = tmp_path / "store.db"
        with connect(str(store), artifacts=str(tmp_path / "a" / "b" / "originals")) as memory:
            memory.write("Sam Rivera", "office", "Rome")
            memory.artifacts.put(b"bytes", name="x.txt")
            memory.entities.export(tmp_path / "graph.xml")
            memory.export(tmp_path / "all.jsonl")
    finally:
        os.umask(before)
    for path in tmp_path.rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path


def test_a_graph_replaces_no_file_and_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "link.xml").symlink_to(tmp_path / "precious")
    (tmp_path / "open.xml").symlink_to(tmp_path / "nowhere")
    with connect(":memory:") as memory:
        memory.write("Sam Rivera", "office", "Rome")
        for name in ("precious", "link.xml", "open.xml"):
            with refused(TenureError, "file_exists"):
                memory.entities.export(tmp_path / name)
    assert (tmp_path / "precious").read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()


def test_no_repr_prints_a_key() -> None:
    with connect(":memory:", tenant_key=b"k" * 32) as memory:
        parts = [memory, memory.as_of(), memory.entities, memory.reviews, memory.envelopes]
        assert "kkkk" not in repr(parts)
        assert "Sqlite" in repr(memory)


def test_a_reason_an_alias_a_scope_and_the_name_of_an_artifact_hold_no_secret(
    tmp_path: Path,
) -> None:
    with connect(str(tmp_path / "m.db")) as memory:
        receipt = memory.write(SAM, "office", "Rome")
        object_id = receipt.object_id
        for call in (
            lambda: memory.entities.add_alias(str(receipt.entity), f"key {SECRET}"),
            lambda: memory.write(SAM, "office", "Oslo", scope={"project": SECRET}),
            lambda: memory.write(SAM, "office", "Oslo", scope=Scope(user=SECRET)),
            lambda: memory.erase(object_id, reason=f"key {SECRET}"),
            lambda: memory.artifacts.put("text", name=f"{SECRET}.txt"),
            lambda: memory.artifacts.put("text", origin=f"https://x.org/?key={SECRET}"),
        ):
            with refused(InvalidInput, "secret_in_content"):
                call()
        with pytest.raises(InvalidInput):
            memory.erase(object_id, reason="x" * 3_000)


def test_a_question_and_a_word_are_measured_before_they_are_looked_up(memory: Memory) -> None:
    question, word = "w" * 20_001, "w" * 65
    for call in (
        lambda: memory.as_of().search(question),
        lambda: memory.mentions(question),
        lambda: memory.history(SAM, word),
        lambda: memory.reviews.list(kind=word),
        lambda: memory.observe("I moved to Rome.", layer=word),
    ):
        with refused(InvalidInput, "too_large"):
            call()


def test_a_sweep_by_nothing_at_a_time_is_refused() -> None:
    with connect(":memory:") as memory:
        for limit in (0, -1):
            with refused(InvalidInput, "out_of_range"):
                memory.sweep(limit=limit)


def test_a_text_is_no_scope(memory: Memory) -> None:
    bound = memory.bind(Principal(user="ann"))
    for call in (
        lambda: bound.as_of().slot(SAM, "office", scope="user=ann"),  # type: ignore[arg-type]
        lambda: bound.entities.resolve(SAM, scope="user=ann"),  # type: ignore[arg-type]
        lambda: (
            bound.artifacts.list()
            or bound.artifacts.get("artifact://sha256/" + "0" * 64, scope="x")
        ),  # type: ignore[arg-type]
    ):
        with refused(InvalidInput, "bad_scope"):
            call()


def test_only_who_may_erase_removes_artifacts_of_objects() -> None:
    with connect(":memory:") as memory, refused(TenureError, "privilege_required"):
        keeper = ArtifactKeeper(memory._backend, Principal(user="ann"))
        keeper.erase_with(["x"], reason="none")


def test_a_value_of_the_deepest_level_passes() -> None:
    check_json(nested(64), "value")
    with pytest.raises(InvalidInput):
        check_json(nested(65), "value")


def nested_schema(levels: int) -> dict[str, object]:
    tree: dict[str, object] = {"type": "object"}
    for _ in range(levels):
        tree = {"type": "array", "items": tree}
    return tree


OVERSIZED: dict[str, dict[str, object]] = {
    "a deep schema": {"tools": [{"name": "weigh", "input_schema": nested_schema(1_500)}]},
    "a deep schema as text": {"tools": [{"name": "weigh", "input_schema": "[" * 5_000}]},
    "a long schema": {"tools": [{"name": "weigh", "input_schema": {"title": "x" * 5_000_000}}]},
    "seconds": {"evidence": [{"kind": "audio", "uri": "call.wav", "seconds": 9e307}]},
    "pixels": {"evidence": [{"kind": "image", "uri": "a.png", "width": 2**62, "height": 2}]},
}


@pytest.mark.parametrize("request_fields", OVERSIZED.values(), ids=OVERSIZED)
def test_a_request_beyond_every_measure_is_refused_at_once(request_fields: dict[str, Any]) -> None:
    with connect(":memory:") as memory:
        memory.compile("assistant", "q", budget_tokens=600)
        start_s = time.process_time()
        with pytest.raises(InvalidInput) as refusal:
            memory.compile("assistant", "q", budget_tokens=600, **request_fields)
        assert refusal.value.code in ("bad_request", "too_large")
        assert time.process_time() - start_s < 1


DEFINITIONS: dict[str, tuple[dict[str, Any], str]] = {
    "a secret": ({"description": SECRET}, "secret_in_content"),
    "a secret in a template": (
        {"description": "load", "templates": {"*": SECRET}},
        "secret_in_content",
    ),
    "a long description": ({"description": "x" * 5_000_000}, "too_large"),
}


@pytest.mark.parametrize(("fields", "code"), DEFINITIONS.values(), ids=DEFINITIONS)
def test_a_definition_is_measured_and_searched_for_secrets(
    fields: dict[str, Any], code: str
) -> None:
    with connect(":memory:") as memory:
        line = {"define": "slot", "name": "crane_load", **fields}
        with refused(InvalidInput, code) as refusal:
            memory.vocabulary.apply(line)
        assert SECRET not in str(refusal.value)
        assert "crane_load" not in memory.vocabulary.slots()


def test_a_line_that_never_ends_is_refused() -> None:
    with connect(":memory:") as memory, pytest.raises(InvalidInput, match="no end"):
        memory.ingest("/dev/zero")
