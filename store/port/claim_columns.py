"""The columns of a stored claim, written down once for both stores.

From this table come the lists of columns in SQL and in Cypher, what a write binds, and what a
read makes of a line. A new column is a row here, its field in `schema.claim`, and a migration
that adds it to the tables of existing stores.

Encoders and decoders are made once, at import. A decoder sets the slots of a new record itself:
a frozen dataclass puts each field past its own lock, which costs a compile that reads thousands
of claims more than the columns do. So it makes no record that checks its fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import lru_cache
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, Final, LiteralString, TypeVar

from ...schema.claim import Authorship
from ...schema.interval import Interval
from ...schema.layers import DecayRule
from ...schema.principal import EVERYONE_TAG, Scope
from ...schema.values import NO_VALUE_KEY
from ...schema.vocabulary import (
    Authority,
    Classification,
    ObjectType,
    Op,
    RetirementRule,
    Sensitivity,
    StateLayer,
)

Line = Sequence[Any]
"""The values of some columns, in order."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ColumnForm:
    """How the values of a column are stored; what is left out is stored as it is."""

    encode: Callable[[Any], Any] | None = None
    decode: Callable[[Any], Any] | None = None
    listed: bool = False
    """A list of texts; a store that has no lists keeps it as JSON."""
    absent: object = None
    """What a line that may not show the column says instead."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of both stores."""

    name: LiteralString
    attribute: str
    """Its path from an `Assertion`. Columns that share one are the parts of its record."""
    form: ColumnForm = ColumnForm()
    table: LiteralString = "c"
    """The alias of its table in the embedded store; the graph has one node for them all."""
    same_as: LiteralString = ""
    """The column whose value it nearly always has: a line that lacks this one says the same."""


def _members(kind: type[StrEnum]) -> ColumnForm:
    return ColumnForm(attrgetter("value"), {member.value: member for member in kind}.__getitem__)


def _part(name: str) -> ColumnForm:
    """The form of a column that holds one field of an optional record."""
    return ColumnForm(lambda record: None if record is None else getattr(record, name))


@lru_cache(maxsize=1024)
def _decay_rule(half_life_days: float | None, minimum_threshold: float | None) -> DecayRule | None:
    if half_life_days is None:
        return None
    # The graph keeps the kind of number that a property was written with, and a rule has floats.
    return DecayRule(float(half_life_days), float(minimum_threshold or 0))


@lru_cache(maxsize=4096)
def _authorship(user: str | None, session: str | None, directs: object) -> Authorship:
    return Authorship(user, session, bool(directs))


_CLASSES: Final = tuple(Classification)
_SCOPE: Final = ColumnForm(attrgetter("scope_id"), lru_cache(maxsize=4096)(Scope.parse))
_LEVEL: Final = ColumnForm(int, {int(level): level for level in Authority}.__getitem__)
# A line that lacks a flag says no, one that lacks a list none.
_FLAG: Final = ColumnForm(bool, bool)
_WORDS: Final = ColumnForm(list, lambda words: tuple(words or ()), listed=True)
_SENSITIVITY: Final = ColumnForm(
    lambda members: [member.value for member in members],
    lambda words: tuple(map(Sensitivity, words or ())),
    listed=True,
)
_VALUE_KEY: Final = ColumnForm(decode=lambda key: key or NO_VALUE_KEY, absent=NO_VALUE_KEY)

CLAIM_COLUMNS: Final = (
    Column("object_id", "claim.object_id"),
    Column("slot_key", "claim.slot_key", table="s"),
    Column("op", "claim.op", _members(Op)),
    Column("valid_from", "claim.interval", ColumnForm(attrgetter("start_us"))),
    Column("valid_until", "claim.interval", ColumnForm(attrgetter("end_us"))),
    Column("since_us", "claim.since_us", same_as="valid_from"),
    Column("level", "claim.level"),
    Column("source_authority", "claim.source_authority"),
    Column("confidence", "claim.confidence"),
    Column("tx", "claim.tx"),
    Column("ordinal", "claim.ordinal"),
    Column("target", "claim.target"),
    Column("quarantine", "quarantine"),
    Column("scope_id", "details.scope", _SCOPE),
    Column("slot", "details.slot"),
    Column("subject_id", "details.subject_id"),
    Column("authority_level", "details.authority_level", _LEVEL),
    Column("source_origin", "details.source_origin"),
    Column("source_kind", "details.source_kind"),
    Column("object_type", "details.object_type", _members(ObjectType)),
    Column("layer", "details.layer", _members(StateLayer)),
    Column("applicable_task_types", "details.applicable_task_types", _WORDS),
    Column("sensitivity", "details.sensitivity", _SENSITIVITY),
    Column("half_life_days", "details.decay_rule", _part("half_life_days")),
    Column("minimum_threshold", "details.decay_rule", _part("minimum_threshold")),
    Column("retirement_rule", "details.retirement_rule", _members(RetirementRule)),
    Column("update_path", "details.update_path", same_as="source_origin"),
    Column("derived_from", "details.derived_from", _WORDS),
    Column("origins", "details.origins", _WORDS),
    Column("planned", "details.planned", _FLAG),
    Column("actor", "details.actor"),
    Column("resolved_via", "details.resolved_via"),
    Column("writer_user", "details.authorship", ColumnForm(attrgetter("user"))),
    Column("writer_session", "details.authorship", ColumnForm(attrgetter("session"))),
    Column("directs", "details.authorship", ColumnForm(attrgetter("directs"))),
    Column("certain_us", "details.certain_us"),
)
"""What a reader of the scope may know of every claim."""

