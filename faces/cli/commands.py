"""Commands: options from a signature, help from a docstring, or all of it from the table of calls.

`command` adds a function. An argument is before the `*` of the signature, an option behind it. Its
help is a line of `Options:` in the docstring, which may state the option's name and placeholder:
`budget_tokens (--budget TOKENS): Maximum number of tokens.` Without a line the help is that of the
field of this name, which HTTP reads too.

`call_command` adds a call: arguments, options, types and defaults are those of the method. The
decorated function says only how people see the answer. The class of the method is loaded when the
options are needed, so that the list of all commands stays quick.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, cast, get_type_hints

import typer
from typer.core import TyperCommand

from ...service.calls.columns import request_words
from ...service.calls.parts import call_function
from .frame import (
    View,
    action_of,
    answer,
    entity_of,
    examples,
    merge_of,
    nothing_of,
    object_of,
    open_memory,
    review_of,
)

if TYPE_CHECKING:
    from ...service.client.memory import Memory

Display = View | tuple[Any, View]
"""How people see an answer, after the value for JSON where that is another one."""

Function = TypeVar("Function", bound=Callable[..., Any])

_HIDDEN_FIELDS: Final = frozenset({"near", "object_ids", "parts", "scope", "to", "url", "version"})
"""Fields of calls that no command states."""

_FLAGS: Final[Mapping[str, str]] = {
    "allow_roles": "--allow-role ROLE",
    "deny_roles": "--deny-role ROLE",
    "object_type": "--type",
    "security_classification": "--as",
}
"""Options that are not called like their field."""

_NAMES: Final[Mapping[str, Callable[[Memory, str], str]]] = {
    "a": entity_of,
    "action_id": action_of,
    "b": entity_of,
    "entity": entity_of,
    "merge_id": merge_of,
    "object_id": object_of,
    "review_id": review_of,
    "winner": object_of,
}
"""Fields that take the beginning of an id, and what finds the whole one."""

_POINT: Final = ("valid", "tx")

_KINDS: Final = {"bool": bool, "float": float, "int": int, "Path": Path}

_PLAIN: Final = re.compile(r"(bool|float|int|Path|str|list\[str\])( \| None)?")
_NOTE: Final = re.compile(r"    (\w+)(?: \((--\S+)? ?(.*?)\))?: (.*)")


def _parse_help(function: Callable[..., Any]) -> tuple[str, dict[str, tuple[str, str, str]]]:
    """The help of a function, and by argument the option's name, its placeholder and its help."""
    text, _, notes = (inspect.getdoc(function) or "").partition("\n\nOptions:\n")
    lines = re.sub(r"\n {6,}", " ", notes).splitlines()
    return text, {
        match[1]: (match[2] or "", match[3] or "", match[4])
        for match in filter(None, map(_NOTE.match, lines))
    }


