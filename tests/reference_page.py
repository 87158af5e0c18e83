"""The reference of the documentation site, from the code; `tests/site_pages.py` writes it.

Every public name stands in it once, with its signature and its docstring: the functions, then the
client with its parts, then the records and the errors.
"""

import inspect
import re
from collections.abc import Iterator
from typing import Any

import tenure
from tenure.tests.public_names import CLASSES

HEAD = """# Reference

Every public name, from the code itself: `tests/reference_page.py` makes this page. The async twin
(`tenure.aconnect`) has the same methods, awaited. Records are frozen; their times are aware UTC.
`memory` is what `tenure.connect` returns, `memory.actions` to `memory.vocabulary` are its parts;
`view` is of `memory.as_of()`, `session` of `memory.session(…)`, `envelope` of `memory.compile(…)`.
"""
_LINE = 84
"""Characters that stand beside each other in a code block of the site."""
_PLAIN_DEFAULTS = frozenset({bool, int, float, str, type(None)})


class _Word:
    """A text that a signature shows without quotes."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def page() -> str:
    """Return the page as it must stand in `docs/`."""
    names = sorted(vars(tenure)["__all__"])
    values = {name: getattr(tenure, name) for name in names}
    functions = [name for name, value in values.items() if inspect.isfunction(value)]
    classes = [name for name, value in values.items() if inspect.isclass(value)]
    errors = [name for name in classes if issubclass(values[name], Exception)]
    records = [
        name for name in classes if name not in errors and values[name] not in CLASSES.values()
    ]

    parts = [HEAD, "## Functions\n"]
    parts += [_callable(name, values[name], "###") for name in functions]
    parts += [_class(name, value) for name, value in CLASSES.items()]
    parts += ["## Records and policies\n", *(_record(name, values[name]) for name in records)]
    parts += ["## Errors\n", *(f"- `{name}`: {_first(values[name])}" for name in errors), ""]
    return "\n".join(parts)


def _class(name: str, value: Any) -> str:
    parts = [f"## `{name}`\n", f"{_first(value)}\n"]
    for member, attribute in _members(value):
        if isinstance(attribute, property):
            parts.append(f"### `{name}.{member}`\n\n{_text(attribute)}\n")
        else:
            parts.append(_callable(f"{name}.{member}", attribute, "###"))
    return "\n".join(parts)


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    for name, attribute in sorted(vars(value).items()):
        described = isinstance(attribute, property) or inspect.isfunction(attribute)
        if described and not name.startswith("_") and attribute.__doc__:
            yield name, attribute


def _callable(name: str, value: Any, heading: str) -> str:
    signature = f"{name}{_signature(value)}"
    if len(signature) > _LINE:
        signature = name + _signature(value, one_a_line=True)
    return f"{heading} `{name}`\n\n```python\n{signature}\n```\n\n{_text(value)}\n"


def _signature(value: Any, *, one_a_line: bool = False) -> str:
    """The parameters of a callable; a default that is no plain value is left open."""
    stated = inspect.signature(value)
    parameters: list[inspect.Parameter] = []
    for parameter in stated.parameters.values():
        if parameter.name == "self":
            continue
        if parameter.annotation is not parameter.empty:
            parameter = parameter.replace(annotation=_Word(str(parameter.annotation)))
        is_open = parameter.default not in ((), parameter.empty)
        if is_open and type(parameter.default) not in _PLAIN_DEFAULTS:
            parameter = parameter.replace(default=_Word("…"))
        parameters.append(parameter)
    answer = _Word(str(stated.return_annotation))
    whole = stated.replace(parameters=parameters, return_annotation=answer)
    return _on_lines(whole) if one_a_line and parameters else str(whole)


def _on_lines(signature: inspect.Signature) -> str:
    """A signature with one parameter a line."""
    lines: list[str] = []
    named_only = False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not named_only:
            lines.append("    *,\n")
            named_only = True
        lines.append(f"    {parameter},\n")
    return f"(\n{''.join(lines)}) -> {signature.return_annotation!r}"


def _record(name: str, value: Any) -> str:
    fields = [field for field in getattr(value, "__dataclass_fields__", {}) if field[0] != "_"]
    listed = f" Fields: {', '.join(f'`{field}`' for field in fields)}." if fields else ""
    return f"- `{name}`: {_first(value)}{listed}"


def _first(value: Any) -> str:
    return " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())


def _text(value: Any) -> str:
    """A docstring as Markdown: its `Args:` and `Raises:` as lists, no doctest."""
    text = re.sub(r"^>>>.*?(?=\n\n|\Z)", "", inspect.getdoc(value) or "", flags=re.M | re.S)
    text = re.sub(r"^(Args|Raises):$", r"\1:\n", text, flags=re.M)
    return re.sub(r"^    (\w+): ", r"- `\1`: ", text, flags=re.M).strip()


if __name__ == "__main__":
    print(page(), end="")
