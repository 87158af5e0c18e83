"""A hundred everyday dialogues with their questions, as `dialogues.toml` holds them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple


class Query(NamedTuple):
    """A question, and what a context for it needs."""

    question: str
    current: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    invented: tuple[str, ...] = ()


class Talk(NamedTuple):
    """What one person says on successive days, and what is asked after the last."""

    turns: tuple[str, ...]
    queries: tuple[Query, ...]


_FILE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
SMALL_TALK: dict[str, tuple[str, ...]] = {
    language: tuple(lines) for language, lines in _FILE["small_talk"].items()
}


def talks_of(part: str) -> list[Talk]:
    """The dialogues of a part, as they stand in the file."""
    found: list[Talk] = []
    for talk in _FILE["talk"]:
        if talk["part"] == part:
            queries = (
                Query(q.pop("question"), **{name: tuple(texts) for name, texts in q.items()})
                for q in map(dict, talk["queries"])
            )
            found.append(Talk(tuple(talk["turns"]), tuple(queries)))
    return found
