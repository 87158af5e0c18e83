"""Every command once, at 80 columns, over one story: what a person reads, as one text.

`python -P tests/faces/cli/cli_recording.py > tests/golden/commands.txt` writes it anew; read it
before it is committed. Clock, ids and the tenant's key are stated, so that two runs print the same
bytes.
Commands that serve, or that measure this machine, are left out: `LEFT_OUT` says which.
"""

import contextlib
import itertools
import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest import mock

from typer.testing import CliRunner

from tenure.faces.cli.main import app
from tenure.service.client.connect import connect

WIDTH = 80
LEFT_OUT = {
    "serve": "serves until it is stopped",
    "serve code": "answers a server that runs",
    "mcp": "serves until it is stopped",
    "re-embed": "needs an encoder",
}
_MEASURED = {
    r"(=== (?:\w+ )?)[A-Z2-7]{10}\b": r"\g<1>BOUNDARYXX",
    r"\b[0-9a-f]{64}\b": 64 * "0",
    r"(prompt cache key: )[0-9a-f]{32}": r"\g<1>" + 32 * "0",
    r"\d+\.\d s\b": "0.0 s",
    r"\d+ events/s": "0 events/s",
    r"(compilation_latency_ms +)[\d.]+": r"\g<1>0",
    r"tnr_\w+": "tnr_0123456789ab_secret",
    r"^[0-9a-f]{12}(?= )": "0123456789ab",
    r"(keys \w+ )[0-9a-f]{12}": r"\g<1>0123456789ab",
    r"\b[\d,]{6,} bytes": "500,000 bytes",
    r"(default  )[\d,]{6,}": r"\g<1>500,000",
    r"(allow.*\n.*memory:read  )[-\d]+ [\d:]+Z": r"\g<1>2026-07-01 09:00:00Z",
    r"^[0-9a-f]{12} opens": "0123456789ab opens",
}
"""What differs from run to run: clocks, random secrets, the pages of a file."""
_START = datetime(2026, 7, 1, 9, tzinfo=UTC)


class Recorder:
    """Runs commands in one folder and keeps what they print."""

    def __init__(self) -> None:
        self.commands: list[str] = []
        self.parts: list[str] = []
        self._runner = CliRunner()

    def run(self, line: str, *, code: int = 0, typed: str | None = None) -> str:
        """Run a command line and record it; an exit code that was not expected is a fault."""
        words = shlex.split(line)
        result = self._runner.invoke(app, words, input=typed, env=_environment())
        assert result.exit_code == code, (line, result.output, result.exception)
        lines = [row.rstrip() for row in result.output.splitlines()]
        self.commands.append(line)
        self.parts.append("\n".join([f"$ tenure {line}", *lines, ""]))
        return result.stdout

    def ask(self, line: str) -> Any:
        """Run a command line with --json, unrecorded, for an id that the next one needs."""
        result = self._runner.invoke(app, ["--json", *shlex.split(line)], env=_environment())
        assert result.exit_code == 0, (line, result.output, result.exception)
        return json.loads(result.stdout)


def _environment() -> dict[str, str]:
    return {"COLUMNS": str(WIDTH), "NO_COLOR": "1", "TENURE_STORE": "team.db"}


@contextlib.contextmanager
def still_world(folder: Path) -> Iterator[None]:
    """Make a folder the current one, and state what else would differ from run to run."""
    seconds, numbers = itertools.count(), itertools.count(1)
    options = {
        "clock": lambda: _START + timedelta(seconds=next(seconds)),
        "ids": lambda: f"0190e3a2-7c1f-7000-8000-{next(numbers):012d}",
        "tenant_key": bytes(32),
    }
    defaults: Any = connect.__kwdefaults__
    here = Path.cwd()
    with (
        mock.patch.dict(defaults, options),
        mock.patch.dict(os.environ),
        mock.patch.object(sys, "executable", "python"),
    ):
        for name in [name for name in os.environ if name.startswith("TENURE_")]:
            del os.environ[name]
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(here)


def recording() -> tuple[str, list[str]]:
    """The whole text, and the command lines in it."""
    recorder = Recorder()
    with tempfile.TemporaryDirectory() as folder, still_world(Path(folder)):
        for chapter in _CHAPTERS:
            chapter(recorder)
    text = "\n".join(recorder.parts).replace(folder, "/work")
    for pattern, mark in _MEASURED.items():
        text = re.sub(pattern, mark, text, flags=re.M)
    return text, recorder.commands


