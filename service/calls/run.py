"""Run a row of the table of calls: its request and answer as pydantic models and as JSON.

A request model has a field for every argument of the client's method, with the same name and
default; the `**fields` of a method are fields as well. An unknown field is refused. Answers are the
records of the client, written as JSON and read back as themselves. Problems of a field are reported
in our own words; a kind of problem that the table does not list keeps pydantic's.
"""

from __future__ import annotations

import inspect
import typing
from base64 import b64decode, b64encode
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Final, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    create_model,
)
from pydantic_core import PydanticSerializationError, to_json
from typing_extensions import TypedDict

from ...compiler.envelope.envelope import Envelope
from ...compiler.trace.manifest import Manifest
from ...schema.entity import Review
from ...schema.errors import InvalidInput, TenureError, did_you_mean
from ...schema.principal import Scope
from ...schema.write import Moment, Write
from ..backend.words import CLOSED_LISTS, WriteFields
from ..client.memory import Memory
from ..compilation.compile import RequestFields
from ..compilation.recompile import RequestTerms
from ..reading.envelopes import StoredEnvelope
from ..reading.view import EntityLike, View
from ..writing.vocabulary import SlotFields
from .columns import request_words
from .table import Call, EnvelopeRecord, PointInTime

_BASE64 = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"

_JSON_BYTES = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

_MISSING: Final = "is missing; state it"
_WHOLE_NUMBER: Final = "must be a whole number"
_NUMBER: Final = "must be a number"
_TRUTH: Final = "must be true or false"
_TEXT: Final = "must be a text"
_LIST: Final = "must be a list"
_OBJECT: Final = "must be an object with names and values"
_ID: Final = "must be an id: 32 hexadecimal digits in groups"

_PLACE_LENGTH: Final = 300
"""Characters of a field's name in a refusal."""


class BinaryContent(TypedDict):
    """Bytes on their way through JSON."""

    base64: Annotated[str, Field(pattern=_BASE64)]


