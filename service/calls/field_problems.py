"""What is wrong with a field of a request, in words of our own.

Requests are checked by pydantic, whose sentences speak of inputs and extras. A kind of problem
that the table does not know keeps them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from ...schema.errors import did_you_mean

_MISSING: Final = "is missing; state it"
_WHOLE_NUMBER: Final = "must be a whole number"
_NUMBER: Final = "must be a number"
_TRUTH: Final = "must be true or false"
_TEXT: Final = "must be a text"
_LIST: Final = "must be a list"
_OBJECT: Final = "must be an object with names and values"
_ID: Final = "must be an id: 32 hexadecimal digits in groups"

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
    """What one entry of pydantic's errors says of its field, to stand behind the field's name.

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