SECRET_COLUMNS: Final = (
    Column("value_entity_id", "details.value_entity_id"),
    Column("value_key", "claim.value_key", _VALUE_KEY, "d"),
    Column("value_json", "content.value_json", table="d"),
    Column("text", "content.text", table="d"),
    Column("normalized_claim", "content.normalized_claim", table="d", same_as="text"),
    Column("why_it_matters", "content.why_it_matters", table="d"),
    Column("behavioral_implication", "content.behavioral_implication", table="d"),
    Column("enforcement", "content.enforcement", table="d"),
    Column("terms", "content.terms", table="d"),
)
"""What a claim says: never read for a caller who may not see it, and emptied by an erasure."""

PERMISSION_COLUMNS: Final = (
    Column(
        "class_rank", "permissions.classification",
        ColumnForm(attrgetter("rank"), _CLASSES.__getitem__), "p",
    ),
    Column(
        "allow", "permissions.allow",
        ColumnForm(lambda roles: list(roles or (EVERYONE_TAG,)), tuple, listed=True), "p",
    ),
    Column("deny", "permissions.deny", _WORDS, "p"),
)  # fmt: skip
"""Who may see it, today."""

_JOINS: Final[Mapping[str, Callable[..., object]]] = {
    "claim.interval": Interval,
    "details.decay_rule": _decay_rule,
    "details.authorship": _authorship,
}
"""What the columns of one attribute are joined to."""


def column_list(columns: Iterable[Column], alias: LiteralString | None = None) -> LiteralString:
    """The columns as SQL and Cypher list them, each of its own table or all of one alias.

    >>> column_list(PERMISSION_COLUMNS)
    'p.class_rank, p.allow, p.deny'
    """
    return ", ".join(
        (column.table if alias is None else alias) + "." + column.name for column in columns
    )


def columns_of(root: str) -> tuple[Column, ...]:
    """The columns that make the part `root` of an assertion."""
    columns = (*CLAIM_COLUMNS, *SECRET_COLUMNS)
    # With the dot, so that `claim` does not take what belongs to a part called `claimant`.
    return tuple(column for column in columns if column.attribute.startswith(f"{root}."))


def names_of(columns: Iterable[Column]) -> tuple[LiteralString, ...]:
    """The names of columns, in order."""
    return tuple(column.name for column in columns)


def encoder(columns: Sequence[Column], root: str = "") -> Callable[[Any], list[Any]]:
    """What writes two or more columns of an assertion, or of its part `root`, as a line."""
    # One `attrgetter` reads a whole line in C; only what differs from its field is converted
    # after it. Made once a table at import, so a write pays for neither.
    prefix = f"{root}." if root else ""
    values_of = attrgetter(*(column.attribute.removeprefix(prefix) for column in columns))

    conversions: list[tuple[int, Callable[[Any], Any]]] = []
    for position, column in enumerate(columns):
        if column.form.encode is not None:
            conversions.append((position, column.form.encode))

    def encode(record: Any) -> list[Any]:
        line = list(values_of(record))
        for position, convert in conversions:
            line[position] = convert(line[position])
        return line

    return encode


def decoder(
    record: type[T], root: str, columns: Iterable[Column], layout: Sequence[str]
) -> Callable[[Line], T]:
    """What makes the part `root` of an assertion from a line whose columns stand as in `layout`.

    Raises:
        TypeError: The columns are not exactly the record's fields, or the record checks itself.
    """
    parts = [column for column in columns if column.attribute.startswith(f"{root}.")]
    names = {column.attribute.removeprefix(f"{root}.") for column in parts}
    if names != {field.name for field in fields(record)} or hasattr(record, "__post_init__"):  # type: ignore[arg-type]
        raise TypeError(f"the columns of {root} do not make a {record.__name__}")

    # A record is filled through the descriptors of its slots, past the frozen `__init__`: a
    # compile decodes thousands. Hence the refusal above of records that check themselves.
    plain: list[tuple[Callable[[T, Any], None], int]] = []
    copies: list[tuple[Callable[[T, Any], None], int, int]] = []
    conversions: list[tuple[Callable[[T, Any], None], int, Callable[[Any], Any]]] = []
    joins: list[tuple[Callable[[T, Any], None], Callable[[Line], Any], Callable[..., Any]]] = []
    absent: list[tuple[Callable[[T, Any], None], Any]] = []

    for attribute, group in groupby(parts, key=attrgetter("attribute")):
        put = getattr(record, attribute.removeprefix(f"{root}.")).__set__
        first, *more_columns = group
        if first.name not in layout:
            absent.append((put, first.form.absent))
        elif more_columns:
            positions = [layout.index(column.name) for column in (first, *more_columns)]
            joins.append((put, itemgetter(*positions), _JOINS[attribute]))
        elif first.same_as:
            copies.append((put, layout.index(first.name), layout.index(first.same_as)))
        elif first.form.decode is not None:
            conversions.append((put, layout.index(first.name), first.form.decode))
        else:
            plain.append((put, layout.index(first.name)))

    def decode(line: Line) -> T:
        new_record = record.__new__(record)
        for put, position in plain:
            put(new_record, line[position])

        for put, position, original in copies:
            value = line[position]
            put(new_record, line[original] if value is None else value)

        for put, position, convert in conversions:
            put(new_record, convert(line[position]))

        for put, values_of, join in joins:
            put(new_record, join(*values_of(line)))

        for put, value in absent:
            put(new_record, value)

        return new_record

    return decode
