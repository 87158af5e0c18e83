"""Requests and answers of calls as pydantic models, read off the methods of the client.

A request model has a field for every argument of the method, under the same name and with the
same default; what a method takes as `**fields` stands beside the others. An unknown field is
refused. Answers are the records of the client, written as JSON and read back as themselves.
"""

from __future__ import annotations

import inspect
import typing
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, create_model
from pydantic_core import PydanticSerializationError, to_json
from typing_extensions import TypedDict

from ...compiler.envelope.envelope import Envelope
from ...compiler.trace.manifest import Manifest
from ...schema.entity import Review
from ...schema.errors import InvalidInput
from ...schema.principal import Scope
from ...schema.write import Moment, Write, WriteFields
from ..compilation.compile import RequestFields
from ..compilation.recompile import RequestTerms
from ..reading.envelopes import StoredEnvelope
from ..reading.view import EntityLike
from ..writing.vocabulary import SlotFields
from .table import Call

_BASE64 = "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"


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


_StatedMoment = Annotated[Moment, BeforeValidator(_no_number)]
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
    "ActionStatus": str,
    "GraphForm": str,
    "Remembered": str,
    "ReviewKind": str,
    "ReviewStatus": str,
}
"""What the annotations of methods mean at the edge."""

_CONFIG = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

_VIEW_FIELDS: dict[str, Any] = {
    "valid": (_StatedMoment, Field(None, description="True when; now by default.")),
    "tx": (_StatedMoment, Field(None, description="As known when; now by default.")),
}


@lru_cache(maxsize=128)
def request_model(call: Call) -> type[BaseModel]:
    """The model of a call's arguments."""
    fields: dict[str, Any] = dict(_VIEW_FIELDS) if call.part == "view" else {}
    if not isinstance(call.function, property):
        fields |= _arguments(call)

    return create_model(_title(call.name), __config__=_CONFIG, **fields)


def _arguments(call: Call) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    hints = _hints(call.function)

    for name, parameter in list(inspect.signature(call.function).parameters.items())[1:]:
        if parameter.kind is parameter.VAR_KEYWORD:
            (terms,) = typing.get_args(hints[name])
            field_kinds = typing.get_type_hints(terms)
            # Left out is not the same as null: the method's own default holds then.
            for field, kind in field_kinds.items():
                arguments[field] = (_StatedMoment if kind == Moment else kind, Field(None))
        else:
            # The defaults of the method are those of the wire, so that a client need not know them.
            is_required = parameter.default is parameter.empty
            arguments[name] = (hints[name], ... if is_required else parameter.default)

    return arguments


def _hints(function: Any) -> dict[str, Any]:
    names = {**vars(inspect.getmodule(function)), **_NAMES}
    # The types of a method are imported for checkers alone, so their names are looked up here.
    annotations = {k: v for k, v in function.__annotations__.items() if k != "return"}
    holder = type("Annotations", (), {"__annotations__": annotations})
    return typing.get_type_hints(holder, globalns=names, localns=names, include_extras=True)


def _title(name: str) -> str:
    words = name.replace(".", "_").split("_")
    return "".join(word.title() for word in words) + "Request"


@lru_cache(maxsize=128)
def answer_adapter(call: Call) -> TypeAdapter[Any]:
    """What writes and reads the answer of a call."""
    return TypeAdapter(call.answer, config=_JSON_BYTES if call.answer is bytes else None)


_JSON_BYTES = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")


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
