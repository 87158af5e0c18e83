"""The congress history by names alone: nobody is fused, and true namesakes end in a review."""

import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SHARED = Path(os.environ.get("TENURE_SHARED", ROOT.parent / "shared"))
FULL = SHARED / "data" / "congress" / "events-2012-2018.jsonl.gz"
REISSUED = "Alan Grayson"
"""One person whose authority issued a second identifier: one entity is right."""


def loaded(file: Path) -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location("names", ROOT / "bench" / "bench_namesakes.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["names"] = module
    spec.loader.exec_module(module)
    found: dict[str, Any] = module.report(file)
    return found


def test_a_sample_is_loaded_by_names_without_a_question() -> None:
    found = loaded(ROOT / "tests" / "data" / "events-sample.jsonl")
    assert found["entities"] == found["people"]
    assert not found["reviews"]
    assert not found["entities_with_two_people"]


@pytest.mark.slow
@pytest.mark.skipif(not FULL.exists(), reason="needs the shared congress history (TENURE_SHARED)")
def test_the_whole_history_fuses_nobody_and_asks_about_the_two_michael_rogers() -> None:
    found = loaded(FULL)
    assert found["namesakes"] == ["Michael Rogers"]
    assert sum(found["reviews"].values()) < 30
    assert list(found["entities_with_two_people"].values()) == [[REISSUED]]
