"""Time of the counters, on texts that no cache holds.

    python bench/bench_counting.py

Prints microseconds for a short text, milliseconds for a large one and, for the rules, the ratio
to the exact count beneath them.
"""

from __future__ import annotations

import random
import statistics
import time

from tenure.compiler.tokens.counting import TokenCounter, counter_for
from tenure.compiler.tokens.o200k import library

WORDS = "the office of Sam Rivera moved to Chicago in June 2026 because 17 people asked".split()


def text_of(rng: random.Random, words: int) -> str:
    """Return a text that was not counted before."""
    return " ".join(rng.choice(WORDS) + str(rng.randrange(1000)) for _ in range(words))


def median_us(counter: TokenCounter, texts: list[str]) -> float:
    """Return the median time of an upper bound in microseconds."""
    times: list[float] = []
    for text in texts:
        start = time.perf_counter()
        counter.upper_bound(text)
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def main() -> None:
    """Print the figures."""
    start = time.perf_counter()
    print(f"library: {library().name}, loaded and checked in {time.perf_counter() - start:.2f} s")
    rng = random.Random(1)
    for words, count in ((8, 500), (20_000, 7)):
        exact = 0.0
        for model in ("generic", "claude-opus-4-6", "claude-opus-5", "gemini-3-pro", "unknown-1"):
            texts = [text_of(rng, words) for _ in range(count)]
            took = median_us(counter_for(model), texts)
            exact = exact or took
            size = len(texts[0])
            print(f"{model:16} {size:7} characters: {took:10.1f} us, {took / exact:5.1f}x exact")
        texts = [text_of(rng, words)] * 9
        print(
            f"{'the same again':16} {len(texts[0]):7} characters: "
            f"{median_us(counter_for('claude-opus-5'), texts):10.1f} us"
        )


if __name__ == "__main__":
    main()
