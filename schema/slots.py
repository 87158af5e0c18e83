"""Slots and the other lists a tenant may extend: one frozen, numbered `Vocabulary`.

A slot says what a claim is about: its cardinality, value type, kind and precedence, and what an
object of it inherits if the write does not say. Definitions are an append-only list. The vocabulary
of a number is the built-in set plus the first so many definitions, so a manifest that pins the
number pins the words. Cardinality and value type are fixed from a slot's first use. A redefinition
of a built-in slot inherits what it does not state. The kinds of sources are such a list as well:
the scheme of a `source_origin` names its kind.

An unknown name gets suggestions: slots with a similar spelling, else slots whose name, description
or other words are close in meaning, because `works_for` is not a misspelt `employer`.
Checklist C-058.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final, Literal, Protocol

from .errors import InvalidInput, quoted, unknown
from .layers import DecayRule
from .records import FrozenDict, packaged_table, short_repr
from .terms import STOP_WORDS, stem
from .vocabulary import (
    Cardinality,
    ObjectType,
    Precedence,
    RetirementRule,
    Sensitivity,
    SlotKind,
    ValueType,
)

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,47}")
_SCHEME: Final = re.compile(r"[a-z][a-z0-9_.-]{0,47}")

ENTITY_TYPES: Final = tuple(
    "person organization team project document system tool role location product dataset "
    "event concept task tenant".split()
)
UNKNOWN_TYPE: Final = "unknown"
"""Allowed on a mention; compatible with every type."""

ROLES: Final = tuple(
    "owner admin steward auditor agent engineer analyst manager support hr finance legal "
    "security viewer".split()
)
TASK_TYPES: Final = (
    "code_generation",
    "analytical_reporting",
    "data_extraction",
    "system_orchestration",
    "conversation",
    "assistant",
)
RULE_TYPES: Final = frozenset(
    {
        ObjectType.PREFERENCE,
        ObjectType.ACTIONABLE_CONSTRAINT,
        ObjectType.POLICY_RULE,
        ObjectType.TOOL_SCHEMA,
    }
)
RULE_KINDS: Final = frozenset({SlotKind.PREFERENCE, SlotKind.DIRECTIVE})
"""Types and kinds of slots that tell others what to do."""
_FIXED_FIELDS: Final = ("cardinality", "value_type")
_END_OF_HOST: Final = re.compile(r"[/?#\\]")
"""What browsers take for the end of a host; a user before `@` is no part of it."""

_SPELT_ALIKE: Final = 0.75
"""Below this similarity of spelling a guess misleads: `salary` is not `allergy`."""

_MOST_NAMES: Final = 3

ActionStatus = Literal["open", "closed", "all"]
"""Which entries of the queue of actions."""

ReviewStatus = Literal["open", "unsure", "accepted", "rejected", "undone", "all"]
"""Which cases of the queue of reviews; `open` has undone ones, too."""

ReviewKind = Literal["blocking", "possible_same_as", "audit", "all"]
"""Cases that a write waits for, look-alikes that are suggested, samples of decided ones."""

Remembered = Literal["scope", "all", "no"]
"""Where a name goes on to mean what a steward decided."""

GraphForm = Literal["graphml", "json"]
"""In what an entity graph is written."""


@cache
def other_words_of_slots() -> Mapping[str, str]:
    """Other words that people have for a built-in slot, by its name."""
    return packaged_table(__package__, "slot_words.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """The definition of a slot."""

    __repr__ = short_repr

    name: str
    description: str
    cardinality: Cardinality = Cardinality.ONE
    value_type: ValueType = ValueType.STRING
    subject_types: tuple[str, ...] = ()
    """Entity types a subject may have; empty for any."""
    value_types: tuple[str, ...] = ()
    """Of a relation: entity types its value may have; empty for any."""
    kind: SlotKind = SlotKind.ATTRIBUTE
    precedence: Precedence = Precedence.AUTHORITY
    why_it_matters: str | None = None
    """The relevance condition an object inherits; None: the description."""
    applicable_task_types: tuple[str, ...] = ()
    instruction: tuple[tuple[str, str], ...] = ()
    """Templates by task type, `*` for any; `{value}` and `{slot}` placeholders."""
    sensitivity: tuple[Sensitivity, ...] = ()
    decay_rule: DecayRule | None = None
    retirement_rule: RetirementRule | None = None
    synonyms: tuple[str, ...] = ()
    """Other words by which a question asks for it; of two words or more, all must be in it."""
    limits: bool = False
    """Whether its values limit what may be answered to a person: an allergy, a diet."""
    constant: bool = False
    """Whether the value never changes: a second one is a conflict, whatever start is stated."""

    @property
    def many(self) -> bool:
        """Whether several values may be true together."""
        return self.cardinality is Cardinality.MANY

    @property
    def relates(self) -> bool:
        """Whether the value is an entity, which makes the slot a relation."""
        return self.value_type is ValueType.ENTITY

    def template(self, task_types: tuple[str, ...]) -> str | None:
        """The instruction template of the first task type that has one."""
        # A task type before its parent, both before the template for all.
        templates = dict(self.instruction)
        for task_type in (*task_types, "*"):
            if task_type in templates:
                return templates[task_type]
        return None


_LIMITING: Final = frozenset("allergy avoids diet dislikes health_condition medication".split())
_CONSTANT: Final = frozenset(("birthday", "birthplace", "founded"))
_VALUE_TYPES: Final = {
    **dict.fromkeys("manager partner child parent sibling friend".split(), ("person",)),
    "employer": ("organization",),
    "team": ("team",),
    "owner": ("person", "team", "organization"),
    "author": ("person", "organization"),
}


def _slots(names: str, subjects: str, kind: str, cardinality: str, flags: str) -> list[Slot]:
    # Slots that differ by their name alone are in one row of the table.
    value_type, precedence, description = flags.split(" ", 2)
    return [
        Slot(
            name=name,
            description=description.replace("{}", name.replace("_", " ")),
            cardinality=Cardinality(cardinality),
            value_type=ValueType(value_type),
            subject_types=() if subjects == "any" else tuple(subjects.split()),
            value_types=_VALUE_TYPES.get(name, ()),
            kind=SlotKind(kind),
            precedence=Precedence(precedence),
            limits=name in _LIMITING,
            constant=name in _CONSTANT,
        )
        for name in names.split()
    ]


_BUILT_IN_ROWS: Final = (
    ("title experience_level", "person", "attribute", "one", "string authority the person's {}"),
    ("specialty", "person", "attribute", "many", "string authority what the person specialises in"),
    ("employer", "person", "membership", "one", "entity source_rank who employs the person"),
    ("manager", "person", "hierarchy", "one", "entity source_rank who the person reports to"),
    ("team", "person", "membership", "many", "entity authority the team the person is in"),
    ("office", "person", "location", "one", "string authority the office they work from"),
    ("timezone", "person", "attribute", "one", "string authority the person's time zone"),
    ("email phone", "person organization", "contact", "many", "string source_rank {} of theirs"),
    ("skill language", "person", "attribute", "many", "string authority a {} the person has"),
    ("response_style response_length output_format code_style preferred_language", "person team",
     "preference", "one", "string authority the {} they want in answers"),
    ("full_name", "person", "attribute", "one", "string authority the person's full name"),
    ("birthday", "person", "attribute", "one", "partial_date authority the person's birthday"),
    ("birthplace", "person", "location", "one", "string authority where the person was born"),
    ("founded", "organization team", "attribute", "one", "string authority when it was founded"),
    ("home", "person", "location", "one", "string authority where the person lives"),
    ("diet", "person", "attribute", "one", "string authority the diet the person keeps"),
    ("avoids", "person", "attribute", "many", "string authority what they do not eat or drink"),
    ("allergy", "any", "attribute", "many", "string authority what they are allergic to"),
    ("health_condition", "any", "attribute", "many",
     "string authority a lasting illness or condition they have"),
    ("medication", "any", "attribute", "many", "string authority a medication they take"),
    ("vehicle", "person", "attribute", "many", "string authority a car or other vehicle of theirs"),
    ("partner", "person", "association", "one", "entity authority the person's partner"),
    ("child parent sibling friend pet", "person", "association", "many",
     "entity authority a {} of the person"),
    ("likes dislikes", "any", "preference", "many",
     "string authority what the person {}, as they said"),
    ("goal plan appointment", "person", "state", "many", "text authority the person's {}"),
    ("todo", "person", "state", "many", "text authority a task on the person's todo list"),
    ("answer_rule", "person team", "preference", "many",
     "text authority a rule that answers to them keep"),
    ("party", "person", "membership", "one", "string authority party affiliation"),
    ("seat", "person", "attribute", "one", "string authority the seat the person holds"),
    ("status version", "project system product document", "state", "one",
     "string source_rank the current {}"),
    ("checkpoint", "task", "state", "one", "json authority the {} of the task"),
    ("record", "document", "state", "one", "json authority what the {} of a program holds"),
    ("transcript", "document", "state", "many", "json authority a message of the {}, in order"),
    ("document_version", "document", "structure", "one",
     "json authority the outline of the document"),
    ("owner", "project system document dataset", "ownership", "one", "entity authority the owner"),
    ("part_of", "any", "hierarchy", "one", "entity authority what it is a part of"),
    ("depends_on uses", "project system tool", "dependency", "many",
     "entity authority what it {} to work"),
    ("deployed_in", "system", "location", "many", "string source_rank where it is deployed"),
    ("api_style primary_language framework database", "project system", "decision", "one",
     "string authority the {} that was decided on"),
    ("decision", "project team", "decision", "many", "text authority what was decided"),
    ("constraint policy", "project tenant system tool", "directive", "many",
     "text authority a {} that must be kept"),
    ("deadline", "project event", "attribute", "one", "instant authority when it is due"),
    ("occurs_at", "project event", "attribute", "one", "instant authority when it happens"),
    ("budget quota", "project tenant", "measurement", "one", "number authority the {} it has"),
    ("pricing_tier jurisdiction", "tenant organization person", "state", "one",
     "string source_rank the {} that applies"),
    ("author", "document", "authorship", "many", "entity authority who wrote it"),
    ("schema", "tool", "attribute", "one", "json authority the tool's input schema"),
    ("endpoint timeout_class", "tool", "attribute", "one", "string authority the tool's {}"),
    ("authorization_scope", "tool", "attribute", "many", "string authority what the tool may do"),
    ("assumes", "task project system", "belief", "many", "text authority what is assumed"),
    ("related_to", "any", "association", "many", "entity authority what it relates to"),
)  # fmt: skip

BUILT_IN_SLOTS: Final[Mapping[str, Slot]] = FrozenDict(
    {slot.name: slot for row in _BUILT_IN_ROWS for slot in _slots(*row)}
)
"""The slots that every tenant starts with."""

STRUCTURE_SLOTS: Final = frozenset(
    slot.name for slot in BUILT_IN_SLOTS.values() if slot.kind is SlotKind.STRUCTURE
)
"""The slots that hold how documents are built: found by their name alone, shown to no model."""


@dataclass(frozen=True, slots=True)
class TenantWord:
    """A tenant's own task type, role, entity type or source kind."""

    __repr__ = short_repr

    name: str
    description: str
    parent: str | None = None
    """Of a task type: the built-in type whose templates and defaults it takes."""


