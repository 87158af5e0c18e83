"""An environment of its own for each framework: they must never be installed together.

It holds what the core and one extra ask for, and pytest. It lies in the cache beside the other
downloads, named after its requirements, so that it is made once; a download has a time-out and
one retry. The checkout is put on its path by a link, as it is put on that of the type checker.
"""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from tenure.tests.fetched import fetched_folder, run_fetcher
from tenure.tests.source_tree import ROOT, pyproject

DOWNLOAD_TIMEOUT_S = 300.0
RUN_TIMEOUT_S = 300.0


def requirements(extra: str | None) -> list[str]:
    """Everything that an environment of an extra holds; None is the core alone."""
    project = pyproject()["project"]
    packages = [] if extra is None else project["optional-dependencies"][extra]
    return [*project["dependencies"], *packages, "pytest>=8.4"]


def environment(extra: str | None, *, root: Path | None = None) -> Path:
    """Return the Python of an extra's environment, made where it is missing.

    Raises:
        FetchFailed: nothing could be downloaded, twice.
    """
    return environment_of(f"extra-{extra or 'core'}", requirements(extra), root=root)


def environment_of(name: str, wanted: list[str], *, root: Path | None = None) -> Path:
    """Return the Python of an environment that holds what is wanted, made where it is missing.

    Raises:
        FetchFailed: nothing could be downloaded, twice.
    """
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    digest = hashlib.sha256("\n".join([version, *wanted]).encode()).hexdigest()[:12]

    def fill(folder: Path) -> None:
        uv = str(Path(sys.executable).parent / "uv")
        here = {"cwd": folder, "timeout_s": DOWNLOAD_TIMEOUT_S}
        run_fetcher([uv, "venv", "--python", sys.executable, "env"], **here)
        python = str(folder / "env" / "bin" / "python")
        run_fetcher([uv, "pip", "install", "--python", python, *wanted], **here)
        (folder / "whole").write_text("\n".join(wanted), encoding="utf-8")

    def is_whole(folder: Path) -> bool:
        return (folder / "whole").is_file()

    folder = fetched_folder(f"{name}-{digest}", fill, is_whole, root=root)
    return folder / "env" / "bin" / "python"


def run_in(python: Path, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a Python of an environment with the checkout on its path; `folder` is an empty one."""
    link = folder / "tenure"
    if not link.exists():
        link.symlink_to(ROOT)
    return subprocess.run(
        [str(python), "-P", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=RUN_TIMEOUT_S,
        check=False,
    )
