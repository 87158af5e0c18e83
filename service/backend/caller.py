"""A store as one caller sees it, and the checked arguments of every public call.

A use-case is a frozen class that extends `Caller` and costs nothing to make. The principal is part
of the value, so no read and no write can be stated without one.

`argument_checks` checks for all calls what a signature states, because a caller in another
language, a model or a form may pass anything (C-164). The parsers check what a value means: times,
shares, entity names, scopes and enforcement. They take ISO 8601 text and aware datetimes, and
return integer microseconds. Naive times and sub-microsecond input are refused, never rounded: two
distinct instants must not become one. A date, a month and a year count in UTC; `day("2026-06-06",
"Europe/Berlin")` is a day elsewhere.

>>> @argument_checks
... class Greeter:
...     def greet(self, name: str, times: int = 1) -> str:
...         return f"hello {name}" * times
>>> Greeter().greet(5)  # doctest: +IGNORE_EXCEPTION_DETAIL
Traceback (most recent call last):
tenure.schema.errors.InvalidInput: name must be a text, not int
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields, replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Final, NamedTuple, ParamSpec, TypeVar, cast
from zoneinfo import ZoneInfo

from ...schema.entity import EntityRef, check_name
from ...schema.errors import InvalidInput, NotFound, TenureError, Unavailable, unknown
from ...schema.interval import INF_US, MIN_US
from ...schema.limits import INTEGER_MAX, LENGTHS, check_json, check_text
from ...schema.principal import EVERYONE_TAG, Scope
from ...schema.values import calendar_span, canonical_json, iso, micros
from ...schema.vocabulary import Classification, Enforcement, parse
from ...schema.write import Moment
from ..visual.zone import READING_ZONE
from .backend import Backend
from .words import CLOSED_LISTS

if TYPE_CHECKING:
    from ...schema.claim import Permissions, Version
    from ...schema.principal import Principal, Sight
    from ...schema.slots import Vocabulary
    from ...store.operations.change import Mandate
    from ...store.port.store import Names, Reader, WriteTx

FAR_US = INF_US - 1
"""The last instant there is: a read that is about no valid time in particular."""

STAMP_WAIT_S: Final = 2.0
_STAMP_PAUSE_S: Final = 0.02

_TOO_FINE: Final = re.compile(r"[.,]\d{6}\d*[1-9]")
_THROUGH_END: Final = frozenset({"valid_until", "until"})
"""Fields in which a date, month or year counts through its end."""
_LAST_INSTANT: Final = frozenset({"tx", "tx1", "tx2"})
"""Fields in which it means what was recorded by its end."""
_ASKED: Final = _LAST_INSTANT | {"valid", "since", "until"}
"""Fields of questions: their dates count in the zone in which the caller reads."""
_PART_OF_DATE: Final = re.compile(r"(?:year|month|day|hour|minute|second) ")
_OPEN_START: Final = "-infinity"
_OPEN_END: Final = "infinity"

Result = TypeVar("Result")

_Class = TypeVar("_Class", bound=type)
_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")

_HOT_PATHS: Final = frozenset({"write", "compile", "as_of", "bind"})
"""The paths that every step of an agent takes: they read all that they are given themselves."""
_QUESTIONS: Final = frozenset({"search", "mentions"})
"""Calls that look up every word of their text."""
_QUESTION_CHARS: Final = 20_000
_WORD_CHARS: Final = 64


class ClientPart:
    """What a caller is handed to ask questions of, here or over a wire."""

    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        # A dataclass keeps a `__repr__` of its own class: all fields of a part would be pages.
        cls.__repr__ = cls.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        """Which part it is, over which store, for whom; what else it holds its methods tell."""
        words = [repr(getattr(self, "_backend", None))]
        principal: Principal | None = getattr(self, "principal", None)
        if principal is not None:
            words += [f"tenant={principal.tenant!r:.40}", f"user={principal.user!r:.40}"]
        return f"{type(self).__name__}({', '.join(words)})"


@dataclass(frozen=True, slots=True)
class Caller(ClientPart):
    """A store, seen by one principal."""

    _backend: Backend
    principal: Principal

    @property
    def _tenant(self) -> str:
        """The tenant whose partition every call of this caller stays in."""
        return self.principal.tenant

    @property
    def _actor(self) -> str:
        """The name under which what this caller does is recorded."""
        return self.principal.user or "service"

    def _words_now(self) -> Vocabulary:
        """The tenant's newest vocabulary."""
        return self._backend.vocabulary(self._tenant)

    def _reading(self, names: Callable[[], Names] | None = None) -> AbstractContextManager[Reader]:
        """Open one consistent snapshot of the tenant; `names` are looked up on the way."""
        return self._backend.store.reading(self._tenant, names)

    def _rows_of(
        self, reader: Reader, object_ids: Sequence[str], *, sight: Sight | None = None
    ) -> tuple[Version, ...]:
        """Every row of these objects at any time, those that the caller may not see marked so."""
        if not object_ids:
            return ()

        # Opening a store loads nothing that only its reads need.
        from ...store.port.store import Ask, Point

        ask = Ask(objects=tuple(object_ids), heads=False, at_valid=False, at_tx=False)
        point = Point(FAR_US, reader.clock().last_us)
        return reader.versions(ask, sight=sight or self.principal.sight(), point=point).versions

    def _visible_rows(self, reader: Reader, object_id: str) -> list[Version]:
        """Every row of an object that the caller may see.

        Raises:
            NotFound: `unknown_object`, also for what the caller may not see.
        """
        visible = [row for row in self._rows_of(reader, [object_id]) if row.visible]
        if not visible:
            raise unknown_object(object_id)

        return visible

    def _transact(self, work: Callable[[WriteTx], Result | TenureError]) -> Result:
        """Run work with a write transaction to itself.

        Raises:
            TenureError: what the work refused with; nothing of it was written.
        """
        outcome: Result | TenureError = self._backend.queue(self._tenant).submit(work)
        if isinstance(outcome, TenureError):
            raise outcome

        return outcome

    def _operate(
        self, work: Callable[[WriteTx, Mandate], Result | TenureError], reason: str = ""
    ) -> Result:
        """Run an operation in a transaction of its own, under a new operation id."""
        from ...store.operations.change import Mandate

        check_reason(reason)
        operation_id = self._backend.ids()

        def operate(tx: WriteTx) -> Result | TenureError:
            # The time is that of its turn, not of the call: it may have waited for other writers.
            mandate = Mandate(
                operation_id=operation_id,
                actor=self._actor,
                now_us=self._backend.now_us(),
                reason=reason,
            )
            return work(tx, mandate)

        return self._transact(operate)