@dataclass(frozen=True, slots=True)
class SourceKind:
    """One row of the table of source kinds."""

    name: str
    schemes: tuple[str, ...]
    """URI schemes that stand for this kind, without `://`."""
    source_authority: float
    """Default trust, 0 to 1."""
    default_level: int | None
    """The strongest level a write of this kind takes when it states none; None: the ceiling."""
    rank: int
    """Place among the sources of a `source_rank` slot; 0 is the strongest."""
    granted: bool = False
    """Only a caller that is granted this kind may speak for it."""


BUILT_IN_KINDS: Final = tuple(
    SourceKind(*row)
    for row in (
        ("platform", ("system",), 1.0, None, 1, True),
        ("policy", ("policy",), 1.0, None, 1, True),
        ("workspace", ("workspace",), 0.9, 2, 1, True),
        ("system_of_record", ("record",), 0.95, 2, 0, True),
        ("user_statement", ("user", "chat"), 0.8, 2, 2, False),
        ("agent", ("agent",), 0.6, 3, 3, False),
        ("derived", ("tenure",), 0.5, 2, 3, False),
        ("document", ("doc", "file", "artifact", "s3", "email", "imap", "slack"), 0.7, 4, 4, False),
        ("tool", ("tool", "mcp"), 0.6, 4, 4, False),
        ("web", ("https", "http", "web", "rss", "ftp"), 0.4, 4, 5, False),
        ("model", ("model",), 0.3, 4, 6, False),
        ("other", (), 0.5, 4, 5, False),
    )
)
"""The kinds that every tenant knows; a lower rank is a source nearer to the fact."""

