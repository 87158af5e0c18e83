"""Finding duplicates in the register: each pair once, in any stretches, and never a judged one."""

import csv
import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tenure import EntityRef, Memory, Principal, connect
from tenure.bench.bench_resolve import stock as stock_people
from tenure.bench.evaluation.fit import model_to_json
from tenure.faces.cli.main import app
from tenure.resolution.model import default_model, with_version
from tenure.schema.errors import Forbidden, InvalidInput
from tenure.schema.policy import Policy, ResolutionPolicy
from tenure.schema.vocabulary import Authority
from tenure.service.stewardship.matching import DuplicatePair, label_of, most_telling

PEOPLE = (
    "Jonathan Smythe",
    "Jon Smythe",
    "Wanda Okafor",
    "Wanda Okafor Baker Smith",
    "Ines Moreau",
)


@pytest.fixture
def memory() -> Iterator[Memory]:
    with connect(":memory:") as opened:
        stock(opened, *PEOPLE)
        yield opened


def stock(memory: Memory, *names: str) -> None:
    for name in names:
        memory.write(EntityRef(name=name, type="person"), slot="skill", value="chess")


def names_of(pairs: tuple[DuplicatePair, ...]) -> list[frozenset[str]]:
    return [frozenset(pair.comparison.names) for pair in pairs]


SMYTHES = frozenset(PEOPLE[:2])
OKAFORS = frozenset(PEOPLE[2:4])


def test_likely_duplicates_come_and_strangers_do_not(memory: Memory) -> None:
    crossing = memory.resolution.xref()
    assert names_of(crossing.pairs) == [SMYTHES, OKAFORS]
    assert (crossing.after, crossing.entities, crossing.names) == ("", 5, 5)
    assert memory.resolution.xref(type="organization").entities == 0


def test_stretches_of_any_length_find_the_same_pairs_once(memory: Memory) -> None:
    whole = memory.resolution.xref().pairs
    for length in (1, 2, 4):
        after, pairs = "", list[DuplicatePair]()
        while True:
            stretch = memory.resolution.xref(after=after, entities=length)
            pairs += stretch.pairs
            after = stretch.after
            if not after:
                break
        assert sorted(pair.pair_id for pair in pairs) == sorted(pair.pair_id for pair in whole)


def test_the_pair_that_settles_more_comes_first_and_the_rest_is_cut(memory: Memory) -> None:
    for name in OKAFORS:
        for skill in ("go", "bridge", "whist"):
            memory.write(EntityRef(name=name, type="person"), slot="skill", value=skill)
    (pair,) = memory.resolution.xref(limit=1).pairs
    assert frozenset(pair.comparison.names) == OKAFORS
    assert (pair.settles, pair.worth) == (4, round(pair.comparison.candidate.score * 5, 6))


def test_what_was_judged_is_not_asked_again(memory: Memory) -> None:
    (case,) = memory.reviews.list()
    memory.reviews.unsure(case.review_id)
    unsure = memory.resolution.xref().pairs[0]
    assert "unsure" in unsure.comparison.candidate.vetoes
    memory.reviews.reject(case.review_id)
    assert names_of(memory.resolution.xref().pairs) == [OKAFORS]
    ids = [memory.as_of().entity(name).entity_id for name in OKAFORS]
    memory.entities.merge(*ids)
    assert memory.resolution.xref().pairs == ()


def test_attributes_speak_for_a_pair_and_against_it(memory: Memory) -> None:
    for name in SMYTHES:
        memory.write(EntityRef(name=name, type="person"), slot="email", value="jon@smythe.net")
    for name, day in zip(sorted(OKAFORS), ("1980-04-02", "1981-04-02"), strict=True):
        memory.write(EntityRef(name=name, type="person"), slot="birthday", value=day)
    (pair,) = memory.resolution.xref().pairs
    assert pair.comparison.decision == "bind"
    assert "email" in {feature.name for feature in pair.comparison.candidate.features}

    for name in ("Kate Moreau", "Jo Bernstein"):
        ref = EntityRef(name=name, type="person", external_ids={"email": "desk@moreau.net"})
        memory.write(ref, slot="birthday", value="1962-07-08")
    assert names_of(memory.resolution.xref().pairs)[1:] == [
        frozenset(("Kate Moreau", "Jo Bernstein"))
    ]

    apart = memory.entities.compare(*sorted(OKAFORS)).candidate
    assert {"attribute_conflict", "single_valued_conflict"} <= set(apart.vetoes)