def backend_of(caller: Caller) -> Backend:
    """The store behind a caller, for the parts of the edge that are not handed to users."""
    return caller._backend  # pyright: ignore[reportPrivateUsage]


def last_stamp(caller: Caller) -> str:
    """The stamp of the tenant's last write: everything that an answer made before it may hold."""
    last_us, _ = backend_of(caller).newest(caller.principal.tenant)
    return iso(last_us) or _OPEN_START


def wait_for_stamp(caller: Caller, after: str) -> None:
    """Wait until this process reads the write of a stamp, which another process may have made.

    Snapshots that are opened afterwards hold it: on a cluster the question for the last stamp
    leaves its bookmark, with which every later session of the store begins.

    Raises:
        InvalidInput: `bad_time` and the like for a text that is no stamp.
        Unavailable: `not_yet` after `STAMP_WAIT_S`.
    """
    wanted_us, end_s = instant(after, field="after"), monotonic() + STAMP_WAIT_S
    while backend_of(caller).newest(caller.principal.tenant)[0] < wanted_us:
        if monotonic() > end_s:
            raise Unavailable(
                f"this process does not read the write of {after} yet; read again in a moment, "
                "or without `after`",
                code="not_yet",
            )
        sleep(_STAMP_PAUSE_S)


def unknown_object(object_id: str) -> NotFound:
    """The error of an object that is not there, or not for this caller: nobody can tell which."""
    return NotFound(
        f"there is no object {object_id}; take the id from a receipt or a search",
        code="unknown_object",
        object_id=object_id,
    )


