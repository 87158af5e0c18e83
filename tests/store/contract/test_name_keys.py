"""One key a name, for writes, reads, mentions and compiles. On every store."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from tenure.resolution.keys import alias_key
from tenure.tests.store.builders import Open

SPELLINGS = ("ledger-gateway", "ledger gateway", "Ledger_Gateway", "LEDGER.GATEWAY")


@pytest.mark.parametrize("stored", SPELLINGS)
def test_hyphen_underscore_full_stop_and_space_are_one_sign(open_memory: Open, stored: str) -> None:
    memory = open_memory()
    entity = memory.write({"name": stored, "type": "system"}, "status", "up").entity
    for spelling in SPELLINGS:
        assert memory.write(spelling, "status", "up").entity == entity
        assert memory.as_of().value(spelling, "status") == "up"
        (mention,) = memory.mentions(f"Which datastore does the {spelling} use?")
        assert (mention.mention.surface, mention.resolution.entity) == (spelling, entity)
        text = memory.compile("assistant", f"What is the status of {spelling}?").text
        assert "status: up" in text or "status = up" in text


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("A-b@x.example", "a-b@x.example"),
        ("src/run_all.py", "src/run_all.py"),
        ("Min. of Finance", "min of finance"),
        ("--", "--"),
    ],
)
def test_signs_of_an_address_or_a_path_all_count(name: str, key: str) -> None:
    assert alias_key(name) == key


@pytest.mark.parametrize(
    "text",
    [
        "Write to tilda.roth@quarry.example or see https://q.example/tilda/x.",
        "Open /home/tilda/notes.md, src/tilda/run.py and tilda.txt.",
        "Ping tilda.quarry.example at once.",
    ],
)
def test_no_name_binds_inside_an_address(open_memory: Open, text: str) -> None:
    memory = open_memory()
    memory.write({"name": "tilda", "type": "person"}, "home", "Turin")
    assert memory.mentions(text) == ()
    (named,) = memory.mentions("I saw tilda. She has tilda.txt open.")
    assert named.mention.surface == "tilda"


def test_an_export_with_the_keys_of_an_older_version_comes_in(
    open_memory: Open, tmp_path: Path
) -> None:
    memory = open_memory()
    first = memory.write({"name": "ledger gateway", "type": "system"}, "status", "up").entity
    path = tmp_path / "export.jsonl"
    memory.export(path)
    *lines, footer = path.read_text().splitlines(keepends=True)
    aged = [line.replace('"norm":"ledger gateway"', '"norm":"ledger-gateway"') for line in lines]
    assert aged != lines
    end = json.loads(footer)
    end["end"]["sha256"] = hashlib.sha256("".join(aged).encode()).hexdigest()
    path.write_text("".join(aged) + json.dumps(end, sort_keys=True, separators=(",", ":")) + "\n")
    copy = open_memory()
    copy.import_file(path)
    assert copy.as_of().value("Ledger_Gateway", "status") == "up"
    assert copy.write("ledger-gateway", "status", "up").entity == first
