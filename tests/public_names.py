"""The public names of tenure with their parameters, read off the code: one line a name.

`python -P tests/public_names.py > tests/data/public-names.txt` writes the list anew after a name
was added. `tests/test_public_names.py` compares it with the code, and the code with the promised
names, which are written by hand and are never shortened.
"""

import inspect
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints

import tenure
from tenure.compiler.envelope.envelope import Envelope
from tenure.faces.cli.main import Commands
from tenure.service.calls.parts import PARTS, part_class
from tenure.service.sessions.session import Session

CLASSES: dict[str, type] = {
    "memory": part_class(""),
    **{name: part_class(name) for name in sorted(PARTS) if name},
    "session": Session,
    "envelope": Envelope,
}
"""What a user is handed, by the name that the documentation gives it."""


def public_names() -> Iterator[str]:
    """Every name, each with its parameters in order."""
    for name in sorted(vars(tenure)["__all__"]):
        yield " ".join((f"tenure.{name}", *parameters(getattr(tenure, name))))
    for part, cls in CLASSES.items():
        for member in members(cls):
            yield " ".join((f"{part}.{member}", *parameters(getattr(cls, member))))
    for command in Commands():
        yield f"$ tenure {command}"


def members(cls: type) -> list[str]:
    """The methods, properties and fields of a part that do not begin with an underscore."""
    own_names = {name for name in dir(cls) if not name.startswith("_")}
    if is_dataclass(cls):
        own_names |= {field.name for field in fields(cls) if not field.name.startswith("_")}
    if "__call__" in vars(cls):
        own_names.add("__call__")
    return sorted(own_names)


def parameters(value: Any) -> list[str]:
    """The parameters of a function or a record, those of its `**fields` among them."""
    if isinstance(value, type) and issubclass(value, BaseException):
        return []
    if not (inspect.isfunction(value) or (inspect.isclass(value) and is_dataclass(value))):
        return []

    names: list[str] = []
    for parameter in inspect.signature(value).parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            names += _unpacked(value, parameter.name)
        elif parameter.name != "self" and not parameter.name.startswith("_"):
            names.append(parameter.name)
    return names


def _unpacked(function: Any, name: str) -> list[str]:
    """The members of the typed dictionary behind `**fields: Unpack[...]`."""
    annotation = function.__annotations__[name]
    if not isinstance(annotation, str) or not annotation.startswith("Unpack["):
        return [f"**{name}"]

    name_of_type = annotation.removeprefix("Unpack[").removesuffix("]")
    module = inspect.getmodule(function)
    fields_type = getattr(module, name_of_type, None) or _late(name_of_type)
    return list(get_type_hints(fields_type))


def _late(name: str) -> Any:
    """A typed dictionary that its caller imports for the checkers alone."""
    from tenure.service.compilation.compile import RequestFields
    from tenure.service.compilation.recompile import RequestTerms
    from tenure.service.sessions.terms import SessionTerms
    from tenure.service.writing.observe import IngestFields

    return {
        "IngestFields": IngestFields,
        "RequestFields": RequestFields,
        "RequestTerms": RequestTerms,
        "SessionTerms": SessionTerms,
    }[name]


if __name__ == "__main__":
    print("\n".join(public_names()))