def instant(value: Moment, *, field: str) -> int:
    """Return an instant as microseconds UTC; `-infinity` and `infinity` are the open ends.

    A date, a month and a year count in UTC, or in the zone after it, such as
    `1994-10[Europe/Berlin]`: by their first instant as a start, through their end as an end, and by
    their last instant as a transaction time. `recorded_at` takes dates, but neither months nor
    years.

    Raises:
        InvalidInput: `naive_datetime`, `sub_microsecond`, `bad_time`.
    """
    if value == _OPEN_START:
        return MIN_US
    if value == _OPEN_END:
        return INF_US
    if isinstance(value, date) and not isinstance(value, datetime):
        value = value.isoformat()
    if isinstance(value, str):
        instant_us = _calendar_instant(value, field)
        return micros(_iso_time(value, field)) if instant_us is None else instant_us

    if isinstance(value, datetime):
        if getattr(value, "nanosecond", 0) % 1000:
            raise _too_fine(str(value), field)
        return micros(value)

    raise InvalidInput(
        f"{field} is no time but {type(value).__name__}; give ISO 8601 text with a zone, such as "
        "2026-06-06T12:00:00Z, or an aware datetime",
        code="bad_time",
        field=field,
    )


def optional(value: Moment, *, field: str) -> int | None:
    """Return an instant, or None when none is given."""
    return None if value is None else instant(value, field=field)


def certain_from(start: Moment) -> int | None:
    """The end of the month or year that is stated as a start; None for any other start."""
    span = calendar_span(start) if isinstance(start, str) else None
    return _calendar_instant(str(start), "valid_until") if span and span.precision else None


def _iso_time(text: str, field: str) -> datetime:
    if _TOO_FINE.search(text):
        raise _too_fine(text, field)

    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        # Of Python's own words only those about a part of the date say anything to a reader.
        reason = f" ({error})" if _PART_OF_DATE.match(str(error)) else ""
        raise InvalidInput(
            f"{field} {text!r} is no ISO 8601 time{reason}; write it like 2026-06-06 or "
            "2026-06-06T12:00:00Z",
            code="bad_time",
            field=field,
        ) from error


def _calendar_instant(text: str, field: str) -> int | None:
    """The instant that a stated day, month or year means; None for any other text."""
    try:
        span = calendar_span(text)
        if span is None or (field == "recorded_at" and span.precision):
            return None
        stated_zone = ZoneInfo(span.zone) if span.zone else UTC
    except (ValueError, LookupError, OSError) as error:
        raise InvalidInput(
            f"{field} {text!r} is no date of the calendar ({error})",
            code="bad_time",
            field=field,
        ) from error

    is_asked = not span.zone and field in _ASKED
    zone = READING_ZONE.get() if is_asked else stated_zone
    if field not in _THROUGH_END | _LAST_INSTANT:
        return micros(local_time(span.first, zone, field, is_date=True))
    if span.end is None:
        return INF_US
    return micros(local_time(span.end, zone, field, is_date=True)) - (field in _LAST_INSTANT)


