"""Arguments of public calls: each is of the kind that its annotation states, or refused by code.

A caller in another language, a model or a form may pass anything at all. What a call states in
its signature is checked here, once for all calls, before the call begins; what a value means (is it
a known slot, a day, an entity) is for the part that reads it. Checklist C-164.

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
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, ParamSpec, TypeVar, cast

from ...schema.entity import EntityRef
from ...schema.errors import InvalidInput, unknown
from ...schema.limits import INTEGER_MAX, check_text

_Class = TypeVar("_Class", bound=type)
_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")


class Kind(NamedTuple):
    """What an annotation takes."""

    types: tuple[type, ...]
    wording: str
    member: Kind | None = None
    """What stands in a list; of what comes one by one, the call reads the members itself."""
    lookalikes: tuple[type, ...] = ()
    """Types that are of `types` too, and never meant."""
    records: tuple[str, ...] = ()
    """Names of record classes that are taken too; importing the classes would cost a start."""


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
_USAGE: Final = Kind((), "a SessionUsage", records=("SessionUsage",))
_LISTENER: Final = Kind((cast(type, Callable),), "a function that takes a notice")
_COUNT_WATCH: Final = Kind((cast(type, Callable),), "a function that takes a number")
_MESSAGE: Final = Kind((str, Mapping), "a text or a message with a role and content")
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
    "SessionUsage": _USAGE,
    "StatedMentions": _LIST,
    "ActionStatus": _TEXT,
    "GraphForm": _TEXT,
    "Remembered": _TEXT,
    "ReviewKind": _TEXT,
    "ReviewStatus": _TEXT,
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

READ_BY_THE_CALL: Final = frozenset(
    {
        "Any",
        "FidelityJudge",
        "Mapping[str, Probe]",
        "Moment",
        "Originals",
        "Principal",
        "Progress",
        "Scope | Mapping[str, str]",
        "Subsystems",
        "Summariser",
        "Unpack[IngestFields]",
        "Unpack[RequestFields]",
        "Unpack[RequestTerms]",
        "Unpack[SessionTerms]",
        "Unpack[SlotFields]",
        "Unpack[WriteFields]",
        "Watch",
        "WindowPolicy | str | Path",
    }
)
"""Annotations whose values the call reads itself, with a refusal of its own."""

_HOT_PATHS: Final = frozenset({"write", "compile", "as_of", "bind"})
"""The paths that every step of an agent takes: they read all that they are given themselves."""


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
        InvalidInput: `bad_field`, `unstorable_text`, `out_of_range`.
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
        check_text(value, name)
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
            is_keyword = parameter.kind is inspect.Parameter.KEYWORD_ONLY
            place = None if is_keyword else position
            parameters.append(_Parameter(parameter.name, ARGUMENTS[bare], is_optional, place))

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
