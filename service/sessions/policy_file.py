"""A window policy from a file: TOML, or YAML with the extra `tenure[yaml]`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, cast

from ...schema.documents import toml_of, utf8_of
from ...schema.errors import InvalidInput, Unavailable
from ...schema.limits import check_text
from ...schema.window_policy import WindowPolicy, policy_from

_MOST_BYTES: Final = 1024 * 1024
"""A policy is a page; a larger file is another one by mistake, or a bomb."""
_ADVICE: Final = "`tenure session config` prints every tunable with its default"


def window_policy(path: str | Path) -> WindowPolicy:
    """The policy that a file states; what it leaves out keeps its default.

    Raises:
        InvalidInput: `bad_policy`, for a file that cannot be read, is broken or repeats a key;
            `unknown_vocabulary`, for a name that no tunable has.
        Unavailable: `extra_missing`, for YAML without the extra.
    """
    check_text(str(path), "policy")
    file = Path(path)
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise _bad(file, "is larger than a megabyte; a policy is a page of tunables")
        content = file.read_bytes()
    except OSError as error:
        raise _bad(file, f"cannot be read: {error.strerror or error}") from error

    place = f"the window policy {file}"
    text = utf8_of(content, place, code="bad_policy")
    if not text.strip():
        raise _bad(file, f"is empty; {_ADVICE}")

    is_toml = file.suffix == ".toml"
    values = toml_of(text, place, code="bad_policy") if is_toml else _yaml(file, text)
    if not isinstance(values, dict):
        raise _bad(file, f"has no names with values; {_ADVICE}")

    return policy_from(cast("dict[str, Any]", values))


def _yaml(file: Path, text: str) -> Any:
    try:
        import yaml
    except ImportError as error:
        raise Unavailable(
            "a window policy in YAML needs the extra tenure[yaml]; TOML needs none",
            code="extra_missing",
        ) from error

    try:
        # Composed first: loading would already have dropped the earlier of two equal keys.
        _refuse_repeats(file, yaml.compose(text, Loader=yaml.SafeLoader))
        return yaml.safe_load(text)
    except InvalidInput:
        raise
    except yaml.YAMLError as error:
        raise _bad(file, f"is no YAML: {_in_one_line(error)}") from error
    except RecursionError as error:
        raise _bad(file, "is nested too deeply") from error
    except ValueError as error:
        # PyYAML hands numbers and days on to Python unread.
        raise _bad(file, "holds a day that does not exist, or too long a number") from error


def _in_one_line(error: Exception) -> str:
    """What a parser says, with the place; PyYAML draws a picture of it over several lines."""
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None)
    if mark is None or not problem:
        return " ".join(str(error).split())

    return f"{problem} (at line {mark.line + 1}, column {mark.column + 1})"


def _refuse_repeats(file: Path, node: Any) -> None:
    """Refuse what YAML allows and nobody means: a key stated twice, and an alias.

    An alias makes a few lines grow without bound, and of two equal keys the last one wins unseen.
    """
    known_nodes: set[int] = set()
    nodes = [node] if node is not None else []
    while nodes:
        current = nodes.pop()
        if id(current) in known_nodes:
            raise _bad(file, "uses an alias; write the value out")
        known_nodes.add(id(current))

        if current.id == "mapping":
            names = [str(key.value) for key, _ in current.value]
            double_name = next((name for name in names if names.count(name) > 1), None)
            if double_name is not None:
                raise _bad(file, f"states {double_name} twice; keep one of them")
            nodes += [value for _, value in current.value]
        elif current.id == "sequence":
            nodes += current.value


def _bad(file: Path, reason: str) -> InvalidInput:
    return InvalidInput(f"the window policy {file} {reason}", code="bad_policy")
