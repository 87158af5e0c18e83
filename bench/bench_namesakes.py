"""Load the congress history by names alone: what binds, what waits, and what is two people.

    python bench/bench_namesakes.py [--file EVENTS.jsonl.gz] [--json FILE]

Identifiers are ignored while loading and used only to check: an entity that carries the name of
two people by identifier holds two people. Reported per run: people, entities, binds by score,
reviews by reason, suggestions, and every such entity with the names it holds.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from tenure.bench.script import fresh_memory, options_of, shared_file, write_json

DEFAULT = "data/congress/events-2012-2018.jsonl.gz"


def report(file: Path) -> dict[str, Any]:
    """Return what loading a history without identifiers did."""
    named = people_of(file)
    with fresh_memory() as memory:
        done = memory.ingest(file, replay=True, ignore_external_ids=True)
        entities = memory.entities.list("person")
        cases = memory.reviews.list()
        mixed = {
            entity.entity_id: sorted(entity.aliases)
            for entity in entities
            if entity.state == "active"
            and len({p for name in entity.aliases for p in named.get(name, ())}) > 1
        }
        return {
            "events": done.events,
            "people": len({p for found in named.values() for p in found}),
            "entities": len(entities),
            "bound_by_score": sum(len(e.members) - 1 for e in entities),
            "reviews": dict(Counter(case.reason for case in cases)),
            "namesakes": [c.mention for c in cases if c.reason == "namesakes"],
            "suggestions": len(memory.reviews.list(kind="possible_same_as")),
            "audits": len(memory.reviews.list(kind="audit")),
            "entities_with_two_people": mixed,
        }


def people_of(file: Path) -> dict[str, set[str]]:
    """Return the identifiers of the people that each name stands for."""
    found: dict[str, set[str]] = defaultdict(set)
    with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as lines:
        for line in lines:
            event = json.loads(line)
            if "define" not in event:
                subject = event["subject"]
                for name in (subject["name"], *subject.get("aliases", ())):
                    found[name].add(subject["external_ids"]["bioguide"])
    return dict(found)


def main() -> None:
    """Run the benchmark."""
    options = options_of(__doc__, file=Path, json=Path)
    figures = report(options.file or shared_file(DEFAULT))
    print(json.dumps(figures, indent=1, ensure_ascii=False))
    write_json(options.json, figures)


if __name__ == "__main__":
    main()