OTHER_KIND: Final = BUILT_IN_KINDS[-1]
"""What an unknown scheme is: the word of nobody, as weak as a page of the web."""

UNPROVEN: Final = replace(OTHER_KIND, default_level=2, rank=3)
"""A known kind that the caller was not granted: the caller's own word, and no more."""


def kind_of(origin: str, kinds: Mapping[str, SourceKind]) -> SourceKind:
    """The kind that the scheme of an origin names, `other` when none does.

    >>> kind_of("https://example.org", {k.name: k for k in BUILT_IN_KINDS}).name
    'web'
    """
    scheme, separator, _ = origin.partition("://")
    if separator:
        for kind in kinds.values():
            if scheme.lower() in kind.schemes:
                return kind

    return OTHER_KIND


def origin_partition(origin: str, kind: str) -> str | None:
    """The partition of a web or tool origin, None for any other kind (C-092).

    >>> origin_partition("https://Example.org/a/b?c", "web")
    'https://example.org'
    """
    if kind not in ("web", "tool"):
        return None
    scheme, _, path = origin.partition("://")
    host = _END_OF_HOST.split(path, maxsplit=1)[0].rpartition("@")[2]
    return f"{scheme.lower()}://{host.lower()}"


_BUILT_IN_SOURCES: Final[Mapping[str, SourceKind]] = FrozenDict(
    {kind.name: kind for kind in BUILT_IN_KINDS}
)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Every list of one tenant at one version."""

    __repr__ = short_repr

    version: int = 0
    """How many definitions it holds."""
    slots: Mapping[str, Slot] = field(default_factory=lambda: BUILT_IN_SLOTS)
    words: Mapping[str, Mapping[str, TenantWord]] = field(
        default_factory=dict[str, Mapping[str, TenantWord]]
    )
    """Tenant words by list: `task_type`, `role`, `entity_type`, `source_kind`."""

    def slot(self, name: str) -> Slot:
        """A slot by name.

        Raises:
            InvalidInput: `unknown_vocabulary`, with the nearest names.
        """
        try:
            return self.slots[name]
        except KeyError:
            # merged  # a table of words that no known name needs

            raise unknown_slot(name, self.slots) from None

    def values(self, vocabulary: str) -> tuple[str, ...]:
        """The words of a list, built-in ones first.

        Raises:
            InvalidInput: `unknown_vocabulary` for a list that does not exist.
        """
        if vocabulary not in _LISTS:
            raise unknown("vocabulary", vocabulary, _LISTS)
        return (*_LISTS[vocabulary], *self.words.get(vocabulary, {}))

    def check(self, vocabulary: str, words: tuple[str, ...]) -> tuple[str, ...]:
        """The words when the list knows each of them.

        Raises:
            InvalidInput: `unknown_vocabulary`.
        """
        known = self.values(vocabulary)
        for word in words:
            if word not in known:
                raise unknown(vocabulary.replace("_", " "), word, known)
        return words

    def entity_type(self, name: str) -> str:
        """An entity type, `unknown` included, or refuse it."""
        return name if name == UNKNOWN_TYPE else self.check("entity_type", (name,))[0]

    def task_types(self, name: str) -> tuple[str, ...]:
        """A task type followed by its parent, if it has one.

        Raises:
            InvalidInput: `unknown_vocabulary`.
        """
        # Whoever knows other stores hands the question over first.
        if " " in name.strip():
            types = ", ".join(self.values("task_type"))
            raise InvalidInput(
                "the first argument of a compile is the type of the task, and the question is "
                f'`query`: compile("conversation", query=…); types: {types}',
                code="unknown_vocabulary",
            )
        self.check("task_type", (name,))
        word = self.words.get("task_type", {}).get(name)
        return (name, word.parent) if word and word.parent else (name,)

    @property
    def source_kinds(self) -> Mapping[str, SourceKind]:
        """The source kinds by name; a tenant's own kind has a scheme of its name."""
        own_words = self.words.get("source_kind")
        if not own_words:
            return _BUILT_IN_SOURCES

        kinds = dict(_BUILT_IN_SOURCES)
        for name in own_words:
            kinds[name] = SourceKind(name, (name.replace("_", "-"), name), 0.5, 2, 3)
        return kinds

    def define(self, vocabulary: str, word: TenantWord | Slot, *, used: bool = False) -> Vocabulary:
        """The vocabulary with one more definition; the same one when nothing changes.

        `used` tells that claims of the slot exist, so that cardinality and value type hold.

        Raises:
            InvalidInput: `bad_name`, `unknown_vocabulary`, `slot_in_use`.
        """
        # Names are in keys, URLs and prompts, so they need no quoting anywhere.
        if not _NAME.fullmatch(word.name):
            raise InvalidInput(
                f"{word.name!r} is no name: lower-case letters, digits and _, at most 48",
                code="bad_name",
            )

        if isinstance(word, Slot):
            return self._define_slot(word, used=used)
        if vocabulary not in _LISTS:
            raise unknown("vocabulary", vocabulary, [*_LISTS, "slot"])
        # One level of inheritance is enough, and it cannot have cycles.
        if word.parent is not None and word.parent not in TASK_TYPES:
            raise unknown("parent task type", word.parent, TASK_TYPES)

        words = self.words.get(vocabulary, {})
        if word.name in _LISTS[vocabulary] or words.get(word.name) == word:
            return self

        vocabularies = {**self.words, vocabulary: {**words, word.name: word}}
        return replace(self, version=self.version + 1, words=vocabularies)

    def _define_slot(self, slot: Slot, *, used: bool) -> Vocabulary:
        known = self.slots.get(slot.name)
        if known == slot:
            return self

        # Words first: a slot that names a task type nobody defined would never apply.
        self.check("task_type", slot.applicable_task_types)

        for entity_type in slot.subject_types:
            self.entity_type(entity_type)

        # Stored values were keyed under the old type; changing it would make equal values differ.
        if used and known and any(getattr(known, f) != getattr(slot, f) for f in _FIXED_FIELDS):
            raise InvalidInput(
                f"slot {slot.name!r} is in use; its cardinality and value type are fixed. "
                "Define a slot of another name",
                code="slot_in_use",
                slot=slot.name,
            )

        return replace(self, version=self.version + 1, slots={**self.slots, slot.name: slot})


