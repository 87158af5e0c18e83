"""A store as one caller sees it: what every use-case of the edge begins with.

A use-case is a frozen class that extends `Caller` and costs nothing to make. Who asks is part of
the value, so no read and no write can be stated without a principal.

What a caller may write is read here as well: times, shares, names of entities, scopes and
enforcement. Each parser returns a checked value, or refuses with a sentence that says what to do.
ISO 8601 text and aware datetimes come in, integer microseconds go on. Naive times and
sub-microsecond input are refused, never rounded: two distinct instants must not become one. A
calendar date is a day only in a stated zone: `day("2026-06-06", "UTC")`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from ...schema.entity import EntityRef, check_name
from ...schema.errors import InvalidInput, NotFound, TenureError
from ...schema.interval import INF_US, MIN_US
from ...schema.limits import LENGTHS, check_text
from ...schema.principal import Scope
from ...schema.values import Value, canonical_json, micros
from ...schema.vocabulary import Enforcement, parse
from ...schema.write import Moment
from .backend import Backend

if TYPE_CHECKING:
    from ...schema.claim import Version
    from ...schema.principal import Principal, Sight
    from ...schema.slots import Vocabulary
    from ...store.operations.change import Mandate
    from ...store.port.store import Names, Reader, WriteTx

FAR_US = INF_US - 1
"""The last instant there is: a read that is about no valid time in particular."""

_TOO_FINE: Final = re.compile(r"[.,]\d{6}\d*[1-9]")
_DATE_ONLY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_PART_OF_DATE: Final = re.compile(r"(?:year|month|day|hour|minute|second) ")
_OPEN_START: Final = "-infinity"
_OPEN_END: Final = "infinity"

Result = TypeVar("Result")


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


def unknown_object(object_id: str) -> NotFound:
    """The error of an object that is not there, or not for this caller: nobody can tell which."""
    return NotFound(
        f"there is no object {object_id}; take the id from a receipt or a search",
        code="unknown_object",
        object_id=object_id,
    )


def instant(value: Moment, *, field: str) -> int:
    """Return an instant as microseconds UTC; `-infinity` and `infinity` are the open ends.

    Raises:
        InvalidInput: `naive_datetime`, `sub_microsecond`, `bad_time`.
    """
    if value == _OPEN_START:
        return MIN_US
    if value == _OPEN_END:
        return INF_US
    if isinstance(value, str):
        return micros(_iso_time(value, field))

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


def _iso_time(text: str, field: str) -> datetime:
    if _TOO_FINE.search(text):
        raise _too_fine(text, field)

    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        # Of Python's own words only those about a part of the date say anything to a reader.
        reason = f" ({error})" if _PART_OF_DATE.match(str(error)) else ""
        raise InvalidInput(
            f"{field} {text!r} is no ISO 8601 time{reason}; write it like 2026-06-06T12:00:00Z",
            code="bad_time",
            field=field,
        ) from error

    # A date that does not exist was refused above: no advice may hold one.
    if _DATE_ONLY.fullmatch(text):
        raise InvalidInput(
            f"{field} {text!r} is a calendar date, which is no instant until its zone is known; "
            f"write {text}T00:00:00Z, or with the offset of a zone {text}T00:00:00+01:00",
            code="naive_datetime",
            field=field,
        )
    return moment


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
    import pendulum

    try:
        date_of_year = date.fromisoformat(when) if isinstance(when, str) else when
        start = pendulum.datetime(date_of_year.year, date_of_year.month, date_of_year.day, tz=zone)
    except (ValueError, LookupError) as error:
        raise InvalidInput(
            f"{when!r} in {zone!r} is no calendar day: {error}", code="bad_time"
        ) from error

    return start, start.add(days=1)


def scope_of(stated: Scope | Mapping[str, Any] | None) -> Scope | None:
    """A stated scope, None for none.

    Raises:
        InvalidInput: `bad_scope`.
    """
    if stated is None or isinstance(stated, Scope):
        return stated

    names = {item.name for item in fields(Scope)}
    if not isinstance(stated, Mapping) or set(stated) - names:
        raise InvalidInput(
            f"a scope has user, project and session, such as {{'user': 'ann'}}, not {stated!r:.80}",
            code="bad_scope",
        )

    for name, value in stated.items():
        if value is not None:
            check_text(value, f"scope {name}", most=LENGTHS["scope"])

    return Scope(**stated)


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


def share(value: object, field: str) -> float:
    """Return a number of 0 to 1."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return float(value)
    raise InvalidInput(f"{field} must be a number of 0 to 1", code="out_of_range", field=field)


def entity_ref(members: Mapping[str, Any]) -> EntityRef:
    """Return the reference of a mapping."""
    unknown = set(members) - {f.name for f in fields(EntityRef)}
    if unknown or "name" not in members:
        raise InvalidInput(
            f"an entity has name, type, aliases and external_ids; got {sorted(map(str, members))}",
            code="bad_entity",
        )

    return EntityRef(**members)


def mention(value: object) -> EntityRef | str:
    """Return what names an entity: a name, an id or a reference."""
    if isinstance(value, Mapping):
        return entity_ref(cast("Mapping[str, Any]", value))
    if isinstance(value, EntityRef):
        return value
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


def shown_value(value: Value | None) -> str:
    """Return a value as it reads in a sentence."""
    if value is None:
        return "none"

    plain = value.plain
    return plain if isinstance(plain, str) else value.json


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
