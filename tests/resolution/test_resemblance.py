"""Names that only a person may bring together: the line that says why they are shown."""

from dataclasses import replace

import pytest

from tenure.resolution.bind import short_words
from tenure.resolution.blocking import are_two_paths, is_tail, near_names
from tenure.resolution.context import NO_CONTEXT
from tenure.resolution.known import Known
from tenure.resolution.model import default_model
from tenure.resolution.normalize import normalize
from tenure.resolution.register import Register, Rules
from tenure.resolution.score import PairScore, score_pair
from tenure.resolution.scorer import learned_short_form, resemblance
from tenure.schema.entity import EntityRef
from tenure.schema.vocabulary import EntityState
from tenure.tests.support.entities import alias, entity

RULES = Rules(scopes=frozenset({"tenant"}), scope_id="tenant")


def register(*aliases: tuple[str, str], state: EntityState = EntityState.ACTIVE) -> Register:
    """A register of systems, each under its name and one alias."""
    entities = {name: entity(name, name, "system", state=state) for name, _ in aliases}
    rows = tuple(alias(name, surface, "system") for name, surface in aliases)
    return Register(Known(entities=entities, aliases=rows))


PG_CLUSTER = EntityRef(name="PG cluster", type="system")


def test_a_learned_short_form_is_said_in_full() -> None:
    known = register(("PostgreSQL", "PG"))
    line = learned_short_form(PG_CLUSTER, ["Redis cluster", "PostgreSQL Cluster"], known, RULES)
    assert line is not None
    assert "'pg' is an alias of 'PostgreSQL'" in line.detail
    assert learned_short_form(PG_CLUSTER, ["Redis cluster"], known, RULES) is None


@pytest.mark.parametrize(
    "known",
    [
        register(("PostgreSQL", "PG"), ("Page Group", "PG")),
        register(("PG", "PG")),
        register(("PostgreSQL", "PG"), state=EntityState.PENDING),
        register(),
    ],
    ids=["two are called so", "its own name", "nobody settled", "unknown"],
)
def test_an_alias_that_tells_nothing_is_not_said_in_full(known: Register) -> None:
    names = ["PostgreSQL cluster", "PG cluster 2"]
    assert learned_short_form(PG_CLUSTER, names, known, RULES) is None


def test_an_alias_of_another_scope_is_not_said_in_full() -> None:
    known, elsewhere = register(("PostgreSQL", "PG")), replace(RULES, scopes=frozenset({"x"}))
    assert learned_short_form(PG_CLUSTER, ["PostgreSQL cluster"], known, elsewhere) is None


def test_words_of_people_and_single_words_are_no_short_forms() -> None:
    assert short_words(EntityRef(name="Al Gore", type="person")) == []
    assert short_words(EntityRef(name="PG", type="system")) == []


def test_a_drawing_and_a_rendering_are_worth_a_look_and_a_plain_name_is_not() -> None:
    drawn = resemblance("paypa1", ["Redis", "paypal"], "system")
    assert drawn is not None
    assert drawn.name == "look_alike"
    assert resemblance("Redis", ["paypal"], "system") is None


# ---- Names that are paths: one file, another file, or perhaps the same.


def scored(left: str, right: str, kind: str = "document") -> PairScore:
    forms = normalize(left, kind), (normalize(right, kind),)
    return score_pair(*forms, kind, NO_CONTEXT, default_model())


@pytest.mark.parametrize(
    ("left", "right"),
    [("src/app/main.py", "./src/app/main.py"), ("src\\app\\main.py", "src/app//main.py")],
)
def test_one_path_binds_however_it_is_written(left: str, right: str) -> None:
    assert scored(left, right).score >= 0.95
    assert not scored(left, right).vetoes


@pytest.mark.parametrize("kind", ["document", "unknown", "file"])
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("src/app/main.py", "src/lib/main.py"),
        ("a/b.py", "ab.py"),
        ("docs/README.md", "site/README.md"),
        ("etc/config.yaml", "etc/config.yml"),
    ],
)
def test_two_paths_are_two_files_whatever_they_share(left: str, right: str, kind: str) -> None:
    assert are_two_paths(left, right)
    assert are_two_paths(right, left)
    assert "token_conflict" in scored(left, right, kind).vetoes
    assert near_names(left, kind, [right, left]) == {left}


@pytest.mark.parametrize("short", ["main.py", "deep/in/the/folders/of/it/main.py"])
def test_the_tail_of_a_path_is_left_to_a_person(short: str) -> None:
    long = f"src/very/{short}"
    assert is_tail(long, short)
    assert "extra_tokens" in scored(short, long, "file").vetoes
    assert near_names(short, "file", [long]) == {long}


@pytest.mark.parametrize(
    ("left", "right"),
    [("TCP/IP", "tcp-ip"), ("Socket.IO", "socket io"), ("https://a.io/b.py", "a/b.py")],
)
def test_what_is_no_path_is_compared_as_a_name(left: str, right: str) -> None:
    assert not are_two_paths(left, right)
    assert not is_tail(left, right)
