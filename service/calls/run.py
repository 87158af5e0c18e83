"""Running a row of the table on a memory, for whoever received it over a wire."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, cast

from pydantic import ValidationError

from ...compiler.envelope.envelope import Envelope
from ...schema.errors import InvalidInput, TenureError
from ..client.memory import Memory
from ..reading.view import View
from .envelope import EnvelopeRecord
from .field_problems import field_problem
from .models import answer_adapter, arguments_of, request_model
from .table import Call, PointInTime

_PLACE_LENGTH: Final = 300
"""Characters of a field's name in a refusal."""


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
        request = request_model(call).model_validate(body)
    except ValidationError as error:
        raise _refusal(error, request_model(call).model_fields) from error

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
