"""Rules of a sync: which files of a folder are taken, and on which terms.

A file `documents.toml` has a table `[source]` and tables `[[rule]]` with `match`; of the rules that
match a path the last one wins, field by field. Patterns are those of a `.gitignore`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pathspec import GitIgnoreSpec
from pydantic import BaseModel, ConfigDict, ValidationError

from ...schema.errors import InvalidInput, unknown_field
from ...schema.limits import toml_of, utf8_of
from .terms import Terms


class FileRule(NamedTuple):
    """On which terms a file is taken."""

    terms: Terms
    max_bytes: int | None = None
    password_env: str | None = None
    """The environment variable that holds the password of an encrypted file."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Source(_Table):
    name: str = ""
    exclude: str | list[str] = []
    follow: bool = False


class _Rule(_Table):
    """What a rule states of the files that it matches; the rest is left to the others."""

    match: str
    exclude: bool = False
    max_bytes: int | None = None
    project: str | None = None
    password_env: str | None = None
    origin: str | None = None
    authority_level: int | None = None
    scope: dict[str, str] | None = None
    security_classification: str | None = None
    allow_roles: list[str] = []
    deny_roles: list[str] = []
    task_types: list[str] = []
    accept_flagged: bool = False
    encoding: str | None = None
    claims: Literal["off", "rules", "model"] = "off"


class SyncRules(_Table):
    """The rules of a source."""

    source: _Source = _Source()
    rule: list[_Rule] = []

    def find_rule(self, path: str, terms: Terms) -> FileRule | None:
        """What every rule that matches a path states, the last one first; None: it stays out."""
        merged: dict[str, Any] = {}
        for rule in self.rule:
            if ignore_patterns(rule.match).match_file(path):
                merged.update(rule.model_dump(exclude_unset=True, exclude={"match"}))

        exclude = self.source.exclude
        outside = ignore_patterns(*([exclude] if isinstance(exclude, str) else exclude))
        if merged.pop("exclude", False) or outside.match_file(path):
            return None

        project = merged.pop("project", None)
        if project is not None:
            merged["scope"] = {**(merged.get("scope") or {}), "project": project}
        limits = merged.pop("max_bytes", None), merged.pop("password_env", None)
        return FileRule(replace(terms, **merged), *limits)


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
    try:
        return SyncRules.model_validate(tables)
    except ValidationError as error:
        problem = error.errors()[0]
        where = [str(part) for part in problem["loc"] if isinstance(part, str)]
        if problem["type"] == "extra_forbidden":
            models: dict[str, type[_Table]] = {"source": _Source, "rule": _Rule}
            model = models.get(where[0], SyncRules)
            raise unknown_field(where[-1], model.model_fields, f" in {place}") from error
        raise InvalidInput(
            f"{place}: {'.'.join(where)}: {problem['msg']}", code="bad_rules"
        ) from error
