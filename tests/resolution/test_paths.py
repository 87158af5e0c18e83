"""Names that are paths: one file, another file, or perhaps the same."""

from __future__ import annotations

import pytest

from tenure.resolution.blocking import are_two_paths, is_tail, near_names
from tenure.resolution.context import NO_CONTEXT
from tenure.resolution.model import default_model
from tenure.resolution.normalize import normalize
from tenure.resolution.score import PairScore, score_pair


def scored(left: str, right: str, kind: str = "document") -> PairScore:
    forms = normalize(left, kind), (normalize(right, kind),)
    return score_pair(*forms, kind, NO_CONTEXT, default_model())


@pytest.mark.parametrize(
    ("left", "right"),
    [("src/app/main.py", "./src/app/main.py"), ("src\\app\\main.py", "src/app//main.py")],
)
def test_one_path_binds_however_it_is_written(left: str, right: str) -> None:
    assert scored(left, right).score >= 0.95
    assert not scored(left, right).vetoes


@pytest.mark.parametrize("kind", ["document", "unknown", "file"])
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("src/app/main.py", "src/lib/main.py"),
        ("a/b.py", "ab.py"),
        ("docs/README.md", "site/README.md"),
        ("etc/config.yaml", "etc/config.yml"),
    ],
)
def test_two_paths_are_two_files_whatever_they_share(left: str, right: str, kind: str) -> None:
    assert are_two_paths(left, right)
    assert are_two_paths(right, left)
    assert "token_conflict" in scored(left, right, kind).vetoes
    assert near_names(left, kind, [right, left]) == {left}


@pytest.mark.parametrize("short", ["main.py", "deep/in/the/folders/of/it/main.py"])
def test_the_tail_of_a_path_is_left_to_a_person(short: str) -> None:
    long = f"src/very/{short}"
    assert is_tail(long, short)
    assert "extra_tokens" in scored(short, long, "file").vetoes
    assert near_names(short, "file", [long]) == {long}


@pytest.mark.parametrize(
    ("left", "right"),
    [("TCP/IP", "tcp-ip"), ("Socket.IO", "socket io"), ("https://a.io/b.py", "a/b.py")],
)
def test_what_is_no_path_is_compared_as_a_name(left: str, right: str) -> None:
    assert not are_two_paths(left, right)
    assert not is_tail(left, right)
