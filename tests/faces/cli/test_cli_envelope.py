"""Explaining, finding, comparing and weighing envelopes on the command line, and artifacts."""

import json
import stat
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tenure.schema.compile_terms import Stage
from tenure.schema.policy import QUALITY_METRICS
from tenure.tests.faces.cli.test_cli import JUNE, Run, moved, run, told

__all__ = ["run"]

ASK = ("compile", "--task", "code_generation", "--query", "office of Sam Rivera")
ASK_ALL = (*ASK[:-1], "what is known of Sam Rivera")


def compiled(run: Run, *words: str) -> str:
    return str(told(run, *ASK, *words)["envelope_id"])


def test_an_explanation_says_in_words_which_objects_it_means(run: Run) -> None:
    moved(run)
    hidden = told(run, "write", "Sam Rivera", "title", "director of the office")["object_id"]
    run("reclassify", hidden, "--deny-role", "agent")
    shown = run(*ASK_ALL, "--constraint", "Answer\n in one  line", "--explain").stdout
    assert "Answer in one line" in shown.partition("where it came from")[2]
    came, _, left = shown.partition("\nleft out\n")
    assert "Sam Rivera office: Chicago" in came.partition("where it came from")[2]
    assert "Sam Rivera office: Austin" in left
    assert "director" in came
    assert "director" not in run("--role", "agent", *ASK_ALL, "--explain").stdout


def test_an_explanation_says_what_is_lacking_with_names_in_the_place_of_ids(run: Run) -> None:
    moved(run)
    assert "\ngaps\nnone\n" in run(*ASK, "--explain").stdout

    run("define", "slot", "favourite_tea", "kind=preference", "description=drinks: the tea")
    for person in ("Ann Lee", "Bob Ray"):
        run("write", f"person:{person}", "favourite_tea", "green")
    explanation = run(*ASK, "--explain").stdout.partition("\ngaps\n")[2]
    assert explanation.splitlines()[1].startswith("nobody says whose wishes count  ")
    assert "Ann Lee" in explanation.splitlines()[1]
    assert "Bob Ray" in explanation.splitlines()[1]

    explanation = run(*ASK, "--entity", "Zoe", "--explain").stdout.partition("\ngaps\n")[2]
    assert explanation.splitlines()[1] == "nobody of this name is known  Zoe"


def test_the_start_of_an_id_names_an_envelope(run: Run) -> None:
    moved(run)
    one, other = compiled(run), compiled(run, "--goal", "x")
    text = run("replay", one).stdout
    assert run("replay", one[:12]).stdout == run("replay", f"{one[:8].upper()}…").stdout == text
    assert "1 added" in run("envelope", "diff", one[:12], other[:12]).stdout
    gone = "beef" if not one.startswith("beef") else "dead"
    assert "[unknown_object]" in run("replay", gone, code=1).stderr


def test_explain_as_json_holds_the_same(run: Run) -> None:
    moved(run)
    held = told(run, *ASK, "--explain")
    assert [each["stage"] for each in held["explanation"]["stages"]] == [s.value for s in Stage]
    assert set(held["explanation"]["quality"]["metrics"]) == set(QUALITY_METRICS)
    assert held["explanation"]["lineage"][0]["object_id"]
    assert isinstance(held["explanation"]["diagnosis"], list)
    assert "explanation" not in told(run, *ASK)


def test_what_was_scarce_folded_and_withheld_is_explained(run: Run, tmp_path: Path) -> None:
    hidden = told(run, "write", "Sam Rivera", "office", "Chicago")["object_id"]
    run("reclassify", hidden, "--deny-role", "agent")
    page = tmp_path / "page.txt"
    page.write_text("The office alpha is seven. " + " ".join(
        f"Item {i} costs {i}1 dollars." for i in range(80)), encoding="utf-8")  # fmt: skip
    words = ("--role", "agent", *ASK, "--budget", "240", "--evidence", str(page))
    shown = run(*words, "--explain").stdout
    assert "one token more would be worth" in shown
    assert "tokens became" in shown
    assert "may not be seen by this caller" in shown
    lacking = run(*ASK, "--step", "look", "--explain").stdout
    assert "nothing says when the step is done" in lacking


