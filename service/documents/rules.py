"""Rules of a sync: which files of a folder are taken, and on which terms.

A file `documents.toml` has a table `[source]` and tables `[[rule]]` with `match`; of the rules that
match a path the last one wins, field by field. Patterns are those of a `.gitignore`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from pathspec import GitIgnoreSpec

from ...schema.errors import InvalidInput, unknown_field
from ...schema.limits import toml_of, utf8_of
from .terms import Terms

_TERMS: Final = (
    *("origin", "authority_level", "scope", "security_classification", "allow_roles"),
    *("deny_roles", "task_types", "accept_flagged", "encoding", "claims"),
)
_OTHERS: Final = ("match", "exclude", "max_bytes", "project", "password_env")
_SOURCE: Final = ("name", "exclude", "follow")


class FileRule(NamedTuple):
    """On which terms a file is taken."""

    terms: Terms
    max_bytes: int | None = None
    password_env: str | None = None
    """The environment variable that holds the password of an encrypted file."""


@dataclass(frozen=True, slots=True)
class SyncRules:
    """The rules of a source."""

    source: str = ""
    exclude: tuple[str, ...] = ()
    follow: bool = False
    rules: tuple[Mapping[str, Any], ...] = ()

    def find_rule(self, path: str, terms: Terms) -> FileRule | None:
        """What every rule that matches a path states, the last one first; None: it stays out."""
        merged: dict[str, Any] = {}
        for rule in self.rules:
            if ignore_patterns(str(rule["match"])).match_file(path):
                merged.update(rule)
        if merged.get("exclude") or ignore_patterns(*self.exclude).match_file(path):
            return None

        stated = {name: merged[name] for name in _TERMS if name in merged}
        if merged.get("project") is not None:
            stated["scope"] = {**dict(stated.get("scope") or {}), "project": merged["project"]}
        terms = replace(terms, **stated)
        return FileRule(terms, merged.get("max_bytes"), merged.get("password_env"))


@lru_cache(maxsize=256)
def ignore_patterns(*patterns: str) -> GitIgnoreSpec:
    """The patterns of a `.gitignore`: the last one that matches decides, `!` takes back."""
    return GitIgnoreSpec.from_lines(patterns)


def load_rules(path: str | Path | None) -> SyncRules:
    """The rules of a file; none without one.

    Raises:
        InvalidInput: `bad_rules`, `unknown_field`.
    """
    if path is None:
        return SyncRules()
    place = str(path)
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise InvalidInput(f"{place} cannot be read: {error.strerror}", code="bad_rules") from error

    tables = toml_of(utf8_of(content, place, code="bad_rules"), place, code="bad_rules")
    _check_names(tables, ("source", "rule"), place)
    source = _table(tables.get("source", {}), _SOURCE, place)
    rules = [_table(rule, (*_TERMS, *_OTHERS), place) for rule in tables.get("rule", [])]
    if not all(isinstance(rule.get("match"), str) for rule in rules):
        raise InvalidInput(f"{place}: each rule states match, a pattern", code="bad_rules")

    exclude = source.get("exclude", [])
    return SyncRules(
        source=str(source.get("name", "")),
        exclude=tuple(map(str, [exclude] if isinstance(exclude, str) else exclude)),
        follow=source.get("follow") is True,
        rules=tuple(rules),
    )


def _table(table: object, names: Sequence[str], place: str) -> Mapping[str, Any]:
    if not isinstance(table, Mapping):
        raise InvalidInput(f"{place}: [source] and [[rule]] are tables", code="bad_rules")
    fields = cast("Mapping[str, Any]", table)
    _check_names(fields, names, place)
    return fields


def _check_names(stated: Iterable[str], names: Sequence[str], place: str) -> None:
    for name in stated:
        if name not in names:
            raise unknown_field(name, names, f" in {place}")
