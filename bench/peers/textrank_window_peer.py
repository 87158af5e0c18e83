"""TextRank as `summa` has it: the sentences that most others resemble, in the order of the text.

Each message is a paragraph. Sentences are taken from the best rank on while they fit. Mihalcea and
Tarau, "TextRank: Bringing Order into Texts", 2004.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from summa.summarizer import summarize


def summary(texts: Sequence[str], characters: int) -> str:
    """The summary of messages, at most so many characters long."""
    text = "\n".join(texts)
    if len(text) <= characters:
        return text

    ranks = summarize(text, ratio=1.0, scores=True)
    by_rank = sorted(range(len(ranks)), key=lambda place: -ranks[place][1])
    chosen: set[int] = set()
    for place in by_rank:
        length = len(ranks[place][0]) + 1
        if length <= characters:
            chosen.add(place)
            characters -= length
    return "\n".join(ranks[place][0] for place in sorted(chosen))


def main() -> None:
    """Answer each line with the summary of its messages."""
    for line in sys.stdin:
        characters, texts = json.loads(line)
        print(json.dumps(summary(texts, characters)), flush=True)


if __name__ == "__main__":
    main()
