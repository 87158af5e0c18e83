"""An encoder for tests: words are axes, and words of one meaning share an axis."""

import threading
import zlib
from collections.abc import Sequence

MEANINGS = {
    word: meaning
    for meaning, words in {
        "meal": "lunch canteen cafeteria meal",
        "end": "shut close closes closed ends",
        "job": "work works office employer",
    }.items()
    for word in words.split()
}


class ToyEncoder:
    """64 dimensions, a token a word."""

    def __init__(self, name: str = "toy@1") -> None:
        self.id = name
        self.dimensions = 64
        self.max_tokens = 16
        self.read: list[str] = []
        self.open = threading.Event()
        self.open.set()
        self.broken = False

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def encode(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        assert self.open.wait(30)
        if self.broken:
            raise OSError("the model is gone")
        self.read += texts
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.001] * self.dimensions
        for word in text.lower().replace(".", " ").replace("?", " ").split():
            meaning = MEANINGS.get(word, word)
            vector[zlib.crc32(meaning.encode()) % self.dimensions] += 1
        return vector