@pytest.mark.parametrize("picture", ["budget", "lineage"])
def test_pages_and_pictures_are_written(run: Run, tmp_path: Path, picture: str) -> None:
    moved(run)
    page, drawing = tmp_path / "e.html", tmp_path / "e.svg"
    options = ("--html", str(page), "--svg", str(drawing), "--picture", picture)
    result = run(*ASK, *options, "--manifest", "m.json")
    assert f"wrote {page}" in result.stderr
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert picture in (ElementTree.parse(drawing).getroot().get("aria-labelledby") or "")
    before = page.read_bytes()
    run("replay", "m.json", *options)
    assert page.read_bytes() == before
    run(*ASK, "--html", str(tmp_path / "no" / "e.html"), code=3)


def test_envelopes_are_listed_and_narrowed(run: Run) -> None:
    first = moved(run)
    assert "no envelope was found" in run("envelope", "list").stdout
    one = compiled(run)
    run("--session", "s1", "compile", "--task", "data_extraction", "--query", "x")
    listed = told(run, "envelope", "list")
    assert [each["task"] for each in listed] == ["data_extraction", "code_generation"]
    assert "manifest" not in listed[0]
    by_object = told(run, "envelope", "list", "--object", first["object_id"])
    assert [each["envelope_id"] for each in by_object] == [one]
    assert len(told(run, "envelope", "list", "--in-session", "s1")) == 1
    assert len(told(run, "envelope", "list", "--task", "code_generation")) == 1
    assert told(run, "envelope", "list", "--since", "2000-01-01T00:00:00Z", "--limit", "1")
    assert told(run, "envelope", "list", "--until", "2000-01-01T00:00:00Z") == []
    assert one in run("envelope", "list").stdout
    run("erase", first["object_id"], "--reason", "case 1", "--yes")
    assert "erased" in run("envelope", "list").stdout
    assert "[erased]" in run("replay", one, code=1).stderr


def test_a_diff_says_what_came_what_went_and_what_it_costs(run: Run) -> None:
    moved(run)
    run(*ASK_ALL, "--manifest", "before.json")
    # Longer than any two boundaries differ in tokens: their keys are drawn anew for each store.
    title = "director of the office in Chicago and of everything that stands in its cellar"
    run("write", "Sam Rivera", "title", title, "--from", JUNE)
    after = compiled(run, *ASK_ALL[-2:])
    shown = run("envelope", "diff", "before.json", after).stdout
    assert "1 added, 0 removed" in shown
    assert "characters are the same and may stay cached" in shown
    assert "user://" in shown
    held = told(run, "envelope", "diff", "before.json", after)
    assert len(held["added"]) == 1
    assert held["token_delta"] > 0
    same = run("envelope", "diff", after, after).stdout
    assert "the texts are the same" in same
    assert "0 added, 0 removed, 0 modified" in same


def test_ablation_says_what_each_object_is_worth(run: Run) -> None:
    run("write", "Sam Rivera", "office", "Chicago")
    run("write", "Sam Rivera", "title", "director")
    words = ("ablate", "--task", "code_generation", "--query", "office and title of Sam Rivera")
    shown = run(*words, "--expect", "chicago", "--expect", "Director", "--pairs").stdout
    assert "with everything it is worth 1" in shown
    assert shown.count("+0.5") == 2
    assert "no two of them depend on each other" in shown
    held = told(run, *words, "--expect", "Chicago")
    assert sorted(change for _, change in held["single"]) == [0.0, 1.0]
    both = run(*words, "--expect", "Chicago [1] | title", "--pairs").stdout
    assert "synergy" in both
    by_section = run(*words, "--expect", "Chicago", "--sections", "--entity", "Sam Rivera").stdout
    assert by_section.splitlines()[1].split() == ["section", "is", "worth"]
    assert "turn_memory" in by_section
    assert "+1" in by_section