_LISTS: Final[Mapping[str, tuple[str, ...]]] = {
    "task_type": TASK_TYPES,
    "role": ROLES,
    "entity_type": ENTITY_TYPES,
    "source_kind": tuple(kind.name for kind in BUILT_IN_KINDS),
}

_COMPATIBLE: Final = frozenset(
    frozenset(pair)
    for pair in (
        ("system", "tool"),
        ("system", "product"),
        ("team", "organization"),
        ("document", "dataset"),
    )
)


def compatible(a: str, b: str) -> bool:
    """Whether two entity types may name one entity.

    >>> compatible("system", "tool"), compatible("person", "system")
    (True, False)
    """
    return a == b or UNKNOWN_TYPE in (a, b) or frozenset((a, b)) in _COMPATIBLE


def check_scheme(scheme: str) -> str:
    """An identifier scheme when its form is right.

    Raises:
        InvalidInput: `bad_name`.
    """
    if not _SCHEME.fullmatch(scheme):
        raise InvalidInput(
            f"{quoted(scheme)} is no identifier scheme: "
            "lower-case letters, digits, '_', '.' and '-'",
            code="bad_name",
        )

    return scheme


_TYPE_OF_KIND: Final = {
    SlotKind.PREFERENCE: ObjectType.PREFERENCE,
    SlotKind.DECISION: ObjectType.PROJECT_DECISION,
    SlotKind.DIRECTIVE: ObjectType.ACTIONABLE_CONSTRAINT,
    SlotKind.BELIEF: ObjectType.INFERRED_BELIEF,
}


