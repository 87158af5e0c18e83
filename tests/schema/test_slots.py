"""Vocabularies only grow, and an unknown slot brings near ones by spelling and by meaning."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, get_args

import pytest

import tenure
from tenure.schema.entity import AUDIT, SUGGESTION
from tenure.schema.errors import InvalidInput
from tenure.schema.slots import (
    BUILT_IN_KINDS,
    BUILT_IN_SLOTS,
    ENTITY_TYPES,
    ROLES,
    TASK_TYPES,
    ActionStatus,
    GraphForm,
    Remembered,
    ReviewKind,
    ReviewStatus,
    Slot,
    TenantWord,
    Vocabulary,
    check_scheme,
    compatible,
    kind_of,
    near_slots,
    origin_partition,
    other_words_of_slots,
    unknown_slot,
)
from tenure.schema.vocabulary import Cardinality, Precedence, ReviewState, SlotKind, ValueType
from tenure.store.operations.review import Remember
from tenure.tests.support.refusals import refused

BASE = Vocabulary()


SHIRT = Slot(name="shirt_size", description="the size of their shirt")


MANY = "health_condition medication vehicle allergy avoids answer_rule appointment child dislikes friend goal likes parent pet plan sibling specialty team todo email phone skill language depends_on uses deployed_in decision constraint policy author authorization_scope assumes related_to transcript"  # noqa: E501


RANKED = "employer manager email phone status version deployed_in pricing_tier jurisdiction"


RELATIONS = "child friend parent partner pet sibling employer manager team owner part_of depends_on uses author related_to"  # noqa: E501


def test_the_built_in_slots_are_those_of_the_table() -> None:
    slots = BUILT_IN_SLOTS.values()
    assert len(BUILT_IN_SLOTS) == 74
    assert {s.name for s in slots if s.many} == set(MANY.split())
    assert {s.name for s in slots if s.precedence is Precedence.SOURCE_RANK} == set(RANKED.split())
    assert {s.name for s in slots if s.relates} == set(RELATIONS.split())
    assert {s.name for s in slots if s.value_type is ValueType.INSTANT} == {"deadline", "occurs_at"}
    assert {s.name for s in slots if s.value_type is ValueType.NUMBER} == {"budget", "quota"}
    assert {s.name for s in slots if s.value_type is ValueType.JSON} == {
        "checkpoint",
        "document_version",
        "record",
        "schema",
        "transcript",
    }
    assert {s.name for s in slots if not s.subject_types} == {
        "allergy", "dislikes", "health_condition", "likes", "medication", "part_of",
        "related_to"}  # fmt: skip


def test_every_built_in_slot_is_sound() -> None:
    for name, slot in BUILT_IN_SLOTS.items():
        assert slot.name == name
        assert slot.description
        assert "{" not in slot.description
        assert set(slot.subject_types) <= set(ENTITY_TYPES)
    assert {slot.kind for slot in BUILT_IN_SLOTS.values()} | {SlotKind.IDENTIFIER} == set(SlotKind)


def test_the_lists_a_tenant_may_extend() -> None:
    assert (len(ENTITY_TYPES), len(ROLES), len(TASK_TYPES)) == (15, 14, 6)
    assert BASE.values("role") == ROLES
    assert BASE.values("source_kind")[-1] == "other"
    with refused(InvalidInput, "unknown_vocabulary"):
        BASE.values("roles")


def test_a_slot_is_found_by_name_or_its_neighbours_are_named() -> None:
    assert BASE.slot("office").kind is SlotKind.LOCATION
    with refused(InvalidInput, "unknown_vocabulary", match="did you mean 'office'"):
        BASE.slot("ofice")


def test_a_definition_makes_a_new_vocabulary() -> None:
    grown = BASE.define("slot", SHIRT)
    assert (BASE.version, grown.version) == (0, 1)
    assert "shirt_size" not in BASE.slots
    assert grown.slot("shirt_size") == SHIRT
    assert grown.slots.items() > BASE.slots.items()


def test_the_same_definition_again_changes_nothing() -> None:
    grown = BASE.define("slot", SHIRT)
    assert grown.define("slot", SHIRT, used=True) is grown
    role = TenantWord("pilot", "flies")
    piloted = grown.define("role", role)
    assert piloted.version == 2
    assert piloted.define("role", role) is piloted
    assert piloted.define("role", TenantWord("owner", "built in")) is piloted
    assert piloted.define("role", TenantWord("pilot", "flies planes")).version == 3


@pytest.mark.parametrize(
    "change", [{"cardinality": Cardinality.MANY}, {"value_type": ValueType.TEXT}]
)
def test_cardinality_and_value_type_hold_from_the_first_use(change: dict[str, Any]) -> None:
    changed = replace(BASE.slot("office"), **change)
    assert BASE.define("slot", changed).slot("office") == changed
    with pytest.raises(InvalidInput, match="slot of another name") as caught:
        BASE.define("slot", changed, used=True)
    assert (caught.value.code, caught.value.data) == ("slot_in_use", {"slot": "office"})


def test_everything_else_of_a_used_slot_may_change() -> None:
    changed = replace(BASE.slot("office"), description="where they sit", kind=SlotKind.STATE)
    assert BASE.define("slot", changed, used=True).slot("office") == changed
    assert BASE.define("slot", SHIRT, used=True).slot("shirt_size") == SHIRT


@pytest.mark.parametrize("name", ["", "Office", "9lives", "a-b", "a b", "é", "a" * 49, "a\n"])
def test_a_bad_name_is_refused(name: str) -> None:
    with refused(InvalidInput, "bad_name"):
        BASE.define("slot", replace(SHIRT, name=name))
    with refused(InvalidInput, "bad_name"):
        BASE.define("role", TenantWord(name, "x"))


def test_a_slot_names_only_known_words() -> None:
    with refused(InvalidInput, "unknown_vocabulary"):
        BASE.define("slot", replace(SHIRT, applicable_task_types=("knitting",)))
    with refused(InvalidInput, "unknown_vocabulary"):
        BASE.define("slot", replace(SHIRT, subject_types=("ghost",)))
    own = BASE.define("task_type", TenantWord("knitting", "with wool"))
    assert own.define("slot", replace(SHIRT, applicable_task_types=("knitting",))).version == 2


def test_only_known_lists_can_be_extended() -> None:
    with pytest.raises(InvalidInput, match="did you mean 'role'"):
        BASE.define("rolle", TenantWord("pilot", "flies"))


def test_a_task_type_may_have_one_of_the_four_as_parent() -> None:
    own = BASE.define("task_type", TenantWord("etl", "moves data", parent="data_extraction"))
    own = own.define("task_type", TenantWord("knitting", "with wool"))
    assert own.task_types("etl") == ("etl", "data_extraction")
    assert own.task_types("knitting") == ("knitting",)
    assert own.task_types("code_generation") == ("code_generation",)
    with refused(InvalidInput, "unknown_vocabulary"):
        own.task_types("sewing")
    with refused(
        InvalidInput, "unknown_vocabulary", match=r"the question is `query`.*data_extraction"
    ):
        own.task_types("Where does Sam live?")
    with pytest.raises(InvalidInput, match="parent task type"):
        own.define("task_type", TenantWord("elt", "too", parent="etl"))


def test_entity_types_know_the_unknown() -> None:
    assert BASE.entity_type("unknown") == "unknown"
    assert BASE.entity_type("person") == "person"
    with refused(InvalidInput, "unknown_vocabulary"):
        BASE.entity_type("ghost")
    assert BASE.define("entity_type", TenantWord("ghost", "boo")).entity_type("ghost") == "ghost"
    assert BASE.check("role", ("hr", "legal")) == ("hr", "legal")


def test_a_source_kind_of_a_tenant_has_schemes_of_its_name() -> None:
    own = BASE.define("source_kind", TenantWord("crm_export", "the CRM"))
    for scheme in ("crm_export", "crm-export", "CRM-export"):
        kind = kind_of(f"{scheme}://x", own.source_kinds)
        assert (kind.name, kind.granted, kind.default_level) == ("crm_export", False, 2)
    taken = own.define("source_kind", TenantWord("record", "not a system of record"))
    assert kind_of("record://x", taken.source_kinds).name == "system_of_record"


def test_a_template_goes_by_task_type() -> None:
    slot = replace(SHIRT, instruction=(("*", "any"), ("data_extraction", "copy {value}")))
    assert slot.template(("etl", "data_extraction")) == "copy {value}"
    assert slot.template(("code_generation",)) == "any"
    assert SHIRT.template(("code_generation",)) is None


@pytest.mark.parametrize(
    ("a", "b", "fits"),
    [
        ("system", "tool", True), ("product", "system", True), ("team", "organization", True),
        ("dataset", "document", True), ("person", "person", True), ("unknown", "person", True),
        ("own", "unknown", True), ("own", "own", True), ("tool", "product", False),
        ("person", "team", False), ("own", "person", False),
    ],
)  # fmt: skip
def test_which_entity_types_may_name_one_entity(a: str, b: str, fits: bool) -> None:
    assert compatible(a, b) is compatible(b, a) is fits


def test_an_identifier_scheme_has_a_form() -> None:
    assert check_scheme("hr.system-1_x") == "hr.system-1_x"
    for scheme in ("", "HR", "a b", "1a", "a" * 49):
        with refused(InvalidInput, "bad_name"):
            check_scheme(scheme)


# ---- An unknown slot brings near ones by spelling and by meaning, and how to list or define


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("ofice", "office"),
        ("works_for", "employer"),
        ("hometown", "home"),
        ("boss", "manager"),
        ("wife", "partner"),
        ("due_date", "deadline"),
        ("allergies", "allergy"),
        ("illness", "health_condition"),
        ("medicine", "medication"),
        ("car", "vehicle"),
    ],
)
def test_the_nearest_slot_is_what_a_person_meant(name: str, nearest: str) -> None:
    assert near_slots(name, BUILT_IN_SLOTS)[0] == nearest


def test_what_only_sounds_alike_is_not_offered() -> None:
    assert near_slots("salary", BUILT_IN_SLOTS) == ()


def test_a_description_counts_where_no_name_does() -> None:
    slots = {"shelf": Slot(name="shelf", description="where the warehouse keeps it")}
    assert near_slots("warehouse_place", slots) == ("shelf",)


def test_at_most_three_are_offered() -> None:
    assert len(near_slots("name_title_team_office_email", BUILT_IN_SLOTS)) == 3


def test_a_misspelt_slot_has_its_neighbour_alone() -> None:
    assert str(unknown_slot("ofice", BUILT_IN_SLOTS)) == (
        "unknown slot 'ofice': did you mean 'office'?"
    )


@pytest.mark.parametrize("name", ["works_for", "salary"])
def test_a_slot_that_is_missing_says_how_to_list_and_how_to_define(name: str) -> None:
    text = str(unknown_slot(name, BUILT_IN_SLOTS))
    assert "`tenure slots`" in text
    assert "`tenure define slot NAME" in text


def test_the_other_words_are_those_of_slots_that_there_are() -> None:
    assert set(other_words_of_slots()) <= set(BUILT_IN_SLOTS)


# ---- The words that a checker reads are those that the calls take


def test_the_words_of_a_list_are_those_of_its_states() -> None:
    assert set(get_args(ReviewStatus)) == {"all", *(state.value for state in ReviewState)}
    assert set(get_args(Remembered)) == {word.value for word in Remember}
    assert {AUDIT, SUGGESTION} < set(get_args(ReviewKind))


def test_every_word_is_taken_and_no_other() -> None:
    with tenure.connect(":memory:") as memory:
        calls: dict[Callable[[Any], object], Any] = {
            memory.actions.list: ActionStatus,
            memory.reviews.list: ReviewStatus,
            lambda kind: memory.reviews.list(kind=kind): ReviewKind,
            lambda form: memory.entities.export(format=form): GraphForm,
        }
        for call, words in calls.items():
            for word in get_args(words):
                call(word)
            with pytest.raises(tenure.InvalidInput):
                call("opne")


# ---- The scheme of an origin names its kind; a page of the web has a partition of its own.

KINDS = {kind.name: kind for kind in BUILT_IN_KINDS}
GRANTABLE = frozenset({"platform", "policy", "workspace", "system_of_record"})


@pytest.mark.parametrize(
    ("origin", "name", "trust", "rank"),
    [
        ("system://core", "platform", 1.0, 1),
        ("policy://p", "policy", 1.0, 1),
        ("workspace://w", "workspace", 0.9, 1),
        ("record://hr/1", "system_of_record", 0.95, 0),
        ("user://ann", "user_statement", 0.8, 2),
        ("chat://c/1", "user_statement", 0.8, 2),
        ("agent://a", "agent", 0.6, 3),
        ("tenure://o", "derived", 0.5, 3),
        ("doc://d", "document", 0.7, 4),
        ("file://f", "document", 0.7, 4),
        ("artifact://sha256/0", "document", 0.7, 4),
        ("tool://t", "tool", 0.6, 4),
        ("mcp://t", "tool", 0.6, 4),
        ("https://example.org", "web", 0.4, 5),
        ("HTTP://example.org", "web", 0.4, 5),
        ("model://m", "model", 0.3, 6),
        ("ftp://x", "web", 0.4, 5),
        ("gopher://x", "other", 0.5, 5),
        ("no scheme", "other", 0.5, 5),
        ("https:example.org", "other", 0.5, 5),
    ],
)
def test_the_scheme_names_the_kind(origin: str, name: str, trust: float, rank: int) -> None:
    kind = kind_of(origin, KINDS)
    assert (kind.name, kind.source_authority, kind.rank) == (name, trust, rank)


def test_exactly_the_raising_kinds_must_be_granted() -> None:
    assert {kind.name for kind in BUILT_IN_KINDS if kind.granted} == GRANTABLE


@pytest.mark.parametrize(
    ("origin", "kind", "partition"),
    [
        ("https://Example.org/a?b#c", "web", "https://example.org"),
        ("https://example.org?q=//good.example", "web", "https://example.org"),
        ("https://example.org#@good.example", "web", "https://example.org"),
        ("https://good.example@example.org/x", "web", "https://example.org"),
        ("https://example.org\\@good.example", "web", "https://example.org"),
        ("HTTP://Example.org:8080", "web", "http://example.org:8080"),
        ("tool://Search/1", "tool", "tool://search"),
        ("doc://d", "document", None),
        ("user://u", "user_statement", None),
    ],
)
def test_the_partition_of_an_origin(origin: str, kind: str, partition: str | None) -> None:
    assert origin_partition(origin, kind) == partition
