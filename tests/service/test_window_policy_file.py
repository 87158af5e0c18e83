"""A window policy from a file: strict, small, and without surprises of the format."""

import sys
from pathlib import Path

import pytest

from tenure import Memory
from tenure.schema.errors import InvalidInput, Unavailable
from tenure.schema.window_policy import EvictionPolicy, WindowPolicy, Zones
from tenure.service.sessions.terms import window_policy
from tenure.tests.support.refusals import refused

SAME = WindowPolicy(eviction=EvictionPolicy.LRU, newest_units=2, zones=Zones(target=300))


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_toml_and_yaml_say_the_same(tmp_path: Path) -> None:
    toml = "eviction = 'lru'\nnewest_units = 2\n[zones]\ntarget = 300\n"
    yaml = "eviction: lru\nnewest_units: 2\nzones: {target: 300}\n"
    assert window_policy(written(tmp_path, "w.toml", toml)) == SAME
    assert window_policy(written(tmp_path, "w.yaml", yaml)) == SAME
    assert window_policy(tmp_path / "w.toml").digest == window_policy(tmp_path / "w.yaml").digest


def test_a_session_takes_its_policy_from_a_file(memory: Memory, tmp_path: Path) -> None:
    path = written(tmp_path, "w.toml", "newest_units = 1\nresult_tokens = 40\n")
    session = memory.session("s1", policy=str(path), window=9_000)
    session.on_turn_start("go")
    call = {"id": "c1", "function": {"name": "look", "arguments": "{}"}}
    session.on_step({"role": "assistant", "tool_calls": [call]})
    session.on_tool_result("c1", "\n".join(f"line {number}" for number in range(60)))
    session.on_turn_end("done")
    session.on_turn_start("and now?")
    session.compact(to=1)
    assert "window://" in session.state.ledger.text
    assert session._core.policy.result_tokens == 40


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("w.toml", "eviction = ", "no TOML"),
        (
            "w.yaml",
            "a: [",
            "no YAML: expected the node content, but found '<stream end>' (at line 1",
        ),
        ("w.yaml", "a: \0", "no YAML: unacceptable character"),
        ("w.yaml", "? {a: b}\n: 1", "no YAML"),
        ("w.yaml", "page_tokens: 5\npage_tokens: 6", "twice"),
        ("w.yaml", "a: &x [1]\nb: [*x, *x]", "alias"),
        ("w.yaml", "- 1\n- [2, 3]", "no names"),
        ("w.yaml", "page_tokens: yes", "is a number"),
        ("w.yaml", " ", "empty"),
        ("w.yaml", "#" * 1_100_000, "megabyte"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, name: str, text: str, words: str) -> None:
    with refused(InvalidInput, "bad_policy") as refusal:
        window_policy(written(tmp_path, name, text))
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with refused(InvalidInput, "bad_policy"):
        window_policy(tmp_path / "none.toml")


def test_yaml_without_its_package_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with refused(Unavailable, "extra_missing") as refusal:
        window_policy(written(tmp_path, "w.yaml", "page_tokens: 9"))
    assert "tenure[yaml]" in str(refusal.value)