def object_type_of(kind: SlotKind | None, level: int) -> ObjectType:
    """The object type of a write that states none.

    >>> object_type_of(None, 4).value
    'retrieved_passage'
    """
    # Text about nobody in particular: what was retrieved stays evidence, the rest is a fact.
    if kind is None:
        return ObjectType.RETRIEVED_PASSAGE if level == 4 else ObjectType.IDENTITY_FACT
    return _TYPE_OF_KIND.get(kind, ObjectType.IDENTITY_FACT)


class DescribedSlot(Protocol):
    """What has a description."""

    @property
    def description(self) -> str:
        """What it says, in words."""
        ...

    @property
    def synonyms(self) -> tuple[str, ...]:
        """Other words for it."""
        ...


def near_slots(name: str, slots: Mapping[str, DescribedSlot]) -> tuple[str, ...]:
    """The slots that an unknown name may mean, nearest first, at most three.

    >>> from tenure.schema.slots import BUILT_IN_SLOTS
    >>> near_slots("works_for", BUILT_IN_SLOTS)[0], near_slots("salary", BUILT_IN_SLOTS)
    ('employer', ())
    """
    stems = _stems(name)
    scores: dict[str, int] = {}
    weak_scores: dict[str, int] = {}

    for slot_name, slot in slots.items():
        other_words = " ".join((other_words_of_slots().get(slot_name, ""), *slot.synonyms))
        by_name = len(stems & _stems(f"{slot_name} {other_words}"))
        by_description = len(stems & _stems(slot.description))
        if by_name:
            # A word of the name says more than any number of words of the description.
            scores[slot_name] = 100 * by_name + by_description
        elif by_description:
            weak_scores[slot_name] = by_description

    scores = scores or weak_scores
    by_meaning = sorted(scores, key=lambda slot_name: (-scores[slot_name], slot_name))
    return tuple(dict.fromkeys([*spelt_alike(name, slots), *by_meaning]))[:_MOST_NAMES]


def spelt_alike(name: str, slots: Mapping[str, DescribedSlot]) -> list[str]:
    """The slots whose names are spelt nearly so, nearest first."""
    return difflib.get_close_matches(name, slots, n=_MOST_NAMES, cutoff=_SPELT_ALIKE)


def unknown_slot(name: str, slots: Mapping[str, DescribedSlot]) -> InvalidInput:
    """The `unknown_vocabulary` error of a slot: near ones, and how to list or define them."""
    neighbours = " or ".join(map(repr, near_slots(name, slots)))
    parts: list[str] = []
    if neighbours:
        parts.append(f"did you mean {neighbours}?")
    if not spelt_alike(name, slots):
        parts.append(
            "`tenure slots` (vocabulary.slots()) lists all; `tenure define slot NAME "
            "description=…` (vocabulary.define_slot()) makes a new one"
        )
    return InvalidInput(
        f"unknown slot {name!r}: {' '.join(parts)}",
        code="unknown_vocabulary",
        what="slot",
        word=name,
    )


def _stems(text: str) -> frozenset[str]:
    words = text.casefold().replace("_", " ").split()
    return frozenset(stem(word) for word in words if word not in STOP_WORDS)