def test_a_slot_counts_as_its_policy_registers_it() -> None:
    bands = ResolutionPolicy(attributes=(("badge", "identifier"),))
    with connect(":memory:", policy=Policy(resolution=bands)) as memory:
        memory.vocabulary.define_slot("badge", description="the badge number")
        for name in SMYTHES:
            memory.write(EntityRef(name=name, type="person"), slot="badge", value="A-17")
        assert memory.entities.compare(*sorted(SMYTHES)).decision == "bind"


def test_a_claim_between_the_two_holds_them_apart(memory: Memory) -> None:
    one, other = sorted(SMYTHES)
    memory.write(one, slot="manager", value=other)
    assert "direct_edge" in memory.entities.compare(one, other).candidate.vetoes


def test_a_value_that_is_masked_for_the_caller_is_no_evidence(memory: Memory) -> None:
    for name in SMYTHES:
        memory.write(
            EntityRef(name=name, type="person"),
            slot="email",
            value="j@s.net",
            sensitivity=["personal"],
        )
    steward = memory.bind(Principal(tenant="default", user="ann", roles=frozenset({"steward"})))
    features = steward.entities.compare(*sorted(SMYTHES)).candidate.features
    assert "email" not in {feature.name for feature in features}


def test_names_of_another_user_stay_out(memory: Memory) -> None:
    ann = memory.bind(Principal(tenant="default", user="ann", roles=frozenset({"steward"})))
    bob = memory.bind(Principal(tenant="default", user="bob", roles=frozenset({"steward"})))
    ann.write(EntityRef(name="Inès Moreaux", type="person"), "skill", "go", scope={"user": "ann"})
    moreaux = frozenset({"Inès Moreaux", "Ines Moreau"})
    assert moreaux in names_of(ann.resolution.xref().pairs)
    assert moreaux not in names_of(bob.resolution.xref().pairs)


def test_only_stewards_cross_and_only_with_sound_numbers(memory: Memory) -> None:
    agent = memory.bind(
        Principal(tenant="default", user="ann", authority_level=Authority.INFERRED_MEMORY)
    )
    with pytest.raises(Forbidden):
        agent.resolution.xref()
    with pytest.raises(Forbidden):
        agent.resolution.labels()
    with pytest.raises(InvalidInput):
        memory.resolution.xref(entities=0)
    with pytest.raises(InvalidInput):
        memory.resolution.xref(type="wizard")


def test_decided_reviews_are_labels_until_they_are_undone(memory: Memory) -> None:
    (case,) = memory.reviews.list()
    assert memory.resolution.labels() == ()
    memory.reviews.accept(case.review_id)
    (label,) = memory.resolution.labels()
    assert (label.name1, label.name2, label.is_match) == ("Jon Smythe", "Jonathan Smythe", "yes")
    assert label.cluster1 == label.cluster2
    memory.reviews.undo(case.review_id)
    assert memory.resolution.labels() == ()
    memory.reviews.reject(case.review_id)
    (label,) = memory.resolution.labels()
    assert (label.is_match, label.cluster1 == label.cluster2) == ("no", False)


def test_a_case_accepted_as_somebody_else_says_no_of_its_candidate(memory: Memory) -> None:
    (case,) = memory.reviews.list()
    moreau = memory.as_of().entity("Ines Moreau").entity_id
    memory.reviews.accept(case.review_id, entity=moreau)
    (label,) = memory.resolution.labels()
    assert (label.name2, label.is_match) == ("Jonathan Smythe", "no")


def test_the_most_telling_pair_lies_nearest_to_a_bound(memory: Memory) -> None:
    pairs = memory.resolution.xref().pairs
    assert names_of(most_telling(pairs)) == [SMYTHES, OKAFORS]
    different = label_of(pairs[0], is_match=False)
    assert different.cluster1 != different.cluster2
    assert label_of(pairs[0], is_match=True).is_match == "yes"


def test_another_model_scores_when_it_is_given(memory: Memory) -> None:
    doubtful = with_version(replace(default_model(), shift=-20.0))
    assert replace(memory.resolution, model=doubtful).xref().pairs == ()


