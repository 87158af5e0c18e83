"""The words of English and German that a compile is handed, from the data files of extraction."""

from __future__ import annotations

from functools import cache

from ...schema.language import Language, joined_language
from .claims import language_tables


@cache
def shipped_language() -> Language:
    """Both languages as one value, read once."""
    return joined_language(tuple(map(_language_of, ("en", "de"))))


def _language_of(name: str) -> Language:
    tables = language_tables(name)
    return Language(
        synonyms={slot: tuple(words) for slot, words in tables["synonyms"].items()},
        forms=tuple(filter(None, tables["related"]["forms"].splitlines())),
        related=tuple(filter(None, tables["related"]["words"].splitlines())),
        asks_past=tuple(tables["asks_past"]),
        asks_whole=tuple(tables["asks_whole"]),
        asks_own=tuple(tables["asks_own"]),
        asks_of={slot: tuple(rows) for slot, rows in tables["asks_of"].items()},
        **{name: tuple(rows) for name, rows in tables["directives"].items()},
    )
