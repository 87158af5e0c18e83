"""The wheel of this checkout, built without a download, and installed as a user installs it."""

import shutil
import subprocess
import sys
from pathlib import Path

from tenure.tests.adapter_env import DOWNLOAD_TIMEOUT_S
from tenure.tests.fetched import run_fetcher
from tenure.tests.source_tree import ROOT

NOT_SOURCE = shutil.ignore_patterns(
    ".*", "__pycache__", "build", "dist", "*.egg-info", "tests", "bench", "docs"
)
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


def built_wheel(folder: Path) -> Path:
    """Build the wheel into an empty folder, and return it."""
    # The build works on a copy: its by-products would make the checkout importable twice.
    source = shutil.copytree(ROOT, folder / "source", ignore=NOT_SOURCE)
    command = [sys.executable, "-P", "-c", BUILD, str(folder)]
    build = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert build.returncode == 0, build.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


def installed_wheel(folder: Path, extra: str = "") -> Path:
    """The Python of a fresh environment in which the wheel of this checkout was installed.

    Raises:
        FetchFailed: what it depends on could not be downloaded, twice.
    """
    wheel = built_wheel(folder)
    wanted = f"tenure[{extra}] @ {wheel.as_uri()}" if extra else str(wheel)
    uv = str(Path(sys.executable).parent / "uv")
    here = {"cwd": folder, "timeout_s": DOWNLOAD_TIMEOUT_S}
    run_fetcher([uv, "venv", "--python", sys.executable, "env"], **here)
    python = folder / "env" / "bin" / "python"
    run_fetcher([uv, "pip", "install", "--python", str(python), wanted], **here)
    return python
