"""What reading talk costs: the tokens that a model is sent for each text of an import.

    python -P bench/bench_extraction.py [--meetings 5] [--texts 1 2 4 8 16]

The turns of `talk/meetings` are shared out into requests as an import shares them, by speaker, 64
turns prepared at a time, and the requests are counted in o200k: instructions with the built-in
slots, the texts, and the schema of the answer. No model is asked. The folder that TENURE_SHARED
names holds the data; without it the script says so and stops.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from tenure.bench.script import options_of, print_table, shared_file
from tenure.bench.talk_data import MEETINGS, Turn, meetings, turns_of
from tenure.compiler.tokens.counting import counter_for
from tenure.schema.slots import BUILT_IN_SLOTS
from tenure.service.extraction import model
from tenure.service.extraction.claims import ExtractionContext, TextInContext
from tenure.service.extraction.model import PARALLEL, PIECE
from tenure.service.writing.lines import batches
from tenure.service.writing.talk import TEXTS_AHEAD


def shared_out(turns: Sequence[Turn], size: int) -> Iterator[list[TextInContext]]:
    """The texts of each request that an import makes."""
    for batch in batches(turns, PARALLEL * TEXTS_AHEAD):
        by_speaker: dict[str, list[TextInContext]] = {}
        for turn in batch:
            context = ExtractionContext(at=turn.day, speaker=turn.speaker, slots=BUILT_IN_SLOTS)
            by_speaker.setdefault(turn.speaker, []).append(TextInContext(turn.text, context))
        for texts in by_speaker.values():
            yield from batches(texts, size)


def tokens_of(texts: Sequence[TextInContext]) -> int:
    """The tokens that are sent about texts that share a request."""
    slots = model.offered_slots(texts[0].context)
    if len(texts) > 1:
        requests = [model.request_of_several(texts, slots)]
    else:
        requests = list(model.requests_of(*texts[0], slots, most=PIECE))

    count = counter_for("generic").count
    tokens = 0
    for instructions, text, schema in requests:
        tokens += count(instructions) + count(text) + count(json.dumps(schema))
    return tokens


def main() -> None:
    """Count the requests of each size and print them beside each other."""
    options = options_of(__doc__, meetings=5, texts=[1, 2, 4, 8, 16])
    turns: list[Turn] = []
    for meeting in meetings(shared_file(MEETINGS), options.meetings):
        turns += turns_of(meeting)

    rows: list[tuple[str, ...]] = []
    baseline = 0
    for size in options.texts:
        requests = list(shared_out(turns, size))
        tokens = sum(map(tokens_of, requests))
        baseline = baseline or tokens
        shares = f"{tokens / len(turns):,.0f}", f"{tokens / baseline:.2f}"
        rows.append((str(size), f"{len(requests):,}", f"{tokens:,}", *shares))
    heads = "texts a request", "requests", "tokens sent", "a text", "of the first row"
    title = f"{len(turns):,} turns of {options.meetings} meetings, read by a model"
    print_table(*heads, rows=rows, title=title)


if __name__ == "__main__":
    main()
