"""Files that somebody has edited: a `TenureError` with a code, soon, and nothing is written."""

import gzip
import hashlib
import json
import os
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tenure import InvalidInput, Memory, TenureError, connect
from tenure.bench.replay_transcript import read_transcript
from tenure.faces.cli.main import read_text
from tenure.faces.mcp.hook import install_changes
from tenure.service.sessions.terms import window_policy
from tenure.service.settings import load
from tenure.service.writing.csv_mapping import read_mapping

LIMIT_S = 5.0  # a second on a free machine


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The lines of an export."""
    path = tmp_path_factory.mktemp("export") / "x.jsonl"
    with connect(":memory:") as memory:
        memory.write("Sam Rivera", "office", "Rome", valid_from="2026-01-01T00:00:00Z")
        memory.write("Sam Rivera", "office", "Oslo", valid_from="2026-02-01T00:00:00Z")
        memory.write("Sam Rivera", "manager", "Eve Park", idempotency_key="k")
        memory.export(path)
    return path.read_text().splitlines()


def with_footer(lines: list[str]) -> str:
    """Lines under a footer that fits them: its digest has no key, so that anybody can make it."""
    footer = json.loads(lines[-1])
    body = "".join(line + "\n" for line in lines[:-1])
    digest = hashlib.sha256(body.encode("utf-8", "surrogatepass")).hexdigest()
    footer["end"]["sha256"] = digest
    return body + json.dumps(footer) + "\n"


def refused(path: Path) -> TenureError:
    """The error of a restore, after which the tenant is empty and sound."""
    began = time.process_time()
    with connect(":memory:") as empty:
        with pytest.raises(TenureError) as caught:
            empty.import_file(path)
        assert time.process_time() - began < LIMIT_S
        assert empty.as_of().tx is None
        assert empty.doctor() == ()
    return caught.value


JUNK = {
    "no json": "junk",
    "deep": "[" * 200_000,
    "digits": '{"a": ' + "9" * 6_000 + "}",
    "a list": "[]",
    "nul": '{"kind": "claim", "record": "a\\u0000"}',
    "surrogate": '{"kind": "claim", "record": "\\ud800"}',
    "not a number": '{"kind": "claim", "record": NaN}',
    "beyond int64": '{"kind": "claim", "record": {"tx": 10000000000000000000000}}',
    "unknown kind": '{"kind": "grant", "record": {}}',
}


@pytest.mark.parametrize("name", JUNK)
def test_junk_inside_an_export_whose_footer_fits_is_refused_by_its_line(
    tmp_path: Path, exported: list[str], name: str
) -> None:
    middle = len(exported) // 2
    path = tmp_path / "x.jsonl"
    path.write_text(with_footer([*exported[:middle], JUNK[name], *exported[middle:]]))
    error = refused(path)
    assert error.code == "bad_export"
    assert f"line {middle + 1}" in str(error)
    assert len(str(error)) < 1_000


def edited(value: Any, dice: random.Random) -> Any:
    """A JSON value with one thing in it replaced or missing."""
    if isinstance(value, dict) and value:
        key = dice.choice(sorted(value))
        rest = {name: member for name, member in value.items() if name != key}
        return rest if dice.random() < 0.2 else {**rest, key: edited(value[key], dice)}
    if isinstance(value, list) and value:
        place = dice.randrange(len(value))
        return [*value[:place], edited(value[place], dice), *value[place + 1 :]]
    return dice.choice([None, 5, -1, 1e300, 2**62, 10**30, "x", "a\0", "\ud800", [], {}, True])


@pytest.mark.parametrize("seed", range(60))
def test_an_edited_record_under_a_fitting_footer_meets_no_other_error(
    tmp_path: Path, exported: list[str], seed: int
) -> None:
    dice = random.Random(seed)
    place = dice.randrange(len(exported) - 1)
    line = json.dumps(edited(json.loads(exported[place]), dice))
    path = tmp_path / "x.jsonl"
    path.write_text(with_footer([*exported[:place], line, *exported[place + 1 :]]))
    with connect(":memory:") as empty:
        try:
            empty.import_file(path)
        except TenureError as error:
            assert error.code
            assert empty.as_of().tx is None


def test_a_packed_export_that_unpacks_to_one_endless_line_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=9) as packed:
        for _ in range(64):
            packed.write(b"x" * 1_000_000)
    assert refused(path).code in ("bad_export", "too_large")


@pytest.fixture
def store_file(tmp_path: Path) -> Path:
    path = tmp_path / "m.db"
    with connect(str(path)) as memory:
        memory.write_many([])
        for number in range(20):
            memory.write(f"Person {number}", "office", "Rome " * 50)
    return path


def use(path: Path) -> None:
    """Read, write and check a store."""
    with connect(str(path)) as memory:
        memory.as_of().search("person")
        memory.write("Somebody New", "office", "Rome")
        memory.doctor()


@pytest.mark.parametrize(("start", "length"), [(0, 16), (18, 2), (100, 300), (4096, 4096)])
def test_a_damaged_store_says_so(store_file: Path, start: int, length: int) -> None:
    content = bytearray(store_file.read_bytes())
    content[start : start + length] = b"\xff" * length
    store_file.write_bytes(content)
    with pytest.raises(TenureError) as caught:
        use(store_file)
    assert caught.value.code in ("store_corrupt", "not_a_store")


def test_half_a_store_says_so(store_file: Path) -> None:
    content = store_file.read_bytes()
    store_file.write_bytes(content[: len(content) // 2])
    with pytest.raises(TenureError) as caught:
        use(store_file)
    assert caught.value.code == "store_corrupt"


def test_an_export_follows_no_link(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "x.jsonl").symlink_to(tmp_path / "precious")
    memory.write("Sam Rivera", "office", "Rome")
    try:
        memory.export(tmp_path / "x.jsonl")
    except TenureError as error:
        assert error.code
    assert (tmp_path / "precious").read_text() == "mine"


@pytest.fixture
def read_only(store_file: Path) -> Iterator[Path]:
    if os.geteuid() == 0:
        pytest.skip("nothing is read-only for root")
    store_file.chmod(0o400)
    store_file.parent.chmod(0o500)
    yield store_file
    store_file.parent.chmod(0o700)


def test_a_read_only_medium_is_told_apart_from_a_missing_one(read_only: Path) -> None:
    with pytest.raises(TenureError) as caught:
        use(read_only)
    assert caught.value.code == "store_read_only"


def test_a_bad_export_of_a_full_tenant_changes_nothing(
    memory: Memory, tmp_path: Path, exported: list[str]
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(exported) + "\n")
    memory.write("Lee Wong", "office", "Bonn")
    last = Memory.as_of(memory).tx
    with pytest.raises(TenureError) as caught:
        memory.import_file(path)
    assert not isinstance(caught.value, InvalidInput)
    assert memory.as_of().tx == last


# ---- Files that nobody can read: each door names the place, in words of its own.

FOREIGN_WORDS = ("codec", "sys.", "recursion", "(char ", "Errno")
DIGITS = "9" * 5_000
DEEP = "[" * 5_000


def restored(path: Path) -> None:
    with connect(":memory:") as memory:
        memory.import_file(path)


def ingested(path: Path) -> None:
    with connect(":memory:") as memory:
        memory.ingest(path)


def client_files(path: Path) -> None:
    install_changes("codex", path.parents[1], ())


DOORS: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "settings": (lambda path: load(env={}, path=path), "tenure.toml", "bad_settings"),
    "policy": (window_policy, "window.toml", "bad_policy"),
    "policy in YAML": (window_policy, "window.yaml", "bad_policy"),
    "mapping": (read_mapping, "people.toml", "bad_mapping"),
    "mapping in JSON": (read_mapping, "people.json", "bad_mapping"),
    "transcript": (read_transcript, "talk.jsonl", "bad_message"),
    "import": (restored, "store.jsonl", "bad_export"),
    "events": (ingested, "events.jsonl", "bad_json"),
    "client": (client_files, ".codex/config.toml", "bad_settings"),
}


def refusal(door: str, folder: Path, content: bytes) -> InvalidInput:
    reader, name, _ = DOORS[door]
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    with pytest.raises(InvalidInput) as caught:
        reader(path)
    assert not [word for word in FOREIGN_WORDS if word in str(caught.value)]
    assert len(str(caught.value)) < 400
    return caught.value


@pytest.mark.parametrize("door", DOORS)
def test_a_document_cut_inside_of_a_letter_names_the_byte_and_the_line(
    door: str, tmp_path: Path
) -> None:
    error = refusal(door, tmp_path, '\n"Zoë'.encode()[:-1])
    assert error.code == DOORS[door][2]
    # Of what is read line by line, the byte is one of the line.
    by_line = "line 2" in str(error) and "at byte 4" in str(error)
    assert by_line or "byte 5, on line 2" in str(error)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("content", [DIGITS, DEEP], ids=["digits", "deep"])
def test_a_document_that_python_cannot_read_is_refused_by_code(
    door: str, content: str, tmp_path: Path
) -> None:
    form = "a: {}" if door.endswith("YAML") else '{{"a": {}}}'
    form = "a = {}" if DOORS[door][1].endswith("toml") else form
    error = refusal(door, tmp_path, form.format(content).encode())
    assert error.code in (DOORS[door][2], "out_of_range")


def test_a_policy_in_yaml_with_a_day_that_is_none_is_refused(tmp_path: Path) -> None:
    assert refusal("policy in YAML", tmp_path, b"a: 2026-99-99").code == "bad_policy"


def test_a_text_of_another_encoding_names_its_byte(tmp_path: Path) -> None:
    path = tmp_path / "note.txt"
    path.write_bytes("one\nZoë".encode("latin-1"))
    with pytest.raises(InvalidInput, match=r"note\.txt is not UTF-8 text: byte 7, on line 2"):
        read_text(path)


def test_a_table_of_another_encoding_names_its_byte(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("subject,slot,value\nSam,office,Zoë\n".encode("latin-1"))
    with connect(":memory:") as memory, pytest.raises(InvalidInput, match="not utf-8 at byte 33"):
        memory.ingest(path)
    path.write_bytes(
        b"subject,slot,value\n" + b"Sam,office,Rome\n" * 1_000 + b"Sam,office,Zo\xeb\n"
    )
    with connect(":memory:") as memory, pytest.raises(InvalidInput, match="at byte 16033"):
        memory.ingest(path)
