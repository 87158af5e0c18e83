"""The parts of a compile's request on the command line: its options, and the files of its lists.

A list comes from a file of JSON, or from standard input where the file is called `-`. What its
items must be is the request's own business: it names the one that it cannot read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, cast

import typer

from ...schema.documents import json_of
from ...schema.errors import InvalidInput
from .files import read_standard_input, read_text

_Texts = list[str] | None

Task = Annotated[str, typer.Option(help="A task type, such as code_generation.")]
Query = Annotated[str, typer.Option(help="What to look for in the memory.")]
UserRequest = Annotated[str, typer.Option("--request", help="What the user asks; verbatim.")]
Budget = Annotated[int, typer.Option("--budget", min=1, help="At most so many tokens.")]
Reserve = Annotated[
    int | None, typer.Option("--reserve", min=0, help="Tokens kept for the answer. [by the model]")
]
Goal = Annotated[str | None, typer.Option(help="What it is all for.")]
Step = Annotated[str | None, typer.Option(help="The step that is done now.")]
Acceptance = Annotated[_Texts, typer.Option(metavar="TEXT", help="When it is done; repeat it.")]
Constraints = Annotated[
    _Texts, typer.Option("--constraint", metavar="TEXT", help="What must hold; repeat it.")
]
Entities = Annotated[
    _Texts, typer.Option("--entity", metavar="NAME", help="Who or what it is about; repeat it.")
]
ForUser = Annotated[
    str | None, typer.Option("--for", metavar="USER", help="Whom it is for. [the caller's user]")
]
EvidenceFiles = Annotated[
    _Texts,
    typer.Option(
        "--evidence",
        metavar="FILE",
        help="A text, a picture, a recording, a film, or an artifact, as untrusted evidence; "
        "repeat it.",
    ),
]
Pins = Annotated[
    _Texts,
    typer.Option(
        "--pin",
        metavar="ID",
        help="An object, an artifact or a text that stands whatever the query finds; repeat it.",
    ),
]
Skills = Annotated[
    _Texts, typer.Option("--skill", metavar="TEXT", help="How to go about it; repeat it.")
]
Progress = Annotated[_Texts, typer.Option(metavar="TEXT", help="What is done so far; repeat it.")]
Lessons = Annotated[
    _Texts, typer.Option("--error", metavar="TEXT", help="What failed, and why; repeat it.")
]
ToolFile = Annotated[
    str | None,
    typer.Option(
        "--tools", metavar="FILE", help="What may be called: a JSON list; - reads standard input."
    ),
]
HistoryFile = Annotated[
    str | None,
    typer.Option(
        "--history",
        metavar="FILE",
        help="The turns so far: a JSON list of messages; - reads standard input.",
    ),
]
Hypothesis = Annotated[
    str, typer.Option(help="A made-up answer to search with, where the policy's hyde is on.")
]
Profile = Annotated[str, typer.Option(help="How the budget is divided, such as research.")]
Signals = Annotated[
    _Texts,
    typer.Option(
        "--signal",
        metavar="NAME=VALUE",
        help="What shifts the budget, such as risk_weight=high; repeat it.",
    ),
]

_STANDARD_INPUT: Final = "-"
_FORMS: Final[Mapping[str, str]] = {
    "tools": '[{"name": "find_flight", "description": "…", "input_schema": {…}}]',
    "history": '[{"role": "user", "content": "…"}, {"role": "assistant", "content": "…"}]',
}
"""What the file of a list holds, by the field of the request that it fills."""


def request_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """The request, by field, that the options of a command state under the names of its fields.

    Raises:
        InvalidInput: `bad_file`, for a file that holds no list; and what `read_text` raises.
    """
    from ..compilation.compile import RequestFields

    values = {name: value for name, value in options.items() if value is not None}
    files = {field: values[field] for field in _FORMS if field in values}
    if list(files.values()).count(_STANDARD_INPUT) > 1:
        names = " and ".join(f"--{field}" for field in files)
        raise typer.BadParameter(f"{names} cannot both read standard input; name a file for one")

    fields = {name: values[name] for name in RequestFields.__annotations__ if name in values}
    fields |= {field: _list_in(name, field) for field, name in files.items()}
    return fields | {"signals": _signals(values.get("signals", ()))}


def _list_in(name: str, field: str) -> Sequence[Any]:
    is_standard = name == _STANDARD_INPUT
    text = read_standard_input() if is_standard else read_text(Path(name))
    place = "standard input" if is_standard else name
    needs = f"--{field} takes a JSON list, such as {_FORMS[field]}"

    try:
        items: object = json_of(text, place, code="bad_file")
    except InvalidInput as error:
        raise InvalidInput(f"{error}; {needs}", code="bad_file") from error
    if not isinstance(items, list):
        raise InvalidInput(f"{place} holds no list; {needs}", code="bad_file")

    return cast("Sequence[object]", items)


def _signals(assignments: Sequence[str]) -> dict[str, float | str]:
    """The signals of a request: numbers, and the words that stand for some.

    >>> _signals(["freshness=3", "risk_weight=high"])
    {'freshness': 3.0, 'risk_weight': 'high'}
    """
    signals: dict[str, float | str] = {}
    for assignment in assignments:
        name, sign, text = assignment.partition("=")
        if not sign:
            raise typer.BadParameter(f"--signal {assignment!r} is not NAME=VALUE")
        if name in signals:
            raise typer.BadParameter(f"--signal {name!r} stands twice")
        signals[name] = _number_or_word(text)
    return signals


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