def test_the_commands_cross_go_on_label_and_measure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with connect("memory.db") as memory:
        stock(memory, *PEOPLE)

    def run(*words: str, keys: str = "", code: int = 0) -> str:
        outcome = CliRunner().invoke(app, list(words), input=keys)
        assert outcome.exit_code == code, outcome.output
        return outcome.stdout if code == 0 else outcome.output

    rows = json.loads(run("--json", "resolution", "xref", "--state", "crossing.json"))
    assert [frozenset(row["names"]) for row in rows] == [SMYTHES, OKAFORS]

    # A crossing that is done answers from its file; one that was broken off goes on behind it.
    assert json.loads(run("--json", "resolution", "xref", "--state", "crossing.json")) == rows
    state = json.loads(Path("crossing.json").read_text())
    Path("half.json").write_text(json.dumps({**state, "after": "", "pairs": rows[:0]}))
    assert json.loads(run("--json", "resolution", "xref", "--state", "half.json")) == rows
    words = ("resolution", "xref", "--type", "person", "--state", "crossing.json")
    assert "another crossing" in run(*words, code=1)
    Path("half.json").write_text("[]")
    assert "holds no crossing" in run("resolution", "xref", "--state", "half.json", code=1)

    assert "1 labels added" in run("resolution", "label", "labels.csv", keys="y\nq\n")
    assert "1 labels added" in run("resolution", "label", "labels.csv", keys="n\n")
    with connect("memory.db") as memory:
        memory.reviews.accept(memory.reviews.list()[0].review_id)
    assert "1 labels added" in run("resolution", "labels", "labels.csv")
    assert "0 labels added" in run("resolution", "labels", "labels.csv")
    with Path("labels.csv").open(newline="") as lines:
        assert [row["is_match"] for row in csv.DictReader(lines)] == ["yes", "no", "yes"]

    strict = with_version(replace(default_model(), shift=-20.0))
    Path("model.json").write_text(model_to_json(strict))
    assert "no two entities" in run("resolution", "xref", "--model", "model.json")
    assert "no file" in run("resolution", "xref", "--model", "absent.json", code=1)


def test_a_large_register_of_people_asks_for_context_and_is_not_broken(tmp_path: Path) -> None:
    store = str(tmp_path / "people.db")

    def advice() -> list[str]:
        checked = CliRunner().invoke(app, ["--store", store, "doctor", "--json"])
        assert checked.exit_code == 0
        sentences: list[str] = json.loads(checked.stdout)["advice"]
        return sentences

    with connect(store) as memory:
        stock_people(memory, [f"Person {number}" for number in range(1_000)], 0, "person")
    assert advice() == []

    with connect(store) as memory:
        stock_people(memory, ["Wanda Okafor"], 1_000, "person")
        assert memory.doctor() == ()
    (sentence,) = advice()
    assert 'person_context_scope = "project"' in sentence
    assert sentence in " ".join(
        CliRunner().invoke(app, ["--store", store, "doctor"]).stdout.split()
    )


def test_labels_take_a_single_key_where_the_terminal_can_and_are_kept_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "xterm")
    with connect("memory.db") as memory:
        stock(memory, *PEOPLE)

    # A real terminal: no Enter is ever sent, and the second question meets a kill.
    terminal, side = pty.openpty()
    command = "from tenure.faces.cli.main import app; app()"
    words = [sys.executable, "-P", "-c", command, "resolution", "label", "labels.csv"]
    screen = ""
    with subprocess.Popen(words, stdin=side, stdout=side, stderr=side) as process:
        try:
            until = time.monotonic() + 60
            while screen.count("same?") < 2 and time.monotonic() < until:
                # A key that comes before the terminal hands out single ones is lost: it is sent
                # until the next question stands there.
                if select.select([terminal], [], [], 0.5)[0]:
                    screen += os.read(terminal, 4096).decode()
                elif screen.count("same?") == 1:
                    os.write(terminal, b"y")
        finally:
            process.kill()
            os.close(side)
            os.close(terminal)

    with Path("labels.csv").open(newline="") as lines:
        assert [row["is_match"] for row in csv.DictReader(lines)] == ["yes"]


def test_the_doctor_says_where_a_name_alone_binds_among_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tenure.faces.cli.audit._PEOPLE_OF_ONE_NAME", len(PEOPLE) - 1)
    with connect("memory.db") as memory:
        stock(memory, *PEOPLE[1:])
    assert "person_context_scope" not in CliRunner().invoke(app, ["doctor"]).stdout

    with connect("memory.db") as memory:
        stock(memory, PEOPLE[0])
    outcome = CliRunner().invoke(app, ["doctor"])
    assert 'person_context_scope = "project"' in " ".join(outcome.stdout.split())