def _no_truth_value(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("true and false are no numbers")
    return value


def _no_number(value: object) -> object:
    if isinstance(value, int | float):
        raise ValueError("a number is no time; write 2026-06-06T12:00:00Z")
    return value


_StatedMoment = Annotated[str | datetime | None, BeforeValidator(_no_number)]
"""A moment at the edge: a number would be taken for seconds since 1970."""

_NAMES: dict[str, Any] = {
    "Any": Any,
    "Envelope": str,  # an envelope travels as its manifest, or as its id
    "Iterable": Sequence,  # a request is read whole
    "Manifest": str,
    "Mapping": Mapping,
    "Moment": _StatedMoment,
    "Path": Path,
    "RequestTerms": RequestTerms,
    "RequestFields": RequestFields,
    "Review": Review,
    "Scope": Scope,
    "Sequence": Sequence,
    "SlotFields": SlotFields,
    "StatedMentions": Sequence[tuple[int, int, EntityLike]],
    "StoredEnvelope": str,
    "EntityLike": EntityLike,
    "Write": Write,
    "bytes": BinaryContent,
    "int": Annotated[int, BeforeValidator(_no_truth_value)],
    "WriteFields": WriteFields,
    # Closed lists of words: the call itself refuses others, and says which there are.
    **dict.fromkeys(CLOSED_LISTS, str),
}
"""What the annotations of methods mean at the edge."""

_CONFIG = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

_VIEW_FIELDS: dict[str, Any] = {
    name: (_StatedMoment, Field(None, description=request_words("view", name)))
    for name in PointInTime._fields
}


@lru_cache(maxsize=128)
def request_model(call: Call) -> type[BaseModel]:
    """The model of a call's arguments."""
    fields: dict[str, Any] = dict(_VIEW_FIELDS) if call.part == "view" else {}
    if not isinstance(call.function, property):
        fields |= _arguments(call)

    title = call.name.replace(".", "_").title().replace("_", "")
    return create_model(f"{title}Request", __config__=_CONFIG, **fields)


def _arguments(call: Call) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    hints = _hints(call.function)

    for name, parameter in list(inspect.signature(call.function).parameters.items())[1:]:
        if parameter.kind is parameter.VAR_KEYWORD:
            (terms,) = typing.get_args(hints[name])
            field_kinds = _hints(terms)
            # Left out is not the same as null: the method's own default holds then.
            for field, kind in field_kinds.items():
                words = request_words(call.name, field) or None
                stated_kind = _StatedMoment if kind == Moment else kind
                arguments[field] = (stated_kind, Field(None, description=words))
        else:
            # The defaults of the method are those of the wire, so that a client need not know them.
            is_required = parameter.default is parameter.empty
            words = request_words(call.name, name) or None
            default = ... if is_required else parameter.default
            arguments[name] = (hints[name], Field(default, description=words))

    return arguments


def _hints(function: Any) -> dict[str, Any]:
    names = {**vars(inspect.getmodule(function)), **_NAMES}
    # The types of a method are imported for checkers alone, so their names are looked up here. A
    # reference of a typed dict keeps what another module has made of it, so its name is taken.
    annotations: dict[str, Any] = {}
    for name, kind in function.__annotations__.items():
        if name != "return":
            annotations[name] = getattr(kind, "__forward_arg__", kind)
    holder = type("Annotations", (), {"__annotations__": annotations})
    return typing.get_type_hints(holder, globalns=names, localns=names, include_extras=True)


@lru_cache(maxsize=128)
def answer_adapter(call: Call) -> TypeAdapter[Any]:
    """What writes and reads the answer of a call."""
    return TypeAdapter(call.answer, config=_JSON_BYTES if call.answer is bytes else None)


def arguments_of(call: Call, request: BaseModel) -> dict[str, Any]:
    """The arguments that a request states, as the method takes them."""
    arguments: dict[str, Any] = {}
    # What was not stated is not passed on: the method's own default holds, also one made later.
    for name in request.model_fields_set:
        value = getattr(request, name)
        arguments[name] = _argument(value) if name == "data" else value
    return arguments


def _argument(value: Any) -> Any:
    """The bytes of a binary content; a text as it is."""
    if isinstance(value, str):
        return value
    content = cast("BinaryContent", value)
    return b64decode(content["base64"], validate=True)


def request_json(call: Call, arguments: Mapping[str, Any]) -> bytes:
    """The arguments of a call as the client sends them.

    Raises:
        InvalidInput: `bad_request` for a value that JSON cannot hold.
    """
    plain = {name: _sendable(value) for name, value in arguments.items()}
    try:
        return to_json(plain)
    except PydanticSerializationError as error:
        raise InvalidInput(f"{call.name}: {error}", code="bad_request") from error


def _sendable(value: Any) -> Any:
    # The server compiled it and has it still: its id is enough, and its text may be a megabyte.
    if isinstance(value, Envelope | StoredEnvelope):
        return value.envelope_id
    if isinstance(value, Manifest):
        return value.to_json()
    if isinstance(value, bytes):
        return BinaryContent(base64=b64encode(value).decode())
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        return cast("object", value)
    return [_sendable(item) for item in cast("Iterable[object]", value)]


_SENTENCES: Final[Mapping[str, str]] = {
    "missing": _MISSING,
    "missing_argument": _MISSING,
    "missing_keyword_only_argument": _MISSING,
    "string_type": _TEXT,
    "string_unicode": "must be a text without lone surrogates",
    "string_too_long": "takes at most {max_length} characters",
    "string_too_short": "needs {min_length} or more characters",
    "int_type": _WHOLE_NUMBER,
    "int_parsing": _WHOLE_NUMBER,
    "int_parsing_size": "must be a whole number of fewer digits",
    "int_from_float": _WHOLE_NUMBER,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": "must be a finite number",
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be at most {le}",
    "bool_type": _TRUTH,
    "bool_parsing": _TRUTH,
    "too_short": "needs {min_length} or more entries",
    "too_long": "takes at most {max_length} entries",
    "list_type": _LIST,
    "tuple_type": _LIST,
    "set_type": _LIST,
    "frozen_set_type": _LIST,
    "iterable_type": _LIST,
    "dict_type": _OBJECT,
    "mapping_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "dataclass_type": _OBJECT,
    "enum": "must be {expected}",
    "literal_error": "must be {expected}",
    "none_required": "must be left out",
    "uuid_type": _ID,
    "uuid_parsing": _ID,
}
_UNKNOWN: Final = frozenset({"extra_forbidden", "unexpected_keyword_argument"})


def field_problem(problem: Mapping[str, Any], known_fields: Collection[str] = ()) -> str:
    """What one entry of pydantic's errors says of its field, to come after the field's name.

    >>> field_problem({"type": "missing", "loc": ("slot",), "msg": "Field required"})
    'is missing; state it'
    """
    kind = problem["type"]
    if kind in _UNKNOWN:
        advice = did_you_mean(problem["loc"][-1], known_fields) if known_fields else "leave it out"
        return f"is no field here; {advice}"

    if kind == "value_error":
        # A check of ours, whose sentence pydantic puts two words before.
        return str(problem["ctx"]["error"])

    sentence = _SENTENCES.get(kind, "")
    return sentence.format(**problem.get("ctx", {})) if sentence else str(problem["msg"])


class QueryTexts(dict[str, Any]):
    """Arguments of which all are texts, as a query has them: `true` and `5` are read as such."""


def run(memory: Memory, call: Call, body: Mapping[str, Any]) -> Any:
    """The answer of a call with a plain request, as a record.

    Raises:
        InvalidInput: `bad_request` for a field that is missing, unknown or of another type.
        TenureError: whatever the call refuses with.
    """
    return _answer(_result(memory, call, stated_arguments(call, body)))


def stated_arguments(call: Call, body: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments that a plain request states, as the method takes them.

    Raises:
        InvalidInput: `bad_request`.
    """
    try:
        if isinstance(body, QueryTexts):
            request = request_model(call).model_validate(body)
        else:
            # As JSON: its times are texts and its tuples lists, and no number is a truth value.
            request = request_model(call).model_validate_json(to_json(body), strict=True)
    except ValidationError as error:
        raise _refusal(error, request_model(call).model_fields) from error
    except PydanticSerializationError as error:
        raise InvalidInput("a text must be without lone surrogates", code="bad_request") from error

    return arguments_of(call, request)


def run_json(memory: Memory, call: Call, body: Mapping[str, Any]) -> bytes:
    """The answer of a call as JSON."""
    return answer_json(call, run(memory, call, body))


def answer_json(call: Call, answer: object) -> bytes:
    """An answer as JSON; frozen mappings become objects."""
    return answer_adapter(call).dump_json(answer, fallback=plain, warnings=False)


def plain(value: Any) -> Any:
    """What JSON has no word for: a frozen mapping as an object, all else as its text."""
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else str(value)


def _result(memory: Memory, call: Call, arguments: dict[str, Any]) -> Any:
    if isinstance(call.function, property):
        return getattr(memory, call.method)
    # An envelope travels as its id or manifest, and the method takes the envelope itself.
    if call.name == "rehydrate" and arguments.get("envelope") is not None:
        arguments["envelope"] = memory.replay(arguments["envelope"])

    # A view is pinned for this call alone; the client repeats the point that it was told.
    target: Any = memory
    if call.part == "view":
        target = memory.as_of(arguments.pop("valid", None), arguments.pop("tx", None))
    elif call.part:
        target = getattr(memory, call.part)

    return getattr(target, call.method)(**arguments)


def _answer(value: Any) -> Any:
    if isinstance(value, Envelope):
        return EnvelopeRecord.from_envelope(value)
    return PointInTime(value.valid, value.tx) if isinstance(value, View) else value


def _refusal(error: ValidationError, known_fields: Collection[str]) -> TenureError:
    """The first thing wrong with a request, and where; a record's own refusal as it is."""
    # One at a time, as the client itself refuses: the next may only follow from the first.
    first = error.errors()[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, TenureError):
        return cause

    # A name that came in may be as long as the whole body.
    place = ".".join(map(str, first["loc"]))[:_PLACE_LENGTH]
    # The names of the call are no advice for a field inside of another.
    sentence = field_problem(first, known_fields if len(first["loc"]) == 1 else ())
    return InvalidInput(f"{place}: {sentence}", code="bad_request", field=place)
