"""Score pairs of names by nomenklatura's `logic-v2`; runs in an environment of its own.

    python bench/peers/name_scores.py < pairs.jsonl > scores.jsonl

A line in is `[entity type, left, right]`, a line out the score. A person is compared as a `Person`,
an organisation as an `Organization`, everything else as a `LegalEntity`, by names alone.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from followthemoney import EntityProxy
from nomenklatura.matching import get_algorithm

SCHEMATA = {"person": "Person", "organization": "Organization"}


def proxy(number: str, entity_type: str, name: str) -> Any:
    """An entity that has a name and nothing else."""
    schema = SCHEMATA.get(entity_type, "LegalEntity")
    data = {"id": number, "schema": schema, "properties": {"name": [name]}}
    return EntityProxy.from_dict(data)


def main() -> None:
    matcher = get_algorithm("logic-v2")
    if matcher is None:
        raise SystemExit("this nomenklatura has no logic-v2")
    config = matcher.default_config()

    for number, line in enumerate(sys.stdin):
        entity_type, left, right = json.loads(line)
        # It remembers the names of an id, so each side has one of its own.
        first = proxy(f"{number}-left", entity_type, left)
        second = proxy(f"{number}-right", entity_type, right)
        print(round(matcher.compare(first, second, config).score, 6))


if __name__ == "__main__":
    main()
