"""What every test may ask for; everything else stands in the test's own file."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tenure.tests.connection_watch import watch_connections
from tenure.tests.source_tree import ROOT
from tenure.tests.support.sampling import CI_EXAMPLES, NIGHTLY

pytest_plugins = ["tenure.tests.neo4j_fixtures", "tenure.tests.support.memories"]

# Two workers share two cores: a slow example says nothing about the code. The same examples in
# every run make a failure repeatable; TENURE_EXPLORE=1 looks for new ones.
settings.register_profile(
    "nightly",
    deadline=None,
    derandomize=not os.environ.get("TENURE_EXPLORE"),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("ci", settings.get_profile("nightly"), max_examples=CI_EXAMPLES)
settings.load_profile("nightly" if NIGHTLY else "ci")

watch_connections()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--contract",
        choices=("whole", "oldest", "newest"),
        default="whole",
        help="the part of the contract suite that runs on a server; a night runs the whole",
    )


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Return the folder of shared data: `$TENURE_SHARED/data`, or the one beside the checkout."""
    stated = os.environ.get("TENURE_SHARED")
    folder = (Path(stated) if stated else ROOT.parent / "shared") / "data"
    if not folder.is_dir():
        pytest.skip(f"no shared data in {folder}: set TENURE_SHARED to the folder that holds data/")
    return folder


@pytest.fixture(autouse=True)
def clean_root() -> Iterator[None]:
    """Fail the test that leaves a file in the root of the checkout; hidden ones are tools' own."""
    before = in_root()
    yield
    left = in_root() - before
    assert not left, f"left in the root of the checkout: {sorted(left)}; write into tmp_path"


def in_root() -> frozenset[str]:
    shown = (n for n in os.listdir(ROOT) if not n.startswith(".") or n.startswith(".part-"))
    return frozenset(shown) - {"__pycache__"}
