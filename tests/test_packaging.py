"""The wheel holds every package folder with its data, and nothing else."""

import configparser
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tenure.tests.source_tree import FOLDERS, ROOT, pyproject
from tenure.tests.wheel import built_wheel


def shipped_files() -> set[str]:
    """Return what a user must receive: all of the package folders, and the face."""
    inside = {
        path.relative_to(ROOT).as_posix()
        for folder in FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix not in {".pyc", ".pyo"} and path.name != ".DS_Store"
    }
    return inside | {"__init__.py", "__init__.pyi", "__main__.py", "py.typed"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built_wheel(tmp_path_factory.mktemp("wheel"))


def test_every_package_folder_is_listed() -> None:
    found = {
        ".".join(("tenure", *init.parent.relative_to(ROOT).parts))
        for folder in FOLDERS
        for init in (ROOT / folder).rglob("__init__.py")
    }
    assert set(pyproject()["tool"]["setuptools"]["packages"]) == found | {"tenure"}


def test_every_folder_with_code_at_the_root_is_known() -> None:
    # A new folder that nobody lists would be missing from the wheel without a word.
    apart = {"tests", "bench", "docs", "build", "dist"}
    found = {path.parent.name for path in ROOT.glob("[a-z]*/__init__.py")}
    assert found - apart == set(FOLDERS)


@pytest.mark.parametrize("folder", ["tests", "bench", "docs"])
def test_what_is_not_shipped_is_no_package(folder: str) -> None:
    assert list((ROOT / folder).rglob("__init__.py")) == []


def test_the_wheel_ships_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    packed = {name for name in names if ".dist-info/" not in name}
    assert packed == {f"tenure/{file}" for file in shipped_files()}


def test_the_wheel_carries_its_licence_and_its_command(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (entry_points,) = (name for name in names if name.endswith("/entry_points.txt"))
        commands = configparser.ConfigParser()
        commands.read_string(archive.read(entry_points).decode())
    assert commands["console_scripts"]["tenure"] == "tenure.faces.cli.main:main"
    assert {"LICENSE", "NOTICE"} <= {Path(name).name for name in names if "/licenses/" in name}


def test_the_package_imports_from_the_wheel(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    look = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import tenure; print(tenure.__file__)"
    )
    command = [sys.executable, "-P", "-c", look]
    build = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert Path(build.stdout.strip()) == tmp_path / "tenure" / "__init__.py"


def test_each_target_that_runs_a_tool_installs_the_tools_first() -> None:
    rules = re.split(r"^(?=[\w-]+:)", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.M)
    tools = re.compile(r"\$\(BIN\)/(?:pytest|ruff|mypy|pyright|coverage|uv)\b")
    users = [rule for rule in rules if tools.search(rule)]
    assert len(users) >= 5
    assert [rule.split()[0] for rule in users if "$(DEV)" not in rule.partition("\n")[0]] == []