def local_time(
    local: datetime,
    zone: tzinfo,
    field: str,
    *,
    ambiguous: str | None = None,
    is_date: bool = False,
) -> datetime:
    """A local time in its zone; `ambiguous` is `first` or `second`, for one that is there twice.

    A date represents its first instant.

    Raises:
        InvalidInput: `bad_time` for a local time that the zone does not have, or has twice.
    """
    first, second = (local.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    if first.utcoffset() == second.utcoffset():
        return first

    # Read back: a time that clocks skip comes out as another one, on the far side of the gap.
    earlier_moment, later_moment = sorted(
        moment.astimezone(UTC).astimezone(zone) for moment in (first, second)
    )
    if earlier_moment.replace(tzinfo=None) == local:
        if is_date or ambiguous == "first":
            return earlier_moment
        if ambiguous == "second":
            return later_moment
        problem = 'is there twice; state ambiguous = "first" or "second", or write'
    else:
        if is_date and later_moment.date() == local.date():
            return later_moment
        problem = "is skipped by the clocks; write"
    raise InvalidInput(
        f"{field} {local.isoformat()} {problem} {earlier_moment.isoformat()} or "
        f"{later_moment.isoformat()}",
        code="bad_time",
        field=field,
    )


def _too_fine(text: str, field: str) -> InvalidInput:
    return InvalidInput(
        f"{field} {text!r} is finer than a microsecond; tenure never rounds a time, "
        "so cut it to six digits yourself",
        code="sub_microsecond",
        field=field,
    )


def day(when: str | date, zone: str) -> tuple[datetime, datetime]:
    """Return a calendar day in a zone as [local midnight, next local midnight).

    >>> [m.isoformat() for m in day("2026-03-29", "Europe/Berlin")]
    ['2026-03-29T00:00:00+01:00', '2026-03-30T00:00:00+02:00']

    Raises:
        InvalidInput: `bad_time` for an unknown zone or a date that does not exist.
    """
    try:
        calendar_date = date.fromisoformat(when) if isinstance(when, str) else when
        tz = ZoneInfo(zone)
        midnight = datetime.combine(calendar_date, time(), tz)
        next_midnight = datetime.combine(calendar_date + timedelta(days=1), time(), tz)
    except (ValueError, LookupError, OverflowError, OSError) as error:
        raise InvalidInput(
            f"{when!r} in {zone!r} is no calendar day: {error}", code="bad_time"
        ) from error

    # By way of UTC: a midnight that the zone skips is the first moment after it.
    return midnight.astimezone(UTC).astimezone(tz), next_midnight.astimezone(UTC).astimezone(tz)


def scope_of(scope: Scope | Mapping[str, Any] | None) -> Scope | None:
    """A stated scope, None for none.

    Raises:
        InvalidInput: `bad_scope`, `secret_in_content`; what `Scope` refuses.
    """
    if scope is None:
        return None

    names = [item.name for item in fields(Scope)]
    if isinstance(scope, Mapping) and set(scope) <= {*names}:
        scope = Scope(**scope)
    if not isinstance(scope, Scope):
        raise InvalidInput(
            f"a scope has user, project and session, such as {{'user': 'ann'}}, not {scope!r:.80}",
            code="bad_scope",
        )

    for name in names:
        value = getattr(scope, name)
        if value is not None:
            check_secrets(value, f"the {name} of the scope")
    return scope


def check_reason(reason: str) -> None:
    """Refuse a reason that is no short text, or that holds a secret: it is kept for ever.

    Raises:
        InvalidInput: `bad_field`, `too_large`, `unstorable_text`, `secret_in_content`.
    """
    check_text(reason, "reason", most=LENGTHS["reason"])
    check_secrets(reason, "the reason")


def check_secrets(text: str, place: str) -> None:
    """Refuse a text with a key, token or password; the refusal never repeats it.

    Raises:
        InvalidInput: `secret_in_content`.
    """
    # Its patterns take longer to build than a store to open, and few calls state a text.
    from ...compiler.safety.credentials import find_credentials

    if find_credentials(text):
        raise InvalidInput(
            f"{place} holds a key, token or password; tenure never stores one. Remove it and try "
            "again",
            code="secret_in_content",
        )


def error_text(error: TenureError) -> str:
    """What a face says of an error: its message without the keys and tokens that it repeats."""
    from ...compiler.safety.credentials import masked_credentials

    return masked_credentials(str(error))[0]


def check_definition(definition: Mapping[str, Any]) -> None:
    """Refuse a definition that is too large or holds a secret: it is kept for ever.

    Raises:
        InvalidInput: `too_deep`, `too_large`, `out_of_range`, `unstorable_text`, `bad_field`,
            `secret_in_content`.
    """
    check_json(definition, "a definition")
    for field, value in definition.items():
        if isinstance(value, str):
            check_text(value, field, most=LENGTHS["reason"])
    try:
        text = canonical_json(definition)
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            f"a definition must be plain JSON: {error}", code="bad_field", field="definition"
        ) from error
    check_secrets(text, "the definition")


