"""What the fields of calls and of their answers mean, from `fields.toml`.

A record whose own field has a docstring is described by that; these words stand for all others.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ...schema.records import packaged_table


@cache
def field_words() -> Mapping[str, str]:
    """By the name of the field; for requests of a method, a part or any call, after that and a dot.

    Read when the first help or description asks for it: most commands need none.
    """
    return packaged_table(__package__, "fields.toml")


def request_words(call: str, name: str) -> str:
    """What a field of a request means; empty where nothing is said of it."""
    part, _, method = call.rpartition(".")
    # The nearest entry first: a status of reviews is not a status of claims.
    for key in (f"{method}.{name}", f"{part}.{name}", f"asked.{name}", name):
        if key in field_words():
            return field_words()[key]
    return ""