def _writing(recorder: Recorder) -> None:
    run = recorder.run
    run("write 'Sam Rivera' office Austin --type person --from 2025-01-15T00:00:00Z")
    run("write 'Sam Rivera' office Chicago --from 2026-06-01T00:00:00Z")
    run("write 'Sam Rivera' office Denver --dry-run")
    run("write 'Sam Rivera' manager 'Ann Lee' --from 2026-02-01T00:00:00Z")
    run("write 'Ann Lee' manager 'Kim Park' --from 2026-02-01T00:00:00Z")
    run("write Nova status live --type project --origin jira://NOVA-1")
    run("write 'Orchid Foods' pricing_tier gold --type organization --from 2026-01-01T00:00:00Z")
    run("write 'Orchid Foods' pricing_tier silver --op correct --from 2026-03-01T00:00:00Z")
    run("write 'Sam Rivera' response_length short --why 'reads on a phone'")
    run("write --content 'The office closes at six.' --origin doc://handbook/7 --why hours")
    run("write 'Sam Rivera' ofice Austin", code=1)
    run("observe 'I moved to the Chicago office in June.' --speaker 'Sam Rivera'")
    run("define slot badge_colour description='the colour of the badge' value_type=string")
    run("define task_type code_review description='reviewing a change'")
    event = {"subject": "Kim Park", "slot": "office", "value": "Oslo"}
    Path("events.jsonl").write_text(json.dumps(event) + "\n", encoding="utf-8")
    run("ingest events.jsonl")
    Path("bad.jsonl").write_text(json.dumps(event | {"slot": "ofice"}) + "\n{\n", encoding="utf-8")
    run("ingest bad.jsonl --check", code=1)
    run("ingest bad.jsonl", code=1)
    run("ingest bad.jsonl --keep-going", code=1)


def _reading(recorder: Recorder) -> None:
    run = recorder.run
    run("get 'Sam Rivera' office")
    run("get 'Sam Rivera' manager")
    run("get 'Sam Rivera' office --valid 2026-03-01T00:00:00Z --tx 2026-07-01T09:00:30Z")
    run("get 'Sam Riviera' office")
    run("facts 'Sam Rivera'")
    run("timeline 'Sam Rivera' office")
    run("timeline 'Orchid Foods' pricing_tier --grid")
    run("search 'Chicago office'")
    run("slots allergic")
    run("slots")
    run("tools")
    run("history 'Sam Rivera' manager")
    run("history 'Orchid Foods' pricing_tier")
    run("diff -- -infinity 2026-07-01T09:02:00Z")
    run("log")
    run("log --entity 'Orchid Foods'")
    office = recorder.ask("get 'Sam Rivera' office")
    run(f"explain {office['candidates'][0]['object_id']}")
    run("write Nova version 4.1 --origin jira://NOVA-1 --from 2026-05-01T00:00:00Z")
    run("write Nova version 4.2 --origin jira://NOVA-2 --from 2026-05-01T00:00:00Z")
    run("actions list")
    actions = recorder.ask("actions list")
    if actions:
        run(f"actions resolve {actions[0]['action_id']} --value 4.2")
        run(f"actions undo {actions[0]['action_id']}")
        actions = recorder.ask("actions list")
        run(f"actions resolve {actions[0]['action_id']} --value 4.2")
    run("doctor")
    run("config show --origin")


def _compiling(recorder: Recorder) -> None:
    run = recorder.run
    question = "--task assistant --query 'Where is the office of Sam Rivera?'"
    run(f"compile {question} --budget 1500")
    run(f"compile {question} --budget 1500 --explain")
    run("compile --task assistant --query 'Which tier has Orchid Foods?'")
    run("envelope list --task assistant --since 2026-06-01T00:00:00Z")
    envelopes = recorder.ask("envelope list")
    first, last = envelopes[0]["envelope_id"], envelopes[-1]["envelope_id"]
    run(f"replay {first} --explain")
    run(f"envelope diff {last} {first}")
    run("ablate --task assistant --query 'Where is the office?' --expect Chicago")
    Path("deploy.log").write_text("build 17 failed\n", encoding="utf-8")
    run("artifact put deploy.log --origin tool://ci")
    run("artifact list")
    address = recorder.ask("artifact list")[0]["address"]
    run(f"artifact get {address}")
    run(f"artifact erase {address} --reason 'case 17' --yes")
    run("mcp hook", typed='{"prompt": "Where does Sam Rivera work?"}')
    run("mcp install claude-code")