def share(value: object, field: str) -> float:
    """Return a number of 0 to 1."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    raise InvalidInput(f"{field} must be a number of 0 to 1", code="out_of_range", field=field)


def entity_ref(members: Mapping[str, Any]) -> EntityRef:
    """Return the reference of a mapping."""
    unknown = set(members) - {f.name for f in fields(EntityRef)}
    if unknown or "name" not in members:
        problem = f"got {sorted(map(str, members))}" if unknown else "state its name"
        raise InvalidInput(
            f"an entity has name, type, aliases and external_ids; {problem}", code="bad_entity"
        )

    return EntityRef(**members)


def mention(value: object) -> EntityRef | str:
    """Return what names an entity: a name, an id or a reference."""
    if isinstance(value, Mapping):
        value = entity_ref(cast("Mapping[str, Any]", value))
    if isinstance(value, EntityRef):
        return value.id or value
    if isinstance(value, str) and value.strip():
        check_name(value)
        return value

    raise InvalidInput(
        f"{value!r} names no entity; give a name, an id or an EntityRef",
        code="value_type_mismatch",
        value_type="entity",
    )


def spoken_name(entity: object) -> str:
    """Return the name by which a caller named an entity."""
    if isinstance(entity, EntityRef):
        return entity.name
    if isinstance(entity, Mapping):
        return str(cast("Mapping[str, Any]", entity).get("name", ""))

    return str(entity or "")


def enforcement(rule: Mapping[str, Any] | None) -> str | None:
    """Return the carrier of a hard constraint as canonical JSON."""
    if rule is None:
        return None
    if set(rule) - {"kind", "spec"} or "kind" not in rule:
        raise InvalidInput("enforcement has kind and spec", code="bad_enforcement")

    kind = parse(Enforcement, rule["kind"])
    try:
        spec = canonical_json(rule.get("spec") or {})
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(
            f"enforcement: spec is no JSON: {error}", code="bad_enforcement"
        ) from error

    from ...compiler.request.enforcement import check_enforcement

    check_enforcement(kind, spec)

    return canonical_json({"kind": kind.value, "spec": rule.get("spec")})


class Kind(NamedTuple):
    """What an annotation takes."""

    types: tuple[type, ...]
    wording: str
    member: Kind | None = None
    """What is in a list; of what comes one by one, the call reads the members itself."""
    lookalikes: tuple[type, ...] = ()
    """Types that are of `types` too, and never meant."""
    records: tuple[str, ...] = ()
    """Names of record classes that are taken too; importing the classes would cost a start."""
    limit: int | None = None
    """Characters of a text; None where the policy or the call measures it."""


# Objects of the providers' SDKs are pydantic models, and LangChain's messages too.
_SDK_RECORDS: Final = ("BaseModel", "SessionUsage", "Content", "CompletionUsage")

_TEXT: Final = Kind((str,), "a text")
_FLAG: Final = Kind((bool,), "true or false")
_INTEGER: Final = Kind((int,), "a whole number", lookalikes=(bool,))
_PLACE: Final = Kind((int, str), "a number or a text", lookalikes=(bool,))
_PATH: Final = Kind((str, Path), "a path")
_BYTES: Final = Kind((bytes, str), "bytes or a text")
_SUMMARISER: Final = Kind((object,), "a summariser or the name of a model")
_TEXTS: Final = Kind((list, tuple, set, frozenset), "a list of texts", member=_TEXT)
_RECORD: Final = Kind((Mapping,), "a mapping")
_LIST: Final = Kind((Iterable,), "a list", lookalikes=(str, bytes, Mapping))
_WRITE: Final = Kind((), "a Write", records=("Write",))
_RECEIPT: Final = Kind((), "a receipt of a write", records=("Receipt",))
_CASE: Final = Kind((), "a review", records=("Review",))
_ENTITY: Final = Kind((str, Mapping, EntityRef), "a name, an id or an EntityRef")
_ENVELOPE: Final = Kind((), "an envelope that compile returned", records=("Envelope",))
_REPLAYABLE: Final = Kind(
    (str, Mapping),
    "an envelope, its id or its manifest",
    records=("Envelope", "Manifest", "StoredEnvelope"),
)
_USAGE: Final = Kind((Mapping,), "a usage, as a provider reports it", records=_SDK_RECORDS)
_LISTENER: Final = Kind((cast(type, Callable),), "a function that takes a notice")
_COUNT_WATCH: Final = Kind((cast(type, Callable),), "a function that takes a number")
_MESSAGE: Final = Kind(
    (str, Mapping), "a text or a message with a role and content", records=_SDK_RECORDS
)
_REFUSAL: Final = Kind((str, BaseException), "an exception or the text of one")
_MESSAGES: Final = Kind((str, Sequence), "a text or a list of messages")

ARGUMENTS: Final[Mapping[str, Kind]] = {
    "str": _TEXT,
    "bool": _FLAG,
    "int": _INTEGER,
    "int | str": _PLACE,
    "Summariser | str": _SUMMARISER,
    "str | Path": _PATH,
    "bytes | str": _BYTES,
    "EntityLike": _ENTITY,
    "Callable[[int], None]": _COUNT_WATCH,
    "Envelope": _ENVELOPE,
    "Manifest | Envelope | StoredEnvelope | Mapping[str, Any] | str": _REPLAYABLE,
    "Listener": _LISTENER,
    "Message": _MESSAGE,
    "Replayable": _REPLAYABLE,
    "Usage": _USAGE,
    "str | BaseException": _REFUSAL,
    "Iterable[Message]": _LIST._replace(member=_MESSAGE),
    "StatedMentions": _LIST,
    **dict.fromkeys(CLOSED_LISTS, _TEXT._replace(limit=_WORD_CHARS)),
    "Sequence[SensitivityWord]": _TEXTS,
    "Sequence[Any]": _LIST,
    "Sequence[str]": _TEXTS,
    "Mapping[str, Any]": _RECORD,
    "Mapping[str, float]": _RECORD,
    "Sequence[Review]": _LIST._replace(member=_CASE),
    "Sequence[Sequence[str]]": _LIST._replace(member=_TEXTS),
    "Iterable[Mapping[str, Any]]": _LIST._replace(member=_RECORD),
    "Iterable[Receipt]": _LIST._replace(member=_RECEIPT),
    "Iterable[Write]": _LIST._replace(member=_WRITE),
    "Iterable[int | str]": _LIST._replace(member=_PLACE),
    "str | Sequence[Mapping[str, Any]]": _MESSAGES,
}
"""What is checked by its annotation; `… | None` takes None as well."""


class _Parameter(NamedTuple):
    name: str
    kind: Kind
    is_optional: bool
    position: int | None
    """Its place among the positional arguments, after `self`; None by keyword only."""


def argument_checks(cls: _Class) -> _Class:
    """Check the arguments of each public method of a class before the method begins."""
    for name, method in list(vars(cls).items()):
        if inspect.isfunction(method) and not name.startswith("_") and name not in _HOT_PATHS:
            parameters = _parameters(method)
            if parameters:
                setattr(cls, name, _checking(method, parameters))

    return cls


def check_field_names(schema: type, fields: Mapping[str, object], term: str) -> None:
    """Check that a call has no further field than the `TypedDict` that states them.

    Raises:
        InvalidInput: `unknown_vocabulary`.
    """
    for name in fields:
        if name not in schema.__annotations__:
            raise unknown(term, name, schema.__annotations__)


def check_fields(schema: type, fields: Mapping[str, object], term: str) -> None:
    """Check the further fields of a call, names and values, as their `TypedDict` states them.

    Raises:
        InvalidInput: `unknown_vocabulary`; what `check_argument` refuses.
    """
    check_field_names(schema, fields, term)
    annotations: dict[str, Any] = schema.__annotations__
    for name, value in fields.items():
        annotation = annotations[name]
        text = annotation if isinstance(annotation, str) else annotation.__forward_arg__
        bare, is_optional = _without_none(text)
        if bare in ARGUMENTS and (value is not None or not is_optional):
            check_argument(value, name, ARGUMENTS[bare])


def annotation_of(parameter: inspect.Parameter) -> tuple[str, bool]:
    """The annotation of a parameter without its `| None`, and whether it had one."""
    return _without_none(str(parameter.annotation))


def _without_none(annotation: str) -> tuple[str, bool]:
    bare = annotation.removesuffix(" | None")
    return bare, bare != annotation


def check_argument(value: object, name: str, kind: Kind) -> None:
    """Check one value against the kind that its call states.

    Raises:
        InvalidInput: `bad_field`, `too_large`, `unstorable_text`, `out_of_range`.
    """
    is_record = bool(kind.records) and any(
        base.__name__ in kind.records for base in type(value).__mro__
    )
    is_meant = is_record or (
        isinstance(value, kind.types) and not isinstance(value, kind.lookalikes)
    )
    if not is_meant:
        type_name = type(value).__name__
        raise InvalidInput(
            f"{name} must be {kind.wording}, not {type_name}", code="bad_field", field=name
        )

    if isinstance(value, str):
        check_text(value, name, most=kind.limit)
    elif isinstance(value, Path):
        check_text(str(value), name)
    elif isinstance(value, int) and abs(value) > INTEGER_MAX:
        raise InvalidInput(
            f"{name} is beyond the numbers that a store holds", code="out_of_range", field=name
        )
    elif kind.member is not None and isinstance(value, Collection):
        for member in cast("Collection[object]", value):
            check_argument(member, name, kind.member)


def _parameters(method: Callable[..., Any]) -> tuple[_Parameter, ...]:
    parameters: list[_Parameter] = []
    # The annotations stay texts: many of their types are imported by a type checker alone.
    for position, parameter in enumerate(list(inspect.signature(method).parameters.values())[1:]):
        bare, is_optional = annotation_of(parameter)
        if bare in ARGUMENTS:
            kind = ARGUMENTS[bare]
            if bare == "str":
                is_question = method.__name__ in _QUESTIONS
                limit = _QUESTION_CHARS if is_question else LENGTHS.get(parameter.name)
                kind = kind._replace(limit=limit)
            is_keyword = parameter.kind is inspect.Parameter.KEYWORD_ONLY
            place = None if is_keyword else position
            parameters.append(_Parameter(parameter.name, kind, is_optional, place))

    return tuple(parameters)


def _checking(
    method: Callable[_Arguments, _Answer], parameters: Sequence[_Parameter]
) -> Callable[_Arguments, _Answer]:
    @functools.wraps(method)
    def call(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Answer:
        for parameter in parameters:
            place = parameter.position
            if place is not None and place + 1 < len(args):
                value = args[place + 1]
            elif parameter.name in kwargs:
                value = kwargs[parameter.name]
            else:
                continue
            if value is not None or not parameter.is_optional:
                check_argument(value, parameter.name, parameter.kind)

        return method(*args, **kwargs)

    return call


def permissions_as_stated(
    permissions: Permissions,
    words: Vocabulary,
    classification: str | None,
    allow: Sequence[str] | None,
    deny: Sequence[str] | None,
) -> Permissions:
    """Permissions with what is stated of them; None leaves a part, and no role admits everyone.

    Raises:
        InvalidInput: `unknown_vocabulary`.
    """
    if classification is not None:
        permissions = replace(permissions, classification=parse(Classification, classification))
    if allow is not None:
        roles = tuple(sorted(words.check("role", tuple(allow))))
        permissions = replace(permissions, allow=roles or (EVERYONE_TAG,))
    if deny is not None:
        permissions = replace(permissions, deny=tuple(sorted(words.check("role", tuple(deny)))))
    return permissions