@dataclass(frozen=True)
class Options:
    """The arguments and options of a command."""

    parameters: Iterable[inspect.Parameter]
    """With their types as text."""
    notes: Mapping[str, tuple[str, str, str]]
    hints: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Types that say themselves what typer makes of them."""
    call: str = ""

    def with_signature(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """The function with the signature that typer reads."""
        kind = inspect.Parameter.KEYWORD_ONLY
        context = inspect.Parameter("context", kind, annotation=typer.Context)
        parameters = [context, *map(self._typed_parameter, self.parameters)]
        function: Any = run
        function.__signature__ = inspect.Signature(parameters)
        function.__annotations__ = {entry.name: entry.annotation for entry in parameters}
        return run

    def _typed_parameter(self, parameter: inspect.Parameter) -> inspect.Parameter:
        name, default = parameter.name, parameter.default
        is_argument = parameter.kind is not parameter.KEYWORD_ONLY
        text = str(parameter.annotation)
        kind: Any = _KINDS.get(text.removesuffix(" | None"), str)
        is_list = text.startswith(("Sequence", "list"))
        flag, metavar, words = self.notes.get(name) or ("", "", request_words(self.call, name))
        if not flag and not metavar and not is_argument:
            flag, _, metavar = _FLAGS.get(name, "").partition(" ")

        settings: dict[str, Any] = {"help": words, "metavar": metavar or None}
        if kind in (int, float):
            # Without a default zero means something, such as any free port.
            settings["min"] = 0 if default is None or kind is float else 1
        if is_list:
            kind, default = list[str], None if default is not parameter.empty else default
        if default is None:
            kind = kind | None
        annotation: Any = self.hints.get(name)
        if annotation is None and is_argument:
            if name.endswith("_id") and not metavar:
                settings["metavar"] = "ID"
            annotation = Annotated[kind, typer.Argument(show_default=bool(default), **settings)]
        elif annotation is None:
            flag = flag or f"--{name.replace('_', '-')}"
            if default is True:
                flag += f"/--no-{flag[2:]}"
            annotation = Annotated[kind, typer.Option(flag, **settings)]
        return parameter.replace(
            kind=parameter.KEYWORD_ONLY, default=default, annotation=annotation
        )


def command(
    group: typer.Typer, *lines: str, name: str | None = None
) -> Callable[[Function], Function]:
    """Add a function to a group as a command; `lines` are examples of its help."""

    def add(function: Function) -> Function:
        words, run = _with_options(function)
        add_to = group.command(name or function.__name__, help=words, epilog=_epilog(lines))
        add_to(run)
        return function

    return add


def group_options(group: typer.Typer) -> Callable[[Function], Function]:
    """Let a function take the options that stand before the commands of a group."""

    def add(function: Function) -> Function:
        words, run = _with_options(function)
        group.callback(help=words)(run)
        return function

    return add


def _with_options(function: Callable[..., Any]) -> tuple[str, Callable[..., Any]]:
    """The help of a function, and the function with the signature that typer reads."""
    words, notes = _parse_help(function)
    parameters = list(inspect.signature(function).parameters.values())[1:]
    # A type that is more than a plain one says itself what typer makes of it.
    hints = get_type_hints(function, include_extras=True)
    plain_names = {entry.name for entry in parameters if _PLAIN.fullmatch(entry.annotation)}
    options = Options(parameters, notes, {k: hints[k] for k in hints.keys() - plain_names})

    @wraps(function)
    def run(context: typer.Context, **values: Any) -> None:
        function(context, **values)

    return words, options.with_signature(run)


def _epilog(lines: tuple[str, ...]) -> str | None:
    return examples(*lines) if lines else None


@dataclass(frozen=True, slots=True)
class CallAnswer:
    """The answer of a call, while the store is open."""

    memory: Memory
    value: Any
    arguments: Mapping[str, Any]


def call_command(
    group: typer.Typer, call: str, *lines: str, name: str | None = None, **terms: Any
) -> Callable[[Callable[[CallAnswer], Display]], None]:
    """Add a command for a call to a group, whose answer looks as the decorated function says.

    `terms` are further fields of `MadeCall`; `lines` are examples of its help.
    """

    def add(show: Callable[[CallAnswer], Display]) -> None:
        def stub() -> None:
            """Take the place of the command until it is needed."""

        stub.__dict__["made"] = MadeCall(call, show, **terms)
        add_to = group.command(
            name or show.__name__,
            cls=MadeCommand,
            help=_parse_help(show)[0],
            epilog=_epilog(lines),
        )
        add_to(stub)

    return add


class MadeCommand(TyperCommand):
    """A command that reads its options from its call when they are first needed."""

    @cached_property
    def full_command(self) -> Any:
        """The command with its options."""
        callback: Any = self.callback
        group = typer.Typer(rich_markup_mode=None, add_completion=False)
        group.command()(callback.made.function())
        return typer.main.get_command(group)

    def get_params(self, ctx: Any) -> Any:
        """The arguments and options, of the command that the call makes."""
        return self.full_command.get_params(ctx)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that the call makes."""
        return self.full_command.invoke(ctx)


@dataclass(frozen=True, slots=True)
class MadeCall:
    """A call as a command."""

    call: str
    show: Callable[[CallAnswer], Display]
    empty: str = "none"
    by_name: bool = False
    """Whether an empty answer asks if the name is known."""
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def function(self) -> Callable[..., Any]:
        """The function of the command, with the signature that typer reads."""

        def run(context: typer.Context, **options: Any) -> None:
            self._run(context, options)

        notes = _parse_help(self.show)[1]
        return Options(self._parameters(), notes, call=self.call).with_signature(run)

    def _parameters(self) -> list[inspect.Parameter]:
        """The fields that the command states: those of a view come last."""
        parameters: list[inspect.Parameter] = []
        for parameter in list(inspect.signature(call_function(self.call)).parameters.values())[1:]:
            if parameter.name not in _HIDDEN_FIELDS:
                default = self.defaults.get(parameter.name, parameter.default)
                is_argument = default is parameter.empty
                kind = parameter.POSITIONAL_ONLY if is_argument else parameter.KEYWORD_ONLY
                parameters.append(parameter.replace(kind=kind, default=default))
        if self.call.startswith("view."):
            option = inspect.Parameter.KEYWORD_ONLY
            parameters += [inspect.Parameter(name, option, default=None) for name in _POINT]
        return parameters

    def _run(self, context: typer.Context, options: Mapping[str, Any]) -> None:
        part, _, method = self.call.rpartition(".")
        with open_memory(context) as memory:
            arguments = self._call_arguments(memory, options)
            target: Any = memory
            if part == "view":
                target = memory.as_of(*(arguments.pop(name, None) for name in _POINT))
            elif part:
                target = getattr(memory, part)
            value = getattr(target, method)(**arguments)
            display = self.show(CallAnswer(memory, value, arguments))
            placeholder = self.empty
            if self.by_name and not value:
                placeholder = nothing_of(memory, arguments["entity"], self.empty)

        pair_or_view = cast("Any", display)
        listing, view = pair_or_view if isinstance(display, tuple) else (value, pair_or_view)
        answer(context, listing, view, placeholder=placeholder)

    def _call_arguments(self, memory: Memory, options: Mapping[str, Any]) -> dict[str, Any]:
        """The fields that the caller stated, with whole ids; others keep the method's default."""
        annotations = call_function(self.call).__annotations__
        arguments = {name: value for name, value in options.items() if value is not None}
        for name, find in _NAMES.items():
            if name not in arguments or annotations[name] == "Moment":
                continue
            arguments[name] = find(memory, arguments[name])
            # By id where the call takes ids alone: a merge may change what a name means.
            if find is entity_of and annotations[name].startswith("str"):
                arguments[name] = memory.as_of().entity(arguments[name]).entity_id
        return arguments