def test_nothing_to_leave_out_is_worth_nothing(run: Run) -> None:
    run("write", "Sam Rivera", "office", "Chicago")
    words = ("ablate", "--task", "code_generation", "--query", "harbour", "--expect", "harbour")
    assert run(*words).stdout.strip() == "with everything it is worth 1"


def test_an_artifact_goes_in_comes_back_and_is_erased(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "deploy.log"
    log.write_bytes(b"The nightly deploy of nova ended at 02:10.\n")
    address = run("artifact", "put", str(log), "--origin", "tool://ci").stdout.strip()
    assert address.startswith("artifact://sha256/")
    assert "deploy.log" in run("artifact", "list").stdout
    (held,) = told(run, "artifact", "list")
    assert (held["name"], held["origin"], held["media_type"]) == (
        "deploy.log", "tool://ci", "text/plain")  # fmt: skip
    assert run("artifact", "get", address).stdout_bytes == log.read_bytes()
    out = tmp_path / "out.log"
    assert f"wrote {out}" in run("artifact", "get", address, "--out", str(out)).stderr
    assert f"replaced {out}" in run("artifact", "get", address, "--out", str(out)).stderr
    assert out.read_bytes() == log.read_bytes()
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    (tmp_path / "link").symlink_to(tmp_path / "outside")
    assert (
        "is a link" in run("artifact", "get", address, "--out", f"{tmp_path}/link", code=1).stderr
    )
    assert not (tmp_path / "outside").exists()
    shown = run(*ASK[:4], "nightly deploy", "--evidence", address).stdout
    assert "ended at 02:10" in shown
    assert address in shown
    run("artifact", "erase", address, "--reason", "case 1", input="n\n", code=1)
    run("artifact", "erase", address, "--reason", "case 1", "--yes")
    assert "case 1" in run("artifact", "get", address, code=1).stderr
    assert "no artifact was found" in run("artifact", "list").stdout


def test_an_artifact_comes_from_standard_input_and_for_whom(run: Run) -> None:
    words = ("--user", "ann", "--role", "engineer", "artifact", "put", "-")
    mine = run(*words, input="mine alone").stdout.strip()
    ours = run(*words, "--shared", "--deny-role", "analyst", "--name", "a.csv", input="a,b")
    bob = ("--user", "bob", "--role", "engineer", "artifact", "get")
    assert "unknown_artifact" in run(*bob, mine, code=1).stderr
    assert run(*bob, ours.stdout.strip()).stdout == "a,b"
    analyst = ("--user", "bob", "--role", "analyst", "artifact", "get")
    run(*analyst, ours.stdout.strip(), code=1)


def test_an_artifact_store_may_stand_elsewhere(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENURE_ARTIFACTS__URL", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("TENURE_ARTIFACTS__MAX_BYTES", "5")
    run("artifact", "put", "-", input="small")
    assert list((tmp_path / "elsewhere").rglob("data"))
    assert "too_large" in run("artifact", "put", "-", input="larger", code=1).stderr
    assert "unknown_file" in run("artifact", "put", "nothing.log", code=1).stderr
    assert "file_unreadable" in run("artifact", "put", str(tmp_path), code=3).stderr


@pytest.mark.parametrize("words", [("artifact", "put"), ("document", "put", "--name", "a.md")])
def test_a_file_without_an_end_is_refused(
    run: Run, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.setattr("tenure.faces.cli.main.MOST_BYTES", 1000)
    assert "too_large" in run(*words, "/dev/zero", code=1).stderr


def test_erasing_an_object_tells_of_its_artifacts(run: Run) -> None:
    address = run("artifact", "put", "-", input="A whole report.").stdout.strip()
    words = ("write", "Sam Rivera", "office", "Chicago", "--origin", address)
    receipt = json.loads(run("--json", *words).stdout)
    shown = run("erase", receipt["object_id"], "--reason", "case 1", "--yes").stdout
    assert f"artifact it was taken from, which stays: {address}" in shown