def _sessions(recorder: Recorder) -> None:
    run = recorder.run
    with connect("team.db") as memory:
        session = memory.session("trip-1", goal="Rebook the flight", window=8_192)
        for number in range(8):
            session.on_turn_start(f"Question {number}: which flights go to Oslo?")
            call = {"type": "tool_use", "id": f"c{number}", "name": "find", "input": {"n": number}}
            session.on_step({"role": "assistant", "content": [call]})
            session.on_tool_result(f"c{number}", f"flight {number} leaves at noon. " * 60)
            session.on_turn_end(f"Flight {number} leaves at noon.")

    run("session list")
    run("session show trip-1")
    run("session preview trip-1")
    run("session compact trip-1")
    edits = [event for event in _events("trip-1") if event.kind.value == "edited"]
    run(f"session undo trip-1 {edits[-1].seq}")
    run("session rehydrate trip-1 turn:2")
    run("session checkpoint trip-1")
    run("session resume trip-1")
    run("session report trip-1")
    run("session erase trip-1 --reason 'case 17' --yes")
    run("session config")


def _events(name: str) -> Any:
    with connect("team.db") as memory:
        return memory.session(name).events()


def _names(recorder: Recorder) -> None:
    run = recorder.run
    run("write 'Sam Lee' email sam@acme.example --type person")
    run("write 'Samuel Lee' email sam@acme.example --type person")
    run("resolve 'S. Rivera' --type person")
    run("entities")
    run("entities 'Sam Rivera'")
    run("resolution score 'Sam Lee' 'Samuel Lee'")
    run("merge 'Sam Lee' 'Samuel Lee' --reason 'the same badge'")
    run("resolution explain 'Sam Lee'")
    page = recorder.ask("entities 'Sam Lee'")
    run(f"unmerge {page['judgements'][0]['merge_id']} --reason 'two people'")
    for name in ("S. Rivera", "Sam Riviera", "Sam Rivero", "Samuel Rivera"):
        run(f"write '{name}' title Engineer --type person --origin import://crm")
    run("review")
    run("review list --kind all")
    reviews = [review["review_id"] for review in recorder.ask("review list --kind all")]
    verbs = ("accept", "reject", "unsure")
    run(f"review show {reviews[0]}")
    for verb, review in zip(verbs, reviews, strict=False):
        run(f"review {verb} {review} --reason 'looked it up'")
    run(f"review undo {reviews[0]}")
    run("review open 'Sam Lee' 'Samuel Rivera'")
    run("review groups")
    run("review decide-all reject --source import://crm")
    run("resolution audit")
    run("resolution xref")
    run("resolution label labels.csv", typed="q\n")
    run("resolution labels labels.csv")


def _documents(recorder: Recorder) -> None:
    run = recorder.run
    leave = Path("handbook/leave.md")
    leave.parent.mkdir()
    text = (
        "# Leave\n\nEffective from 1 January 2026.\n\nParental leave is 14 weeks. "
        "Sam Rivera lives in Lisbon.\n"
    )
    leave.write_text(text, encoding="utf-8")
    run("--store docs.db sync handbook --check")
    run("--store docs.db sync handbook --claims rules")
    text = text.replace("1 January", "1 June").replace("14", "20")
    leave.write_text(text, encoding="utf-8")
    Path("handbook/plan.png").write_bytes(b"\x89PNG\r\n")
    run("--store docs.db sync handbook", code=1)
    Path("notes.txt").write_text("Lunch is at noon.\n", encoding="utf-8")
    run("--store docs.db document put notes.txt --source handbook --effective 2026-02-01")
    run("--store docs.db document list")
    run("--store docs.db document show handbook/leave.md --valid 2026-03-03")
    run("--store docs.db document versions handbook/leave.md")
    run("--store docs.db document compare handbook/leave.md 2026-03-03 2026-06-03")
    run("--store docs.db document remove handbook/notes.txt --effective 2026-05-01")
    run("--store docs.db document erase handbook/notes.txt --reason 'case 17' --yes")


def _operating(recorder: Recorder) -> None:
    run = recorder.run
    run("sweep --dry-run")
    run("sweep")
    office = recorder.ask("get 'Kim Park' office")["candidates"][0]["object_id"]
    run(f"reclassify {office} --as confidential")
    run(f"erase {office} --reason 'request 17' --yes")
    run("erase --entity 'Kim Park' --reason 'case 17' --yes")
    run("migrate --dry-run")
    run("keys create --allow memory:read --name ci")
    key = recorder.ask("keys list")[0]["key_id"]
    run("keys list")
    run(f"keys rotate {key}")
    run(f"keys revoke {key}")
    run("export team.jsonl")
    run("--store new.db import team.jsonl")
    run("backup team-backup.db")
    run("--store other.db restore team-backup.db")
    run("tenants")
    run("--store nowhere.db get 'Sam Rivera' office", code=1)
    run("demo")


_CHAPTERS = (_writing, _reading, _compiling, _sessions, _names, _operating, _documents)


if __name__ == "__main__":
    sys.stdout.write(recording()[0])
