"""The wheel of this checkout, built without a download."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

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
