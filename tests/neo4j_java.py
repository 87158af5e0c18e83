"""Which Java runs which Neo4j, and where this machine has one.

5.26 runs on Java 17 and 21; 2025.01 to 2025.09 on 21; from 2025.10 on 21 and 25. `find_java`
looks at JAVA_HOME, then PATH, then the system's JVM folder, and takes the first that fits.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tenure.store.neo4j.connect import version_numbers

JVM_FOLDER = Path("/usr/lib/jvm")


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime: its program and its feature release (17, 21, 25)."""

    program: Path
    major: int


def supported_java(version: str) -> frozenset[int]:
    """Return the Java releases that the Neo4j version is made for."""
    numbers = version_numbers(version)
    if numbers < (2025,):
        return frozenset({17, 21})
    if numbers < (2025, 10):
        return frozenset({21})
    return frozenset({21, 25})


def find_java(
    version: str,
    *,
    environ: Mapping[str, str] = os.environ,
    jvm_folder: Path = JVM_FOLDER,
) -> Java | str:
    """Return a Java that runs the Neo4j version, or the sentence that says why there is none."""
    wanted = supported_java(version)
    seen: list[int] = []
    for program in _programs(environ, jvm_folder):
        major = java_major(program)
        if major in wanted:
            return Java(program, major)
        if major is not None and major not in seen:
            seen.append(major)
    names = " or ".join(str(major) for major in sorted(wanted))
    found = ", ".join(str(major) for major in sorted(seen)) or "none"
    return f"Neo4j {version} needs Java {names}; found: {found}"


def java_major(program: Path) -> int | None:
    """Return the feature release of a `java` program, None where there is none."""
    if not os.access(program, os.X_OK):
        return None
    release = program.resolve().parent.parent / "release"
    if release.is_file():
        text = release.read_text(errors="replace")
    else:
        run = subprocess.run(
            [str(program), "-version"], capture_output=True, text=True, timeout=30, check=False
        )
        text = run.stderr + run.stdout
    found = re.search(r'(?:JAVA_VERSION=|version )"(?:1\.)?(\d+)', text)
    return int(found[1]) if found else None


def _programs(environ: Mapping[str, str], jvm_folder: Path) -> Iterator[Path]:
    if home := environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if on_path := shutil.which("java", path=environ.get("PATH", "")):
        yield Path(on_path)
    for folder in sorted(jvm_folder.glob("*")):
        yield folder / "bin" / "java"
