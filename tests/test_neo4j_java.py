"""The Java that a Neo4j version needs is found, and a wrong one is never taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenure.tests.neo4j_java import Java, find_java, java_major, supported_java


def _java(home: Path, version: str, *, with_release: bool = True) -> Path:
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    program.chmod(0o755)
    if with_release:
        (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return program


@pytest.mark.parametrize(
    ("version", "majors"),
    [
        ("5.26.29", {17, 21}),
        ("2025.01.0", {21}),
        ("2025.09.1", {21}),
        ("2025.10.1", {21, 25}),
        ("2026.08.1", {21, 25}),
    ],
)
def test_each_version_has_its_javas(version: str, majors: set[int]) -> None:
    assert supported_java(version) == majors


@pytest.mark.parametrize(("text", "major"), [("17.0.15", 17), ("25", 25), ("1.8.0_402", 8)])
@pytest.mark.parametrize("with_release", [True, False])
def test_the_release_is_read_from_the_file_or_asked(
    tmp_path: Path, text: str, major: int, *, with_release: bool
) -> None:
    assert java_major(_java(tmp_path / "jdk", text, with_release=with_release)) == major


def test_java_home_comes_before_path_and_path_before_the_system_folder(tmp_path: Path) -> None:
    home = _java(tmp_path / "home", "21.0.1")
    on_path = _java(tmp_path / "path", "17.0.1")
    system = _java(tmp_path / "jvm" / "temurin-17", "17.0.2")
    environ = {"JAVA_HOME": str(tmp_path / "home"), "PATH": str(on_path.parent)}
    folder = tmp_path / "jvm"
    assert find_java("5.26.29", environ=environ, jvm_folder=folder) == Java(home, 21)
    del environ["JAVA_HOME"]
    assert find_java("5.26.29", environ=environ, jvm_folder=folder) == Java(on_path, 17)
    environ["PATH"] = ""
    assert find_java("5.26.29", environ=environ, jvm_folder=folder) == Java(system, 17)


def test_a_java_that_does_not_fit_is_passed_over(tmp_path: Path) -> None:
    _java(tmp_path / "home", "17.0.1")
    fitting = _java(tmp_path / "jvm" / "temurin-25", "25.0.3")
    environ = {"JAVA_HOME": str(tmp_path / "home"), "PATH": ""}
    assert find_java("2026.08.1", environ=environ, jvm_folder=tmp_path / "jvm") == Java(fitting, 25)


def test_without_a_fitting_java_the_reason_names_what_was_found(tmp_path: Path) -> None:
    _java(tmp_path / "jvm" / "eleven", "11.0.2")
    _java(tmp_path / "jvm" / "seventeen", "17.0.2")
    found = find_java("2026.08.1", environ={"PATH": ""}, jvm_folder=tmp_path / "jvm")
    assert found == "Neo4j 2026.08.1 needs Java 21 or 25; found: 11, 17"
    assert find_java("5.26.29", environ={"PATH": ""}, jvm_folder=tmp_path / "none") == (
        "Neo4j 5.26.29 needs Java 17 or 21; found: none"
    )
